//! Masks in parts: the tokens behind each boundary and of each hub, by what was read to find them.
//!
//! What lies behind a boundary does not depend on how the lexeme before it began, and mostly reads less of the stack than the
//! mask as a whole. So it is found out once for each boundary and what was read; most of a mask that was never met before has
//! been met in others.

use super::Index;
use super::generation::{Generation, Taken};
use super::hub::Hub;
use super::stack_trie::{LineKind, Seen};
use super::unions::TokensId;
use super::walk::{Boundary, End, NodesId, Origin, Walk};
use crate::lr::stack::Stack;
use crate::scanner::configuration::{Configuration, Taking};
use crate::scanner::lookahead::{Between, ExpectationsId};
use crate::scanner::{Layout, Line, ObligationsId, Read, Reads};
use crate::util::id::{ParseStateId, TerminalId};

/// What tokens are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Which {
    /// Those behind a boundary.
    Behind { label: TerminalId, obligations: ObligationsId, nodes: NodesId },
    /// Those of a walk: a hub's, or the one that begins a lexeme.
    Walk { from: Origin, nodes: NodesId },
}

/// A part of a walk's tokens that are not the walk's own.
struct Sought<'w> {
    which: Which,
    leading: &'w [u8],
    /// How many there are at most.
    tokens: u32,
    /// What is to be left out of a hub's tokens.
    except: TokensId,
}

/// What the tokens that are looked for always depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    which: Which,
    expectations: ExpectationsId,
    top: ParseStateId,
    line: LineKind,
}

/// Where a part is looked for.
struct Place {
    part: Part,
    stack: Stack,
    layout: Layout,
    /// The line that it stands in, for the computation around it.
    line: Line,
    /// What is to be left out of a hub's tokens.
    except: TokensId,
}

/// A computation that waits for others.
struct Frame<'g> {
    /// `None` for that of the mask as a whole.
    place: Option<Place>,
    reads: Reads,
    found: Vec<TokensId>,
    walks: Vec<Walked<'g>>,
    /// Parts that lexemes begin which have not been looked for yet.
    begun: Vec<Place>,
}

/// A walk, and which of its parts comes next.
struct Walked<'g> {
    walk: &'g Walk,
    from: Configuration,
    line: Line,
    next: usize,
}

/// A part of fewer than one token in so many is not kept: looking again takes no longer than finding what was found.
const TOKENS_FOR_A_PART: usize = 1 << 13;

/// Nor one that read more than this: what reads deep is seldom met again, and takes the most memory.
const MAX_READS: usize = 6;

/// Nor any once those that are kept take this fraction of the index's budget: what is met most is met early.
const SHARE_OF_BUDGET: usize = 32;

impl Index {
    /// The tokens that may follow in configuration `at`, and what was read to know.
    ///
    /// Not by recursion: how many lexemes a token holds is up to the vocabulary.
    pub(super) fn unite(&self, generation: &Generation, at: &Configuration) -> (TokensId, Reads) {
        let reads = Reads::new(at.stack.depth(), at.layout.lines());
        let mut frame = Frame::new(reads);
        let walk = self.walk(generation, NodesId::ROOT, at, false);
        self.take(generation, &mut frame, walk, at.clone(), Line::OWN);
        let mut outer: Vec<Frame<'_>> = Vec::new();
        loop {
            if let Some(inner) = self.next_unknown(generation, &mut frame) {
                outer.push(std::mem::replace(&mut frame, inner));
                continue;
            }
            let tokens = generation.unions.union(&mut frame.found);
            let (Some(place), Some(mut around)) = (frame.place, outer.pop()) else {
                return (tokens, frame.reads);
            };
            let reads = frame.reads.into_events();
            let room = generation.parts.bytes() <= self.budget / SHARE_OF_BUDGET;
            if room && count_reads(&reads, place.stack.depth()) <= MAX_READS {
                generation.parts.insert(place.part, &place.stack, &place.layout, &reads, tokens);
            }
            for read in &reads {
                let seen = match read {
                    Read::Stack(lowest) => Seen::Stack(*lowest),
                    Read::Layout(question, _) => Seen::Layout(question),
                };
                self.see(seen, &place.layout, &place.line, &mut around.reads);
            }
            around.found.push(generation.unions.difference(tokens, place.except));
            frame = around;
        }
    }

