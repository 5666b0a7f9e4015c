//! Where a tokenizer splits a text before it merges: an automaton that guesses the cuts, and takes
//! back the guesses that later text refutes.
//!
//! A pattern splits a text into *pieces*: each is what a backtracking matcher finds at the end of
//! the one before. Whether a piece ends here can depend on later text, since a preferred thread may
//! still match: `\s+(?!\S)` in `"  x"` gives back a blank. So a state has, besides the threads of
//! the piece in progress in order of preference, those of earlier pieces that must never match
//! (*obligations*, as in the scanner). A cut is allowed where some thread matches; the threads
//! preferred to it become obligations. A text that obeys them all was cut as the tokenizer cuts it,
//! and exactly one sequence of guesses does.
//!
//! Added tokens are split off first, leftmost and longest, and the pattern reads the *segments*
//! between them. So within a segment the beginnings of all added tokens are obligations too.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::pattern::{Classes, Instruction, Program};

/// No state: the text is not cut this way.
pub(super) const DEAD: u16 = u16::MAX;

/// Upper bound on the states.
const MOST_STATES: usize = 1 << 14;

/// The state before any text, and after a token that cuts it.
pub(super) const START: u16 = 0;

/// What the states are made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Threads {
    piece: Piece,
    /// Places that must never match, ascending.
    never: Vec<u32>,
    /// The classes of which the next character must be, if there is one.
    next: Option<Classes>,
}

/// The piece in progress.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Piece {
    /// None yet, at the beginning of a segment: an added token may follow.
    Segment,
    /// None yet, within a segment.
    None,
    /// None, and the segment has ended: only an added token may follow.
    Ended,
    /// Places in order of preference.
    Begun(Vec<u32>),
}

/// The automaton.
#[derive(Debug)]
pub(super) struct Splitter {
    program: Program,
    /// By state and class, the next state.
    steps: Box<[u16]>,
    /// By state and added token, the state after it.
    added: Box<[u16]>,
    states: Box<[State]>,
}

#[derive(Debug, Default)]
struct State {
    /// The states after a cut here.
    cuts: Box<[u16]>,
    is_begun: bool,
    may_end: bool,
    is_settled: bool,
}

impl Splitter {
    /// Builds the automaton for a program.
    ///
    /// # Errors
    ///
    /// The reason, for a message, if it is too large.
    pub(super) fn new(program: Program) -> Result<Self, String> {
        let count = program.alphabet.count;
        let start = Threads { piece: Piece::Segment, never: Vec::new(), next: None };
        let mut known: HashMap<Threads, u16, FxBuildHasher> = HashMap::default();
        let mut pending = VecDeque::new();
        let mut number = |threads: Threads, pending: &mut VecDeque<Threads>| {
            let next = known.len() as u16;
            *known.entry(threads).or_insert_with_key(|threads| {
                pending.push_back(threads.clone());
                next
            })
        };
        number(start, &mut pending);
        let (mut steps, mut added, mut states) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(threads) = pending.pop_front() {
            if states.len() + pending.len() >= MOST_STATES {
                return Err("it needs too many states".to_owned());
            }
            for class in 0..count {
                let next = threads.step(&program, class);
                steps.push(next.map_or(DEAD, |next| number(next, &mut pending)));
            }
            for text in 0..program.texts.len() {
                let next = threads.after_added(&program, text);
                added.push(next.map_or(DEAD, |next| number(next, &mut pending)));
            }
            let cuts = threads.cuts(&program).into_iter().map(|cut| number(cut, &mut pending));
            states.push(State {
                cuts: cuts.collect(),
                is_begun: matches!(threads.piece, Piece::Begun(_)),
                may_end: threads.may_end(&program),
                is_settled: threads.never.is_empty() && threads.next.is_none(),
            });
        }
        let (steps, added, states) = (steps.into(), added.into(), states.into());
        let mut splitter = Self { program, steps, added, states };
        splitter.remove_dead_ends();
        Ok(splitter)
    }

