//! Compares lrmask's JSON Schema with two third-party validators.
//!
//! ```sh
//! cargo run --release --manifest-path tests/validators/Cargo.toml -- [TEXTS [MUTATIONS]] [NAME...]
//! ```
//!
//! For each schema of MaskBench's samples, if they are placed next to the project:
//!
//! * *generated*: TEXTS texts (default 20) drawn from the masks, half with keys in the declared
//!   order and half in any, are valid;
//! * *permuted*: valid instances in up to 24 orders of their keys are accepted in any order;
//! * *mutated*: an instance with a key dropped, a value swapped or a number moved, MUTATIONS times
//!   (default 8), gets the same verdict from lrmask as from both validators.
//!
//! Differences are listed, and counted by kind; for approximated schemas the kind names the
//! approximations, taken from the warnings. Texts on which the two validators disagree are listed
//! too, with the one that calls them invalid, and the reason.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use lrmask::{Constraint, JsonSchema, KeyOrder, SchemaOptions, Vocabulary};
use serde_json::{Map, Value, json};

/// Number of bytes after which a generated text is completed.
const LENGTH: usize = 400;
/// Number of key orders of one instance.
const ORDERS: usize = 24;
/// Default number of mutations of one instance.
const MUTATIONS: usize = 8;

/// Pseudo-random numbers (Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Two third-party validators.
struct Oracles {
    first: jsonschema::Validator,
    schemas: boon::Schemas,
    second: boon::SchemaIndex,
}

impl Oracles {
    /// Returns `None` if one of them cannot read the schema.
    fn new(schema: &Value) -> Option<Self> {
        let first = jsonschema::options().should_validate_formats(true).build(schema).ok()?;
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler.enable_format_assertions();
        compiler.add_resource("memory:///schema", schema.clone()).ok()?;
        let second = compiler.compile("memory:///schema", &mut schemas).ok()?;
        Some(Self { first, schemas, second })
    }

    /// Returns the common verdict of both; if they disagree, which one calls the value invalid, and
    /// why.
    fn verdict(&self, value: &Value) -> Result<bool, String> {
        match (self.first.is_valid(value), self.schemas.validate(value, self.second)) {
            (true, Ok(())) => Ok(true),
            (false, Err(_)) => Ok(false),
            (false, Ok(())) => Err(format!("to jsonschema only, {}", self.why(value))),
            (true, Err(error)) => Err(format!("to boon only, {}", cause(&error))),
        }
    }

    /// Returns the keyword that a value violates.
    fn why(&self, value: &Value) -> String {
        let Some(error) = self.first.iter_errors(value).next() else { return String::new() };
        match error.kind() {
            jsonschema::error::ValidationErrorKind::Format { format } => format!("format {format}"),
            kind => kind.keyword().to_owned(),
        }
    }
}

/// Returns the kind of the second validator's first error without a cause.
fn cause(error: &boon::ValidationError) -> String {
    match (error.causes.first(), &error.kind) {
        (Some(first), _) => cause(first),
        (None, boon::ErrorKind::Format { want, .. }) => format!("format {want}"),
        (None, kind) => {
            let name = format!("{kind:?}");
            name.split(|letter: char| !letter.is_alphabetic()).next().unwrap_or(&name).to_owned()
        }
    }
}

/// The findings, by kind.
#[derive(Default)]
struct Findings {
    counts: BTreeMap<String, usize>,
}

impl Findings {
    fn count(&mut self, kind: &str) {
        *self.counts.entry(kind.to_owned()).or_default() += 1;
    }

    fn list(&mut self, kind: &str, name: &str, text: &str, why: &str) {
        self.count(kind);
        let shown: String = text.chars().take(300).collect();
        println!("{kind}: {name}: {shown} {why}");
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (numbers, names): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.parse::<usize>().is_ok());
    let number = |at: usize| numbers.get(at).and_then(|number| number.parse().ok());
    let (texts, mutations) = (number(0).unwrap_or(20), number(1).unwrap_or(MUTATIONS));
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/json/maskbench.tar.gz");
    let Ok(file) = std::fs::File::open(&path) else {
        println!("{} is not there", path.display());
        return;
    };
    let bytes = (0..=255).map(|byte| vec![byte]).chain([Vec::new()]);
    let bytes = Vocabulary::from_tokens(bytes).and_then(|bytes| bytes.with_stop_tokens([256]));
    let bytes = bytes.expect("a vocabulary");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut findings = Findings::default();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("the archive is whole");
        let name = entry
            .path()
            .expect("a path")
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name.filter(|name| name.ends_with(".json")) else { continue };
        if !names.is_empty() && !names.iter().any(|wanted| name.contains(wanted.as_str())) {
            continue;
        }
        let mut text = String::new();
        entry.read_to_string(&mut text).expect("UTF-8");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        let schema = &document["schema"];
        let Some(oracles) = Oracles::new(schema) else {
            findings.count("schemas that an oracle cannot read");
            continue;
        };
        let constrain = |order| {
            let mut options = SchemaOptions::default();
            options.order = order;
            let schema = JsonSchema::parse(&schema.to_string(), &options).ok()?;
            let narrowed = narrowed(&schema);
            Some((Constraint::new(&schema.grammar(), &bytes).ok()?, narrowed))
        };
        let (Some((declared, _)), Some((any, narrowed))) =
            (constrain(KeyOrder::Declared), constrain(KeyOrder::Any))
        else {
            findings.count("schemas that are refused");
            continue;
        };
        findings.count("schemas");
        for number in 0..texts {
            let constraint = if number % 2 == 0 { &declared } else { &any };
            let Some(text) = generate(constraint, &mut random) else { continue };
            let Ok(value) = serde_json::from_str::<Value>(&text) else {
                findings.list("GENERATED is no JSON", &name, &text, "");
                continue;
            };
            match oracles.verdict(&value) {
                Ok(true) => findings.count("generated and valid"),
                Ok(false) => {
                    findings.list("GENERATED is invalid", &name, &text, &oracles.why(&value))
                }
                Err(why) => findings.list(&format!("generated, invalid {why}"), &name, &text, ""),
            }
        }
        for test in document["tests"].as_array().into_iter().flatten() {
            let instance = &test["data"];
            if oracles.verdict(instance) == Ok(true) {
                for _ in 0..ORDERS {
                    let text = permuted(instance, &mut random).to_string();
                    match (accepts(&any, &text), &narrowed) {
                        (true, _) => findings.count("permuted and accepted"),
                        (false, Some(why)) => {
                            findings.list(&format!("permuted and refused: {why}"), &name, &text, "")
                        }
                        (false, None) => findings.list("PERMUTED is refused", &name, &text, ""),
                    }
                }
            }
            for _ in 0..mutations {
                let mut mutated = instance.clone();
                mutate(&mut mutated, &mut random);
                let text = mutated.to_string();
                match (oracles.verdict(&mutated), accepts(&any, &text)) {
                    (Err(why), _) => {
                        findings.list(&format!("mutated, invalid {why}"), &name, &text, "");
                    }
                    (Ok(valid), accepted) if valid == accepted => {
                        findings.count("mutated, and judged alike")
                    }
                    (Ok(true), _) => match &narrowed {
                        Some(why) => {
                            let kind = format!("mutated, valid and refused: {why}");
                            findings.list(&kind, &name, &text, "");
                        }
                        None => findings.list("MUTATED is valid and refused", &name, &text, ""),
                    },
                    (Ok(false), _) => {
                        findings.list(
                            "MUTATED is invalid and accepted",
                            &name,
                            &text,
                            &oracles.why(&mutated),
                        );
                    }
                }
            }
        }
    }
    for (kind, count) in &findings.counts {
        println!("{count:8} {kind}");
    }
}

