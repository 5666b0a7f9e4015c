//! Grammars of characters: compares whole masks with the oracle, in which each character is a
//! terminal.
//!
//! Each file of `tests/gbnf` is a case. `LRMASK_CASE=name` runs one. Lines before `== gbnf` have
//! the format of `tests/grammars`; the grammar follows, and after `== characters` the same language
//! written by hand, without classes, groups and counts: one rule per line, `name -> "text" name |`,
//! where `OTHER` is any character that none of the rules mentions. No character is a prefix of
//! another, so no match is longer than any other.
//!
//! A case about tokens has its own vocabulary: lines `vocabulary` and `special` list the tokens,
//! with ascending ids, followed by the stop token. Among the characters `@3` is the token with id
//! 3. The test walks sequences of tokens, each of which may be meant as its text and as itself.

#![allow(clippy::print_stdout)]
// Tests fail by panicking, but the lint recognizes only the test functions themselves.
#![allow(clippy::unwrap_used)]

use crate::oracle;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use lrmask::{CompiledGrammar, Constraint, Diagnostic, Grammar, TokenId, Vocabulary};
use oracle::check::{Extent, compile, walk};
use oracle::quoted::words;
use oracle::spec::{LexerKind, Spec};
use oracle::viability::Oracle;
use oracle::vocabularies::{self, SmallVocabulary};

/// A case.
#[derive(Debug, Default)]
struct Case {
    name: String,
    gbnf: String,
    characters: String,
    alphabet: Vec<u8>,
    length: usize,
    tokens: Vec<Vec<u8>>,
    warnings: Vec<String>,
    members: Vec<Vec<u8>>,
    others: Vec<Vec<u8>>,
    vocabulary: Vec<Vec<u8>>,
    special: Vec<String>,
}

/// The oracle's input for a token that is meant as itself: a character that no case uses.
fn private(id: u32) -> char {
    char::from_u32(0xe000 + id).unwrap()
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/gbnf")
}

fn cases() -> Vec<Case> {
    let only = std::env::var("LRMASK_CASE").ok();
    let files = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> =
        files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.retain(|name| only.as_ref().is_none_or(|only| only == name));
    names.sort();
    assert!(!names.is_empty());
    names.iter().map(|name| Case::read(name)).collect()
}

impl Case {
    fn read(name: &str) -> Self {
        let text = fs::read_to_string(directory().join(format!("{name}.txt"))).unwrap();
        let (head, rest) = text.split_once("== gbnf\n").expect("a grammar");
        let (gbnf, characters) =
            rest.split_once("== characters\n").expect("the same in characters");
        assert!(head.starts_with("# "), "{name}: no word of what it is for");
        let mut case = Self {
            name: name.to_owned(),
            gbnf: gbnf.to_owned(),
            characters: characters.to_owned(),
            ..Self::default()
        };
        for line in head.lines() {
            let words = words(line);
            let Some((keyword, values)) = words.split_first() else { continue };
            let values = values.to_vec();
            let string = |word: &Vec<u8>| String::from_utf8(word.clone()).unwrap();
            match keyword.as_slice() {
                b"alphabet" => case.alphabet = values.concat(),
                b"n" => case.length = string(&values[0]).parse().unwrap(),
                b"token" => case.tokens = values,
                b"warning" => case.warnings = values.iter().map(string).collect(),
                b"member" => case.members = values,
                b"nonmember" => case.others = values,
                b"vocabulary" => case.vocabulary = values,
                b"special" => case.special = values.iter().map(string).collect(),
                other => panic!("{name}: {}", String::from_utf8_lossy(other)),
            }
        }
        case
    }