    /// Goes on with the walks of a frame up to a part that has not been met on such a stack.
    fn next_unknown<'g>(&self, generation: &'g Generation, frame: &mut Frame<'g>) -> Option<Frame<'g>> {
        loop {
            while let Some(place) = frame.begun.pop() {
                if let Some(inner) = self.seek(generation, frame, place) {
                    return Some(inner);
                }
            }
            let Walked { walk, from, line, next } = frame.walks.last_mut()?;
            let Some(Sought { which, leading, tokens, except }) = Sought::of(walk, *next) else {
                frame.walks.pop();
                continue;
            };
            *next += 1;
            let (stack, layout) = (from.stack.clone(), self.scanner.read_all(&from.layout, leading));
            let line = line.read(leading);
            let part = Part::new(which, from.expectations, &stack, &layout);
            if let Which::Walk { from: Origin { state, obligations, .. }, .. } = which {
                // Where nothing can come of the hub's lexeme, its walk need not even be done.
                let at = Configuration { state, layout: layout.clone(), obligations, ..from.clone() };
                frame.reads.set_line(line.clone());
                if !self.scanner.is_viable(&at, &mut frame.reads) {
                    continue;
                }
            }
            if (tokens as usize) * TOKENS_FOR_A_PART < self.vocabulary.trie().ids().len() {
                frame.reads.set_line(line.clone());
                self.enter(generation, frame, &part, &stack, &layout, &line);
                continue;
            }
            if let Some(inner) = self.seek(generation, frame, Place { part, stack, layout, line, except }) {
                return Some(inner);
            }
        }
    }

    /// Takes a part that was met on such a stack, or begins to look for it.
    fn seek<'g>(&self, generation: &'g Generation, frame: &mut Frame<'g>, place: Place) -> Option<Frame<'g>> {
        let Place { part, stack, layout, line, except } = &place;
        let see = |seen: Seen<'_>| self.see(seen, layout, line, &mut frame.reads);
        match generation.parts.find(part, stack, layout, self.scanner.indentation(), see) {
            Some(tokens) => {
                frame.found.push(generation.unions.difference(tokens, *except));
                None
            }
            None => Some(self.look(generation, place)),
        }
    }

