//! Token classes: what the tokens below some nodes of the vocabulary's trie do to a scan state.
//!
//! A walk runs the trie through one scan state and sorts what it meets. A token that ends within
//! the lexeme falls into a class by what the lexeme can still become. Where the lexeme may end
//! before the token does, the walk stops: what comes next depends on the parse stack, so the rest
//! of the trie there is handed on as a [`Boundary`]. So a walk depends on no stack, is done once,
//! and serves every stack; a mask is a union over a few dozen classes, never over tokens. What it
//! would meet just as another walk does it leaves to that one, its [`Hub`].

use std::ops::Range;

use super::branch::{Branch, Place};
use super::generation::Generation;
use super::hub::{Hub, Hubs, Shadow};
use super::numbers::{Blanks, Numbers};
use super::token_set::TokenSet;
use super::unions::TokensId;
use crate::scanner::configuration::Configuration;
use crate::scanner::points::Point;
use crate::scanner::{ObligationsId, Scanner};
use crate::util::byte_groups::Groups;
use crate::util::id::{ScanStateId, TerminalId};
use crate::vocab::trie::{Node, Trie};

/// The number of a set of the trie's nodes, ascending. The root stands for itself: a walk of it
/// goes on with the lexeme in progress, which may end before its first byte. Any other node is
/// entered: its own byte is the first of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodesId(pub(crate) u32);

impl NodesId {
    /// The root alone: all of the vocabulary.
    pub(crate) const ROOT: Self = Self(0);
}

/// The classes of the tokens below some nodes, from one scan state.
#[derive(Debug)]
pub(crate) struct Walk {
    /// Among those of the generation.
    pub(crate) number: u32,
    /// Whether no end has obligations.
    pub(crate) is_unobliged: bool,
    pub(crate) ends: Box<[End]>,
    pub(crate) boundaries: Box<[Boundary]>,
    pub(crate) hubs: Box<[Hub]>,
}

/// Tokens that end within the lexeme. Without obligations, those that can become the same labels
/// are one class, whatever their scan states.
#[derive(Debug)]
pub(crate) struct End {
    /// Where they end, or a state with the same reach.
    pub(crate) state: ScanStateId,
    pub(crate) obligations: ObligationsId,
    /// As in [`Boundary`]; left empty where it does not matter, because there are no obligations: a
    /// lexeme that begins with a blank is ignored there, and any other begins where the blanks end.
    pub(crate) leading: LeadingBytes,
    pub(crate) tokens: TokensId,
}

/// Tokens that go on after the lexeme has ended.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// What the lexeme was.
    pub(crate) label: TerminalId,
    /// With those that the lexeme's end adds, after the first byte of the next lexeme.
    pub(crate) obligations: ObligationsId,
    /// What the walk has read of the blanks at the beginning of a line.
    pub(crate) leading: LeadingBytes,
    /// The nodes whose bytes begin the next lexeme.
    pub(crate) nodes: NodesId,
    /// How many tokens there are at and below these nodes.
    pub(crate) tokens: u32,
}

/// Where a walk begins in the blanks before a line's first lexeme: the blanks that it reads, and
/// the first other byte (as 0), if it reads that far. Empty elsewhere.
pub(crate) type LeadingBytes = Box<[u8]>;

/// What a walk depends on, beside its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Origin {
    pub(crate) state: ScanStateId,
    pub(crate) obligations: ObligationsId,
    /// Whether the blanks at the beginning of a line are being counted.
    pub(crate) counting: bool,
    /// Whether it is a hub's: then it leaves nothing to others.
    pub(crate) is_hub: bool,
}

impl Origin {
    pub(super) fn new(from: &Configuration, is_hub: bool) -> Self {
        let (state, obligations) = (from.state, from.obligations);
        Self { state, obligations, counting: from.layout.is_counting(), is_hub }
    }
}

impl Walk {
    /// A walk that has met this.
    pub(crate) fn of(
        ends: Box<[End]>,
        boundaries: Box<[Boundary]>,
        hubs: Box<[Hub]>,
        generation: &Generation,
    ) -> Self {
        let is_unobliged = ends.iter().all(|end| end.obligations == ObligationsId::NONE);
        Self { number: generation.next_walk(), is_unobliged, ends, boundaries, hubs }
    }

