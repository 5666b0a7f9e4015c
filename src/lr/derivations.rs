//! Tabled derivations: how symbols can be read when lexemes restrict which lexemes may follow.
//!
//! From a state on top of a stack and a condition that holds between two lexemes (a
//! [`LexicalStateId`]), a nonterminal can be read in many ways. Only the possible conditions after
//! it matter, and there are finitely many. So they are computed once for each state, nonterminal
//! and condition, top down, each nonterminal waiting for its parts (Earley 1970 with a lexer's
//! conditions for positions; Tamaki and Sato 1986 call it tabling). Left recursion terminates
//! because each goal is started only once.
//!
//! Reductions ignore the look-ahead here: either the stack they lead to shifts the next terminal or
//! it does not, and the LALR(1) look-aheads only predict that. But if precedence or the order of
//! rules removed a reduction before some terminals, the next terminal must not be one of these:
//! this *barred* set is carried along with the place until a terminal is shifted.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::rules::{COMPLETE, Item, Rules};
use super::table::ParseTable;
use super::yields::Yields;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, NonterminalId, ParseStateId, TerminalId};
use crate::util::lists::Lists;

/// The condition between two lexemes, as far as it restricts the lexemes that may follow: a number
/// defined by the [`Succession`].
pub(crate) type LexicalStateId = u32;

/// The rules by which lexemes may follow each other.
pub(crate) trait Succession {
    /// Returns the results of a lexeme of `next` after `place`, by which the parser enters the
    /// state `onto`; empty if it cannot follow.
    fn after(
        &mut self,
        place: LexicalStateId,
        next: TerminalId,
        onto: Node,
    ) -> SmallVec<[After; 2]>;

    /// Returns the place after a production that began at `before`, once all brackets that it
    /// opened are closed.
    fn leave(&mut self, place: LexicalStateId, before: LexicalStateId) -> LexicalStateId;

    /// Returns the place where a production began, as far as [`Succession::leave`] needs it: this
    /// many brackets were open.
    fn outside(&mut self, place: LexicalStateId, brackets: u32) -> LexicalStateId;

    /// Returns whether the terminal opens a bracket (1), closes one (-1), or neither.
    fn bracket(&self, terminal: TerminalId) -> i32;

    /// Returns whether the text may end.
    fn may_end(&mut self, place: LexicalStateId) -> bool;

    /// Returns whether no place is better: every lexeme that may follow at any place may follow
    /// here.
    fn is_best(&self, place: LexicalStateId) -> bool;

    /// Returns whether every text that may follow `other` may also follow `place`.
    fn covers(&self, place: LexicalStateId, other: LexicalStateId) -> bool;

    /// Returns the steps that these methods have taken since the last call, apart from one for each
    /// [`Succession::after`]; the greatest possible number once their answers are incomplete.
    fn take_spent(&mut self) -> usize {
        0
    }
}

/// A result of reading a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The text can be completed, whatever stack lies below.
    Settled,
    State(LexicalStateId),
}

/// A state on a stack: a core, or a parse state if derivations depend on contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node(pub(crate) u32);

/// The condition between two terminals: a place, and the number of the set of terminals barred as
/// the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Control {
    pub(crate) place: LexicalStateId,
    barred: u32,
}

impl Control {
    /// Creates the condition at `place` with nothing barred.
    pub(crate) fn at(place: LexicalStateId) -> Self {
        Self { place, barred: 0 }
    }

    /// Returns the same barred set at the place 0, as a key.
    pub(super) fn bars_only(self) -> Self {
        Self { place: 0, ..self }
    }

    /// Returns whether something is barred.
    pub(super) fn is_barred(self) -> bool {
        self.barred != 0
    }
}

/// A query: the ways to read the rest of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Goal {
    node: Node,
    wanted: Wanted,
    control: Control,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    Nonterminal(u32),
    /// The symbols after the dot of an item whose production began at this place.
    Rest(Item, LexicalStateId),
}

/// The results of a goal.
#[derive(Clone, Debug)]
pub(crate) enum Outcomes {
    /// The text can be completed on the way, whatever stack lies below.
    Settled,
    /// The possible conditions after it.
    Controls(Controls),
}

/// Distinct conditions.
type Controls = SmallVec<[Control; 2]>;

/// The known results of a goal.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) outcomes: Outcomes,
    /// Whether there are no others. Results found before the steps ran out are certain; only their
    /// completeness is not.
    pub(super) are_all: bool,
}

