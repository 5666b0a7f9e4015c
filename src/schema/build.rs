//! Translation of the machine into productions.
//!
//! A value state has one nonterminal for each of its outcomes. Each intermediate state of an array
//! or object has a nonterminal too, for the part read so far, left-recursive: `members -> members
//! "," key ":" value`. The classes of a step are disjoint, so the tables have no conflicts except
//! where alternatives are deliberately [read in parallel](super::any_order). Productions contain
//! only lexemes, so whitespace belongs to the lexemes of punctuation.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::grammar::ir::Symbol;
use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{FormulaId, Type};
use crate::schema::fragment::Fragment;
use crate::schema::machine::Machine;
use crate::schema::options::{Separator, Whitespace};
use crate::schema::states::{Formed, Tuple, TupleId};
use crate::schema::text;
use crate::util::id::NonterminalId;

use FormulaId as F;

/// Steps of the analysis charged for a production and its parts.
const STEPS_OF_A_PRODUCTION: usize = 20;

/// Lexemes of punctuation, including the whitespace allowed around them.
#[derive(Debug)]
pub(super) struct Punctuation {
    pub(super) open_array: Symbol,
    pub(super) close_array: Symbol,
    pub(super) open_object: Symbol,
    pub(super) close_object: Symbol,
    pub(super) comma: Symbol,
    pub(super) colon: Symbol,
}

/// The lexemes around the items of an array.
pub(super) struct Brackets {
    pub(super) open: Symbol,
    pub(super) comma: Symbol,
    pub(super) close: Symbol,
}

/// A repeated symbol, and the end after the last one.
pub(super) type Unit = (Symbol, Symbol);

/// Runs of a symbol by powers of two.
#[derive(Debug)]
pub(super) struct Runs {
    /// Exactly 2^i, by index i.
    pub(super) full: Vec<Symbol>,
    /// Fewer than 2^i, then the end.
    pub(super) fewer: Vec<Symbol>,
}

/// Runs of characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct StringRuns {
    pub(super) run: Symbol,
    /// Fewer characters than a run, and the end of the string.
    pub(super) fewer: Symbol,
    /// The end of a string that has its maximum number of runs.
    pub(super) end: Symbol,
}

/// Constraints on the remaining items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// Formula of each item.
    pub(super) item: F,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

/// State that still needs productions.
#[derive(Clone, Copy, Debug)]
enum Task {
    Value(TupleId),
    Array(Start),
    Object(Start),
}

/// Start of an array or object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Start {
    /// Formulas asked of it, one for each outcome.
    pub(super) asked: TupleId,
    /// Whether it is an item of an array whose items are followed. Such an item has productions of
    /// its own, because the terminals after it differ from those elsewhere.
    pub(super) is_item: bool,
}

impl Start {
    /// Returns the start of a value that is not such an item.
    fn plain(asked: TupleId) -> Self {
        Self { asked, is_item: false }
    }
}

/// Builder of productions.
pub(super) struct Builder<'m, 'a> {
    pub(super) machine: &'m mut Machine<'a>,
    pub(super) fragment: Fragment,
    pub(super) punctuation: Punctuation,
    values: FxHashMap<TupleId, NonterminalId>,
    arrays: FxHashMap<Start, NonterminalId>,
    objects: FxHashMap<Start, NonterminalId>,
    /// Items of arrays that are followed.
    pub(super) items: FxHashMap<F, Symbol>,
    /// Terminals of scalars, by type and formula.
    texts: FxHashMap<(Type, F), Option<Symbol>>,
    pub(super) runs: FxHashMap<Unit, Runs>,
    /// Runs of characters, by the number of characters that may follow the last run.
    pub(super) string_runs: FxHashMap<u64, StringRuns>,
    /// An item with the comma before it, by the symbol of the item.
    pub(super) next_items: FxHashMap<Symbol, Symbol>,
    tasks: Vec<Task>,
}

/// Builds the productions of the values that satisfy `root`.
pub(super) fn build(machine: &mut Machine<'_>, root: F) -> Result<Fragment, SchemaError> {
    let mut fragment = Fragment::default();
    let start = fragment.nonterminals("schema", 1);
    fragment.start = start;
    // Avoids copies of a growing list; most schemas have fewer productions than values.
    let reader = &machine.reader;
    let most = machine.meter().of_schemas().productions;
    fragment.productions.reserve(reader.schemas.json.len().min(most));
    let punctuation = punctuation(machine, &mut fragment);
    let mut builder = Builder {
        machine,
        fragment,
        punctuation,
        values: FxHashMap::default(),
        arrays: FxHashMap::default(),
        objects: FxHashMap::default(),
        items: FxHashMap::default(),
        texts: FxHashMap::default(),
        runs: FxHashMap::default(),
        string_runs: FxHashMap::default(),
        next_items: FxHashMap::default(),
        tasks: Vec::new(),
    };
    let value = builder.value(root)?;
    builder.fragment.production(start, vec![value]);
    while let Some(task) = builder.tasks.pop() {
        let (Task::Value(asked)
        | Task::Array(Start { asked, .. })
        | Task::Object(Start { asked, .. })) = task;
        let first = builder.machine.tuple(asked)[0];
        let before = builder.machine.turn_to(first);
        match task {
            Task::Value(state) => builder.outcomes(state)?,
            Task::Array(start) => builder.array(start)?,
            Task::Object(start) => builder.object(start)?,
        }
        builder.machine.turn_back(before);
    }
    Ok(builder.fragment)
}

