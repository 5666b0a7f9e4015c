//! A minimal DFA over bytes: the lexemes of one terminal.
//!
//! Invariants: every state is reachable from the start and reaches an accepting state (the dead
//! state is not stored); no two states accept the same rests; no two byte classes have equal
//! columns; states are numbered in breadth-first order by class. So equal languages are equal
//! values, and only the empty language has no state.
//!
//! Where a [`Count`] stands beside the table, the invariants hold of the table alone, but for the
//! second: states that a count tells apart may accept the same rests otherwise.

use std::borrow::Cow;
use std::fmt;

use crate::lexer::count::Count;
use crate::lexer::table::{DEAD, Table};
use crate::util::byte_classes::{ByteClasses, fmt_range};

/// The automaton of one terminal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Dfa {
    pub(super) classes: ByteClasses,
    /// `state * classes + class`; [`Dfa::DEAD`] where nothing can follow.
    pub(super) table: Box<[u32]>,
    /// By state of the table, the length of a shortest accepted rest; 0 in accepting states, and
    /// only there.
    pub(super) distance: Box<[u32]>,
    /// What lexemes are held to beside the table. Then a state is one of the table and a count.
    pub(super) count: Option<Box<Count>>,
    /// What is asked of the text behind a lexeme, where something is.
    pub(super) trailing: Option<Box<Trailing>>,
    /// Whether what is a lexeme depends on the text before it. Then the automaton reads that text
    /// first, from its beginning, and [`Dfa::BEGIN`] where the lexeme begins.
    pub(super) leading: bool,
}

/// What is asked of the text behind a lexeme, by the state in which it ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Trailing {
    /// By state: 1 more than the number of what is asked, or 0. Ends at which nothing is asked are
    /// certain.
    pub(super) of: Box<[u32]>,
    pub(super) conditions: Box<[Condition]>,
}

/// What a look-ahead asks of the text behind a lexeme. Both automata read that text, and
/// [`Dfa::END`] behind the last byte; the one that accepts first decides, and one of them does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    /// Accepts as soon as the condition is sure to hold.
    pub(crate) holds: Dfa,
    /// Accepts as soon as it is sure not to.
    pub(crate) fails: Dfa,
}

impl Dfa {
    /// The state that accepts nothing.
    pub(crate) const DEAD: u32 = DEAD;

    /// What the automata of a [`Condition`] read at the end of the text: a byte that no UTF-8 text
    /// holds.
    pub(crate) const END: u8 = 0xfe;

    /// What an automaton reads between the text before a lexeme and the lexeme: another byte that
    /// no UTF-8 text holds.
    pub(crate) const BEGIN: u8 = 0xfd;

    /// Takes a table that holds the invariants, and the distances.
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

    /// Whether what is a lexeme depends on the text before it. Then [`Dfa::start`] is where that
    /// text begins, and no lexeme begins before [`Dfa::BEGIN`] has been read.
    #[inline]
    pub(crate) fn looks_behind(&self) -> bool {
        self.leading
    }

