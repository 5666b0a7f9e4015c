//! The composition of a mask from walks and submasks.

use smallvec::SmallVec;

use super::context::Composer;
use super::frame::{Frame, FrameStack, Keeping, Purpose, Unfound, WalkPieces};
use super::stack_trie::{Lookup, Seen};
use super::submask::{SubmaskRequest, WalkPart, Wanted};
use super::tables::Taken;
use super::work_list::{Apart, Entry, Readings, add_apart};
use crate::index::tokens::TokensId;
use crate::index::walk::{End, NodesId, Origin, Walk};
use crate::scanner::configuration::{AcceptedLabels, Configuration};
use crate::scanner::{Layout, Line, ObligationsId, Read, Reads};
use crate::util::id::TerminalId;

/// A submask with fewer than one in this many tokens is not kept: looking it up takes as long as
/// computing it.
const TOKENS_FOR_A_SUBMASK: usize = 1 << 12;

/// Neither is one with more than one in this many tokens, for example after a blank: it is nearly
/// all of its mask, and where it would be found again, so would the mask.
const MOST_FOR_A_SUBMASK: usize = 4;

impl<'g> Composer<'g> {
    /// Returns the tokens that may follow in configuration `at`, and the reads. `steps` were taken
    /// for the same mask before; the steps taken are added.
    ///
    /// Not recursive, because the vocabulary determines how many lexemes a token contains.
    pub(super) fn unite(
        &self,
        at: &Configuration,
        steps: &mut usize,
    ) -> Result<(TokensId, Reads), Unfound> {
        let reads = Reads::new(&at.stack, at.layout.lines(), *steps);
        let submasks = self.walker.shortcuts.submasks;
        let mut frames = FrameStack::new(reads, at.stack.first_fork(), submasks);
        let found = self.run(&mut frames, at);
        *steps = *frames.current().reads.steps();
        Ok((found?, frames.current().take_reads()))
    }

    /// Returns the same for all ways of a stack that forks together, without keeping anything.
    pub(super) fn unite_ways(&self, at: &Configuration, steps: &mut usize) -> TokensId {
        let mut reads = Reads::none();
        *reads.steps() = *steps;
        let mut frames = FrameStack::new(reads, None, false);
        let found = self.run(&mut frames, at);
        *steps = *frames.current().reads.steps();
        found.unwrap_or(TokensId::NONE)
    }

    fn run(&self, frames: &mut FrameStack<'g>, at: &Configuration) -> Result<TokensId, Unfound> {
        let steps = frames.current().reads.steps();
        let walk = self.walker.walk(NodesId::ROOT, Origin::new(at), steps);
        self.take(frames.current(), walk, Readings::from_buf([at.clone()]), Line::OWN);
        loop {
            self.work(frames);
            if let Some(unfound) = frames.unfound() {
                return Err(unfound);
            }
            let tokens = self.walker.tokens.union(&mut frames.current().found);
            let Some((purpose, mut reads)) = frames.finish() else { return Ok(tokens) };
            let around = frames.current();
            let except = match purpose {
                Purpose::Mask => None,
                Purpose::Base(except) => {
                    around.reads = reads;
                    except
                }
                Purpose::Submask(request) => {
                    *around.reads.steps() = *reads.steps();
                    let is_whole = !self.is_exhausted(&mut reads);
                    let reads = reads.into_events();
                    if is_whole {
                        self.keep(&request, tokens, &reads);
                    }
                    self.read_again(&request, &reads, &mut around.reads);
                    request.except
                }
            };
            around.found.push(self.walker.tokens.difference(tokens, except));
        }
    }

    /// Runs until the current frame has found everything, or cannot find it.
    fn work(&self, frames: &mut FrameStack<'g>) {
        while frames.unfound().is_none() {
            let keeping = frames.keeping;
            let frame = frames.current();
            if let Some(request) = frame.requests.pop() {
                self.seek(frames, request);
            } else if let Some(walk) = frame.walks.pop() {
                self.look_for_parts(frame, keeping, walk);
            } else if let Some(entry) = frame.work_list.next() {
                self.look_for_entry(frames, entry);
            } else {
                return;
            }
            let frame = frames.current();
            if self.is_exhausted(&mut frame.reads) {
                self.walker.scanner.give_up(&mut frame.reads);
                return frame.abandon();
            }
        }
    }

    /// Returns whether a mask has used up its steps.
    fn is_exhausted(&self, reads: &mut Reads) -> bool {
        self.walker.scanner.steps_left(reads) == 0
    }

