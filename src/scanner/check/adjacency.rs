//! Which terminals can always be made to follow which others under longest match.
//!
//! Terminal `u` *may follow* `t` when each lexeme of `t`, possibly extended first, can be ended so
//! that there is a lexeme of `u` (or an ignored one first) that the ended lexeme cannot run into:
//! its obligation dies within that lexeme and never accepts. Lexemes are judged among all ordinary
//! terminals, and in the candidate sets that rows with an exclusive terminal promise. With fewer
//! candidates, lexemes are cut no longer and obligations accept no more often than here, so a
//! terminal that may follow here may also follow there.
//!
//! [`direct`](super::direct) has the relation without ignored lexemes in between.

use super::direct::{Direct, Fates};
use super::ignored_follow::{self, IgnoredFollow};
use super::indentation::blank_states;
use super::scan_graph::ScanGraph;
use crate::grammar::ir::Grammar;
use crate::lr::table::ParseTable;
use crate::scanner::Lexis;
use crate::util::bitset::BitSet;
use crate::util::id::TerminalId;
use crate::util::meter::{LimitReached, Meter};

/// The relation.
#[derive(Debug)]
pub(super) struct Adjacency {
    /// By terminal, with a last row for the beginning of the text: the terminals that may follow,
    /// possibly after ignored lexemes.
    follows: Vec<BitSet>,
    /// Terminals that a lexeme may ever be.
    possible: BitSet,
    /// The terminals that may follow ignored terminals with a gate: see [`ignored_follow`].
    gates: Vec<(TerminalId, BitSet)>,
    /// Ignored terminals without a gate that not everything may follow.
    doubtful: Vec<TerminalId>,
    end: TerminalId,
    lines: Option<Lines>,
}

/// Additions for `%indent`.
#[derive(Debug)]
struct Lines {
    newline: TerminalId,
    indent: TerminalId,
    dedent: TerminalId,
    /// Terminals that can always be made the first lexeme of a line, of any width.
    first: BitSet,
}

impl Adjacency {
    /// Computes the relation.
    pub(super) fn new(
        grammar: &Grammar,
        lexis: &Lexis,
        scan_graph: &ScanGraph,
        meter: &Meter,
    ) -> Result<Self, LimitReached> {
        let count = grammar.terminals.len();
        let relation = Direct::new(grammar, lexis, scan_graph, meter)?;
        let mut certain = BitSet::new(count + 1);
        let mut possible = BitSet::new(count + 1);
        for index in 0..count {
            if relation.starts[0][index].is_some() {
                certain.insert(index);
            }
            if lexis.may_occur(TerminalId::new(index)) {
                possible.insert(index);
            }
        }
        let mut fates = Fates::default();
        let ends = relation.ends(&mut fates);
        let mut ordinary = relation.openings(|starts| &starts.ordinary);
        let mut follows: Vec<BitSet> = Vec::with_capacity(count + 1);
        for (index, ends) in ends.iter().enumerate() {
            follows.push(relation.followers(TerminalId::new(index), ends, &fates, &mut ordinary));
            relation.count()?;
        }
        follows.push(certain);
        let lines = lexis.indentation().map(|indentation| {
            let blanks = blank_states(lexis).unwrap_or_default();
            let mut first = ordinary.terminals.clone();
            blanks
                .iter()
                .for_each(|&blank| first.intersect_with(&relation.followers_at(blank, &ordinary)));
            first.intersect_with(&follows[indentation.newline.index()]);
            let (newline, indent, dedent) =
                (indentation.newline, indentation.indent, indentation.dedent);
            Lines { newline, indent, dedent, first }
        });
        let newline = lines.as_ref().map(|lines| lines.newline);
        let ignored: Vec<usize> =
            (0..count).filter(|&index| grammar.terminals[index].ignored).collect();
        let loosely = newline.map_or_else(Vec::new, |newline| {
            let mut loosely = follows.clone();
            close(&mut loosely, &[&ignored[..], &[newline.index()]].concat());
            loosely
        });
        close(&mut follows, &ignored);
        // Nothing is ignored before an exclusive terminal or its competitors.
        let mut exclusive = relation.openings(|starts| &starts.exclusive);
        for (last, ends) in ends.iter().enumerate() {
            let directly = relation.followers(TerminalId::new(last), ends, &fates, &mut exclusive);
            relation.count()?;
            for opening in exclusive.terminals.iter() {
                let elsewhere =
                    follows[last].contains(opening) || !ordinary.terminals.contains(opening);
                if elsewhere && (directly.contains(opening) || grammar.terminals[last].ignored) {
                    follows[last].insert(opening);
                } else {
                    follows[last].remove(opening);
                }
            }
        }
        let IgnoredFollow { gates, doubtful } =
            ignored_follow::sort(grammar, lexis, (&follows, &loosely), newline, &possible);
        if let Some(Lines { indent, dedent, .. }) = lines {
            possible.insert(indent.index());
            possible.insert(dedent.index());
        }
        Ok(Self { follows, possible, gates, doubtful, end: lexis.table().end(), lines })
    }

    /// Builds the relation of a grammar whose lexemes are separate at first sight: `follows` has
    /// the terminals that may follow directly, by terminal, with a last row for the beginning of a
    /// text.
    pub(super) fn of_rows(
        ignored: &BitSet,
        mut follows: Vec<BitSet>,
        possible: BitSet,
        end: TerminalId,
    ) -> Self {
        let ignored: Vec<usize> = ignored.iter().collect();
        close(&mut follows, &ignored);
        let mut real = possible.clone();
        ignored.iter().for_each(|&index| real.remove(index));
        let is_doubtful = |index: &usize| !real.is_subset(&follows[*index]);
        let doubtful = ignored.into_iter().filter(is_doubtful).map(TerminalId::new).collect();
        Self { follows, possible, gates: Vec::new(), doubtful, end, lines: None }
    }

