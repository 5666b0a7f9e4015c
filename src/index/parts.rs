//! Masks in parts: the tokens behind each boundary and of each hub, by what was read to find them.
//!
//! What lies behind a boundary does not depend on how the lexeme before it began, and mostly reads
//! less of the stack than the mask as a whole. So it is found out once for each boundary and what
//! was read; most of a mask that was never met before has been met in others.

use smallvec::SmallVec;

use super::Index;
use super::generation::{Generation, Taken};
use super::hub::Hub;
use super::stack_trie::{Found, LineKind, Seen};
use super::unions::TokensId;
use super::walk::{Boundary, End, NodesId, Origin, Walk};
use crate::lr::stack::Stack;
use crate::lr::table::ParseTable;
use crate::scanner::configuration::{Configuration, Taking};
use crate::scanner::lookahead::ExpectationsId;
use crate::scanner::{Layout, Line, ObligationsId, Read, Reads};
use crate::util::id::{CoreId, ScanStateId, TerminalId};

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
    top: CoreId,
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

/// Readings that differ by their stacks only.
type Group = SmallVec<[Configuration; 1]>;

/// What is to be looked for together with whatever else comes to it, by how many computations wait
/// around it, and the first of its nodes.
///
/// A text of eighty bars has as many ways to be made of `|` and `||` as the eightieth Fibonacci
/// number, but they meet at each of its bytes. All that leads to a node comes from nodes above,
/// which have smaller numbers. So where the smallest is taken first, each is taken once, for all
/// readings of the text before it.
#[derive(Default)]
struct Agenda {
    /// By ascending [`Agenda::key`], the next one last; and its place among `slots`.
    order: Vec<(u64, u32)>,
    slots: Vec<Option<Pending>>,
    free: Vec<u32>,
}

/// One thing of an agenda.
struct Pending {
    which: Which,
    /// What is to be left out of a hub's tokens.
    except: TokensId,
    line: Line,
    group: Group,
}

/// The computation of a mask: of what is looked for now, and of what waits for it.
struct Computation<'g> {
    frame: Frame,
    /// The depth of the first fork of the stack on which all of it stands.
    fork: Option<u32>,
    /// Whether what is found may be kept, and what was kept be used.
    keeps: bool,
    /// Those that wait, the mask as a whole first, and what each waits for.
    waiting: Vec<(Frame, Awaited)>,
    /// What all of them have found.
    found: Vec<TokensId>,
    walks: Vec<Walked<'g>>,
    /// Parts that have been met and not looked for yet.
    begun: Vec<Place>,
    agenda: Agenda,
    /// How often it has begun to look for something.
    count: usize,
}

/// Why the mask of one way is not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfound {
    /// The stack forks before all is read: each of its ways is to be looked at by itself.
    PastFork,
    /// It takes too long: all ways are to be looked at together.
    TooMuch,
}

/// How often one mask may begin to look for something. Parts are looked for each by itself, so that
/// they can be kept; where none is worth that, readings of ambiguous texts would double with each
/// lexeme. The masks of real texts begin some hundreds.
const MAX_BEGUN: usize = 1 << 13;

/// What it counts to look for something on stacks that fork since: what they shift takes as long as
/// the graph is large.
const COST_OF_A_FORK: usize = 16;

/// What is waited for.
enum Awaited {
    /// A part, which is kept.
    Part(Place),
    /// A hub's tokens but for these, on stacks that no part is kept for. The reads are those of the
    /// computation around.
    Hub(TokensId),
}

/// The mask as a whole, or something that is looked for by itself.
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
    from: Group,
    line: Line,
    next: usize,
}

/// A part of fewer than one token in so many is not kept: looking again takes no longer than
/// finding what was found.
const TOKENS_FOR_A_PART: usize = 1 << 13;

/// Nor one that read more than this: what reads deep is seldom met again, and takes the most
/// memory.
const MAX_READS: usize = 6;

/// Nor any once those that are kept take this fraction of the index's budget: what is met most is
/// met early.
const SHARE_OF_BUDGET: usize = 32;

