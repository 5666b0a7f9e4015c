//! llguidance's dialect of Lark.
//!
//! * Cases (`tests/llguidance/*.case`): a grammar, texts that it accepts, texts that it refuses,
//!   and prefixes. `README.md` there describes the format. Each text is read whole and token by
//!   token, and after every token the whole mask is compared with the tokens that can be taken.
//! * Samples: published grammars, if they are placed next to the project.

use crate::corpus;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lrmask::{
    CompiledGrammar, Constraint, Diagnostic, Expected, Grammar, Matcher, TokenId, Vocabulary,
};

/// A case, as parts by name.
struct Case {
    name: String,
    parts: BTreeMap<String, Vec<String>>,
}

impl Case {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("cases are UTF-8");
        let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut part = String::new();
        for line in text.lines() {
            match line.strip_prefix("--- ") {
                Some(name) => {
                    const KNOWN: [&str; 8] =
                        ["grammar", "special", "yes", "part", "no", "captures", "error", "warning"];
                    assert!(KNOWN.contains(&name), "{}: no part is called {name}", path.display());
                    part = name.to_owned();
                    parts.entry(part.clone()).or_default();
                }
                None => parts.entry(part.clone()).or_default().push(line.to_owned()),
            }
        }
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        Self { name, parts }
    }

    fn part(&self, name: &str) -> &[String] {
        self.parts.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns a vocabulary of all bytes, substrings of the case's texts, and its special tokens.
    fn vocabulary(&self) -> Vocabulary {
        let mut tokens: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        for line in ["yes", "part", "no"].iter().flat_map(|part| self.part(part)) {
            for text in pieces(line).iter().filter(|piece| !piece.starts_with('<')) {
                let bytes = text.as_bytes();
                for (at, length) in (0..bytes.len()).zip([2, 3, 5].into_iter().cycle()) {
                    let token = bytes[at..bytes.len().min(at + length)].to_vec();
                    if !tokens.contains(&token) {
                        tokens.push(token);
                    }
                }
            }
        }
        let first = tokens.len() as u32;
        let mut vocabulary = Vocabulary::from_tokens(tokens).expect("few tokens");
        for (id, name) in (first..).zip(self.part("special").iter().chain([&"<|eos|>".to_owned()]))
        {
            vocabulary = vocabulary.with_special(id, name).expect("a small id");
        }
        let end = vocabulary.width() as u32 - 1;
        vocabulary.with_stop_tokens([end]).expect("it is there")
    }

    fn constraint(&self, vocabulary: &Vocabulary) -> Result<Constraint, Vec<Diagnostic>> {
        let grammar = Grammar::from_lark(&self.part("grammar").join("\n"));
        let grammar = grammar.map_err(|error| error.diagnostics().to_vec())?;
        Constraint::new(&grammar, vocabulary).map_err(|error| error.diagnostics().to_vec())
    }
}

/// Returns the parts of a text: plain text, special tokens, ids.
fn pieces(line: &str) -> Vec<String> {
    match serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")) {
        serde_json::Value::String(text) => vec![text],
        value => serde_json::from_value(value).unwrap_or_else(|error| panic!("{line}: {error}")),
    }
}

/// Returns the tokens of a text: special ones, ids, and bytes for the rest.
fn tokens(line: &str, vocabulary: &Vocabulary) -> Vec<TokenId> {
    let is_list = line.starts_with('[');
    let special = |piece: &str| {
        vocabulary.special_tokens().find(|(_, name)| *name == piece).map(|(id, _)| id)
    };
    let id = |piece: &str| {
        Some(TokenId::from(piece.strip_prefix("<[")?.strip_suffix("]>")?.parse::<u32>().ok()?))
    };
    let mut tokens = Vec::new();
    for piece in pieces(line) {
        match special(&piece).or_else(|| id(&piece)).filter(|_| is_list) {
            Some(token) => tokens.push(token),
            None => tokens.extend(piece.bytes().map(|byte| TokenId::from(u32::from(byte)))),
        }
    }
    tokens
}

