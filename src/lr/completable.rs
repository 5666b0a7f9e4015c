//! Proves which stacks can be completed, whatever lies below their tops, by induction on their
//! height.
//!
//! A stack can be completed if some item of the state on top can be finished and the resulting
//! stack can be completed. Finishing `A → α · β` with two or more symbols in `α` makes the stack
//! lower; with one symbol its height stays the same. So all stacks can be completed if from each
//! state and each [`LexicalStateId`] there is an item whose rest can be read
//! ([`super::derivations`]) and which either makes the stack lower, for all states that may lie
//! below, or leads to states shown before. Assumptions that cannot be shown are dropped, and all
//! that was shown with their help is examined again, until nothing changes: the result is the
//! greatest set of states for which the induction holds.
//!
//! Reachable stacks are over-approximated by the paths of the LR(0) automaton, so a state outside
//! the set may still occur only on stacks that can be completed. Membership in the set is certain.
//!
//! (Rejected alternative: `pre*` of a pushdown system whose control holds the look-ahead,
//! Bouajjani, Esparza and Maler 1997. It is exact for these paths, but follows each look-ahead
//! through each reduction: for PostgreSQL's grammar it took 37 seconds, where the whole check now
//! takes 0.11 s.)

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::derivations::{Control, Derivations, LexicalStateId, Node, Outcomes, Succession};
use super::rules::Item;
use super::table::ParseTable;
use super::yields::Yields;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, NonterminalId, TerminalId};

/// State of the proof.
pub(crate) struct Completability<'a, S> {
    table: &'a ParseTable,
    succession: S,
    derivations: Derivations,
    yields: Yields,
    /// The cores that may occur on a stack.
    reached: BitSet,
    /// The best place, if there is one: then all reached cores are examined there.
    best: Option<LexicalStateId>,
    pairs: Vec<Pair>,
    numbers: HashMap<(CoreId, Control), usize, FxBuildHasher>,
    /// Whether some pair was found not to be in the set at the best place with nothing barred.
    best_failed: bool,
    /// By core: its items, the best first.
    items: Vec<Option<Box<[Item]>>>,
    targets: HashMap<(CoreId, u32, u32), Rc<[CoreId]>, FxBuildHasher>,
    descent: Descent,
    /// Remaining steps of the proof.
    left: usize,
}

/// A core on top of a stack, and the condition there.
struct Pair {
    core: CoreId,
    control: Control,
    /// The moves found so far.
    moves: SmallVec<[Move; 1]>,
    /// Number of items of the core that have been examined.
    looked_at: u32,
    /// Whether the pair is known not to be in the set.
    has_failed: bool,
    /// Whether it was shown, under the current assumptions.
    is_shown: bool,
    /// Pairs that may be shown if this one is, without duplicates: a pair that is woken examines
    /// all its moves again.
    waiting: HashSet<usize, FxBuildHasher>,
}

/// An item that can be finished.
#[derive(Clone, Copy)]
enum Move {
    /// Completes the text.
    Accept,
    /// Pops this many states and takes the goto of the nonterminal.
    Reduce { pops: u32, lhs: u32, control: Control },
}

impl<'a, S: Succession> Completability<'a, S> {
    /// Prepares the proof. Lexemes exist for the terminals accepted by `possible`. The proof takes
    /// at most `steps` steps; if these do not suffice, nothing is shown.
    pub(crate) fn new(
        table: &'a ParseTable,
        succession: S,
        best: Option<LexicalStateId>,
        possible: impl Fn(TerminalId) -> bool,
        steps: usize,
    ) -> Self {
        let reached = reached(table, possible);
        let mut proof = Self {
            table,
            succession,
            derivations: Derivations::new(table, false),
            yields: Yields::new(&table.rules),
            best,
            pairs: Vec::new(),
            numbers: HashMap::default(),
            best_failed: false,
            items: vec![None; table.state_count()],
            targets: HashMap::default(),
            descent: Descent { met: vec![0; table.state_count()], count: 0 },
            reached,
            left: steps,
        };
        if let Some(best) = best {
            let all: Vec<usize> = proof.reached.iter().collect();
            proof.pairs.reserve(all.len());
            proof.numbers.reserve(all.len());
            all.into_iter().for_each(|core| {
                proof.pair(CoreId::new(core), Control::at(best));
            });
        }
        proof
    }

