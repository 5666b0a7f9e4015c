//! Structural tags: free text with tagged JSON in it, as models call tools.
//!
//! Free text is read up to the first *trigger* in it. A tag whose beginning starts with the trigger
//! continues there; then follow a value that satisfies the tag's schema, the tag's end, and free
//! text again. A special token of the vocabulary with the name of a trigger, or of an end, may take
//! its place.

use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};

use crate::grammar::first_found::{Search, Texts};
use crate::grammar::ir::{Conflicts, Nonterminal, Production, Symbol, Symbols};
use crate::grammar::pattern::Pattern;
use crate::grammar::tokens::Tokens;
use crate::grammar::{Grammar, GrammarReader};
use crate::schema::error::{SchemaError, SchemaErrorKind};
use crate::schema::json::{Json, NodeId, Value};
use crate::schema::options::SchemaOptions;
use crate::schema::{JsonSchema, MadeTerminals, Narrowing, tag_formats};
use crate::util::id::{NonterminalId, ProductionId};
use crate::util::meter::{LimitReached, Meter, Phase};

/// A tag: a text, a value that satisfies a schema, and a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Tag {
    begin: String,
    schema: String,
    end: String,
}

/// Free text with any number of tagged values in it, as models call tools.
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
    /// The text of the other form.
    format: Option<String>,
}

/// Steps per letter of the automaton that finds one trigger among others, including those taken
/// before the lexer's meter counts.
const STEPS_OF_A_LETTER: usize = 12;

const START: usize = 0;
const TAGGED: usize = 1;

impl StructuralTags {
    /// Creates an empty set of tags. A trigger in free text is the beginning of a tag.
    pub fn new<T: Into<String>>(triggers: impl IntoIterator<Item = T>) -> Self {
        let triggers = triggers.into_iter().map(Into::into).collect();
        Self { triggers, ..Self::default() }
    }

    /// Adds a tag: a beginning, which starts with a trigger, a value that satisfies `schema`, and
    /// an end. The value has no blanks around it except those in `begin` and `end`.
    pub fn add_tag(&mut self, begin: &str, schema: &str, end: &str) {
        self.tags.push(Tag {
            begin: begin.to_owned(),
            schema: schema.to_owned(),
            end: end.to_owned(),
        });
    }

