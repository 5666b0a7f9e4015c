//! The table: the actions of each state before each terminal, and everything else that later layers
//! ask of it.
//!
//! Invariants: core 0 is the start; the actions of a cell are adjacent in one array sorted by core
//! and terminal, and in a conflict the shift is first; equal rows are stored once.

use super::closures::Closures;
use super::conflict::{ConflictError, Resolution};
use super::cycles::is_cyclic;
use super::draft::Draft;
use super::hidden::without_hidden_left_recursion;
use super::lookahead::LookAheads;
use super::lr0::Automaton;
use super::names::Names;
use super::node::Forks;
use super::report;
use super::requirements::Requirements;
use super::row_sets::RowSets;
use super::rules::{COMPLETE, Rules};
use super::states::{ParseStates, Return, returns};
use super::subsumed::drop_subsumed;
use super::tail::{Tail, tails};
use super::terminal_sets::{Gathered, TerminalSets, size, terminals};
use super::unions::Unions;
use crate::grammar::Grammar;
use crate::grammar::ir::{Conflicts, Symbol};
use crate::util::bitset::BitSet;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{CoreId, NonterminalId, ProductionId, TerminalId};
use crate::util::lists::Lists;
use crate::util::meter::{LimitReached, Meter};

/// An action before a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// Push the state.
    Shift(CoreId),
    /// Pop as many states as the production has symbols, then push the goto of its nonterminal.
    Reduce(ProductionId),
    /// The text is a sentence; only before `$`.
    Accept,
}

/// A way for a state to reduce. Productions of the same nonterminal and length have the same effect
/// on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reduction {
    /// The nonterminal whose goto is taken.
    pub(crate) lhs: NonterminalId,
    /// Number of states popped.
    pub(crate) length: usize,
    /// Number of the set of terminals (and `$`) before which the reduction is done; never empty.
    pub(super) lookaheads: u32,
}

/// Numbers of the terminal sets of a table under construction.
struct Numbers<'a> {
    lookaheads: &'a LookAheads,
    distinct: TerminalSets,
    gathered: Gathered,
    /// By number of the set in `lookaheads`.
    of_lookaheads: Vec<u32>,
    /// By terminal: the set of it alone.
    of_terminals: Vec<u32>,
}

/// No number assigned yet.
const UNKNOWN: u32 = u32::MAX;

impl<'a> Numbers<'a> {
    /// Creates an empty collection of sets of terminals below `bound`.
    fn new(lookaheads: &'a LookAheads, bound: usize) -> Self {
        Self {
            lookaheads,
            distinct: TerminalSets::new(),
            gathered: Gathered::new(bound),
            of_lookaheads: vec![UNKNOWN; lookaheads.set_count()],
            of_terminals: vec![UNKNOWN; bound],
        }
    }

    /// Returns the set of look-aheads of a reduction.
    fn of_reduction(&mut self, reduction: usize) -> u32 {
        let set = self.lookaheads.get(reduction);
        match self.lookaheads.number(reduction) {
            None => self.distinct.id(set),
            Some(number) => {
                let known = &mut self.of_lookaheads[number as usize];
                if *known == UNKNOWN {
                    *known = self.distinct.id(set);
                }
                *known
            }
        }
    }

    /// Returns the set of these terminals.
    fn of(&mut self, mut terminals: impl Iterator<Item = u32>) -> u32 {
        let Some(first) = terminals.next() else { return TerminalSets::EMPTY };
        let Some(second) = terminals.next() else {
            let known = &mut self.of_terminals[first as usize];
            if *known == UNKNOWN {
                self.gathered.insert(first);
                *known = self.distinct.id(self.gathered.take());
            }
            return *known;
        };
        [first, second].into_iter().chain(terminals).for_each(|one| self.gathered.insert(one));
        self.distinct.id(self.gathered.take())
    }

