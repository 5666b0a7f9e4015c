//! Compares each shortcut of the index with the plain walk: masks are the same with any shortcuts
//! off, and with any cache size.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::{CompiledGrammar, Constraint};
use crate::grammar::Grammar;
use crate::index::{Index, Shortcuts};
use crate::matcher::Matcher;
use crate::schema::SchemaOptions;
use crate::vocab::Vocabulary;

/// No shortcuts.
const PLAIN: Shortcuts =
    Shortcuts { base_walks: false, self_loops: false, branches: false, submasks: false };

/// All of them, each alone, and all but each.
const OTHERS: [Shortcuts; 9] = [
    Shortcuts::ALL,
    Shortcuts { base_walks: true, ..PLAIN },
    Shortcuts { self_loops: true, ..PLAIN },
    Shortcuts { branches: true, ..PLAIN },
    Shortcuts { submasks: true, ..PLAIN },
    Shortcuts { base_walks: false, ..Shortcuts::ALL },
    Shortcuts { self_loops: false, ..Shortcuts::ALL },
    Shortcuts { branches: false, ..Shortcuts::ALL },
    Shortcuts { submasks: false, ..Shortcuts::ALL },
];

/// Cache size in bytes.
pub(super) const ROOM: usize = 256 << 20;

/// Cache sizes so small that entries are dropped within a mask or after a few masks.
const LITTLE_ROOM: [usize; 4] = [1 << 10, 8 << 10, 16 << 10, 32 << 10];

/// Names that may still become keywords, numbers and comments whose longest match is pending, and
/// the inside of strings.
const PROGRAM: &str = r#"
start: (statement ";")*
statement: "if" NAME "then" statement | NAME "=" value | "in" STRING
value: NAME | NUMBER | STRING | "(" value* ")"
NAME: /[a-zß-ÿ_][a-z0-9ß-ÿ_]*/
NUMBER: /[0-9]+(\.[0-9]+)?(e[0-9]+)?/
STRING: /"([^"\\]|\\.)*"/ | /'[^']*'/
%ignore /[ \n]+/
%ignore /\/\*([^*]|\*+[^*\/])*\*+\//
"#;

/// Lexemes whose end a longer match may refute within a character.
const PENDING: &str = r#"
start: (A | B | C | "中")*
A: /a+(é|中)?/
B: /a+[^a1é]*1/
C: /[^\x00-\x7f]+/
%ignore / +/
"#;

/// Blanks at the beginning of a line count as indentation.
const LINES: &str = r#"
%declare INDENT DEDENT
%indent NEWLINE INDENT DEDENT open "(" close ")"
start: statement*
statement: simple | "if" value ":" block
block: simple | NEWLINE INDENT statement+ DEDENT
simple: value (";" value)* NEWLINE
value: NAME | STRING | "(" value* ")"
NAME: /[a-zé]+/
STRING: /"[^"\n]*"/
NEWLINE: /\n/
%ignore /[ \t]+/
%ignore /#[^\n]*/
"#;

/// Counted characters: within a lexeme, and in runs.
const COUNTED: &str = r#"
start: (STRING | SHORT | WORD "," | "<" RUN* REST)*
STRING: /"[^"\\\n]{0,9}"/
SHORT: /'[^'\n]{3,5}'/
WORD: /[A-Za-z0-9ß-ÿ]{2,7}/
RUN: /[^>\\]{4}/
REST: /[^>\\]{0,3}>/
"#;

