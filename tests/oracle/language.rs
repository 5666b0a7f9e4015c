//! Membership: the definition of the language, read aloud.

use super::earley::{Chart, Earley};
use super::layout::{Layout, Step};
use super::spec::{Indentation, LexerKind, Spec, Terminal};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// A grammar with the memory of what was asked about it.
#[derive(Debug)]
pub struct Language {
    spec: Spec,
    earley: Earley,
    /// How many lexemes a word may care about, itself and the one before it included.
    memory: usize,
    histories: RefCell<Vec<History>>,
    /// Of each slice: the terminals that match it in full, and those that something longer may match.
    slices: RefCell<HashMap<Vec<u8>, (u32, u32)>>,
}

/// What is known of one history of terminals.
#[derive(Debug)]
struct History {
    chart: Chart,
    /// The terminals that may follow.
    acceptable: u32,
    /// The terminals that compete for the next lexeme.
    candidates: u32,
    is_sentence: bool,
    next: HashMap<usize, usize>,
}

/// A place where a lexeme starts: its offset, the number of the history before it, the layout, and the lexemes before it that
/// are not ignored, as far back as any word cares: who won each, and as which terminal it is read.
type Start = (usize, usize, Layout, Vec<(usize, usize)>);

impl Language {
    pub fn new(spec: Spec) -> Self {
        let earley = Earley::new(&spec);
        let furthest =
            spec.terminals.iter().filter_map(|t| Some(t.lookahead.as_ref()?.ahead.len() + 2)).max();
        let memory = furthest.unwrap_or(0);
        let (histories, slices) = (RefCell::default(), RefCell::default());
        let language = Self { spec, earley, memory, histories, slices };
        let empty = language.history(language.earley.empty());
        language.histories.borrow_mut().push(empty);
        language
    }

    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Whether `text` is in the language.
    pub fn is_member(&self, text: &[u8]) -> bool {
        self.explore(text, false)
    }

    /// `false` only if no text that begins with `text` is in the language.
    pub fn may_continue(&self, text: &[u8]) -> bool {
        self.explore(text, true)
    }

    /// Follows all readings of `text`. As a whole text, it must end in a sentence. As a mere beginning, it
    /// may end between two lexemes, or inside a lexeme of which some useful terminal matches a longer one:
    /// wherever a lexeme starts, it is the longest match in `text` or it reaches beyond `text`.
    fn explore(&self, text: &[u8], as_prefix: bool) -> bool {
        let layout = self.spec.indentation.as_ref().map_or_else(Layout::default, |_| Layout::begin());
        let mut todo: Vec<Start> = vec![(0, 0, layout, Vec::new())];
        let mut seen: HashSet<Start> = HashSet::new();
        while let Some(start) = todo.pop() {
            if !seen.insert(start.clone()) {
                continue;
            }
            let (at, history, layout, trail) = start;
            if at == text.len() {
                if as_prefix || self.ends(history, &layout) && self.is_right(&trail, true) {
                    return true;
                }
                continue;
            }
            let rest = &text[at..];
            if as_prefix && self.may_reach_beyond(history, &layout, rest) {
                return true;
            }
            if let Some((length, winner)) = self.lexeme(history, &layout, rest) {
                for (label, history, layout) in self.readings(history, &layout, winner, &rest[..length]) {
                    let mut trail = trail.clone();
                    if let Some(terminal) = label {
                        trail.push((winner, terminal));
                        if !self.is_right(&trail, false) {
                            continue;
                        }
                    }
                    let kept = trail.split_off(trail.len().saturating_sub(self.memory));
                    todo.push((at + length, history, layout, kept));
                }
            }
        }
        false
    }

    /// Whether each word of the trail is read as what stands around it makes it, as far as that can be told: at the
    /// end of the text it always can.
    fn is_right(&self, trail: &[(usize, usize)], is_whole: bool) -> bool {
        (0..trail.len()).all(|at| {
            let (winner, terminal) = trail[at];
            let Some(lookahead) = &self.spec.terminals[winner].lookahead else { return true };
            let last = at.checked_sub(1).map(|last| trail[last].1);
            if at == 0 && trail.len() >= self.memory {
                // Long decided; what stood before it is forgotten.
                return true;
            }
            let mut itself = Some(
                lookahead.after.as_ref().is_none_or(|after| last.is_some_and(|last| after.contains(&last))),
            );
            for (distance, list) in lookahead.ahead.iter().enumerate() {
                itself = match (itself, trail.get(at + 1 + distance)) {
                    (Some(true), Some((next, _))) => Some(self.meets(*next, list)),
                    (Some(true), None) if is_whole => Some(false),
                    (Some(true), None) => None,
                    (decided, _) => decided,
                };
            }
            itself.is_none_or(|itself| itself == (terminal == winner))
        })
    }