fn punctuation(machine: &Machine<'_>, fragment: &mut Fragment) -> Punctuation {
    let options = machine.reader.options;
    let mut lexeme = |name: &'static str, separator: &Separator, before: bool, behind: bool| {
        let own = match separator {
            Separator::Text(text) => word(text),
            Separator::Pattern(pattern) => expression(pattern),
        };
        let blanks = match (&options.whitespace, separator) {
            (Whitespace::None, _) => return fragment.terminal(name, own),
            (Whitespace::Any, Separator::Text(text))
                if text.starts_with(|first| !" \t\n\r".contains(first)) =>
            {
                let automaton = text::automaton::among_blanks(text, before, behind);
                return fragment.terminal(name, Pattern::Automaton(automaton));
            }
            (Whitespace::Any, _) => expression("[ \\t\\n\\r]*"),
            (Whitespace::Pattern(blanks), _) => expression(blanks),
        };
        let around = |is: bool| is.then(|| blanks.clone());
        let parts = around(before).into_iter().chain([own]).chain(around(behind));
        fragment.terminal(name, Pattern::Concat(parts.collect()))
    };
    let mut bracket = |name: &'static str, before: bool, behind: bool| {
        lexeme(name, &Separator::Text(name.trim_matches('"').to_owned()), before, behind)
    };
    Punctuation {
        open_array: bracket(r#""[""#, false, true),
        close_array: bracket(r#""]""#, true, false),
        open_object: bracket(r#""{""#, false, true),
        close_object: bracket(r#""}""#, true, false),
        comma: lexeme(r#"",""#, &options.item_separator, true, true),
        colon: lexeme(r#"":""#, &options.key_separator, true, true),
    }
}

/// Returns the pattern of a regular expression from the options.
fn expression(pattern: &str) -> Pattern {
    let pattern = format!("(?:{pattern})");
    Pattern::Regex { pattern, flags: RegexFlags::default(), place: None }
}

pub(super) fn word(text: &str) -> Pattern {
    Pattern::Literal { text: text.to_owned(), ignore_case: false }
}

impl Builder<'_, '_> {
    pub(super) fn production(
        &mut self,
        lhs: NonterminalId,
        rhs: impl IntoIterator<Item = Symbol>,
    ) -> Result<(), SchemaError> {
        let most = self.machine.meter().of_schemas().productions;
        if self.fragment.productions.len() >= most {
            let message = format!("the grammar of the schema has more than {most} productions");
            let error = SchemaError::new(SchemaErrorKind::TooLarge, message).help(
                "raise `schema_productions` of the limits, or lower the counts of items and \
                 members",
            );
            return Err(self.machine.where_most_was_taken(error));
        }
        self.machine.spend(STEPS_OF_A_PRODUCTION)?;
        self.fragment.production(lhs, rhs);
        Ok(())
    }

    /// Returns the symbol of the values that satisfy a formula.
    pub(super) fn value(&mut self, formula: F) -> Result<Symbol, SchemaError> {
        let symbols = self.values(&[formula])?;
        Ok(symbols[0])
    }

    /// Returns the symbols of values, by their outcome among `formulas`.
    pub(super) fn values(&mut self, formulas: &[F]) -> Result<Vec<Symbol>, SchemaError> {
        let mut symbols = Vec::with_capacity(formulas.len());
        let mut first = None;
        for (outcome, &formula) in formulas.iter().enumerate() {
            if self.machine.reader.formulas.held(formula).apart {
                symbols.push(self.item(formula)?);
                continue;
            }
            let first = match first {
                Some(first) => first,
                None => *first.insert(self.value_state(formulas)?),
            };
            symbols.push(Symbol::Nonterminal(nth(first, outcome)));
        }
        Ok(symbols)
    }

    /// Returns the first of the nonterminals of the outcomes of a value state.
    fn value_state(&mut self, formulas: &[F]) -> Result<NonterminalId, SchemaError> {
        let mut whole = Formed::with_capacity(formulas.len());
        for &formula in formulas {
            whole.push(self.machine.whole(formula)?);
        }
        let count = whole.len();
        let state = self.machine.tuple_id(&whole);
        Ok(*self.values.entry(state).or_insert_with(|| {
            self.tasks.push(Task::Value(state));
            self.fragment.nonterminals("value", count)
        }))
    }

    /// Adds the productions for all outcomes of a value state.
    fn outcomes(&mut self, state: TupleId) -> Result<(), SchemaError> {
        let first = self.values[&state];
        let formulas = self.machine.tuple(state).to_vec();
        for of in Type::ALL {
            let mut projected = Vec::with_capacity(formulas.len());
            for &formula in &formulas {
                projected.push(self.machine.project(formula, of)?);
            }
            if of == Type::Array {
                self.machine.follow_one_at_most(&mut projected)?;
            }
            if projected.iter().all(|&formula| formula == F::FALSE) {
                continue;
            }
            for formula in &mut projected {
                *formula = self.machine.bounded_by_default(of, *formula)?;
            }
            match of {
                Type::Array | Type::Object => {
                    let tuple = self.machine.tuple_id(&projected);
                    let count = formulas.len();
                    let composite = match of {
                        Type::Array => self.array_symbols(Start::plain(tuple)),
                        _ => self.object_symbols(Start::plain(tuple)),
                    };
                    for outcome in 0..count {
                        let part = Symbol::Nonterminal(nth(composite, outcome));
                        self.production(nth(first, outcome), [part])?;
                    }
                }
                _ => {
                    if of == Type::String
                        && let Some((outcome, min, max)) = self.counted_outcome(&projected)?
                    {
                        let string = self.counted_string(min, max)?;
                        let (asked, whole) = (projected[outcome], formulas[outcome]);
                        self.describe_scalar(string, of, asked, whole);
                        self.production(nth(first, outcome), [string])?;
                        continue;
                    }
                    for (outcome, formula) in projected.into_iter().enumerate() {
                        for symbol in self.scalars(of, formula)? {
                            self.describe_scalar(symbol, of, formula, formulas[outcome]);
                            self.production(nth(first, outcome), [symbol])?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the outcome of strings and its bounds, if there is only one and it asks only for a
    /// length.
    fn counted_outcome(
        &mut self,
        projected: &[F],
    ) -> Result<Option<(usize, u64, Option<u64>)>, SchemaError> {
        let mut outcomes =
            projected.iter().enumerate().filter(|&(_, &formula)| formula != F::FALSE);
        let (Some((outcome, &only)), None) = (outcomes.next(), outcomes.next()) else {
            return Ok(None);
        };
        let [only] = self.machine.by_length(only)?[..] else { return Ok(None) };
        let lengths = self.machine.lengths(only)?;
        let some = lengths.filter(|&(min, max)| max.is_none_or(|max| min <= max));
        Ok(some.map(|(min, max)| (outcome, min, max)))
    }

    /// Returns the terminals of the scalars of a type that satisfy a formula.
    fn scalars(&mut self, of: Type, formula: F) -> Result<Vec<Symbol>, SchemaError> {
        if formula == F::FALSE {
            return Ok(Vec::new());
        }
        Ok(match of {
            Type::Null => {
                let holds = formula == F::TRUE;
                if holds {
                    vec![self.fragment.terminal(r#""null""#, word("null"))]
                } else {
                    Vec::new()
                }
            }
            Type::Boolean => {
                let mut symbols = Vec::new();
                let names = [(false, r#""false""#), (true, r#""true""#)];
                for (value, name) in names {
                    if self.machine.holds_of_boolean(formula, value) {
                        let text = word(name.trim_matches('"'));
                        symbols.push(self.fragment.terminal(name, text));
                    }
                }
                symbols
            }
            _ => {
                let mut symbols = Vec::new();
                for formula in self.machine.reader.formulas.by_fingerprint(formula) {
                    for formula in self.machine.by_length_of(of, formula)? {
                        symbols.extend(self.text(of, formula)?);
                    }
                }
                symbols
            }
        })
    }

    /// Returns the terminal of the numbers or strings that satisfy a formula, if there are any.
    fn text(&mut self, of: Type, formula: F) -> Result<Option<Symbol>, SchemaError> {
        if let Some(&known) = self.texts.get(&(of, formula)) {
            return Ok(known);
        }
        let symbol = match of {
            Type::Number => {
                let numbers = self.machine.numbers_of_few_digits(formula)?.map(Pattern::Automaton);
                numbers.map(|pattern| self.fragment.terminal("NUMBER", pattern))
            }
            _ => {
                let strings = self.strings(formula)?;
                strings.map(|(name, pattern)| self.fragment.terminal(name, pattern))
            }
        };
        self.texts.insert((of, formula), symbol);
        Ok(symbol)
    }

    /// Returns the strings that satisfy a formula, if there are any, and their name in messages.
    fn strings(&mut self, formula: F) -> Result<Option<(Cow<'static, str>, Pattern)>, SchemaError> {
        let unnamed = |pattern| (Cow::Borrowed("STRING"), pattern);
        if let Some(listed) = self.machine.listed(formula)? {
            let words =
                listed.iter().map(|&text| self.machine.reader.atoms.texts.get(text).as_str());
            return Ok((!listed.is_empty()).then(|| self.machine.texts.spelled_words(words)));
        }
        if let Some(bounded) = self.machine.bounded(formula)? {
            return Ok(bounded.map(unnamed));
        }
        let texts = self.machine.some_strings(formula)?;
        if texts.is_empty() {
            return Ok(None);
        }
        let spelled = self.machine.texts.spelled(&texts);
        spelled
            .map(|spelled| Some(unnamed(spelled)))
            .map_err(|error| self.machine.too_large(&error))
    }

    /// Adds the productions for all outcomes of the arrays that begin with `start`.
    fn array(&mut self, start: Start) -> Result<(), SchemaError> {
        let arrays = self.array_symbols(start);
        let start = start.asked;
        if self.counted(start).is_none() {
            let asked = self.machine.tuple(start).to_vec();
            self.machine.charge_items(&asked, true)?;
        }
        let Some(brackets) = self.brackets(start)? else { return Ok(()) };
        let Brackets { open, comma, close } = brackets;
        let first = self.fragment.nonterminals("items", 1);
        self.production(first, [open])?;
        // States after at least one item. The start is not among them, though its residuals may
        // recur.
        let mut known: FxHashMap<TupleId, NonterminalId> = FxHashMap::default();
        let mut pending = vec![(start, first, true)];
        while let Some((state, symbol, is_first)) = pending.pop() {
            if let Some((outcome, asked)) = self.counted(state) {
                self.count_items(nth(arrays, outcome), symbol, is_first, asked, &brackets)?;
                continue;
            }
            let ends = self.machine.array_ends(state);
            self.close(arrays, &ends, &[Symbol::Nonterminal(symbol), close])?;
            let classes = self.machine.item_classes(state)?;
            let formulas: Vec<F> = classes.iter().map(|&(_, class)| class).collect();
            let values = self.values(&formulas)?;
            for (&(next, _), value) in classes.iter().zip(values) {
                let behind = *known.entry(next).or_insert_with(|| {
                    let behind = self.fragment.nonterminals("items", 1);
                    pending.push((next, behind, false));
                    behind
                });
                let comma = (!is_first).then_some(comma);
                let front = Symbol::Nonterminal(symbol);
                self.production(behind, [front].into_iter().chain(comma).chain([value]))?;
            }
        }
        Ok(())
    }

    /// Returns the only outcome that an array can still have, if only a count of items is left.
    fn counted(&self, state: TupleId) -> Option<(usize, Counted)> {
        let mut residuals = self.machine.tuple(state).iter().enumerate();
        let (outcome, &only) = residuals.find(|&(_, &residual)| residual != F::FALSE)?;
        let is_only = residuals.all(|(_, &residual)| residual == F::FALSE);
        Some((outcome, self.machine.counted_items(only).filter(|_| is_only)?))
    }

    /// Adds the productions for the end of a composite value: its outcome is the residual that
    /// holds.
    pub(super) fn close(
        &mut self,
        composite: NonterminalId,
        ends: &Tuple,
        rhs: &[Symbol],
    ) -> Result<(), SchemaError> {
        for (outcome, &end) in ends.iter().enumerate() {
            if end == F::TRUE {
                self.production(nth(composite, outcome), rhs.iter().copied())?;
            }
        }
        Ok(())
    }

    /// Returns the first of the nonterminals of the outcomes of the arrays that begin with `start`.
    pub(super) fn array_symbols(&mut self, start: Start) -> NonterminalId {
        let count = self.machine.tuple(start.asked).len();
        *self.arrays.entry(start).or_insert_with(|| {
            self.tasks.push(Task::Array(start));
            self.fragment.nonterminals("array", count)
        })
    }

    /// Returns the first of the nonterminals of the outcomes of the objects that begin with
    /// `start`.
    pub(super) fn object_symbols(&mut self, start: Start) -> NonterminalId {
        let count = self.machine.tuple(start.asked).len();
        *self.objects.entry(start).or_insert_with(|| {
            self.tasks.push(Task::Object(start));
            self.fragment.nonterminals("object", count)
        })
    }
}

/// Returns the nonterminal that is `count` after `first`.
pub(super) fn nth(first: NonterminalId, count: usize) -> NonterminalId {
    NonterminalId::new(first.index() + count)
}
