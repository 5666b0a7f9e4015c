//! Lists of words: terminals that are one of many strings, and rules that are.
//!
//! Thousands of strings make the same automaton as any other pattern would, but with a method of
//! their own ([`of_choices`]) it is built in the time of reading them, and minimal. A list that is
//! too large for one automaton becomes several terminals that have no text in common; a rule of
//! these replaces the terminal. Likewise for a rule that has thousands of strings as alternatives,
//! one each, used in no other rule: one terminal replaces them all.

use std::borrow::Cow;

use smallvec::smallvec;

use crate::grammar::analysis;
use crate::grammar::ir::{Grammar, Nonterminal, Production, Symbol, Terminal};
use crate::grammar::pattern::{Automaton, Pattern, RegexFlags};
use crate::grammar::texts::of_choices;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};

/// Shorter lists stay as written, because messages show them.
const LEAST_BYTES: usize = 10_000;

/// Returns the grammar with automata for long lists of words, or `None` if there are none.
pub(crate) fn written_out(grammar: &Grammar) -> Option<Grammar> {
    let alternatives = alternatives(grammar);
    let mut automata: Vec<Option<Vec<Automaton>>> =
        grammar.terminals.iter().map(|terminal| automata(terminal.pattern.as_ref()?)).collect();
    if alternatives.is_empty() && automata.iter().all(Option::is_none) {
        return None;
    }
    let mut listed = grammar.clone();
    for terminals in alternatives {
        let texts = terminals
            .iter()
            .filter_map(|&terminal| words(grammar.terminals[terminal.index()].pattern.as_ref()?));
        let texts = sorted(texts.flatten().collect());
        automata[terminals[0].index()] = Some(of_choices(texts.iter().map(|text| text.as_bytes())));
        merge(&mut listed.terminals, &terminals);
        let first = &mut listed.terminals[terminals[0].index()];
        let description = format!("one of {} strings", terminals.len());
        *first = first.clone().described(&description);
    }
    let is_named = named(grammar);
    let mut parts: Vec<Vec<TerminalId>> = vec![Vec::new(); grammar.terminals.len()];
    for (terminal, automata) in automata.into_iter().enumerate() {
        let Some(automata) = automata else { continue };
        if automata.len() > 1 && (is_named[terminal] || !grammar.requirements.is_empty()) {
            continue;
        }
        for automaton in automata {
            let pattern = Some(Pattern::Automaton(automaton));
            let number = if parts[terminal].is_empty() {
                listed.terminals[terminal].pattern = pattern;
                terminal
            } else {
                // Of the same rank: they have no text in common.
                let first = &listed.terminals[terminal];
                let name = format!("{}[{}]", first.name, parts[terminal].len());
                let part = Terminal { name, pattern, ..first.clone() }.described(&first.shown());
                listed.terminals.push(part);
                listed.terminals.len() - 1
            };
            parts[terminal].push(TerminalId::new(number));
        }
    }
    stand_in(&mut listed, parts);
    let mut kept = analysis::keep_productive(&listed)?;
    kept.warnings.clone_from(&grammar.warnings);
    kept.untrimmed.clone_from(&grammar.untrimmed);
    Some(kept)
}

/// Returns the long lists of strings that are alternatives of one rule, and occur nowhere else.
fn alternatives(grammar: &Grammar) -> Vec<Vec<TerminalId>> {
    let mut uses = vec![0u32; grammar.terminals.len()];
    for symbol in grammar.productions.iter().flat_map(|production| &production.rhs) {
        if let Symbol::Terminal(terminal) = symbol {
            uses[terminal.index()] += 1;
        }
    }
    let mut found: Vec<Vec<TerminalId>> = vec![Vec::new(); grammar.nonterminals.len()];
    for production in &*grammar.productions {
        let [Symbol::Terminal(id)] = production.rhs[..] else { continue };
        let terminal = &grammar.terminals[id.index()];
        let is_string = matches!(&terminal.pattern, Some(Pattern::Literal { ignore_case: false, text }) if !text.is_empty());
        if is_string
            && uses[id.index()] == 1
            && is_plain(terminal)
            && production.precedence.is_none()
            && production.priority == 0
        {
            found[production.lhs.index()].push(id);
        }
    }
    let bytes = |terminal: &TerminalId| match &grammar.terminals[terminal.index()].pattern {
        Some(Pattern::Literal { text, .. }) => text.len(),
        _ => 0,
    };
    found.retain(|terminals| terminals.iter().map(bytes).sum::<usize>() >= LEAST_BYTES);
    found.retain(|terminals| terminals.len() > 1);
    if found.is_empty() || !grammar.requirements.is_empty() {
        return Vec::new();
    }
    let is_named = named(grammar);
    found.retain(|terminals| {
        !terminals.iter().any(|terminal| is_named[terminal.index()])
            && are_side_by_side(grammar, terminals)
    });
    found
}

/// Whether no directive applies to the terminal.
fn is_plain(terminal: &Terminal) -> bool {
    !terminal.ignored
        && terminal.priority == 0
        && terminal.reserved_against.is_empty()
        && terminal.fallback.is_none()
        && terminal.lookahead.is_none()
        && terminal.budget.is_none()
        && terminal.distinct.is_none()
        && terminal.precedence.is_none()
        && !terminal.exclusive
        && !terminal.lazy
}

