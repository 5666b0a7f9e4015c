//! The search for completions: breadth first over situations, each of which represents all texts
//! that lead to it.
//!
//! A situation is a reading that has not ended: a state between two lexemes, the terminals that
//! compete there, the progress of the lexeme in progress, and the earlier lexemes that must not
//! turn out longer. The search finds a proposal: [`Language::is_member`] judges it by the
//! definition. A search without a result is exact if it has visited all situations that can be
//! reached over the alphabet; a stack may grow without bound, so the number of visited situations
//! is limited.

use super::language::{Language, Opening, Place};
use super::pattern::Pattern;
use super::spec::{LOOKED_BEHIND, Matching};
use regex_automata::util::primitives::StateID;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Upper bound on the situations after one text: separate stacks may double with each lexeme.
const MOST: usize = 400;

/// A reading of a text in the middle of a lexeme.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Situation {
    /// The state in which the lexeme has started, and the terminals that compete for it.
    place: Place,
    opening: Opening,
    /// Whether it has a byte: false only before the first byte of the text.
    begun: bool,
    /// Progress of its candidates.
    scan: usize,
    /// The end of the text before it, if some terminal looks behind.
    before: Vec<u8>,
    /// Its bytes, if they determine the width of a line.
    lexeme: Vec<u8>,
    /// Progress of earlier lexemes whose candidates must not match any further.
    pending: BTreeSet<usize>,
    /// Look-aheads of earlier lexemes that the text must (`true`) or must not begin with: the
    /// terminal, and the progress of its look-ahead.
    asked: BTreeSet<Asked>,
}

/// A look-ahead in progress.
type Asked = (usize, StateID, bool);

/// Several situations.
type Numbers = Rc<Vec<usize>>;

/// The state of each candidate; `None` for one that cannot match any more, and for terminals that
/// do not compete.
type Scan = Vec<Option<StateID>>;

/// The result for a situation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// These bytes complete it.
    Completed(Vec<u8>),
    /// No text over the alphabet completes it.
    Dead,
    /// No completion was found within the limit.
    #[default]
    Unknown,
    /// There are too many situations to start from.
    TooMany,
}

/// Situations met so far, by number.
#[derive(Debug, Default)]
struct Met {
    numbers: HashMap<Situation, usize>,
    all: Vec<Situation>,
    verdicts: Vec<Verdict>,
    /// The situations after one more byte.
    next: HashMap<(usize, u8), Numbers>,
}

/// A search with a cache of its results.
#[derive(Debug)]
pub struct Search {
    alphabet: Vec<u8>,
    /// Number of visited situations after which a search stops.
    limit: usize,
    scan_numbers: RefCell<HashMap<Scan, usize>>,
    scans: RefCell<Vec<Scan>>,
    met: RefCell<Met>,
    /// The situations after each text of a query, and after its prefixes.
    texts: RefCell<HashMap<Vec<u8>, Option<Numbers>>>,
}

impl Search {
    pub fn new(alphabet: &[u8], limit: usize) -> Self {
        Self {
            alphabet: alphabet.to_vec(),
            limit,
            scan_numbers: RefCell::default(),
            scans: RefCell::default(),
            met: RefCell::default(),
            texts: RefCell::default(),
        }
    }

    /// Returns the result for `text`.
    pub fn verdict(&self, language: &Language, text: &[u8]) -> Verdict {
        self.after(language, text).map_or(Verdict::TooMany, |from| self.complete(language, &from))
    }

    /// Returns the situations after `text`, if there are not too many.
    fn after(&self, language: &Language, text: &[u8]) -> Option<Numbers> {
        if let Some(known) = self.texts.borrow().get(text) {
            return known.clone();
        }
        let after = match text.split_last() {
            None => Some(self.begin(
                language,
                &language.begin(),
                (&BTreeSet::new(), &BTreeSet::new()),
                (&[], None),
            )),
            Some((&byte, before)) => self.after(language, before).map(|before| {
                before
                    .iter()
                    .flat_map(|&number| self.next(language, number, byte).to_vec())
                    .collect()
            }),
        };
        let after = after.map(deduplicated).filter(|after| after.len() <= MOST).map(Rc::new);
        self.texts.borrow_mut().insert(text.to_vec(), after.clone());
        after
    }

