//! Conversion of the keywords of a schema into a formula.
//!
//! A schema is read on demand. Schemas without references are read as a whole, so that equal ones
//! become one formula; others are an atom, which [`Reader::expand`] replaces by the schema's
//! formula.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::schema::atoms::Atoms;
use crate::schema::draft::Draft;
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::formula::{Atom, Comparison, FormulaId, Formulas};
use crate::schema::json::{NodeId, Text, Value};
use crate::schema::options::{Formats, SchemaOptions};
use crate::schema::origins::Origins;
use crate::schema::refs::Schemas;
use crate::schema::text::ecma_lengths::{self, Counted};
use crate::schema::text::{ecma, formats};
use crate::schema::vocabulary;
use crate::util::diagnostic::Diagnostic;

use FormulaId as F;

/// Reader of schemas.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) schemas: Schemas<'a>,
    pub(super) options: &'a SchemaOptions,
    pub(super) formulas: Formulas,
    pub(super) atoms: Atoms,
    /// Schemas that are atoms, each with whether it is denied. Their formulas are in `said`, `None`
    /// until they are known.
    nodes: Vec<(NodeId, bool)>,
    numbers: FxHashMap<(NodeId, bool), u32>,
    said: Vec<Option<F>>,
    /// Schemas being read about the same value, the outermost first.
    open: Vec<NodeId>,
    /// For each value, whether it contains a reference.
    refers: FxHashMap<NodeId, bool>,
    /// Whether the part being read is denied. Keywords that can only be approximated are narrowed
    /// if they are not denied, and widened if they are.
    pub(super) is_denied: bool,
    /// Whether `uniqueItems` allows only one item, because there are too many sets of fingerprints.
    pub(super) keeps_few_items: bool,
    /// Whether `maxItems` is limited to counts that are counted one by one.
    pub(super) bounds_items: bool,
    /// Whether unique items may be followed by the matcher.
    pub(super) follows_items: bool,
    /// Whether keys are tracked only where necessary, because there are too many sets of them.
    pub(super) keeps_few_sets: bool,
    /// Every `uniqueItems` whose items may be followed.
    pub(super) distinct: Vec<Distinct>,
    /// Number of arrays whose items have fingerprints.
    pub(super) told_apart: usize,
    pub(super) warnings: Vec<Diagnostic>,
    pub(super) origins: Origins,
    /// Formulas of the schemas read so far, by schema and whether it is denied.
    read: FxHashMap<(NodeId, bool), F>,
    /// First occurrence of each pattern and format, by its text.
    pub(super) places: FxHashMap<u32, NodeId>,
}

/// A `uniqueItems` whose items may be followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distinct {
    /// Schema that contains the keyword.
    pub(super) node: NodeId,
    pub(super) value: NodeId,
    /// Replacement if the items are not followed, as far as it is known.
    pub(super) narrower: Option<F>,
    /// Whether the keyword is denied. It is then widened, so that more values are excluded.
    pub(super) is_denied: bool,
}

/// Maximum nesting depth of schemas about one value.
const DEPTH: usize = 128;

impl<'a> Reader<'a> {
    pub(super) fn new(schemas: Schemas<'a>, options: &'a SchemaOptions) -> Self {
        Self {
            schemas,
            options,
            formulas: Formulas::new(),
            atoms: Atoms::default(),
            nodes: Vec::new(),
            numbers: FxHashMap::default(),
            said: Vec::new(),
            open: Vec::new(),
            refers: FxHashMap::default(),
            is_denied: false,
            keeps_few_items: false,
            bounds_items: false,
            follows_items: true,
            keeps_few_sets: false,
            distinct: Vec::new(),
            told_apart: 0,
            read: FxHashMap::default(),
            warnings: Vec::new(),
            origins: Origins::default(),
            places: FxHashMap::default(),
        }
    }

