//! Lexemes, compared with the matches of Python's `re`.

use super::*;

#[test]
fn regexes_mean_what_they_mean_in_python() {
    let mut wrong = Vec::new();
    for line in include_str!("../../../tests/data/python-re.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let fields: Vec<&str> = line.split('\t').collect();
        let [pattern, flags, text, expected] = fields[..] else { panic!("{line}") };
        let [pattern, flags, text] =
            [pattern, flags, text].map(|field| serde_json::from_str::<String>(field).unwrap());
        let flags = RegexFlags {
            ignore_case: flags.contains('i'),
            multi_line: flags.contains('m'),
            dot_all: flags.contains('s'),
            verbose: flags.contains('x'),
            bytes: false,
        };
        let got = match compile(&Pattern::Regex { pattern, flags, place: None }) {
            Ok(dfa) if matches_wholly(&dfa, &text) => "match",
            Ok(_) => "differ",
            Err(error) if error.kind() == PatternErrorKind::Syntax => "error",
            Err(error) if error.kind() == PatternErrorKind::Unsupported => "refused",
            Err(error) => panic!("{line}: {error}"),
        };
        if got != expected {
            wrong.push(format!("{line}, but here: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns whether `text` is a lexeme without any text around it.
pub(super) fn matches_wholly(dfa: &Dfa, text: &str) -> bool {
    let state = text.bytes().fold(dfa.first_start(), |state, byte| dfa.next(state, byte));
    state != Dfa::DEAD && dfa.is_accept(state) && holds(dfa, state, "")
}

/// Returns whether `rest` satisfies the condition on the text after a lexeme that ends in `state`:
/// exactly one of the two automata must accept.
fn holds(dfa: &Dfa, state: u32, rest: &str) -> bool {
    let Some(condition) = dfa.condition(state).map(|number| &dfa.conditions()[number]) else {
        return true;
    };
    let reads = |automaton: &Dfa| {
        let mut state = automaton.start();
        rest.bytes().chain([Dfa::END]).any(|byte| {
            state = automaton.next(state, byte);
            state != Dfa::DEAD && automaton.is_accept(state)
        })
    };
    let verdicts = (reads(&condition.holds), reads(&condition.fails));
    assert!(verdicts.0 != verdicts.1, "both or neither of {condition:?} on {rest}");
    verdicts.0
}

/// With a lazy repetition, the longest text that the automaton accepts is the one that Python's
/// `re.match` finds. Look-aheads within look-behinds are refused.
#[test]
fn lazy_regexes_find_what_they_find_in_python() {
    let (mut wrong, mut looking, mut refused) = (Vec::new(), 0, 0);
    let data = include_str!("../../../tests/data/python-match.tsv");
    let mut lines = data.lines().filter(|line| !line.starts_with('#'));
    let texts: Vec<&str> = lines.next().into_iter().flat_map(|line| line.split('\t')).collect();
    assert_eq!(texts.len(), 100);
    for line in lines {
        let (pattern, expected) = line.split_once('\t').unwrap();
        let looks = ["(?=", "(?!", "(?<", "\\b", "\\B", "\\Z", "$"]
            .iter()
            .any(|look| pattern.contains(look));
        looking += usize::from(looks);
        let dfa = match compile(&regex(pattern)) {
            Ok(dfa) => dfa,
            Err(error) if looks && error.kind() == PatternErrorKind::Unsupported => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{pattern}: {error}"),
        };
        assert_eq!(texts.len(), expected.len());
        for (text, expected) in texts.iter().zip(expected.chars()) {
            if text.is_empty() && pattern.contains(r"\B") {
                // CPython 3.11 finds no `\B` in the empty text; later versions do.
                continue;
            }
            let got = longest(&dfa, text).map_or('-', |length| char::from(b'0' + length as u8));
            if got != expected {
                wrong.push(format!("{pattern} on {text}: {expected} in Python, {got} here"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused * 2 < looking, "{refused} of {looking} are refused");
}

/// The text before a lexeme counts as it does in Python, where `match` begins after it.
#[test]
fn regexes_look_at_what_they_look_at_in_python() {
    let mut wrong = Vec::new();
    let data = include_str!("../../../tests/data/python-behind.tsv");
    let mut lines = data.lines().filter(|line| !line.starts_with('#'));
    let mut strings = || -> Vec<String> {
        let fields = lines.next().into_iter().flat_map(|line| line.split('\t'));
        fields.map(|field| serde_json::from_str(field).unwrap()).collect()
    };
    let (befores, texts) = (strings(), strings());
    let pairs: Vec<_> =
        befores.iter().flat_map(|before| texts.iter().map(move |text| (before, text))).collect();
    for line in lines {
        let (pattern, expected) = line.split_once('\t').unwrap();
        let dfa = dfa(pattern);
        assert_eq!(pairs.len(), expected.len());
        for ((before, text), expected) in pairs.iter().zip(expected.chars()) {
            if before.is_empty() && text.is_empty() && pattern.contains(r"\B") {
                continue;
            }
            let got = longest_behind(&dfa, before, text);
            let got = got.map_or('-', |length| char::from(b'0' + length as u8));
            if got != expected {
                wrong.push(format!(
                    "{pattern} on {before:?} {text:?}: {expected} in Python, {got} here"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the length of the longest prefix of `text` that is a lexeme.
pub(super) fn longest(dfa: &Dfa, text: &str) -> Option<usize> {
    longest_behind(dfa, "", text)
}

/// Returns the same with this text before it.
fn longest_behind(dfa: &Dfa, before: &str, text: &str) -> Option<usize> {
    let mut state = dfa.start();
    if dfa.looks_behind() {
        state = before.bytes().chain([Dfa::BEGIN]).fold(state, |state, byte| dfa.next(state, byte));
    }
    let mut longest = (dfa.is_accept(state) && holds(dfa, state, text)).then_some(0);
    for (length, byte) in (1..).zip(text.bytes()) {
        state = dfa.next(state, byte);
        if state != Dfa::DEAD && dfa.is_accept(state) && holds(dfa, state, &text[length..]) {
            longest = Some(length);
        }
    }
    longest
}

/// Equal look-arounds are asked once, and those implied by others are dropped.
#[test]
fn equal_look_arounds_are_one() {
    let names: Vec<String> = (0..60).map(|number| format!(r"\bname{number}\b")).collect();
    assert_eq!(dfa(&names.join("|")).conditions().len(), 1);
    let identifier = dfa(r"\b(?!(if|in|else|elsif|elsewhere)\b)[a-z]+\b");
    assert_eq!(identifier.conditions().len(), 1);
    assert_eq!(longest_behind(&identifier, " ", "else if"), None);
    assert_eq!(longest_behind(&identifier, " ", "elsei if"), Some(5));
    assert_eq!(longest_behind(&identifier, "x", "elsei"), None);
    // Here a longer word is excluded, which one more letter does not decide.
    assert_eq!(longest(&dfa(r"[a-z](?!xy)(?!xz)"), "axy"), None);
    assert_eq!(longest(&dfa(r"[a-z](?!xy)(?!xz)"), "axw"), Some(1));
    assert_eq!(longest(&dfa(r"[a-z](?!x)(?!xz)"), "axw"), None);
    assert_eq!(longest(&dfa(r"[a-z](?=x)(?!x)|b"), "bx"), Some(1));
    assert_eq!(longest(&dfa(r"[a-z](?=x)(?!x)"), "bx"), None);
}
