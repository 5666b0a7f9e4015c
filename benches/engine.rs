//! Timings of the engine's parts. Percentiles over real texts come from `lrmask replay`.
//!
//! `cargo bench` runs all of it in about four minutes; `cargo bench -- mask/` one group. Needs the
//! built-in vocabularies (feature `tiktoken`)

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lrmask::{
    CompiledGrammar, Constraint, Grammar, GrammarReader, Matcher, TokenId, TokenMask, Vocabulary,
    fill_masks,
};

const JSON: &str = include_str!("../grammars/json/json.lark");
const SQLITE: &str = include_str!("../grammars/sqlite/sqlite.lark");
const PYTHON: &str = include_str!("../grammars/python/python.lark");
/// What Python's grammar imports.
const IDENTIFIERS: &str = include_str!("../grammars/python/identifiers.lark");

/// The grammars that the beginning is timed for.
const GRAMMARS: [(&str, &str); 3] = [("json", JSON), ("sqlite", SQLITE), ("python", PYTHON)];

/// A document of some variety; repeated, it makes documents of any size.
const ELEMENT: &str = "{\"id\": 17, \"name\": \"caf\\u00e9 \u{1f40d} noir\", \"tags\": [\"a\", \
    \"b c\", []], \"size\": -1.5e3, \
    \"open\": true, \"next\": null}";

fn json() -> Grammar {
    Grammar::from_lark(JSON).expect("the built-in grammar is sound")
}

fn o200k() -> Vocabulary {
    Vocabulary::builtin("o200k").expect("the vocabulary is built in")
}

/// An array of `ELEMENT`s, at least `length` bytes long.
fn document(length: usize) -> String {
    let count = length / (ELEMENT.len() + 2) + 1;
    format!("[{}]", vec![ELEMENT; count].join(", "))
}

/// The text in tokens, by the longest that is left: close enough to a tokenizer for timing.
fn cut(vocabulary: &Vocabulary, text: &str) -> Vec<TokenId> {
    let by_bytes: std::collections::HashMap<&[u8], TokenId> = (0..vocabulary.width() as u32)
        .map(TokenId::from)
        .filter_map(|id| Some((vocabulary.bytes(id)?, id)))
        .collect();
    let mut rest = text.as_bytes();
    let mut tokens = Vec::new();
    while !rest.is_empty() {
        let longest = (1..=rest.len().min(32)).rev().find_map(|length| {
            let token = by_bytes.get(&rest[..length])?;
            Some((*token, length))
        });
        let (token, length) = longest.expect("every byte is a token");
        tokens.push(token);
        rest = &rest[length..];
    }
    tokens
}

/// The masks along the tokens, and the tokens taken.
fn follow(matcher: &mut Matcher, tokens: &[TokenId], mask: &mut TokenMask) {
    for &token in tokens {
        matcher.fill_mask(mask);
        matcher.advance(token).expect("the document is JSON");
    }
}

/// What happens before the first token.
fn beginning(c: &mut Criterion) {
    let mut group = c.benchmark_group("beginning");
    group.bench_function("load o200k", |b| b.iter(o200k));
    let vocabulary = o200k();
    for (name, text) in GRAMMARS {
        let imports = |_: &str| Ok(IDENTIFIERS.to_owned());
        let read = || {
            GrammarReader::new()
                .name(name)
                .imports(&imports)
                .lark(text)
                .expect("the built-in grammar is sound")
        };
        group.bench_function(format!("read {name}"), |b| b.iter(|| black_box(read())));
        let grammar = read();
        group.bench_function(format!("compile {name}"), |b| {
            b.iter(|| CompiledGrammar::new(black_box(&grammar)));
        });
        let saved = CompiledGrammar::new(&grammar).expect("sound").save();
        group.bench_function(format!("load {name}, saved"), |b| {
            b.iter(|| CompiledGrammar::load(black_box(&saved)));
        });
        group.bench_function(format!("compile {name}, and its first mask with o200k"), |b| {
            b.iter(|| {
                let constraint = Constraint::new(&grammar, &vocabulary).expect("sound");
                let mut mask = constraint.new_mask();
                constraint.matcher().fill_mask(&mut mask);
                (mask, constraint)
            });
        });
    }
    group.finish();
}

