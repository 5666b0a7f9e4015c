//! The record of the parts of a configuration that a computation has read, in order.
//!
//! A mask holds for every configuration that gives the same answers to the questions of its
//! computation (Willard and Louf 2023, section 4.1, for the stack). So code that looks below the
//! top of a stack reports how deep it looked, and code that looks at a layout asks a [`Question`]
//! that is as narrow as possible: not how wide the open blocks are, but which of them a line of
//! this width belongs to.
//!
//! The questions must follow from the answers: a computation that got the same answers so far asks
//! the same question next. Everything in this file serves that rule. Where no narrow question
//! satisfies it, the whole layout is asked for.

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
    /// Depth of the lowest state of the stack that was read.
    lowest: u32,
    /// Depth of the first fork of the stack that the computation began with. Below it there are
    /// several nodes, so reads there no longer follow one path.
    fork: Option<u32>,
    is_past_fork: bool,
    /// Depth of the lowest state that was read with its context, which determines the states above
    /// it.
    lowest_state: u32,
    /// Reads in order, without the cores read last, down to `lowest`.
    events: Events,
    /// `None` if the reads are not needed, or the grammar has no lines.
    layout: Option<Box<LayoutReads>>,
    /// Steps taken by this computation and by those that it is a part of.
    steps: usize,
    /// Of these, steps taken by this computation because stacks fork.
    following: usize,
    /// Whether some question reached a limit.
    is_undecided: bool,
}

/// Reads, in order.
type Events = SmallVec<[Read; 1]>;

/// Reads of the layout.
#[derive(Debug)]
struct LayoutReads {
    /// The layout that the computation began with.
    base: Lines,
    /// The line whose width is asked for.
    line: Line,
    asked: HashSet<Question, FxBuildHasher>,
    /// Whether more than N brackets are open; everything is known after the first "no".
    depth: Revealed,
    /// Whether there is room for N more blocks.
    room: Revealed,
}

/// One read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// The cores of the stack, down to this depth.
    Stack(u32),
    /// The context of the lowest core read so far.
    State,
    /// A question about the layout and its answer; the answer to [`Question::Layout`] has no
    /// meaning.
    Layout(Question, u32),
}

/// A question about the layout that a computation begins with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// Which blocks a line belongs to whose blanks continue with these bytes; a `fresh` line begins
    /// with them.
    Width { fresh: bool, blanks: Box<[u8]> },
    /// Whether more brackets are open than this.
    Brackets(u32),
    /// The room for blocks once this many more are open, capped at the most that can matter.
    Room(i32),
    /// The whole layout.
    Layout,
}

/// The origin of a line's blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The line that the computation began in, and the bytes since.
    Own(Vec<u8>),
    /// A line that has begun since, and its bytes.
    Next(Vec<u8>),
    /// The blanks that a search has gone through.
    Unknown,
}

impl Line {
    /// The line that the computation began in.
    pub(crate) const OWN: Self = Self::Own(Vec::new());
    /// A new line.
    pub(crate) const NEXT: Self = Self::Next(Vec::new());

    /// Returns the line after these bytes of its blanks.
    pub(crate) fn read(&self, bytes: &[u8]) -> Self {
        match self {
            _ if bytes.is_empty() => self.clone(),
            Self::Own(before) => Self::Own([before, bytes].concat()),
            Self::Next(before) => Self::Next([before, bytes].concat()),
            Self::Unknown => Self::Unknown,
        }
    }
}

/// The part of a number that is known from answers.
#[derive(Clone, Copy, Debug)]
enum Revealed {
    /// As much as the answers to all questions up to this one reveal.
    To(i32),
    All,
}

impl Revealed {
    const NOTHING: Self = Self::To(i32::MIN);

    fn covers(self, question: i32) -> bool {
        match self {
            Self::To(known) => question <= known,
            Self::All => true,
        }
    }
}

impl Reads {
    /// Creates the record of a computation whose reads are not needed.
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

