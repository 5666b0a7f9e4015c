//! `unevaluatedProperties` and `unevaluatedItems`.
//!
//! Keywords next to such a keyword, and in schemas reached from there by `allOf` and `$ref`, always
//! apply. Schemas below `anyOf`, `oneOf`, `if` and `dependentSchemas` evaluate members or items of
//! some values and not of others. So there are *cases*: a condition, and the parts that are
//! evaluated if it holds. The more is evaluated, the weaker the keyword, so it suffices to satisfy
//! any case whose condition holds: the keyword is the disjunction over the cases, and none has to
//! be excluded.

use crate::schema::draft::Draft;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::FormulaId;
use crate::schema::json::{NodeId, Value};
use crate::schema::keywords::Reader;

use FormulaId as F;

/// Maximum number of cases; more would make the formula too large.
const MOST_CASES: usize = 64;

/// A condition, and the parts of an object or an array that are evaluated if it holds.
#[derive(Clone, Debug, Default)]
struct Case {
    /// Formulas whose conjunction is the condition.
    holds: Vec<F>,
    names: Vec<u32>,
    patterns: Vec<u32>,
    /// Whether all members are evaluated.
    members: bool,
    /// Number of evaluated leading items.
    front: usize,
    /// Whether all items are evaluated.
    items: bool,
    /// Items that satisfy one of these are evaluated, at any index.
    found: Vec<F>,
}

impl Case {
    fn and(&self, other: &Self) -> Self {
        let join = |one: &[u32], other: &[u32]| {
            let mut all = [one, other].concat();
            all.sort_unstable();
            all.dedup();
            all
        };
        Self {
            holds: [&self.holds[..], &other.holds].concat(),
            names: join(&self.names, &other.names),
            patterns: join(&self.patterns, &other.patterns),
            members: self.members || other.members,
            front: self.front.max(other.front),
            items: self.items || other.items,
            found: [&self.found[..], &other.found].concat(),
        }
    }

    /// Adds a formula to the condition.
    fn with(mut self, formula: F) -> Self {
        self.holds.push(formula);
        self
    }

    /// Removes the parts that `other` evaluates already.
    fn beyond(mut self, other: &Self) -> Self {
        self.names.retain(|name| !other.members && other.names.binary_search(name).is_err());
        self.patterns.retain(|of| !other.members && other.patterns.binary_search(of).is_err());
        self.found.retain(|of| !other.items && !other.found.contains(of));
        self.members &= !other.members;
        self.items &= !other.items;
        if self.front <= other.front || other.items {
            self.front = 0;
        }
        self
    }

    fn evaluates_nothing(&self) -> bool {
        let Self { names, patterns, members, front, items, found, .. } = self;
        names.is_empty()
            && patterns.is_empty()
            && found.is_empty()
            && !members
            && !items
            && *front == 0
    }
}

/// The search for cases: the keyword it is for, and the schemas on the path from it.
struct Asked {
    at: NodeId,
    way: Vec<NodeId>,
    /// The parts that are evaluated in every case. New cases must evaluate something else.
    always: Case,
}

impl Asked {
    fn new(at: NodeId) -> Self {
        Self { at, way: Vec::new(), always: Case::default() }
    }
}

/// Rank that puts keywords whose schemas always apply before those whose schemas apply
/// conditionally.
fn rank(key: &str) -> u8 {
    match key {
        "anyOf" | "oneOf" | "if" | "dependentSchemas" => 2,
        "$ref" | "$dynamicRef" | "$recursiveRef" | "allOf" => 1,
        _ => 0,
    }
}

