//! Restrictions on ignored text, and whether only it can follow: whole masks against languages that
//! are written out text by text.
//!
//! Each language has a slow lexer of its own for complete texts, and a parser over the labels. All
//! texts up to a length are judged; a text is viable if one of those begins with it.

use std::collections::{BTreeMap, BTreeSet};

use lrmask::{
    BuildError, Constraint, Grammar, Ignored, Matcher, SchemaOptions, Source, TokenMask, Vocabulary,
};

/// A terminal: how many bytes at the beginning of a text it matches at most.
type Longest = fn(&[u8]) -> usize;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A lexeme for the parser.
    Word,
    /// White space.
    Blank,
    Comment,
}

struct Language {
    rules: &'static str,
    /// By name, in the order of rank.
    terminals: &'static [(&'static str, Kind, Longest)],
    /// From state 0, by label.
    moves: &'static [(usize, &'static str, usize)],
    ends: &'static [usize],
    alphabet: &'static [u8],
    /// Whether a run of ignored text is bounded as a whole, and not each of its lexemes.
    bounds_runs: bool,
}

fn run_of(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|&&byte| is(byte)).count()
}

const LANGUAGES: &[Language] = &[
    // Two minus signs begin a comment.
    Language {
        rules: "start: A (\"-\" A)*\nA: /a+/\n%ignore /[ \\n]+/\n%ignore /--[^\\n]*/",
        terminals: &[
            ("A", Kind::Word, |text| run_of(text, |byte| byte == b'a')),
            ("-", Kind::Word, |text| usize::from(text[0] == b'-')),
            (" ", Kind::Blank, |text| run_of(text, |byte| b" \n".contains(&byte))),
            ("--", Kind::Comment, |text| match text.starts_with(b"--") {
                true => run_of(text, |byte| byte != b'\n'),
                false => 0,
            }),
        ],
        moves: &[(0, "A", 1), (1, "-", 0)],
        ends: &[1],
        alphabet: b"a- \n",
        bounds_runs: true,
    },
    // A comment that is not closed is none; it ends itself, and comments follow one another.
    Language {
        rules: "start: A ((\"/\" | \"/\" \"*\") A)?\nA: /a/\n%ignore /\\/\\*a*\\*\\//\n%ignore / +/",
        terminals: &[
            ("A", Kind::Word, |text| usize::from(text[0] == b'a')),
            ("/", Kind::Word, |text| usize::from(text[0] == b'/')),
            ("*", Kind::Word, |text| usize::from(text[0] == b'*')),
            ("/*", Kind::Comment, |text| {
                let inner = text.strip_prefix(b"/*").unwrap_or_default();
                let inner = &inner[run_of(inner, |byte| byte == b'a')..];
                if text.starts_with(b"/*") && inner.starts_with(b"*/") {
                    text.len() - inner.len() + 2
                } else {
                    0
                }
            }),
            (" ", Kind::Blank, |text| run_of(text, |byte| byte == b' ')),
        ],
        moves: &[(0, "A", 1), (1, "/", 2), (2, "*", 3), (2, "A", 4), (3, "A", 4)],
        ends: &[1, 4],
        alphabet: b"a/* ",
        bounds_runs: true,
    },
    // Blanks and comments of one terminal.
    Language {
        rules: "start: A (\";\" A)?\nA: /a/\n%ignore /[ \\n]|#a*\\n/",
        terminals: &[
            ("A", Kind::Word, |text| usize::from(text[0] == b'a')),
            (";", Kind::Word, |text| usize::from(text[0] == b';')),
            (" ", Kind::Blank, |text| usize::from(b" \n".contains(&text[0]))),
            ("#", Kind::Comment, |text| {
                let inner = text.strip_prefix(b"#").unwrap_or_default();
                let inner = &inner[run_of(inner, |byte| byte == b'a')..];
                if text[0] == b'#' && inner.starts_with(b"\n") {
                    text.len() - inner.len() + 1
                } else {
                    0
                }
            }),
        ],
        moves: &[(0, "A", 1), (1, ";", 2), (2, "A", 3)],
        ends: &[1, 3],
        alphabet: b"a;#\n",
        bounds_runs: true,
    },
    // Another terminal may begin with a blank, so each blank is bounded.
    Language {
        rules: "start: (A | B)+\nA: /a/\nB: / +b/\n%ignore / +/",
        terminals: &[
            ("A", Kind::Word, |text| usize::from(text[0] == b'a')),
            ("B", Kind::Word, |text| {
                let blanks = run_of(text, |byte| byte == b' ');
                if blanks > 0 && text.get(blanks) == Some(&b'b') { blanks + 1 } else { 0 }
            }),
            (" ", Kind::Blank, |text| run_of(text, |byte| byte == b' ')),
        ],
        moves: &[(0, "A", 1), (0, "B", 1), (1, "A", 1), (1, "B", 1)],
        ends: &[1],
        alphabet: b"ab ",
        bounds_runs: false,
    },
];

