//! What a computation has read of a configuration, in the order in which it was read.
//!
//! A mask holds for every configuration that answers alike what its computation asked (Willard and
//! Louf 2023, section 4.1, for the stack). So whatever looks below the top of a stack reports how
//! deep, and whatever looks at a layout asks a [`Question`] that names no more than what is wanted:
//! not how wide the open blocks are, but which of them a line of this width belongs to.
//!
//! The questions must follow from the answers: a computation that got the same answers so far asks
//! the same next. All of this file serves that. Where a question could not be put so, all of the
//! layout is asked for.

use std::cmp::Ordering;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::indentation::Indentation;
use super::lines::{Leading, Lines};
use crate::lr::stack::{Depths, Stack};

/// The reads of one computation.
#[derive(Debug)]
pub(crate) struct Reads {
    /// The depth of the lowest state of the stack that was read.
    lowest: u32,
    /// The depth of the first fork of the stack that the computation began with: below it there are
    /// several nodes, and what is read there is no longer one path.
    fork: Option<u32>,
    is_past_fork: bool,
    /// The depth of the lowest state that was read with its context: those above it are known with
    /// it.
    lowest_state: u32,
    /// What was read beside the cores down to `lowest`, and in between.
    events: Events,
    /// `None` where nobody wants to know, or lines do not count.
    layout: Option<Box<LayoutReads>>,
    /// Steps that were taken for this computation and those that it is a part of.
    steps: usize,
    /// Those of them that were taken because stacks fork, for this computation.
    following: usize,
    /// Some question came to a limit.
    is_undecided: bool,
}

/// What was read, in order.
type Events = SmallVec<[Read; 1]>;

/// What was read of the layout.
#[derive(Debug)]
struct LayoutReads {
    /// The layout that the computation began with.
    base: Lines,
    /// The line that a width is asked for belongs to.
    line: Line,
    asked: HashSet<Question, FxBuildHasher>,
    /// More brackets are open than so many; all is known once the answer was no.
    depth: Known,
    /// There is room enough even for so many more blocks.
    room: Known,
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// The cores of the stack, down to this depth.
    Stack(u32),
    /// The context of the lowest core read so far.
    State,
    /// The layout, and what it answered; nothing of use for [`Question::Layout`].
    Layout(Question, u32),
}

/// A question about the layout that a computation begins with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// Which blocks a line belongs to whose blanks go on with these bytes; a `fresh` line begins
    /// with them.
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

impl Reads {
    /// Of a computation whose reads nobody wants to know.
    #[inline]
    pub(crate) fn none() -> Self {
        let events = SmallVec::new();
        Self {
            lowest: u32::MAX,
            fork: None,
            is_past_fork: false,
            lowest_state: 0,
            events,
            layout: None,
            steps: 0,
            following: 0,
            is_undecided: false,
        }
    }

    /// Of a computation on this stack, and in these lines, which is part of one that has taken so
    /// many steps.
    pub(crate) fn new(stack: &Stack, base: Option<&Lines>, steps: usize) -> Self {
        let layout = base.map(|base| {
            Box::new(LayoutReads {
                base: base.clone(),
                line: Line::OWN,
                asked: HashSet::default(),
                // No bracket is open where a line begins.
                depth: if base.leading.is_some() { Known::All } else { Known::NOTHING },
                room: Known::NOTHING,
            })
        });
        let (lowest, fork) = (stack.depth(), stack.first_fork());
        Self {
            lowest,
            fork,
            is_past_fork: false,
            lowest_state: u32::MAX,
            events: SmallVec::new(),
            layout,
            steps,
            following: 0,
            is_undecided: false,
        }
    }

    /// For a part of this computation on `stack`, whose reads are to be known by themselves.
    pub(super) fn alone(&self, stack: &Stack) -> Self {
        let (lowest, lowest_state, events) = (stack.depth(), u32::MAX, SmallVec::new());
        let Self { fork, steps, .. } = *self;
        Self { lowest, fork, lowest_state, events, steps, ..Self::none() }
    }

    /// What such a part has read of the stack was read.
    pub(super) fn include(&mut self, part: &Self) {
        self.stack(part.lowest);
        if part.lowest_state != u32::MAX {
            self.state(part.lowest_state);
        }
        self.is_past_fork |= part.is_past_fork;
        self.steps = part.steps;
        self.following += part.following;
        self.is_undecided |= part.is_undecided;
    }