/// Takes the tokens as far as possible, checking the mask before each; returns whether all were
/// taken.
fn advance(matcher: &mut Matcher, constraint: &Constraint, tokens: &[TokenId], name: &str) -> bool {
    let mut mask = constraint.new_mask();
    for (count, &token) in tokens.iter().enumerate() {
        matcher.fill_mask(&mut mask);
        for id in (0..constraint.vocabulary().width() as u32).map(TokenId::from) {
            let read = &tokens[..count];
            assert_eq!(mask.contains(id), matcher.allows(id), "{name}: token {id} after {read:?}");
        }
        assert_eq!(matcher.validate(&tokens[count..]) > 0, mask.contains(token), "{name}");
        if matcher.advance(token).is_err() {
            return false;
        }
    }
    true
}

fn cases() -> Vec<Case> {
    let mut files = Vec::new();
    for directory in ["tests/llguidance", "docs/examples"] {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
        let entries = fs::read_dir(directory).expect("the directory is there");
        files.extend(entries.map(|entry| entry.expect("readable").path()));
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "case"));
    files.sort();
    assert!(files.len() > 30, "the cases were not found");
    files.iter().map(|file| Case::read(file)).collect()
}

#[test]
fn cases_have_the_texts_that_they_list() {
    let mut faults = Vec::new();
    for case in cases() {
        let (name, vocabulary) = (&case.name, case.vocabulary());
        let constraint = match case.constraint(&vocabulary) {
            Ok(constraint) => constraint,
            Err(found) => {
                if case.part("error").is_empty() {
                    faults.push(format!("{name}: {}", found[0]));
                }
                for wanted in case.part("error") {
                    let (code, words) = wanted.split_once(' ').unwrap_or((wanted, ""));
                    let fits = |found: &Diagnostic| {
                        found.code == code && found.to_string().contains(words)
                    };
                    if !found.iter().any(fits) {
                        faults.push(format!("{name}: not {wanted}, but {}", found[0]));
                    }
                }
                continue;
            }
        };
        if !case.part("error").is_empty() {
            faults.push(format!("{name}: it was taken"));
        }
        for code in case.part("warning") {
            if !constraint.warnings().iter().any(|warning| warning.code == code.as_str()) {
                faults.push(format!("{name}: no warning {code}"));
            }
        }
        let saved = Constraint::load(constraint.save(), &vocabulary).expect("it was just saved");
        for constraint in [constraint, saved] {
            for (part, viable, whole) in
                [("yes", true, true), ("part", true, false), ("no", false, false)]
            {
                for line in case.part(part) {
                    let mut matcher = constraint.matcher();
                    let taken =
                        advance(&mut matcher, &constraint, &tokens(line, &vocabulary), name);
                    let found = (taken, taken && matcher.is_accepting());
                    if found != (viable, whole) {
                        faults.push(format!("{name}: {line} is not {part}: {found:?}"));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Whether a sample is a template with names in braces, which is not a grammar yet.
fn is_template(text: &str) -> bool {
    let blank =
        |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let mut names =
        text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    names.any(blank) || text.contains("~$")
}

#[test]
#[ignore = "reads samples"]
fn samples_are_taken() {
    let files = corpus::needed(corpus::archive("grammars/grammars.tar.gz"));
    let is_dialect = |name: &str| {
        name.starts_with("llguidance/") || name.starts_with("lark/guidance-ai+llguidance/")
    };
    let (mut taken, mut templates, mut grammars) = (0, 0, 0);
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, text) in files.into_iter().filter(|(name, _)| is_dialect(name)) {
        let text = String::from_utf8(text).expect("samples are UTF-8");
        if is_template(&text) {
            templates += 1;
            corpus::say(&format!("no grammar, but the template of one: {name}"));
            continue;
        }
        grammars += 1;
        let built = Grammar::from_lark(&text)
            .map_err(|error| error.to_string())
            .and_then(|grammar| CompiledGrammar::new(&grammar).map_err(|error| error.to_string()));
        match built {
            Ok(_) => taken += 1,
            Err(error) => refused.entry(error).or_default().push(name),
        }
    }
    corpus::say(&format!(
        "llguidance's dialect: {taken} of {grammars} taken; {templates} templates of grammars"
    ));
    for (reason, files) in &refused {
        corpus::say(&format!("{reason}\n  {}", files.join("\n  ")));
    }
    assert!(taken * 10 >= grammars * 9, "fewer than nine in ten");
}

#[test]
fn captures_are_those_of_the_text() {
    let mut seen = 0;
    for case in cases().into_iter().filter(|case| !case.part("captures").is_empty()) {
        let vocabulary = case.vocabulary();
        let constraint = case
            .constraint(&vocabulary)
            .unwrap_or_else(|found| panic!("{}: {}", case.name, found[0]));
        for line in case.part("captures") {
            let (text, wanted) = line.split_once(" => ").expect("a text and its captures");
            let wanted: Vec<(String, String)> =
                serde_json::from_str(wanted).expect("names and texts");
            let tokens = tokens(text, &vocabulary);
            let mut matcher = constraint.matcher();
            assert!(
                advance(&mut matcher, &constraint, &tokens, &case.name),
                "{}: {line}",
                case.name
            );
            let found = |matcher: &Matcher| {
                let captures = matcher.captures();
                let pair = |capture: &lrmask::Capture| {
                    assert_eq!(capture.span().len(), capture.bytes().len());
                    (
                        capture.name().to_owned(),
                        String::from_utf8_lossy(capture.bytes()).into_owned(),
                    )
                };
                captures.iter().map(pair).collect::<Vec<_>>()
            };
            assert_eq!(found(&matcher), wanted, "{}: {text}", case.name);
            // Captures are a function of the text, whatever was rolled back or cloned.
            let all = matcher.captures();
            let twin = matcher.clone();
            let half = tokens.len() / 2;
            matcher.rollback(half);
            let earlier = matcher.captures();
            assert!(
                tokens[tokens.len() - half..].iter().all(|&token| matcher.advance(token).is_ok())
            );
            assert_eq!((matcher.captures(), twin.captures()), (all.clone(), all.clone()));
            let mut again = constraint.matcher();
            assert!(
                tokens[..tokens.len() - half].iter().all(|&token| again.advance(token).is_ok())
            );
            assert_eq!(again.captures(), earlier);
            if matcher.is_accepting() {
                matcher.advance(vocabulary.stop_tokens()[0]).expect("the text may end");
                assert_eq!(matcher.captures(), all);
            }
            seen += 1;
        }
    }
    assert!(seen > 10);
}

#[test]
fn the_temperature_is_that_of_the_rule_that_goes_on() {
    let grammar = "start: \"a\" warm \"b\" nested\n\
                   warm[temperature=0.7]: /[0-9]+/\n\
                   nested[temperature=0.25]: %lark { start: \"[\" inner \"]\"\n \
                   inner[temperature=1]: \"x\" \"y\"\n}";
    let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes");
    let constraint =
        Constraint::new(&Grammar::from_lark(grammar).expect("sound"), &vocabulary).expect("sound");
    let mut matcher = constraint.matcher();
    let mut found = vec![matcher.temperature()];
    for byte in b"a1b[xy]" {
        matcher.advance(u32::from(*byte)).expect("allowed");
        found.push(matcher.temperature());
    }
    // If a lexeme cannot be extended, the next lexeme counts.
    let found: Vec<String> =
        found.iter().map(|found| found.map_or("-".to_owned(), |t| t.to_string())).collect();
    assert_eq!(found.join(" "), "- 0.7 0.7 0.25 1 1 0.25 -");
}

#[test]
fn a_rule_that_is_a_schema_has_a_temperature() {
    let grammar = "start: \"a\" value \"z\"\nvalue[temperature=0.5]: %json {\"type\": \"integer\"}";
    let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes");
    let constraint =
        Constraint::new(&Grammar::from_lark(grammar).expect("sound"), &vocabulary).expect("sound");
    let mut matcher = constraint.matcher();
    for (byte, temperature) in [(b'a', Some(0.5)), (b'1', Some(0.5)), (b'z', None)] {
        matcher.advance(u32::from(byte)).expect("allowed");
        assert_eq!(matcher.temperature(), temperature);
    }
}

#[test]
fn tokens_are_counted_within_rules() {
    let grammar =
        "start: \"a\" few \";\" more\nfew[max_tokens=3]: /[0-9]+/\nmore[max_tokens=2]: \"x\" few";
    let vocabulary = Vocabulary::from_tokens((0..=255).map(|byte| vec![byte])).expect("bytes");
    let grammar = Grammar::from_lark(grammar).expect("sound");
    // `more` contains a rule.
    let unheld = grammar.warnings().iter().filter(|warning| warning.code == "unheld-max-tokens");
    assert_eq!(unheld.count(), 1);
    let constraint = Constraint::new(&grammar, &vocabulary).expect("sound");
    let mut matcher = constraint.matcher();
    let mut found = vec![matcher.remaining_tokens()];
    for byte in b"a123;x45" {
        matcher.advance(u32::from(*byte)).expect("allowed");
        found.push(matcher.remaining_tokens());
    }
    let found: Vec<String> =
        found.iter().map(|found| found.map_or("-".to_owned(), |n| n.to_string())).collect();
    assert_eq!(found.join(" "), "- 3 2 1 - 2 1 0 0");
    assert_eq!(matcher.rollback(5), 5);
    assert!(matcher.allows(u32::from(b'3')) && matcher.allows(u32::from(b';')));
    matcher.advance(u32::from(b'3')).expect("the last");
    assert!(!matcher.allows(u32::from(b'4')) && matcher.allows(u32::from(b';')));
    assert_eq!(matcher.expected(), [Expected::Literal("\";\"")]);
    assert_eq!(matcher.forced_bytes(), b";x");
}

/// Returns how many of these tokens end within the text from `start` to `end`.
fn ends_within(tokens: &[&str], start: usize, end: usize) -> usize {
    let ends = tokens.iter().scan(0, |at, token| {
        *at += token.len();
        Some(*at)
    });
    ends.filter(|at| (start + 1..=end).contains(at)).count()
}

#[test]
fn masks_hold_a_budget_of_tokens_of_any_length() {
    // `few` is the text before the `;`, and `some` the text after it.
    let grammar =
        "start: few \";\" some?\nfew[max_tokens=2]: /[ab]+/\nsome[max_tokens=1]: /a[ab]*/";
    let words = ["a", "b", "ab", "aba", ";", "b;", ";a", "a;ab", "b;b"];
    let vocabulary = Vocabulary::from_tokens(words.iter().map(|word| word.as_bytes().to_vec()));
    let vocabulary = vocabulary.and_then(|vocabulary| vocabulary.with_special(9, "<end>"));
    let vocabulary =
        vocabulary.and_then(|vocabulary| vocabulary.with_stop_tokens([9])).expect("sound");
    let constraint =
        Constraint::new(&Grammar::from_lark(grammar).expect("sound"), &vocabulary).expect("sound");
    // Every prefix can be continued, so prefixes can be tested directly.
    let is_viable = |tokens: &[&str]| {
        let text = tokens.concat();
        let (few, some) =
            text.split_once(';').map_or((text.as_str(), None), |(few, some)| (few, Some(some)));
        let rest = some.unwrap_or_default();
        let is_text =
            (some.is_none() || !few.is_empty()) && !rest.contains(';') && !rest.starts_with('b');
        // A lexeme does not continue after its last token.
        let few_fits = ends_within(tokens, 0, few.len()) <= 2
            && (ends_within(tokens, 0, few.len()) < 2 || ends_at(tokens, few.len()));
        let start = few.len() + 1;
        let rest_fits = ends_within(tokens, start, text.len()) <= 1;
        is_text && few_fits && (rest.is_empty() || rest_fits)
    };
    let mut layer: Vec<Vec<&str>> = vec![Vec::new()];
    let mut seen = 0;
    for _ in 0..5 {
        let mut next = Vec::new();
        for tokens in &layer {
            let mut matcher = constraint.matcher();
            for token in tokens {
                let id = words.iter().position(|word| word == token).expect("a word") as u32;
                matcher.advance(id).expect("viable");
            }
            let mut mask = constraint.new_mask();
            matcher.fill_mask(&mut mask);
            let longer = |word: &&'static str| [&tokens[..], &[*word]].concat();
            let found: Vec<Vec<&str>> =
                words.iter().map(&longer).filter(|all| is_viable(all)).collect();
            let allowed: Vec<Vec<&str>> = mask
                .tokens()
                .filter(|id| id.get() < 9)
                .map(|id| longer(&words[id.index()]))
                .collect();
            assert_eq!(allowed, found, "after {tokens:?}");
            assert_eq!(mask.contains(9), tokens.concat().contains(';'), "after {tokens:?}");
            assert!((0..9).all(|id| matcher.allows(id) == mask.contains(id)));
            next.extend(found);
            seen += 1;
        }
        layer = next;
    }
    assert!(seen > 100, "{seen}");
}

/// Whether one of these tokens ends at this offset.
fn ends_at(tokens: &[&str], place: usize) -> bool {
    ends_within(tokens, place - 1, place) == 1
}
