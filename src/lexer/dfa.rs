//! A minimal DFA over bytes: the lexemes of one terminal.
//!
//! Invariants: every state is reachable from the start and reaches an accepting state (the dead
//! state is not stored); no two states have the same residual language; no two byte classes have
//! equal columns; states are numbered in breadth-first order by class. So equal languages are equal
//! values, and only the empty language has no state.
//!
//! Where the table has a [`Count`], the invariants hold for the table alone, except the second:
//! states that the count distinguishes may otherwise have the same residual language.

use std::borrow::Cow;
use std::fmt;

use crate::lexer::count::Count;
use crate::lexer::table::{DEAD, Table};
use crate::util::byte_classes::{ByteClasses, fmt_range};

/// The automaton of one terminal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Dfa {
    pub(super) classes: ByteClasses,
    /// `state * classes + class`; [`Dfa::DEAD`] if there is no successor.
    pub(super) table: Box<[u32]>,
    /// By state of the table, the length of a shortest accepted suffix; 0 in accepting states, and
    /// only there.
    pub(super) distance: Box<[u32]>,
    /// Bounds on the number of characters of a lexeme. With it a state is a state of the table and
    /// a count.
    pub(super) count: Option<Box<Count>>,
    /// Conditions on the text after a lexeme, if there are any.
    pub(super) trailing: Option<Box<Trailing>>,
    /// Whether the lexemes depend on the text before them. Then the automaton reads that text
    /// first, from its beginning, and [`Dfa::BEGIN`] where the lexeme begins.
    pub(super) leading: bool,
}

/// Conditions on the text after a lexeme, by the state in which it ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Trailing {
    /// By state: 1 plus the number of its condition, or 0. Ends without a condition are certain.
    pub(super) of: Box<[u32]>,
    pub(super) conditions: Box<[Condition]>,
}

/// The condition of a look-ahead on the text after a lexeme. Both automata read that text, and
/// [`Dfa::END`] after the last byte; the one that accepts first decides, and one of them does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    /// Accepts as soon as the condition is certain to hold.
    pub(crate) holds: Dfa,
    /// Accepts as soon as the condition is certain to fail.
    pub(crate) fails: Dfa,
}

impl Dfa {
    /// The state that accepts nothing.
    pub(crate) const DEAD: u32 = DEAD;

    /// Byte that the automata of a [`Condition`] read at the end of the text; it occurs in no UTF-8
    /// text.
    pub(crate) const END: u8 = 0xfe;

    /// Byte that an automaton reads between the text before a lexeme and the lexeme; it occurs in
    /// no UTF-8 text either.
    pub(crate) const BEGIN: u8 = 0xfd;

    /// Creates a DFA from a table that satisfies the invariants, and the distances.
    pub(super) fn new(classes: ByteClasses, table: Vec<u32>, distance: Vec<u32>) -> Self {
        debug_assert!(
            distance.iter().all(|&d| d != u32::MAX),
            "a state reaches no accepting state"
        );
        Self {
            classes,
            table: table.into(),
            distance: distance.into(),
            count: None,
            trailing: None,
            leading: false,
        }
    }

    /// Returns whether the lexemes depend on the text before them. Then [`Dfa::start`] is the start
    /// of that text, and no lexeme begins before [`Dfa::BEGIN`] has been read.
    #[inline]
    pub(crate) fn looks_behind(&self) -> bool {
        self.leading
    }