    fn union(&mut self, one: u32, other: u32) -> u32 {
        self.gathered.add(self.distinct.get(one));
        self.gathered.add(self.distinct.get(other));
        self.distinct.id(self.gathered.take())
    }
}

/// Upper bound on the number of cells for which room is reserved in advance.
const MOST_CELLS_AT_ONCE: usize = 1 << 20;

/// A cell is found, sorted and copied.
const STEPS_OF_A_CELL: usize = 4;

/// An LALR(1) table. It contains the conflicts that are to be followed.
#[derive(Debug)]
pub(crate) struct ParseTable {
    pub(super) rules: Rules,
    pub(super) names: Names,
    pub(super) automaton: Automaton,
    pub(super) predecessors: Lists<u32>,
    /// By state: the terminals of its cells, ascending, one entry per action.
    pub(super) cells: Lists<u32>,
    /// Parallel to the entries of `cells`.
    pub(super) actions: Vec<Action>,
    pub(super) sets: RowSets,
    /// By state: the numbers in `sets` of its row and its shifts.
    pub(super) rows: Vec<(u32, u32)>,
    pub(super) reductions: Lists<Reduction>,
    /// By state.
    pub(super) tails: Vec<Option<Tail>>,
    pub(super) requirements: Requirements,
    pub(super) closures: Closures,
    pub(super) forks: Forks,
    pub(super) unions: Unions,
    /// By core: the returns of its kernel items.
    pub(super) returns: Lists<Return>,
    pub(super) states: ParseStates,
    pub(super) settled: bool,
    /// The removed reductions, ascending: state, production, and the terminal after it.
    pub(super) barred: Vec<[u32; 3]>,
    /// Whether some core has several actions before one terminal, or reductions that may loop.
    pub(super) conflicting: bool,
    /// See [`ParseTable::tells_contexts_apart`].
    pub(super) by_context: bool,
    pub(super) warnings: Vec<Diagnostic>,
}

impl ParseTable {
    /// Builds the table.
    ///
    /// # Errors
    /// If the grammar has conflicts that precedence does not settle and asks to refuse them, or if
    /// the table would be too large.
    pub(crate) fn build(grammar: &Grammar, meter: &Meter) -> Result<Self, ConflictError> {
        let mut rules = Rules::new(grammar);
        let mut draft = Draft::new(grammar, &rules, meter)?;
        let mut names = Names::new(grammar, &rules);
        let mut warnings = draft.resolution.warnings(grammar, &names);
        if !draft.resolution.conflicts.is_empty() {
            if grammar.conflicts != Conflicts::Silent {
                let found = report::explain(
                    grammar,
                    &rules,
                    &draft.automaton,
                    &names,
                    &draft.resolution.conflicts,
                    meter,
                )?;
                if grammar.conflicts == Conflicts::Refuse {
                    return Err(ConflictError::conflicts(found));
                }
                warnings.extend(found);
            }
            if matches!(grammar.conflicts, Conflicts::Follow | Conflicts::Silent)
                && let Some(open) = without_hidden_left_recursion(&rules, meter)?
            {
                rules = open;
                // Frees the first draft before the second is built.
                drop(draft);
                draft = Draft::new(grammar, &rules, meter)?;
                names = Names::new(grammar, &rules);
            }
        }
        let Draft { automaton, mut lookaheads, mut resolution, mut held } = draft;
        drop_subsumed(&rules, &automaton, &mut lookaheads, &mut resolution, meter)?;
        let goes_round = resolution.settled && is_cyclic(&rules);
        let requirements = Requirements::new(grammar, &rules, &automaton);
        let mut table = Self {
            predecessors: automaton
                .predecessors(|state, symbol| resolution.keeps_shift(state, symbol)),
            tails: tails(&rules, &automaton),
            requirements,
            returns: returns(&rules, &automaton),
            closures: Closures::default(),
            forks: Forks::default(),
            unions: Unions::default(),
            states: ParseStates::default(),
            rules,
            names,
            automaton,
            cells: Lists::new(),
            actions: Vec::new(),
            sets: RowSets::new(TerminalSets::new(), 0),
            rows: Vec::new(),
            reductions: Lists::new(),
            settled: resolution.settled,
            barred: std::mem::take(&mut resolution.barred),
            conflicting: goes_round,
            by_context: false,
            warnings,
        };
        table.fill(&lookaheads, &resolution, meter)?;
        held.set(table.automaton.bytes())?;
        held.keep();
        Ok(table)
    }