    /// Searches breadth first from these situations.
    fn complete(&self, language: &Language, from: &[usize]) -> Verdict {
        let mut found: Vec<(usize, Option<(usize, u8)>)> =
            from.iter().map(|&number| (number, None)).collect();
        let mut seen: BTreeSet<usize> = from.iter().copied().collect();
        let mut at = 0;
        while let Some(&(number, _)) = found.get(at) {
            if at == self.limit {
                return Verdict::Unknown;
            }
            let known = self.met.borrow().verdicts[number].clone();
            match known {
                Verdict::Completed(ending) => return self.note_completed(&found, at, ending),
                Verdict::Dead | Verdict::TooMany => {}
                Verdict::Unknown if self.ends(language, number) => {
                    return self.note_completed(&found, at, Vec::new());
                }
                Verdict::Unknown => {
                    for &byte in &self.alphabet {
                        let next = self.next(language, number, byte);
                        let new = next.iter().copied().filter(|&next| seen.insert(next));
                        found.extend(new.map(|next| (next, Some((at, byte)))));
                    }
                }
            }
            at += 1;
        }
        for (number, _) in found {
            self.met.borrow_mut().verdicts[number] = Verdict::Dead;
        }
        Verdict::Dead
    }

    /// Stores the completions of all situations on the path to `found[at]`; returns that of the
    /// first.
    fn note_completed(
        &self,
        found: &[(usize, Option<(usize, u8)>)],
        mut at: usize,
        mut ending: Vec<u8>,
    ) -> Verdict {
        loop {
            let (number, before) = found[at];
            let verdict = Verdict::Completed(ending.clone());
            self.met.borrow_mut().verdicts[number] = verdict.clone();
            let Some((from, byte)) = before else { return verdict };
            ending.insert(0, byte);
            at = from;
        }
    }

    /// Whether the text may end here.
    fn ends(&self, language: &Language, number: usize) -> bool {
        let situation = self.met.borrow().all[number].clone();
        if !situation.begun {
            return language.ends(&situation.place);
        }
        let Situation { place, opening, lexeme, asked, .. } = &situation;
        // At the end of the text a required look-ahead is missing.
        let holds = |asked: &BTreeSet<Asked>| asked.iter().all(|&(.., must)| !must);
        holds(asked)
            && self.winners(language, situation.scan).into_iter().any(|(winner, asked)| {
                let behind = language.behind_all(place, opening, &winner, lexeme);
                holds(&asked) && behind.iter().any(|place| language.ends(place))
            })
    }

    /// Returns the situations after one more byte.
    fn next(&self, language: &Language, number: usize, byte: u8) -> Numbers {
        if let Some(known) = self.met.borrow().next.get(&(number, byte)) {
            return known.clone();
        }
        let situation = self.met.borrow().all[number].clone();
        let next = Rc::new(deduplicated(self.find_next(language, &situation, byte)));
        self.met.borrow_mut().next.insert((number, byte), next.clone());
        next
    }