    /// Returns the cores that may occur on a stack.
    pub(crate) fn reached(&self) -> impl Iterator<Item = CoreId> + use<S> {
        self.reached.iter().map(CoreId::new).collect::<Vec<_>>().into_iter()
    }

    /// Returns the rules by which lexemes may follow each other.
    pub(crate) fn succession(&mut self) -> &mut S {
        &mut self.succession
    }

    /// Returns for each of these cores and places whether all stacks with the core on top can be
    /// completed there.
    pub(crate) fn prove(&mut self, wanted: &[(CoreId, LexicalStateId)]) -> Vec<bool> {
        let wanted: Vec<usize> =
            wanted.iter().map(|&(core, place)| self.pair(core, Control::at(place))).collect();
        loop {
            let mut at = 0;
            // The loop may add more pairs.
            while at < self.pairs.len() {
                self.show(at);
                at += 1;
            }
            if self.left == 0 {
                return vec![false; wanted.len()];
            }
            let mut failed = false;
            for pair in &mut self.pairs {
                let fails = !pair.has_failed && !pair.is_shown;
                failed |= fails;
                pair.has_failed |= fails;
                self.best_failed |=
                    fails && !pair.control.is_barred() && Some(pair.control.place) == self.best;
            }
            if !failed {
                return wanted.into_iter().map(|pair| self.pairs[pair].is_shown).collect();
            }
            for pair in &mut self.pairs {
                pair.is_shown = false;
                pair.waiting.clear();
            }
        }
    }

    fn pair(&mut self, core: CoreId, control: Control) -> usize {
        let next = self.pairs.len();
        let number = *self.numbers.entry((core, control)).or_insert(next);
        if number == next {
            let (moves, waiting) = (SmallVec::new(), HashSet::default());
            self.pairs.push(Pair {
                core,
                control,
                moves,
                looked_at: 0,
                has_failed: false,
                is_shown: false,
                waiting,
            });
        }
        number
    }

    /// Returns the items of a core, the best first: those that make the stack lower come first,
    /// then by their shortest rests.
    fn items(&mut self, core: CoreId) -> &[Item] {
        if self.items[core.index()].is_none() {
            let mut items = self.table.automaton.kernels.get(core.index()).to_vec();
            items.sort_by_cached_key(|&item| (self.stays(item), self.yields.rest(item)));
            self.items[core.index()] = Some(items.into());
        }
        self.items[core.index()].as_deref().unwrap_or_default()
    }

    /// Returns whether finishing the item does not make the stack lower.
    fn stays(&self, item: Item) -> bool {
        let production = self.table.rules.production(item);
        production != self.table.rules.accept() && item - self.table.rules.first(production) <= 1
    }

    /// Looks for a move that shows the pair, then examines the pairs that wait for it.
    fn show(&mut self, pair: usize) {
        let mut pending = vec![pair];
        while let Some(pair) = pending.pop() {
            if !self.pairs[pair].has_failed && !self.pairs[pair].is_shown && self.finds_move(pair) {
                self.pairs[pair].is_shown = true;
                pending.extend(self.pairs[pair].waiting.drain());
            }
        }
    }

