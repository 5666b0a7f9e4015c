//! Lexemes that are several terminals at once: under llguidance's rule, a text is every terminal
//! that matches it, not only the one with the best rank.
//!
//! The scanner gives a lexeme one label. So terminals that have texts in common are taken apart
//! into terminals that have none: the texts of `A` alone, of `B` alone, of both. The last ones are
//! two terminals, one for `A` and one for `B`; a lexeme has the first as its label, and the second
//! as a further reading ([`Terminal::meant`]). Where a rule has `A`, a rule takes its place that is
//! `A` alone or the first of these. So no lexeme has two labels, and each reading goes its own way
//! from the end of the lexeme on.
//!
//! If one of several terminals has a token budget, their common terminal has a twin with the same
//! texts and a worse rank, for the terminals that remain once the budget is used up. So the twin is
//! the label only after the common terminal has been dropped from a lexeme.

use std::collections::HashSet;

use crate::grammar::Grammar;
use crate::grammar::ir::{Budget, LexerKind, Matching, Symbol, Terminal};
use crate::grammar::pattern::Pattern;
use crate::grammar::tokens::Tokens;
use crate::grammar::words::stand_in;
use crate::lexer::{Dfa, difference, intersection};
use crate::lr::table::ParseTable;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{CoreId, TerminalId};
use crate::util::meter::Meter;

/// Upper bound on different budgets for the same texts. After this many a lexeme is no longer
/// counted.
const MAX_BUDGETS: usize = 16;

/// Maximum number of searches for terminals that meet.
const ROUNDS: usize = 6;

/// Texts that exactly these terminals have.
struct Atom {
    members: Vec<usize>,
    dfa: Dfa,
}

/// Returns the grammar over terminals with disjoint texts if lexemes may be several terminals;
/// otherwise the given grammar.
pub(super) fn take_apart(
    grammar: Grammar,
    dfas: Vec<Option<Dfa>>,
    meter: &Meter,
) -> (Grammar, Vec<Option<Dfa>>) {
    if grammar.matching != Matching::All {
        return (grammar, dfas);
    }
    let groups = vec![0; dfas.len()];
    match atoms(&grammar, &dfas, &groups, meter) {
        Some(atoms) if atoms.iter().any(|atom| atom.members.len() > 1) => {
            let (grammar, dfas, _) = rewrite(grammar, dfas, atoms, &groups);
            (grammar, dfas)
        }
        Some(_) => (grammar, dfas),
        None => {
            let message = "too many terminals overlap: only one terminal is tried for each lexeme";
            let warning = Diagnostic::warning("ties-by-rank", message).help(
                "a lexeme is the matching terminal of highest rank: a string before a pattern, \
                 then the first in the file",
            );
            let mut grammar = grammar;
            grammar.warnings.push(warning);
            (grammar, dfas)
        }
    }
}

