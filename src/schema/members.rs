//! Productions of objects.
//!
//! With keys in any order, a state determines which named keys may still come. For objects with
//! many names there are too many such sets. Then names are *free* if nothing depends on them: a
//! member under a free name leaves the residuals unchanged ([`Machine::sort_names`]). Free names
//! are not tracked, so such a key may be repeated; whichever member a reader keeps, the value
//! satisfies the schema. Free names that are required are *owed*: the grammar has a [`Requirement`]
//! for them.
//!
//! States are left-recursive, `state -> previous-state lexemes`, so the parser's stack does not
//! grow. If names are owed they are right-recursive, `state -> lexemes next-state`: then all
//! members are on the stack when the object ends.
//!
//! [`Machine::sort_names`]: super::machine::Machine::sort_names

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::grammar::ir::Symbol;
use crate::grammar::requirement::Requirement;
use crate::schema::build::{Builder, Start, nth};
use crate::schema::error::SchemaError;
use crate::schema::formula::FormulaId;
use crate::schema::object::SortedNames;
use crate::schema::options::KeyOrder;
use crate::schema::states::{Frame, Key, Step, Tuple, TupleId};
use crate::util::diagnostic::Diagnostic;
use crate::util::id::NonterminalId;

use FormulaId as F;

/// Named keys that may still come, in addition to the free ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Left {
    /// The keys from this position on, in their order.
    From(u32),
    /// The keys at these positions, in any order.
    Among(Rc<[u32]>),
}

impl Left {
    fn has(&self, position: u32) -> bool {
        match self {
            Self::From(first) => position >= *first,
            Self::Among(positions) => positions.contains(&position),
        }
    }
}

/// Maximum number of names that are all tracked; with more, only the names that are not free are.
const MOST_TRACKED: usize = 6;
/// Maximum number of names in a declared order; with more, the free ones are in any order: each
/// state would have to store all keys that may still come.
const MOST_ORDERED: usize = 200;
/// Maximum number of names in any order; more have too many sets.
const MOST_UNORDERED: usize = 10;
/// Maximum number of owed names: their members on the stack are read repeatedly.
pub(super) const MOST_OWED: usize = 1_000;
/// Number of productions from which on sets of names are too expensive.
const MOST_PRODUCTIONS: usize = 10_000;

/// Position of a state between lexemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// A key is next.
    Key,
    /// A named key is next: some were passed over.
    NamedKey,
    /// A comma or the end is next.
    Member,
}

/// Intermediate state of an object.
type State = (Left, TupleId, Phase);

/// An object whose productions are being made.
struct Object {
    /// First of the nonterminals of its outcomes.
    composite: NonterminalId,
    frame: u32,
    /// The names that are tracked; positions are indices into this list.
    names: Rc<[u32]>,
    /// By position: whether the productions enforce a required name, in place of a formula.
    due: Vec<bool>,
    /// Members under free names that are not required.
    free: Option<Symbol>,
    /// Position of a name, and members under it, which may be repeated.
    renewed: Option<(u32, Symbol)>,
    /// Members under each of the required free names.
    owed: Vec<NonterminalId>,
    /// Number of outcomes.
    outcomes: usize,
    /// Nonterminals of states; if names are owed, the first of one for each outcome.
    known: FxHashMap<State, NonterminalId>,
    pending: Vec<State>,
    /// Lexemes of the tracked keys and of the classes of other keys.
    keys: Vec<Symbol>,
    others: Vec<Symbol>,
    /// Members by key and value, if many states share them.
    members: FxHashMap<(Symbol, Symbol), NonterminalId>,
    ends: FxHashMap<(Left, TupleId), Rc<Tuple>>,
    /// Positions by name, and, by residuals that allow no other names, the positions of the names
    /// that they mention.
    positions: FxHashMap<u32, u32>,
    spoken_of: FxHashMap<TupleId, Option<Rc<[u32]>>>,
}

impl Object {
    /// Returns the number of leading names of the frame that cannot come any more, given
    /// `position`.
    fn passed(&self, position: u32) -> u32 {
        // Free names may always come.
        if self.free.is_some() || !self.owed.is_empty() { 0 } else { position }
    }
}

