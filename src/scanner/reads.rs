//! What a computation has read of a configuration, in the order in which it was read.
//!
//! A mask holds for every configuration that answers alike what its computation asked (Willard and Louf 2023, section
//! 4.1, for the stack). So whatever looks below the top of a stack reports how deep, and whatever looks at a layout asks
//! a [`Question`] that names no more than what is wanted: not how wide the open blocks are, but which of them a line of this
//! width belongs to.
//!
//! The questions must follow from the answers: a computation that got the same answers so far asks the same next. All of
//! this file serves that. Where a question could not be put so, all of the layout is asked for.

use std::cmp::Ordering;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use super::indentation::Indentation;
use super::layout::{Blocks, Leading, Lines};

/// The reads of one computation.
#[derive(Debug)]
pub(crate) struct Reads<'a> {
    /// The depth of the lowest state of the stack that was read.
    pub(crate) lowest: u32,
    /// The line that a width is asked for belongs to.
    pub(crate) line: Line,
    /// The layout that the computation began with; `None` where nobody wants to know, or lines do not count.
    base: Option<&'a Lines>,
    asked: HashSet<Question, FxBuildHasher>,
    events: Vec<Read>,
    /// More brackets are open than so many; all is known once the answer was no.
    depth: Known,
    /// There is room enough even for so many more blocks.
    room: Known,
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// The stack, down to this depth.
    Stack(u32),
    /// The layout, and what it answered; nothing of use for [`Question::Layout`].
    Layout(Question, u32),
}

/// A question about the layout that a computation begins with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// Which blocks a line belongs to whose blanks go on with these bytes; a `fresh` line begins with them.
    Width { fresh: bool, blanks: Box<[u8]> },
    /// Whether more brackets are open than this.
    Brackets(u32),
    /// The room for blocks once so many more are open, as far as it matters.
    Room(i32),
    /// The whole layout.
    Layout,
}

/// Where a line's blanks come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The line that the computation began in, and the bytes since.
    Own(Vec<u8>),
    /// A line that has begun since, and its bytes.
    Next(Vec<u8>),
    /// What a search has gone through.
    Unknown,
}

impl Line {
    /// The line that the computation began in.
    pub(crate) const OWN: Self = Self::Own(Vec::new());
    /// A line that begins.
    pub(crate) const NEXT: Self = Self::Next(Vec::new());

    /// The line after these bytes of its blanks.
    pub(crate) fn read(&self, bytes: &[u8]) -> Self {
        match self {
            _ if bytes.is_empty() => self.clone(),
            Self::Own(before) => Self::Own([before, bytes].concat()),
            Self::Next(before) => Self::Next([before, bytes].concat()),
            Self::Unknown => Self::Unknown,
        }
    }
}

/// What answers have told about a number.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// As much as every question up to this one was told.
    To(i32),
    All,
}

impl Known {
    const NOTHING: Self = Self::To(i32::MIN);

    fn covers(self, question: i32) -> bool {
        match self {
            Self::To(known) => question <= known,
            Self::All => true,
        }
    }
}

impl<'a> Reads<'a> {
    /// Of a computation whose reads nobody wants to know.
    #[inline]
    pub(crate) fn none() -> Self {
        Self::new(u32::MAX, None)
    }

    /// Of a computation on a stack of this depth, and in these lines.
    #[inline]
    pub(crate) fn new(depth: u32, base: Option<&'a Lines>) -> Self {
        // No bracket is open where a line begins.
        let begins = base.is_some_and(|lines| lines.leading.is_some());
        Self {
            lowest: depth,
            line: Line::OWN,
            base,
            asked: HashSet::default(),
            events: Vec::new(),
            depth: if begins { Known::All } else { Known::NOTHING },
            room: Known::NOTHING,
        }
    }

    /// The stack was read down to `depth`.
    #[inline]
    pub(crate) fn stack(&mut self, depth: u32) {
        self.lowest = self.lowest.min(depth);
    }

    /// What was read, in order.
    pub(crate) fn into_events(mut self) -> Vec<Read> {
        self.note_stack();
        self.events
    }