    /// Returns the oracle for the language, with each character as a terminal.
    fn oracle(&self) -> Oracle {
        let mut characters = BTreeSet::new();
        let mut rules = String::new();
        for line in self.characters.lines() {
            let (name, ways) = line.split_once("->").expect("a rule");
            // A vertical bar within quotes is not a separator.
            for way in split(ways) {
                write!(rules, "rule {} ->", name.trim()).unwrap();
                for word in way {
                    match word {
                        Ok(text) => text.chars().for_each(|character| {
                            characters.insert(character);
                            write!(rules, " C{:x}", u32::from(character)).unwrap();
                        }),
                        Err(name) => match name.strip_prefix('@') {
                            Some(id) => {
                                let character = private(id.parse().unwrap());
                                characters.insert(character);
                                write!(rules, " C{:x}", u32::from(character)).unwrap();
                            }
                            None => write!(rules, " {name}").unwrap(),
                        },
                    }
                }
                rules.push('\n');
            }
        }
        let terminals: String = characters
            .iter()
            .map(|&c| format!("terminal C{0:x} /\\x{{{0:x}}}/\n", u32::from(c)))
            .collect();
        let listed: String =
            characters.iter().map(|&c| format!("\\x{{{:x}}}", u32::from(c))).collect();
        let other = format!("terminal OTHER /[^{listed}]/\n");
        let mut spec = Spec::read(&format!("start root\n{terminals}{other}{rules}"));
        spec.lexer = LexerKind::Contextual;
        let private =
            (0..self.tokens().len() as u32).flat_map(|id| private(id).to_string().into_bytes());
        let letters: BTreeSet<u8> = self.alphabet.iter().copied().chain(private).collect();
        Oracle::new(spec, &Vec::from_iter(letters))
    }

    /// Returns the tokens of a case with its own vocabulary: `None` for a token without text.
    fn tokens(&self) -> Vec<Option<&[u8]>> {
        let ordinary = self.vocabulary.iter().map(|token| Some(token.as_slice()));
        ordinary.chain(self.special.iter().map(|_| None)).collect()
    }

    fn vocabularies(&self) -> Vec<SmallVocabulary> {
        let length = if self.alphabet.len() <= 5 { 3 } else { 2 };
        vec![
            vocabularies::bytes(),
            vocabularies::strings(&self.alphabet, length),
            vocabularies::ragged(&self.alphabet, &self.tokens),
        ]
    }
}

/// Returns the alternatives of a rule: texts, and names.
fn split(ways: &str) -> Vec<Vec<Result<String, String>>> {
    let mut all = vec![Vec::new()];
    let mut rest = ways.trim();
    while !rest.is_empty() {
        let length = match rest.as_bytes()[0] {
            b'"' => {
                let mut escaped = false;
                let end = rest[1..].bytes().position(|byte| {
                    let ends = byte == b'"' && !escaped;
                    escaped = byte == b'\\' && !escaped;
                    ends
                });
                end.expect("a closed text") + 2
            }
            _ => rest.find(' ').unwrap_or(rest.len()),
        };
        let (word, behind) = rest.split_at(length);
        let way = all.last_mut().unwrap();
        if word.starts_with('"') {
            way.push(Ok(String::from_utf8(words(word).concat()).unwrap()));
        } else if word == "|" {
            all.push(Vec::new());
        } else {
            way.push(Err(word.to_owned()));
        }
        rest = behind.trim_start();
    }
    all
}

/// The meanings of a sequence of tokens: by its texts, its tokens, or some of both.
type Meanings = Vec<Vec<u8>>;

