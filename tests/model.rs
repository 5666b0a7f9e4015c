//! Texts that a language model wrote under masks, replayed without the model.
//!
//! `tests/data/model.json.gz` has, for thirty prompts of each task, the tokens that
//! SmolLM2-135M-Instruct wrote and its free choice at each step, the best token without a mask. It
//! is made by `cargo run --release -- MODEL --record FILE` in `interop/model`. Tokens are numbered
//! anew: those that occur, and the single bytes.

#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;
use std::sync::OnceLock;

use lrmask::{
    BudgetError, Constraint, ConstraintBuilder, Matcher, SchemaOptions, Separator, Source,
    Speculator, TokenId, TokenMask, Vocabulary, Whitespace,
};
use serde::Deserialize;

#[derive(Deserialize)]
struct File {
    /// Bytes as the characters of the same numbers; nothing for special tokens.
    tokens: Vec<Option<String>>,
    stops: Vec<u32>,
    tasks: Vec<Recorded>,
}

#[derive(Deserialize)]
struct Recorded {
    name: String,
    grammar: Grammar,
    stops: Vec<u32>,
    /// How the model's tokenizer splits forced bytes.
    cuts: BTreeMap<String, Vec<u32>>,
    texts: Vec<RecordedText>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Grammar {
    Schema {
        schema: String,
        #[serde(default)]
        fixed: bool,
    },
    File {
        file: String,
        start: String,
    },
    Lark {
        lark: String,
    },
}

#[derive(Deserialize)]
struct RecordedText {
    steps: Vec<Step>,
    ended: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Step {
    /// The free choice was allowed.
    Free(u32),
    /// The token that was written, and the free choice.
    Masked(u32, u32),
}

impl Step {
    fn token(&self) -> u32 {
        match *self {
            Self::Free(token) | Self::Masked(token, _) => token,
        }
    }

    fn free(&self) -> u32 {
        match *self {
            Self::Free(token) | Self::Masked(_, token) => token,
        }
    }
}

/// Texts of one kind.
struct Task {
    name: String,
    constraint: Constraint,
    stops: Vec<TokenId>,
    cuts: BTreeMap<String, Vec<u32>>,
    texts: Vec<RecordedText>,
}

impl Task {
    fn matcher(&self) -> Matcher {
        self.constraint.matcher_with_stops(self.stops.iter().copied()).unwrap()
    }

    /// Splits forced bytes as the model's tokenizer does, where that was recorded.
    fn cut(&self, bytes: &[u8]) -> Vec<TokenId> {
        let known = std::str::from_utf8(bytes).ok().and_then(|text| self.cuts.get(text));
        match known {
            Some(tokens) => tokens.iter().map(|&token| token.into()).collect(),
            None => self.constraint.vocabulary().cut_longest(bytes).unwrap_or_default(),
        }
    }

    fn tokens(&self, text: usize) -> Vec<u32> {
        self.texts[text].steps.iter().map(Step::token).collect()
    }
}

fn source(grammar: &Grammar) -> Source {
    let mut options = SchemaOptions::default();
    match grammar {
        Grammar::Schema { schema, fixed } => {
            if *fixed {
                options.whitespace = Whitespace::None;
                options.item_separator = Separator::Text(", ".to_owned());
                options.key_separator = Separator::Text(": ".to_owned());
            }
            Source::json_schema(schema, &options)
        }
        Grammar::File { file, start } => {
            let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
            let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
            let identifiers = read("grammars/python/identifiers.lark");
            Source::lark(read(file)).start(start).file("identifiers.lark", identifiers)
        }
        Grammar::Lark { lark } => Source::lark(lark),
    }
}

fn tasks() -> &'static [Task] {
    static ONCE: OnceLock<Vec<Task>> = OnceLock::new();
    ONCE.get_or_init(|| {
        let packed = include_bytes!("data/model.json.gz");
        let file: File =
            serde_json::from_reader(flate2::read::GzDecoder::new(&packed[..])).unwrap();
        let bytes = |text: &Option<String>| -> Vec<u8> {
            text.iter().flat_map(|text| text.chars()).map(|letter| letter as u8).collect()
        };
        let vocabulary = Vocabulary::from_tokens(file.tokens.iter().map(bytes)).unwrap();
        let vocabulary = vocabulary.with_stop_tokens(file.stops.iter().copied()).unwrap();
        let task = |recorded: Recorded| Task {
            constraint: ConstraintBuilder::default()
                .read(&source(&recorded.grammar), &vocabulary)
                .unwrap_or_else(|error| panic!("{}: {error}", recorded.name)),
            name: recorded.name,
            stops: file.stops.iter().chain(&recorded.stops).map(|&stop| stop.into()).collect(),
            cuts: recorded.cuts,
            texts: recorded.texts,
        };
        file.tasks.into_iter().map(task).collect()
    })
}

fn task(name: &str) -> &'static Task {
    tasks().iter().find(|task| task.name == name).unwrap_or_else(|| panic!("no task {name}"))
}