    /// Whether a lexeme won by `winner` is in a list: named itself, or by what it may fall back to.
    fn meets(&self, winner: usize, list: &[usize]) -> bool {
        let fallback = self.spec.terminals[winner].fallback;
        list.contains(&winner) || fallback.is_some_and(|fallback| list.contains(&fallback.terminal))
    }

    /// Whether the text may end here.
    fn ends(&self, history: usize, layout: &Layout) -> bool {
        let mut history = history;
        if let Some(rules) = &self.spec.indentation {
            if layout.is_joined() {
                return false;
            }
            if let Some(line) = layout.ends_line() {
                let newline = line.then_some(rules.newline);
                let dedents = std::iter::repeat_n(rules.dedent, layout.blocks());
                match self.after_all(history, newline.into_iter().chain(dedents)) {
                    Some(after) => history = after,
                    None => return false,
                }
            }
        }
        self.histories.borrow()[history].is_sentence
    }

    /// The history after these terminals, if each can stand there.
    fn after_all(&self, history: usize, terminals: impl IntoIterator<Item = usize>) -> Option<usize> {
        terminals.into_iter().try_fold(history, |history, terminal| {
            let stands = self.histories.borrow()[history].acceptable & (1 << terminal) != 0;
            stands.then(|| self.after(history, terminal))
        })
    }

    /// The history and layout before the lexeme that starts here, if it is the first of a line and the line's width
    /// is right.
    fn before_first(&self, history: usize, layout: &Layout, rules: &Indentation) -> Option<(usize, Layout)> {
        let step = layout.step(rules)?;
        let (terminal, count) = match step {
            Step::Indent(_) => (rules.indent, 1),
            Step::Dedent(count) => (rules.dedent, count),
        };
        let history = self.after_all(history, std::iter::repeat_n(terminal, count))?;
        Some((history, layout.after_step(step)))
    }

    /// The terminals that can stand here, and those that compete.
    fn possible(&self, history: usize, layout: &Layout) -> (u32, u32) {
        let known = |history: usize| {
            let known = &self.histories.borrow()[history];
            (known.acceptable, known.candidates)
        };
        let Some(rules) = self.spec.indentation.as_ref().filter(|_| layout.is_loose()) else {
            return known(history);
        };
        let before = match layout.begins_line() {
            true => self.before_first(history, layout, rules).map(|(history, _)| history),
            false => Some(history),
        };
        let newline = 1 << rules.newline;
        let acceptable = before.map_or(0, |history| known(history).0) & !newline;
        let ignored = if acceptable & self.exclusive() == 0 { newline } else { 0 };
        (acceptable, self.candidates(acceptable | ignored))
    }

    /// The longest non-empty prefix of `rest` that a candidate matches in full, and of those the best.
    fn lexeme(&self, history: usize, layout: &Layout, rest: &[u8]) -> Option<(usize, usize)> {
        let (_, candidates) = self.possible(history, layout);
        let mut longest = None;
        for length in 1..=rest.len() {
            let (matching, extensible) = self.slice(&rest[..length]);
            if candidates & matching != 0 {
                longest = Some((length, (candidates & matching).trailing_zeros() as usize));
            }
            if candidates & extensible == 0 {
                break;
            }
        }
        longest
    }

    /// The histories and layouts after `history` and a lexeme won by `winner`.
    fn readings(
        &self,
        history: usize,
        layout: &Layout,
        winner: usize,
        lexeme: &[u8],
    ) -> Vec<(Option<usize>, usize, Layout)> {
        let labels = self.labels(history, layout, winner);
        let Some(rules) = &self.spec.indentation else {
            let after =
                |label: Option<usize>| label.map_or(history, |terminal| self.after(history, terminal));
            return labels.into_iter().map(|label| (label, after(label), layout.clone())).collect();
        };
        labels
            .into_iter()
            .filter_map(|label| match label {
                None => Some((label, history, layout.after_ignored(winner, lexeme, rules))),
                Some(terminal) => {
                    let (history, layout) = match layout.begins_line() {
                        true => self.before_first(history, layout, rules)?,
                        false => (history, layout.clone()),
                    };
                    Some((label, self.after(history, terminal), layout.after_terminal(terminal, rules)))
                }
            })
            .collect()
    }