    /// Returns the ignored terminals that only some terminals may follow, each with these.
    pub(super) fn gates(&self) -> &[(TerminalId, BitSet)] {
        &self.gates
    }

    /// Returns an ignored terminal that no line end may follow. Without one, any line can be left
    /// blank.
    pub(super) fn unending(&self, grammar: &Grammar) -> Option<TerminalId> {
        let newline = self.lines.as_ref()?.newline;
        (self.possible.iter().filter(|&index| grammar.terminals[index].ignored))
            .map(TerminalId::new)
            .find(|&ignored| !self.follows(Some(ignored), newline))
    }

    /// Returns whether `next` (perhaps `$`) can always be made to follow `taken`, the last terminal
    /// that the parser has taken (`None`: the beginning of the text), after a last lexeme of
    /// `ignored` (`None`: of `taken`).
    pub(super) fn may_follow(
        &self,
        taken: Option<TerminalId>,
        ignored: Option<TerminalId>,
        next: TerminalId,
    ) -> bool {
        match &self.lines {
            Some(lines) => self.may_follow_in_lines(lines, taken, ignored, next),
            None => next == self.end || self.follows(ignored.or(taken), next),
        }
    }

    /// Returns all terminals that can always be made to follow: see [`Adjacency::may_follow`].
    pub(super) fn followers(
        &self,
        taken: Option<TerminalId>,
        ignored: Option<TerminalId>,
    ) -> BitSet {
        let mut all = BitSet::new(self.end.index() + 1);
        match self.lines {
            Some(_) => {
                let may_follow =
                    |&next: &usize| self.may_follow(taken, ignored, TerminalId::new(next));
                (0..=self.end.index()).filter(may_follow).for_each(|next| {
                    all.insert(next);
                });
            }
            None => {
                all.union_with(self.row(ignored.or(taken)));
                all.insert(self.end.index());
            }
        }
        all
    }

    /// Decides [`Adjacency::may_follow`] with `%indent`. INDENT and DEDENT appear only where a line
    /// begins, and NEWLINE only after another lexeme. Where a line begins, it can be restarted with
    /// other blanks if a line end may follow.
    fn may_follow_in_lines(
        &self,
        lines: &Lines,
        taken: Option<TerminalId>,
        ignored: Option<TerminalId>,
        next: TerminalId,
    ) -> bool {
        let behind =
            |terminals: &[TerminalId]| taken.is_none_or(|taken| terminals.contains(&taken));
        if !behind(&[lines.newline, lines.indent, lines.dedent]) {
            let own = [lines.indent, lines.dedent, self.end].contains(&next);
            // An ignored line end is between brackets, where no other line end is wanted.
            let between = ignored == Some(lines.newline) && next == lines.newline;
            return !own && (between || self.follows(ignored.or(taken), next));
        }
        let fresh = ignored.is_none_or(|ignored| self.follows(Some(ignored), lines.newline));
        fresh
            && match next {
                next if next == self.end => taken != Some(lines.indent),
                next if next == lines.newline => false,
                next if next == lines.indent => behind(&[lines.newline]),
                next if next == lines.dedent => {
                    taken.is_some() && behind(&[lines.newline, lines.dedent])
                }
                next => lines.first.contains(next.index()),
            }
    }

    /// Returns whether a lexeme of `next` can always be made to follow one of `last` (`None`: the
    /// beginning of the text).
    fn follows(&self, last: Option<TerminalId>, next: TerminalId) -> bool {
        self.row(last).contains(next.index())
    }

    fn row(&self, last: Option<TerminalId>) -> &BitSet {
        &self.follows[last.map_or(self.follows.len() - 1, TerminalId::index)]
    }

    /// Returns whether `terminals` has all terminals that a lexeme may ever be, and the end of the
    /// text.
    pub(super) fn is_all(&self, terminals: &BitSet) -> bool {
        terminals.contains(self.end.index()) && self.possible.is_subset(terminals)
    }

    /// Returns whether a lexeme may ever be this terminal: [`Lexis::may_occur`].
    pub(super) fn is_possible(&self, terminal: TerminalId) -> bool {
        self.possible.contains(terminal.index())
    }

    /// Returns the ignored terminals that may appear before any lexeme, even one that may be unable
    /// to follow.
    pub(super) fn doubtful(&self) -> &[TerminalId] {
        &self.doubtful
    }

    /// Returns whether every terminal that the tables let follow another may follow it, with any
    /// ignored one in between.
    pub(super) fn is_total(&self, table: &ParseTable) -> bool {
        let begins = (None, table.row(table.start()));
        let rows = super::rows(table);
        let behind = rows.iter().enumerate().map(|(last, row)| (Some(TerminalId::new(last)), row));
        std::iter::once(begins).chain(behind).all(|(last, row)| {
            let mut places = std::iter::once(None).chain(self.doubtful.iter().copied().map(Some));
            places.all(|ignored| {
                // Followers are a row here, too, unless lines count.
                let all = self.lines.is_none() && {
                    let mut follows = self.row(ignored.or(last)).clone();
                    follows.insert(self.end.index());
                    row.is_subset(&follows)
                };
                all || row.iter().all(|next| self.may_follow(last, ignored, TerminalId::new(next)))
            })
        })
    }
}

/// Adds to each row the followers of the ignored terminals in it, until nothing changes.
fn close(rows: &mut [BitSet], ignored: &[usize]) {
    let mut changed = true;
    while changed {
        changed = false;
        for &ignored in ignored {
            let after = rows[ignored].clone();
            for row in rows.iter_mut() {
                if row.contains(ignored) {
                    changed |= row.union_with(&after);
                }
            }
        }
    }
}