/// Texts up to this length are judged, and all tokens of two bytes after texts of up to this less.
const LONGEST: usize = 9;
const ROOM: usize = 6;

/// Room for one more word, which is shorter than a completion.
const ROOM_FOR_A_WORD: usize = 5;

impl Language {
    /// Returns the lexemes of a complete text, if it is in the language without restrictions.
    fn lexemes(&self, text: &[u8], is_basic: bool) -> Option<Vec<(usize, usize)>> {
        let (mut lexemes, mut at, mut state) = (Vec::new(), 0, 0);
        while at < text.len() {
            let next = |name: &str| {
                let moves = self.moves.iter().find(|&&(from, by, _)| from == state && by == name);
                moves.map(|&(_, _, to)| to)
            };
            let competes = |&(name, kind, _): &(&str, Kind, Longest)| {
                is_basic || kind != Kind::Word || next(name).is_some()
            };
            let found = self.terminals.iter().enumerate();
            let found = found.filter(|(_, terminal)| competes(terminal));
            let found = found.map(|(index, (_, _, longest))| (longest(&text[at..]), index));
            // The first of the longest.
            let (length, index) = found.rev().max_by_key(|&(length, _)| length)?;
            if length == 0 {
                return None;
            }
            let (name, kind, _) = self.terminals[index];
            if kind == Kind::Word {
                state = next(name)?;
            }
            lexemes.push((index, length));
            at += length;
        }
        self.ends.contains(&state).then_some(lexemes)
    }

    fn kind(&self, lexeme: (usize, usize)) -> Kind {
        self.terminals[lexeme.0].1
    }

    /// Whether lexemes respect the restrictions.
    fn is_allowed(&self, lexemes: &[(usize, usize)], kinds: Ignored, most: Option<usize>) -> bool {
        let mut run = 0;
        lexemes.iter().all(|&lexeme| {
            let kind = self.kind(lexeme);
            run = match kind {
                Kind::Word => 0,
                _ if self.bounds_runs => run + lexeme.1,
                _ => lexeme.1,
            };
            let is_kind = match kinds {
                Ignored::All => true,
                Ignored::Blanks => kind != Kind::Comment,
                _ => kind == Kind::Word,
            };
            is_kind && most.is_none_or(|most| run <= most)
        })
    }

    /// Returns all texts of the language up to [`LONGEST`], with their lexemes.
    fn texts(&self, is_basic: bool) -> BTreeMap<Vec<u8>, Vec<(usize, usize)>> {
        let mut texts = BTreeMap::new();
        let mut layer = vec![Vec::new()];
        for _ in 0..=LONGEST {
            for text in &layer {
                if let Some(lexemes) = self.lexemes(text, is_basic) {
                    texts.insert(text.clone(), lexemes);
                }
            }
            let longer = |text: &Vec<u8>| {
                let text = text.clone();
                self.alphabet.iter().map(move |&byte| [&text[..], &[byte]].concat())
            };
            layer = layer.iter().flat_map(longer).collect();
        }
        texts
    }

    fn grammar(&self, is_basic: bool) -> Grammar {
        let lexer = if is_basic { "basic" } else { "contextual" };
        Grammar::from_lark(&format!("%lexer {lexer}\n{}", self.rules)).unwrap()
    }

    /// Returns tokens of one and two bytes.
    fn tokens(&self) -> Vec<Vec<u8>> {
        let one = self.alphabet.iter().map(|&byte| vec![byte]);
        let two = self
            .alphabet
            .iter()
            .flat_map(|&first| self.alphabet.iter().map(move |&second| vec![first, second]));
        one.chain(two).collect()
    }
}