/// Does the same for a grammar that contains schemas; also returns its table if it was built. Only
/// terminals that meet in a row are taken apart. The terminals of schemas never meet, and each pair
/// of counted ones would take the product of their counts.
///
/// A lexeme of two terminals becomes one terminal, after which more terminals may meet than before.
/// So the search is repeated a few times; then all terminals are taken apart.
pub(super) fn take_apart_in_rows(
    grammar: Grammar,
    dfas: Vec<Option<Dfa>>,
    meter: &Meter,
    tables: &Meter,
) -> (Grammar, Vec<Option<Dfa>>, Option<ParseTable>) {
    if grammar.matching == Matching::All && grammar.lexer == LexerKind::Contextual {
        let plain = plain(&grammar, &dfas);
        let mut groups: Vec<usize> = (0..dfas.len()).collect();
        for _ in 0..ROUNDS {
            let Some(atoms) = atoms(&grammar, &dfas, &groups, meter) else { break };
            let is_apart = atoms.iter().all(|atom| atom.members.len() == 1);
            let (made, own, parts) = match is_apart {
                true => (grammar.clone(), dfas.clone(), vec![Vec::new(); dfas.len()]),
                false => rewrite(grammar.clone(), dfas.clone(), atoms, &groups),
            };
            let Ok(table) = ParseTable::build(&made, tables) else { break };
            let mut members: Vec<Vec<usize>> = vec![Vec::new(); own.len()];
            for (terminal, parts) in parts.iter().enumerate() {
                match &parts[..] {
                    [] => members[terminal].push(terminal),
                    parts => parts.iter().for_each(|part| members[part.index()].push(terminal)),
                }
            }
            members.iter_mut().for_each(|members| members.retain(|&member| plain[member]));
            let meeting = meeting(&made, &own, &table, &members, meter);
            if meeting.is_empty() {
                return (made, own, Some(table));
            }
            for (one, other) in meeting {
                let [kept, gone] = [groups[one], groups[other]];
                groups.iter_mut().filter(|group| **group == gone).for_each(|group| *group = kept);
            }
        }
    }
    let (grammar, dfas) = take_apart(grammar, dfas, meter);
    (grammar, dfas, None)
}

/// Pairs of terminals that are parts of terminals in one row and have texts in common.
fn meeting(
    grammar: &Grammar,
    dfas: &[Option<Dfa>],
    table: &ParseTable,
    members: &[Vec<usize>],
    meter: &Meter,
) -> Vec<(usize, usize)> {
    let count = dfas.len();
    let text = |index: usize| match &grammar.terminals[index].pattern {
        Some(Pattern::Literal { text, ignore_case: false }) => Some(text.as_bytes()),
        _ => None,
    };
    let overlap = |one: usize, other: usize| {
        let [Some(first), Some(second)] = [&dfas[one], &dfas[other]] else { return false };
        match (text(one), text(other)) {
            _ if grammar.terminals[one].lazy != grammar.terminals[other].lazy => false,
            (Some(one), Some(other)) => one == other,
            (Some(one), None) => second.matches(one),
            (None, Some(other)) => first.matches(other),
            (None, None) => {
                let all = [first.uncounted(), second.uncounted()];
                let is_empty = |one: &Dfa, other: &Dfa| {
                    intersection(one, other, meter).is_ok_and(|both| both.is_empty())
                };
                !is_empty(&all[0], &all[1])
                    && !first.counts_apart(second)
                    && !is_empty(first, second)
            }
        }
    };
    let mut seen = HashSet::new();
    let mut rows = HashSet::new();
    let mut meeting = Vec::new();
    for state in (0..table.state_count()).map(CoreId::new) {
        if !rows.insert(table.row_number(state)) {
            continue;
        }
        let is_plain = |&terminal: &usize| terminal < count && !members[terminal].is_empty();
        let row: Vec<usize> = table.terminals_of_row(state).filter(is_plain).collect();
        let patterns: Vec<usize> =
            row.iter().copied().filter(|&terminal| text(terminal).is_none()).collect();
        for &one in &patterns {
            for &other in row.iter().filter(|&&other| other != one) {
                if seen.insert((one.min(other), one.max(other))) && overlap(one, other) {
                    meeting.push((members[one][0], members[other][0]));
                }
            }
        }
        let mut texts: Vec<(&[u8], usize)> =
            row.iter().filter_map(|&terminal| Some((text(terminal)?, terminal))).collect();
        texts.sort_unstable();
        let same = texts.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        meeting.extend(same.map(|pair| (members[pair[0].1][0], members[pair[1].1][0])));
    }
    meeting
}