    /// Returns the states in which lexemes begin, after any text.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u32> {
        let states = if self.leading { self.state_count() as u32 } else { 0 };
        let behind = (0..states).map(|before| self.next(before, Self::BEGIN));
        let plain = (!self.leading).then(|| self.start());
        behind.chain(plain).filter(|&start| start != Self::DEAD)
    }

    /// Returns the state in which a lexeme begins at the beginning of the text, or [`Dfa::DEAD`].
    pub(crate) fn first_start(&self) -> u32 {
        if self.leading { self.next(self.start(), Self::BEGIN) } else { self.start() }
    }

    /// Returns the conditions on the texts after lexemes.
    pub(crate) fn conditions(&self) -> &[Condition] {
        self.trailing.as_ref().map_or(&[], |trailing| &trailing.conditions)
    }

    /// Returns the number of the condition on the text after a lexeme that ends in `state`, if any.
    pub(crate) fn condition(&self, state: u32) -> Option<usize> {
        let asked = self.trailing.as_ref()?.of.get(state as usize)?.checked_sub(1)?;
        Some(asked as usize)
    }

    /// Returns the state where reading begins, a lexeme or the text before it. [`Dfa::DEAD`] if no
    /// text matches.
    #[inline]
    pub(crate) fn start(&self) -> u32 {
        if self.is_empty() { Self::DEAD } else { 0 }
    }

    /// Returns the state after `byte`; [`Dfa::DEAD`] if there is none, and from the dead state.
    #[inline]
    pub(crate) fn next(&self, state: u32, byte: u8) -> u32 {
        self.next_class(state, self.classes.get(byte))
    }

    /// Returns the state after a byte of `class`.
    #[inline]
    pub(crate) fn next_class(&self, state: u32, class: u8) -> u32 {
        if state == Self::DEAD {
            return Self::DEAD;
        }
        match &self.count {
            None => self.table[state as usize * self.classes.count() + usize::from(class)],
            Some(of) => {
                let (at, count) = of.split(state);
                of.enter(self.table().row(at)[usize::from(class)], count)
            }
        }
    }

    /// Returns, by class, the state after a byte of it. `state` must not be dead.
    #[inline]
    pub(crate) fn row(&self, state: u32) -> Cow<'_, [u32]> {
        match &self.count {
            None => Cow::Borrowed(self.table().row(state)),
            Some(of) => {
                let (at, count) = of.split(state);
                self.table().row(at).iter().map(|&next| of.enter(next, count)).collect()
            }
        }
    }

    /// Returns the table, without the count.
    #[inline]
    pub(super) fn table(&self) -> Table<'_> {
        Table { classes: self.classes.count(), moves: &self.table, distance: &self.distance }
    }

    /// Returns whether the text read up to `state` is a lexeme, possibly under a condition.
    #[inline]
    pub(crate) fn is_accept(&self, state: u32) -> bool {
        match &self.count {
            None => self.table().ends(state),
            Some(_) if state == Self::DEAD => false,
            Some(of) => {
                let (at, count) = of.split(state);
                of.is_met(count) && self.table().ends(at)
            }
        }
    }

    /// Returns the automaton of the table alone: all lexemes that there would be without the count.
    pub(crate) fn uncounted(&self) -> Cow<'_, Self> {
        match &self.count {
            None => Cow::Borrowed(self),
            Some(_) => Cow::Owned(Self { count: None, ..self.clone() }),
        }
    }

    /// Returns the heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        let conditions = self.conditions().iter();
        let of_conditions: usize =
            conditions.map(|asked| asked.holds.bytes() + asked.fails.bytes()).sum();
        let of_count = self.count.as_ref().map_or(0, |count| count.bytes());
        (self.table.len() + self.distance.len()) * size_of::<u32>() + of_conditions + of_count
    }

    /// Returns the number of states, without the dead one.
    pub(crate) fn state_count(&self) -> usize {
        let counts = self.count.as_ref().map_or(1, |count| count.width() as usize);
        self.distance.len() * counts
    }

    /// Returns the classes of bytes that no state tells apart.
    pub(crate) fn classes(&self) -> &ByteClasses {
        &self.classes
    }

    /// Returns the length in bytes of a shortest suffix that completes a lexeme; `u32::MAX` for the
    /// dead state.
    #[inline]
    pub(crate) fn distance(&self, state: u32) -> u32 {
        match &self.count {
            None => self.distance.get(state as usize).copied().unwrap_or(u32::MAX),
            Some(count) => count.distance(self.table(), state),
        }
    }

    /// Returns whether `text` as a whole is a lexeme at some position of some text.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let end = |start| text.iter().fold(start, |state, &byte| self.next(state, byte));
        self.starts().any(|start| self.is_accept(end(start)))
    }

    /// Returns whether some lexeme contains `byte`. Costs time linear in the states.
    pub(crate) fn uses(&self, byte: u8) -> bool {
        let class = self.classes.get(byte);
        let goes_on = |&state: &u32| self.next_class(state, class) != Self::DEAD;
        if !self.leading {
            return (0..self.state_count() as u32).any(|state| goes_on(&state));
        }
        let mut met: Vec<u32> = self.starts().collect();
        let mut seen = vec![false; self.state_count()];
        while let Some(state) = met.pop() {
            if goes_on(&state) {
                return true;
            }
            let next = (0..self.classes.count()).map(|class| self.next_class(state, class as u8));
            met.extend(next.filter(|&next| {
                next != Self::DEAD && !std::mem::replace(&mut seen[next as usize], true)
            }));
        }
        false
    }

    /// Returns whether no text matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.distance.is_empty()
    }

    /// Returns whether the empty text matches after some text.
    pub(crate) fn accepts_empty(&self) -> bool {
        self.starts().any(|start| self.is_accept(start))
    }

    /// Returns whether the empty text matches under a condition on the text around it.
    pub(crate) fn asks_around_empty(&self) -> bool {
        self.accepts_empty() && (self.leading || self.condition(self.start()).is_some())
    }

    /// Returns a shortest lexeme, preferring letters, then digits, then punctuation, then other
    /// printable bytes. Empty if no text matches.
    pub(crate) fn shortest(&self) -> Vec<u8> {
        let start = self.starts().min_by_key(|&start| self.distance(start));
        self.shortest_from(start.unwrap_or(Self::DEAD))
    }

    /// Returns the length in bytes of a shortest lexeme; `u32::MAX` if no text matches.
    pub(crate) fn shortest_length(&self) -> u32 {
        self.starts().map(|start| self.distance(start)).min().unwrap_or(u32::MAX)
    }

    /// Returns a shortest suffix that completes a lexeme from `state`, chosen as by
    /// [`Dfa::shortest`].
    pub(crate) fn shortest_from(&self, mut state: u32) -> Vec<u8> {
        let mut text = Vec::new();
        while !self.is_accept(state) {
            let nearer = |&byte: &u8| {
                let next = self.next(state, byte);
                next != Self::DEAD && self.distance(next) < self.distance(state)
            };
            let Some(byte) =
                (0..=255u8).filter(nearer).min_by_key(|&byte| (untidiness(byte), byte))
            else {
                break;
            };
            text.push(byte);
            state = self.next(state, byte);
        }
        text
    }
}