fn beginnings<'t>(texts: impl Iterator<Item = &'t Vec<u8>>) -> BTreeSet<Vec<u8>> {
    texts.flat_map(|text| (0..=text.len()).map(|end| text[..end].to_vec())).collect()
}

#[test]
fn masks_under_restrictions_are_exact() {
    let mut compared = 0;
    for language in LANGUAGES {
        for is_basic in [true, false] {
            let (texts, tokens) = (language.texts(is_basic), language.tokens());
            let vocabulary = Vocabulary::from_tokens(&tokens).unwrap();
            let grammar = language.grammar(is_basic);
            for kinds in [Ignored::All, Ignored::Blanks, Ignored::None] {
                for most in [None, Some(0), Some(1), Some(2), Some(3)] {
                    let allowed = texts.iter();
                    let allowed: BTreeSet<&Vec<u8>> = allowed
                        .filter(|(_, lexemes)| language.is_allowed(lexemes, kinds, most))
                        .map(|(text, _)| text)
                        .collect();
                    let viable = beginnings(allowed.iter().copied());
                    let mut builder = Constraint::builder().ignored(kinds);
                    if let Some(most) = most {
                        builder = builder.ignored_run(most as u32);
                    }
                    let constraint = builder.build(&grammar, &vocabulary).unwrap();
                    let warns =
                        constraint.warnings().iter().any(|found| found.code == "ignored-run");
                    let is_bounded = most > Some(0) && kinds != Ignored::None;
                    assert_eq!(warns, is_bounded && !language.bounds_runs, "{}", language.rules);
                    let saved = Constraint::load(constraint.save(), &vocabulary).unwrap();
                    for text in viable.iter().filter(|text| text.len() <= LONGEST - ROOM) {
                        let place = format!(
                            "{} {kinds:?} {most:?} {:?}",
                            language.rules,
                            text.escape_ascii()
                        );
                        let mut matcher = constraint.matcher();
                        matcher
                            .advance_bytes(text)
                            .unwrap_or_else(|error| panic!("{place}: {error}"));
                        assert_eq!(matcher.is_accepting(), allowed.contains(text), "{place}");
                        let mask = mask(&matcher);
                        for (id, token) in tokens.iter().enumerate() {
                            let longer = [&text[..], token].concat();
                            let right = viable.contains(&longer);
                            let shown = token.escape_ascii();
                            assert_eq!(mask.contains(id as u32), right, "{place}: {shown}");
                            assert_eq!(matcher.allows(id as u32), right, "{place}: {shown}");
                            compared += 1;
                        }
                        let end = matcher.shortest_completion().unwrap();
                        assert!(
                            language
                                .lexemes(&[&text[..], &end].concat(), is_basic)
                                .is_some_and(|lexemes| language.is_allowed(&lexemes, kinds, most)),
                            "{place}"
                        );
                        let mut other = saved.matcher();
                        other.advance_bytes(text).unwrap();
                        assert_eq!(self::mask(&other), mask, "{place}: after loading");
                    }
                }
            }
        }
    }
    assert!(compared > 20_000, "{compared}");
}

fn mask(matcher: &Matcher) -> TokenMask {
    let mut mask = TokenMask::default();
    matcher.fill_mask(&mut mask);
    mask
}

