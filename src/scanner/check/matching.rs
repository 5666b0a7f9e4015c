//! Files without `%match` that may not mean the longest match and the best rank. An author who
//! knows Lark may be surprised there, and is shown an example text.

use std::collections::HashSet;

use rustc_hash::FxBuildHasher;

use super::terminals::listed;
use crate::grammar::ir::{Grammar, LexerKind, Matching, Terminal};
use crate::grammar::pattern::Pattern;
use crate::lexer::Dfa;
use crate::lr::table::Action;
use crate::scanner::Lexis;
use crate::scanner::candidate_sets::parse_states;
use crate::util::bitset::BitSet;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{CoreId, TerminalId};

/// Limit on the parse states and pairs of scan states looked at for each kind of finding; no more
/// texts are searched for past it.
const MOST_STEPS: usize = 1_000_000;

/// Returns the warnings for the author.
pub(super) fn check(grammar: &Grammar, lexis: &Lexis) -> Vec<Diagnostic> {
    if grammar.matching != Matching::Usual {
        return Vec::new();
    }
    let mut findings = Vec::from_iter(overruled(grammar, lexis));
    if grammar.lexer == LexerKind::Contextual {
        findings.extend(of_two_terminals(grammar, lexis));
    }
    findings
}

/// Finds priorities that length overrules: a terminal matches longer texts than one of higher
/// priority.
fn overruled(grammar: &Grammar, lexis: &Lexis) -> Option<Diagnostic> {
    let plain = |index: usize| {
        let dfa = lexis.states().dfa(TerminalId::new(index))?;
        (!dfa.looks_behind() && dfa.conditions().is_empty()).then_some(dfa)
    };
    let of = |index: usize| &grammar.terminals[index];
    let count = grammar.terminals.len();
    let states = parse_states(lexis.table()).count();
    let mut left = MOST_STEPS;
    let mut found: Option<(usize, usize, Vec<u8>)> = None;
    let mut others = Vec::new();
    for high in 0..count {
        let mut lower = (0..count).filter(|&low| of(low).priority < of(high).priority);
        let example = lower.find_map(|low| {
            left = left.checked_sub(states)?;
            if !compete(grammar, lexis, high, low) {
                return None;
            }
            let text = longer(plain(high)?, plain(low)?, lexis, &mut left)?;
            Some((high, low, text))
        });
        match (&found, example) {
            (Some(_), Some(_)) => others.push(of(high).shown()),
            (None, example) => found = example,
            _ => {}
        }
    }
    let (high, low, text) = found?;
    let (high, low) = (of(high), of(low));
    let also = match others.is_empty() {
        true => String::new(),
        false => format!("; the same applies to {}", listed(&others)),
    };
    let message = format!(
        "{} has a higher priority than {}, but loses where {1} matches more{also}",
        high.shown(),
        low.shown()
    );
    let help = "write `%match priority` if priority decides before length, as in the lexer of \
                Lark's LALR parser, or `%match longest` if it decides only between equal lengths, \
                which is closer to Lark's Earley parser";
    let finding = Diagnostic::warning("overruled-priority", message).at(high.place.clone());
    Some(finding.example(String::from_utf8_lossy(&text)).help(help))
}

/// Returns whether both may be candidates in the same place.
fn compete(grammar: &Grammar, lexis: &Lexis, one: usize, other: usize) -> bool {
    let is_ignored = |index: usize| grammar.terminals[index].ignored;
    grammar.lexer == LexerKind::Basic
        || parse_states(lexis.table()).any(|state| {
            let row = lexis.table().row(state);
            [one, other].iter().all(|&index| is_ignored(index) || row.contains(index))
        })
}

/// Returns a shortest text that the second matches and of which the first matches only a proper
/// prefix.
fn longer(first: &Dfa, second: &Dfa, lexis: &Lexis, left: &mut usize) -> Option<Vec<u8>> {
    let bytes = tidy_bytes(lexis);
    let begin = (first.start(), second.start(), false);
    let mut met = vec![(begin, 0, 0)];
    let mut known: HashSet<_, FxBuildHasher> = HashSet::default();
    known.insert(begin);
    let mut at = 0;
    while let Some(&((one, other, has_matched), ..)) = met.get(at) {
        *left = left.checked_sub(bytes.len())?;
        for &byte in &bytes {
            let (one, other) = (first.next(one, byte), second.next(other, byte));
            if other == Dfa::DEAD || one == Dfa::DEAD && !has_matched {
                continue;
            }
            let matches = one != Dfa::DEAD && first.is_accept(one);
            let next = (one, other, has_matched || matches);
            if known.insert(next) {
                met.push((next, at, byte));
                if has_matched && !matches && second.is_accept(other) {
                    return Some(way(&met));
                }
            }
        }
        at += 1;
    }
    None
}