impl Index {
    /// The tokens that may follow in configuration `at`, and what was read to know.
    ///
    /// Not by recursion: how many lexemes a token holds is up to the vocabulary.
    pub(super) fn unite(
        &self,
        generation: &Generation,
        at: &Configuration,
    ) -> Result<(TokensId, Reads), Unfound> {
        let reads = Reads::new(&at.stack, at.layout.lines());
        self.run(generation, Computation::new(reads, at.stack.first_fork(), true), at)
    }

    /// The same whatever the stack's forks: of all its ways together, of which nothing is kept.
    pub(super) fn unite_ways(&self, generation: &Generation, at: &Configuration) -> TokensId {
        let all = Computation::new(Reads::none(), None, false);
        self.run(generation, all, at).map_or(TokensId::NONE, |(tokens, _)| tokens)
    }

    fn run<'g>(
        &self,
        generation: &'g Generation,
        mut all: Computation<'g>,
        at: &Configuration,
    ) -> Result<(TokensId, Reads), Unfound> {
        let walk = self.walk(generation, NodesId::ROOT, at, false);
        self.take(generation, &mut all, walk, Group::from_buf([at.clone()]), Line::OWN);
        loop {
            self.go_on(generation, &mut all);
            if let Some(unfound) = all.unfound() {
                return Err(unfound);
            }
            let tokens = generation.unions.union(all.found.drain(all.frame.found..));
            let Some((around, awaited)) = all.waiting.pop() else { return Ok((tokens, all.frame.reads)) };
            let reads = std::mem::replace(&mut all.frame, around).reads;
            let except = match awaited {
                Awaited::Hub(except) => {
                    all.frame.reads = reads;
                    except
                }
                Awaited::Part(place) => {
                    self.keep(generation, &mut all, &place, tokens, &reads.into_events());
                    place.except
                }
            };
            all.found.push(generation.unions.difference(tokens, except));
        }
    }

    /// Keeps what a part came to, if it is worth that; what was read for it was read by the
    /// computation around it.
    fn keep(
        &self,
        generation: &Generation,
        all: &mut Computation<'_>,
        place: &Place,
        tokens: TokensId,
        reads: &[Read],
    ) {
        let room = generation.parts.bytes() <= self.budget / SHARE_OF_BUDGET;
        if room && count_reads(reads, place.stack.depth()) <= MAX_READS {
            let lexis = self.scanner.lexis();
            generation.parts.insert(place.part, &place.stack, &place.layout, lexis, reads, tokens);
        }
        let mut lowest = place.stack.depth();
        for read in reads {
            let seen = match read {
                Read::Stack(depth) => Seen::Stack(*depth),
                Read::State => Seen::State(lowest),
                Read::Layout(question, _) => Seen::Layout(question),
            };
            if let Read::Stack(depth) = read {
                lowest = *depth;
            }
            self.see(seen, &place.layout, &place.line, &mut all.frame.reads);
        }
    }

    /// Goes on until all of the part that is then looked for has been found, or it is clear that it
    /// will not be.
    fn go_on<'g>(&self, generation: &'g Generation, all: &mut Computation<'g>) {
        while all.unfound().is_none() {
            if let Some(place) = all.next_begun() {
                self.seek(generation, all, place);
                continue;
            }
            let Computation { frame, walks, .. } = all;
            let Some(Walked { walk, from, line, next }) = walks[frame.walks..].last_mut() else {
                let Some(Pending { which, except, line, group }) = all.agenda.next(all.waiting.len()) else {
                    return;
                };
                all.frame.reads.set_line(line.clone());
                if matches!(which, Which::Walk { .. }) {
                    all.begin_hub(except);
                }
                self.enter(generation, all, which, group, &line);
                continue;
            };
            let Some(Sought { which, leading, tokens, except }) = Sought::of(walk, *next) else {
                walks.pop();
                continue;
            };
            *next += 1;
            let line = line.read(leading);
            let few = (tokens as usize) * TOKENS_FOR_A_PART < self.vocabulary.spelled.trie().ids().len();
            // Readings that came together go on together: each by itself would come to twice as
            // many at the next lexeme.
            let alone = from.len() == 1;
            let first = generation.nodes(which.nodes()).first().copied().unwrap_or_default();
            for at in from {
                let layout = self.scanner.read_all(&at.layout, leading);
                if let Which::Walk { from: Origin { state, obligations, .. }, .. } = which {
                    // Where nothing can come of the hub's lexeme, its walk need not even be done.
                    let at = Configuration { state, layout: layout.clone(), obligations, ..at.clone() };
                    frame.reads.set_line(line.clone());
                    if !self.scanner.is_viable(&at, &mut frame.reads) {
                        continue;
                    }
                }
                if few || !alone || !(all.keeps && at.stack.first_fork() == all.fork) {
                    let level = all.waiting.len();
                    let at = which.begin(at, layout);
                    all.agenda.add((level, first), (which, except, &line), at, self.scanner.table());
                } else {
                    let part = Part::new(which, at.expectations, &at.stack, &layout);
                    let (stack, line) = (at.stack.clone(), line.clone());
                    all.begun.push(Place { part, stack, layout, line, except });
                }
            }
        }
    }

    /// Takes a part that was met on such a stack, or begins to look for it.
    fn seek<'g>(&self, generation: &'g Generation, all: &mut Computation<'g>, place: Place) {
        let Place { part, stack, layout, line, except } = &place;
        let see = |seen: Seen<'_>| self.see(seen, layout, line, &mut all.frame.reads);
        match generation.parts.find(part, stack, layout, self.scanner.lexis(), see) {
            Found::Leaf(tokens) => all.found.push(generation.unions.difference(tokens, *except)),
            Found::PastFork => all.frame.reads.go_past_fork(),
            Found::Nothing => {
                let (part, line) = (*part, Line::OWN);
                let group = Group::from_buf([part.at(stack.clone(), layout.clone())]);
                all.begin(place);
                self.enter(generation, all, part.which, group, &line);
            }
        }
    }

    /// Begins the walks of what is looked for on some stacks; behind a boundary, once the lexeme
    /// before it has ended.
    fn enter<'g>(
        &self,
        generation: &'g Generation,
        all: &mut Computation<'g>,
        which: Which,
        group: Group,
        line: &Line,
    ) {
        let forks = group.iter().any(|at| at.stack.first_fork() != all.fork);
        all.count += if forks { COST_OF_A_FORK } else { 1 };
        match which {
            Which::Behind { label, obligations, nodes } => {
                // Readings that are alike but for their stacks go on together, behind the last one
                // apart from others.
                let mut groups: SmallVec<[(Group, bool); 1]> = SmallVec::new();
                let mut last: Option<(Configuration, bool)> = None;
                for at in &group {
                    let reads = &mut all.frame.reads;
                    for between in
                        self.scanner.after_lexeme(&at.stack, &at.layout, at.expectations, label, reads)
                    {
                        let goes_on = between.layout.is(&at.layout);
                        reads.set_line(if goes_on { line.clone() } else { Line::NEXT });
                        for from in self.scanner.begin_lexeme(between, obligations, reads) {
                            if let Some((from, goes_on)) = last.replace((from, goes_on)) {
                                add_to_group(&mut groups, from, goes_on, self.scanner.table());
                            }
                        }
                    }
                }
                let Some((from, goes_on)) = last else { return };
                let line_of = |goes_on| if goes_on { line.clone() } else { Line::NEXT };
                if groups.is_empty() {
                    return self.begin(generation, all, nodes, Group::from_buf([from]), line_of(goes_on));
                }
                add_to_group(&mut groups, from, goes_on, self.scanner.table());
                for (group, goes_on) in groups {
                    self.begin(generation, all, nodes, group, line_of(goes_on));
                }
            }
            Which::Walk { from: Origin { state, obligations, is_hub, .. }, nodes } => {
                let at = |at: Configuration| Configuration { state, obligations, ..at };
                let group: Group = group.into_iter().map(at).collect();
                let walk = self.walk(generation, nodes, &group[0], is_hub);
                self.take(generation, all, walk, group, line.clone());
            }
        }
    }

    /// Begins a lexeme behind a boundary. What follows is a part of its own where the parser does
    /// not look below the top before it shifts, as behind an operator or an opening bracket: nearly
    /// all stacks have it in common.
    fn begin<'g>(
        &self,
        generation: &'g Generation,
        all: &mut Computation<'g>,
        nodes: NodesId,
        group: Group,
        line: Line,
    ) {
        match &group[..] {
            [from] if all.may_keep(&from.stack) && from.stack.is_local(self.scanner.table()) => {
                let which = Which::Walk { from: Origin::new(from, false), nodes };
                let part = Part::new(which, from.expectations, &from.stack, &from.layout);
                let (stack, layout) = (from.stack.clone(), from.layout.clone());
                all.begun.push(Place { part, stack, layout, line, except: TokensId::NONE });
            }
            [first, ..] => {
                let walk = self.walk(generation, nodes, first, false);
                self.take(generation, all, walk, group, line);
            }
            [] => {}
        }
    }

    /// Takes what a walk allows by itself.
    fn take<'g>(
        &self,
        generation: &'g Generation,
        all: &mut Computation<'g>,
        walk: &'g Walk,
        group: Group,
        line: Line,
    ) {
        let plain = walk.is_unobliged && !walk.ends.is_empty();
        for from in &group {
            let reads = &mut all.frame.reads;
            match plain.then(|| self.scanner.taking(&from.stack, from.expectations, reads)).flatten() {
                Some(taking) => {
                    let find = || self.find_taken(generation, walk, taking);
                    let taken = generation.taken(walk, taking.number, find);
                    all.found.push(taken.tokens);
                    let open = taken.open.iter().map(|&end| &walk.ends[end as usize]);
                    self.take_viable(all, open, from, &line);
                }
                None => self.take_viable(all, walk.ends.iter(), from, &line),
            }
        }
        if !walk.boundaries.is_empty() || !walk.hubs.is_empty() {
            all.walks.push(Walked { walk, from: group, line, next: 0 });
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
            Seen::State(depth) => reads.state(depth),
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
            Read::State | Read::Layout(..) => count += 1,
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
        Self { which, expectations, top: stack.core(), line: LineKind::new(layout) }
    }

    /// Where the part begins.
    fn at(&self, stack: Stack, layout: Layout) -> Configuration {
        let (state, obligations) = self.which.point();
        Configuration { stack, layout, state, obligations, expectations: self.expectations }
    }
}