impl Builder<'_, '_> {
    /// Adds the productions for all outcomes of the objects that begin with `start`.
    pub(super) fn object(&mut self, start: Start) -> Result<(), SchemaError> {
        let composite = self.object_symbols(start);
        let Start { asked: start, is_item } = start;
        let frame = self.machine.frame(start)?;
        let others = self.other_lexemes(frame)?;
        let (begun, mut start) = (start, self.machine.frames.get(frame).guarded);
        let outcomes = self.machine.tuple(start).len();
        let has_room = !self.machine.reader.keeps_few_sets
            && self.fragment.productions.len() < MOST_PRODUCTIONS;
        let (sorted, left) = self.sorted_names(frame, start, has_room);
        let is_any = self.machine.reader.options.order == KeyOrder::Any;
        let is_narrower = is_any && sorted.tracked.len() > 1 && matches!(left, Left::From(_));
        let tracked = sorted.tracked.iter().map(|&name| Key::Named(name));
        let asks_much = sorted.tracked.len() > 1
            && matches!(left, Left::Among(_))
            && self.asks_much(frame, begun, tracked)?;
        if (is_narrower || asks_much) && self.object_in_any_order(composite, begun, has_room)? {
            self.warn_of_repeated();
            return Ok(());
        }
        self.warn_of_order(&sorted, is_narrower);
        let SortedNames { free, owed, tracked: names, due } = sorted;
        // The productions enforce these.
        start = self.machine.without_required(start, &[&owed[..], &due].concat());
        let due: FxHashSet<u32> = due.into_iter().collect();
        let due = names.iter().map(|name| due.contains(name)).collect();
        let mut owed_members = Vec::with_capacity(owed.len());
        for name in owed {
            owed_members.push(self.free_members(frame, start, &[name])?);
        }
        let free = match &free[..] {
            [] => None,
            free => Some(Symbol::Nonterminal(self.free_members(frame, start, free)?)),
        };
        let renewed = match is_item {
            true => self.renewed_member(frame, start, &names)?,
            false => None,
        };
        let keys = names.iter().map(|&name| self.key(name)).collect();
        let names: Rc<[u32]> = names.into();
        let positions = names.iter().copied().zip(0..).collect();
        let (mut known, mut ends, members) =
            (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        // States before and after each name, and those in which a name must come.
        known.reserve(3 * names.len() + 1);
        ends.reserve(names.len() + 1);
        let mut object = Object {
            composite,
            frame,
            names,
            due,
            free,
            renewed,
            owed: owed_members,
            outcomes,
            known,
            pending: Vec::new(),
            keys,
            others,
            members,
            ends,
            positions,
            spoken_of: FxHashMap::default(),
        };
        self.open(&mut object, left, start)?;
        let mut rests = Vec::new();
        while let Some(state) = object.pending.pop() {
            let symbol = object.known[&state];
            match state {
                (left, residuals, Phase::Member) => {
                    rests.extend((0..outcomes).map(|outcome| nth(symbol, outcome)));
                    self.behind_member(&mut object, symbol, left, residuals)?;
                }
                (left, residuals, Phase::Key) => {
                    self.before_key(&mut object, symbol, &left, residuals)?;
                }
                (left, residuals, Phase::NamedKey) => {
                    self.before_name(&mut object, symbol, &left, residuals)?;
                }
            }
        }
        if !object.owed.is_empty() {
            self.require(&object.owed, &rests);
        }
        Ok(())
    }

    /// Requires these members when an object ends with one of `rests`.
    fn require(&mut self, members: &[NonterminalId], rests: &[NonterminalId]) {
        if let Symbol::Terminal(separator) = self.punctuation.comma
            && let Symbol::Terminal(open) = self.punctuation.open_object
        {
            let requirement = Requirement::all(rests, Some(separator), open, members);
            self.fragment.requirements.push(requirement);
        }
    }

    /// Returns the names of an object, and the tracked names that may come.
    fn sorted_names(&mut self, frame: u32, start: TupleId, has_room: bool) -> (SortedNames, Left) {
        let all = self.machine.frames.get(frame).names.clone();
        let is_any = self.machine.reader.options.order == KeyOrder::Any;
        let most = match (is_any, has_room) {
            (true, true) => MOST_TRACKED,
            (true, false) => 1,
            (false, _) => MOST_ORDERED,
        };
        let mut sorted = match all.len() > most {
            true => self.machine.sort_names(start, &all),
            false => SortedNames { tracked: all.to_vec(), ..SortedNames::default() },
        };
        let are_few = has_room && sorted.owed.len() + sorted.tracked.len() <= MOST_UNORDERED;
        if !is_any || are_few || sorted.owed.len() > MOST_OWED {
            sorted.track_owed(&all);
        }
        let left = match is_any && has_room && sorted.tracked.len() <= MOST_UNORDERED {
            true => Left::Among((0..sorted.tracked.len() as u32).collect()),
            false => Left::From(0),
        };
        (sorted, left)
    }

    /// Adds the productions of the beginning of an object, and of an object without members.
    fn open(&mut self, object: &mut Object, left: Left, start: TupleId) -> Result<(), SchemaError> {
        let (open, close) = (self.punctuation.open_object, self.punctuation.close_object);
        let composite = object.composite;
        if object.owed.is_empty() {
            let ends = self.ends(object, &left, start)?;
            self.close(composite, &ends, &[open, close])?;
            let first = self.state(object, (left, start, Phase::Key));
            return self.production(first, [open]);
        }
        let first = self.state(object, (left, start, Phase::Key));
        for outcome in 0..object.outcomes {
            let members = Symbol::Nonterminal(nth(first, outcome));
            self.production(nth(composite, outcome), [open, members, close])?;
        }
        Ok(())
    }

    /// Adds a production that leads from one state to another by these symbols.
    fn lead(
        &mut self,
        object: &Object,
        from: NonterminalId,
        symbols: &[Symbol],
        to: NonterminalId,
    ) -> Result<(), SchemaError> {
        if object.owed.is_empty() {
            let from = std::iter::once(Symbol::Nonterminal(from));
            return self.production(to, from.chain(symbols.iter().copied()));
        }
        for outcome in 0..object.outcomes {
            let to = std::iter::once(Symbol::Nonterminal(nth(to, outcome)));
            self.production(nth(from, outcome), symbols.iter().copied().chain(to))?;
        }
        Ok(())
    }

    /// Warns if an object does not allow all keys in any order, each once, as requested.
    fn warn_of_order(&mut self, names: &SortedNames, is_narrower: bool) {
        if is_narrower {
            let message = "objects with too many sets of keys allow only the declared order";
            let help = "let the constraints of each key depend on fewer other keys";
            self.machine.warn_of_narrowing(message, help);
        }
        if !names.free.is_empty() || !names.owed.is_empty() {
            self.warn_of_repeated();
        }
    }

    fn warn_of_repeated(&mut self) {
        let message = "keys of objects with many names may occur in any order, and more than once";
        let help = "reject or merge repeated keys after parsing; each of their values satisfies \
                    the schema";
        self.machine.reader.warn(Diagnostic::warning("repeated-keys", message).help(help));
    }

    /// Returns the terminal of a named key.
    pub(super) fn key(&mut self, name: u32) -> Symbol {
        let key = self.machine.texts.literal(self.machine.reader.atoms.texts.get(name));
        let key = self.fragment.terminal("KEY", key);
        self.describe_key(key, name);
        key
    }

    /// Returns the terminals of a frame's other keys.
    pub(super) fn other_lexemes(&mut self, frame: u32) -> Result<Vec<Symbol>, SchemaError> {
        let Frame { others: classes, names, .. } = self.machine.frames.get(frame).clone();
        let mut others = Vec::with_capacity(classes.len());
        for class in &*classes {
            let pattern = self.machine.spelled_keys(&class.keys)?;
            let keys = self.fragment.terminal("KEYS", pattern);
            self.describe_keys(keys, class, !names.is_empty());
            others.push(keys);
        }
        Ok(others)
    }

    /// Returns the nonterminal of a member under one of these free names.
    pub(super) fn free_members(
        &mut self,
        frame: u32,
        start: TupleId,
        free: &[u32],
    ) -> Result<NonterminalId, SchemaError> {
        let member = self.fragment.nonterminals("member", 1);
        for &name in free {
            let step = Step { frame, key: Key::Named(name), position: 0 };
            let classes = self.machine.member_classes(step, start)?;
            let formulas: Vec<F> = classes.iter().map(|&(_, class)| class).collect();
            for value in self.values(&formulas)? {
                let key = self.key(name);
                let colon = self.punctuation.colon;
                self.production(member, [key, colon, value])?;
            }
        }
        Ok(member)
    }

    fn state(&mut self, object: &mut Object, state: State) -> NonterminalId {
        *object.known.entry(state).or_insert_with_key(|state| {
            object.pending.push(state.clone());
            let count = if object.owed.is_empty() { 1 } else { object.outcomes };
            self.fragment.nonterminals("members", count)
        })
    }

    /// Returns, for each residual, whether it holds if no more named keys come.
    fn ends(
        &mut self,
        object: &mut Object,
        left: &Left,
        residuals: TupleId,
    ) -> Result<Rc<Tuple>, SchemaError> {
        let mut way = Vec::new();
        let (mut left, mut residuals) = (left.clone(), residuals);
        let ends = loop {
            if let Some(known) = object.ends.get(&(left.clone(), residuals)) {
                break known.clone();
            }
            way.push((left.clone(), residuals));
            if let Left::From(position) = &mut left {
                (*position, residuals) = self.pass_over(object, *position, residuals)?;
            }
            let (position, next) = match &left {
                Left::From(position) => (*position, Left::From(position + 1)),
                Left::Among(positions) => match positions.split_first() {
                    Some((&first, rest)) => (first, Left::Among(rest.into())),
                    None => (u32::MAX, left.clone()),
                },
            };
            let Some(&name) = object.names.get(position as usize) else {
                break Rc::new(self.machine.object_ends(residuals));
            };
            if object.due[position as usize] {
                break Rc::new(vec![F::FALSE; object.outcomes].into());
            }
            let passed = object.passed(position + 1);
            residuals = self.machine.absent(object.frame, name, passed, residuals)?;
            left = next;
        };
        for state in way {
            object.ends.insert(state, ends.clone());
        }
        Ok(ends)
    }

    /// Passes over the names from a position on that are neither possible nor required: in a union
    /// of objects, all those of the branches that are excluded.
    fn pass_over(
        &mut self,
        object: &mut Object,
        position: u32,
        residuals: TupleId,
    ) -> Result<(u32, TupleId), SchemaError> {
        let spoken_of = match object.spoken_of.get(&residuals) {
            Some(known) => known.clone(),
            None => {
                let found = self.machine.names_spoken_of(object.frame, residuals).map(|names| {
                    let due = (0..).zip(&object.due).filter(|&(_, &is_due)| is_due);
                    let named = names.iter().filter_map(|name| object.positions.get(name).copied());
                    let mut all: Vec<u32> =
                        named.chain(due.map(|(position, _)| position)).collect();
                    all.sort_unstable();
                    Rc::from(all)
                });
                object.spoken_of.insert(residuals, found.clone());
                found
            }
        };
        let Some(spoken_of) = spoken_of else { return Ok((position, residuals)) };
        let next = spoken_of.partition_point(|&own| own < position);
        let next = spoken_of.get(next).copied().unwrap_or(object.names.len() as u32);
        if next <= position {
            return Ok((position, residuals));
        }
        // Same result as passing over them one by one.
        let (last, passed) = (object.names[next as usize - 1], object.passed(next));
        Ok((next, self.machine.absent(object.frame, last, passed, residuals)?))
    }

    fn behind_member(
        &mut self,
        object: &mut Object,
        symbol: NonterminalId,
        left: Left,
        residuals: TupleId,
    ) -> Result<(), SchemaError> {
        let ends = self.ends(object, &left, residuals)?;
        if object.owed.is_empty() {
            let close = [Symbol::Nonterminal(symbol), self.punctuation.close_object];
            self.close(object.composite, &ends, &close)?;
        } else {
            self.close(symbol, &ends, &[])?;
        }
        let next = self.state(object, (left, residuals, Phase::Key));
        self.lead(object, symbol, &[self.punctuation.comma], next)
    }

    fn before_key(
        &mut self,
        object: &mut Object,
        symbol: NonterminalId,
        left: &Left,
        residuals: TupleId,
    ) -> Result<(), SchemaError> {
        for class in 0..object.others.len() {
            let position = match left {
                Left::From(position) => object.passed(*position),
                Left::Among(_) => 0,
            };
            let step = Step { frame: object.frame, key: Key::Other(class as u32), position };
            let lexeme = object.others[class];
            self.member(object, symbol, lexeme, step, left, residuals)?;
        }
        let owed = object.owed.iter().map(|&member| Symbol::Nonterminal(member));
        let renewed = object.renewed.filter(|&(position, _)| !left.has(position));
        let renewed = renewed.map(|(_, member)| member);
        for member in object.free.into_iter().chain(owed).chain(renewed).collect::<Vec<Symbol>>() {
            let behind = self.state(object, (left.clone(), residuals, Phase::Member));
            self.lead(object, symbol, &[member], behind)?;
        }
        match left {
            Left::From(position) if (*position as usize) < object.names.len() => {
                let next = self.state(object, (left.clone(), residuals, Phase::NamedKey));
                self.lead(object, symbol, &[], next)?;
            }
            Left::From(_) => {}
            Left::Among(positions) => {
                for (at, &position) in positions.iter().enumerate() {
                    let rest =
                        positions[..at].iter().chain(&positions[at + 1..]).copied().collect();
                    let key = Key::Named(object.names[position as usize]);
                    let step = Step { frame: object.frame, key, position: 0 };
                    let lexeme = object.keys[position as usize];
                    self.member(object, symbol, lexeme, step, &Left::Among(rest), residuals)?;
                }
            }
        }
        Ok(())
    }

    fn before_name(
        &mut self,
        object: &mut Object,
        symbol: NonterminalId,
        left: &Left,
        residuals: TupleId,
    ) -> Result<(), SchemaError> {
        let Left::From(position) = *left else { return Ok(()) };
        let (position, residuals) = self.pass_over(object, position, residuals)?;
        let Some(&name) = object.names.get(position as usize) else { return Ok(()) };
        let next = Left::From(position + 1);
        let lexeme = object.keys[position as usize];
        let passed = object.passed(position + 1);
        let step = Step { frame: object.frame, key: Key::Named(name), position: passed };
        self.member(object, symbol, lexeme, step, &next, residuals)?;
        if object.due[position as usize] {
            return Ok(());
        }
        let absent = self.machine.absent(object.frame, name, passed, residuals)?;
        if self.machine.tuple(absent).iter().any(|&residual| residual != F::FALSE)
            && (position as usize + 1) < object.names.len()
        {
            let passed = self.state(object, (next, absent, Phase::NamedKey));
            self.lead(object, symbol, &[], passed)?;
        }
        Ok(())
    }

    /// Adds the productions of a member under one key, for each class of its values.
    fn member(
        &mut self,
        object: &mut Object,
        symbol: NonterminalId,
        lexeme: Symbol,
        step: Step,
        left: &Left,
        residuals: TupleId,
    ) -> Result<(), SchemaError> {
        let classes = self.machine.member_classes(step, residuals)?;
        let formulas: Vec<F> = classes.iter().map(|&(_, class)| class).collect();
        let values = self.values(&formulas)?;
        for (&(next, _), value) in classes.iter().zip(values) {
            let behind = self.state(object, (left.clone(), next, Phase::Member));
            let colon = self.punctuation.colon;
            // Otherwise there would be a parse state for each set of names and each lexeme of a
            // member, which is too many. Requirements also refer to members.
            if matches!(left, Left::Among(_)) || !object.owed.is_empty() {
                let member = match object.members.get(&(lexeme, value)) {
                    Some(&known) => known,
                    None => {
                        let member = self.fragment.nonterminals("member", 1);
                        object.members.insert((lexeme, value), member);
                        self.production(member, [lexeme, colon, value])?;
                        member
                    }
                };
                self.lead(object, symbol, &[Symbol::Nonterminal(member)], behind)?;
            } else {
                self.lead(object, symbol, &[lexeme, colon, value], behind)?;
            }
        }
        Ok(())
    }
}