/// By terminal: whether a directive says what its lexemes are, or those of a word that it also
/// matches, or what they do to others. It stays as it is: where its texts are those of others as
/// well, rank decides.
fn told(grammar: &Grammar, dfas: &[Option<Dfa>]) -> Vec<bool> {
    let mut told = vec![false; grammar.terminals.len()];
    for (word, terminal) in grammar.terminals.iter().enumerate() {
        let looked = terminal.lookahead.iter().flat_map(|lookahead| {
            let lists = lookahead.after.iter().chain(&lookahead.before).flatten();
            lists.chain([&lookahead.other])
        });
        let fallback = terminal.fallback.iter().map(|fallback| &fallback.terminal);
        for other in looked.chain(fallback).chain(&terminal.reserved_against) {
            told[word] = true;
            told[other.index()] = true;
        }
        told[word] |= terminal.exclusive;
    }
    for covering in grammar.reserve_covered.iter().map(|covering| covering.index()) {
        told[covering] = true;
        let Some(dfa) = &dfas[covering] else { continue };
        for (word, terminal) in grammar.terminals.iter().enumerate() {
            if let Some(Pattern::Literal { text, .. }) = &terminal.pattern {
                told[word] |= dfa.matches(text.as_bytes());
            }
        }
    }
    if let Some(indentation) = &grammar.indentation {
        let brackets = indentation.open.iter().chain(&indentation.close);
        indentation.own().chain(brackets).for_each(|terminal| told[terminal.index()] = true);
    }
    told
}

/// By terminal: whether it may be taken apart.
fn plain(grammar: &Grammar, dfas: &[Option<Dfa>]) -> Vec<bool> {
    let told = told(grammar, dfas);
    let is_plain = |(index, dfa): (usize, &Option<Dfa>)| {
        let terminal = &grammar.terminals[index];
        // A terminal with look-around is not split.
        let asks = |dfa: &Dfa| dfa.looks_behind() || !dfa.conditions().is_empty();
        // The role of a lexeme in a list does not depend on its text.
        let is_told = told[index] || terminal.ignored || terminal.distinct.is_some();
        dfa.as_ref().is_some_and(|dfa| !is_told && !dfa.is_empty() && !asks(dfa))
    };
    dfas.iter().enumerate().map(is_plain).collect()
}

/// The terminals taken apart, those of one group from each other; `None` where that takes too much.
fn atoms(
    grammar: &Grammar,
    dfas: &[Option<Dfa>],
    groups: &[usize],
    meter: &Meter,
) -> Option<Vec<Atom>> {
    let plain = plain(grammar, dfas);
    let most = 2 * dfas.len() + 64;
    let mut all: Vec<Atom> = Vec::new();
    for (index, dfa) in dfas.iter().enumerate() {
        let terminal = &grammar.terminals[index];
        let Some(dfa) = dfa.as_ref().filter(|_| plain[index]) else { continue };
        let mut rest = dfa.clone();
        let mut next = Vec::with_capacity(all.len() + 2);
        for atom in all {
            let first = &grammar.terminals[atom.members[0]];
            // Where a lazy terminal matches, no other does.
            if groups[atom.members[0]] != groups[index]
                || first.lazy != terminal.lazy
                || rest.is_empty()
                || are_apart(first, &atom.dfa, terminal, &rest)
            {
                next.push(atom);
                continue;
            }
            let both = intersection(&atom.dfa, &rest, meter).ok()?;
            if both.is_empty() {
                next.push(atom);
                continue;
            }
            let alone = difference(&atom.dfa, &rest, meter).ok()?;
            rest = difference(&rest, &atom.dfa, meter).ok()?;
            let members = [&atom.members[..], &[index]].concat();
            if !alone.is_empty() {
                next.push(Atom { dfa: alone, ..atom });
            }
            next.push(Atom { members, dfa: both });
        }
        if !rest.is_empty() {
            next.push(Atom { members: vec![index], dfa: rest });
        }
        all = next;
        if all.len() > most {
            return None;
        }
    }
    Some(all)
}