    fn find_next(&self, language: &Language, from: &Situation, byte: u8) -> Vec<usize> {
        let mut pending = BTreeSet::new();
        let Some(mut asked) = self.ask(language, &from.asked, byte) else { return Vec::new() };
        for &scan in &from.pending {
            if let Some(longer) = self.step(language, scan, byte) {
                let Some(none) = self.no_winner(language, longer) else { return Vec::new() };
                asked.extend(none);
                pending.insert(longer);
            }
        }
        let longer = self.step(language, from.scan, byte);
        let before = Self::remembered(language, &from.before, byte);
        let mut next = Vec::new();
        if let Some(scan) = longer {
            let mut lexeme = from.lexeme.clone();
            if from.place.layout.begins_line() {
                lexeme.push(byte);
            }
            next.extend(self.meet(
                language,
                Situation {
                    begun: true,
                    scan,
                    before,
                    lexeme,
                    pending: pending.clone(),
                    asked: asked.clone(),
                    ..from.clone()
                },
            ));
        }
        if let Some(longer) = longer {
            let Some(none) = self.no_winner(language, longer) else { return next };
            pending.insert(longer);
            asked.extend(none);
        }
        let winners = if from.begun { self.winners(language, from.scan) } else { Vec::new() };
        for (winners, own) in winners {
            let Some(own) = self.ask(language, &own, byte) else { continue };
            let asked = asked.union(&own).copied().collect();
            for place in language.behind_all(&from.place, &from.opening, &winners, &from.lexeme) {
                let at = (&from.before[..], Some(byte));
                next.extend(self.begin(language, &place, (&pending, &asked), at));
            }
        }
        next
    }

    /// Returns the remaining look-aheads after one more byte; `None` if one is violated.
    fn ask(
        &self,
        language: &Language,
        asked: &BTreeSet<Asked>,
        byte: u8,
    ) -> Option<BTreeSet<Asked>> {
        let mut after = BTreeSet::new();
        for &(terminal, state, must) in asked {
            let (pattern, _) = language.spec().terminals[terminal].trailing.as_ref()?;
            match pattern.next(state, byte) {
                Some(next) if !pattern.accepts(next) => {
                    after.insert((terminal, next, must));
                }
                next if next.is_some() == must => {}
                _ => return None,
            }
        }
        Some(after)
    }

    /// Returns the possible winners of a lexeme that ends here, with their conditions on the text
    /// after it: the winner's look-ahead holds, and that of no better one does.
    fn winners(&self, language: &Language, scan: usize) -> Vec<(Vec<usize>, BTreeSet<Asked>)> {
        let mut winners = Vec::new();
        let mut before = BTreeSet::new();
        for (t, terminal) in language.spec().terminals.iter().enumerate() {
            let state = self.scans.borrow()[scan][t];
            if !state
                .zip(terminal.pattern.as_ref())
                .is_some_and(|(state, pattern)| pattern.accepts(state))
            {
                continue;
            }
            let mut asked = before.clone();
            let Some((behind, must)) = &terminal.trailing else {
                let matching = self.matching(language, scan);
                let meant = language.meant_with(t, matching);
                winners.push((meant, asked));
                break;
            };
            asked.insert((t, behind.start(), *must));
            winners.push((vec![t], asked));
            before.insert((t, behind.start(), !must));
        }
        winners
    }

    /// Returns the terminals that match the lexeme so far.
    fn matching(&self, language: &Language, scan: usize) -> u32 {
        let states = &self.scans.borrow()[scan];
        let terminals = states.iter().zip(&language.spec().terminals).enumerate();
        terminals.fold(0, |set, (t, (state, terminal))| {
            let pattern = terminal.pattern.as_ref();
            let matches = state.zip(pattern).is_some_and(|(state, pattern)| pattern.accepts(state));
            set | u32::from(matches) << t
        })
    }

    /// Returns the conditions on the text after here under which no lexeme ends here; `None` if one
    /// ends in any case.
    fn no_winner(&self, language: &Language, scan: usize) -> Option<BTreeSet<Asked>> {
        let terminals = &language.spec().terminals;
        let mut none = BTreeSet::new();
        for (winners, _) in self.winners(language, scan) {
            let winner = winners[0];
            let (behind, must) = terminals[winner].trailing.as_ref()?;
            none.insert((winner, behind.start(), !must));
        }
        Some(none)
    }