impl Reader<'_> {
    pub(super) fn unevaluated_properties(
        &mut self,
        node: NodeId,
        value: NodeId,
    ) -> Result<F, SchemaError> {
        self.unevaluated(node, value, |reader, case, rest| {
            let named = |texts: &[u32]| texts.iter().map(|&text| (text, F::TRUE)).collect();
            let (names, patterns) = (named(&case.names), named(&case.patterns));
            (!case.members).then(|| reader.property_atom(names, patterns, rest))
        })
    }

    pub(super) fn unevaluated_items(
        &mut self,
        node: NodeId,
        value: NodeId,
    ) -> Result<F, SchemaError> {
        self.unevaluated(node, value, |reader, case, rest| {
            (!case.items).then(|| {
                let rest = reader.formulas.or(case.found.iter().copied().chain([rest]));
                reader.items_atom(vec![F::TRUE; case.front], rest)
            })
        })
    }

    /// Returns the disjunction over the cases; `asked` returns what is asked of the members or
    /// items that a case does not evaluate.
    fn unevaluated(
        &mut self,
        node: NodeId,
        value: NodeId,
        asked: impl Fn(&mut Self, &Case, F) -> Option<F>,
    ) -> Result<F, SchemaError> {
        let rest = self.child(value)?;
        if rest == F::TRUE {
            return Ok(rest);
        }
        let mut parts = Vec::new();
        for case in self.cases(node, &mut Asked::new(value))? {
            let own = asked(self, &case, rest);
            parts.push(self.formulas.and(case.holds.into_iter().chain(own)));
        }
        Ok(self.formulas.or(parts))
    }

    /// Returns the cases of the schema `node`. The first has only conditions that always hold.
    fn cases(&mut self, node: NodeId, asked: &mut Asked) -> Result<Vec<Case>, SchemaError> {
        let mut cases = vec![Case::default()];
        let Value::Object(mut members) = self.schemas.json.value(node).clone() else {
            return Ok(cases);
        };
        if asked.way.contains(&node) {
            return Ok(cases);
        }
        members.sort_by_key(|(key, _)| rank(key));
        asked.way.push(node);
        let outside = asked.always.clone();
        for (key, value) in members {
            let more = self.cases_of_keyword(node, &key, value, asked)?;
            let more: Vec<Case> = more.into_iter().map(|case| case.beyond(&asked.always)).collect();
            cases = self.both(&cases, &more, asked)?;
            if let [first, ..] = &cases[..] {
                asked.always = outside.and(first);
            }
        }
        asked.always = outside;
        asked.way.pop();
        Ok(cases)
    }

    /// Returns the cases of two schemas that both apply.
    fn both(&self, one: &[Case], other: &[Case], asked: &Asked) -> Result<Vec<Case>, SchemaError> {
        if let [only] = other
            && only.holds.is_empty()
            && only.evaluates_nothing()
        {
            return Ok(one.to_vec());
        }
        if one.len() * other.len() > MOST_CASES {
            let message = format!(
                "the evaluated members and items depend on more than \
                                   {MOST_CASES} cases"
            );
            let error = self.schemas.error(SchemaErrorKind::UnsupportedKeyword, asked.at, message);
            return Err(error.help(
                "name the members in the schema that allows them, and use `additionalProperties` \
                 or `items` there",
            ));
        }
        Ok(one.iter().flat_map(|one| other.iter().map(|other| one.and(other))).collect())
    }

    fn cases_of_keyword(
        &mut self,
        node: NodeId,
        key: &str,
        value: NodeId,
        asked: &mut Asked,
    ) -> Result<Vec<Case>, SchemaError> {
        let mut case = Case::default();
        let draft = self.schemas.draft(node);
        match key {
            "properties" => case.names = self.keys(value),
            "patternProperties" => case.patterns = self.keys(value),
            "additionalProperties" => case.members = true,
            "unevaluatedProperties" if value != asked.at => case.members = true,
            "unevaluatedItems" if value != asked.at => case.items = true,
            "items" | "prefixItems" => match self.schemas.json.value(value) {
                Value::Array(items) => case.front = items.len(),
                _ => case.items = true,
            },
            "additionalItems" if draft < Draft::Nine => {
                let items = self.schemas.json.get(node, "items");
                let items = items.map(|items| self.schemas.json.value(items));
                case.items = matches!(items, Some(Value::Array(_)));
            }
            "contains" if draft >= Draft::Nine => case.found.push(self.child(value)?),
            _ => return self.cases_of_schemas(node, key, value, asked),
        }
        Ok(vec![case])
    }

    /// Like `cases_of_keyword`, for keywords whose schemas apply to the same value.
    fn cases_of_schemas(
        &mut self,
        node: NodeId,
        key: &str,
        value: NodeId,
        asked: &mut Asked,
    ) -> Result<Vec<Case>, SchemaError> {
        let nothing = vec![Case::default()];
        Ok(match key {
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                let text = self.schemas.json.string(value).unwrap_or_default().to_owned();
                let target = match key {
                    "$ref" => self.schemas.resolve(node, value, &text)?,
                    _ => self.schemas.resolve_dynamic(node, value, &text)?,
                };
                self.cases(target, asked)?
            }
            "allOf" => {
                let mut all = nothing;
                for part in self.parts_of(value) {
                    let more = self.cases(part, asked)?;
                    all = self.both(&all, &more, asked)?;
                }
                all
            }
            "anyOf" => {
                let mut all = nothing.clone();
                for part in self.parts_of(value) {
                    let mut more = nothing.clone();
                    more.extend(self.cases_where(part, asked)?);
                    all = self.both(&all, &more, asked)?;
                }
                all
            }
            "oneOf" => {
                let mut all = nothing;
                for part in self.parts_of(value) {
                    all.extend(self.cases_where(part, asked)?);
                }
                all
            }
            "if" => self.cases_of_conditional(node, value, asked)?,
            "dependentSchemas" => {
                let Value::Object(named) = self.schemas.json.value(value).clone() else {
                    return Ok(nothing);
                };
                let mut all = nothing.clone();
                for (name, part) in named {
                    let has_name = self.has_key(&name);
                    let found = self.cases(part, asked)?.into_iter();
                    let found = found.filter(|case| !case.evaluates_nothing());
                    let more = nothing.iter().cloned();
                    let more: Vec<Case> =
                        more.chain(found.map(|case| case.with(has_name))).collect();
                    all = self.both(&all, &more, asked)?;
                }
                all
            }
            _ => nothing,
        })
    }

    /// Returns the cases of a schema that applies only to some values, each with the condition that
    /// the schema holds. Cases that evaluate nothing are left out.
    fn cases_where(&mut self, part: NodeId, asked: &mut Asked) -> Result<Vec<Case>, SchemaError> {
        let mut cases = self.cases(part, asked)?;
        cases.retain(|case| !case.evaluates_nothing());
        if cases.is_empty() {
            return Ok(cases);
        }
        let holds = self.schema(part)?;
        Ok(cases.into_iter().map(|case| case.with(holds)).collect())
    }

    fn cases_of_conditional(
        &mut self,
        node: NodeId,
        condition: NodeId,
        asked: &mut Asked,
    ) -> Result<Vec<Case>, SchemaError> {
        let nothing = vec![Case::default()];
        let mut branch = |key: &str| match self.schemas.json.get(node, key) {
            Some(branch) => self.cases(branch, asked),
            None => Ok(nothing.clone()),
        };
        let (then, otherwise) = (branch("then")?, branch("else")?);
        let own = self.cases(condition, asked)?;
        let then = self.both(&own, &then, asked)?;
        let mut all = nothing;
        if then.iter().any(|case| !case.evaluates_nothing()) {
            let holds = self.schema(condition)?;
            all.extend(then.into_iter().map(|case| case.with(holds)));
        }
        if otherwise.iter().any(|case| !case.evaluates_nothing()) {
            let denied = self.denied(|reader| reader.schema(condition))?;
            let fails = self.formulas.not(denied);
            all.extend(otherwise.into_iter().map(|case| case.with(fails)));
        }
        Ok(all)
    }

    fn parts_of(&self, value: NodeId) -> Vec<NodeId> {
        match self.schemas.json.value(value) {
            Value::Array(parts) => parts.clone(),
            _ => Vec::new(),
        }
    }

    /// Returns the keys of an object, as texts.
    fn keys(&mut self, value: NodeId) -> Vec<u32> {
        let Value::Object(members) = self.schemas.json.value(value).clone() else {
            return Vec::new();
        };
        members.iter().map(|(key, _)| self.atoms.text(key)).collect()
    }
}