/// The model's best allowed token was written. So its first choice was refused wherever it wrote
/// another, and only there.
#[test]
fn masks_allow_each_token_that_was_written_and_refuse_only_the_choices_that_were_not() {
    let (mut steps, mut refused) = (0, 0);
    for task in tasks() {
        let mut mask = task.constraint.new_mask();
        for (index, text) in task.texts.iter().enumerate() {
            let mut matcher = task.matcher();
            for (at, step) in text.steps.iter().enumerate() {
                let place = || format!("{}, text {index}, token {at}", task.name);
                matcher.fill_mask(&mut mask);
                assert!(mask.contains(step.token()), "{}: refused", place());
                let is_same = step.token() == step.free();
                assert_eq!(mask.contains(step.free()), is_same, "{}: the free choice", place());
                matcher.advance(step.token()).unwrap();
                steps += 1;
                refused += usize::from(!is_same);
            }
            assert_eq!(matcher.is_finished(), text.ended, "{}, text {index}", task.name);
            if !text.ended {
                let rest = matcher.shortest_completion().unwrap();
                matcher.advance_bytes(&rest).unwrap();
                assert!(matcher.is_accepting(), "{}, text {index}", task.name);
            }
        }
    }
    println!("{steps} tokens, {refused} free choices refused");
}

/// Opportunistic masking takes the tokens that were written, and a mask only where it is needed.
#[test]
fn opportunistic_masking_writes_the_same_texts() {
    for task in tasks() {
        for text in &task.texts {
            let mut matcher = task.matcher();
            for step in &text.steps {
                let choose = |mask: Option<&TokenMask>| mask.map_or(step.free(), |_| step.token());
                assert_eq!(matcher.sample_with(choose).unwrap(), step.token().into());
            }
            let masked = text.steps.iter().filter(|step| step.token() != step.free()).count();
            assert_eq!(matcher.choices().masked, masked as u64, "{}", task.name);
        }
    }
}

/// Number of texts from which counts are learnt; drafts are tried on the others.
const LEARNT: usize = 10;

/// Returns the tokens that a model writes after the first of each text, and the calls in which it
/// does so with drafts of at most eight tokens. The call that reads the prompt gives the first
/// token and is not counted.
fn tokens_and_calls(
    task: &Task,
    draft: impl Fn(&Speculator, &Matcher, TokenId) -> Vec<TokenId>,
) -> (usize, usize) {
    let speculator = Speculator::new(&task.constraint);
    for text in 0..LEARNT {
        speculator.observe(task.tokens(text));
    }
    let (mut calls, mut given) = (0, 0);
    for text in LEARNT..task.texts.len() {
        let tokens = task.tokens(text);
        let mut matcher = task.matcher();
        matcher.advance(tokens[0]).unwrap();
        let mut at = 1;
        while at < tokens.len() {
            let draft = draft(&speculator, &matcher, tokens[at - 1].into());
            let same = draft.iter().zip(&tokens[at..]).take_while(|&(a, &b)| a.get() == b).count();
            let end = (at + same + 1).min(tokens.len());
            for &token in &tokens[at..end] {
                matcher.advance(token).unwrap();
            }
            (calls, given, at) = (calls + 1, given + end - at, end);
        }
    }
    (given, calls)
}

const PROBABILITY: f64 = 0.4;

/// For each task: the tokens, the calls with drafts by counts, and those with forced tokens where
/// nothing is counted.
const CALLS: &[(&str, usize, usize, usize)] = &[
    ("person", 875, 298, 298),
    ("person, fixed separators", 683, 222, 216),
    ("character", 1492, 329, 325),
    ("character, fixed separators", 1021, 206, 198),
    ("steps", 2285, 752, 751),
    ("JSON without a schema", 2980, 883, 883),
    ("XML with a schema", 1312, 307, 279),
    ("sqlite", 1409, 1222, 1222),
    ("python, open fence", 1276, 803, 803),
];

