//! What symbols can be read as, when lexemes have a say in what follows what: tabled derivations.
//!
//! From a state on top of a stack, and from what holds there between two lexemes (a [`Place`]), a
//! nonterminal can be read in many ways. What matters of them is what holds behind: finitely much.
//! So it is worked out once for each state, nonterminal and place, top down, each nonterminal
//! waiting for those that it is made of (Earley 1970 with a lexer's places for positions; Tamaki
//! and Sato 1986 call it tabling). Left recursion comes to an end because a question is put only
//! once.
//!
//! Reductions look at nothing here: whatever they lead to shifts the next terminal or it does not,
//! and the LALR(1) look-aheads only tell that beforehand. But where precedence or the order of
//! rules took a reduction away, the next terminal must not be one of those before which it was:
//! what is *barred* goes along with the place until a terminal is shifted.

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::rules::{COMPLETE, Item, Rules};
use super::table::ParseTable;
use super::yields::Yields;
use crate::util::bitset::BitSet;
use crate::util::id::{CoreId, NonterminalId, ParseStateId, TerminalId};
use crate::util::lists::Lists;

/// What holds between two lexemes, as far as it matters to what may follow: a number of the
/// [`Succession`].
pub(crate) type Place = u32;

/// What is known of lexemes: which may follow which.
pub(crate) trait Succession {
    /// What a lexeme of `next` behind `place` leads to, when the parser goes to the state `onto` by
    /// it: nothing where it cannot follow.
    fn after(&mut self, place: Place, next: TerminalId, onto: Node) -> SmallVec<[After; 2]>;

    /// What holds behind a production that was begun where `before` held, once all brackets that it
    /// opened are closed.
    fn leave(&mut self, place: Place, before: Place) -> Place;

    /// What held where a production was begun, as far as [`Succession::leave`] wants to know: so
    /// many brackets were open.
    fn outside(&mut self, place: Place, brackets: u32) -> Place;

    /// Whether the terminal opens a bracket (1), closes one (-1), or neither.
    fn bracket(&self, terminal: TerminalId) -> i32;

    /// Whether the text may end.
    fn may_end(&mut self, place: Place) -> bool;

    /// Whether nothing could be better than to be here: whatever may follow anywhere may follow.
    fn is_best(&self, place: Place) -> bool;

    /// Whether all that may follow `other` may follow `place`.
    fn covers(&self, place: Place, other: Place) -> bool;

    /// The steps that these answers have taken since this was last asked, beside one for each
    /// [`Succession::after`]; as many as there can be where the answers are no longer all.
    fn take_spent(&mut self) -> usize {
        0
    }
}

/// What a lexeme leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The text can be completed, whatever lies on the stack.
    Settled,
    Place(Place),
}

/// A state on a stack: a core, or a parse state where derivations are told apart by contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Node(pub(crate) u32);

/// What holds between two terminals: a place, and the number of a set of terminals that must not
/// come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Control {
    pub(crate) place: Place,
    barred: u32,
}

impl Control {
    /// Nothing is barred.
    pub(crate) fn at(place: Place) -> Self {
        Self { place, barred: 0 }
    }

    /// The same at the place 0: what is barred, wherever.
    pub(super) fn bars_only(self) -> Self {
        Self { place: 0, ..self }
    }

    /// Whether something is barred.
    pub(super) fn is_barred(self) -> bool {
        self.barred != 0
    }
}

/// What was asked: how the rest of an item can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Goal {
    node: Node,
    wanted: Wanted,
    control: Control,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    Nonterminal(u32),
    /// What is behind the dot of an item whose production was begun at this place.
    Rest(Item, Place),
}

/// How a goal can be reached.
#[derive(Clone, Debug)]
pub(crate) enum Outcomes {
    /// The text can be completed on the way, whatever lies below.
    Settled,
    /// What may hold behind it.
    Controls(Controls),
}

/// What may hold, each of them once.
type Controls = SmallVec<[Control; 2]>;

/// What was found out of a goal.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) outcomes: Outcomes,
    /// Whether there are no others. Whatever was found before the steps ran out is as certain: only
    /// that there is nothing else is not.
    pub(super) are_all: bool,
}

/// The derivations that have been worked out.
#[derive(Debug)]
pub(crate) struct Derivations {
    /// Whether nodes are parse states, not cores.
    in_context: bool,
    known: HashMap<Goal, Outcomes, FxBuildHasher>,
    /// The goals that were too much work, with the steps that did not suffice.
    given_up: HashMap<Goal, usize, FxBuildHasher>,
    /// What was found of goals on which work was left off, when it had led far enough or the steps
    /// ran out. It comes first when they are worked on again. So what has shown once that a text
    /// can be completed shows it again in few steps, also one lexeme further on; else a verdict
    /// could be a yes here, and be given up there.
    begun: HashMap<Goal, Controls, FxBuildHasher>,
    /// Sets of terminals that are barred; the first is empty.
    barred: Vec<BitSet>,
    numbers: HashMap<BitSet, u32, FxBuildHasher>,
    /// By nonterminal: the productions that are looked at, those with the shortest texts first.
    productions: Lists<u32>,
    /// By item: the length of the shortest text of what is behind the dot.
    lengths: Vec<u32>,
}

/// Work on goals that are not known yet.
struct Work {
    goals: Vec<Begun>,
    numbers: HashMap<Goal, u32, FxBuildHasher>,
    tasks: Vec<Task>,
}

