//! Structural tags: free text in which tagged JSON stands, as models call tools.
//!
//! Free text is read up to the first *trigger* in it. Behind that one of the tags goes on whose
//! beginning starts with the trigger; then come a value that satisfies the tag's schema, the tag's
//! end, and free text again.

use smallvec::{SmallVec, smallvec};

use crate::grammar::ir::{Conflicts, Nonterminal, Production, Symbol, Symbols, Terminal};
use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::grammar::{Grammar, GrammarReader};
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::json::{Json, NodeId, Value};
use crate::schema::options::SchemaOptions;
use crate::schema::{JsonSchema, Narrowing};
use crate::util::id::{NonterminalId, ProductionId, TerminalId};
use crate::util::meter::{Meter, Phase};

/// A tag: a text, a value that satisfies a schema, and a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Tag {
    begin: String,
    schema: String,
    end: String,
}

/// Free text with any number of tagged values in it: how models call tools.
///
/// ```
/// use lrmask::{Constraint, SchemaOptions, StructuralTags, Vocabulary};
///
/// let mut tags = StructuralTags::new(["<function="]);
/// let city = r#"{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}"#;
/// tags.add_tag("<function=get_weather>", city, "</function>");
/// tags.add_tag("<function=get_time>", r#"{"type": "object"}"#, "</function>");
/// let grammar = tags.grammar(&SchemaOptions::default())?;
///
/// let vocabulary = Vocabulary::builtin("o200k")?;
/// let mut matcher = Constraint::new(&grammar, &vocabulary)?.matcher();
/// assert!(matcher.advance_bytes(br#"Let me look. <function=get_weather>{"city": "Paris"}</function>"#).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StructuralTags {
    triggers: Vec<String>,
    tags: Vec<Tag>,
}

const START: usize = 0;
const TAGGED: usize = 1;

impl StructuralTags {
    /// No tags yet. A trigger in free text is the beginning of a tag.
    pub fn new<T: Into<String>>(triggers: impl IntoIterator<Item = T>) -> Self {
        Self { triggers: triggers.into_iter().map(Into::into).collect(), tags: Vec::new() }
    }

    /// Adds a tag: a beginning, which starts with a trigger, a value that satisfies `schema`, and
    /// an end. Blanks stand around the value only as far as `begin` and `end` have them.
    pub fn add_tag(&mut self, begin: &str, schema: &str, end: &str) {
        self.tags.push(Tag {
            begin: begin.to_owned(),
            schema: schema.to_owned(),
            end: end.to_owned(),
        });
    }