    /// Returns an error if some character is no piece, so that the pattern leaves gaps.
    pub(super) fn check_whole(&self) -> Result<(), String> {
        let is_piece = |class: u8| {
            let next = self.steps[usize::from(class)];
            next != DEAD && self.may_end(next)
        };
        match self.program.alphabet.met().all(is_piece) {
            true => Ok(()),
            false => Err("it does not match every character".to_owned()),
        }
    }

    /// Removes the states from which no text ends.
    fn remove_dead_ends(&mut self) {
        let count = self.states.len();
        let mut before: Vec<Vec<u16>> = vec![Vec::new(); count];
        for state in 0..count {
            let steps = self.row(&self.steps, state).iter().chain(self.row(&self.added, state));
            let next = steps.chain(self.states[state].cuts.iter()).filter(|&&next| next != DEAD);
            next.for_each(|&next| before[usize::from(next)].push(state as u16));
        }
        let mut is_live: Vec<bool> = self.states.iter().map(|state| state.may_end).collect();
        let mut pending: Vec<usize> = (0..count).filter(|&state| is_live[state]).collect();
        while let Some(state) = pending.pop() {
            for &earlier in &before[state] {
                if !std::mem::replace(&mut is_live[usize::from(earlier)], true) {
                    pending.push(earlier.into());
                }
            }
        }
        let is_dead = |next: u16| next != DEAD && !is_live[usize::from(next)];
        let steps = self.steps.iter_mut().chain(self.added.iter_mut());
        steps.filter(|next| is_dead(**next)).for_each(|next| *next = DEAD);
        for state in &mut self.states {
            state.cuts = state.cuts.iter().copied().filter(|&cut| !is_dead(cut)).collect();
        }
    }

    fn row<'r>(&self, rows: &'r [u16], state: usize) -> &'r [u16] {
        let length = rows.len() / self.states.len();
        &rows[state * length..][..length]
    }

    /// Returns the state after a character within a piece, or at its beginning; or [`DEAD`].
    #[inline]
    pub(super) fn step(&self, state: u16, character: char) -> u16 {
        let class = self.program.alphabet.class(character);
        self.steps[usize::from(state) * self.program.alphabet.count + usize::from(class)]
    }

    /// Returns the class of a character: those of one class lead to the same states.
    pub(super) fn class(&self, character: char) -> u8 {
        self.program.alphabet.class(character)
    }

    /// Returns the state after an added token, given by its place in the list of texts; or
    /// [`DEAD`].
    pub(super) fn after_added(&self, state: u16, text: usize) -> u16 {
        self.row(&self.added, state.into())[text]
    }

    /// Returns the states after a cut in this state.
    pub(super) fn cuts(&self, state: u16) -> &[u16] {
        &self.states[usize::from(state)].cuts
    }

    /// Returns whether a piece is in progress.
    #[inline]
    pub(super) fn is_begun(&self, state: u16) -> bool {
        self.states[usize::from(state)].is_begun
    }

    /// Returns whether the text may end in this state.
    pub(super) fn may_end(&self, state: u16) -> bool {
        self.states[usize::from(state)].may_end
    }

    /// Returns whether no later text refutes the cuts so far.
    pub(super) fn is_settled(&self, state: u16) -> bool {
        self.states[usize::from(state)].is_settled
    }

    /// Returns the number of states.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }
}

/// Whether a thread reads a character, and at which places it goes on.
enum Outcome {
    Stops,
    /// It has matched before the character.
    Matched,
    At(u32),
}

impl Program {
    /// Adds the places that are reached from `place` without reading, in order of preference.
    /// Returns true if one of them ends the match at once: the ones after it do not count.
    fn reach(&self, place: u32, reached: &mut Vec<u32>) -> bool {
        let mut pending = vec![place];
        let mut met = Vec::new();
        while let Some(place) = pending.pop() {
            if met.contains(&place) || reached.contains(&place) {
                continue;
            }
            match &self.code[place as usize] {
                Instruction::Split(places) => {
                    met.push(place);
                    pending.extend(places.iter().rev());
                }
                Instruction::Match => {
                    reached.push(place);
                    return true;
                }
                _ => reached.push(place),
            }
        }
        false
    }