    /// Takes a submask that is cached for such a stack, or begins to look for it.
    fn seek(&self, frames: &mut FrameStack<'g>, request: SubmaskRequest) {
        let SubmaskRequest { submask, stack, layout, line, except } = &request;
        let frame = frames.current();
        let see = |seen: Seen<'_>| self.see(seen, layout, line, &mut frame.reads);
        match self.parts.submasks.find(submask, stack, layout, self.walker.scanner.lexis(), see) {
            Lookup::Leaf(known) => {
                frame.found.push(self.walker.tokens.difference(known, *except));
            }
            Lookup::PastFork => frame.reads.go_past_fork(),
            Lookup::Nothing => {
                let (wanted, readings) = (submask.wanted, Readings::from_buf([request.reading()]));
                frames.begin(request);
                self.enter(frames, wanted, readings, &Line::OWN);
            }
        }
    }

    /// Divides the parts of a walk: some are looked for separately so that they can be kept, the
    /// others together with everything else at the same nodes.
    fn look_for_parts(&self, frame: &mut Frame<'g>, keeping: Keeping, walk: WalkPieces<'g>) {
        let Frame { reads, requests, work_list, .. } = frame;
        let scanner = self.walker.scanner;
        let all = self.walker.trie.ids().len();
        let worth_keeping = all.div_ceil(TOKENS_FOR_A_SUBMASK)..=all / MOST_FOR_A_SUBMASK;
        // Readings that arrived together continue together. Separately, there would be twice as
        // many at the next lexeme.
        let may_keep = walk.from.len() == 1 && keeping.may_keep(&walk.from[0].stack);
        let WalkPieces { walk, from, line, taking, .. } = walk;
        for WalkPart { wanted, leading, tokens, except } in WalkPart::all(walk) {
            // After a lexeme that the stack does not take, there is nothing to look for.
            if let (Some(taking), Wanted::Behind { label, .. }) = (taking, wanted)
                && !taking.may_take(label)
            {
                continue;
            }
            let line = line.read(leading);
            let is_worth_keeping = |tokens| worth_keeping.contains(&(tokens as usize));
            let alone = may_keep && tokens.is_none_or(is_worth_keeping);
            for at in &from {
                let layout = scanner.read_all(&at.layout, leading);
                if matches!(wanted, Wanted::Walk { .. }) {
                    // If the base walk's lexeme is not viable, the walk is not needed.
                    reads.set_line(line.clone());
                    if !scanner.is_viable(&wanted.begin(at, layout.clone()), reads) {
                        continue;
                    }
                }
                if alone {
                    requests.push(SubmaskRequest {
                        except,
                        ..SubmaskRequest::new(wanted, at, layout, line.clone())
                    });
                } else {
                    let nodes = self.walker.tables.nodes(wanted.nodes());
                    let first = nodes.first().copied().unwrap_or_default();
                    let reading = wanted.begin(at, layout);
                    let counted = (scanner.table(), reads.steps());
                    work_list.add(first, (wanted, except, &line), reading, counted);
                }
            }
        }
    }

    /// Looks for the next entry of the work list.
    fn look_for_entry(&self, frames: &mut FrameStack<'g>, entry: Entry) {
        let Entry { wanted, except, line, readings } = entry;
        frames.current().reads.set_line(line.clone());
        if matches!(wanted, Wanted::Walk { .. }) {
            frames.begin_base(except);
        }
        self.enter(frames, wanted, readings, &line);
    }

    /// Begins the walks of a search on some stacks.
    fn enter(&self, frames: &mut FrameStack<'g>, wanted: Wanted, readings: Readings, line: &Line) {
        frames.count(&readings);
        match wanted {
            Wanted::Behind { label, obligations, nodes } => {
                let reads = &mut frames.current().reads;
                for (readings, goes_on) in self.pass(label, obligations, &readings, (line, reads)) {
                    let line = if goes_on { line.clone() } else { Line::NEXT };
                    self.begin(frames, nodes, readings, line);
                }
            }
            Wanted::Walk { from, nodes } => {
                let Origin { state, obligations, .. } = from;
                let at = |at: Configuration| Configuration { state, obligations, ..at };
                let readings = readings.into_iter().map(at).collect();
                let walk = self.walker.walk(nodes, from, frames.current().reads.steps());
                self.take(frames.current(), walk, readings, line.clone());
            }
        }
    }

    /// Ends the lexeme before a boundary and begins the next one. Readings that differ only by
    /// their stacks continue together.
    fn pass(
        &self,
        label: TerminalId,
        obligations: ObligationsId,
        readings: &Readings,
        (line, reads): (&Line, &mut Reads),
    ) -> Apart {
        let scanner = self.walker.scanner;
        let mut apart = Apart::new();
        for at in readings {
            let Configuration { stack, layout, expectations, .. } = at;
            scanner.after_lexeme(
                stack,
                layout,
                *expectations,
                label,
                reads,
                &mut |after, reads| {
                    let goes_on = after.layout.is(layout);
                    let ended_in = reads.set_line(if goes_on { line.clone() } else { Line::NEXT });
                    scanner.begin_lexeme(after, obligations, reads, |from, reads| {
                        add_apart(&mut apart, (from, goes_on), scanner.table(), reads.steps());
                    });
                    reads.set_line(ended_in);
                },
            );
        }
        apart
    }