/// Cache of derivations.
#[derive(Debug)]
pub(crate) struct Derivations {
    /// Whether nodes are parse states, not cores.
    in_context: bool,
    known: HashMap<Goal, Outcomes, FxBuildHasher>,
    /// The goals that took too many steps, with the number of steps that did not suffice.
    given_up: HashMap<Goal, usize, FxBuildHasher>,
    /// Results of unfinished goals, on which work stopped because it had led far enough or the
    /// steps ran out. They are used first when work on the goal resumes. So a result that has once
    /// shown that a text can be completed shows it again in few steps, also one lexeme further on;
    /// otherwise the verdict could be yes here, and be given up there.
    begun: HashMap<Goal, Controls, FxBuildHasher>,
    /// The sets of barred terminals; the first is empty.
    barred: Vec<BitSet>,
    numbers: HashMap<BitSet, u32, FxBuildHasher>,
    /// By nonterminal: the productions considered, those with the shortest texts first.
    productions: Lists<u32>,
    /// By item: the length of the shortest text of the symbols after the dot.
    lengths: Vec<u32>,
}

/// Work on goals that are not finished.
struct Work {
    goals: Vec<Begun>,
    numbers: HashMap<Goal, u32, FxBuildHasher>,
    tasks: Vec<Task>,
}

/// An unfinished goal.
struct Begun {
    goal: Goal,
    outcomes: Controls,
    is_settled: bool,
    /// Whether no more results are needed.
    is_done: bool,
    waiting: Vec<Partial>,
}

/// A production read up to a dot.
#[derive(Clone, Copy)]
struct Partial {
    goal: u32,
    item: Item,
    node: Node,
    control: Control,
}

enum Task {
    GoOn(Partial),
    /// Begins the production of a goal with this index among those of its nonterminal.
    Begin {
        goal: u32,
        production: u32,
    },
}

impl Derivations {
    /// Creates an empty cache.
    pub(crate) fn new(table: &ParseTable, in_context: bool) -> Self {
        Self::with_productions(table, in_context, |_, _| true)
    }

    /// Creates derivations that use only the productions with the shortest texts. There are few,
    /// and if they complete a stack, it can be completed.
    pub(crate) fn shortest(table: &ParseTable, in_context: bool) -> Self {
        Self::with_productions(table, in_context, |length, shortest| length == shortest)
    }

    /// Creates derivations by the productions selected by `is_wanted`, from the length of the
    /// shortest text of the production and of its nonterminal.
    fn with_productions(
        table: &ParseTable,
        in_context: bool,
        is_wanted: impl Fn(u64, u64) -> bool,
    ) -> Self {
        let yields = Yields::new(&table.rules);
        let rules = &table.rules;
        let mut productions = Lists::new();
        for nonterminal in 0..=rules.nonterminal_count() {
            let length = |&production: &u32| yields.rest(rules.first(production));
            let mut own = rules.productions_of(nonterminal).to_vec();
            own.sort_by_key(length);
            let shortest = own.first().map_or(0, length);
            own.retain(|production| is_wanted(length(production), shortest));
            own.into_iter().for_each(|production| productions.push(production));
            productions.close();
        }
        let (known, numbers) = (HashMap::default(), HashMap::default());
        let length = |item| u32::try_from(yields.rest(item)).unwrap_or(u32::MAX);
        let lengths = (0..rules.item_count() as Item).map(length).collect();
        Self {
            in_context,
            known,
            given_up: HashMap::default(),
            begun: HashMap::default(),
            barred: vec![BitSet::default()],
            numbers,
            productions,
            lengths,
        }
    }

    /// Returns whether nodes are parse states, not cores.
    pub(crate) fn in_context(&self) -> bool {
        self.in_context
    }

    /// Returns the length of the shortest text of the symbols after an item's dot.
    pub(super) fn length_behind(&self, item: Item) -> u32 {
        self.lengths[item as usize]
    }

    /// Returns the number of goals with known results.
    pub(crate) fn len(&self) -> usize {
        self.known.len() + self.begun.len()
    }

    /// Returns the core of a node.
    pub(super) fn core(&self, table: &ParseTable, node: Node) -> CoreId {
        if self.in_context { table.core_of(ParseStateId(node.0)) } else { CoreId(node.0) }
    }

    /// Returns the node of `core` on top of `below`.
    fn over(&self, table: &ParseTable, below: Node, core: CoreId) -> Node {
        if self.in_context {
            Node(table.enter(ParseStateId(below.0), core).0)
        } else {
            Node(core.0)
        }
    }

    /// Returns the node above `node` after a goto by a nonterminal.
    pub(super) fn goto(&self, table: &ParseTable, node: Node, lhs: NonterminalId) -> Option<Node> {
        table.goto(self.core(table, node), lhs).map(|core| self.over(table, node, core))
    }

    /// Returns whether `terminal` is barred.
    pub(super) fn bars(&self, control: Control, terminal: TerminalId) -> bool {
        control.is_barred() && self.barred[control.barred as usize].contains(terminal.index())
    }