/// A goal that is being worked on.
struct Begun {
    goal: Goal,
    outcomes: Controls,
    is_settled: bool,
    /// Whether nothing more is wanted of it.
    is_done: bool,
    waiting: Vec<Partial>,
}

/// A production that has been read up to a dot.
#[derive(Clone, Copy)]
struct Partial {
    goal: u32,
    item: Item,
    node: Node,
    control: Control,
}

enum Task {
    GoOn(Partial),
    /// Begin with the production of a goal that has this place among those of its nonterminal.
    Begin {
        goal: u32,
        production: u32,
    },
}

impl Derivations {
    /// None are known yet.
    pub(crate) fn new(table: &ParseTable, in_context: bool) -> Self {
        Self::with_productions(table, in_context, |_, _| true)
    }

    /// Derivations by the productions with the shortest texts alone. They are few, and whatever
    /// they complete can be completed.
    pub(crate) fn shortest(table: &ParseTable, in_context: bool) -> Self {
        Self::with_productions(table, in_context, |length, shortest| length == shortest)
    }

    /// Derivations by the productions that are wanted, given the length of their shortest texts,
    /// and the least of these for the nonterminal.
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

    /// Whether nodes are parse states, not cores.
    pub(crate) fn in_context(&self) -> bool {
        self.in_context
    }

    /// The length of the shortest text of what is behind an item's dot.
    pub(super) fn length_behind(&self, item: Item) -> u32 {
        self.lengths[item as usize]
    }

    /// How much is known.
    pub(crate) fn len(&self) -> usize {
        self.known.len() + self.begun.len()
    }

    /// The core of a node.
    pub(super) fn core(&self, table: &ParseTable, node: Node) -> CoreId {
        if self.in_context { table.core_of(ParseStateId(node.0)) } else { CoreId(node.0) }
    }

    /// The node of `core` on top of `below`.
    fn over(&self, table: &ParseTable, below: Node, core: CoreId) -> Node {
        if self.in_context {
            Node(table.enter(ParseStateId(below.0), core).0)
        } else {
            Node(core.0)
        }
    }

    /// The node above `node` that a nonterminal leads to.
    pub(super) fn goto(&self, table: &ParseTable, node: Node, lhs: NonterminalId) -> Option<Node> {
        table.goto(self.core(table, node), lhs).map(|core| self.over(table, node, core))
    }

    /// Whether `terminal` is barred.
    pub(super) fn bars(&self, control: Control, terminal: TerminalId) -> bool {
        control.is_barred() && self.barred[control.barred as usize].contains(terminal.index())
    }

    /// `control`, and what was taken away where `core` ends `production` is barred.
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

    /// What may hold behind what is left of `item`, which `node` has in its kernel and which was
    /// begun at the place `begun`; its end is behind it. Costs at most as many steps as are left in
    /// `budget`, and takes them off.
    pub(super) fn rest(
        &mut self,
        table: &ParseTable,
        succession: &mut impl Succession,
        (node, item, begun): (Node, Item, Place),
        control: Control,
        budget: &mut usize,
    ) -> Found {
        if table.rules.next(item) == COMPLETE {
            let core = self.core(table, node);
            let control = self.bar(table, control, core, table.rules.production(item));
            let outcomes = Outcomes::Controls(Controls::from_iter([control]));
            return Found { outcomes, are_all: true };
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
    ) -> Found {
        if let Some(known) = self.known.get(&goal) {
            return Found { outcomes: known.clone(), are_all: true };
        }
        if self.given_up.get(&goal).is_some_and(|&tried| *budget <= tried) {
            let found = self.begun.get(&goal).cloned().unwrap_or_default();
            return Found { outcomes: Outcomes::Controls(found), are_all: false };
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
        Found { outcomes, are_all }
    }

    /// Keeps what was found. `is_over`: all was done that was begun, or as much as was wanted.
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

    /// Begins with a production of a goal's nonterminal; the others are begun with later.
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
                After::Place(mut place) => {
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

    /// Goes on behind a nonterminal with what holds there.
    fn pass(&self, table: &ParseTable, work: &mut Work, partial: Partial, control: Control) {
        let Some(nonterminal) = table.rules.nonterminal(table.rules.next(partial.item)) else {
            return;
        };
        let Some(node) = self.goto(table, partial.node, NonterminalId::new(nonterminal)) else {
            return;
        };
        work.tasks.push(Task::GoOn(Partial { item: partial.item + 1, node, control, ..partial }));
    }

    /// A goal has been reached in this way.
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

/// How many brackets that were opened before the dot are not closed there.
pub(super) fn open_brackets(rules: &Rules, item: Item, succession: &impl Succession) -> u32 {
    let first = rules.first(rules.production(item));
    let read = (first..item)
        .map(|item| rules.next(item))
        .filter(|&code| rules.nonterminal(code).is_none());
    u32::try_from(read.map(|code| succession.bracket(TerminalId(code))).sum::<i32>()).unwrap_or(0)
}

impl Goal {
    /// What held where the production in question was begun.
    fn begun(&self) -> Place {
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
    /// The number of a goal, which is begun with where it is new: with what is known of it since
    /// it was `begun` before.
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

    /// The text can be completed on the way to a goal, so also on the way to those that wait for
    /// it.
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