    /// Begins to look for a part.
    fn look<'g>(&self, generation: &'g Generation, place: Place) -> Frame<'g> {
        let Place { part, stack, layout, .. } = &place;
        let mut frame = Frame::new(Reads::new(stack.depth(), layout.lines()));
        self.enter(generation, &mut frame, part, stack, layout, &Line::OWN);
        frame.place = Some(place);
        frame
    }

    /// Begins the walks of a part; behind a boundary, once the lexeme before it has ended.
    fn enter<'g>(
        &self,
        generation: &'g Generation,
        frame: &mut Frame<'g>,
        part: &Part,
        stack: &Stack,
        layout: &Layout,
        line: &Line,
    ) {
        let expectations = part.expectations;
        match part.which {
            Which::Behind { label, obligations, nodes } => {
                let after = self.scanner.after_lexeme(stack, layout, expectations, label, &mut frame.reads);
                for Between { stack, layout: after, expectations } in after {
                    let line = if after.is(layout) { line.clone() } else { Line::NEXT };
                    frame.reads.set_line(line.clone());
                    let state = self.scanner.start_at(&stack, &after, &mut frame.reads);
                    let from = Configuration { stack, layout: after, state, obligations, expectations };
                    self.begin(generation, frame, nodes, from, line);
                }
            }
            Which::Walk { from: Origin { state, obligations, is_hub, .. }, nodes } => {
                let (stack, layout) = (stack.clone(), layout.clone());
                let from = Configuration { stack, layout, state, obligations, expectations };
                let walk = self.walk(generation, nodes, &from, is_hub);
                self.take(generation, frame, walk, from, line.clone());
            }
        }
    }

    /// Begins a lexeme behind a boundary. What follows is a part of its own where the parser does not look below the top
    /// before it shifts, as behind an operator or an opening bracket: nearly all stacks have it in common.
    fn begin<'g>(
        &self,
        generation: &'g Generation,
        frame: &mut Frame<'g>,
        nodes: NodesId,
        from: Configuration,
        line: Line,
    ) {
        if from.stack.is_local(self.scanner.table()) {
            let which = Which::Walk { from: Origin::new(&from, false), nodes };
            let part = Part::new(which, from.expectations, &from.stack, &from.layout);
            let Configuration { stack, layout, .. } = from;
            frame.begun.push(Place { part, stack, layout, line, except: TokensId::NONE });
        } else {
            let walk = self.walk(generation, nodes, &from, false);
            self.take(generation, frame, walk, from, line);
        }
    }

    /// Takes what a walk allows by itself.
    fn take<'g>(
        &self,
        generation: &'g Generation,
        frame: &mut Frame<'g>,
        walk: &'g Walk,
        from: Configuration,
        line: Line,
    ) {
        let plain = walk.is_unobliged && !walk.ends.is_empty();
        match plain.then(|| self.scanner.taking(&from.stack, from.expectations, &mut frame.reads)).flatten() {
            Some(taking) => {
                let taken =
                    generation.taken(walk, taking.number, || self.find_taken(generation, walk, taking));
                frame.found.push(taken.tokens);
                let open = taken.open.iter().map(|&end| &walk.ends[end as usize]);
                self.take_viable(frame, open, &from, &line);
            }
            None => self.take_viable(frame, walk.ends.iter(), &from, &line),
        }
        if !walk.boundaries.is_empty() || !walk.hubs.is_empty() {
            frame.walks.push(Walked { walk, from, line, next: 0 });
        }
    }

    /// Of the ends of a walk without obligations those that a stack takes.
    fn find_taken(&self, generation: &Generation, walk: &Walk, taking: Taking<'_>) -> Taken {
        let states = self.scanner.states();
        let (mut tokens, mut open) = (Vec::new(), Vec::new());
        for (number, end) in (0..).zip(&walk.ends) {
            match taking.takes(states.label_set(states.reach(end.state))) {
                Some(true) => tokens.push(end.tokens),
                Some(false) => {}
                None => open.push(number),
            }
        }
        Taken { tokens: generation.unions.union(&mut tokens), open: open.into() }
    }

    /// Takes those of the ends of a walk that are viable.
    fn take_viable<'w>(
        &self,
        frame: &mut Frame<'_>,
        ends: impl Iterator<Item = &'w End>,
        from: &Configuration,
        line: &Line,
    ) {
        let mut at = from.clone();
        for end in ends {
            at.state = end.state;
            at.obligations = end.obligations;
            at.layout = self.scanner.read_all(&from.layout, &end.leading);
            frame.reads.set_line(line.read(&end.leading));
            if self.scanner.is_viable(&at, &mut frame.reads) {
                frame.found.push(end.tokens);
            }
        }
    }

    /// What was read for a part was read by the computation around it.
    fn see(&self, seen: Seen<'_>, layout: &Layout, line: &Line, reads: &mut Reads) {
        match seen {
            Seen::Stack(depth) => reads.stack(depth),
            Seen::Layout(question) => {
                if let (Some(lines), Some(indentation)) = (layout.lines(), self.scanner.indentation()) {
                    reads.ask_again(question, lines, line, indentation);
                }
            }
        }
    }
}

/// How many branches of a trie these reads take that began on a stack of this depth.
fn count_reads(reads: &[Read], depth: u32) -> usize {
    let mut count = 0;
    let mut deepest = depth;
    for read in reads {
        match read {
            Read::Stack(lowest) => deepest = deepest.min(*lowest),
            Read::Layout(..) => count += 1,
        }
    }
    count + (depth - deepest) as usize
}

impl<'w> Sought<'w> {
    /// The parts of a walk: its boundaries, then its hubs.
    fn of(walk: &'w Walk, at: usize) -> Option<Self> {
        if let Some(boundary) = walk.boundaries.get(at) {
            let Boundary { label, obligations, nodes, tokens, .. } = *boundary;
            let which = Which::Behind { label, obligations, nodes };
            return Some(Self { which, leading: &boundary.leading, tokens, except: TokensId::NONE });
        }
        let Hub { state, nodes, except, leading } = walk.hubs.get(at - walk.boundaries.len())?;
        let (obligations, counting) = (ObligationsId::NONE, false);
        let from = Origin { state: *state, obligations, counting, is_hub: true };
        let which = Which::Walk { from, nodes: *nodes };
        Some(Self { which, leading, tokens: u32::MAX, except: *except })
    }
}

impl Part {
    fn new(which: Which, expectations: ExpectationsId, stack: &Stack, layout: &Layout) -> Self {
        Self { which, expectations, top: stack.top(), line: LineKind::new(layout) }
    }
}

impl Frame<'_> {
    fn new(reads: Reads) -> Self {
        Self { place: None, reads, found: Vec::new(), walks: Vec::new(), begun: Vec::new() }
    }
}
