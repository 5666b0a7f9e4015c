//! Finds terminals for which it matters that the lexer takes the longest match.
//! `README.md` has the proof.

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};

use crate::grammar::characters::alphabet::Alphabet;
use crate::grammar::characters::automaton::{Automaton, DEAD, START};
use crate::grammar::characters::charset::CharSet;
use crate::grammar::characters::contexts::Context;
use crate::grammar::characters::cut::{Cut, Cuts, Lexeme};
use crate::grammar::characters::expr::{Expr, ExprId, Exprs, MAX_DEPTH};
use crate::util::bitset::BitSet;
use crate::util::meter::Meter;

/// Maximum number of steps of all comparisons together.
const MAX_STEPS: usize = 20_000_000;
/// Steps of the meter for one of these: two sets are compared, or a pair is recorded.
const STEPS_OF_A_STEP: usize = 4;
/// Steps reported to the meter at once.
const COUNTED_AT_ONCE: usize = 10_000;
/// Divisor of what is left of the meter: this share may be spent.
const SHARE: usize = 3;

/// Known facts about terminals, kept across rounds.
#[derive(Debug)]
pub(super) struct Checker {
    alphabet: Alphabet,
    numbers: HashMap<Lexeme, usize>,
    automata: Vec<Option<Automaton>>,
    /// By terminal: the letters that its texts begin with.
    first: Vec<BitSet>,
    /// By pair of terminals.
    meetings: HashMap<(usize, usize), Meeting>,
    steps: usize,
    /// How many of these steps the meter does not know of yet.
    uncounted: usize,
    meter: Meter,
}

/// Relation of the texts of one terminal to another.
#[derive(Clone, Debug)]
struct Meeting {
    /// Columns of the other by which it can continue after a text of the first.
    runs: BitSet,
    /// Whether some text belongs to both.
    overlap: bool,
    /// Whether every text of the other belongs to the first.
    covers: bool,
}

/// The check was abandoned: it would take too long.
#[derive(Debug)]
pub(super) struct TooMuch;

impl Checker {
    /// Creates a checker for terminals over these letters.
    pub(super) fn new(alphabet: Alphabet, meter: &Meter) -> Self {
        Self {
            alphabet,
            numbers: HashMap::new(),
            automata: Vec::new(),
            first: Vec::new(),
            meetings: HashMap::new(),
            steps: 0,
            uncounted: 0,
            meter: meter.share(SHARE),
        }
    }

    /// Builds the automata of the terminals and records in `cuts` those that are too large.
    ///
    /// Returns whether none is.
    pub(super) fn measure(
        &mut self,
        exprs: &Exprs,
        terminals: &[Lexeme],
        cuts: &mut Cuts,
    ) -> Result<bool, TooMuch> {
        let mut fits = true;
        for lexeme in terminals {
            // Free text has no parts.
            if matches!(exprs.get(lexeme.expr), Expr::Search(_)) {
                continue;
            }
            let number = self.number(exprs, lexeme)?;
            let too_deep = exprs.depth(lexeme.expr) > MAX_DEPTH;
            if self.automata[number].is_none() || too_deep {
                fits = false;
                let cut = cuts.cuts.entry(lexeme.expr).or_insert(Cut::All);
                *cut = Cut::All;
            }
        }
        Ok(fits)
    }

    fn number(&mut self, exprs: &Exprs, lexeme: &Lexeme) -> Result<usize, TooMuch> {
        if let Some(&number) = self.numbers.get(lexeme) {
            return Ok(number);
        }
        let automaton = Automaton::new(exprs, &self.alphabet, lexeme.expr, &lexeme.without);
        self.spend(automaton.as_ref().map_or(1_000_000, |automaton| automaton.size() * 4))?;
        let number = self.automata.len();
        self.first.push(
            automaton.as_ref().map_or_else(|| BitSet::new(self.alphabet.len()), Automaton::first),
        );
        self.automata.push(automaton);
        self.numbers.insert(lexeme.clone(), number);
        Ok(number)
    }

    fn spend(&mut self, steps: usize) -> Result<(), TooMuch> {
        self.steps += steps;
        self.uncounted += steps;
        if self.steps > MAX_STEPS {
            return Err(TooMuch);
        }
        if self.uncounted < COUNTED_AT_ONCE {
            return Ok(());
        }
        let counted = STEPS_OF_A_STEP * std::mem::take(&mut self.uncounted);
        self.meter.step(counted).map_err(|_| TooMuch)
    }