    /// Returns the end of a text, as far as any terminal looks behind, after one more byte.
    fn remembered(language: &Language, before: &[u8], byte: u8) -> Vec<u8> {
        if language.spec().terminals.iter().all(|terminal| terminal.leading.is_none()) {
            return Vec::new();
        }
        let text = [before, &[byte]].concat();
        text[text.len().saturating_sub(LOOKED_BEHIND)..].to_vec()
    }

    /// Returns the situations at the beginning of a lexeme, after its first byte if there is one.
    fn begin(
        &self,
        language: &Language,
        place: &Place,
        (pending, asked): (&BTreeSet<usize>, &BTreeSet<Asked>),
        (before, byte): (&[u8], Option<u8>),
    ) -> Vec<usize> {
        let mut begun = Vec::new();
        for opening in language.openings(place) {
            let start = self.start(language, language.behind_text(opening.candidates, before));
            let scan = byte.map_or(Some(start), |byte| self.step(language, start, byte));
            let lexeme = byte.filter(|_| place.layout.begins_line()).into_iter().collect();
            let (place, pending, asked) = (place.clone(), pending.clone(), asked.clone());
            let before =
                byte.map_or_else(Vec::new, |byte| Self::remembered(language, before, byte));
            let begun_now = byte.is_some();
            begun.extend(scan.and_then(|scan| {
                self.meet(
                    language,
                    Situation {
                        place,
                        opening,
                        begun: begun_now,
                        scan,
                        before,
                        lexeme,
                        pending,
                        asked,
                    },
                )
            }));
        }
        begun
    }

    /// Returns the number of a situation, unless no terminal that its lexeme can become has a
    /// reading.
    fn meet(&self, language: &Language, situation: Situation) -> Option<usize> {
        let states = self.scans.borrow()[situation.scan].clone();
        let open = states
            .iter()
            .enumerate()
            .fold(0, |set, (t, state)| set | u32::from(state.is_some()) << t);
        if situation.begun && !language.has_reading(&situation.place, &situation.opening, open) {
            return None;
        }
        let mut met = self.met.borrow_mut();
        if let Some(&number) = met.numbers.get(&situation) {
            return Some(number);
        }
        let number = met.all.len();
        met.numbers.insert(situation.clone(), number);
        met.all.push(situation);
        met.verdicts.push(Verdict::Unknown);
        Some(number)
    }

    /// Returns the scan before the first byte of a lexeme for which these terminals compete.
    fn start(&self, language: &Language, candidates: u32) -> usize {
        let terminals = language.spec().terminals.iter().enumerate();
        let start = terminals.map(|(t, terminal)| {
            terminal.pattern.as_ref().filter(|_| candidates & 1 << t != 0).map(Pattern::start)
        });
        self.number(start.collect())
    }

    /// Returns the scan after one more byte; `None` if nothing can match.
    fn step(&self, language: &Language, scan: usize, byte: u8) -> Option<usize> {
        let mut from = self.scans.borrow()[scan].clone();
        let terminals = &language.spec().terminals;
        if language.spec().matching == Matching::Priority {
            // A terminal that matches already takes precedence over all of lower priority.
            let matching = self.matching(language, scan);
            let matches = |t: &usize| matching & 1 << t != 0;
            let best = (0..terminals.len()).filter(matches).map(|t| terminals[t].priority).max();
            for (state, terminal) in from.iter_mut().zip(terminals) {
                if best.is_some_and(|best| terminal.priority < best) {
                    *state = None;
                }
            }
        }
        let patterns = terminals.iter().map(|terminal| terminal.pattern.as_ref());
        let next: Scan = from
            .iter()
            .zip(patterns)
            .map(|(&state, pattern)| pattern?.next(state?, byte))
            .collect();
        next.iter().any(Option::is_some).then(|| self.number(next))
    }

    fn number(&self, scan: Scan) -> usize {
        *self.scan_numbers.borrow_mut().entry(scan).or_insert_with_key(|scan| {
            self.scans.borrow_mut().push(scan.clone());
            self.scans.borrow().len() - 1
        })
    }
}

fn deduplicated(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
