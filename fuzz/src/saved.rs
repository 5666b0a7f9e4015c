//! Saved constraints that were changed, their lengths and checksums put right again.

use std::hint::black_box;
use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use lrmask::{CompiledGrammar, Constraint, Grammar, LoadErrorKind, Vocabulary};

/// Where the header has the length, and where the checksum.
const LENGTH: std::ops::Range<usize> = 40..48;
const CHECKSUM: std::ops::Range<usize> = 68..72;

/// Grammars that between them use every part of a file.
const GRAMMARS: [&str; 3] = [
    "start: value\nvalue: NUMBER | \"[\" [value (\",\" value)*] \"]\"\nNUMBER: /[0-9]+/\n%ignore / +/",
    "%declare INDENT DEDENT\n%indent NEWLINE INDENT DEDENT open \"[\" close \"]\" levels 9\nstart: statement+\n\
     statement: NAME NEWLINE | NAME \"[\" NAME* \"]\" NEWLINE | NAME \":\" NEWLINE INDENT statement+ DEDENT\n\
     NAME: /[a-z]+/\nNEWLINE: \"\\n\"\n%ignore / +/",
    "%lexer basic\nstart: (NUMBER | NAME | \"e\" | OVER | \"[\")*\nNUMBER: /[0-9]+(e[0-9]+)?/\nNAME: /[a-df-z]+/\n\
     OVER: \"over\"\n%lookahead NAME OVER before \"[\"\n%ignore / /",
];

fn vocabulary() -> &'static Vocabulary {
    static VOCABULARY: OnceLock<Vocabulary> = OnceLock::new();
    VOCABULARY.get_or_init(|| {
        let tokens = ["[", "]", ",", "1", "12", " ", "e", "over", "a", ":", "\n", "],", ": \n"];
        Vocabulary::from_tokens(tokens.map(|token| token.as_bytes().to_vec())).expect("a vocabulary")
    })
}

/// Constraints that have seen something, saved.
fn saved() -> &'static [Vec<u8>] {
    static SAVED: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SAVED.get_or_init(|| {
        let constraints = GRAMMARS.iter().map(|text| {
            let grammar = Grammar::from_lark(text).expect("the grammar is sound");
            let constraint = Constraint::new(&grammar, vocabulary()).expect("the grammar is sound");
            let mut matcher = constraint.matcher();
            let mut mask = constraint.new_mask();
            for _ in 0..20 {
                matcher.fill_mask(&mut mask);
                let next = mask.tokens().nth(matcher.steps() % 3).or_else(|| mask.tokens().next());
                if next.is_none_or(|token| matcher.advance(token).is_err()) {
                    break;
                }
            }
            constraint.save()
        });
        constraints.collect()
    })
}

/// Changes a saved constraint as the input says, and loads it: it is refused, or it is a
/// constraint.
pub fn change_and_load(input: &mut Unstructured<'_>) -> Result<()> {
    let mut bytes = input.choose(saved())?.clone();
    for _ in 0..input.int_in_range(1..=4)? {
        let at = input.int_in_range(72..=bytes.len() - 1)?;
        match input.int_in_range(0..=3)? {
            0 => bytes[at] = input.arbitrary()?,
            1 => bytes[at] ^= 1 << input.int_in_range(0..=7)?,
            2 => {
                let number: u32 = *input.choose(&[0, 1, 255, 65_535, u32::MAX, u32::MAX - 1])?;
                let end = bytes.len().min(at + 4);
                bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            }
            _ => bytes.truncate(at + 1),
        }
    }
    put_right(&mut bytes);
    for error in [
        CompiledGrammar::load(&bytes).map(|compiled| compiled.size()).err(),
        Constraint::load(bytes, vocabulary()).map(|constraint| constraint.index_size()).err(),
    ]
    .into_iter()
    .flatten()
    {
        assert_eq!(error.kind(), LoadErrorKind::Malformed, "{error}");
        black_box(error.to_string());
    }
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