    /// Records in `cuts` what must be taken apart so that longest match and competition do no harm.
    ///
    /// Returns whether nothing must.
    pub(super) fn check(
        &mut self,
        exprs: &Exprs,
        terminals: &[Lexeme],
        contexts: &[Context],
        cuts: &mut Cuts,
    ) -> Result<bool, TooMuch> {
        let findings = self.find(exprs, terminals, contexts)?;
        let is_sound = findings.is_empty();
        findings.note(exprs, terminals, cuts);
        Ok(is_sound)
    }

    /// Returns the terminals that may not use the longest match. If two have the same texts, that
    /// is recorded in `cuts`.
    pub(super) fn find_every_match(
        &mut self,
        exprs: &Exprs,
        terminals: &[Lexeme],
        contexts: &[Context],
        cuts: &mut Cuts,
    ) -> Result<BitSet, TooMuch> {
        let findings = self.find(exprs, terminals, contexts)?;
        findings.note_same(exprs, terminals, cuts);
        let mut every = BitSet::new(terminals.len());
        let overlaps = findings.overlaps.keys().flat_map(|&(one, other)| [one, other]);
        overlaps.chain(findings.overruns.iter().map(|&(one, _)| one)).for_each(|terminal| {
            every.insert(terminal);
        });
        Ok(every)
    }

    /// Restarts the count of steps.
    pub(super) fn rest(&mut self) {
        self.steps = 0;
    }

    fn find(
        &mut self,
        exprs: &Exprs,
        terminals: &[Lexeme],
        contexts: &[Context],
    ) -> Result<Findings, TooMuch> {
        let numbers: Vec<usize> =
            terminals.iter().map(|lexeme| self.number(exprs, lexeme)).collect::<Result<_, _>>()?;
        if numbers.iter().any(|&number| self.automata[number].is_none()) {
            return Err(TooMuch);
        }
        let words = self.alphabet.len() / 64 + 1;
        self.spend(contexts.iter().map(|context| context.row.iter().count() * words).sum())?;
        let letters = FollowLetters::new(contexts, &numbers, &self.first, self.alphabet.len());
        let mut findings = Findings::default();
        let mut seen = HashSet::new();
        for context in contexts {
            let row: Vec<usize> =
                context.row.iter().filter(|&terminal| terminal < terminals.len()).collect();
            let follows: Vec<usize> =
                row.iter().map(|&terminal| letters.follow(context, terminal)).collect();
            self.spend(row.len())?;
            if !seen.insert((row.clone(), follows.clone())) {
                continue;
            }
            for (first, second) in self.neighbours(&row, &numbers)? {
                let (one, follow) = (row[first as usize], follows[first as usize]);
                let other = row[second as usize];
                let meeting = self.meeting(numbers[one], numbers[other])?;
                if one != other && meeting.overlap {
                    findings.overlaps.insert((one, other), meeting.covers);
                }
                self.spend(1 + 8 * letters.letters[follow].words().len())?;
                let column = |letter| match &self.automata[numbers[other]] {
                    Some(automaton) => automaton.column(letter) as usize,
                    None => usize::MAX,
                };
                if letters.letters[follow]
                    .iter()
                    .any(|letter| meeting.runs.contains(column(letter)))
                {
                    findings.overruns.insert((one, other));
                }
            }
        }
        Ok(findings)
    }

