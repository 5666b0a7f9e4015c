//! Forged files: saved constraints with changed parts and a matching fingerprint of the grammar.
//! Shared by the tests, the example and the fuzz target that load them.

#![allow(unreachable_pub, reason = "a test's own module")]
#![allow(dead_code, reason = "each of them uses its own part")]

use lrmask::{Constraint, Grammar, Limits, LoadError, TokenId, Vocabulary};

/// Grammars that together use most parts of the format: lists, blocks, precedence, conflicts, rules
/// that may be empty, words that depend on other lexemes, look-around, pending matches.
const GRAMMARS: [&str; 8] = [
    "start: value\nvalue: NUMBER | \"[\" [value (\",\" value)*] \"]\"\nNUMBER: /[0-9]+/\n%ignore / +/",
    "%declare INDENT DEDENT\n%indent NEWLINE INDENT DEDENT open \"[\" close \"]\" levels 9\nstart: statement+\n\
     statement: NAME NEWLINE | NAME \"[\" NAME* \"]\" NEWLINE | NAME \":\" NEWLINE INDENT statement+ DEDENT\n\
     NAME: /[a-z]+/\nNEWLINE: \"\\n\"\n%ignore / +/",
    "start: e\ne: e \"+\" e | e e | \"a\" | \"[\" e \"]\"\n",
    "start: a b \"1\"\na: | \"[\" c\nb: | a c\nc: | \",\" a\n",
    "%lexer basic\nstart: (NUMBER | NAME | \"e\" | OVER | \"[\")*\nNUMBER: /[0-9]+(e[0-9]+)?/\nNAME: /[a-df-z]+/\n\
     OVER: \"over\"\n%lookahead NAME OVER before \"[\"\n%ignore / /",
    "start: (NAME | NUMBER | \",\")*\nNAME: /[a-z]+(?!\\])/\nNUMBER: /(?<=,)[0-9]+(?= |$)/\n%ignore / /",
    "start: \"[\"* NAME (NAME | \"over\" | \"e\")* \"]\"\nNAME: /[a-z]+?[a-f]/\n%soft NAME \"over\" \"e\"\n%ignore / /",
    "start: s\ns: s | | \"a\" s \"]\" | \"[\" s | s s\n",
];

/// Returns the vocabulary of the constraints.
pub fn vocabulary() -> Vocabulary {
    let tokens =
        ["[", "]", ",", "1", "12", " ", "e", "over", "a", ":", "\n", "],", ": \n", "+", ""];
    let vocabulary = Vocabulary::from_tokens(tokens.map(|token| token.as_bytes().to_vec()));
    vocabulary.and_then(|vocabulary| vocabulary.with_stop_tokens([14])).expect("a vocabulary")
}

/// Returns the saved constraints.
pub fn saved() -> Vec<String> {
    let vocabulary = vocabulary();
    let save = |text: &str| {
        let grammar = Grammar::from_lark(text).expect("the grammar is sound");
        let constraint = Constraint::new(&grammar, &vocabulary).expect("the grammar is sound");
        String::from_utf8(constraint.save()).expect("the form is JSON")
    };
    GRAMMARS.iter().map(|text| save(text)).collect()
}

/// The text before the grammar, which is the last field.
const BEFORE: &str = ",\"grammar\":";

/// Returns the start of the grammar.
pub fn begin(saved: &str) -> usize {
    saved.find(BEFORE).expect("there is a grammar") + BEFORE.len()
}

/// Gives the file the matching fingerprint, as described in `docs/saved.md`.
pub fn put_right(saved: &str) -> Vec<u8> {
    let (head, grammar) = saved.split_at(begin(saved));
    let grammar = grammar.strip_suffix('}').unwrap_or(grammar);
    let number = |hash: u64, value: u64| {
        let hash = (hash ^ value).wrapping_mul(0x0100_0000_01b3);
        hash ^ hash >> 32
    };
    let words = grammar.as_bytes().chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    let hash = words.fold(number(0xcbf2_9ce4_8422_2325, grammar.len() as u64), number);
    let (before, rest) = head.split_once("\"fingerprint\":").expect("there is a fingerprint");
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{before}\"fingerprint\":{hash}{after}{grammar}}}").into_bytes()
}

/// Numbers that are valid in many places, or in none.
pub const NUMBERS: [u64; 10] = [0, 1, 2, 3, 5, 9, 255, 65_535, 0xffff_ffff, 0x1_0000_0000];

/// Replaces the first number at or after `at`, if there is one.
pub fn replace(saved: &mut String, at: usize, number: u64) {
    let is_digit = |c: char| c.is_ascii_digit();
    let Some(first) = saved[at..].find(is_digit).map(|first| at + first) else { return };
    let length = saved[first..].find(|c| !is_digit(c)).unwrap_or(saved.len() - first);
    saved.replace_range(first..first + length, &number.to_string());
}

/// Makes forged files, the same ones each time.
pub struct Forger {
    saved: Vec<String>,
    random: fastrand::Rng,
}

impl Forger {
    pub fn new(seed: u64) -> Self {
        Self { saved: saved(), random: fastrand::Rng::with_seed(seed) }
    }

    /// Returns a saved constraint in which one to four numbers, words or bytes were changed, and a
    /// token to begin with.
    pub fn forge(&mut self) -> (Vec<u8>, u32) {
        let random = &mut self.random;
        let mut saved = self.saved[random.usize(..self.saved.len())].clone();
        for _ in 0..random.usize(1..=4) {
            let first = begin(&saved);
            let mut at = random.usize(first..saved.len());
            while !saved.is_char_boundary(at) {
                at -= 1;
            }
            match random.usize(..8) {
                0 => {
                    let word = ["true", "false"].map(|word| saved[at..].find(word));
                    match word {
                        [Some(yes), no] if no.is_none_or(|no| yes < no) => {
                            saved.replace_range(at + yes..at + yes + 4, "false");
                        }
                        [_, Some(no)] => saved.replace_range(at + no..at + no + 5, "true"),
                        _ => {}
                    }
                }
                1 if saved.as_bytes()[at].is_ascii() => {
                    saved.replace_range(at..=at, &char::from(random.u8(b' '..=b'~')).to_string());
                }
                _ => replace(&mut saved, at, NUMBERS[random.usize(..NUMBERS.len())]),
            }
        }
        (put_right(&saved), random.u32(..14))
    }
}

/// Loads the bytes and makes ten calls on the result, or returns why they are refused.
pub fn use_it(bytes: &[u8], vocabulary: &Vocabulary, first: u32) -> Result<(), LoadError> {
    let limits = Limits::strict();
    let compiled = Constraint::builder().limits(&limits).load_compiled(bytes);
    let _ = compiled.map(|compiled| compiled.size());
    let constraint = Constraint::builder().limits(&limits).load(bytes, vocabulary)?;
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
    Ok(())
}