    /// The walk of `nodes`, whose token sets and node sets `generation` keeps; masks have `words`
    /// words.
    pub(super) fn new(
        id: NodesId,
        from: Origin,
        scanner: &Scanner,
        trie: &Trie,
        words: usize,
        generation: &Generation,
    ) -> Self {
        let Origin { state, obligations, counting, is_hub } = from;
        let nodes = generation.nodes(id);
        let at = scanner.at_point(scanner.point(state, obligations));
        let hubs =
            if is_hub { Hubs::none() } else { Hubs::find(id, at, counting, scanner, trie, generation) };
        let mut classes = Classes::new(scanner, trie, hubs, counting);
        // What is walked but once gains nothing from branches.
        let at_once = is_hub || counting || generation.begin_walk(id);
        if id == NodesId::ROOT {
            classes.root(at, at_once, words, generation);
        } else if at_once || nodes.len() < NODES_FOR_BRANCHES {
            let loops = if is_hub { scanner.loops(at) } else { 0 };
            for &node in nodes {
                if trie.group(node) & !loops == 0 {
                    classes.enter_loop(node, at);
                } else if let Some(point) = scanner.begin_at_point(at, trie.byte(node)) {
                    classes.enter(node, point);
                }
            }
        } else {
            let mut below = Classes::new(scanner, trie, Hubs::none(), false);
            for group in generation.groups(id, trie) {
                if let Some(point) = scanner.begin_at_point(at, group.byte) {
                    let place = Place { group, point, is_open: false };
                    classes.branch(id, place, &mut below, words, generation);
                }
            }
        }
        classes.finish(words, generation)
    }

    /// Heap bytes, but for the sets of tokens and nodes.
    pub(crate) fn bytes(&self) -> usize {
        let leading = |leading: &LeadingBytes| leading.len();
        size_of::<Self>()
            + self.ends.iter().map(|end| size_of::<End>() + leading(&end.leading)).sum::<usize>()
            + (self.boundaries.iter())
                .map(|boundary| size_of::<Boundary>() + leading(&boundary.leading))
                .sum::<usize>()
            + self.hubs.len() * size_of::<Hub>()
    }
}

/// A class in the making.
struct Class<'a> {
    /// The first one met.
    point: &'a Point,
    /// The number of the blanks read at the beginning of a line.
    leading: u32,
    /// What branches have found.
    found: Vec<TokensId>,
}

/// A run of tokens of one class, as indices among the trie's ids.
#[derive(Clone, Copy)]
struct Run {
    class: u32,
    first: u32,
    end: u32,
}

/// The nodes behind one label and obligations.
struct Behind {
    ended: u32,
    leading: u32,
    nodes: Vec<u32>,
}

/// What a walk has met so far.
struct Classes<'a> {
    scanner: &'a Scanner,
    trie: &'a Trie,
    classes: Vec<Class<'a>>,
    class_numbers: Numbers,
    /// In the order of the walk; neighbours of one class are one.
    runs: Vec<Run>,
    boundaries: Vec<Behind>,
    boundary_numbers: Numbers,
    /// Nodes where the lexeme has ended only if no longer match comes.
    open: Vec<Open>,
    /// Whether a token ends before a longer match comes than what has ended where the branch
    /// begins.
    entry_survives: bool,
    /// By the number of bytes read.
    path: Vec<Way<'a>>,
    /// The subtrees around the current node in which the walk mostly stays where it was, each
    /// within the one before.
    loops: Vec<Loop<'a>>,
    hubs: Hubs<'a>,
    /// By hub: runs of tokens that its walk meets just so, as indices among the trie's ids.
    covered: Vec<Vec<Range<u32>>>,
    /// Where the blanks at the beginning of a line are being counted.
    leading: Option<Blanks>,
}

/// Where a node has led.
#[derive(Clone, Copy)]
struct Way<'a> {
    point: &'a Point,
    /// Among [`Classes::open`] the last one above without an accept between.
    open: u32,
    /// Where a hub's walk is.
    shadow: Option<Shadow<'a>>,
}

/// A subtree of which most is a way back to the point above it: the inside of names, strings,
/// comments.
#[derive(Clone, Copy)]
struct Loop<'a> {
    way: Way<'a>,
    /// The groups that lead back.
    groups: Groups,
    /// The first node after the subtree.
    end: u32,
    /// The first node after the subtree that is being walked because its byte leads elsewhere.
    back: u32,
}