/// Returns the approximations of the schema, according to its warnings; `None` if there are none.
fn narrowed(schema: &JsonSchema) -> Option<String> {
    let warnings = schema.warnings().iter().filter(|warning| warning.code == "narrowed-schema");
    // Quoted parts of a message belong to one schema, so they are removed.
    let kind = |message: &str| message.split('"').step_by(2).collect::<Vec<_>>().join("...");
    let mut kinds: Vec<String> = warnings.map(|warning| kind(&warning.message)).collect();
    kinds.sort();
    kinds.dedup();
    (!kinds.is_empty()).then(|| kinds.join("; "))
}

fn accepts(constraint: &Constraint, text: &str) -> bool {
    let mut matcher = constraint.matcher();
    text.bytes().all(|byte| matcher.advance(u32::from(byte)).is_ok())
        && matcher.advance(256u32).is_ok()
}

/// Returns a text drawn from the masks byte by byte, and completed once it is long.
fn generate(constraint: &Constraint, random: &mut Random) -> Option<String> {
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    let mut text: Vec<u8> = Vec::new();
    let length = 1 + random.below(LENGTH);
    while text.len() < length {
        matcher.fill_mask(&mut mask);
        let allowed: Vec<u32> = mask.tokens().map(|token| token.get()).collect();
        let token = allowed[random.below(allowed.len())];
        if token == 256 {
            return String::from_utf8(text).ok();
        }
        matcher.advance(token).expect("the mask allows the token");
        text.push(token as u8);
    }
    text.extend(matcher.shortest_completion()?);
    Some(String::from_utf8(text).expect("texts are UTF-8"))
}

/// Returns the value with the keys of all its objects in a random order.
fn permuted(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| permuted(item, random)).collect())
        }
        Value::Object(members) => {
            let mut left: Vec<(&String, &Value)> = members.iter().collect();
            let mut all = Map::new();
            while !left.is_empty() {
                let (key, value) = left.swap_remove(random.below(left.len()));
                all.insert(key.clone(), permuted(value, random));
            }
            Value::Object(all)
        }
        other => other.clone(),
    }
}

/// Makes one change to the value: drops a member or an item, swaps a value for another, moves a
/// number by one.
fn mutate(value: &mut Value, random: &mut Random) {
    let goes_down = random.below(4) > 0;
    match value {
        Value::Object(members) if !members.is_empty() && goes_down => {
            let at = random.below(members.len());
            let key = members.keys().nth(at).cloned().unwrap_or_default();
            if random.below(4) == 0 {
                members.shift_remove(&key);
            } else if let Some(inner) = members.get_mut(&key) {
                mutate(inner, random);
            }
        }
        Value::Array(items) if !items.is_empty() && goes_down => {
            let at = random.below(items.len());
            match random.below(6) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                _ => mutate(&mut items[at], random),
            }
        }
        Value::Number(number) if number.is_i64() && goes_down => {
            let step = [-1, 1, -1000, 1000][random.below(4)];
            *value = json!(number.as_i64().unwrap_or(0).saturating_add(step));
        }
        Value::String(text) if !text.is_empty() && goes_down => {
            let cut =
                text.char_indices().nth(random.below(text.chars().count())).map_or(0, |(at, _)| at);
            text.truncate(cut);
        }
        other => {
            let swaps = [
                json!(null),
                json!(true),
                json!(0),
                json!(-1),
                json!(1.5),
                json!(""),
                json!("x"),
                json!([]),
                json!({}),
            ];
            *other = swaps[random.below(swaps.len())].clone();
        }
    }
}