/// Letters that lead to states of one class, but to several states: some letters are counted modulo
/// two, or words are counted.
const SPREAD: &str = r#"
start: (EVEN | ODD | SHORT | "<" WORDS)*
EVEN: /"([^"aé\\]|\\.|[aé]([^"aé\\]|\\.)*[aé])*"/
ODD: /"([^"aé\\]|\\.)*[aé]([^"aé\\]|\\.|[aé]([^"aé\\]|\\.)*[aé])*"/
SHORT: /'([^e']|e[^e']{0,4}e){0,6}'/
WORDS: /([^ >]{1,5} +){0,3}[^ >]+>/
"#;

const GRAMMARS: [&str; 5] = [PROGRAM, PENDING, LINES, COUNTED, SPREAD];

/// Operands after which each of many operators continues at another level: of precedence, in an
/// ambiguous grammar, among words that may be names, and in lines.
const OPERATORS: [&str; 4] = [
    r#"
start: (e ";")*
e: e ("|" | "^") f | f
f: f ("+" | "-") g | f ("<" | ">") g | g
g: g ("*" | "%") h | h
h: "-" h | h "[" e "]" | h "(" (e ("," e)*)? ")" | h "." NAME | i
i: NAME | "(" e ")" | "{" (e ":" e)* "}"
NAME: /[a-z]+/
%ignore / +/
"#,
    r#"
start: e
e: e "+" e | e "*" e | e "-" e | e "[" e "]" | e "(" e ")" | "-" e | e "?" e ":" e | NAME
NAME: /[a-z]+/
%ignore / +/
"#,
    r#"
%soft NAME "if"
%fallback NAME "in"
start: (s ";")*
s: "if" e ":" s | e "in" e | e "=" e | e
e: e ("+" | "-") f | f
f: f ("*" | "%") g | g
g: NAME | g "(" e ("," e)* ")" | g "[" e "]" | "(" e ")" | g "." NAME
NAME: /[a-z]+/
%ignore / +/
"#,
    r#"
%declare INDENT DEDENT
%indent NEWLINE INDENT DEDENT open "(" "[" close ")" "]"
start: s*
s: e ("=" e | ";" e)* NEWLINE | "if" e ":" NEWLINE INDENT s+ DEDENT
e: e ("+" | "-") f | f
f: f ("*" | "%") g | g
g: NAME | g "(" e ("," e)* ")" | g "[" e "]" | "(" e ")" | g "." NAME
NAME: /[a-z]+/
NEWLINE: /\n/
%ignore / +/
"#,
];

/// Building blocks of their tokens.
const SYMBOLS: [&[u8]; 31] = [
    b"a", b"b", b"if", b"in", b" ", b"\n", b"\n ", b"  ", b"+", b"-", b"*", b"%", b"|", b"^", b"<",
    b">", b"(", b")", b"[", b"]", b"{", b"}", b",", b";", b":", b"=", b".", b"?", b"))", b"a)",
    b"](",
];

/// Strings in which characters are counted along with something else: words, more or fewer than
/// tokens have; letters of one kind; doubled ones; escapes.
const BOUNDED: [&str; 5] = [
    r#"{"type": "string", "pattern": "^([^ ]+ ){0,3}[^ ]+$", "minLength": 2, "maxLength": 9}"#,
    r#"{"type": "string", "pattern": "^([^ ]+ ){0,9}[^ ]+$", "maxLength": 40}"#,
    r#"{"type": "string", "pattern": "^[a1 \\n]*$", "minLength": 6, "maxLength": 30}"#,
    r#"{"type": "string", "pattern": "^(([^ é]|éé)+[ \n]){0,9}[^ ]+[\n\"]$", "minLength": 8}"#,
    r#"{"type": "string", "pattern": "^[^a]a?(éa?)*(😀|中)?$", "maxLength": 20}"#,
];

/// Strings in which a pattern is searched for, and keys.
const SEARCHED: [&str; 6] = [
    r#"{"type": "string", "pattern": "[0-9]{2}-[0-9]"}"#,
    r#"{"type": "string", "pattern": "(if|in|then) ?x_"}"#,
    r#"{"type": "string", "pattern": "[Ii]f [eé]|中é", "minLength": 4}"#,
    r#"{"type": "string", "pattern": "10+1.\n"}"#,
    r#"{"patternProperties": {"x_1|😀é": {"pattern": "e1"}}, "additionalProperties": false}"#,
    r#"{"properties": {"if": {"type": "string"}, "in": {}, "int": {}, "x_1": {}, "x_10": {}}}"#,
];

/// Building blocks of tokens; some end within a character.
const PIECES: [&[u8]; 38] = [
    b"a",
    b"if",
    b"in",
    b"then",
    b"e",
    b"x_",
    b"1",
    b"0",
    b".",
    b"e1",
    b"\"",
    b"'",
    b"\\",
    b" ",
    b"  ",
    b"\n",
    b"\n ",
    b"\n  ",
    b"\t",
    b";",
    b"=",
    b"(",
    b")",
    b":",
    b"/",
    b"*",
    b"/*",
    b"*/",
    b"#",
    "é".as_bytes(),
    "ß".as_bytes(),
    "中".as_bytes(),
    "😀".as_bytes(),
    b"\xc3",
    b"\xa9",
    b"\xe4\xb8",
    b"\xb8\xad",
    b"\xff",
];

fn vocabulary(pieces: &'static [&'static [u8]]) -> impl Strategy<Value = Vocabulary> {
    let token = prop::collection::vec(prop::sample::select(pieces), 1..6);
    let tokens = prop::collection::vec(token.prop_map(|pieces| pieces.concat()), 1..150);
    tokens.prop_map(|mut tokens| {
        tokens.extend(pieces.iter().map(|piece| piece.to_vec()));
        tokens.push(Vec::new());
        let stop = tokens.len() as u32 - 1;
        let vocabulary = Vocabulary::from_tokens(tokens).expect("few tokens");
        vocabulary.with_stop_tokens([stop]).expect("the last token")
    })
}