/// Walks the sequences of tokens of a case about tokens.
fn check_tokens(case: &Case) -> Vec<String> {
    let tokens = case.tokens();
    let mut vocabulary =
        Vocabulary::from_tokens(tokens.iter().map(|token| token.unwrap_or_default().to_vec()))
            .unwrap();
    for (id, name) in (case.vocabulary.len() as u32..).zip(&case.special) {
        vocabulary = vocabulary.with_special(id, name).unwrap();
    }
    let end = tokens.len() as u32;
    let vocabulary =
        vocabulary.with_special(end, "<end>").and_then(|v| v.with_stop_tokens([end])).unwrap();
    let grammar = match Grammar::from_gbnf(&case.gbnf) {
        Ok(grammar) => grammar,
        Err(error) => return vec![format!("refused: {error}")],
    };
    let constraint = match Constraint::new(&grammar, &vocabulary) {
        Ok(constraint) => constraint,
        Err(error) => return vec![format!("refused: {error}")],
    };
    let oracle = case.oracle();
    let after = |meanings: &Meanings, id: u32| -> Meanings {
        let forms = tokens[id as usize].map(<[u8]>::to_vec).into_iter();
        let forms: Vec<Vec<u8>> = forms.chain([private(id).to_string().into_bytes()]).collect();
        let texts = meanings
            .iter()
            .flat_map(|text| forms.iter().map(move |form| [&text[..], form].concat()));
        texts.filter(|text| oracle.is_viable(text)).collect()
    };
    let mut faults = Vec::new();
    let mut layer: Vec<(Vec<u32>, Meanings)> = vec![(Vec::new(), vec![Vec::new()])];
    let mut masks = 0;
    for _ in 0..=case.length {
        let mut next = Vec::new();
        for (sequence, meanings) in layer {
            let mut matcher = constraint.matcher();
            for &id in &sequence {
                matcher.advance(id).unwrap();
            }
            let mut mask = constraint.new_mask();
            matcher.fill_mask(&mut mask);
            masks += 1;
            let mut wanted = Vec::new();
            for id in 0..end {
                let meanings = after(&meanings, id);
                if !meanings.is_empty() {
                    wanted.push(TokenId::from(id));
                    next.push(([&sequence[..], &[id]].concat(), meanings));
                }
            }
            if meanings.iter().any(|text| oracle.is_member(text)) {
                wanted.push(TokenId::from(end));
            }
            let found: Vec<TokenId> = mask.tokens().collect();
            let allowed: Vec<TokenId> =
                (0..=end).map(TokenId::from).filter(|&id| matcher.allows(id)).collect();
            if found != wanted || allowed != wanted {
                faults.push(format!("{sequence:?}: {found:?}, {allowed:?}, and not {wanted:?}"));
            }
        }
        if !faults.is_empty() {
            break;
        }
        layer = next;
    }
    assert!(masks > 1 || !faults.is_empty(), "{}: nothing walked", case.name);
    faults
}

fn check(case: &Case) -> Vec<String> {
    if !case.tokens().is_empty() {
        return check_tokens(case);
    }
    let most = std::env::var("LRMASK_TEXTS")
        .map_or(200, |texts| texts.parse().expect("LRMASK_TEXTS is a number"));
    let grammar = match Grammar::from_gbnf(&case.gbnf) {
        Ok(grammar) => grammar,
        Err(error) => return vec![format!("refused: {error}")],
    };
    let oracle = case.oracle();
    let mut faults = Vec::new();
    for (texts, is_member) in [(&case.members, true), (&case.others, false)] {
        for text in texts.iter().filter(|text| oracle.is_member(text) != is_member) {
            faults.push(format!("the oracle errs about {}", oracle::quoted::show(text)));
        }
    }
    for vocabulary in case.vocabularies() {
        let (constraint, warnings) = match compile(&grammar, &vocabulary) {
            Ok(built) => built,
            Err(found) => return vec![format!("refused: {found:#?}")],
        };
        let has = |code: &String| warnings.iter().any(|warning: &Diagnostic| warning.code == code);
        faults.extend(
            case.warnings.iter().filter(|code| !has(code)).map(|code| format!("no warning {code}")),
        );
        for (texts, is_member) in [(&case.members, true), (&case.others, false)] {
            for text in texts {
                let mut matcher = constraint.matcher();
                if (matcher.advance_bytes(text).is_ok() && matcher.is_accepting()) != is_member {
                    faults.push(format!("{} is judged wrongly", oracle::quoted::show(text)));
                }
            }
        }
        let in_tokens = vocabulary.name == "ragged";
        let extent = Extent {
            alphabet: case.alphabet.clone(),
            bytes: case.length,
            tokens: if in_tokens { 3 } else { 0 },
            texts: most / if in_tokens { 3 } else { 1 },
            also: case.members.clone(),
            descents: (0, 0),
            completes: true,
        };
        let outcome = walk(&oracle, &constraint, &vocabulary, &extent);
        assert!(outcome.texts > 1 || !outcome.faults.is_empty(), "{}: nothing walked", case.name);
        faults.extend(outcome.faults);
    }
    faults
}