/// A node that is one of a boundary if a token below it ends before a longer match comes.
struct Open {
    ended: u32,
    leading: u32,
    node: u32,
}

/// A walk of fewer nodes is done at once.
const NODES_FOR_BRANCHES: usize = 4;

/// Where a branch begins, what has ended is known to the walk alone.
const ENTRY: u32 = u32::MAX;

/// No node above is open.
const CLOSED: u32 = u32::MAX;

impl<'a> Classes<'a> {
    fn new(scanner: &'a Scanner, trie: &'a Trie, hubs: Hubs<'a>, counting: bool) -> Self {
        Self {
            scanner,
            trie,
            classes: Vec::new(),
            class_numbers: Numbers::default(),
            runs: Vec::new(),
            boundaries: Vec::new(),
            boundary_numbers: Numbers::default(),
            open: Vec::new(),
            entry_survives: false,
            path: Vec::new(),
            loops: Vec::new(),
            hubs,
            covered: Vec::new(),
            leading: counting.then(Blanks::default),
        }
    }

    /// Walks the whole trie from `at`; `at_once`, without branches.
    fn root(&mut self, at: &'a Point, at_once: bool, words: usize, generation: &Generation) {
        let (scanner, trie) = (self.scanner, self.trie);
        let way = Way { point: at, open: CLOSED, shadow: None };
        self.come(0, way);
        // What a hub covers need not be looked at.
        if self.hubs.is_empty() {
            self.begin_loop(Trie::ROOT, way);
        }
        if at_once || !self.loops.is_empty() {
            return self.walk(Trie::ROOT + 1, trie.end(Trie::ROOT), 0);
        }
        let mut below = Classes::new(scanner, trie, Hubs::none(), false);
        for group in generation.groups(NodesId::ROOT, trie) {
            let step = scanner.step_point(at, group.byte);
            let ended = step.ended().map(|ended| Open { ended, leading: 0, node: group.nodes[0] });
            let Some(next) = step.next() else {
                ended.into_iter().for_each(|ended| self.bound(ended, true));
                continue;
            };
            let place = Place { group, point: scanner.at_point(next), is_open: ended.is_some() };
            let survives = self.branch(NodesId::ROOT, place, &mut below, words, generation);
            ended.filter(|_| survives).into_iter().for_each(|ended| self.bound(ended, false));
        }
    }

    /// Walks the subtree of `entry`, whose own byte has led to `point`.
    fn enter(&mut self, entry: u32, point: &'a Point) {
        let shadow = self.hubs.begin(self.scanner, point, self.trie.byte(entry));
        self.enter_along(entry, point, shadow, false);
    }

    /// The same where a hub's walk has come to `shadow`. If the lexeme may have ended before the
    /// byte (`is_open`), it is noted whether some token ends before a longer match comes.
    fn enter_along(&mut self, entry: u32, point: &'a Point, shadow: Option<Shadow<'a>>, is_open: bool) {
        if let Some(shadow) = shadow.filter(|shadow| shadow.is_at(point) && (!is_open || point.accepts)) {
            return self.cover(shadow.hub, entry, self.trie.end(entry));
        }
        self.read(0, self.trie.byte(entry));
        let ends = self.end(entry, entry + 1, point, 1);
        let mut open = CLOSED;
        if is_open && !point.accepts {
            open = self.open.len() as u32;
            self.open.push(Open { ended: ENTRY, leading: 0, node: entry });
            if ends {
                self.survives(open);
            }
        }
        let way = Way { point, open, shadow };
        self.come(1, way);
        self.begin_loop(entry, way);
        self.walk(entry + 1, self.trie.end(entry), self.trie.depth(entry) as usize - 1);
    }

    /// Walks the subtree of `entry` from `point`, where the byte of `entry` leads back.
    fn enter_loop(&mut self, entry: u32, point: &'a Point) {
        let end = self.trie.end(entry);
        let way = Way { point, open: CLOSED, shadow: None };
        self.loops.push(Loop { way, groups: self.scanner.loops(point), end, back: entry });
        self.walk(entry, end, self.trie.depth(entry) as usize - 1);
    }

