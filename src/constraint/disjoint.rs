//! Lexemes that are several terminals at once: where llguidance reads a text as every terminal that
//! matches it, and not as the one of best rank.
//!
//! The scanner gives a lexeme one label. So terminals that have texts in common are taken apart
//! into terminals that have none: the texts of `A` alone, of `B` alone, of both. Where a rule has
//! `A`, a rule that is either the first or the last takes its place, and the parser finds out what
//! is meant. The language is the same, and no lexeme has two labels.

use crate::grammar::Grammar;
use crate::grammar::ir::{Nonterminal, Production, Symbol, Terminal, Ties};
use crate::grammar::pattern::Pattern;
use crate::grammar::tokens::Tokens;
use crate::lexer::{Dfa, difference, intersection};
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};
use crate::util::meter::Meter;

/// Texts that exactly these terminals have.
struct Atom {
    members: Vec<usize>,
    dfa: Dfa,
}

/// The grammar over terminals that have no texts in common, where lexemes may be several terminals;
/// else as it is given.
pub(super) fn take_apart(
    grammar: Grammar,
    dfas: Vec<Option<Dfa>>,
    meter: &Meter,
) -> (Grammar, Vec<Option<Dfa>>) {
    let decides = |terminal: &Terminal| {
        !terminal.reserved_against.is_empty() || terminal.fallback.is_some() || terminal.lookahead.is_some()
    };
    // Where the grammar says what a word is, it is that.
    let is_said = grammar.indentation.is_some()
        || !grammar.reserve_covered.is_empty()
        || grammar.terminals.iter().any(|terminal| decides(terminal) || terminal.exclusive);
    if grammar.ties == Ties::Rank || is_said {
        return (grammar, dfas);
    }
    match atoms(&grammar, &dfas, meter) {
        Some(atoms) if atoms.iter().any(|atom| atom.members.len() > 1) => rewrite(grammar, dfas, atoms),
        Some(_) => (grammar, dfas),
        None => {
            let message = "too many terminals have texts in common to tell all that a lexeme may be";
            let warning = Diagnostic::warning("ties-by-rank", message)
                .help("a lexeme is the terminal of best rank: a string before a pattern, then the first in the file");
            let mut grammar = grammar;
            grammar.warnings.push(warning);
            (grammar, dfas)
        }
    }
}