    /// Creates the record of a computation on this stack and in these lines, which is part of one
    /// that has taken `steps` steps.
    pub(crate) fn new(stack: &Stack, base: Option<&Lines>, steps: usize) -> Self {
        let layout = base.map(|base| {
            Box::new(LayoutReads {
                base: base.clone(),
                line: Line::OWN,
                asked: HashSet::default(),
                // No bracket is open where a line begins.
                depth: if base.leading.is_some() { Revealed::All } else { Revealed::NOTHING },
                room: Revealed::NOTHING,
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

    /// Creates the record of a part of this computation on `stack` whose reads are recorded
    /// separately.
    pub(super) fn alone(&self, stack: &Stack) -> Self {
        let (lowest, lowest_state, events) = (stack.depth(), u32::MAX, SmallVec::new());
        let Self { fork, steps, .. } = *self;
        Self { lowest, fork, lowest_state, events, steps, ..Self::none() }
    }

    /// Adds such a part's reads of the stack.
    pub(super) fn include(&mut self, part: &Self) {
        self.stack(part.lowest);
        part.lowest_state().into_iter().for_each(|depth| self.state(depth));
        self.is_past_fork |= part.is_past_fork;
        self.steps = part.steps;
        self.following += part.following;
        self.is_undecided |= part.is_undecided;
    }

    /// Returns the counter of steps.
    #[inline]
    pub(crate) fn steps(&mut self) -> &mut usize {
        &mut self.steps
    }

    /// Returns the number of steps of this computation that were taken because stacks fork.
    pub(crate) fn following(&self) -> usize {
        self.following
    }

    /// Notes that some question reached a limit and counts as a "no".
    pub(super) fn leave_undecided(&mut self) {
        self.is_undecided = true;
    }

    /// Returns whether some question has reached a limit since the last call.
    pub(crate) fn take_undecided(&mut self) -> bool {
        std::mem::take(&mut self.is_undecided)
    }

    /// Begins another question: resets the steps and the undecided flag.
    pub(crate) fn begin_anew(&mut self) {
        (self.steps, self.is_undecided) = (0, false);
    }

    /// Returns the depth of the lowest state that was read.
    pub(super) fn lowest(&self) -> u32 {
        self.lowest
    }

    /// Returns the depth of the lowest state that was read with its context, if any.
    pub(super) fn lowest_state(&self) -> Option<u32> {
        Some(self.lowest_state).filter(|&depth| depth != u32::MAX)
    }

    /// Notes that the stack was read down to `depth`.
    #[inline]
    pub(crate) fn stack(&mut self, depth: u32) {
        self.lowest = self.lowest.min(depth);
        self.is_past_fork |= self.fork.is_some_and(|fork| depth < fork);
    }

    /// Notes that the state at `depth` was read with its context.
    pub(crate) fn state(&mut self, depth: u32) {
        self.stack(depth);
        if self.lowest < self.lowest_state {
            self.lowest_state = self.lowest;
            self.events.extend([Read::Stack(self.lowest), Read::State]);
        }
    }

    /// Notes that the computation needs to read below the stack's first fork.
    pub(crate) fn go_past_fork(&mut self) {
        self.is_past_fork = true;
    }

    /// Returns whether the computation needed to read below the stack's first fork. Its result is
    /// void then.
    #[inline]
    pub(crate) fn is_past_fork(&self) -> bool {
        self.is_past_fork
    }

    /// Sets the line that widths asked for from here on belong to. Returns the previous one.
    #[inline]
    pub(crate) fn set_line(&mut self, line: Line) -> Line {
        match &mut self.layout {
            Some(layout) => std::mem::replace(&mut layout.line, line),
            None => Line::Unknown,
        }
    }

    /// Returns the reads, in order.
    pub(crate) fn into_events(self) -> Events {
        let mut events = self.events;
        events.push(Read::Stack(self.lowest));
        events
    }

    /// Notes that the whole layout was read.
    #[inline]
    pub(super) fn layout(&mut self) {
        if let Some(layout) = &mut self.layout {
            layout.ask(self.lowest, &mut self.events, Question::Layout, 0);
        }
    }

    /// Notes that the width of a new line was compared with its blocks.
    #[inline]
    pub(super) fn width(&mut self, indentation: &Indentation, lines: &Lines) {
        if let Some(layout) = &mut self.layout {
            layout.width(self.lowest, &mut self.events, indentation, lines);
        }
    }

    /// Returns whether brackets are open in `lines`, and notes the read.
    #[inline]
    pub(super) fn brackets(&mut self, lines: &Lines) -> bool {
        if let Some(layout) = &mut self.layout {
            layout.brackets(self.lowest, &mut self.events, lines);
        }
        lines.depth > 0
    }

    /// Returns the room for blocks where `level` are open, capped at the most that any stack may
    /// need, and notes the read.
    #[inline]
    pub(super) fn room(&mut self, indentation: &Indentation, level: u32) -> u32 {
        if let Some(layout) = &mut self.layout {
            layout.room(self.lowest, &mut self.events, indentation, level);
        }
        indentation.room_that_matters(level)
    }

    /// Repeats a read of the layout by a part of this computation: it asked `question` of `lines`,
    /// after `line`.
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

/// Where stacks fork, a step of following them takes as long as this many steps of a decision: a
/// union is looked up in a table that is larger than the processor's caches.
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
        // Closed since the computation began, less those opened. Unless everything is known, no
        // bracket was closed that was not open.
        let closed = i64::from(self.base.depth) - i64::from(lines.depth);
        if let Ok(closed) = u32::try_from(closed)
            && !self.depth.covers(closed as i32)
        {
            let open = lines.depth > 0;
            self.ask(lowest, events, Question::Brackets(closed), u32::from(open));
            self.depth = if open { Revealed::To(closed as i32) } else { Revealed::All };
        }
    }

    fn room(&mut self, lowest: u32, events: &mut Events, indentation: &Indentation, level: u32) {
        let more = level as i32 - self.base.blocks.level() as i32;
        if !self.room.covers(more) {
            let room = indentation.room_that_matters(level);
            self.ask(lowest, events, Question::Room(more), room);
            let enough = room == indentation.room_that_matters(0);
            self.room = if enough { Revealed::To(more) } else { Revealed::All };
        }
    }
}

impl Indentation {
    /// Returns the answer of `lines`; `None` if only the lines themselves are an answer.
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

    /// Returns the state of a line after these bytes of its blanks.
    fn read_blanks(&self, leading: Leading, blanks: &[u8]) -> Leading {
        blanks.iter().fold(leading, |leading, &byte| leading.read(byte, self.tab))
    }

    /// Returns the relation of a line of this width to the open blocks, as a number.
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