#[test]
fn masks_are_those_of_the_characters() {
    let mut reports = Vec::new();
    for case in cases() {
        let start = std::time::Instant::now();
        let faults = check(&case);
        println!("{}: {} faults, {:.1?}", case.name, faults.len(), start.elapsed());
        if !faults.is_empty() {
            reports.push(format!("== {}\n{}", case.name, faults.join("\n")));
        }
    }
    assert!(reports.is_empty(), "{} cases fail:\n{}", reports.len(), reports.join("\n"));
}

/// Returns the grammar's constraint for a vocabulary of bytes.
fn on_bytes(grammar: &Grammar) -> Constraint {
    let vocabulary = Vocabulary::from_tokens((0..=255u8).map(|byte| vec![byte])).expect("bytes");
    Constraint::new(grammar, &vocabulary).expect("a sound grammar")
}

/// Whether the grammar accepts a text.
fn accepts(constraint: &Constraint, text: &str) -> bool {
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(text.as_bytes()).is_ok() && matcher.is_accepting()
}

/// Asserts that the grammar, written as `source`, accepts `members` and refuses `others`.
fn assert_texts(source: &str, grammar: &Constraint, members: &[&str], others: &[&str]) {
    for member in members {
        assert!(accepts(grammar, member), "{source} has {member:?}");
    }
    for other in others {
        assert!(!accepts(grammar, other), "{source} has no {other:?}");
    }
}