/// Creates a matcher on an index of its own with these shortcuts and this cache size.
pub(super) fn matcher(constraint: &Constraint, (shortcuts, room): (Shortcuts, usize)) -> Matcher {
    let Constraint { compiled, .. } = constraint;
    let spelled = compiled.spelled(constraint.vocabulary());
    let index = Index::new(compiled.scanner.clone(), spelled, room, compiled.marks.clone());
    Matcher::new(Arc::new(index.with_shortcuts(shortcuts)))
}

/// Follows a few random texts, so that later walks revisit nodes that earlier ones have walked.
fn follow(constraint: &Constraint, seed: u64) -> Result<(), TestCaseError> {
    let mut plain = matcher(constraint, (PLAIN, ROOM));
    let with_room = OTHERS.into_iter().map(|shortcuts| (shortcuts, ROOM));
    let with_little = LITTLE_ROOM.into_iter().map(|room| (Shortcuts::ALL, room));
    let kinds: Vec<_> = with_room.chain(with_little).collect();
    let mut others: Vec<_> = kinds.iter().map(|&kind| matcher(constraint, kind)).collect();
    let mut random = fastrand::Rng::with_seed(seed);
    let [mut expected, mut mask] = [(); 2].map(|()| constraint.new_mask());
    for _ in 0..4 {
        plain.reset();
        others.iter_mut().for_each(Matcher::reset);
        for _ in 0..12 {
            plain.fill_mask(&mut expected);
            for (other, kind) in others.iter().zip(&kinds) {
                other.fill_mask(&mut mask);
                prop_assert_eq!(mask.words(), expected.words(), "{:?}", kind);
            }
            let stops = constraint.vocabulary().stop_tokens();
            let allowed: Vec<_> =
                expected.tokens().filter(|token| !stops.contains(token)).collect();
            let Some(&token) = allowed.get(random.usize(..allowed.len().max(1))) else { break };
            for matcher in others.iter_mut().chain([&mut plain]) {
                prop_assert!(matcher.advance(token).is_ok());
            }
        }
    }
    Ok(())
}

fn lark(grammar: &str) -> Grammar {
    Grammar::from_lark(grammar).expect("the grammars of this file are grammars")
}

/// Follows random texts of a grammar.
fn follow_in(grammar: &Grammar, vocabulary: &Vocabulary, seed: u64) -> Result<(), TestCaseError> {
    let compiled = CompiledGrammar::new(grammar).expect("the grammars of this file compile");
    follow(&compiled.constraint(vocabulary).expect("its tokens are known"), seed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_shortcut_changes_a_mask(
        grammar in prop::sample::select(GRAMMARS.to_vec()),
        vocabulary in vocabulary(&PIECES),
        seed: u64,
    ) {
        follow_in(&lark(grammar), &vocabulary, seed)?;
    }

    #[test]
    fn no_shortcut_changes_a_mask_behind_operands(
        grammar in prop::sample::select(OPERATORS.to_vec()),
        vocabulary in vocabulary(&SYMBOLS),
        seed: u64,
    ) {
        follow_in(&lark(grammar), &vocabulary, seed)?;
    }

    #[test]
    fn no_shortcut_changes_a_mask_of_bounded_strings(
        schema in prop::sample::select(BOUNDED.to_vec()),
        vocabulary in vocabulary(&PIECES),
        seed: u64,
    ) {
        let grammar = Grammar::from_schema(schema, &SchemaOptions::default());
        follow_in(&grammar.expect("a schema"), &vocabulary, seed)?;
    }

    #[test]
    fn no_shortcut_changes_a_mask_where_a_pattern_is_searched_for(
        schema in prop::sample::select(SEARCHED.to_vec()),
        vocabulary in vocabulary(&PIECES),
        seed: u64,
    ) {
        let grammar = Grammar::from_schema(schema, &SchemaOptions::default());
        follow_in(&grammar.expect("a schema"), &vocabulary, seed)?;
    }
}
