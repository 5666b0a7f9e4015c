//! JSON Schema with long strings, whose characters the parser counts in runs: masks match the
//! definition at every bound, fresh and loaded, cloned and after a rollback.

use lrmask::{Constraint, JsonSchema, SchemaOptions, Vocabulary};

/// Lengths of tokens in characters, for tokens without the closing quote and with it.
const TOKENS: [usize; 9] = [1, 2, 63, 64, 65, 127, 128, 129, 1000];

/// Returns single bytes, runs of a two-byte character, the same with a quote at the end, and the
/// stop token.
fn vocabulary() -> Vocabulary {
    let runs = TOKENS.map(|count| "é".repeat(count));
    let ends = TOKENS.map(|count| format!("{}\"", "é".repeat(count)));
    let words = runs.into_iter().chain(ends).map(String::into_bytes);
    let tokens: Vec<Vec<u8>> =
        (0..=255).map(|byte| vec![byte]).chain(words).chain([Vec::new()]).collect();
    let end = tokens.len() as u32 - 1;
    Vocabulary::from_tokens(tokens)
        .and_then(|vocabulary| vocabulary.with_stop_tokens([end]))
        .expect("a vocabulary")
}

/// Reads a string of `length` characters in random tokens; before each of them, every token must be
/// allowed exactly when the string may have that many characters.
fn follow(
    [fresh, loaded]: [&Constraint; 2],
    (min, max): (u64, Option<u64>),
    length: u64,
    random: &mut fastrand::Rng,
) -> usize {
    let fits = |count: u64| max.is_none_or(|max| count <= max);
    let (mut matcher, mut other) = (fresh.matcher(), loaded.matcher());
    let (mut mask, mut same) = (fresh.new_mask(), loaded.new_mask());
    let quote = u32::from(b'"');
    for matcher in [&mut matcher, &mut other] {
        matcher.advance(quote).expect("a string begins with a quote");
    }
    let (mut read, mut bits) = (0, 0);
    loop {
        matcher.fill_mask(&mut mask);
        other.fill_mask(&mut same);
        assert_eq!(mask, same, "{min} to {max:?}, behind {read}");
        assert_eq!(mask.contains(quote), read >= min && fits(read), "{min} to {max:?}: {read}");
        for (at, count) in TOKENS.into_iter().enumerate() {
            let behind = read + count as u64;
            let is_end = behind >= min && fits(behind);
            let (run, end) = (256 + at as u32, 256 + (TOKENS.len() + at) as u32);
            assert_eq!(mask.contains(run), fits(behind), "{min} to {max:?}: {read} and {count}");
            assert_eq!(mask.contains(end), is_end, "{min} to {max:?}: {read}, {count}, the end");
        }
        bits += 2 * TOKENS.len() + 1;
        // Long tokens lead near the bound, short ones to it.
        let left = length - read;
        let fitting = TOKENS.iter().filter(|&&count| count as u64 <= left).count();
        let Some(last) = fitting.checked_sub(1) else { break };
        let drawn = if left > 2_000 { last } else { random.usize(..=last) };
        if fits(read + TOKENS[drawn] as u64) {
            let token = 256 + drawn as u32;
            let mut twin = matcher.clone();
            twin.advance(token).expect("the mask allows it");
            twin.rollback(1);
            twin.fill_mask(&mut same);
            assert_eq!(mask, same, "{min} to {max:?}: {read}, rolled back");
            matcher.advance(token).expect("the mask allows it");
            other.advance(token).expect("the mask allows it");
        }
        read += TOKENS[drawn] as u64;
    }
    bits
}

#[test]
fn masks_are_as_the_definition_says() {
    let vocabulary = vocabulary();
    let mut random = fastrand::Rng::with_seed(0x5eed);
    let mut bits = 0;
    let bounds = [
        (0, Some(10_000)),
        (0, Some(10_047)),
        (63, Some(10_064)),
        (64, Some(10_112)),
        (1_000, Some(100_000)),
        (1_024, None),
        (1_087, None),
        (1_024, Some(1_024)),
        (1_030, Some(1_093)),
        (1_030, Some(1_094)),
        (1_100, Some(1_227)),
        (12_345, Some(12_345)),
        (5, Some(i32::MAX as u64)),
    ];
    for (min, max) in bounds {
        let max_length = max.map_or(String::new(), |max| format!(", \"maxLength\": {max}"));
        let schema = format!("{{\"type\": \"string\", \"minLength\": {min}{max_length}}}");
        let schema = JsonSchema::parse(&schema, &SchemaOptions::default()).expect("a schema");
        assert!(schema.warnings().is_empty(), "{min} to {max:?} are held exactly");
        let fresh = Constraint::new(&schema.grammar(), &vocabulary).expect("no conflicts");
        let loaded = Constraint::load(fresh.save(), &vocabulary).expect("it was saved");
        let most = max.unwrap_or(min + 200).min(110_000);
        for length in [min, most, random.u64(min..=most)] {
            bits += follow([&fresh, &loaded], (min, max), length, &mut random);
        }
    }
    assert!(bits > 20_000, "{bits}");
}