/// The masks of a whole document, when nothing has been seen before and when everything has.
fn masks(c: &mut Criterion) {
    let mut group = c.benchmark_group("mask");
    let vocabulary = o200k();
    let compiled = CompiledGrammar::new(&json()).expect("sound");
    let tokens = cut(&vocabulary, &document(1_000));
    group.throughput(criterion::Throughput::Elements(tokens.len() as u64));
    group.bench_function("cold, all steps of a document of 1 KB", |b| {
        b.iter_batched(
            || compiled.constraint(&vocabulary).expect("its tokens are known"),
            |constraint| {
                follow(&mut constraint.matcher(), &tokens, &mut constraint.new_mask());
                constraint
            },
            BatchSize::LargeInput,
        );
    });
    let constraint = compiled.constraint(&vocabulary).expect("its tokens are known");
    let mut mask = constraint.new_mask();
    follow(&mut constraint.matcher(), &tokens, &mut mask);
    let saved = constraint.save_with_samples(&[&tokens]);
    group.bench_function("load, with the masks of a document of 1 KB", |b| {
        b.iter(|| Constraint::load(black_box(&saved), &vocabulary));
    });
    group.bench_function("warm, all steps of a document of 1 KB", |b| {
        b.iter(|| follow(&mut constraint.matcher(), &tokens, &mut mask));
    });
    group.bench_function("advance only, all steps of a document of 1 KB", |b| {
        b.iter(|| {
            let mut matcher = constraint.matcher();
            tokens.iter().for_each(|&token| matcher.advance(token).expect("the document is JSON"));
            matcher
        });
    });
    group.finish();
}

/// Early and late in a document: where a step costs as much.
const DEPTHS: [(&str, usize); 2] = [("byte 1,000", 1_000), ("byte 1,000,000", 1_000_000)];

/// A matcher that has read at least so many bytes of the document, and stands where the tokens of
/// `rest` may follow.
fn matcher_at(
    constraint: &Constraint,
    document: &[TokenId],
    bytes: usize,
    rest: &[TokenId],
) -> Matcher {
    let mut matcher = constraint.matcher();
    let mut read = 0;
    for &token in document {
        if read >= bytes && matcher.validate(rest) == rest.len() {
            break;
        }
        matcher.advance(token).expect("the document is JSON");
        read += constraint.vocabulary().bytes(token).map_or(0, <[u8]>::len);
    }
    matcher
}

/// One step late in a document against early in it.
fn depths(c: &mut Criterion) {
    let mut group = c.benchmark_group("step");
    let vocabulary = o200k();
    let constraint = Constraint::new(&json(), &vocabulary).expect("sound");
    let tokens = cut(&vocabulary, &document(1_000_000));
    let step = cut(&vocabulary, ELEMENT);
    for (name, bytes) in DEPTHS {
        let mut matcher = matcher_at(&constraint, &tokens, bytes, &step);
        let mut mask = constraint.new_mask();
        group.bench_function(format!("all steps of an element at {name}, taken back"), |b| {
            b.iter(|| {
                follow(&mut matcher, &step, &mut mask);
                matcher.rollback(step.len())
            });
        });
    }
    group.finish();
}