impl Which {
    fn nodes(self) -> NodesId {
        match self {
            Self::Behind { nodes, .. } | Self::Walk { nodes, .. } => nodes,
        }
    }

    /// The scan state and the obligations where it begins. Behind a boundary nothing looks at the
    /// scan state.
    fn point(self) -> (ScanStateId, ObligationsId) {
        match self {
            Self::Behind { obligations, .. } => (ScanStateId(0), obligations),
            Self::Walk { from, .. } => (from.state, from.obligations),
        }
    }

    /// A reading where it begins.
    fn begin(self, at: &Configuration, layout: Layout) -> Configuration {
        let (state, obligations) = self.point();
        Configuration { stack: at.stack.clone(), layout, state, obligations, expectations: at.expectations }
    }
}

impl Agenda {
    /// What sorts something: what fewer computations wait around comes later, and of the same,
    /// greater nodes.
    fn key(level: usize, first: u32, is_hub: bool) -> u64 {
        (level as u64) << 33 | u64::from(u32::MAX - first) << 1 | u64::from(!is_hub)
    }

    /// Adds a reading to what is to be looked for at some nodes, the first of which is `first`.
    fn add(
        &mut self,
        (level, first): (usize, u32),
        (which, except, line): (Which, TokensId, &Line),
        reading: Configuration,
        table: &ParseTable,
    ) {
        let key = Self::key(level, first, matches!(which, Which::Walk { .. }));
        let at = self.order.partition_point(|&(other, _)| other < key);
        for &(_, slot) in self.order[at..].iter().take_while(|&&(other, _)| other == key) {
            if let Some(pending) = &mut self.slots[slot as usize]
                && pending.which == which
                && pending.except == except
                && pending.line == *line
            {
                return add_reading(&mut pending.group, reading, table);
            }
        }
        let pending = Some(Pending { which, except, line: line.clone(), group: Group::from_buf([reading]) });
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = pending;
                slot
            }
            None => {
                self.slots.push(pending);
                self.slots.len() as u32 - 1
            }
        };
        self.order.insert(at, (key, slot));
    }

    /// Takes off what is next where so many computations wait.
    fn next(&mut self, level: usize) -> Option<Pending> {
        let &(key, slot) = self.order.last()?;
        if key >> 33 != level as u64 {
            return None;
        }
        self.order.pop();
        self.free.push(slot);
        self.slots[slot as usize].take()
    }
}