    /// `control`, also barring the terminals before which the reduction of `production` in `core`
    /// was removed.
    fn bar(
        &mut self,
        table: &ParseTable,
        control: Control,
        core: CoreId,
        production: u32,
    ) -> Control {
        let mut more = table.barred(core, production).peekable();
        if more.peek().is_none() {
            return control;
        }
        let mut barred = BitSet::new(table.end().index() + 1);
        barred.union_with(&self.barred[control.barred as usize]);
        more.for_each(|terminal| {
            barred.insert(terminal);
        });
        let next = self.barred.len() as u32;
        let number = *self.numbers.entry(barred.clone()).or_insert(next);
        if number == next {
            self.barred.push(barred);
        }
        Control { barred: number, ..control }
    }

    /// Finds the possible conditions after the rest of `item`, which is in the kernel of `node` and
    /// whose production began at the place `begun`; the reduction at its end is included. Costs at
    /// most `budget` steps, and subtracts the steps taken.
    pub(super) fn rest(
        &mut self,
        table: &ParseTable,
        succession: &mut impl Succession,
        (node, item, begun): (Node, Item, LexicalStateId),
        control: Control,
        budget: &mut usize,
    ) -> Results {
        if table.rules.next(item) == COMPLETE {
            let core = self.core(table, node);
            let control = self.bar(table, control, core, table.rules.production(item));
            let outcomes = Outcomes::Controls(Controls::from_iter([control]));
            return Results { outcomes, are_all: true };
        }
        let wanted = Wanted::Rest(item, begun);
        self.find(table, succession, Goal { node, wanted, control }, budget)
    }

    fn find(
        &mut self,
        table: &ParseTable,
        succession: &mut impl Succession,
        goal: Goal,
        budget: &mut usize,
    ) -> Results {
        if let Some(known) = self.known.get(&goal) {
            return Results { outcomes: known.clone(), are_all: true };
        }
        if self.given_up.get(&goal).is_some_and(|&tried| *budget <= tried) {
            let found = self.begun.get(&goal).cloned().unwrap_or_default();
            return Results { outcomes: Outcomes::Controls(found), are_all: false };
        }
        let mut work = Work { goals: Vec::new(), numbers: HashMap::default(), tasks: Vec::new() };
        work.begin(goal, &self.begun);
        let limit = *budget;
        let mut are_all = true;
        while let Some(task) = work.tasks.pop().filter(|_| !work.goals[0].is_done) {
            if *budget == 0 {
                self.given_up.insert(goal, limit);
                are_all = false;
                break;
            }
            match task {
                Task::GoOn(partial) => self.go_on(table, succession, &mut work, partial),
                Task::Begin { goal, production } => {
                    self.begin_production(table, &mut work, goal, production);
                }
            }
            *budget = budget.saturating_sub(succession.take_spent().saturating_add(1));
        }
        are_all &= *budget > 0;
        let outcomes = work.goals[0].outcomes();
        self.keep(work, are_all);
        Results { outcomes, are_all }
    }

    /// Stores the results. `is_over`: all work is done, or as much as was needed.
    fn keep(&mut self, work: Work, is_over: bool) {
        let is_whole = is_over && !work.goals[0].is_done;
        for begun in work.goals {
            if is_whole || begun.is_done {
                self.begun.remove(&begun.goal);
                self.known.insert(begun.goal, begun.outcomes());
            } else if !begun.outcomes.is_empty() {
                self.begun.insert(begun.goal, begun.outcomes);
            }
        }
    }

    /// Begins a production of a goal's nonterminal, and schedules the next one.
    fn begin_production(&self, table: &ParseTable, work: &mut Work, goal: u32, place: u32) {
        let Begun { goal: Goal { node, wanted, control }, is_done, .. } = work.goals[goal as usize];
        let Wanted::Nonterminal(nonterminal) = wanted else { return };
        let Some(&production) = self.productions.get(nonterminal as usize).get(place as usize)
        else {
            return;
        };
        if is_done {
            return;
        }
        work.tasks.push(Task::Begin { goal, production: place + 1 });
        let item = table.rules.first(production);
        work.tasks.push(Task::GoOn(Partial { goal, item, node, control }));
    }