#[test]
fn whole_grammars_take_and_refuse_what_their_authors_mean() {
    let arithmetic = "root ::= sum \"\\n\"\nsum ::= factor (ws [-+] ws factor)*\n\
                      factor ::= value (ws [*/] ws value)*\n\
                      value ::= [0-9]+ | \"(\" ws sum ws \")\" | \"-\" value\nws ::= [ \\t]*";
    let members = "root ::= \"{\" s (member (\",\" s member)*)? \"}\"\n\
                   member ::= key \":\" s (root | number) s\n\
                   key ::= \"\\\"\" [a-z]{1,3} \"\\\"\"\nnumber ::= \"0\" | [1-9] [0-9]{0,3}\ns ::= \" \"?";
    let cases: &[(&str, &[&str], &[&str])] = &[
        (
            arithmetic,
            &["1\n", "(1 + 2)*-3\n", "((4))/2 - 1\n"],
            &["1", "1 +\n", "(1\n", "1 2\n", "\n"],
        ),
        (
            members,
            &["{}", "{\"a\":1}", "{ \"a\": {\"bcd\":0} ,\"e\":1234}"],
            &["{\"abcd\":1}", "{\"a\":01}", "{,}"],
        ),
        ("root ::= \"a\"*", &["", "a", "aaaa"], &["b", "ab"]),
        ("root ::= \"a\"+ \"b\"?", &["a", "aab"], &["", "b", "abb"]),
        ("root ::= [ab]{3}", &["aba"], &["ab", "abab"]),
        ("root ::= [ab]{2,}", &["ab", "ababab"], &["a"]),
        ("root ::= [ab]{,2} \"c\"", &["c", "abc"], &["abac"]),
        ("root ::= ([0-9]{1,3} \".\"){3} [0-9]{1,3}", &["127.0.0.1"], &["127.0.1", "1234.0.0.1"]),
        ("root ::= \"<\" [^>]* \">\" .", &["<é\n>x", "<>🦀"], &["<>>>", "<>"]),
        (
            "root ::= greeting \", \" name \"!\"\ngreeting ::= \"Hi\" | \"Hiya\"\nname ::= [A-Z] [a-z]+",
            &["Hi, Bo!", "Hiya, Al!"],
            &["Hi, bo!"],
        ),
        ("root ::= [\\U0001F600-\\U0001F64F]+", &["😀😃"], &["🦀", ""]),
        ("root ::= .. \"ab\" .", &["ababa", "é🦀ab\n"], &["éabé", "aabab", "🦀🦀🦀abx"]),
        ("root ::= ([x]*)*", &["", "x", "xxx"], &["y", "xy"]),
        ("root ::= ((((([^x]*){0,9}){0,9}){0,9}){0,9}){0,9}", &["", "ab"], &["x", "abx"]),
        (
            "root ::= (\"#\" [0-9]{2} \" \"?){2,3}",
            &["#12#34", "#12 #34 #56 "],
            &["#12 ", "#12 #3", "#1#2#3#4"],
        ),
        (
            "root ::= stop+ open* stop? (open stop)*\nopen ::= [aeiou]\nstop ::= [b-df-hj-np-tv-z]",
            &["tree", "stratat", "b"],
            &["strata", "stratta", "oak"],
        ),
        (
            "root ::= list\nlist ::= \"a\" | other \"b\"\nother ::= none list \"c\" | \"d\"\n\
             none ::= \"x\" |",
            &["a", "db", "acb", "xacb", "xxacbcb"],
            &["x", "ac", "xa"],
        ),
    ];
    for (text, members, others) in cases {
        let grammar = Grammar::from_gbnf(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let grammar = on_bytes(&grammar);
        assert_texts(text, &grammar, members, others);
    }
}

/// Follows llama.cpp: the last definition counts, and a reversed range is empty.
#[test]
fn definitions_that_stand_twice_and_reversed_ranges() {
    let text = "root ::= \"a\" end\nend ::= [0-9]\nend ::= [z-a!]\n";
    let grammar = on_bytes(&Grammar::from_gbnf(text).expect("two warnings"));
    assert_texts(text, &grammar, &["a!"], &["a", "a1", "az", "am"]);
}

/// The form in which llama-cpp-python writes a string with a maximum length.
#[test]
fn options_in_options_nest_as_deep_as_they_count() {
    for depth in [1, 40, 49, 75, 300, 3_000] {
        let options = format!("{}{}", "(x ".repeat(depth), ")?".repeat(depth));
        let text = format!("root ::= \"<\" {options} \">\"\nx ::= [a-z] | \"\\\\\" [nr]\n");
        let constraint = on_bytes(&Grammar::from_gbnf(&text).unwrap());
        let with =
            |count: usize| format!("<{}>", "a\\n".repeat(count / 2) + &"b".repeat(count % 2));
        for count in [0, 1, depth / 2, depth - 1, depth] {
            assert!(accepts(&constraint, &with(count)), "{count} of {depth}");
        }
        assert!(!accepts(&constraint, &with(depth + 1)), "{depth}");
    }
}

#[test]
fn regexes_count_as_far_as_rules() {
    let source = r#"root ::= Regex("(ab){2,50000}c")"#;
    let grammar = on_bytes(&Grammar::from_gbnf(source).unwrap());
    let long = "ab".repeat(50_000);
    let (longest, longer) = (format!("{long}c"), format!("{long}abc"));
    assert_texts(source, &grammar, &["ababc", longest.as_str()], &["abc", longer.as_str()]);
}

#[test]
fn a_token_that_the_vocabulary_lacks_is_an_error() {
    let vocabulary =
        Vocabulary::from_tokens([b"a".to_vec()]).and_then(|v| v.with_special(1, "<think>"));
    let vocabulary = vocabulary.expect("sound");
    for (text, help) in [
        ("root ::= <thing> \"a\"", "did you mean `<think>`"),
        ("root ::= (!<thing>)*", "did you mean `<think>`"),
        ("root ::= <[7]>", "ids range from 0 to 1"),
        ("root ::= !<[7]>", "ids range from 0 to 1"),
    ] {
        let grammar = Grammar::from_gbnf(text).expect("tokens are looked up later");
        let error = Constraint::new(&grammar, &vocabulary).expect_err(text);
        assert_eq!(error.diagnostics()[0].code, "unknown-token", "{text}");
        assert!(error.to_string().contains(help), "{text}: {error}");
    }
}

#[test]
fn no_more_than_some_tokens_are_negated() {
    let text = |count: usize| {
        let parts: Vec<String> = (0..count).map(|id| format!("!<[{id}]>")).collect();
        format!("root ::= {0} {0}", parts.join(" "))
    };
    assert!(Grammar::from_gbnf(&text(32)).is_ok());
    let error = Grammar::from_gbnf(&text(33)).expect_err("more than 32");
    assert_eq!(error.diagnostics()[0].code, "grammar-too-large");
}

#[test]
fn regexes_match_whole_texts() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("a*", &["", "aa"], &["b"]),
        ("(a|ab)(c|bcd)?", &["a", "ab", "abc", "abcd", "abbcd"], &["", "abb"]),
        ("a.*?b", &["ab", "axbxb"], &["a", "axb\nb"]),
        ("^[0-9]+$", &["12"], &["", "1x"]),
        (r"\A\w+\Z", &["été"], &["a b"]),
        (r"a\$", &["a$"], &["a"]),
        ("", &[""], &["a"]),
        ("(?!foo)[a-z]+", &["fo", "bar", "fox"], &["foo", "fooz"]),
        ("a(?!b)|a(?=b)b", &["a", "ab"], &["b"]),
        ("(?i)yes|no", &["YES", "No"], &["ye"]),
        (r"(a+)\1", &["aa", "aaaaaa"], &["a", "aaa"]),
    ];
    for (regex, members, others) in cases {
        let grammar = Grammar::from_regex(regex).unwrap_or_else(|error| panic!("{regex}: {error}"));
        let grammar = on_bytes(&grammar);
        assert_texts(regex, &grammar, members, others);
    }
    let refused = [
        ("(a", "regex-syntax"),
        (r"((?!b)[ab]+)\1", "regex-unsupported"),
        ("[^\\x00-\\U0010ffff]", "empty-language"),
        ("a(?=b)", "empty-language"),
    ];
    for (regex, code) in refused {
        let error = Grammar::from_regex(regex).expect_err(regex);
        assert_eq!(error.diagnostics()[0].code, code, "{error}");
    }
}