    /// Steps that were taken, to be added to.
    #[inline]
    pub(crate) fn steps(&mut self) -> &mut usize {
        &mut self.steps
    }

    /// How many of the steps of this computation were taken because stacks fork.
    pub(crate) fn following(&self) -> usize {
        self.following
    }

    /// Some question came to a limit, and counts as a no.
    pub(super) fn leave_undecided(&mut self) {
        self.is_undecided = true;
    }

    /// Whether some question has come to a limit since this was last asked.
    pub(crate) fn take_undecided(&mut self) -> bool {
        std::mem::take(&mut self.is_undecided)
    }

    /// Another question begins, with all steps before it, and nothing undecided.
    pub(crate) fn begin_anew(&mut self) {
        (self.steps, self.is_undecided) = (0, false);
    }

    /// The depth of the lowest state that was read.
    pub(super) fn lowest(&self) -> u32 {
        self.lowest
    }

    /// The stack was read down to `depth`.
    #[inline]
    pub(crate) fn stack(&mut self, depth: u32) {
        self.lowest = self.lowest.min(depth);
        self.is_past_fork |= self.fork.is_some_and(|fork| depth < fork);
    }

    /// The state at `depth` was read with its context.
    pub(crate) fn state(&mut self, depth: u32) {
        self.stack(depth);
        if self.lowest < self.lowest_state {
            self.lowest_state = self.lowest;
            self.events.extend([Read::Stack(self.lowest), Read::State]);
        }
    }

    /// The computation wants to know what lies below the stack's first fork.
    pub(crate) fn go_past_fork(&mut self) {
        self.is_past_fork = true;
    }

    /// Whether the computation wanted to know what lies below the stack's first fork. Then it has
    /// come to nothing.
    #[inline]
    pub(crate) fn is_past_fork(&self) -> bool {
        self.is_past_fork
    }

    /// Widths that are asked for from here on belong to `line`. Returns which they belonged to.
    #[inline]
    pub(crate) fn set_line(&mut self, line: Line) -> Line {
        match &mut self.layout {
            Some(layout) => std::mem::replace(&mut layout.line, line),
            None => Line::Unknown,
        }
    }

    /// What was read, in order.
    pub(crate) fn into_events(self) -> Events {
        let mut events = self.events;
        events.push(Read::Stack(self.lowest));
        events
    }

    /// The whole layout is read.
    #[inline]
    pub(super) fn layout(&mut self) {
        if let Some(layout) = &mut self.layout {
            layout.ask(self.lowest, &mut self.events, Question::Layout, 0);
        }
    }

    /// The width of a line that begins is held against its blocks.
    #[inline]
    pub(super) fn width(&mut self, indentation: &Indentation, lines: &Lines) {
        if let Some(layout) = &mut self.layout {
            layout.width(self.lowest, &mut self.events, indentation, lines);
        }
    }

    /// Whether brackets are open in `lines`.
    #[inline]
    pub(super) fn brackets(&mut self, lines: &Lines) -> bool {
        if let Some(layout) = &mut self.layout {
            layout.brackets(self.lowest, &mut self.events, lines);
        }
        lines.depth > 0
    }

    /// The room for blocks where so many are open, but no more than what any stack may want.
    #[inline]
    pub(super) fn room(&mut self, indentation: &Indentation, level: u32) -> u32 {
        if let Some(layout) = &mut self.layout {
            layout.room(self.lowest, &mut self.events, indentation, level);
        }
        indentation.room_that_matters(level)
    }

    /// What a part of this computation read of the layout: it asked `question` of `lines`, where
    /// `line` was read up to.
    pub(crate) fn ask_again(
        &mut self,
        question: &Question,
        lines: &Lines,
        line: &Line,
        indentation: &Indentation,
    ) {
        match question {
            Question::Width { fresh, blanks } => {
                let (line, own) = match fresh {
                    true => (&Line::NEXT, Leading::NONE),
                    false => (line, lines.leading.unwrap_or(Leading::NONE)),
                };
                let leading = Some(indentation.read_blanks(own, blanks));
                self.set_line(line.read(blanks));
                self.width(indentation, &Lines { leading, ..lines.clone() });
            }
            Question::Brackets(closed) => {
                self.brackets(&Lines {
                    depth: lines.depth.saturating_sub(*closed),
                    ..lines.clone()
                });
            }
            Question::Room(more) => {
                let level = i64::from(lines.blocks.level()) + i64::from(*more);
                self.room(indentation, u32::try_from(level).unwrap_or(0));
            }
            Question::Layout => self.layout(),
        }
    }
}