/// The terminals taken apart; `None` where that takes too much.
fn atoms(grammar: &Grammar, dfas: &[Option<Dfa>], meter: &Meter) -> Option<Vec<Atom>> {
    let most = 2 * dfas.len() + 64;
    let mut all: Vec<Atom> = Vec::new();
    for (index, dfa) in dfas.iter().enumerate() {
        let terminal = &grammar.terminals[index];
        // What looks at the text behind a lexeme is not taken apart.
        let is_plain = |dfa: &&Dfa| !terminal.ignored && !dfa.is_empty() && dfa.conditions().is_empty();
        let Some(dfa) = dfa.as_ref().filter(is_plain) else { continue };
        let mut rest = dfa.clone();
        let mut next = Vec::with_capacity(all.len() + 2);
        for atom in all {
            let first = &grammar.terminals[atom.members[0]];
            // Where a lazy terminal matches, no other does.
            if first.lazy != terminal.lazy || rest.is_empty() || are_apart(first, &atom.dfa, terminal, &rest)
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

/// Whether two have no text in common at first sight: one is a string that the other does not
/// match.
fn are_apart(one: &Terminal, one_dfa: &Dfa, other: &Terminal, other_dfa: &Dfa) -> bool {
    let text = |terminal: &Terminal| match &terminal.pattern {
        Some(Pattern::Literal { text, ignore_case: false }) => Some(text.clone()),
        _ => None,
    };
    let misses = |text: Option<String>, dfa: &Dfa| text.is_some_and(|text| !dfa.matches(text.as_bytes()));
    misses(text(one), other_dfa) || misses(text(other), one_dfa)
}

fn rewrite(
    mut grammar: Grammar,
    mut dfas: Vec<Option<Dfa>>,
    atoms: Vec<Atom>,
) -> (Grammar, Vec<Option<Dfa>>) {
    let count = grammar.terminals.len();
    let patterns: Vec<Option<Pattern>> =
        grammar.terminals.iter().map(|terminal| terminal.pattern.clone()).collect();
    let mut parts: Vec<Vec<TerminalId>> = vec![Vec::new(); count];
    let mut taken = vec![false; count];
    // Texts of one terminal alone keep its name, and so does a terminal all of whose texts others
    // have as well.
    let own = |atom: &Atom| match atom.members[..] {
        [only] => Some(only),
        _ => atom.members.iter().copied().find(|&member| dfas[member].as_ref() == Some(&atom.dfa)),
    };
    let owners: Vec<Option<usize>> = atoms.iter().map(own).collect();
    for (atom, owner) in atoms.into_iter().zip(owners) {
        let owner = owner.filter(|&owner| !std::mem::replace(&mut taken[owner], true));
        let id = match owner {
            Some(owner) => {
                if dfas[owner].as_ref() != Some(&atom.dfa) {
                    grammar.terminals[owner].pattern = texts_of(&atom.members, &patterns, &grammar);
                    dfas[owner] = Some(atom.dfa);
                }
                TerminalId::new(owner)
            }
            None => {
                let names: Vec<&str> =
                    atom.members.iter().map(|&member| grammar.terminals[member].name.as_str()).collect();
                let name = names.join("&");
                let first = &grammar.terminals[atom.members[0]];
                let rank = grammar.terminals.len() as u32;
                let pattern = texts_of(&atom.members, &patterns, &grammar);
                let terminal = Terminal { name, pattern, rank, ..first.clone() };
                grammar.terminals.push(terminal);
                dfas.push(Some(atom.dfa));
                TerminalId::new(grammar.terminals.len() - 1)
            }
        };
        atom.members.iter().for_each(|&member| parts[member].push(id));
    }
    let mut stands_for: Vec<Option<NonterminalId>> = vec![None; count];
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
            rhs: vec![Symbol::Terminal(part)],
            precedence,
            priority: 0,
            place: place.clone(),
        }));
        grammar.nonterminals.push(Nonterminal {
            name: format!("{name}[texts]"),
            productions: numbers,
            marks: None,
            place,
        });
    }
    let made = stands_for.iter().flatten().map(|lhs| lhs.index()).min().unwrap_or(usize::MAX);
    for production in grammar.productions.iter_mut().filter(|production| production.lhs.index() < made) {
        for symbol in &mut production.rhs {
            if let Symbol::Terminal(terminal) = symbol
                && let Some(lhs) = stands_for[terminal.index()]
            {
                *symbol = Symbol::Nonterminal(lhs);
            }
        }
    }
    grammar.ties = Ties::Rank;
    without_unused(grammar, dfas)
}

/// The pattern of the texts that exactly these terminals have.
fn texts_of(members: &[usize], patterns: &[Option<Pattern>], grammar: &Grammar) -> Option<Pattern> {
    if let Some(Pattern::Tokens(_)) = &patterns[members[0]] {
        return Some(Pattern::Tokens(tokens_of(members, patterns)));
    }
    let lazy = grammar.terminals[members[0]].lazy;
    let others = (0..patterns.len()).filter(|other| !members.contains(other));
    let others = others.filter(|&other| {
        let other = &grammar.terminals[other];
        !other.ignored && other.lazy == lazy && !matches!(other.pattern, Some(Pattern::Tokens(_)))
    });
    let others: Vec<Pattern> = others.filter_map(|other| patterns[other].clone()).collect();
    let mut all: Vec<Pattern> = members.iter().filter_map(|&member| patterns[member].clone()).collect();
    all.push(Pattern::Complement(Box::new(Pattern::Alternation(others))));
    Some(Pattern::Intersection(all))
}

/// The tokens that exactly these terminals have.
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
        [Tokens::Name(name), ..] => Tokens::Name(name.clone()),
        _ => Tokens::exactly(&members, &others),
    }
}

/// Terminals that no production has any more have no lexemes.
fn without_unused(mut grammar: Grammar, mut dfas: Vec<Option<Dfa>>) -> (Grammar, Vec<Option<Dfa>>) {
    let mut used = vec![false; grammar.terminals.len()];
    for symbol in grammar.productions.iter().flat_map(|production| &production.rhs) {
        if let Symbol::Terminal(terminal) = symbol {
            used[terminal.index()] = true;
        }
    }
    for (index, terminal) in grammar.terminals.iter_mut().enumerate() {
        if !used[index] && !terminal.ignored {
            terminal.pattern = None;
            dfas[index] = None;
        }
    }
    (grammar, dfas)
}