    /// Returns the formula of a schema that applies to a value other than the current one.
    pub(super) fn child(&mut self, node: NodeId) -> Result<F, SchemaError> {
        if !self.refers(node) {
            let open = std::mem::take(&mut self.open);
            let said = self.schema(node);
            self.open = open;
            return said;
        }
        let next = self.nodes.len() as u32;
        let key = (node, self.is_denied);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.nodes.push(key);
            self.said.push(None);
        }
        Ok(self.formulas.atom(Atom::Schema(number)))
    }

    /// Returns the formula of the schema of this number, in atoms of one level.
    pub(super) fn expand(&mut self, schema: u32) -> Result<F, SchemaError> {
        if let Some(known) = self.said[schema as usize] {
            return Ok(known);
        }
        let (node, is_denied) = self.nodes[schema as usize];
        self.is_denied = is_denied;
        let open = std::mem::take(&mut self.open);
        let said = self.schema(node);
        self.open = open;
        let said = said?;
        self.said[schema as usize] = Some(said);
        Ok(said)
    }

    fn refers(&mut self, node: NodeId) -> bool {
        if let Some(&known) = self.refers.get(&node) {
            return known;
        }
        let members: Vec<NodeId> = match self.schemas.json.value(node) {
            Value::Object(members) => {
                let is_reference =
                    |key: &str| matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef");
                if members.iter().any(|(key, _)| is_reference(key)) {
                    self.refers.insert(node, true);
                    return true;
                }
                members.iter().map(|&(_, value)| value).collect()
            }
            Value::Array(items) => items.clone(),
            _ => Vec::new(),
        };
        let refers = members.into_iter().any(|member| self.refers(member));
        self.refers.insert(node, refers);
        refers
    }

    /// Returns the formula of a schema that applies to the current value.
    pub(super) fn schema(&mut self, node: NodeId) -> Result<F, SchemaError> {
        if let Some(&known) = self.read.get(&(node, self.is_denied)) {
            return Ok(known);
        }
        let members = match self.schemas.json.value(node) {
            Value::Boolean(value) => return Ok(Formulas::constant(*value)),
            Value::Object(members) => members.clone(),
            _ => {
                return Err(self.schemas.invalid(
                    node,
                    "expected a schema: an object, `true` or \
                                                       `false`",
                ));
            }
        };
        if let Some(at) = self.open.iter().position(|&open| open == node) {
            let round =
                self.open[at..].iter().map(|&open| format!("#{}", self.schemas.json.pointer(open)));
            let round: Vec<String> =
                round.chain([format!("#{}", self.schemas.json.pointer(node))]).collect();
            return Err(self
                .schemas
                .error(
                    SchemaErrorKind::ReferenceCycle,
                    node,
                    "the schema refers to itself for the same value",
                )
                .example(round.join(" -> "))
                .help("put a member or an item in between, or remove the reference"));
        }
        if self.open.len() >= DEPTH {
            let message = format!("schemas of one value nest more than {DEPTH} levels deep");
            return Err(self.schemas.error(SchemaErrorKind::TooLarge, node, message));
        }
        self.open.push(node);
        let said = self.keywords(node, &members);
        self.open.pop();
        let said = said?;
        self.origins.said(said, node);
        self.read.insert((node, self.is_denied), said);
        Ok(said)
    }

    /// Reads something with the opposite polarity: denied if it was not, and the reverse.
    pub(super) fn denied<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SchemaError>,
    ) -> Result<T, SchemaError> {
        self.is_denied = !self.is_denied;
        let result = read(self);
        self.is_denied = !self.is_denied;
        result
    }

    /// Returns the conjunction of the keywords' formulas. Keywords are read in order, which
    /// determines the order of names.
    fn keywords(&mut self, node: NodeId, members: &[(Text<'a>, NodeId)]) -> Result<F, SchemaError> {
        let draft = self.schemas.draft(node);
        let reference = members.iter().find(|(key, _)| key == "$ref");
        if let (Some((_, value)), true) = (reference, draft <= Draft::Seven) {
            return self.reference(node, *value, false);
        }
        let mut parts: SmallVec<[F; 8]> = SmallVec::new();
        let (mut has_properties, mut has_items) = (false, false);
        for (key, value) in members {
            let part = match &**key {
                "properties" | "patternProperties" | "additionalProperties" => {
                    if std::mem::replace(&mut has_properties, true) {
                        continue;
                    }
                    self.properties(node)?
                }
                "items" | "prefixItems" | "additionalItems" => {
                    if std::mem::replace(&mut has_items, true) {
                        continue;
                    }
                    self.items(node, draft)?
                }
                _ => self.keyword(node, draft, key, *value)?,
            };
            if part == F::FALSE {
                return Ok(part);
            }
            parts.push(part);
        }
        Ok(self.formulas.and(parts))
    }

    /// Returns the formula of one keyword of a schema, ignoring the keywords that it interacts
    /// with.
    pub(super) fn keyword_alone(
        &mut self,
        node: NodeId,
        member: &(Text<'a>, NodeId),
    ) -> Result<F, SchemaError> {
        let open = std::mem::take(&mut self.open);
        self.is_denied = false;
        let said = self.keywords(node, std::slice::from_ref(member));
        self.open = open;
        said
    }

    fn keyword(
        &mut self,
        node: NodeId,
        draft: Draft,
        key: &str,
        value: NodeId,
    ) -> Result<F, SchemaError> {
        Ok(match key {
            "$ref" => self.reference(node, value, false)?,
            "$dynamicRef" if draft >= Draft::Nine => self.reference(node, value, true)?,
            "$recursiveRef" if draft == Draft::Eight => self.reference(node, value, true)?,
            "type" => self.types(value, draft)?,
            "enum" => self.enumeration(value)?,
            "const" if draft >= Draft::Six => self.constant(value)?,
            "allOf" => {
                let parts = self.list(value)?;
                self.formulas.and(parts)
            }
            "anyOf" => {
                let parts = self.list(value)?;
                self.formulas.or(parts)
            }
            "oneOf" => {
                if let Some(told_apart) = self.one_told_apart(value)? {
                    return Ok(told_apart);
                }
                let parts = self.list(value)?;
                let denied = self.denied(|reader| reader.list(value))?;
                self.one(parts, &denied)
            }
            "not" => {
                let inner = self.denied(|reader| reader.schema(value))?;
                self.formulas.not(inner)
            }
            "if" if draft >= Draft::Seven => self.conditional(node, value)?,
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
                self.bound(node, draft, key, value)?
            }
            "multipleOf" => self.multiple(value)?,
            "minLength" => self.at_least(value, Atom::MinLength)?,
            "maxLength" => self.at_most(value, Atom::MaxLength)?,
            "minItems" => self.at_least(value, Atom::MinItems)?,
            "maxItems" => self.most_items(value)?,
            "minProperties" => self.at_least(value, Atom::MinProperties)?,
            "maxProperties" => self.at_most(value, Atom::MaxProperties)?,
            "pattern" => self.pattern(node, value)?,
            "format" => self.format(node, value)?,
            "uniqueItems" => self.unique(node, value)?,
            "contains" if draft >= Draft::Six => self.contains(node, draft, value)?,
            "required" => self.required(value)?,
            "propertyNames" if draft >= Draft::Six => self.property_names(value)?,
            "dependencies" => self.dependencies(value)?,
            "dependentRequired" | "dependentSchemas" if draft >= Draft::Eight => {
                self.dependencies(value)?
            }
            "unevaluatedProperties" if draft >= Draft::Eight => {
                self.unevaluated_properties(node, value)?
            }
            "unevaluatedItems" if draft >= Draft::Eight => self.unevaluated_items(node, value)?,
            // The remaining keywords are annotations, or belong to one of the above, or to no
            // draft.
            _ => F::TRUE,
        })
    }

    /// Reads a bound of numbers. In draft 4, booleans next to bounds say whether these are
    /// exclusive.
    fn bound(
        &mut self,
        node: NodeId,
        draft: Draft,
        key: &str,
        value: NodeId,
    ) -> Result<F, SchemaError> {
        use Comparison::{Above, AtLeast, AtMost, Below};
        let may_be_boolean = draft <= Draft::Four || self.schemas.is_supposed(node);
        let is_true = |value: Option<NodeId>| {
            let value = value.map(|value| self.schemas.json.value(value));
            may_be_boolean && matches!(value, Some(Value::Boolean(true)))
        };
        let comparison = match key {
            "minimum" if is_true(self.schemas.json.get(node, "exclusiveMinimum")) => Above,
            "maximum" if is_true(self.schemas.json.get(node, "exclusiveMaximum")) => Below,
            "minimum" => AtLeast,
            "maximum" => AtMost,
            _ if may_be_boolean && matches!(self.schemas.json.value(value), Value::Boolean(_)) => {
                return Ok(F::TRUE);
            }
            "exclusiveMinimum" => Above,
            _ => Below,
        };
        self.compare(comparison, value)
    }

    fn multiple(&mut self, value: NodeId) -> Result<F, SchemaError> {
        let number = self.number(value)?;
        if number.is_zero() || number.is_negative() {
            return Err(self.schemas.invalid(value, "`multipleOf` must be greater than 0"));
        }
        let number = self.atoms.numbers.intern(number);
        Ok(self.formulas.atom(Atom::MultipleOf(number)))
    }

    /// Reads `propertyNames`: a condition on all names.
    fn property_names(&mut self, value: NodeId) -> Result<F, SchemaError> {
        let names = self.child(value)?;
        Ok(if names == F::TRUE { names } else { self.formulas.atom(Atom::PropertyNames(names)) })
    }

    fn pattern(&mut self, node: NodeId, value: NodeId) -> Result<F, SchemaError> {
        let text = self.text(value)?;
        let longest =
            self.schemas.json.get(node, "maxLength").map(|max| self.schemas.json.value(max));
        let mut longest = match longest {
            Some(Value::Number(longest)) => longest.to_u64(),
            _ => None,
        };
        self.note_dialect(&text, value);
        let mut parts = Vec::new();
        let mut patterns = vec![text];
        if let Some(counted) = ecma_lengths::counted(&patterns[0]) {
            let Counted { min, max, .. } = counted;
            patterns = counted.patterns;
            longest = longest.into_iter().chain(max.map(u64::from)).min();
            parts.extend((min > 0).then(|| self.formulas.atom(Atom::MinLength(min.into()))));
            parts.extend(max.map(|max| self.formulas.atom(Atom::MaxLength(max.into()))));
        }
        for mut pattern in patterns {
            if let Some(longest) = longest {
                pattern = ecma_lengths::without_idle_counts(&pattern, longest);
            }
            parts.push(self.pattern_of(&pattern, value));
        }
        Ok(self.formulas.and(parts))
    }

    /// Warns about syntax in a pattern that belongs to another dialect than ECMA-262.
    pub(super) fn note_dialect(&mut self, text: &str, at: NodeId) {
        if let Some(foreign) = ecma::foreign(text) {
            let (reading, help) = match foreign.is_literal {
                false => ("read as in other dialects", "use ECMA-262 syntax: `^`, `$`, `[Aa]`"),
                true => (
                    "read as plain characters",
                    "use ECMA-262 syntax, such as `[A-Za-z]` or `{0,3}`, if that is not meant",
                ),
            };
            let message = format!("`{}` is not ECMA-262 syntax and is {reading}", foreign.text);
            let warning = Diagnostic::warning("read-as-meant", message).help(help);
            self.schemas.warn_once(at, warning);
        }
    }

    /// Returns the formula of the strings that contain a match of the pattern `text`.
    fn pattern_of(&mut self, text: &str, value: NodeId) -> F {
        // The approximation of such a pattern is too narrow to be denied.
        if self.is_denied && ecma::is_narrowed(text) {
            return self.held_of_all(value);
        }
        let pattern = self.placed_text(text, value);
        self.formulas.atom(Atom::Pattern(pattern))
    }

    /// Returns true for a denied keyword that can only be approximated, with a warning.
    pub(super) fn held_of_all(&mut self, value: NodeId) -> F {
        let message = "under `not`, a keyword that can only be approximated is treated as \
                       satisfied";
        let warning = Diagnostic::warning("narrowed-schema", message);
        self.warn(warning.at(self.schemas.json.place(value)));
        F::TRUE
    }

    fn reference(
        &mut self,
        node: NodeId,
        value: NodeId,
        is_dynamic: bool,
    ) -> Result<F, SchemaError> {
        let text = self.text(value)?;
        let target = match is_dynamic {
            true => self.schemas.resolve_dynamic(node, value, &text)?,
            false => self.schemas.resolve(node, value, &text)?,
        };
        self.schema(target)
    }

    /// Returns the formulas of a list of schemas that apply to the current value.
    pub(super) fn list(&mut self, value: NodeId) -> Result<Vec<F>, SchemaError> {
        let schemas = self.elements(value)?;
        if schemas.is_empty() {
            return Err(self.schemas.invalid(value, "the list of schemas is empty"));
        }
        schemas.into_iter().map(|schema| self.schema(schema)).collect()
    }

    fn conditional(&mut self, node: NodeId, condition: NodeId) -> Result<F, SchemaError> {
        let branches = ["then", "else"].map(|key| self.schemas.json.get(node, key));
        if branches == [None, None] {
            return Ok(F::TRUE);
        }
        let denied = self.denied(|reader| reader.schema(condition))?;
        let condition = self.schema(condition)?;
        let mut branch =
            |branch: Option<NodeId>| branch.map_or(Ok(F::TRUE), |branch| self.schema(branch));
        let (then, otherwise) = (branch(branches[0])?, branch(branches[1])?);
        let not = self.formulas.not(denied);
        if condition != denied {
            let first = self.formulas.and([condition, then]);
            let second = self.formulas.and([not, otherwise]);
            return Ok(self.formulas.or([first, second]));
        }
        let first = self.formulas.or([not, then]);
        let second = self.formulas.or([condition, otherwise]);
        Ok(self.formulas.and([first, second]))
    }

    /// Whether the schema has a `type` without strings.
    fn excludes_strings(&self, node: NodeId) -> bool {
        let json = &self.schemas.json;
        let others = ["null", "boolean", "integer", "number", "array", "object"];
        let is_other = |kind: NodeId| json.string(kind).is_some_and(|kind| others.contains(&kind));
        json.get(node, "type").is_some_and(|kind| match json.value(kind) {
            Value::Array(kinds) => kinds.iter().all(|&kind| is_other(kind)),
            _ => is_other(kind),
        })
    }

    /// States that exactly one of `parts` holds; `denied` are the same parts, read as denied.
    pub(super) fn one(&mut self, parts: Vec<F>, denied: &[F]) -> F {
        if parts == denied {
            return self.formulas.one(parts);
        }
        let mut cases = Vec::with_capacity(parts.len());
        for (at, &part) in parts.iter().enumerate() {
            let mut all = vec![part];
            for (other, &denied) in denied.iter().enumerate() {
                if other != at {
                    all.push(self.formulas.not(denied));
                }
            }
            cases.push(self.formulas.and(all));
        }
        self.formulas.or(cases)
    }

    fn format(&mut self, node: NodeId, value: NodeId) -> Result<F, SchemaError> {
        let text = self.text(value)?;
        // A format says something about strings only.
        if self.options.formats == Formats::Ignore || self.excludes_strings(node) {
            return Ok(F::TRUE);
        }
        if !formats::is_known(&text) {
            let message = format!("the format \"{}\" is unknown", text.escape_debug());
            let meant = vocabulary::meant_format(&text);
            let meant = meant.map(|meant| format!("did you mean \"{meant}\"?"));
            if self.options.formats == Formats::Known {
                if !vocabulary::is_format(&text) {
                    let help = meant.unwrap_or_else(|| "use `pattern` instead".to_owned());
                    let message = format!("{message} and has no effect");
                    let warning = Diagnostic::warning("unknown-format", message).help(help);
                    self.schemas.warn_once(value, warning);
                }
                return Ok(F::TRUE);
            }
            let help = "use `pattern` instead, or treat unknown formats as annotations";
            return Err(self
                .schemas
                .error(SchemaErrorKind::UnknownFormat, value, message)
                .help(meant.unwrap_or_else(|| help.to_owned())));
        }
        let format = self.placed_text(&text, value);
        Ok(self.formulas.atom(Atom::Format(format)))
    }
}