    /// What a lexeme won by `winner` can be: `None` is nothing at all, an ignored lexeme.
    fn labels(&self, history: usize, layout: &Layout, winner: usize) -> Vec<Option<usize>> {
        let (acceptable, _) = self.possible(history, layout);
        let can_stand = |terminal: usize| acceptable & (1 << terminal) != 0;
        let terminal = &self.spec.terminals[winner];
        let newline = self.spec.indentation.as_ref().is_some_and(|rules| rules.newline == winner);
        if terminal.ignored || newline && layout.is_loose() {
            return vec![None];
        }
        let mut labels = Vec::new();
        if let Some(lookahead) = &terminal.lookahead {
            return [winner, lookahead.other].into_iter().filter(|&t| can_stand(t)).map(Some).collect();
        }
        if can_stand(winner) {
            labels.push(Some(winner));
        }
        if let Some(fallback) = terminal.fallback
            && can_stand(fallback.terminal)
            && (fallback.soft || !can_stand(winner))
        {
            labels.push(Some(fallback.terminal));
        }
        labels
    }

    fn may_reach_beyond(&self, history: usize, layout: &Layout, rest: &[u8]) -> bool {
        let (_, mut open) = self.possible(history, layout);
        for length in 1..=rest.len() {
            open &= self.slice(&rest[..length]).1;
            if open == 0 {
                return false;
            }
        }
        let has_label = |terminal: usize| !self.labels(history, layout, terminal).is_empty();
        (0..self.spec.terminals.len()).any(|terminal| open & (1 << terminal) != 0 && has_label(terminal))
    }

    fn slice(&self, slice: &[u8]) -> (u32, u32) {
        if let Some(&known) = self.slices.borrow().get(slice) {
            return known;
        }
        let mut matching = 0;
        let mut extensible = 0;
        for (t, terminal) in self.spec.terminals.iter().enumerate() {
            if let Some(pattern) = &terminal.pattern {
                matching |= u32::from(pattern.matches(slice)) << t;
                extensible |= u32::from(pattern.may_extend(slice)) << t;
            }
        }
        self.slices.borrow_mut().insert(slice.to_vec(), (matching, extensible));
        (matching, extensible)
    }

    fn after(&self, history: usize, terminal: usize) -> usize {
        if let Some(&next) = self.histories.borrow()[history].next.get(&terminal) {
            return next;
        }
        let chart = self.earley.extend(&self.histories.borrow()[history].chart, terminal);
        let next = self.history(chart);
        let mut histories = self.histories.borrow_mut();
        histories.push(next);
        let number = histories.len() - 1;
        histories[history].next.insert(terminal, number);
        number
    }

    fn history(&self, chart: Chart) -> History {
        let acceptable = self.earley.acceptable(&chart);
        let is_sentence = self.earley.is_sentence(&chart);
        let candidates = self.candidates(acceptable);
        History { chart, acceptable, candidates, is_sentence, next: HashMap::new() }
    }

    fn exclusive(&self) -> u32 {
        let is_exclusive = |(t, terminal): (usize, &Terminal)| u32::from(terminal.exclusive) << t;
        self.spec.terminals.iter().enumerate().map(is_exclusive).sum()
    }

    /// The terminals that compete where these can stand.
    fn candidates(&self, acceptable: u32) -> u32 {
        let all = || self.spec.terminals.iter().enumerate();
        let exclusive = self.exclusive();
        let candidates = match self.spec.lexer {
            _ if acceptable & exclusive != 0 => {
                all().filter(|(_, terminal)| terminal.ignored).fold(acceptable, |set, (t, _)| set & !(1 << t))
            }
            LexerKind::Basic => all().fold(0, |set, (t, _)| set | 1 << t),
            LexerKind::Contextual => {
                let plain =
                    all().fold(acceptable, |set, (t, terminal)| set | u32::from(terminal.ignored) << t);
                all().fold(plain, |set, (t, terminal)| {
                    let against = terminal.reserved_against.iter().copied();
                    let mut against = against.chain(terminal.lookahead.iter().map(|l| l.other));
                    let competes = against.any(|other| plain & (1 << other) != 0);
                    set | u32::from(competes) << t
                })
            }
        };
        if acceptable & exclusive != 0 { candidates } else { candidates & !exclusive }
    }
}