/// DOMINO, section 3.6: on objects by a schema, counts give several tokens for each call.
#[test]
fn counts_and_forced_tokens_spare_calls_of_the_model() {
    let found: Vec<_> = tasks()
        .iter()
        .map(|task| {
            let (tokens, by_counts) = tokens_and_calls(task, |speculator, matcher, last| {
                speculator.propose(matcher, Some(last), 8, PROBABILITY)
            });
            let (_, by_both) = tokens_and_calls(task, |speculator, matcher, last| {
                let cut = |bytes: &[u8]| task.cut(bytes);
                speculator.draft(matcher, Some(last), 8, PROBABILITY, cut).tokens
            });
            (task.name.as_str(), tokens, by_counts, by_both)
        })
        .collect();
    for (name, tokens, by_counts, by_both) in &found {
        let rate = |calls: usize| *tokens as f64 / calls as f64;
        println!("{name}: {:.2} by counts, {:.2} by both", rate(*by_counts), rate(*by_both));
    }
    assert_eq!(found, CALLS);
}

/// Where white space is fixed, for each task: the forced tokens, and those that the model writes.
/// The others are the same bytes in other tokens: a mask leaves a model that wants `{` and a line
/// end the `{` of `{"`.
const FORCED: &[(&str, usize, usize)] =
    &[("person, fixed separators", 470, 380), ("character, fixed separators", 1364, 756)];

/// Forced tokens, split by the model's tokenizer, are always allowed, and mostly those that the
/// model writes.
#[test]
fn forced_tokens_are_allowed_and_mostly_those_that_the_model_writes() {
    let mut found = Vec::new();
    for name in ["person, fixed separators", "character, fixed separators"] {
        let task = task(name);
        let (mut forced, mut same) = (0, 0);
        for text in 0..task.texts.len() {
            let tokens = task.tokens(text);
            let (mut matcher, mut at) = (task.matcher(), 0);
            while at < tokens.len() {
                let draft = matcher.forced_tokens(|bytes| task.cut(bytes));
                assert_eq!(matcher.validate(draft.iter().copied()), draft.len());
                let written = tokens[at..].iter().zip(&draft);
                let agree = written.take_while(|&(&one, other)| one == other.get()).count();
                (forced, same) = (forced + draft.len(), same + agree);
                let end = (at + agree.max(1)).min(tokens.len());
                for &token in &tokens[at..end] {
                    matcher.advance(token).unwrap();
                }
                at = end;
            }
        }
        found.push((name, forced, same));
    }
    assert_eq!(found, FORCED);
}

/// Writes a text again within a budget: the token that was written as long as the masks allow it,
/// and then the first that they allow.
#[test]
fn texts_written_again_within_any_budget_end_in_time() {
    let (mut texts, mut changed) = (0, 0);
    for task in tasks() {
        let mut mask = task.constraint.new_mask();
        for text in 0..task.texts.len() {
            let tokens = task.tokens(text);
            let least = match task.matcher().set_budget(0) {
                Ok(()) => 0,
                Err(BudgetError::TooSmall { least }) => least,
                Err(error) => panic!("{}: {error}", task.name),
            };
            for budget in [least, (least + tokens.len()) / 2, tokens.len() + 10] {
                let mut matcher = task.matcher();
                if matcher.set_budget(budget).is_err() {
                    assert!(budget < least, "{}: {budget} is refused", task.name);
                    continue;
                }
                let mut written = 0;
                let mut is_same = true;
                while !matcher.is_finished() {
                    matcher.fill_mask(&mut mask);
                    let own = tokens.get(written).filter(|_| is_same);
                    let own = own.copied().filter(|&token| mask.contains(token));
                    is_same = own.is_some();
                    let first = mask.tokens().next().map(TokenId::get);
                    let token = own.or(first).expect("a mask within a budget is not empty");
                    matcher.advance(token).unwrap();
                    written += 1;
                }
                assert!(written <= budget + 1, "{}: {written} of {budget}", task.name);
                (texts, changed) = (texts + 1, changed + usize::from(!is_same));
            }
        }
    }
    println!("{texts} texts, {changed} of them changed by their budget");
}