/// Whether every lexeme of a list of distinct items is unambiguous in every context.
pub(super) fn are_apart_in_lists(
    grammar: &Grammar,
    table: &ParseTable,
    dfas: &[Option<Dfa>],
    meter: &Meter,
) -> bool {
    let is_of_list = |&terminal: &usize| grammar.terminals[terminal].distinct.is_some();
    let count = grammar.terminals.len();
    if !(0..count).any(|terminal| is_of_list(&terminal)) {
        return true;
    }
    let ignored = (0..count).filter(|&terminal| grammar.terminals[terminal].ignored);
    let ignored: Vec<usize> = ignored.collect();
    let mut seen = HashSet::new();
    for state in (0..table.state_count()).map(CoreId::new) {
        let all: Vec<usize> = match grammar.lexer {
            LexerKind::Basic => (0..count).collect(),
            LexerKind::Contextual => {
                let own = table.terminals_of_row(state).filter(|&terminal| terminal < count);
                own.chain(ignored.iter().copied()).collect()
            }
        };
        for &own in all.iter().filter(|own| is_of_list(own)) {
            for &other in all.iter().filter(|&&other| other != own) {
                let [Some(one), Some(two)] = [&dfas[own], &dfas[other]] else { continue };
                if seen.insert((own, other))
                    && !intersection(one, two, meter).is_ok_and(|both| both.is_empty())
                {
                    return false;
                }
            }
        }
    }
    true
}

/// Whether two terminals obviously have no text in common: one is a string that the other does not
/// match.
fn are_apart(one: &Terminal, one_dfa: &Dfa, other: &Terminal, other_dfa: &Dfa) -> bool {
    let text = |terminal: &Terminal| match &terminal.pattern {
        Some(Pattern::Literal { text, ignore_case: false }) => Some(text.clone()),
        _ => None,
    };
    let misses =
        |text: Option<String>, dfa: &Dfa| text.is_some_and(|text| !dfa.matches(text.as_bytes()));
    misses(text(one), other_dfa) || misses(text(other), one_dfa)
}

/// The grammar over these atoms, and by terminal the parts that take its place.
fn rewrite(
    mut grammar: Grammar,
    mut dfas: Vec<Option<Dfa>>,
    atoms: Vec<Atom>,
    groups: &[usize],
) -> (Grammar, Vec<Option<Dfa>>, Vec<Vec<TerminalId>>) {
    let count = grammar.terminals.len();
    // A terminal that is not split keeps its texts, even if others have them too.
    let mut patterns: Vec<Option<Pattern>> = vec![None; count];
    for &member in atoms.iter().flat_map(|atom| &atom.members) {
        patterns[member].clone_from(&grammar.terminals[member].pattern);
    }
    let mut ranks: Vec<u32> = grammar.terminals.iter().map(|terminal| terminal.rank).collect();
    let mut parts: Vec<Vec<TerminalId>> = vec![Vec::new(); count];
    let mut taken = vec![false; count];
    // The texts of one terminal alone keep its name. So does a terminal that has all its texts in
    // common with others.
    let own = |atom: &Atom| match atom.members[..] {
        [only] => Some(only),
        _ => atom.members.iter().copied().find(|&member| dfas[member].as_ref() == Some(&atom.dfa)),
    };
    let owners: Vec<Option<usize>> = atoms.iter().map(own).collect();
    // Set once all terminals are created: until then members keep their own budgets.
    let mut budgets: Vec<(usize, Option<Budget>)> = Vec::new();
    for (atom, owner) in atoms.into_iter().zip(owners) {
        let owner = owner.filter(|&owner| !std::mem::replace(&mut taken[owner], true));
        let pattern = texts_of(&atom.members, &patterns, groups, &grammar);
        let budget = budget_of(&atom.members, &grammar);
        let twins: Vec<_> = outlasting(&atom.members, &grammar)
            .into_iter()
            .map(|twin| (twin, atom.dfa.clone()))
            .collect();
        let own_ranks = atom.members.iter().map(|&member| grammar.terminals[member].rank);
        let best = own_ranks.min().unwrap_or_default();
        let id = match owner {
            Some(owner) => {
                if dfas[owner].as_ref() != Some(&atom.dfa) {
                    grammar.terminals[owner].pattern = pattern.clone();
                    dfas[owner] = Some(atom.dfa);
                }
                TerminalId::new(owner)
            }
            None => add(&mut grammar, &mut dfas, &atom.members, pattern.clone(), atom.dfa),
        };
        let first = owner.unwrap_or(atom.members[0]);
        mean(&mut grammar, &mut dfas, &mut parts, id, first, &atom.members);
        ranks.resize(grammar.terminals.len(), best);
        ranks[id.index()] = best;
        budgets.push((id.index(), budget));
        for ((members, budget), dfa) in twins {
            let id = add(&mut grammar, &mut dfas, &members, pattern.clone(), dfa);
            // It wins only where the other is gone, and nobody need be told.
            grammar.terminals[id.index()].place = None;
            mean(&mut grammar, &mut dfas, &mut parts, id, members[0], &members);
            ranks.resize(grammar.terminals.len(), best);
            budgets.push((id.index(), budget));
        }
    }
    for (terminal, budget) in budgets {
        grammar.terminals[terminal].budget = budget;
    }
    stand_in(&mut grammar, parts.clone());
    rank_anew(&mut grammar, &ranks);
    grammar.matching = Matching::Longest;
    let (grammar, dfas) = without_unused(grammar, dfas);
    (grammar, dfas, parts)
}

