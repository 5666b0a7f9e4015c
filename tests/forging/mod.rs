//! Forged files: saved constraints of which bytes were changed, the length and the checksum put
//! right again. The tests, the example and the fuzz target that load them share these.

#![allow(unreachable_pub, reason = "a test's own module")]
#![allow(dead_code, reason = "each of them uses its own part")]

use lrmask::{Constraint, Grammar, Limits, LoadErrorKind, TokenId, Vocabulary};

/// Where the header has the length, and where the checksum.
const LENGTH: std::ops::Range<usize> = 40..48;
const CHECKSUM: std::ops::Range<usize> = 68..72;

/// The header ends here.
pub const HEADER: usize = CHECKSUM.end;

/// Grammars that between them use every part of a file: lists, blocks, precedence, conflicts, rules
/// that may be empty, words that others decide about, texts around a lexeme, pending matches.
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

/// What the constraints are of.
pub fn vocabulary() -> Vocabulary {
    let tokens =
        ["[", "]", ",", "1", "12", " ", "e", "over", "a", ":", "\n", "],", ": \n", "+", ""];
    let vocabulary = Vocabulary::from_tokens(tokens.map(|token| token.as_bytes().to_vec()));
    vocabulary.and_then(|vocabulary| vocabulary.with_stop_tokens([14])).expect("a vocabulary")
}

/// Constraints that have seen something, saved.
pub fn saved() -> Vec<Vec<u8>> {
    let vocabulary = vocabulary();
    let save = |text: &str| {
        let grammar = Grammar::from_lark(text).expect("the grammar is sound");
        let constraint = Constraint::new(&grammar, &vocabulary).expect("the grammar is sound");
        constraint.warmup().explore(50);
        constraint.save()
    };
    GRAMMARS.iter().map(|text| save(text)).collect()
}

/// Gives the bytes the length and the checksum that they should have.
pub fn put_right(bytes: &mut [u8]) {
    let length = bytes.len() as u64;
    bytes[LENGTH].copy_from_slice(&length.to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..CHECKSUM.start]);
    hasher.update(&bytes[CHECKSUM.end..]);
    bytes[CHECKSUM].copy_from_slice(&hasher.finalize().to_le_bytes());
}

/// Makes forged files, the same ones each time.
pub struct Forger {
    saved: Vec<Vec<u8>>,
    random: fastrand::Rng,
}

impl Forger {
    pub fn new(seed: u64) -> Self {
        Self { saved: saved(), random: fastrand::Rng::with_seed(seed) }
    }

    /// A saved constraint with one to four bytes changed, and a token to begin with.
    pub fn forge(&mut self) -> (Vec<u8>, u32) {
        let random = &mut self.random;
        let mut bytes = self.saved[random.usize(..self.saved.len())].clone();
        for _ in 0..random.usize(1..=4) {
            let at = random.usize(HEADER..bytes.len());
            bytes[at] = match random.usize(..3) {
                0 => random.u8(..),
                1 => bytes[at] ^ 1 << random.usize(..8),
                _ => bytes[random.usize(HEADER..bytes.len())],
            };
        }
        put_right(&mut bytes);
        (bytes, random.u32(..14))
    }
}

/// Loads the bytes and calls ten things on what they hold; or says why they were refused.
pub fn use_it(bytes: Vec<u8>, vocabulary: &Vocabulary, first: u32) -> Result<(), LoadErrorKind> {
    let limits = Limits::strict();
    let compiled = Constraint::builder().limits(&limits).load_compiled(&bytes);
    let _ = compiled.map(|compiled| compiled.size());
    let constraint = Constraint::builder()
        .limits(&limits)
        .load(bytes, vocabulary)
        .map_err(|error| error.kind())?;
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
