//! Saved constraints with bytes changed and the checksum put right: whatever is loaded may allow
//! anything, but every call on it returns.
//!
//! ```text
//! cargo run --release --example forged -- 100000
//! ```
//!
//! Prints how many of the forged files were loaded, and the longest that loading one and calling
//! ten things on it took.

#![allow(clippy::print_stdout, reason = "the figures are the answer")]

use std::time::{Duration, Instant};

use lrmask::{CompiledGrammar, Constraint, Grammar, Limits, TokenId, Vocabulary};

/// Where the header has the length, and where the checksum.
const LENGTH: std::ops::Range<usize> = 40..48;
const CHECKSUM: std::ops::Range<usize> = 68..72;

/// Grammars with lists, blocks, precedence, conflicts, rules that may be empty, and look-ahead.
const GRAMMARS: [&str; 5] = [
    "start: value\nvalue: NUMBER | \"[\" [value (\",\" value)*] \"]\"\nNUMBER: /[0-9]+/\n%ignore / +/",
    "%declare INDENT DEDENT\n%indent NEWLINE INDENT DEDENT open \"[\" close \"]\"\nstart: statement+\n\
     statement: NAME NEWLINE | NAME \":\" NEWLINE INDENT statement+ DEDENT\nNAME: /[a-z]+/\nNEWLINE: \"\\n\"\n%ignore / +/",
    "start: e\ne: e \"+\" e | e e | \"a\" | \"[\" e \"]\"\n",
    "start: a b \"1\"\na: | \"[\" c\nb: | a c\nc: | \",\" a\n",
    "%lexer basic\nstart: (NUMBER | NAME | OVER | \"[\")*\nNUMBER: /[0-9]+(e[0-9]+)?/\nNAME: /[a-df-z]+/\n\
     OVER: \"over\"\n%lookahead NAME OVER before \"[\"\n%ignore / /",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(10_000), |count| count.parse())?;
    let tokens = ["[", "]", ",", "1", "12", " ", "e", "over", "a", ":", "\n", "],", ": \n", "+", ""];
    let tokens = tokens.map(|token| token.as_bytes().to_vec());
    let vocabulary = Vocabulary::from_tokens(tokens)?.with_stop_tokens(&[14])?;
    let mut saved = Vec::new();
    for text in GRAMMARS {
        let constraint = Constraint::new(&Grammar::from_lark(text)?, &vocabulary)?;
        constraint.explore(50, &|_| ());
        saved.push(constraint.save());
    }
    let mut seed = 1u64;
    let mut below = |bound: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % bound
    };
    let (mut loaded, mut longest) = (0, Duration::ZERO);
    for _ in 0..rounds {
        let mut bytes = saved[below(saved.len())].clone();
        for _ in 0..1 + below(4) {
            let at = 72 + below(bytes.len() - 72);
            bytes[at] = match below(3) {
                0 => below(256) as u8,
                1 => bytes[at] ^ 1 << below(8),
                _ => bytes[72 + below(bytes.len() - 72)],
            };
        }
        put_right(&mut bytes);
        let begun = Instant::now();
        loaded += usize::from(use_it(bytes, &vocabulary, below(14) as u32));
        longest = longest.max(begun.elapsed());
    }
    println!("{rounds} forged files, {loaded} of them loaded; the longest took {longest:?}");
    Ok(())
}

/// Gives the bytes the length and the checksum that they should have.
fn put_right(bytes: &mut [u8]) {
    let length = bytes.len() as u64;
    bytes[LENGTH].copy_from_slice(&length.to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..CHECKSUM.start]);
    hasher.update(&bytes[CHECKSUM.end..]);
    bytes[CHECKSUM].copy_from_slice(&hasher.finalize().to_le_bytes());
}

/// Loads the bytes and calls ten things on what they hold. Whether they were loaded.
fn use_it(bytes: Vec<u8>, vocabulary: &Vocabulary, first: u32) -> bool {
    let _ = CompiledGrammar::load_within(&bytes, &Limits::strict());
    let Ok(constraint) = Constraint::load_within(bytes, vocabulary, &Limits::strict()) else { return false };
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    matcher.fill_mask(&mut mask);
    let next = mask.tokens().nth(first as usize % 3).unwrap_or(TokenId::from(first));
    let _ = matcher.advance(next);
    matcher.fill_mask(&mut mask);
    let _ = matcher.allows(first);
    let _ = matcher.advance_bytes(b"[a");
    let _ = matcher.forced_bytes();
    let _ = matcher.is_accepting();
    let _ = matcher.shortest_completion();
    let _ = matcher.validate([0, 3, 1]);
    let mut copy = matcher.clone();
    matcher.rollback(1);
    copy.reset();
    copy.fill_mask(&mut mask);
    true
}