    /// Begins a lexeme after a boundary. The tokens that follow are a submask of their own if the
    /// parser does not look below the top before it shifts, as after an operator or an opening
    /// bracket: nearly all stacks share it.
    fn begin(&self, frames: &mut FrameStack<'g>, nodes: NodesId, readings: Readings, line: Line) {
        match &readings[..] {
            [from]
                if frames.keeping.may_keep(&from.stack)
                    && from.stack.is_local(self.walker.scanner.table()) =>
            {
                let wanted = Wanted::Walk { from: Origin::new(from), nodes };
                frames.current().requests.push(SubmaskRequest::new(
                    wanted,
                    from,
                    from.layout.clone(),
                    line,
                ));
            }
            [first, ..] => {
                let steps = frames.current().reads.steps();
                let walk = self.walker.walk(nodes, Origin::new(first), steps);
                self.take(frames.current(), walk, readings, line);
            }
            [] => {}
        }
    }

    /// Takes the tokens that a walk allows by itself.
    fn take(&self, frame: &mut Frame<'g>, walk: &'g Walk, readings: Readings, line: Line) {
        let plain = walk.is_unobliged && !walk.ends.is_empty();
        let mut of_the_only_one = None;
        for from in &readings {
            let reads = &mut frame.reads;
            let taking = || self.walker.scanner.numbered_taking(from, reads);
            match plain.then(taking).flatten() {
                Some(taking) => {
                    of_the_only_one = (readings.len() == 1).then_some(taking);
                    let find = || self.find_taken(walk, taking);
                    let taken = self.parts.taken(walk, taking.number, find);
                    frame.found.push(taken.tokens);
                    let open = taken.open.iter().map(|&end| &walk.ends[end as usize]);
                    self.take_viable(frame, open, from, &line);
                }
                None => self.take_viable(frame, walk.ends.iter(), from, &line),
            }
        }
        if !walk.boundaries.is_empty() || !walk.bases.is_empty() {
            let taking = of_the_only_one;
            frame.walks.push(WalkPieces { walk, from: readings, line, taking });
        }
    }

    /// Returns the ends that a stack takes, of a walk without obligations.
    fn find_taken(&self, walk: &Walk, taking: AcceptedLabels<'_>) -> Taken {
        let states = self.walker.scanner.states();
        let (mut tokens, mut open): (SmallVec<[_; 8]>, Vec<_>) = (SmallVec::new(), Vec::new());
        for (number, end) in (0..).zip(&walk.ends) {
            match taking.takes(states.label_set(states.reach(end.state))) {
                Some(true) => tokens.push(end.tokens),
                Some(false) => {}
                None => open.push(number),
            }
        }
        Taken { tokens: self.walker.tokens.union(&mut tokens), open: open.into() }
    }

    /// Takes the ends of a walk that are viable.
    fn take_viable<'w>(
        &self,
        frame: &mut Frame<'g>,
        ends: impl Iterator<Item = &'w End>,
        from: &Configuration,
        line: &Line,
    ) {
        let mut at = from.clone();
        for end in ends {
            at.state = end.state;
            at.obligations = end.obligations;
            at.layout = self.walker.scanner.read_all(&from.layout, &end.leading);
            frame.reads.set_line(line.read(&end.leading));
            if self.walker.scanner.is_viable(&at, &mut frame.reads) {
                frame.found.push(end.tokens);
            }
        }
    }

    /// Keeps the tokens of a submask, if it is worth keeping.
    fn keep(&self, request: &SubmaskRequest, tokens: TokensId, reads: &[Read]) {
        if self.parts.submasks.bytes() <= self.room && request.is_worth_keeping(reads) {
            let lexis = self.walker.scanner.lexis();
            self.parts.submasks.insert(
                request.submask,
                &request.stack,
                &request.layout,
                lexis,
                reads,
                tokens,
            );
        }
    }

    /// Adds the reads for a submask to those of the enclosing frame.
    fn read_again(&self, request: &SubmaskRequest, events: &[Read], reads: &mut Reads) {
        let mut lowest = request.stack.depth();
        for read in events {
            let seen = match read {
                Read::Stack(depth) => Seen::Stack(*depth),
                Read::State => Seen::State(lowest),
                Read::Layout(question, _) => Seen::Layout(question),
            };
            if let Read::Stack(depth) = read {
                lowest = *depth;
            }
            self.see(seen, &request.layout, &request.line, reads);
        }
    }

    pub(super) fn see(&self, seen: Seen<'_>, layout: &Layout, line: &Line, reads: &mut Reads) {
        match seen {
            Seen::Stack(depth) => reads.stack(depth),
            Seen::State(depth) => reads.state(depth),
            Seen::Layout(question) => {
                let indentation = self.walker.scanner.indentation();
                if let (Some(lines), Some(indentation)) = (layout.lines(), indentation) {
                    reads.ask_again(question, lines, line, indentation);
                }
            }
        }
    }
}