    /// Reads tags from JSON: `{"triggers": [...], "structures": [{"begin", "schema", "end"}]}`, the
    /// format of vLLM and SGLang, with or without `"type": "structural_tag"`. The newer form,
    /// `{"format": {...}}`, is read as well: formats within formats, as XGrammar has them. No tags
    /// can be added to it, and [`StructuralTags::grammar`] reports its faults.
    ///
    /// # Errors
    ///
    /// When the text is not JSON of one of these forms.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let mut json = Json::default();
        let root = json.read("<tags>", text)?;
        if tag_formats::is_format(&json, root) {
            return Ok(Self { format: Some(text.to_owned()), ..Self::default() });
        }
        let invalid = |node: NodeId, message: &str| {
            SchemaError::new(SchemaErrorKind::InvalidSchema, message)
                .at(json.pointer(node), json.place(node))
        };
        let list = |key: &str| match json.get(root, key).map(|list| (list, json.value(list))) {
            Some((_, Value::Array(items))) => Ok(items),
            Some((list, _)) => Err(invalid(list, &format!("`{key}` must be a list"))),
            None => Err(invalid(root, &format!("`{key}` is missing"))),
        };
        let string = |node: NodeId| {
            json.string(node).map(str::to_owned).ok_or_else(|| invalid(node, "expected a string"))
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

    /// Returns the grammar of free text with these tags in it. All schemas are read with `options`.
    ///
    /// # Errors
    ///
    /// When a schema or a format is refused, when a tag does not begin with a trigger or has the
    /// same beginning as another, or when there are no tags or an empty trigger.
    pub fn grammar(&self, options: &SchemaOptions) -> Result<Grammar, SchemaError> {
        GrammarReader::new().structural_tags(self, options)
    }

    fn metered(&self, options: &SchemaOptions, meter: &Meter) -> Result<Grammar, SchemaError> {
        let meter = &meter.at(Phase::Schema);
        let invalid = |message: String| SchemaError::new(SchemaErrorKind::InvalidSchema, message);
        if self.tags.is_empty() || self.triggers.iter().any(String::is_empty) {
            return Err(invalid("there is no tag, or a trigger is empty".to_owned()));
        }
        let triggers = self.distinct_triggers();
        let length = triggers.iter().map(String::len).sum::<usize>();
        let texts = self.tags.iter().map(|tag| tag.begin.len() + tag.end.len()).sum::<usize>();
        meter.input(length + texts)?;
        let mut grammar = Grammar::plain(Vec::new(), Vec::new(), Vec::new(), Conflicts::Refuse);
        for name in ["start", "tagged"] {
            let (name, productions) = (name.into(), SmallVec::new());
            grammar.nonterminals.push(Nonterminal { name, productions, marks: None, place: None });
        }
        let mut made = MadeTerminals::default();
        let search = |found| {
            let automaton = Search { texts: triggers.clone(), found }.automaton();
            meter.keep(automaton.bytes())?;
            Ok::<_, LimitReached>(Pattern::Automaton(automaton))
        };
        let tagged = Symbol::Nonterminal(NonterminalId::new(TAGGED));
        let free = made.plain(&mut grammar, ["FREE_TEXT", "free text"], search(None)?);
        production(&mut grammar, START, smallvec![tagged]);
        production(&mut grammar, START, smallvec![tagged, free]);
        production(&mut grammar, TAGGED, Symbols::new());
        let mut begins: HashSet<&str, FxBuildHasher> = HashSet::default();
        let mut leads: HashMap<&str, Symbol, FxBuildHasher> = HashMap::default();
        let mut ends: HashMap<&str, Symbol, FxBuildHasher> = HashMap::default();
        for tag in &self.tags {
            let begin = tag.begin.escape_debug();
            if !begins.insert(tag.begin.as_str()) {
                return Err(invalid(format!("two tags begin with \"{begin}\"")));
            }
            let trigger = self.trigger(&tag.begin).ok_or_else(|| {
                invalid(format!("the tag \"{begin}\" does not begin with a trigger"))
                    .help("add its first characters to the triggers")
            })?;
            let rest = &tag.begin[trigger.len()..];
            let mut rhs = Symbols::new();
            let shown = format!("the tag \"{begin}\"");
            if !rest.is_empty() {
                rhs.push(made.plain(&mut grammar, ["TAG", &shown], literal(rest)));
            }
            let schema = JsonSchema::metered(&tag.schema, options, Narrowing::default(), meter)?;
            grammar.warnings.extend(schema.warnings().iter().cloned());
            let value = Symbol::Nonterminal(schema.embed(&mut grammar, &mut made));
            rhs.push(value);
            if !tag.end.is_empty() {
                let end = ends.entry(tag.end.as_str()).or_insert_with(|| {
                    let shown = format!("{:?}", tag.end);
                    let text = made.plain(&mut grammar, ["END", &shown], literal(&tag.end));
                    let token = special(&mut grammar, &mut made, &tag.end);
                    any_of(&mut grammar, "end", vec![smallvec![text], smallvec![token]])
                });
                rhs.push(*end);
            }
            let name = NonterminalId::new(grammar.nonterminals.len());
            let (shown, productions) = ("tag".into(), SmallVec::new());
            let tag = Nonterminal { name: shown, productions, marks: None, place: None };
            grammar.nonterminals.push(tag);
            production(&mut grammar, name.index(), rhs);
            // This trigger is also found where a longer one ends in it.
            meter.step(triggers.len())?;
            let ends = |(_, found): &(usize, &String)| found.ends_with(trigger);
            for (number, found) in triggers.iter().enumerate().filter(ends) {
                let lead = match leads.get(found.as_str()) {
                    Some(&known) => known,
                    None => {
                        // Each of these automata searches for all triggers.
                        meter.step(STEPS_OF_A_LETTER * length)?;
                        let text = made.plain(
                            &mut grammar,
                            ["TRIGGER", &format!("the trigger {found:?}")],
                            search(Some(number))?,
                        );
                        let token = special(&mut grammar, &mut made, found);
                        let ways = [&[text][..], &[token], &[free, token]];
                        let ways = ways.map(Symbols::from_slice).to_vec();
                        let lead = any_of(&mut grammar, "trigger", ways);
                        leads.insert(found, lead);
                        lead
                    }
                };
                let rhs = smallvec![tagged, lead, Symbol::Nonterminal(name)];
                production(&mut grammar, TAGGED, rhs);
            }
        }
        grammar.cost = meter.cost();
        Ok(grammar)
    }

    /// Number of bytes of its texts.
    pub(crate) fn bytes(&self) -> usize {
        let tag = |tag: &Tag| tag.begin.len() + tag.schema.len() + tag.end.len();
        let texts = self.triggers.iter().chain(&self.format).map(String::len);
        texts.chain(self.tags.iter().map(tag)).sum()
    }

    /// Returns the triggers without duplicates.
    fn distinct_triggers(&self) -> Texts {
        let mut triggers = self.triggers.clone();
        triggers.sort_unstable();
        triggers.dedup();
        triggers.into()
    }

    /// Returns the trigger that a tag begins with: the shortest of several, which is found first.
    fn trigger(&self, begin: &str) -> Option<&str> {
        let own = self.triggers.iter().filter(|trigger| begin.starts_with(trigger.as_str()));
        own.min_by_key(|trigger| trigger.len()).map(String::as_str)
    }
}

impl GrammarReader<'_> {
    /// Returns the grammar of free text with these tags in it: see [`StructuralTags::grammar`].
    ///
    /// # Errors
    ///
    /// As [`StructuralTags::grammar`]; [`SchemaError::limit`] reports a limit.
    pub fn structural_tags(
        &self,
        tags: &StructuralTags,
        options: &SchemaOptions,
    ) -> Result<Grammar, SchemaError> {
        match &tags.format {
            Some(_) if !tags.tags.is_empty() => {
                let message = "tags cannot be added to a format, which contains its own";
                Err(SchemaError::new(SchemaErrorKind::InvalidSchema, message)
                    .help("write the tag in the format: `triggered_tags` has a list of tags"))
            }
            Some(format) => tag_formats::grammar(format, options, self.within()),
            None => tags.metered(options, &Meter::new(self.within())),
        }
    }
}

/// The special tokens that are called so.
fn special(grammar: &mut Grammar, made: &mut MadeTerminals, name: &str) -> Symbol {
    let tokens = Pattern::Tokens(Tokens::Special(name.to_owned()));
    made.plain(grammar, ["TOKEN", &format!("the token `{name}`")], tokens)
}

/// A nonterminal that is any of these.
fn any_of(grammar: &mut Grammar, name: &str, ways: Vec<Symbols>) -> Symbol {
    let number = NonterminalId::new(grammar.nonterminals.len());
    let (name, productions) = (name.into(), SmallVec::new());
    grammar.nonterminals.push(Nonterminal { name, productions, marks: None, place: None });
    ways.into_iter().for_each(|way| production(grammar, number.index(), way));
    Symbol::Nonterminal(number)
}

fn literal(text: &str) -> Pattern {
    Pattern::Literal { text: text.to_owned(), ignore_case: false }
}

fn production(grammar: &mut Grammar, lhs: usize, rhs: Symbols) {
    let id = ProductionId::new(grammar.productions.len());
    grammar.nonterminals[lhs].productions.push(id);
    let lhs = NonterminalId::new(lhs);
    grammar.productions.push(Production { lhs, rhs, precedence: None, priority: 0, place: None });
}