    /// Returns the pairs of positions in `row` whose terminals begin with a common letter,
    /// including each with itself.
    fn neighbours(&mut self, row: &[usize], numbers: &[usize]) -> Result<Vec<(u32, u32)>, TooMuch> {
        self.spend(self.alphabet.len())?;
        let mut by_letter: Vec<Vec<u32>> = vec![Vec::new(); self.alphabet.len()];
        for (at, &terminal) in row.iter().enumerate() {
            for letter in self.first[numbers[terminal]].iter() {
                by_letter[letter].push(at as u32);
            }
        }
        // All of it is charged first: pairs that are abandoned at the end would take most of the
        // memory.
        self.spend(by_letter.iter().map(|places| 1 + places.len() * places.len()).sum())?;
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for places in by_letter {
            for &one in &places {
                pairs.extend(places.iter().map(|&other| (one, other)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        Ok(pairs)
    }

    /// Returns the relation of the texts of `one` to `other`.
    fn meeting(&mut self, one: usize, other: usize) -> Result<Meeting, TooMuch> {
        if let Some(meeting) = self.meetings.get(&(one, other)) {
            return Ok(meeting.clone());
        }
        let (Some(first), Some(second)) = (&self.automata[one], &self.automata[other]) else {
            // Terminals that are too large were taken apart before.
            return Err(TooMuch);
        };
        // The second's moves with each of the first's, and with none.
        let columns: BTreeSet<(u32, u32)> = (0..self.alphabet.len())
            .map(|letter| (first.column(letter), second.column(letter)))
            .collect();
        let mut meeting =
            Meeting { runs: BitSet::new(second.width()), overlap: false, covers: true };
        let mut seen = HashSet::new();
        // Neither matches the empty text, so the start counts only when it is reached again.
        let mut pending = vec![(START, START)];
        let mut is_start = true;
        let mut steps = self.alphabet.len();
        while let Some((a, b)) = pending.pop() {
            if !is_start {
                let (ends, other_ends) = (a != DEAD && first.accepts(a), second.accepts(b));
                meeting.overlap |= ends && other_ends;
                meeting.covers &= ends || !other_ends;
                if ends {
                    let live =
                        (0..second.width() as u32).filter(|&column| second.next(b, column) != DEAD);
                    live.for_each(|column| {
                        meeting.runs.insert(column as usize);
                    });
                }
            }
            is_start = false;
            for &(one, other) in &columns {
                let next =
                    (if a == DEAD { DEAD } else { first.next(a, one) }, second.next(b, other));
                if next.1 != DEAD && (next.0 != DEAD || meeting.covers) && seen.insert(next) {
                    pending.push(next);
                }
            }
            steps += columns.len() + second.width();
            if self.steps + steps > MAX_STEPS {
                return Err(TooMuch);
            }
        }
        self.spend(steps)?;
        self.meetings.insert((one, other), meeting.clone());
        Ok(meeting)
    }
}

/// The letters that may follow terminals.
struct FollowLetters {
    /// Sets of letters, by number.
    letters: Vec<BitSet>,
    /// By context: the set of letters that may begin a terminal there.
    of_context: Vec<usize>,
    /// By terminal: the letters that may follow it anywhere.
    anywhere: Vec<usize>,
}

impl FollowLetters {
    fn new(contexts: &[Context], numbers: &[usize], first: &[BitSet], letters: usize) -> Self {
        let mut ids: HashMap<BitSet, usize> = HashMap::new();
        let mut sets: Vec<BitSet> = Vec::new();
        let mut intern = |set: BitSet| {
            *ids.entry(set).or_insert_with_key(|set| {
                sets.push(set.clone());
                sets.len() - 1
            })
        };
        let row = |context: &Context| {
            let mut all = BitSet::new(letters);
            for terminal in context.row.iter().filter(|&terminal| terminal < numbers.len()) {
                all.union_with(&first[numbers[terminal]]);
            }
            all
        };
        let rows: Vec<BitSet> = contexts.iter().map(row).collect();
        let mut anywhere = vec![BitSet::new(letters); numbers.len()];
        for &(terminal, next) in contexts.iter().flat_map(|context| &context.next) {
            anywhere[terminal].union_with(&rows[next]);
        }
        let of_context = rows.into_iter().map(&mut intern).collect();
        let anywhere = anywhere.into_iter().map(&mut intern).collect();
        Self { letters: sets, of_context, anywhere }
    }

    /// Returns the letters that may follow `terminal` in `context`: exact if it is shifted at once,
    /// otherwise those that may follow it anywhere.
    fn follow(&self, context: &Context, terminal: usize) -> usize {
        let is_reduced_for = context.reduces.contains(terminal);
        match context.next.binary_search_by_key(&terminal, |&(shifted, _)| shifted) {
            Ok(at) if !is_reduced_for => self.of_context[context.next[at].1],
            _ => self.anywhere[terminal],
        }
    }
}

/// Effects of longest match and competition.
#[derive(Debug, Default)]
struct Findings {
    /// A text of the first is one of the second; with whether the first has all texts of the
    /// second.
    overlaps: HashMap<(usize, usize), bool>,
    /// After a text of the first, the second could continue.
    overruns: HashSet<(usize, usize)>,
}

impl Findings {
    fn is_empty(&self) -> bool {
        self.overlaps.is_empty() && self.overruns.is_empty()
    }

    /// Records terminals that have the same texts, of which one suffices.
    fn note_same(&self, exprs: &Exprs, terminals: &[Lexeme], cuts: &mut Cuts) {
        for (&(one, other), &covers) in &self.overlaps {
            let is_covered = self.overlaps.get(&(other, one)) == Some(&true);
            let [one, other] = [&terminals[one], &terminals[other]];
            if covers && is_covered && one.expr < other.expr && are_same(exprs, one, other) {
                cuts.same.insert(other.expr, one.expr);
            }
        }
    }

    fn note(&self, exprs: &Exprs, terminals: &[Lexeme], cuts: &mut Cuts) {
        self.note_same(exprs, terminals, cuts);
        let mut wanted: HashMap<ExprId, Cut> = HashMap::new();
        let mut want = |expr: ExprId, cut: Cut| {
            let known = wanted.entry(expr).or_insert(cut);
            *known = if *known == cut { cut } else { Cut::All };
        };
        let is_class = |expr: ExprId| matches!(exprs.get(expr), Expr::Class(_));
        for &(one, other) in &self.overruns {
            want(terminals[other].expr, if one == other { Cut::Last } else { Cut::First });
        }
        let mut carved: HashMap<ExprId, Vec<ExprId>> = HashMap::new();
        let mut classes: HashMap<ExprId, Vec<ExprId>> = HashMap::new();
        for (&(one, other), &covers) in &self.overlaps {
            let is_covered = self.overlaps.get(&(other, one)) == Some(&true);
            let [one, other] = [&terminals[one], &terminals[other]];
            let can_be_carved = |text: &Lexeme| {
                text.without.is_empty()
                    && exprs.is_finite(text.expr)
                    && !exprs.is_nullable(text.expr)
            };
            match (is_class(one.expr), is_class(other.expr)) {
                (true, true) => classes.entry(one.expr).or_default().push(other.expr),
                (true, false) => want(other.expr, Cut::First),
                (false, true) => want(one.expr, Cut::First),
                (false, false) if covers && is_covered && are_same(exprs, one, other) => {}
                // A terminal that has all texts of the other leaves them to it.
                (false, false) if covers && !is_covered && can_be_carved(other) => {
                    carved.entry(one.expr).or_default().push(other.expr);
                }
                (false, false) if is_covered && !covers && can_be_carved(one) => {}
                (false, false) => {
                    want(one.expr, Cut::First);
                    want(other.expr, Cut::First);
                }
            }
        }
        for (expr, mut texts) in carved {
            texts.sort_unstable();
            let known = cuts.carved.entry(expr).or_default();
            known
                .extend(texts.into_iter().filter(|text| !known.contains(text)).collect::<Vec<_>>());
        }
        for (expr, others) in classes {
            let parts = divide(exprs, expr, &others);
            if parts.len() > 1 {
                cuts.divided.insert(expr, parts);
            }
        }
        cuts.cuts.extend(wanted);
    }
}

/// Whether two terminals with the same texts are also cut into the same parts.
fn are_same(exprs: &Exprs, one: &Lexeme, other: &Lexeme) -> bool {
    let is_whole = one.without.is_empty() && other.without.is_empty();
    is_whole && exprs.is_nullable(one.expr) == exprs.is_nullable(other.expr)
}

/// Splits the class into parts, each within each of `others` or outside it.
fn divide(exprs: &Exprs, class: ExprId, others: &[ExprId]) -> Vec<CharSet> {
    let Expr::Class(set) = exprs.get(class) else { return Vec::new() };
    let mut parts = vec![set.clone()];
    for &other in others {
        let Expr::Class(other) = exprs.get(other) else { continue };
        let outside = other.complement();
        let halves =
            parts.iter().flat_map(|part| [part.intersection(other), part.intersection(&outside)]);
        parts = halves.filter(|part| !part.ranges().is_empty()).collect();
    }
    parts.sort_unstable();
    parts
}