    fn outcome(&self, place: u32, class: usize) -> Outcome {
        match &self.code[place as usize] {
            Instruction::Class(classes) if classes >> class & 1 == 1 => Outcome::At(place + 1),
            Instruction::MatchBefore(classes) if classes >> class & 1 == 1 => Outcome::Matched,
            _ => Outcome::Stops,
        }
    }

    fn is_look(&self, place: u32) -> bool {
        matches!(self.code[place as usize], Instruction::MatchBefore(_))
    }

    /// Returns the places that must not match after a character. `None` if one does.
    fn step_never(&self, never: impl Iterator<Item = u32>, class: usize) -> Option<Vec<u32>> {
        let mut next = Vec::new();
        for place in never {
            match self.outcome(place, class) {
                Outcome::Stops => {}
                Outcome::Matched => return None,
                Outcome::At(place) if self.reach(place, &mut next) => return None,
                Outcome::At(_) => {}
            }
        }
        next.sort_unstable();
        Some(next)
    }
}

impl Threads {
    fn step(&self, program: &Program, class: usize) -> Option<Self> {
        if self.next.is_some_and(|next| next >> class & 1 == 0) {
            return None;
        }
        let mut begun = Vec::new();
        let places = match &self.piece {
            Piece::Ended => return None,
            Piece::Begun(places) => places,
            Piece::Segment | Piece::None => {
                program.reach(0, &mut begun);
                &begun
            }
        };
        let mut next = Vec::new();
        for &place in places {
            match program.outcome(place, class) {
                // A match that is preferred to the threads after it.
                Outcome::Matched => break,
                Outcome::At(place) if program.reach(place, &mut next) => break,
                _ => {}
            }
        }
        if next.is_empty() {
            return None;
        }
        // No added token begins within a segment.
        let never = self.never.iter().chain(&program.texts).copied();
        let never = program.step_never(never, class)?;
        Some(Self { piece: Piece::Begun(next), never, next: None })
    }

    /// Returns the state after an added token.
    fn after_added(&self, program: &Program, text: usize) -> Option<Self> {
        if !matches!(self.piece, Piece::Segment | Piece::Ended) {
            return None;
        }
        let mut never = self.never.clone();
        let mut longer = program.texts.clone();
        let mut place = program.texts[text] as usize;
        while let Instruction::Class(classes) = program.code[place] {
            let class = classes.trailing_zeros() as usize;
            if self
                .next
                .is_some_and(|next| place == program.texts[text] as usize && next >> class & 1 == 0)
            {
                return None;
            }
            never = program.step_never(never.into_iter(), class)?;
            let after = longer.iter().filter_map(|&other| match program.outcome(other, class) {
                Outcome::At(next) => Some(next),
                _ => None,
            });
            longer = after.collect();
            place += 1;
        }
        let is_longer =
            |&&other: &&u32| matches!(program.code[other as usize], Instruction::Class(_));
        never.extend(longer.iter().filter(is_longer));
        never.sort_unstable();
        never.dedup();
        Some(Self { piece: Piece::Segment, never, next: None })
    }

    fn cuts(&self, program: &Program) -> Vec<Self> {
        let Piece::Begun(places) = &self.piece else { return Vec::new() };
        let mut cuts = Vec::new();
        for (rank, &place) in places.iter().enumerate() {
            let next = match program.code[place as usize] {
                Instruction::MatchBefore(classes) => Some(classes),
                Instruction::Match => None,
                _ => continue,
            };
            let mut never = [&self.never[..], &places[..rank]].concat();
            never.sort_unstable();
            never.dedup();
            cuts.push(Self { piece: Piece::None, never, next });
        }
        if !program.texts.is_empty() && self.may_end(program) {
            // The pattern has read its last piece of the segment; added tokens may still begin.
            let first = program.texts[0];
            let never = self.never.iter().copied().filter(|&place| place >= first).collect();
            cuts.push(Self { piece: Piece::Ended, never, next: None });
        }
        cuts
    }

    fn may_end(&self, program: &Program) -> bool {
        let ends = |&place: &u32| !matches!(program.code[place as usize], Instruction::Class(_));
        let may_end = match &self.piece {
            Piece::Begun(places) => places.iter().any(ends),
            _ => true,
        };
        may_end && !self.never.iter().any(|&place| program.is_look(place))
    }
}