    /// Reads tags from JSON: `{"triggers": [...], "structures": [{"begin", "schema", "end"}]}`, as
    /// vLLM and SGLang take them, with `"type": "structural_tag"` or without.
    ///
    /// # Errors
    ///
    /// When the text is not JSON of this form.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let mut json = Json::default();
        let root = json.read("<tags>", text)?;
        let invalid = |node: NodeId, message: &str| {
            SchemaError::new(SchemaErrorKind::InvalidSchema, message)
                .at(json.pointer(node), json.place(node))
        };
        let list = |key: &str| match json.get(root, key).map(|list| (list, json.value(list))) {
            Some((_, Value::Array(items))) => Ok(items),
            Some((list, _)) => Err(invalid(list, &format!("`{key}` is a list"))),
            None => Err(invalid(root, &format!("`{key}` is missing"))),
        };
        let string = |node: NodeId| {
            json.string(node)
                .map(str::to_owned)
                .ok_or_else(|| invalid(node, "a string is to stand here"))
        };
        let mut tags = Self::default();
        for &trigger in list("triggers")? {
            tags.triggers.push(string(trigger)?);
        }
        for &structure in list("structures")? {
            let member = |key: &str| {
                json.get(structure, key)
                    .ok_or_else(|| invalid(structure, &format!("`{key}` is missing")))
            };
            let schema = json.place(member("schema")?);
            let schema = text.get(schema.span).unwrap_or_default();
            tags.add_tag(&string(member("begin")?)?, schema, &string(member("end")?)?);
        }
        Ok(tags)
    }

    /// The grammar of free text with these tags in it, all schemas read with `options`.
    ///
    /// # Errors
    ///
    /// When a schema is refused, when a tag begins with no trigger or as another one does, and when
    /// there are no tags or an empty trigger.
    pub fn grammar(&self, options: &SchemaOptions) -> Result<Grammar, SchemaError> {
        GrammarReader::new().structural_tags(self, options)
    }

    fn metered(&self, options: &SchemaOptions, meter: &Meter) -> Result<Grammar, SchemaError> {
        let meter = &meter.at(Phase::Schema);
        let invalid = |message: String| SchemaError::new(SchemaErrorKind::InvalidSchema, message);
        if self.tags.is_empty() || self.triggers.iter().any(String::is_empty) {
            return Err(invalid("there is no tag, or a trigger is empty".to_owned()));
        }
        let mut grammar = Grammar::plain(Vec::new(), Vec::new(), Vec::new(), Conflicts::Refuse);
        for name in ["start", "tagged"] {
            let (name, productions) = (name.into(), SmallVec::new());
            grammar.nonterminals.push(Nonterminal { name, productions, marks: None, place: None });
        }
        let tagged = Symbol::Nonterminal(NonterminalId::new(TAGGED));
        let rest = terminal(&mut grammar, "FREE_TEXT", "free text", self.free_text());
        production(&mut grammar, START, smallvec![tagged]);
        production(&mut grammar, START, smallvec![tagged, rest]);
        production(&mut grammar, TAGGED, Symbols::new());
        for (number, tag) in self.tags.iter().enumerate() {
            let begin = tag.begin.escape_debug();
            if self.tags[..number].iter().any(|other| other.begin == tag.begin) {
                return Err(invalid(format!("two tags begin with \"{begin}\"")));
            }
            let lead = self.lead(&tag.begin).ok_or_else(|| {
                invalid(format!("the tag \"{begin}\" begins with no trigger"))
                    .help("add its first characters to the triggers")
            })?;
            let lead = terminal(&mut grammar, "TAG", &format!("the tag \"{begin}\""), lead);
            let schema = JsonSchema::metered(&tag.schema, options, Narrowing::default(), meter)?;
            grammar.warnings.extend(schema.warnings().iter().cloned());
            let value = Symbol::Nonterminal(schema.embed(&mut grammar));
            let mut rhs = vec![tagged, lead, value];
            if !tag.end.is_empty() {
                rhs.push(terminal(
                    &mut grammar,
                    "END",
                    &format!("{:?}", tag.end),
                    literal(&tag.end),
                ));
            }
            production(&mut grammar, TAGGED, rhs.into());
        }
        grammar.cost = meter.cost();
        Ok(grammar)
    }

    /// Bytes of its texts.
    pub(crate) fn bytes(&self) -> usize {
        let tag = |tag: &Tag| tag.begin.len() + tag.schema.len() + tag.end.len();
        self.triggers.iter().map(String::len).chain(self.tags.iter().map(tag)).sum()
    }

    /// Any of the triggers.
    fn triggers(&self) -> Pattern {
        Pattern::Alternation(self.triggers.iter().map(|trigger| literal(trigger)).collect())
    }

    /// Texts without a trigger; not the empty one.
    fn free_text(&self) -> Pattern {
        let with_trigger = Pattern::Concat(vec![anything("*"), self.triggers(), anything("*")]);
        Pattern::Intersection(vec![anything("+"), Pattern::Complement(Box::new(with_trigger))])
    }

    /// Free text and the beginning of a tag. The first trigger in the text is that of the tag.
    fn lead(&self, begin: &str) -> Option<Pattern> {
        let own = self.triggers.iter().filter(|trigger| begin.starts_with(trigger.as_str()));
        // Of triggers that begin alike the shortest is found first.
        let own = own.min_by_key(|trigger| trigger.len())?;
        let first =
            Pattern::Shortest(Box::new(Pattern::Concat(vec![anything("*"), self.triggers()])));
        let ends_so = Pattern::Concat(vec![anything("*"), literal(own)]);
        let text = Pattern::Intersection(vec![first, ends_so]);
        Some(Pattern::Concat(vec![text, literal(&begin[own.len()..])]))
    }
}

impl GrammarReader<'_> {
    /// The grammar of free text with these tags in it: see [`StructuralTags::grammar`].
    ///
    /// # Errors
    ///
    /// As [`StructuralTags::grammar`]; [`SchemaError::limit`] tells of a limit.
    pub fn structural_tags(
        &self,
        tags: &StructuralTags,
        options: &SchemaOptions,
    ) -> Result<Grammar, SchemaError> {
        tags.metered(options, &Meter::new(self.within()))
    }
}

fn literal(text: &str) -> Pattern {
    Pattern::Literal { text: text.to_owned(), ignore_case: false }
}

/// All texts, by a quantifier.
fn anything(quantifier: &str) -> Pattern {
    let pattern = format!("[\\x00-\\U0010ffff]{quantifier}");
    Pattern::Regex { pattern, flags: RegexFlags::default(), place: None }
}

/// The terminal of a pattern, one for equal ones.
fn terminal(grammar: &mut Grammar, name: &str, description: &str, pattern: Pattern) -> Symbol {
    let known =
        grammar.terminals.iter().position(|terminal| terminal.pattern.as_ref() == Some(&pattern));
    let number = known.unwrap_or_else(|| {
        let number = grammar.terminals.len();
        let name = format!("{name}_{number}");
        let terminal = Terminal::plain(name, Some(pattern), number as u32);
        grammar.terminals.push(terminal.described(description));
        number
    });
    Symbol::Terminal(TerminalId::new(number))
}

fn production(grammar: &mut Grammar, lhs: usize, rhs: Symbols) {
    let id = ProductionId::new(grammar.productions.len());
    grammar.nonterminals[lhs].productions.push(id);
    let lhs = NonterminalId::new(lhs);
    grammar.productions.push(Production { lhs, rhs, precedence: None, priority: 0, place: None });
}