#[test]
fn choices_are_just_these_texts() {
    let texts = ["", "yes", "yesterday", "no", "yes", "été", "a\0b"];
    let grammar = on_bytes(&Grammar::from_choices(texts).expect("some texts"));
    texts.iter().for_each(|text| assert!(accepts(&grammar, text), "{text:?}"));
    ["y", "yesno", "never", "ét"]
        .iter()
        .for_each(|text| assert!(!accepts(&grammar, text), "{text:?}"));
    assert!(accepts(&on_bytes(&Grammar::from_choices([""]).expect("one text")), ""));
    let nothing = Grammar::from_choices(Vec::<String>::new()).expect_err("nothing to choose");
    assert_eq!(nothing.diagnostics()[0].code, "empty-language");
}

#[test]
fn fifty_thousand_choices_are_just_these_texts() {
    // Scattered texts share few states: more states than one automaton may have.
    let text = |number: u64| format!("{:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let grammar = on_bytes(&Grammar::from_choices((1..=50_000).map(text)).expect("texts"));
    for number in [1, 2, 777, 25_000, 49_999, 50_000] {
        assert!(accepts(&grammar, &text(number)));
        assert!(!accepts(&grammar, &text(number + 50_000)));
        assert!(!accepts(&grammar, &text(number)[..10]));
    }
}

#[test]
fn long_lists_are_split_into_lists() {
    let text = |number: u64| format!("w{number}q{}", number * 7919 % 100_003);
    for count in [500, 20_000] {
        let words: Vec<String> = (0..count).map(|number| format!("{:?}", text(number))).collect();
        let words = words.join(" | ");
        for source in [format!("root ::= {words}"), format!("root ::= ({words}) \" \" root?")] {
            let grammar = Grammar::from_gbnf(&source).expect("a grammar");
            let size = CompiledGrammar::new(&grammar).expect("a sound grammar").size();
            assert!(size.terminals < 100 && size.productions < 200, "{size:?}");
            let end = if source.ends_with('?') { " " } else { "" };
            let grammar = on_bytes(&grammar);
            for number in [0, 7, count / 2, count - 1] {
                assert!(accepts(&grammar, &(text(number) + end)));
                assert!(!accepts(&grammar, &(text(number + count) + end)));
            }
        }
    }
}

/// Each step follows all derivations of a text, so a grammar is simplified until it has few.
#[test]
fn ambiguous_grammars_have_few_productions() {
    let options = format!("root ::= {}\"c\" root?\nx ::= \"a\" | \"bc\"\n", "x? ".repeat(1000));
    for (text, most) in [
        (include_str!("../examples/survey/grammars/nullable_anything.gbnf"), 9),
        (include_str!("../examples/survey/grammars/nullable_anything.ebnf"), 20),
        ("root ::= (\"a\"? root?)* | root root | root \"b\" root | \"(\" root \")\"\n", 8),
        ("root ::= \"(\" root \")\" | root \"-\" root | \"-\" root | \"--\" root | [1]+\n", 16),
        (&options[..], 8),
    ] {
        let grammar = Grammar::from_gbnf(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let size = CompiledGrammar::new(&grammar).unwrap().size();
        assert!(size.productions <= most, "{size} {text:.100}");
    }
}

/// An expression of a random grammar.
#[derive(Clone, Debug)]
enum Random {
    Text(&'static str),
    Rule(usize),
    All(Vec<Random>),
    Any(Vec<Random>),
    Repeat(Box<Random>, usize, Option<usize>),
}

/// Number of rules of a random grammar.
const RULES: usize = 3;
/// Maximum length of the texts that are compared.
const LONGEST: usize = 5;

impl Random {
    fn draw(random: &mut fastrand::Rng, depth: usize) -> Self {
        let several = |random: &mut fastrand::Rng| {
            (0..random.usize(0..=3)).map(|_| Self::draw(random, depth - 1)).collect()
        };
        match random.usize(0..if depth == 0 { 5 } else { 12 }) {
            0..3 => Self::Text(["a", "b", "ab", "("][random.usize(0..4)]),
            3..5 => Self::Rule(random.usize(0..RULES)),
            5..8 => Self::All(several(random)),
            8..10 => {
                let mut ways: Vec<Self> = several(random);
                ways.push(Self::draw(random, depth - 1));
                Self::Any(ways)
            }
            _ => {
                let bounds = [(0, Some(1)), (0, None), (1, None), (0, Some(2)), (2, Some(3))];
                let (min, max) = bounds[random.usize(0..bounds.len())];
                Self::Repeat(Box::new(Self::draw(random, depth - 1)), min, max)
            }
        }
    }

    fn write(&self, text: &mut String) {
        let all = |parts: &[Self], between: &str, text: &mut String| {
            text.push_str("(\"\"");
            for part in parts {
                text.push_str(between);
                part.write(text);
            }
            text.push(')');
        };
        match self {
            Self::Text(literal) => write!(text, "{literal:?}").unwrap(),
            Self::Rule(0) => text.push_str("root"),
            Self::Rule(rule) => write!(text, "r{rule}").unwrap(),
            Self::All(parts) => all(parts, " ", text),
            Self::Any(ways) => {
                text.push('(');
                for (number, way) in ways.iter().enumerate() {
                    text.push_str(if number > 0 { " | " } else { "" });
                    way.write(text);
                }
                text.push(')');
            }
            Self::Repeat(inner, min, max) => {
                inner.write(text);
                match max {
                    None if *min == 0 => text.push('*'),
                    None => text.push('+'),
                    Some(max) => write!(text, "{{{min},{max}}}").unwrap(),
                }
            }
        }
    }

    /// Where its texts can end that begin in any of `starts`, as a set of bits; `ends` has those of
    /// the rules by their beginnings.
    fn ends(&self, text: &[u8], starts: u32, ends: &[Vec<u32>]) -> u32 {
        let each = |of: &dyn Fn(usize) -> u32| {
            (0..=text.len()).filter(|at| starts >> at & 1 == 1).fold(0, |all, at| all | of(at))
        };
        match self {
            Self::Text(literal) => each(&|at| {
                u32::from(text[at..].starts_with(literal.as_bytes())) << (at + literal.len())
            }),
            Self::Rule(rule) => each(&|at| ends[*rule][at]),
            Self::All(parts) => parts.iter().fold(starts, |at, part| part.ends(text, at, ends)),
            Self::Any(ways) => ways.iter().fold(0, |all, way| all | way.ends(text, starts, ends)),
            Self::Repeat(inner, min, max) => {
                let (mut now, mut all) = (starts, 0);
                for round in 0..=max.unwrap_or(min + text.len() + 1) {
                    all |= if round >= *min { now } else { 0 };
                    now = inner.ends(text, now, ends);
                }
                all
            }
        }
    }
}

/// Whether rule 0 derives the text: the least fixed point.
fn derives(rules: &[Random], text: &[u8]) -> bool {
    let mut ends = vec![vec![0; text.len() + 1]; RULES];
    loop {
        let next = |rule: &Random| -> Vec<u32> {
            (0..=text.len()).map(|at| rule.ends(text, 1 << at, &ends)).collect()
        };
        let next: Vec<Vec<u32>> = rules.iter().map(next).collect();
        if next == ends {
            return ends[0][0] >> text.len() & 1 == 1;
        }
        ends = next;
    }
}

/// `LRMASK_RANDOM=N` tries N random grammars, of which every part may be empty, repeated, and
/// recursive at both ends.
#[test]
fn random_grammars_have_the_language_of_their_rules() {
    let count = std::env::var("LRMASK_RANDOM").ok().and_then(|count| count.parse().ok());
    let mut random = fastrand::Rng::with_seed(3);
    let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
    let mut at = 0;
    while at < texts.len() {
        for letter in *b"ab(" {
            if texts[at].len() < LONGEST {
                texts.push([&texts[at][..], &[letter]].concat());
            }
        }
        at += 1;
    }
    let (mut read, mut members) = (0, 0);
    for _ in 0..count.unwrap_or(300) {
        let rules: Vec<Random> = (0..RULES).map(|_| Random::draw(&mut random, 3)).collect();
        let mut grammar = String::new();
        for (number, rule) in rules.iter().enumerate() {
            let name = if number == 0 { "root".to_owned() } else { format!("r{number}") };
            write!(grammar, "{name} ::= ").unwrap();
            rule.write(&mut grammar);
            grammar.push('\n');
        }
        let held: Vec<bool> = texts.iter().map(|text| derives(&rules, text)).collect();
        let Ok(read_as) = Grammar::from_gbnf(&grammar) else {
            assert!(!held.contains(&true), "refused: {grammar}");
            continue;
        };
        read += 1;
        let constraint = on_bytes(&read_as);
        for (text, &is_held) in texts.iter().zip(&held) {
            let mut matcher = constraint.matcher();
            let is_prefix = matcher.advance_bytes(text).is_ok();
            let shown = String::from_utf8_lossy(text);
            assert_eq!(is_prefix && matcher.is_accepting(), is_held, "{shown:?} {grammar}");
            if is_prefix {
                let rest = matcher.shortest_completion().expect("everything can be completed");
                let whole = [&text[..], &rest].concat();
                assert!(whole.len() > 12 || derives(&rules, &whole), "{shown:?} {grammar}");
            }
            members += usize::from(is_held);
        }
    }
    assert!(read > 100 && members > 5 * read, "{read} read, {members} members");
}