/// Where stacks fork, a step of following them takes as long as so many of a decision: a union is
/// looked up in a table that no cache of the processor holds.
pub(crate) const STEPS_OF_FOLLOWING: usize = 4;

impl Depths for Reads {
    #[inline]
    fn read(&mut self, depth: u32) {
        self.stack(depth);
    }

    fn read_state(&mut self, depth: u32) {
        self.state(depth);
    }

    fn stops_at(&mut self, fork: &Stack) -> bool {
        let stops = self.fork == Some(fork.depth());
        self.is_past_fork |= stops;
        stops
    }

    #[inline]
    fn spend(&mut self, steps: usize) {
        self.steps += STEPS_OF_FOLLOWING * steps;
        self.following += steps;
    }
}

impl LayoutReads {
    /// Notes an answer, and before it that the stack was read down to `lowest`.
    fn ask(&mut self, lowest: u32, events: &mut Events, question: Question, answer: u32) {
        if !self.asked.contains(&Question::Layout) && self.asked.insert(question.clone()) {
            events.extend([Read::Stack(lowest), Read::Layout(question, answer)]);
        }
    }

    fn width(
        &mut self,
        lowest: u32,
        events: &mut Events,
        indentation: &Indentation,
        lines: &Lines,
    ) {
        if self.asked.contains(&Question::Layout) {
            return;
        }
        let (fresh, blanks) = match &self.line {
            Line::Own(blanks) => (false, blanks),
            Line::Next(blanks) => (true, blanks),
            Line::Unknown => return self.ask(lowest, events, Question::Layout, 0),
        };
        if self.base.blocks != lines.blocks {
            return self.ask(lowest, events, Question::Layout, 0);
        }
        let question = Question::Width { fresh, blanks: blanks.as_slice().into() };
        let answer = indentation.answer(&self.base, &question);
        debug_assert_eq!(
            answer,
            lines.leading.map(|leading| indentation.standing(&self.base, leading))
        );
        match answer {
            Some(answer) => self.ask(lowest, events, question, answer),
            None => self.ask(lowest, events, Question::Layout, 0),
        }
    }

    fn brackets(&mut self, lowest: u32, events: &mut Events, lines: &Lines) {
        // Closed since the computation began, less those opened. As long as not all is known, no
        // bracket was closed that was not open.
        let closed = i64::from(self.base.depth) - i64::from(lines.depth);
        if let Ok(closed) = u32::try_from(closed)
            && !self.depth.covers(closed as i32)
        {
            let open = lines.depth > 0;
            self.ask(lowest, events, Question::Brackets(closed), u32::from(open));
            self.depth = if open { Known::To(closed as i32) } else { Known::All };
        }
    }

    fn room(&mut self, lowest: u32, events: &mut Events, indentation: &Indentation, level: u32) {
        let more = level as i32 - self.base.blocks.level() as i32;
        if !self.room.covers(more) {
            let room = indentation.room_that_matters(level);
            self.ask(lowest, events, Question::Room(more), room);
            let enough = room == indentation.room_that_matters(0);
            self.room = if enough { Known::To(more) } else { Known::All };
        }
    }
}

impl Indentation {
    /// What `lines` answer; `None` where only the lines themselves are an answer.
    pub(crate) fn answer(&self, lines: &Lines, question: &Question) -> Option<u32> {
        match question {
            Question::Width { fresh, blanks } => {
                let own = lines.leading.filter(|_| !fresh).unwrap_or(Leading::NONE);
                Some(self.standing(lines, self.read_blanks(own, blanks)))
            }
            Question::Brackets(closed) => Some(u32::from(lines.depth > *closed)),
            Question::Room(more) => {
                let level = i64::from(lines.blocks.level()) + i64::from(*more);
                Some(self.room_that_matters(u32::try_from(level).unwrap_or(0)))
            }
            Question::Layout => None,
        }
    }

    /// Where a line stands after these bytes of its blanks.
    fn read_blanks(&self, leading: Leading, blanks: &[u8]) -> Leading {
        blanks.iter().fold(leading, |leading, &byte| leading.read(byte, self.tab))
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