/// Returns the bytes that lead to the last of these states.
fn way<State>(met: &[(State, usize, u8)]) -> Vec<u8> {
    let mut text = Vec::new();
    let mut at = met.len() - 1;
    while at > 0 {
        let (_, before, byte) = &met[at];
        text.push(*byte);
        at = *before;
    }
    text.reverse();
    text
}

/// Returns the most readable byte of each class.
fn tidy_bytes(lexis: &Lexis) -> Vec<u8> {
    let classes = lexis.states().classes();
    let untidiness = |byte: &u8| {
        (!byte.is_ascii_lowercase(), !byte.is_ascii_alphanumeric(), !byte.is_ascii_graphic(), *byte)
    };
    let mut tidy: Vec<Option<u8>> = vec![None; classes.count()];
    for byte in 0..=u8::MAX {
        let of = &mut tidy[usize::from(classes.get(byte))];
        *of = of.iter().copied().chain([byte]).min_by_key(untidiness);
    }
    tidy.into_iter().flatten().collect()
}

/// Finds strings that a pattern also matches in the same place, where reading them as the pattern
/// would lead to something else: Lark's Earley parser takes both readings.
fn of_two_terminals(grammar: &Grammar, lexis: &Lexis) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let states = parse_states(lexis.table()).count();
    let mut left = MOST_STEPS;
    let words: Vec<(usize, &str)> = (grammar.terminals.iter().enumerate())
        .filter_map(|(index, terminal)| match &terminal.pattern {
            Some(Pattern::Literal { text, .. }) if !terminal.ignored => Some((index, &text[..])),
            _ => None,
        })
        .collect();
    for (index, terminal) in grammar.terminals.iter().enumerate() {
        let is_pattern = terminal.pattern.as_ref().is_some_and(|pattern| !pattern.is_literal());
        if !is_pattern || terminal.ignored || terminal.place.is_none() || terminal.exclusive {
            continue;
        }
        let id = TerminalId::new(index);
        let Some(dfa) = lexis.states().dfa(id) else { continue };
        let mut example = None;
        let mut both = Vec::new();
        for &(word, text) in &words {
            let of = &grammar.terminals[word];
            let is_said = lexis.is_reserved_against(TerminalId::new(word), id)
                || lexis.may_be_read_as(TerminalId::new(word), id)
                || of.exclusive
                || of.priority != terminal.priority;
            if is_said || left < states || !dfa.matches(text.as_bytes()) {
                continue;
            }
            left -= states;
            if let Some(next) = lost(lexis, TerminalId::new(word), id) {
                both.push(of.shown());
                example = example.or_else(|| Some(shown_text(grammar, lexis, text, next)));
            }
        }
        let Some(example) = example else { continue };
        findings.push(of_two(terminal, &both, example));
    }
    findings
}

fn of_two(terminal: &Terminal, both: &[String], example: String) -> Diagnostic {
    let shown = terminal.shown();
    let words = listed(both);
    let message = match both {
        [_] => format!(
            "{words} is also a text of {shown}, but is never read as {shown} where \
                        both are possible"
        ),
        _ => format!(
            "{words} are also texts of {shown}, but are never read as {shown} where both \
                      are possible"
        ),
    };
    Diagnostic::warning("one-of-several", message).at(terminal.place.clone()).example(example).help(
        format!(
            "the example is not read as {shown}; write `%match all` if such a text may be either, \
             as in Lark's Earley parser, `%reserved {shown}` if it is never {shown}, or `%match \
             longest` if this is intended",
        ),
    )
}

/// Returns a terminal that may follow `other` and not `word`, in a place where both are possible.
fn lost(lexis: &Lexis, word: TerminalId, other: TerminalId) -> Option<usize> {
    let table = lexis.table();
    let behind = |state: CoreId, terminal: TerminalId| -> Option<&BitSet> {
        table.actions(state, terminal).iter().find_map(|action| match action {
            Action::Shift(next) => Some(table.row(*next)),
            _ => None,
        })
    };
    parse_states(table).find_map(|state| {
        let (own, others) = (behind(state, word)?, behind(state, other)?);
        others.iter().find(|&next| !own.contains(next))
    })
}

/// Returns the text of a word followed by a lexeme that may follow the other terminal, or by the
/// end of the text.
fn shown_text(grammar: &Grammar, lexis: &Lexis, text: &str, next: usize) -> String {
    let is_end = next >= grammar.terminals.len();
    let dfa = (!is_end).then(|| lexis.states().dfa(TerminalId::new(next))).flatten();
    let Some(dfa) = dfa else { return text.to_owned() };
    let blank = |(index, terminal): (usize, &Terminal)| {
        let dfa = lexis.states().dfa(TerminalId::new(index));
        terminal.ignored && dfa.is_some_and(|dfa| dfa.matches(b" "))
    };
    let gap = if grammar.terminals.iter().enumerate().any(blank) { " " } else { "" };
    format!("{text}{gap}{}", String::from_utf8_lossy(&dfa.shortest()))
}