/// Adds a reading to others; where it differs from one of them only by what lies below the top of
/// its stack, to that one.
fn add_reading(group: &mut Group, reading: Configuration, table: &ParseTable) {
    let is_same = |known: &&mut Configuration| {
        known.differs_by_stack(&reading) && known.stack.same_top(&reading.stack, table)
    };
    match group.iter_mut().find(is_same) {
        Some(known) => known.stack = known.stack.union(&reading.stack, table),
        None => group.push(reading),
    }
}

/// Adds a reading to those from which it differs by its stack only.
fn add_to_group(
    groups: &mut SmallVec<[(Group, bool); 1]>,
    from: Configuration,
    goes_on: bool,
    table: &ParseTable,
) {
    let known =
        groups.iter_mut().find(|(group, other)| *other == goes_on && group[0].differs_by_stack(&from));
    match known {
        Some((group, _)) => add_reading(group, from, table),
        None => groups.push((Group::from_buf([from]), goes_on)),
    }
}

impl Computation<'_> {
    fn new(reads: Reads, fork: Option<u32>, keeps: bool) -> Self {
        let frame = Frame { reads, found: 0, walks: 0, begun: 0 };
        let (waiting, found, walks, begun) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { frame, fork, keeps, waiting, found, walks, begun, agenda: Agenda::default(), count: 0 }
    }

    /// Why nothing will be found, if it is known by now.
    fn unfound(&self) -> Option<Unfound> {
        if self.frame.reads.is_past_fork() {
            return Some(Unfound::PastFork);
        }
        (self.keeps && self.count > MAX_BEGUN).then_some(Unfound::TooMuch)
    }

    /// Whether what is found on this stack may be kept: down to the fork below which nothing is
    /// read it is one way.
    fn may_keep(&self, stack: &Stack) -> bool {
        self.keeps && stack.first_fork() == self.fork
    }

    /// Begins with a part; what was looked for until now waits for it.
    fn begin(&mut self, place: Place) {
        let reads = Reads::new(&place.stack, place.layout.lines());
        self.wait(reads, Awaited::Part(place));
    }

    /// Begins with the tokens of a hub.
    fn begin_hub(&mut self, except: TokensId) {
        let reads = std::mem::replace(&mut self.frame.reads, Reads::none());
        self.wait(reads, Awaited::Hub(except));
    }

    fn wait(&mut self, reads: Reads, awaited: Awaited) {
        let (found, walks, begun) = (self.found.len(), self.walks.len(), self.begun.len());
        let around = std::mem::replace(&mut self.frame, Frame { reads, found, walks, begun });
        self.waiting.push((around, awaited));
    }

    /// A part of what is looked for now that has been met.
    fn next_begun(&mut self) -> Option<Place> {
        if self.begun.len() > self.frame.begun { self.begun.pop() } else { None }
    }
}