/// A clone, and steps taken back, late in a document against early in it. The clone's drop is not
/// timed; freeing what the steps have held is.
fn sequences(c: &mut Criterion) {
    let mut group = c.benchmark_group("sequence");
    let vocabulary = o200k();
    let constraint = Constraint::new(&json(), &vocabulary).expect("sound");
    let tokens = cut(&vocabulary, &document(1_000_000));
    let element = cut(&vocabulary, &format!("{ELEMENT}, "));
    for (name, bytes) in DEPTHS {
        // Two elements may follow only within the array, and then any number.
        let matcher = matcher_at(&constraint, &tokens, bytes, &element.repeat(2));
        // Batches are small enough for their clones to fit into memory, and large enough for the
        // clock.
        group.bench_function(format!("clone at {name}"), |b| {
            b.iter_batched(|| (), |()| matcher.clone(), BatchSize::LargeInput);
        });
        let steps = matcher.steps();
        let matcher = RefCell::new(matcher);
        for count in [1, 8] {
            let forth = || {
                let mut matcher = matcher.borrow_mut();
                for _ in 0..count {
                    let token = element[(matcher.steps() - steps) % element.len()];
                    matcher.advance(token).expect("an element may follow");
                }
            };
            // All steps of a batch are taken before the first is taken back.
            group.bench_function(format!("rollback of {count} at {name}"), |b| {
                b.iter_batched(
                    forth,
                    |()| matcher.borrow_mut().rollback(count),
                    BatchSize::NumIterations(1_000),
                );
            });
        }
    }
    group.finish();
}

/// The masks of many sequences, each at its own place of a document, on the caller's thread and
/// with another.
fn batches(c: &mut Criterion) {
    let mut group = c.benchmark_group("batch");
    let vocabulary = o200k();
    let compiled = CompiledGrammar::new(&json()).expect("sound");
    let tokens = cut(&vocabulary, &document(1_000));
    let stride = vocabulary.width().div_ceil(32);
    let at_places = |constraint: &Constraint, count: usize| -> Vec<Matcher> {
        let mut matcher = constraint.matcher();
        let mut along = vec![matcher.clone()];
        along.extend(tokens.iter().map(|&token| {
            matcher.advance(token).expect("the document is JSON");
            matcher.clone()
        }));
        along.into_iter().cycle().take(count).collect()
    };
    // What `fill_masks` does on one thread.
    let one = |matchers: &[Option<&Matcher>], rows: &mut [u32], stride: usize| {
        rows.chunks_mut(stride)
            .zip(matchers.iter().flatten())
            .for_each(|(row, m)| _ = m.fill_mask_into(row));
    };
    let all = |matchers: &[Option<&Matcher>], rows: &mut [u32], stride: usize| {
        fill_masks(matchers, rows, stride, 2).expect("rows are as wide as masks");
    };
    type Fill<'f> = &'f dyn Fn(&[Option<&Matcher>], &mut [u32], usize);
    let ways: [(&str, Fill<'_>); 2] = [("one thread", &one), ("fill_masks", &all)];
    for count in [1, 8, 64, 512] {
        let mut rows = vec![0u32; count * stride];
        group.throughput(criterion::Throughput::Elements(count as u64));
        for (way, fill) in ways {
            let warm =
                at_places(&compiled.constraint(&vocabulary).expect("its tokens are known"), count);
            let matchers: Vec<Option<&Matcher>> = warm.iter().map(Some).collect();
            group.bench_function(format!("warm, {count} sequences, {way}"), |b| {
                b.iter(|| fill(&matchers, &mut rows, stride));
            });
            group.bench_function(format!("cold, {count} sequences, {way}"), |b| {
                b.iter_batched(
                    || {
                        at_places(
                            &compiled.constraint(&vocabulary).expect("its tokens are known"),
                            count,
                        )
                    },
                    |matchers| {
                        let batch: Vec<Option<&Matcher>> = matchers.iter().map(Some).collect();
                        fill(&batch, &mut rows, stride);
                        matchers
                    },
                    BatchSize::LargeInput,
                );
            });
        }
    }
    group.finish();
}

criterion_group! {
    name = engine;
    config = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(4));
    targets = beginning, masks, depths, sequences, batches
}
criterion_main!(engine);