    fn note_stack(&mut self) {
        let noted = self.events.iter().rev().find_map(|read| match read {
            Read::Stack(depth) => Some(*depth),
            Read::Layout(..) => None,
        });
        if noted.is_none_or(|noted| self.lowest < noted) {
            self.events.push(Read::Stack(self.lowest));
        }
    }

    fn ask(&mut self, question: Question, answer: u32) {
        if !self.asked.contains(&Question::Layout) && self.asked.insert(question.clone()) {
            self.note_stack();
            self.events.push(Read::Layout(question, answer));
        }
    }

    /// The whole layout is read.
    pub(super) fn layout(&mut self) {
        if self.base.is_some() {
            self.ask(Question::Layout, 0);
        }
    }

    /// The width of a line that begins is held against its blocks.
    pub(super) fn width(&mut self, indentation: &Indentation, lines: &Lines) {
        let Some(base) = self.base.filter(|_| !self.asked.contains(&Question::Layout)) else { return };
        let (fresh, blanks) = match &self.line {
            Line::Own(blanks) => (false, blanks),
            Line::Next(blanks) => (true, blanks),
            Line::Unknown => return self.layout(),
        };
        if base.blocks != lines.blocks {
            return self.layout();
        }
        let question = Question::Width { fresh, blanks: blanks.as_slice().into() };
        let answer = indentation.answer(base, &question);
        debug_assert_eq!(answer, lines.leading.map(|leading| indentation.standing(base, leading)));
        match answer {
            Some(answer) => self.ask(question, answer),
            None => self.layout(),
        }
    }

    /// Whether brackets are open in `lines`.
    pub(super) fn brackets(&mut self, lines: &Lines) -> bool {
        let open = lines.depth > 0;
        if let Some(base) = self.base {
            // Closed since the computation began, less those opened. As long as not all is known, no bracket was closed
            // that was not open.
            let closed = i64::from(base.depth) - i64::from(lines.depth);
            if let Ok(closed) = u32::try_from(closed)
                && !self.depth.covers(closed as i32)
            {
                self.ask(Question::Brackets(closed), u32::from(open));
                self.depth = if open { Known::To(closed as i32) } else { Known::All };
            }
        }
        open
    }

    /// The room for blocks inside `blocks`, but no more than what any stack may want.
    pub(super) fn room(&mut self, indentation: &Indentation, blocks: &Blocks) -> u32 {
        let room = indentation.room_that_matters(blocks.level());
        if let Some(base) = self.base {
            let more = blocks.level() as i32 - base.blocks.level() as i32;
            if !self.room.covers(more) {
                self.ask(Question::Room(more), room);
                let enough = room == indentation.room_that_matters(0);
                self.room = if enough { Known::To(more) } else { Known::All };
            }
        }
        room
    }
}

impl Indentation {
    /// What `lines` answer; `None` where only the lines themselves are an answer.
    pub(crate) fn answer(&self, lines: &Lines, question: &Question) -> Option<u32> {
        match question {
            Question::Width { fresh, blanks } => {
                let own = lines.leading.filter(|_| !fresh).unwrap_or(Leading::NONE);
                let leading = blanks.iter().fold(own, |leading, &byte| leading.read(byte, self.tab));
                Some(self.standing(lines, leading))
            }
            Question::Brackets(closed) => Some(u32::from(lines.depth > *closed)),
            Question::Room(more) => {
                let level = i64::from(lines.blocks.level()) + i64::from(*more);
                Some(self.room_that_matters(u32::try_from(level).unwrap_or(0)))
            }
            Question::Layout => None,
        }
    }

    /// How a line of this width stands to the open blocks, as a number.
    fn standing(&self, lines: &Lines, leading: Leading) -> u32 {
        match self.compare(&lines.blocks, leading.width) {
            None => 0,
            Some((blocks, ended)) => match blocks.level().cmp(&lines.blocks.level()) {
                Ordering::Greater => 1,
                _ => 2 + ended,
            },
        }
    }
}