    /// Takes what is below a group of the nodes of `set`; `below` is empty, before and after.
    /// Returns whether some token ends before a longer match comes, if the place is open.
    fn branch(
        &mut self,
        set: NodesId,
        place: Place<'_, 'a>,
        below: &mut Self,
        words: usize,
        generation: &Generation,
    ) -> bool {
        let (scanner, trie) = (self.scanner, self.trie);
        let Place { group, point, is_open } = place;
        let shadow = self.hubs.begin(scanner, point, group.byte);
        if let &[node] = &*group.nodes
            && (trie.end(node) == node + 1 || shadow.is_some_and(|shadow| shadow.is_at(point) && !is_open))
        {
            self.enter_along(node, point, shadow, is_open);
            return std::mem::take(&mut self.entry_survives);
        }
        let branch = generation.branch(set, place, shadow, || {
            let shadow = shadow.map(Shadow::alone);
            group.nodes.iter().for_each(|&node| below.enter_along(node, point, shadow, is_open));
            below.finish_branch(words, generation)
        });
        for &(point, tokens) in &branch.ends {
            let class = self.class(scanner.at_point(point), 0);
            self.classes[class as usize].found.push(tokens);
        }
        for (ended, nodes) in &branch.boundaries {
            self.behind(*ended, 0, false).extend_from_slice(nodes);
        }
        if let Some(shadow) = shadow {
            self.covered_by(shadow.hub).extend_from_slice(&branch.covered);
        }
        branch.entry_survives
    }

    /// The hub's walk meets the nodes from `first` to before `end` just so.
    fn cover(&mut self, hub: u8, first: u32, end: u32) {
        let tokens = self.trie.node(first).first..self.trie.node(end).first;
        let covered = self.covered_by(hub);
        match covered.last_mut() {
            Some(last) if last.end == tokens.start => last.end = tokens.end,
            _ => covered.push(tokens),
        }
    }

    fn covered_by(&mut self, hub: u8) -> &mut Vec<Range<u32>> {
        let hub = usize::from(hub);
        if self.covered.len() <= hub {
            self.covered.resize_with(hub + 1, Vec::new);
        }
        &mut self.covered[hub]
    }

    /// Walks the nodes from `index` to before `last`, which are a subtree of which the walk has
    /// read the bytes past `base`.
    fn walk(&mut self, mut index: u32, last: u32, base: usize) {
        let (scanner, trie) = (self.scanner, self.trie);
        loop {
            index = self.skip_loop(index, base);
            if index >= last {
                break;
            }
            let node = *trie.node(index);
            let read = usize::from(node.depth) - base;
            let Way { point: from, mut open, shadow } = self.path[read - 1];
            let step = scanner.step_point(from, node.byte);
            let Some(next) = step.next() else {
                self.survives(open);
                if let Some(ended) = step.ended() {
                    let leading = self.number(read - 1);
                    self.bound(Open { ended, leading, node: index }, read == 1);
                }
                index = node.end;
                continue;
            };
            let point = scanner.at_point(next);
            let shadow = match read {
                1 => self.hubs.begin(scanner, point, node.byte),
                _ => shadow.and_then(|shadow| shadow.step(scanner, node.byte)),
            };
            if let Some(shadow) = shadow
                && shadow.is_at(point)
                && (open == CLOSED || point.accepts)
                // If the lexeme may have ended, then not after all: a longer match comes before the
                // character's end.
                && (step.ended().is_none() || trie.group(index) & !scanner.loops(from) == 0)
            {
                self.cover(shadow.hub, index, node.end);
                index = node.end;
                continue;
            }
            if let Some(ended) = step.ended() {
                let leading = self.number(read - 1);
                open = self.open.len() as u32;
                self.open.push(Open { ended, leading, node: index });
            }
            if self.stays(index, &node, point) {
                self.end(index, node.end, point, 0);
                if !point.accepts {
                    self.survives(open);
                }
                index = node.end;
                continue;
            }
            self.read(read - 1, node.byte);
            let ends = self.end(index, index + 1, point, read);
            if point.accepts {
                open = CLOSED;
            } else if ends {
                self.survives(open);
            }
            let way = Way { point, open, shadow };
            self.come(read, way);
            self.begin_loop(index, way);
            index += 1;
        }
        self.loops.clear();
    }