    fn go_on(
        &mut self,
        table: &ParseTable,
        succession: &mut impl Succession,
        work: &mut Work,
        partial: Partial,
    ) {
        let Partial { goal, item, node, control } = partial;
        if work.goals[goal as usize].is_done {
            return;
        }
        let rules = &table.rules;
        let code = rules.next(item);
        if code == COMPLETE {
            let core = self.core(table, node);
            let control = self.bar(table, control, core, rules.production(item));
            return self.reach(table, succession, work, goal, control);
        }
        if let Some(nonterminal) = rules.nonterminal(code) {
            let wanted = Goal { node, wanted: Wanted::Nonterminal(nonterminal as u32), control };
            match self.known.get(&wanted) {
                Some(Outcomes::Settled) => work.settle(goal),
                Some(Outcomes::Controls(controls)) => {
                    for &control in controls {
                        self.pass(table, work, partial, control);
                    }
                }
                None => {
                    let wanted = work.begin(wanted, &self.begun);
                    let begun = &mut work.goals[wanted as usize];
                    if begun.is_settled {
                        return work.settle(goal);
                    }
                    begun.waiting.push(partial);
                    for control in begun.outcomes.clone() {
                        self.pass(table, work, partial, control);
                    }
                }
            }
            return;
        }
        let terminal = TerminalId(code);
        if self.bars(control, terminal) {
            return;
        }
        let Some(core) = table.shift(self.core(table, node), terminal) else { return };
        let onto = self.over(table, node, core);
        let closes =
            succession.bracket(terminal) < 0 && open_brackets(rules, item + 1, succession) == 0;
        for after in succession.after(control.place, terminal, onto) {
            match after {
                After::Settled => return work.settle(goal),
                After::State(mut place) => {
                    if closes {
                        place = succession.leave(place, work.goals[goal as usize].goal.begun());
                    }
                    let control = Control::at(place);
                    work.tasks.push(Task::GoOn(Partial {
                        goal,
                        item: item + 1,
                        node: onto,
                        control,
                    }));
                }
            }
        }
    }

    /// Continues after a nonterminal with a condition that holds there.
    fn pass(&self, table: &ParseTable, work: &mut Work, partial: Partial, control: Control) {
        let Some(nonterminal) = table.rules.nonterminal(table.rules.next(partial.item)) else {
            return;
        };
        let Some(node) = self.goto(table, partial.node, NonterminalId::new(nonterminal)) else {
            return;
        };
        work.tasks.push(Task::GoOn(Partial { item: partial.item + 1, node, control, ..partial }));
    }

    /// Adds a result to a goal, and passes it to those that wait for it.
    fn reach(
        &self,
        table: &ParseTable,
        succession: &impl Succession,
        work: &mut Work,
        goal: u32,
        control: Control,
    ) {
        let begun = &mut work.goals[goal as usize];
        let covers = |known: &Control, new: Control| {
            (known.barred == new.barred || known.barred == 0)
                && succession.covers(known.place, new.place)
        };
        if begun.outcomes.iter().any(|known| covers(known, control)) {
            return;
        }
        begun.outcomes.push(control);
        begun.is_done = !control.is_barred() && succession.is_best(control.place);
        for at in 0..work.goals[goal as usize].waiting.len() {
            let partial = work.goals[goal as usize].waiting[at];
            self.pass(table, work, partial, control);
        }
    }
}

/// Returns the number of brackets opened before the dot and still open there.
pub(super) fn open_brackets(rules: &Rules, item: Item, succession: &impl Succession) -> u32 {
    let first = rules.first(rules.production(item));
    let read = (first..item)
        .map(|item| rules.next(item))
        .filter(|&code| rules.nonterminal(code).is_none());
    u32::try_from(read.map(|code| succession.bracket(TerminalId(code))).sum::<i32>()).unwrap_or(0)
}

impl Goal {
    /// Returns the place where the production of this goal began.
    fn begun(&self) -> LexicalStateId {
        match self.wanted {
            Wanted::Nonterminal(_) => self.control.place,
            Wanted::Rest(_, begun) => begun,
        }
    }
}

impl Begun {
    fn outcomes(&self) -> Outcomes {
        if self.is_settled { Outcomes::Settled } else { Outcomes::Controls(self.outcomes.clone()) }
    }
}

impl Work {
    /// Returns the number of a goal, starting it if it is new, with the results in `begun`.
    fn begin(&mut self, goal: Goal, begun: &HashMap<Goal, Controls, FxBuildHasher>) -> u32 {
        let next = self.goals.len() as u32;
        let number = *self.numbers.entry(goal).or_insert(next);
        if number == next {
            let outcomes = begun.get(&goal).cloned().unwrap_or_default();
            let waiting = Vec::new();
            self.goals.push(Begun { goal, outcomes, is_settled: false, is_done: false, waiting });
            let Goal { node, wanted, control } = goal;
            self.tasks.push(match wanted {
                Wanted::Nonterminal(_) => Task::Begin { goal: number, production: 0 },
                Wanted::Rest(item, _) => Task::GoOn(Partial { goal: number, item, node, control }),
            });
        }
        number
    }

    /// Marks a goal as settled, and so all that wait for it: the text can be completed on the way
    /// to each.
    fn settle(&mut self, goal: u32) {
        let mut pending = vec![goal];
        while let Some(goal) = pending.pop() {
            let begun = &mut self.goals[goal as usize];
            if !std::mem::replace(&mut begun.is_settled, true) {
                begun.is_done = true;
                pending.extend(begun.waiting.iter().map(|partial| partial.goal));
            }
        }
    }
}