/// Ranks terminals by the ranks of the terminals they were split from; of those split from the same
/// one, later ones rank lower.
fn rank_anew(grammar: &mut Grammar, ranks: &[u32]) {
    let mut by_rank: Vec<usize> = (0..ranks.len()).collect();
    by_rank.sort_by_key(|&terminal| (ranks[terminal], terminal));
    for (rank, terminal) in by_rank.into_iter().enumerate() {
        grammar.terminals[terminal].rank = rank as u32;
    }
}

/// Adds the terminal for the texts that match exactly these terminals.
fn add(
    grammar: &mut Grammar,
    dfas: &mut Vec<Option<Dfa>>,
    members: &[usize],
    pattern: Option<Pattern>,
    dfa: Dfa,
) -> TerminalId {
    let names: Vec<&str> =
        members.iter().map(|&member| grammar.terminals[member].name.as_str()).collect();
    let name = names.join("&");
    let first = grammar.terminals[members[0]].clone();
    let terminal = Terminal { name, pattern, meant: Vec::new(), ..first };
    let shown: Vec<String> =
        members.iter().map(|&member| grammar.terminals[member].shown()).collect();
    let terminal = terminal.described(&shown.join(" and "));
    grammar.terminals.push(terminal);
    dfas.push(Some(dfa));
    TerminalId::new(grammar.terminals.len() - 1)
}

/// Lets a lexeme of `label` be each of these, of which it is `first` by itself.
fn mean(
    grammar: &mut Grammar,
    dfas: &mut Vec<Option<Dfa>>,
    parts: &mut [Vec<TerminalId>],
    label: TerminalId,
    first: usize,
    members: &[usize],
) {
    parts[first].push(label);
    for &member in members.iter().filter(|&&member| member != first) {
        let other = TerminalId::new(grammar.terminals.len());
        let of = grammar.terminals[member].clone();
        let name = format!("{}@{}", of.name, grammar.terminals[label.index()].name);
        let other_reading =
            Terminal { name, pattern: None, budget: None, place: None, ..of.clone() };
        grammar.terminals.push(other_reading.described(&of.shown()));
        dfas.push(None);
        grammar.terminals[label.index()].meant.push(other);
        parts[member].push(other);
    }
}