    /// The walk has come to `way` after so many bytes.
    #[inline]
    fn come(&mut self, read: usize, way: Way<'a>) {
        if read >= self.path.len() {
            self.path.resize(read + 1, way);
        }
        self.path[read] = way;
    }

    /// What lies below `node`, which has led to `way`, is a loop if its bytes mostly lead back
    /// there.
    #[inline]
    fn begin_loop(&mut self, node: u32, way: Way<'a>) {
        let (scanner, Way { point, open, shadow }) = (self.scanner, way);
        let back = |&byte: &u8| scanner.step_point(point, byte) == point.back();
        let end = self.trie.end(node);
        if end > node + 1
            && open == CLOSED
            && shadow.is_none()
            && self.leading.is_none()
            && self.trie.ends_character(node)
            && [b'a', self.trie.byte(node)].iter().any(back)
        {
            self.loops.push(Loop { way, groups: scanner.loops(point), end, back: node + 1 });
        }
    }

    /// The next node to be looked at from `index` on: within a loop, one whose byte leads
    /// elsewhere. The tokens before it end in the loop.
    #[inline]
    fn skip_loop(&mut self, mut index: u32, base: usize) -> u32 {
        while let Some(&Loop { way, groups, end, back }) = self.loops.last() {
            if index < back {
                break;
            }
            let next = self.trie.next_outside(groups, index, end);
            self.end(index, next, way.point, 0);
            index = next;
            if index < end {
                let node = self.trie.node(index);
                let (read, back) = (usize::from(node.depth) - base, node.end);
                if let Some(last) = self.loops.last_mut() {
                    last.back = back;
                }
                self.come(read - 1, way);
                break;
            }
            self.loops.pop();
        }
        index
    }

    /// Whether everything below a node that was read up to `point` is a token of one class with it.
    #[inline]
    fn stays(&self, index: u32, node: &Node, point: &Point) -> bool {
        if node.end == index + 1 || (self.leading.is_some() && point.obligations != ObligationsId::NONE) {
            return false;
        }
        // To begin with, the first byte below must not leave: most points stay nowhere.
        self.scanner.may_stay(point, self.trie.byte(index + 1)) && self.scanner.stays(point, node.below)
    }

    /// Notes the tokens of the nodes from `first` to before `end`, which end at `point` where
    /// `read` bytes have been read; whether there are any.
    #[inline]
    fn end(&mut self, first: u32, end: u32, point: &'a Point, read: usize) -> bool {
        let (first, end) = (self.trie.node(first).first, self.trie.node(end).first);
        if first == end {
            return false;
        }
        let leading = if point.obligations == ObligationsId::NONE { 0 } else { self.number(read) };
        let class = self.class(point, leading);
        match self.runs.last_mut() {
            Some(run) if run.class == class && run.end == first => run.end = end,
            _ => self.runs.push(Run { class, first, end }),
        }
        true
    }

    /// The number of the class of what ends at `point`.
    #[inline]
    fn class(&mut self, point: &'a Point, leading: u32) -> u32 {
        let next = self.classes.len();
        let class = self.class_numbers.get(self.scanner.class_of(point), leading, next);
        if class == next {
            self.classes.push(Class { point, leading, found: Vec::new() });
        }
        class as u32
    }

    /// Notes a node before whose byte the lexeme has ended. Those whose byte is the first that was
    /// read are a boundary by themselves: they are the same for many scan states.
    fn bound(&mut self, Open { ended, leading, node }: Open, at_once: bool) {
        self.behind(ended, leading, at_once).push(node);
    }

    fn behind(&mut self, ended: u32, leading: u32, at_once: bool) -> &mut Vec<u32> {
        let next = self.boundaries.len();
        let boundary = self.boundary_numbers.get(ended * 2 + u32::from(at_once), leading, next);
        if boundary == next {
            self.boundaries.push(Behind { ended, leading, nodes: Vec::new() });
        }
        &mut self.boundaries[boundary].nodes
    }

    /// A token below the open node ends before a longer match came.
    #[inline]
    fn survives(&mut self, open: u32) {
        if open != CLOSED {
            let open = &mut self.open[open as usize];
            // Once is enough.
            let node = std::mem::replace(&mut open.node, Trie::ROOT);
            if node != Trie::ROOT {
                let open = Open { node, ..*open };
                if open.ended == ENTRY {
                    self.entry_survives = true;
                } else {
                    self.bound(open, false);
                }
            }
        }
    }