/// Whether no terminal ranked between these could match one of their texts.
fn are_side_by_side(grammar: &Grammar, terminals: &[TerminalId]) -> bool {
    let ranks = || terminals.iter().map(|terminal| grammar.terminals[terminal.index()].rank);
    let (Some(first), Some(last)) = (ranks().min(), ranks().max()) else { return false };
    let is_string = |terminal: &Terminal| {
        matches!(&terminal.pattern, None | Some(Pattern::Literal { ignore_case: false, .. }))
    };
    let one = &grammar.terminals[terminals[0].index()];
    let has_same_ends =
        |terminal: &TerminalId| grammar.terminals[terminal.index()].every_match == one.every_match;
    terminals.iter().all(has_same_ends)
        && grammar
            .terminals
            .iter()
            .filter(|terminal| (first..=last).contains(&terminal.rank))
            .all(is_string)
}

/// By terminal, whether another one or a directive refers to it.
fn named(grammar: &Grammar) -> Vec<bool> {
    let mut is_named = vec![false; grammar.terminals.len()];
    let mut name = |terminal: &TerminalId| is_named[terminal.index()] = true;
    for terminal in &*grammar.terminals {
        terminal.reserved_against.iter().for_each(&mut name);
        terminal.fallback.iter().for_each(|fallback| name(&fallback.terminal));
        terminal.budget.iter().flat_map(|budget| &budget.cuts).for_each(&mut name);
        if let Some(lookahead) = &terminal.lookahead {
            name(&lookahead.other);
            lookahead.after.iter().flatten().for_each(&mut name);
            lookahead.before.iter().flatten().for_each(&mut name);
        }
    }
    grammar.reserve_covered.iter().for_each(&mut name);
    if let Some(indentation) = &grammar.indentation {
        indentation.own().for_each(&mut name);
        indentation.open.iter().chain(&indentation.close).for_each(&mut name);
    }
    is_named
}

/// Removes the patterns, and so the uses, of all but the first of these.
fn merge(terminals: &mut [Terminal], merged: &[TerminalId]) {
    let ranks = merged.iter().map(|terminal| terminals[terminal.index()].rank);
    let best = ranks.min().unwrap_or_default();
    for other in &merged[1..] {
        terminals[other.index()].pattern = None;
    }
    terminals[merged[0].index()].rank = best;
}

/// Replaces each terminal that was split, given its parts by terminal, with a rule for any of them.
pub(crate) fn stand_in(grammar: &mut Grammar, parts: Vec<Vec<TerminalId>>) {
    let mut stands_for: Vec<Option<NonterminalId>> = vec![None; parts.len()];
    for (terminal, parts) in parts.into_iter().enumerate() {
        if parts.is_empty() || parts == [TerminalId::new(terminal)] {
            continue;
        }
        let lhs = NonterminalId::new(grammar.nonterminals.len());
        stands_for[terminal] = Some(lhs);
        let Terminal { name, precedence, place, .. } = grammar.terminals[terminal].clone();
        let first = grammar.productions.len();
        let numbers = (first..first + parts.len()).map(ProductionId::new).collect();
        grammar.productions.extend(parts.into_iter().map(|part| Production {
            lhs,
            rhs: smallvec![Symbol::Terminal(part)],
            precedence,
            priority: 0,
            place: place.clone(),
        }));
        grammar.nonterminals.push(Nonterminal {
            name: format!("{name}[texts]").into(),
            productions: numbers,
            marks: None,
            place,
        });
    }
    let made = stands_for.iter().flatten().map(|lhs| lhs.index()).min().unwrap_or(usize::MAX);
    for production in
        grammar.productions.iter_mut().filter(|production| production.lhs.index() < made)
    {
        for symbol in &mut production.rhs {
            if let Symbol::Terminal(terminal) = symbol
                && let Some(lhs) = stands_for.get(terminal.index()).copied().flatten()
            {
                *symbol = Symbol::Nonterminal(lhs);
            }
        }
    }
}

/// Returns the automata of a long list of words, or `None` if `pattern` is not one.
pub(crate) fn automata(pattern: &Pattern) -> Option<Vec<Automaton>> {
    if !matches!(pattern, Pattern::Alternation(_) | Pattern::Regex { .. }) {
        return None;
    }
    let words = words(pattern)?;
    let bytes: usize = words.iter().map(|word| word.len()).sum();
    if bytes < LEAST_BYTES || words.len() < 2 || words.iter().any(|word| word.is_empty()) {
        return None;
    }
    let words = sorted(words);
    Some(of_choices(words.iter().map(|word| word.as_bytes())))
}

fn sorted<T: Ord>(mut words: Vec<T>) -> Vec<T> {
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns the words of a pattern that is a list of them, or `None` if it is not.
fn words(pattern: &Pattern) -> Option<Vec<Cow<'_, str>>> {
    match pattern {
        Pattern::Literal { text, ignore_case: false } => Some(vec![Cow::Borrowed(text)]),
        Pattern::Alternation(parts) => {
            let mut all = Vec::with_capacity(parts.len());
            for part in parts {
                all.extend(words(part)?);
            }
            Some(all)
        }
        Pattern::Regex { pattern, flags, .. } if *flags == RegexFlags::default() => {
            alternatives_of_regex(pattern)
        }
        _ => None,
    }
}

/// Returns the words of a regex that only has words with `|` between them, possibly in one group.
fn alternatives_of_regex(regex: &str) -> Option<Vec<Cow<'_, str>>> {
    let inner = regex
        .strip_suffix(')')
        .and_then(|inner| inner.strip_prefix("(?:").or_else(|| inner.strip_prefix('(')));
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = inner.unwrap_or(regex).chars();
    while let Some(c) = chars.next() {
        match c {
            '|' => words.push(Cow::Owned(std::mem::take(&mut word))),
            '\\' => word.push(chars.next().filter(char::is_ascii_punctuation)?),
            '.' | '^' | '$' | '*' | '+' | '?' | '{' | '[' | '(' | ')' => return None,
            c => word.push(c),
        }
    }
    words.push(Cow::Owned(word));
    Some(words)
}