    fn finds_move(&mut self, pair: usize) -> bool {
        let mut at = 0;
        loop {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                return false;
            }
            while at == self.pairs[pair].moves.len() {
                let Pair { core, looked_at, .. } = self.pairs[pair];
                let Some(&item) = self.items(core).get(looked_at as usize) else { return false };
                self.pairs[pair].looked_at += 1;
                self.add_moves(pair, item);
            }
            let wanted = self.pairs[pair].moves[at];
            at += 1;
            if self.works(pair, wanted) {
                return true;
            }
        }
    }

    /// Adds the moves that finish an item.
    fn add_moves(&mut self, pair: usize, item: Item) {
        let Pair { core, control, .. } = self.pairs[pair];
        let rules = &self.table.rules;
        let production = rules.production(item);
        let asked = (Node(core.0), item, control.place);
        let (table, succession) = (self.table, &mut self.succession);
        let found = self.derivations.rest(table, succession, asked, control, &mut self.left);
        let Outcomes::Controls(controls) = found.outcomes else { return };
        let (pops, lhs) = (item - rules.first(production), rules.lhs(production) as u32);
        for control in controls {
            if production != rules.accept() {
                self.pairs[pair].moves.push(Move::Reduce { pops, lhs, control });
            } else if !self.derivations.bars(control, self.table.end())
                && self.succession.may_end(control.place)
            {
                self.pairs[pair].moves.push(Move::Accept);
            }
        }
    }

    /// Returns whether a move leads to pairs that are assumed, on a lower stack, or were shown.
    fn works(&mut self, pair: usize, wanted: Move) -> bool {
        let Move::Reduce { pops, lhs, control } = wanted else { return true };
        let is_lower = pops > 1;
        if is_lower && !control.is_barred() && Some(control.place) == self.best && !self.best_failed
        {
            return true;
        }
        let targets = self.targets(self.pairs[pair].core, pops, lhs);
        self.left = self.left.saturating_sub(targets.len() / TARGETS_OF_A_STEP);
        for &target in targets.iter() {
            let target = self.pair(target, control);
            let Pair { has_failed, is_shown, .. } = self.pairs[target];
            if has_failed {
                return false;
            }
            if !is_lower && !is_shown {
                self.pairs[target].waiting.insert(pair);
                return false;
            }
        }
        true
    }

    /// Returns the possible gotos of a nonterminal after this many states were popped from a stack
    /// with `core` on top.
    fn targets(&mut self, core: CoreId, pops: u32, lhs: u32) -> Rc<[CoreId]> {
        if let Some(known) = self.targets.get(&(core, pops, lhs)) {
            return known.clone();
        }
        let uncovered = self.descent.below(self.table, &self.reached, core, pops);
        let lhs_id = NonterminalId(lhs);
        let mut targets: Vec<CoreId> =
            uncovered.into_iter().filter_map(|below| self.table.goto(below, lhs_id)).collect();
        targets.sort_unstable();
        targets.dedup();
        let targets: Rc<[CoreId]> = targets.into();
        self.targets.insert((core, pops, lhs), targets.clone());
        targets
    }
}

/// Number of targets of a move examined in the time of one step of a derivation.
const TARGETS_OF_A_STEP: usize = 4;

/// Goes down from states to their predecessors.
struct Descent {
    /// By state: the level at which it was last reached.
    met: Vec<u32>,
    count: u32,
}

impl Descent {
    /// Returns the states that may lie `steps` below `core`.
    fn below(
        &mut self,
        table: &ParseTable,
        reached: &BitSet,
        core: CoreId,
        steps: u32,
    ) -> Vec<CoreId> {
        let mut level = vec![core];
        for _ in 0..steps {
            self.count += 1;
            let mut next = Vec::new();
            for below in level.iter().flat_map(|&state| table.predecessors(state)) {
                let fresh =
                    std::mem::replace(&mut self.met[below.index()], self.count) != self.count;
                if fresh && reached.contains(below.index()) {
                    next.push(below);
                }
            }
            level = next;
        }
        level
    }
}

/// Returns the states that may occur on a stack.
fn reached(table: &ParseTable, possible: impl Fn(TerminalId) -> bool) -> BitSet {
    let mut reached = BitSet::new(table.state_count());
    reached.insert(table.start().index());
    let mut pending = vec![table.start().index()];
    while let Some(state) = pending.pop() {
        for edge in table.automaton.edges.get(state) {
            let exists = table.rules.nonterminal(edge.symbol).is_some()
                || table.shifts(CoreId::new(state)).contains(edge.symbol as usize)
                    && possible(TerminalId(edge.symbol));
            if exists && reached.insert(edge.target as usize) {
                pending.push(edge.target as usize);
            }
        }
    }
    reached
}