    #[inline]
    fn read(&mut self, depth: usize, byte: u8) {
        if let Some(leading) = &mut self.leading {
            leading.read(depth, byte);
        }
    }

    #[inline]
    fn number(&mut self, depth: usize) -> u32 {
        self.leading.as_mut().map_or(0, |leading| leading.number(depth))
    }

    fn finish(mut self, words: usize, generation: &Generation) -> Walk {
        let blanks = self.leading.map_or_else(|| vec![LeadingBytes::default()], Blanks::into_numbered);
        let mut boundaries = Vec::with_capacity(self.boundaries.len());
        for Behind { ended, leading, mut nodes } in self.boundaries {
            // Open nodes were noted late.
            nodes.sort_unstable();
            let leading = blanks[leading as usize].clone();
            let tokens = nodes.iter().map(|&node| self.trie.count(node)).sum();
            let nodes = generation.nodes_id(nodes);
            for &(label, obligations) in self.scanner.ended(ended) {
                boundaries.push(Boundary { label, obligations, leading: leading.clone(), nodes, tokens });
            }
        }
        let found = find_ends(&mut self.classes, &mut self.runs, self.trie, words, generation);
        let ends = self.classes.iter().zip(found).map(|(&Class { point, leading, .. }, tokens)| End {
            state: point.state,
            obligations: point.obligations,
            leading: blanks[leading as usize].clone(),
            tokens,
        });
        let ends = ends.collect();
        let hubs = self.hubs.finish(self.covered, self.trie, words, generation);
        Walk::of(ends, boundaries.into(), hubs, generation)
    }

    /// The same of a branch, whose only hub is the first. Leaves nothing behind.
    fn finish_branch(&mut self, words: usize, generation: &Generation) -> Branch {
        let found = find_ends(&mut self.classes, &mut self.runs, self.trie, words, generation);
        let ends =
            self.classes.drain(..).zip(found).map(|(class, tokens)| (class.point.id, tokens)).collect();
        let boundaries =
            self.boundaries.drain(..).map(|behind| (behind.ended, behind.nodes.into())).collect();
        let covered = self.covered.pop().unwrap_or_default().into();
        self.runs.clear();
        self.open.clear();
        self.class_numbers.clear();
        self.boundary_numbers.clear();
        Branch { ends, boundaries, covered, entry_survives: std::mem::take(&mut self.entry_survives) }
    }
}

/// The tokens of each class: what branches have found, and these runs.
fn find_ends(
    classes: &mut [Class<'_>],
    runs: &mut [Run],
    trie: &Trie,
    words: usize,
    generation: &Generation,
) -> Vec<TokensId> {
    // By class, and within one in the order of the walk.
    runs.sort_by_key(|run| run.class);
    let mut runs = runs.chunk_by(|a, b| a.class == b.class).peekable();
    let union = |(number, class): (usize, &mut Class<'_>)| {
        let own = runs.next_if(|runs| runs[0].class as usize == number);
        let own = own.map(|runs| generation.add_set(tokens(trie, runs, words)));
        match own {
            Some(tokens) if class.found.is_empty() => tokens,
            _ => generation.unions.union(class.found.drain(..).chain(own)),
        }
    };
    classes.iter_mut().enumerate().map(union).collect()
}

/// The tokens of these runs.
fn tokens(trie: &Trie, runs: &[Run], words: usize) -> TokenSet {
    let ids = trie.ids();
    let count: u32 = runs.iter().map(|run| run.end - run.first).sum();
    // Nodes may lie below one another, so that runs overlap.
    if count as usize > ids.len() / 2 && runs.is_sorted_by(|a, b| a.end <= b.first) {
        let starts = runs.iter().map(|run| run.first).chain(std::iter::once(ids.len() as u32));
        let ends = std::iter::once(0).chain(runs.iter().map(|run| run.end));
        return TokenSet::from_all_but(
            trie.row(),
            ids,
            ends.zip(starts).map(|(end, start)| end..start),
            words,
        );
    }
    TokenSet::from_runs(ids, runs.iter().map(|run| run.first..run.end), words)
}