/// How many tokens a lexeme may take before it is one of these less, and as what it ends there.
fn budget_of(members: &[usize], grammar: &Grammar) -> Option<Budget> {
    let budgets = || members.iter().filter_map(|&member| grammar.terminals[member].budget.as_ref());
    let tokens = budgets().map(|budget| budget.tokens).min()?;
    let cuts =
        budgets().filter(|budget| budget.tokens == tokens).flat_map(|budget| budget.cuts.clone());
    Some(Budget { tokens, cuts: cuts.collect() })
}

/// Returns the terminals that a lexeme may still be after the smallest budget is used up, then
/// after the next, and so on, each with the budget that applies from there. The last of
/// [`MAX_BUDGETS`] has none.
fn outlasting(members: &[usize], grammar: &Grammar) -> Vec<(Vec<usize>, Option<Budget>)> {
    let mut all = Vec::new();
    let mut members = members.to_vec();
    let mut budget = budget_of(&members, grammar);
    while let Some(Budget { tokens, .. }) = budget {
        members.retain(|&member| {
            grammar.terminals[member].budget.as_ref().is_none_or(|budget| budget.tokens > tokens)
        });
        if members.is_empty() {
            break;
        }
        budget = budget_of(&members, grammar).filter(|_| all.len() + 1 < MAX_BUDGETS);
        all.push((members.clone(), budget.clone()));
    }
    all
}

/// The pattern of the texts that exactly these terminals have.
fn texts_of(
    members: &[usize],
    patterns: &[Option<Pattern>],
    groups: &[usize],
    grammar: &Grammar,
) -> Option<Pattern> {
    if let Some(Pattern::Tokens(_)) = &patterns[members[0]] {
        return Some(Pattern::Tokens(tokens_of(members, patterns)));
    }
    let lazy = grammar.terminals[members[0]].lazy;
    let is_other = |other: &usize| groups[*other] == groups[members[0]] && !members.contains(other);
    let others = (0..patterns.len()).filter(is_other);
    let others = others.filter(|&other| {
        let other = &grammar.terminals[other];
        !other.ignored && other.lazy == lazy && !matches!(other.pattern, Some(Pattern::Tokens(_)))
    });
    let others: Vec<Pattern> = others.filter_map(|other| patterns[other].clone()).collect();
    let mut all: Vec<Pattern> =
        members.iter().filter_map(|&member| patterns[member].clone()).collect();
    all.push(Pattern::Complement(Box::new(Pattern::Alternation(others))));
    Some(Pattern::Intersection(all))
}

/// Returns the tokens that match exactly these terminals.
fn tokens_of(members: &[usize], patterns: &[Option<Pattern>]) -> Tokens {
    let is_member = |index: &usize| members.contains(index);
    let tokens = |index: usize| match &patterns[index] {
        Some(Pattern::Tokens(tokens)) => Some(tokens),
        _ => None,
    };
    let (members, others): (Vec<usize>, Vec<usize>) = (0..patterns.len()).partition(is_member);
    let members: Vec<&Tokens> = members.into_iter().filter_map(tokens).collect();
    let others: Vec<&Tokens> = others.into_iter().filter_map(tokens).collect();
    match members[..] {
        [only @ (Tokens::Name(_) | Tokens::Special(_) | Tokens::Others(_)), ..] => only.clone(),
        _ => Tokens::exactly(&members, &others),
    }
}

/// Removes the patterns of terminals that no production uses any more.
fn without_unused(mut grammar: Grammar, mut dfas: Vec<Option<Dfa>>) -> (Grammar, Vec<Option<Dfa>>) {
    let mut used = vec![false; grammar.terminals.len()];
    for symbol in grammar.productions.iter().flat_map(|production| &production.rhs) {
        if let Symbol::Terminal(terminal) = symbol {
            used[terminal.index()] = true;
        }
    }
    for (index, terminal) in grammar.terminals.iter_mut().enumerate() {
        let is_meant = terminal.meant.iter().any(|other| used[other.index()]);
        if !used[index] && !is_meant && !terminal.ignored {
            terminal.pattern = None;
            dfas[index] = None;
        }
    }
    (grammar, dfas)
}