    /// Turns edges and look-aheads into cells, rows and reductions.
    fn fill(
        &mut self,
        lookaheads: &LookAheads,
        resolution: &Resolution,
        meter: &Meter,
    ) -> Result<(), LimitReached> {
        let bound = self.rules.end() as usize + 1;
        let mut sets = Numbers::new(lookaheads, bound);
        let mut cells: Vec<(u32, Action)> = Vec::new();
        let mut reductions: Vec<Reduction> = Vec::new();
        let mut held = meter.holding();
        self.rows.reserve(self.automaton.state_count());
        // Growing lists are copied, so room is reserved; but all cells of a very large table might
        // exceed the limits.
        let reductions_of =
            (0..self.automaton.complete.entries().len()).map(|at| lookaheads.get(at));
        let cells_of =
            reductions_of.map(size).sum::<usize>() + self.automaton.edges.entries().len();
        let room = cells_of.min(MOST_CELLS_AT_ONCE);
        self.cells = Lists::with_capacity(self.automaton.state_count(), room);
        self.actions.reserve(room);
        for state in 0..self.automaton.state_count() {
            cells.clear();
            for edge in self.automaton.by_terminals(state) {
                if resolution.keeps_shift(state as u32, edge.symbol) {
                    cells.push((edge.symbol, Action::Shift(CoreId(edge.target))));
                }
            }
            let shifted = cells.len();
            let complete =
                self.automaton.complete.range(state).zip(self.automaton.complete.get(state));
            for (reduction, &production) in complete {
                let set = lookaheads.get(reduction);
                if set.is_empty() {
                    continue;
                }
                if production == self.rules.accept() {
                    cells.push((self.rules.end(), Action::Accept));
                    continue;
                }
                let action = Action::Reduce(ProductionId(production));
                cells.extend(terminals(set).map(|terminal| (terminal, action)));
                let (lhs, length) = self.production(ProductionId(production));
                let lookaheads = sets.of_reduction(reduction);
                let same = |other: &&mut Reduction| other.lhs == lhs && other.length == length;
                match reductions.iter_mut().find(same) {
                    Some(other) => other.lookaheads = sets.union(other.lookaheads, lookaheads),
                    None => reductions.push(Reduction { lhs, length, lookaheads }),
                }
            }
            if cells.len() > shifted {
                // Stable sort: shifts stay first.
                cells.sort_by_key(|&(terminal, _)| terminal);
                self.conflicting |= cells.windows(2).any(|two| two[0].0 == two[1].0);
            }
            for &(terminal, action) in &cells {
                self.cells.push(terminal);
                self.actions.push(action);
            }
            self.cells.close();
            let is_shift = |&&(_, action): &&(u32, Action)| !matches!(action, Action::Reduce(_));
            let shifts = sets.of(cells.iter().filter(is_shift).map(|&(terminal, _)| terminal));
            let row = match (shifts, &reductions[..]) {
                (_, []) => shifts,
                (TerminalSets::EMPTY, [only]) => only.lookaheads,
                _ => sets.of(cells.iter().map(|&(terminal, _)| terminal)),
            };
            self.rows.push((row, shifts));
            meter.step(STEPS_OF_A_CELL * cells.len())?;
            reductions.drain(..).for_each(|reduction| self.reductions.push(reduction));
            self.reductions.close();
            let of_cells = self.actions.capacity() * (size_of::<Action>() + size_of::<u32>());
            let of_reductions = size_of_val(self.reductions.entries());
            let sets = &sets.distinct;
            let of_sets = sets.bytes() + sets.len() * (bound.div_ceil(8) + size_of::<BitSet>());
            held.set(of_cells + of_reductions + of_sets)?;
        }
        self.sets = RowSets::new(sets.distinct, bound);
        held.keep();
        Ok(())
    }