#[test]
fn only_the_end_follows_where_nothing_else_does() {
    let mut counts = [0, 0];
    for language in LANGUAGES {
        for is_basic in [true, false] {
            let texts = language.texts(is_basic);
            let constraint =
                Constraint::new(&language.grammar(is_basic), &Vocabulary::single_bytes()).unwrap();
            let words = |lexemes: &[(usize, usize)]| {
                let words = lexemes.iter().filter(|&&lexeme| language.kind(lexeme) == Kind::Word);
                words.copied().collect::<Vec<_>>()
            };
            for (text, lexemes) in
                texts.iter().filter(|(text, _)| text.len() <= LONGEST - ROOM_FOR_A_WORD)
            {
                let longer = texts.range(text.clone()..);
                let mut longer = longer.take_while(|(longer, _)| longer.starts_with(text));
                let own = words(lexemes);
                let only = longer.all(|(_, lexemes)| words(lexemes) == own);
                let mut matcher = constraint.matcher();
                matcher.advance_bytes(text).unwrap();
                let place = format!("{} {:?}", language.rules, text.escape_ascii());
                assert_eq!(matcher.only_end_follows(), only, "{place}");
                counts[usize::from(only)] += 1;
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 10), "{counts:?}");
}

#[test]
fn only_the_end_follows_after_a_query_and_after_a_stop_token() {
    let sqlite = include_str!("../grammars/sqlite/sqlite.lark");
    let grammar =
        Grammar::from_lark(sqlite).and_then(|grammar| grammar.with_start("query")).unwrap();
    let constraint = Constraint::new(&grammar, &Vocabulary::single_bytes()).unwrap();
    for (text, expected) in [
        ("SELECT 1", false),
        ("SELECT 1;", true),
        ("SELECT 1; -- the end", true),
        ("SELECT 1 /* open", false),
        ("SELECT", false),
    ] {
        let mut matcher = constraint.matcher();
        matcher.advance_bytes(text.as_bytes()).unwrap();
        assert_eq!(matcher.only_end_follows(), expected, "{text}");
    }
    let grammar = Grammar::from_lark("start: \"a\"*").unwrap();
    let vocabulary = Vocabulary::from_tokens(["a", "```"]).unwrap();
    let constraint = Constraint::new(&grammar, &vocabulary).unwrap();
    let mut matcher = constraint.matcher_with_stops([1]).unwrap();
    assert!(!matcher.only_end_follows() && matcher.allows(1));
    matcher.advance(1).unwrap();
    assert!(matcher.only_end_follows());
    matcher.heal(b"a");
    assert!(matcher.only_end_follows());
}

#[test]
fn a_stop_token_with_bytes_ends_sentences_and_is_text_elsewhere() {
    let vocabulary = Vocabulary::from_tokens(["a", "`", "```", "b"]).unwrap();
    let grammar = Grammar::from_lark("start: \"a\" (\"```\" \"b\")?").unwrap();
    let constraint = Constraint::new(&grammar, &vocabulary).unwrap();
    let mut matcher = constraint.matcher_with_stops([2, 3]).unwrap();
    let allowed =
        |matcher: &Matcher| mask(matcher).tokens().map(lrmask::TokenId::get).collect::<Vec<_>>();
    assert_eq!(allowed(&matcher), [0]);
    matcher.advance(0).unwrap();
    // A stop token ends a sentence even if its bytes could go on.
    assert_eq!(allowed(&matcher), [1, 2, 3]);
    let mut ended = matcher.clone();
    ended.advance(2).unwrap();
    assert!(ended.is_finished());
    assert_eq!(allowed(&ended), [2, 3]);
    assert_eq!(ended.rollback(1), 1);
    assert_eq!(allowed(&ended), [1, 2, 3]);
    for _ in 0..3 {
        matcher.advance(1).unwrap();
    }
    // No sentence: the token is its bytes.
    assert_eq!(allowed(&matcher), [3]);
    matcher.advance(3).unwrap();
    assert!(!matcher.is_finished() && matcher.is_accepting());
}

#[test]
fn the_preset_bounds_what_models_write_for_ever() {
    let vocabulary = Vocabulary::single_bytes();
    let builder = Constraint::builder().for_models();
    let json = Grammar::from_lark(include_str!("../grammars/json/json.lark")).unwrap();
    let constraint = builder.build(&json, &vocabulary).unwrap();
    let takes = |constraint: &Constraint, text: &str| {
        constraint.matcher().advance_bytes(text.as_bytes()).is_ok()
    };
    let blanks = " ".repeat(64);
    assert!(takes(&constraint, &format!("[{blanks}1")));
    assert!(!takes(&constraint, &format!("[{blanks} ")));
    let python = lrmask::GrammarReader::new()
        .name("python")
        .imports(&|_| Ok(include_str!("../grammars/python/identifiers.lark").to_owned()))
        .lark(include_str!("../grammars/python/python.lark"))
        .unwrap();
    let constraint = builder.build(&python, &vocabulary).unwrap();
    assert!(takes(&constraint, "if x:\n    y = 1 + \\\n  2\n"));
    assert!(!takes(&constraint, "x = 1 # one") && !takes(&constraint, "# one"));
    assert!(takes(&constraint, "x = '# one'\n"));
    // Of everything that can be read, only schemas have further bounds.
    let source = Source::json_schema("{}", &SchemaOptions::default());
    let constraint = builder.read(&source, &vocabulary).unwrap();
    assert!(takes(&constraint, &format!("\"{}\"", "x".repeat(1_000))));
    assert!(!takes(&constraint, &format!("\"{}", "x".repeat(1_001))));
    let failed = builder.read(&Source::regex("("), &vocabulary);
    assert!(matches!(failed, Err(BuildError::Grammar(_))));
}

#[test]
fn default_bounds_hold_where_the_schema_names_none() {
    let mut options = SchemaOptions::default();
    options.default_max_length = Some(2);
    options.default_max_items = Some(70);
    options.default_max_digits = Some(3);
    let items = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    for (schema, text, expected) in [
        (r#"{"type": "string"}"#, r#""ab""#, true),
        (r#"{"type": "string"}"#, r#""abc""#, false),
        (r#"{"type": "string"}"#, "\"\u{20ac}\\n\"", true),
        // The schema's own bounds.
        (r#"{"type": "string", "maxLength": 4}"#, r#""abcd""#, true),
        (r#"{"minLength": 3}"#, r#""abcdefg""#, true),
        (r#"{"enum": ["abc", "d"]}"#, r#""abc""#, true),
        (r#"{"const": 123456}"#, "123456", true),
        (r#"{"pattern": "^a+$"}"#, r#""aa""#, true),
        (r#"{"pattern": "^a+$"}"#, r#""aaa""#, false),
        (r#"{"pattern": "^a{3,}$"}"#, r#""aaaa""#, true),
        // A bound below a negation must not allow more.
        (r#"{"not": {"type": "string"}}"#, r#""abc""#, false),
        (r#"{"not": {"type": "string", "pattern": "^a"}}"#, r#""abc""#, false),
        (r#"{"not": {"type": "string", "pattern": "^a"}}"#, r#""bb""#, true),
        (r#"{"not": {"type": "string", "pattern": "^a"}}"#, r#""bbb""#, false),
        (r#"{"not": {"items": {"type": "string"}}}"#, r#"["abc"]"#, false),
        (r#"{"type": "number"}"#, "-1.25e-0", false),
        (r#"{"type": "number"}"#, "-1.5e7", true),
        (r#"{"type": "integer"}"#, "999", true),
        (r#"{"type": "integer"}"#, "1000", false),
        (r#"{"type": "integer", "minimum": 1000}"#, "1000", true),
        (r#"{"type": "integer", "minimum": 10, "maximum": 5000}"#, "1000", false),
        (r#"{"type": "integer", "minimum": 10, "maximum": 5000}"#, "999", true),
        (r#"{"type": "array"}"#, &items(70), true),
        (r#"{"type": "array"}"#, &items(71), false),
        (r#"{"items": {"type": "integer"}, "minItems": 71}"#, &items(72), true),
        (r#"{"items": {"type": "integer"}, "maxItems": 80}"#, &items(80), true),
        (r#"{"prefixItems": [{"type": "integer"}]}"#, &items(71), false),
        (
            r#"{"contains": {"const": 2}}"#,
            &format!("{},2]", &items(75)[..items(75).len() - 1]),
            true,
        ),
        // Everywhere in a value.
        (r#"{}"#, r#"{"k": ["abc"]}"#, false),
        (r#"{}"#, r#"{"k": ["ab", 123]}"#, true),
        (r#"{"properties": {"k": {"type": "string"}}}"#, r#"{"k": "abc"}"#, false),
        (r#"{"properties": {"k": {"type": "string"}}}"#, r#"{"k": "ab"}"#, true),
        (r#"{"anyOf": [{"type": "string"}, {"maxLength": 5}]}"#, r#""ab""#, true),
    ] {
        let accepts = |options: &SchemaOptions| {
            let grammar =
                Grammar::from_schema(schema, options).unwrap_or_else(|e| panic!("{schema}: {e}"));
            let mut matcher =
                Constraint::new(&grammar, &Vocabulary::single_bytes()).unwrap().matcher();
            matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
        };
        assert_eq!(accepts(&options), expected, "{schema} {text}");
        // They only narrow.
        assert!(!expected || accepts(&SchemaOptions::default()), "{schema} {text}");
    }
}