    /// Where lexemes begin, behind whatever text.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u32> {
        let states = if self.leading { self.state_count() as u32 } else { 0 };
        let behind = (0..states).map(|before| self.next(before, Self::BEGIN));
        let plain = (!self.leading).then(|| self.start());
        behind.chain(plain).filter(|&start| start != Self::DEAD)
    }

    /// Where a lexeme begins at the beginning of the text; [`Dfa::DEAD`] when none does.
    pub(crate) fn first_start(&self) -> u32 {
        if self.leading { self.next(self.start(), Self::BEGIN) } else { self.start() }
    }

    /// What is asked of the texts behind lexemes.
    pub(crate) fn conditions(&self) -> &[Condition] {
        self.trailing.as_ref().map_or(&[], |trailing| &trailing.conditions)
    }

    /// The number of what is asked of the text behind a lexeme that ends in `state`; `None` where
    /// nothing is.
    pub(crate) fn condition(&self, state: u32) -> Option<usize> {
        let asked = self.trailing.as_ref()?.of.get(state as usize)?.checked_sub(1)?;
        Some(asked as usize)
    }

    /// Where reading begins: a lexeme, or the text before it. [`Dfa::DEAD`] when no text matches.
    #[inline]
    pub(crate) fn start(&self) -> u32 {
        if self.is_empty() { Self::DEAD } else { 0 }
    }

    /// The state after `byte`; [`Dfa::DEAD`] when none, and from it.
    #[inline]
    pub(crate) fn next(&self, state: u32, byte: u8) -> u32 {
        self.next_class(state, self.classes.get(byte))
    }

    /// The state after a byte of `class`.
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

    /// By class, the state after a byte of it; of a state that is not dead.
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

    /// The table, which counts nothing.
    #[inline]
    pub(super) fn table(&self) -> Table<'_> {
        Table { classes: self.classes.count(), moves: &self.table, distance: &self.distance }
    }

    /// Whether what was read up to `state` is a lexeme, be it under a condition.
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

    /// The automaton of the table alone: of all lexemes that there would be if nothing were
    /// counted.
    pub(crate) fn uncounted(&self) -> Cow<'_, Self> {
        match &self.count {
            None => Cow::Borrowed(self),
            Some(_) => Cow::Owned(Self { count: None, ..self.clone() }),
        }
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        let conditions = self.conditions().iter();
        let of_conditions: usize =
            conditions.map(|asked| asked.holds.bytes() + asked.fails.bytes()).sum();
        let of_count = self.count.as_ref().map_or(0, |count| count.bytes());
        (self.table.len() + self.distance.len()) * size_of::<u32>() + of_conditions + of_count
    }

    /// How many states there are, the dead one not counted.
    pub(crate) fn state_count(&self) -> usize {
        let counts = self.count.as_ref().map_or(1, |count| count.width() as usize);
        self.distance.len() * counts
    }

    /// The bytes that no state tells apart.
    pub(crate) fn classes(&self) -> &ByteClasses {
        &self.classes
    }

    /// Length in bytes of a shortest rest that makes a lexeme; `u32::MAX` for the dead state.
    #[inline]
    pub(crate) fn distance(&self, state: u32) -> u32 {
        match &self.count {
            None => self.distance.get(state as usize).copied().unwrap_or(u32::MAX),
            Some(count) => count.distance(self.table(), state),
        }
    }

    /// Whether `text` as a whole is a lexeme, at some place of some text.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let end = |start| text.iter().fold(start, |state, &byte| self.next(state, byte));
        self.starts().any(|start| self.is_accept(end(start)))
    }

    /// Whether some lexeme holds `byte`. Costs the states.
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

    /// Whether no text matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.distance.is_empty()
    }

    /// Whether the empty text matches, behind some text.
    pub(crate) fn accepts_empty(&self) -> bool {
        self.starts().any(|start| self.is_accept(start))
    }

    /// Whether the empty text matches where something is asked of the text around it.
    pub(crate) fn asks_around_empty(&self) -> bool {
        self.accepts_empty() && (self.leading || self.condition(self.start()).is_some())
    }

    /// A shortest lexeme, of letters rather than digits, of those rather than punctuation, of
    /// printable bytes rather than others. Empty when no text matches.
    pub(crate) fn shortest(&self) -> Vec<u8> {
        let start = self.starts().min_by_key(|&start| self.distance(start));
        self.shortest_from(start.unwrap_or(Self::DEAD))
    }

    /// How many bytes a shortest lexeme has; `u32::MAX` when no text matches.
    pub(crate) fn shortest_length(&self) -> u32 {
        self.starts().map(|start| self.distance(start)).min().unwrap_or(u32::MAX)
    }

    /// A shortest rest that makes a lexeme from `state`, chosen as by [`Dfa::shortest`].
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

/// What people would rather not see in an example has the higher number.
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
    /// A line for each state: its number, `*` when it accepts, and its moves as `[bytes]>state`.
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
