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

/// The computation of a mask: of the part that is looked for now, and of those that wait for it.
struct Computation<'g> {
    frame: Frame,
    /// Those that wait, the mask as a whole first, and which part each waits for.
    waiting: Vec<(Frame, Place)>,
    /// What all of them have found.
    found: Vec<TokensId>,
    walks: Vec<Walked<'g>>,
    /// Parts that lexemes begin which have not been looked for yet.
    begun: Vec<Place>,
}

/// The mask as a whole, or a part that is looked for.
struct Frame {
    reads: Reads,
    /// How much of the same of [`Computation`] belongs to those that wait.
    found: usize,
    walks: usize,
    begun: usize,
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
        let mut all = Computation::new(Reads::new(at.stack.depth(), at.layout.lines()));
        let walk = self.walk(generation, NodesId::ROOT, at, false);
        self.take(generation, &mut all, walk, at.clone(), Line::OWN);
        loop {
            self.go_on(generation, &mut all);
            let tokens = generation.unions.union(all.found.drain(all.frame.found..));
            let Some((around, place)) = all.waiting.pop() else { return (tokens, all.frame.reads) };
            let reads = std::mem::replace(&mut all.frame, around).reads.into_events();
            let room = generation.parts.bytes() <= self.budget / SHARE_OF_BUDGET;
            if room && count_reads(&reads, place.stack.depth()) <= MAX_READS {
                generation.parts.insert(place.part, &place.stack, &place.layout, &reads, tokens);
            }
            for read in &reads {
                let seen = match read {
                    Read::Stack(lowest) => Seen::Stack(*lowest),
                    Read::Layout(question, _) => Seen::Layout(question),
                };
                self.see(seen, &place.layout, &place.line, &mut all.frame.reads);
            }
            all.found.push(generation.unions.difference(tokens, place.except));
        }
    }

    /// Goes on until all of the part that is then looked for has been found.
    fn go_on<'g>(&self, generation: &'g Generation, all: &mut Computation<'g>) {
        loop {
            if let Some(place) = all.next_begun() {
                self.seek(generation, all, place);
                continue;
            }
            let Computation { frame, walks, .. } = all;
            let Some(Walked { walk, from, line, next }) = walks[frame.walks..].last_mut() else { return };
            let Some(Sought { which, leading, tokens, except }) = Sought::of(walk, *next) else {
                walks.pop();
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
                self.enter(generation, all, &part, &stack, &layout, &line);
                continue;
            }
            self.seek(generation, all, Place { part, stack, layout, line, except });
        }
    }

    /// Takes a part that was met on such a stack, or begins to look for it.
    fn seek<'g>(&self, generation: &'g Generation, all: &mut Computation<'g>, place: Place) {
        let Place { part, stack, layout, line, except } = &place;
        let see = |seen: Seen<'_>| self.see(seen, layout, line, &mut all.frame.reads);
        match generation.parts.find(part, stack, layout, self.scanner.indentation(), see) {
            Some(tokens) => all.found.push(generation.unions.difference(tokens, *except)),
            None => {
                let (part, stack, layout) = (*part, stack.clone(), layout.clone());
                all.begin(place);
                self.enter(generation, all, &part, &stack, &layout, &Line::OWN);
            }
        }
    }

    /// Begins the walks of a part; behind a boundary, once the lexeme before it has ended.
    fn enter<'g>(
        &self,
        generation: &'g Generation,
        all: &mut Computation<'g>,
        part: &Part,
        stack: &Stack,
        layout: &Layout,
        line: &Line,
    ) {
        let expectations = part.expectations;
        match part.which {
            Which::Behind { label, obligations, nodes } => {
                let after =
                    self.scanner.after_lexeme(stack, layout, expectations, label, &mut all.frame.reads);
                for Between { stack, layout: after, expectations } in after {
                    let line = if after.is(layout) { line.clone() } else { Line::NEXT };
                    all.frame.reads.set_line(line.clone());
                    let state = self.scanner.start_at(&stack, &after, &mut all.frame.reads);
                    let from = Configuration { stack, layout: after, state, obligations, expectations };
                    self.begin(generation, all, nodes, from, line);
                }
            }
            Which::Walk { from: Origin { state, obligations, is_hub, .. }, nodes } => {
                let (stack, layout) = (stack.clone(), layout.clone());
                let from = Configuration { stack, layout, state, obligations, expectations };
                let walk = self.walk(generation, nodes, &from, is_hub);
                self.take(generation, all, walk, from, line.clone());
            }
        }
    }

    /// Begins a lexeme behind a boundary. What follows is a part of its own where the parser does not look below the top
    /// before it shifts, as behind an operator or an opening bracket: nearly all stacks have it in common.
    fn begin<'g>(
        &self,
        generation: &'g Generation,
        all: &mut Computation<'g>,
        nodes: NodesId,
        from: Configuration,
        line: Line,
    ) {
        if from.stack.is_local(self.scanner.table()) {
            let which = Which::Walk { from: Origin::new(&from, false), nodes };
            let part = Part::new(which, from.expectations, &from.stack, &from.layout);
            let Configuration { stack, layout, .. } = from;
            all.begun.push(Place { part, stack, layout, line, except: TokensId::NONE });
        } else {
            let walk = self.walk(generation, nodes, &from, false);
            self.take(generation, all, walk, from, line);
        }
    }

    /// Takes what a walk allows by itself.
    fn take<'g>(
        &self,
        generation: &'g Generation,
        all: &mut Computation<'g>,
        walk: &'g Walk,
        from: Configuration,
        line: Line,
    ) {
        let plain = walk.is_unobliged && !walk.ends.is_empty();
        match plain
            .then(|| self.scanner.taking(&from.stack, from.expectations, &mut all.frame.reads))
            .flatten()
        {
            Some(taking) => {
                let taken =
                    generation.taken(walk, taking.number, || self.find_taken(generation, walk, taking));
                all.found.push(taken.tokens);
                let open = taken.open.iter().map(|&end| &walk.ends[end as usize]);
                self.take_viable(all, open, &from, &line);
            }
            None => self.take_viable(all, walk.ends.iter(), &from, &line),
        }
        if !walk.boundaries.is_empty() || !walk.hubs.is_empty() {
            all.walks.push(Walked { walk, from, line, next: 0 });
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
        Taken { tokens: generation.unions.union(tokens), open: open.into() }
    }

    /// Takes those of the ends of a walk that are viable.
    fn take_viable<'w>(
        &self,
        all: &mut Computation<'_>,
        ends: impl Iterator<Item = &'w End>,
        from: &Configuration,
        line: &Line,
    ) {
        let mut at = from.clone();
        for end in ends {
            at.state = end.state;
            at.obligations = end.obligations;
            at.layout = self.scanner.read_all(&from.layout, &end.leading);
            all.frame.reads.set_line(line.read(&end.leading));
            if self.scanner.is_viable(&at, &mut all.frame.reads) {
                all.found.push(end.tokens);
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

impl Computation<'_> {
    fn new(reads: Reads) -> Self {
        let frame = Frame { reads, found: 0, walks: 0, begun: 0 };
        let (waiting, found, walks, begun) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { frame, waiting, found, walks, begun }
    }

    /// Begins with a part; what was looked for until now waits for it.
    fn begin(&mut self, place: Place) {
        let reads = Reads::new(place.stack.depth(), place.layout.lines());
        let (found, walks, begun) = (self.found.len(), self.walks.len(), self.begun.len());
        let around = std::mem::replace(&mut self.frame, Frame { reads, found, walks, begun });
        self.waiting.push((around, place));
    }

    /// A part of what is looked for now that a lexeme has begun.
    fn next_begun(&mut self) -> Option<Place> {
        if self.begun.len() > self.frame.begun { self.begun.pop() } else { None }
    }
}