    /// Returns the state of the empty stack.
    pub(crate) fn start(&self) -> CoreId {
        CoreId(0)
    }

    /// Returns the id of `$`, the end of the text: one past the grammar's terminals.
    pub(crate) fn end(&self) -> TerminalId {
        TerminalId(self.rules.end())
    }

    /// Returns the number of states; ids are dense.
    pub(crate) fn state_count(&self) -> usize {
        self.automaton.state_count()
    }

    /// Returns the actions of `state` before `terminal`: none (an error), one, or several in a
    /// conflict. Logarithmic in the row.
    #[inline]
    pub(crate) fn actions(&self, state: CoreId, terminal: TerminalId) -> &[Action] {
        let range = self.cells.range(state.index());
        let terminals = &self.cells.entries()[range.clone()];
        let from = terminals.partition_point(|&other| other < terminal.0);
        let count = terminals[from..].iter().take_while(|&&other| other == terminal.0).count();
        &self.actions[range.start + from..][..count]
    }

    /// Returns the terminals (and `$`) for which `state` has an action. Ids are below `end() + 1`.
    #[inline]
    pub(crate) fn row(&self, state: CoreId) -> &BitSet {
        self.sets.get(self.rows[state.index()].0)
    }

    /// Returns the terminals (and `$`) of the row of `state`, ascending.
    pub(crate) fn terminals_of_row(&self, state: CoreId) -> impl Iterator<Item = usize> + '_ {
        self.sets.terminals(self.rows[state.index()].0).map(|terminal| terminal as usize)
    }

    /// Returns the number of the row of `state`, below [`ParseTable::set_count`]. Equal rows have
    /// the same number.
    #[inline]
    pub(crate) fn row_number(&self, state: CoreId) -> usize {
        self.rows[state.index()].0 as usize
    }

    /// Returns the number of distinct sets of terminals among the rows and the shifts.
    pub(crate) fn set_count(&self) -> usize {
        self.sets.len()
    }

    /// Returns the terminals that `state` shifts, and `$` where it accepts.
    #[inline]
    pub(crate) fn shifts(&self, state: CoreId) -> &BitSet {
        self.sets.get(self.rows[state.index()].1)
    }

    /// Returns the distinct ways in which `state` reduces. Without conflicts their look-aheads are
    /// disjoint, and disjoint from the shifts.
    #[inline]
    pub(crate) fn reductions(&self, state: CoreId) -> &[Reduction] {
        self.reductions.get(state.index())
    }

    /// Returns the terminals (and `$`) before which a reduction of this table is done.
    #[inline]
    pub(crate) fn lookaheads(&self, reduction: &Reduction) -> &BitSet {
        self.sets.get(reduction.lookaheads)
    }

    /// Returns the target of the shift of `terminal` in `state`. Logarithmic in its shifts.
    #[inline]
    pub(super) fn shift(&self, state: CoreId, terminal: TerminalId) -> Option<CoreId> {
        // Often asked of states that do not shift it.
        if !self.shifts(state).contains(terminal.index()) {
            return None;
        }
        let edges = self.automaton.by_terminals(state.index());
        let at = edges.binary_search_by_key(&terminal.0, |edge| edge.symbol).ok()?;
        Some(CoreId(edges[at].target))
    }

    /// Returns the state pushed on `state` when a reduction to `nonterminal` has uncovered it.
    /// Logarithmic in the state's gotos.
    #[inline]
    pub(crate) fn goto(&self, state: CoreId, nonterminal: NonterminalId) -> Option<CoreId> {
        let edges = self.automaton.by_nonterminals(state.index());
        let symbol = self.rules.nonterminal_code(nonterminal.index());
        edges
            .binary_search_by_key(&symbol, |edge| edge.symbol)
            .ok()
            .map(|at| CoreId(edges[at].target))
    }

    /// Returns the nonterminal of a production and the number of its symbols.
    #[inline]
    pub(crate) fn production(&self, production: ProductionId) -> (NonterminalId, usize) {
        let lhs = NonterminalId::new(self.rules.lhs(production.0));
        (lhs, (self.rules.last(production.0) - self.rules.first(production.0)) as usize)
    }

    /// Returns the name of a terminal in messages: its text in quotes if it is a literal, else its
    /// name.
    pub(crate) fn terminal_name(&self, terminal: TerminalId) -> &str {
        self.names.symbol(terminal.0)
    }

    /// Returns the terminals before which `state` would reduce `production` if that had not been
    /// removed.
    pub(super) fn barred(
        &self,
        state: CoreId,
        production: u32,
    ) -> impl Iterator<Item = usize> + '_ {
        let from =
            self.barred.partition_point(|&[other, rule, _]| (other, rule) < (state.0, production));
        let same = self.barred[from..]
            .iter()
            .take_while(move |&&[other, rule, _]| (other, rule) == (state.0, production));
        same.map(|&[.., terminal]| terminal as usize)
    }

    /// Returns the symbol on the edges into `state`; `None` for the start.
    pub(crate) fn accessing(&self, state: CoreId) -> Option<Symbol> {
        let code = self.automaton.accessing[state.index()];
        (code != COMPLETE).then(|| match self.rules.nonterminal(code) {
            Some(nonterminal) => Symbol::Nonterminal(NonterminalId::new(nonterminal)),
            None => Symbol::Terminal(TerminalId(code)),
        })
    }

    /// Returns the states that may lie directly below `state` on a stack, ascending: the reversed
    /// edges of the LR(0) automaton, without the shifts that precedence removed.
    pub(crate) fn predecessors(&self, state: CoreId) -> impl Iterator<Item = CoreId> + '_ {
        self.predecessors.get(state.index()).iter().map(|&state| CoreId(state))
    }

    /// Returns the number of states that may lie directly below `state`.
    pub(super) fn count_below(&self, state: CoreId) -> usize {
        self.predecessors.range(state.index()).len()
    }

    /// Returns the index of `below` among these. Logarithmic in their number.
    #[inline]
    pub(super) fn place_below(&self, state: CoreId, below: CoreId) -> usize {
        let predecessors = self.predecessors.get(state.index());
        let place = predecessors.partition_point(|&other| other < below.0);
        debug_assert_eq!(
            predecessors.get(place),
            Some(&below.0),
            "a stack is a path of the automaton"
        );
        place
    }

    /// Returns the tail call of a state, if it is one.
    #[inline]
    pub(super) fn tail(&self, state: CoreId) -> Option<Tail> {
        self.tails[state.index()]
    }

    /// Distinguishes stacks with the same core on top by their contexts, where the terminals that
    /// each stack shifts matter, not only the union of these.
    pub(crate) fn tell_contexts_apart(&mut self) {
        self.by_context = true;
    }

    /// Returns whether nodes of a stack are distinguished by their contexts, not by their cores
    /// alone.
    #[inline]
    pub(crate) fn tells_contexts_apart(&self) -> bool {
        self.by_context
    }

    /// Returns whether the parser may have several actions before one terminal, or one that may
    /// lead back to the same stack.
    #[inline]
    pub(crate) fn has_conflicts(&self) -> bool {
        self.conflicting
    }

    /// Returns whether precedence or the order of rules removed an action. Then some viable stacks
    /// may have no completion.
    pub(crate) fn has_settled_conflicts(&self) -> bool {
        self.settled
    }

    /// Warnings for the grammar's author about a table that was built.
    pub(crate) fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
}
