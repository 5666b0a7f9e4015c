//! Traces: what the model wrote under masks and its free choices, for tests that run without it.
//!
//! The file is compressed JSON. Tokens are numbered anew: those that occur, and the single bytes.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::jobs::{fence, places, write_all};
use crate::tasks::{self, Task, Text};
use crate::writer::{Mode, Writer};

/// Tokens by their new numbers.
#[derive(Default)]
struct Numbers {
    of: BTreeMap<u32, usize>,
    tokens: Vec<u32>,
}

impl Numbers {
    fn number(&mut self, token: u32) -> usize {
        *self.of.entry(token).or_insert_with(|| {
            self.tokens.push(token);
            self.tokens.len() - 1
        })
    }
}

/// Writes texts of `count` prompts for each task, and their traces to `path`.
pub fn record(writer: &Writer, count: usize, path: &Path) -> Result<()> {
    let vocabulary = &writer.tokenizer.vocabulary;
    let mut numbers = Numbers::default();
    let stops: Vec<usize> =
        vocabulary.stop_tokens().iter().map(|stop| numbers.number(stop.get())).collect();
    for id in 0..vocabulary.width() as u32 {
        if vocabulary.bytes(id).is_some_and(|bytes| bytes.len() == 1) {
            numbers.number(id);
        }
    }
    let fence = fence(writer)?;
    let mut recorded = Vec::new();
    for (task, stops) in [
        (tasks::person(), &[][..]),
        (tasks::person_with_separators(), &[]),
        (tasks::character(), &[]),
        (tasks::character_with_separators(), &[]),
        (tasks::steps_without_examples(), &[]),
        (tasks::any_json(), &[]),
        (tasks::xml(), &[]),
        (tasks::sqlite(), &[]),
        (tasks::fenced_python(), &[fence]),
    ] {
        let constraint = task.constraint(vocabulary)?;
        let mode = Mode { constraint: Some(&constraint), stops, ..Mode::default() };
        let places = places(writer, &task, count)?;
        let written = write_all(writer, &places, &mode, task.limit)?;
        // The tokens of forced bytes, by the model's tokenizer.
        let mut cuts = BTreeMap::new();
        let mut texts = Vec::new();
        for one in &written {
            let mut matcher = writer.matcher(&mode)?.context("no constraint")?;
            let mut steps = Vec::new();
            for step in &one.steps {
                matcher.forced_tokens(|text| {
                    let tokens = writer.tokenizer.encode_bytes(text);
                    let told = tokens.iter().map(|&token| numbers.number(token)).collect();
                    cuts.insert(String::from_utf8_lossy(text).into_owned(), told);
                    tokens
                });
                matcher.advance(step.token)?;
                let token = numbers.number(step.token);
                steps.push(match step.token == step.free {
                    true => json!(token),
                    false => json!([token, numbers.number(step.free)]),
                });
            }
            texts.push(json!({ "steps": steps, "ended": one.is_ended }));
        }
        let stops: Vec<usize> = stops.iter().map(|stop| numbers.number(stop.get())).collect();
        let cuts: BTreeMap<String, Vec<usize>> = cuts;
        recorded.push(json!({
            "name": task.name, "grammar": grammar(&task), "stops": stops, "cuts": cuts,
            "texts": texts,
        }));
    }
    // A special token has no bytes. Bytes are written as the characters of the same numbers.
    let tokens = numbers.tokens.iter().map(|&token| {
        vocabulary.bytes(token).map(|bytes| bytes.iter().copied().map(char::from).collect())
    });
    let tokens: Vec<Option<String>> = tokens.collect();
    let all = json!({ "tokens": tokens, "stops": stops, "tasks": recorded });
    let file = std::fs::File::create(path).with_context(|| path.display().to_string())?;
    let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::best());
    out.write_all(all.to_string().as_bytes())?;
    out.finish()?;
    Ok(())
}

/// The grammar of a task, for a test that builds it again.
fn grammar(task: &Task) -> Value {
    match &task.grammar {
        Text::Schema(schema) => json!({ "schema": schema }),
        Text::Fixed(schema) => json!({ "schema": schema, "fixed": true }),
        Text::File(path, start) => json!({ "file": path, "start": start }),
        Text::Lark(text) => json!({ "lark": text }),
    }
}