/// Returns a rank that is higher the less a byte is wanted in an example.
pub(super) fn untidiness(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        b'!'..=b'~' => 3,
        b' ' => 4,
        b'\n' => 5,
        b'\t' | b'\r' => 6,
        0x80.. => 7,
        _ => 8,
    }
}

impl fmt::Debug for Dfa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dfa({} states, {} classes)", self.state_count(), self.classes.count())
    }
}

impl fmt::Display for Dfa {
    /// Writes a line for each state: its number, `*` if it accepts, and its moves as
    /// `[bytes]>state`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges: Vec<_> =
            (0..self.classes.count()).map(|class| self.classes.ranges(class as u8)).collect();
        writeln!(f, "{} states, {} byte classes", self.state_count(), self.classes.count())?;
        for state in 0..self.state_count() as u32 {
            write!(f, "{state:>5}{}", if self.is_accept(state) { '*' } else { ' ' })?;
            let mut moves: Vec<(u32, Vec<_>)> = Vec::new();
            for (class, ranges) in ranges.iter().enumerate() {
                match self.next_class(state, class as u8) {
                    Self::DEAD => {}
                    next => match moves.iter_mut().find(|(to, _)| *to == next) {
                        Some((_, bytes)) => bytes.extend(ranges.iter().cloned()),
                        None => moves.push((next, ranges.clone())),
                    },
                }
            }
            for (next, mut bytes) in moves {
                bytes.sort_by_key(|range| *range.start());
                f.write_str(" [")?;
                let mut bytes = bytes.into_iter().peekable();
                while let Some(mut range) = bytes.next() {
                    while let Some(more) = bytes
                        .next_if(|more| u16::from(*more.start()) == u16::from(*range.end()) + 1)
                    {
                        range = *range.start()..=*more.end();
                    }
                    fmt_range(f, &range)?;
                }
                write!(f, "]>{next}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
