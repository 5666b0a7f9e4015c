//! Copies of a grammar restricted to a subset, with new ids.

use smallvec::SmallVec;

use crate::grammar::Grammar;
use crate::grammar::ir::{
    Fallback, LexerKind, Lookahead, Nonterminal, Production, Symbol, Terminal,
};
use crate::grammar::requirement::Requirement;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};

/// New ids by old ones: `None` for dropped items.
struct Renumbered {
    terminals: Vec<Option<TerminalId>>,
    nonterminals: Vec<Option<NonterminalId>>,
}

/// Copies the `reached` nonterminals, `start` among them, with their `alive` productions and the
/// terminals that these need. Under the basic lexer the terminals of `alive` productions of
/// `competing` nonterminals are kept as well.
pub(super) fn keep(
    grammar: &Grammar,
    start: NonterminalId,
    reached: &[bool],
    competing: &[bool],
    alive: impl Fn(&Production) -> bool,
) -> Grammar {
    let is_kept = |production: &&Production| reached[production.lhs.index()] && alive(production);
    let kept: Vec<&Production> = grammar.productions.iter().filter(is_kept).collect();
    let competes = |production: &Production| competing[production.lhs.index()] && alive(production);
    let needed = needed_terminals(grammar, &kept, competes);
    let ids = Renumbered {
        terminals: renumber(&needed, TerminalId::new),
        nonterminals: renumber(reached, NonterminalId::new),
    };
    let terminals = copy_terminals(grammar, &ids);
    let (nonterminals, productions) = copy_rules(grammar, kept, &ids);
    let covered =
        grammar.reserve_covered.iter().filter_map(|terminal| ids.terminals[terminal.index()]);
    Grammar {
        cost: grammar.cost,
        terminals: terminals.into(),
        nonterminals: nonterminals.into(),
        productions: productions.into(),
        start: ids.nonterminals[start.index()].expect("the start symbol is reached"),
        starts: Vec::new(),
        requirements: requirements(grammar, &ids),
        lexer: grammar.lexer,
        conflicts: grammar.conflicts,
        leading_ignored: grammar.leading_ignored,
        matching: grammar.matching,
        reserve_covered: covered.collect(),
        indentation: (grammar.indentation.as_ref())
            .and_then(|indentation| indentation.map(|terminal| ids.terminals[terminal.index()])),
        warnings: Vec::new(),
        untrimmed: None,
    }
}

/// Marks the terminals of these productions, and those that affect how the text is cut into them.
fn needed_terminals(
    grammar: &Grammar,
    kept: &[&Production],
    competes: impl Fn(&Production) -> bool,
) -> Vec<bool> {
    let mut needed: Vec<bool> = grammar.terminals.iter().map(|terminal| terminal.ignored).collect();
    if let Some(indentation) = &grammar.indentation {
        indentation.own().for_each(|terminal| needed[terminal.index()] = true);
    }
    for production in kept {
        for symbol in &production.rhs {
            if let Symbol::Terminal(terminal) = symbol {
                needed[terminal.index()] = true;
            }
        }
    }
    if grammar.lexer == LexerKind::Basic {
        // All of them compete everywhere, except those that occur only in dropped productions.
        let mut left_out = vec![false; needed.len()];
        let mut competing = left_out.clone();
        for production in &grammar.productions {
            let of = if competes(production) { &mut competing } else { &mut left_out };
            for symbol in &production.rhs {
                if let Symbol::Terminal(terminal) = symbol {
                    of[terminal.index()] = true;
                }
            }
        }
        for (index, terminal) in grammar.terminals.iter().enumerate() {
            let is_in = competing[index] || !left_out[index];
            needed[index] |= is_in && terminal.pattern.is_some();
        }
    }
    let in_rules = needed.clone();
    for (word, terminal) in grammar.terminals.iter().enumerate() {
        let mut for_others = terminal.reserved_against.iter().chain(&terminal.meant);
        needed[word] |= for_others.any(|other| in_rules[other.index()]);
        if let Some(lookahead) = &terminal.lookahead {
            needed[word] |= in_rules[lookahead.other.index()];
            needed[lookahead.other.index()] |= in_rules[word];
        }
    }
    needed
}

/// Copies the terminals that are kept, with ranks from 0.
fn copy_terminals(grammar: &Grammar, ids: &Renumbered) -> Vec<Terminal> {
    let ids = &ids.terminals;
    let mut terminals: Vec<Terminal> = Vec::new();
    for (_, terminal) in ids.iter().zip(&grammar.terminals).filter(|(id, _)| id.is_some()) {
        let mut terminal = terminal.clone();
        terminal.reserved_against =
            terminal.reserved_against.iter().filter_map(|against| ids[against.index()]).collect();
        terminal.meant = terminal.meant.iter().filter_map(|other| ids[other.index()]).collect();
        terminal.fallback = terminal.fallback.and_then(|fallback| {
            let terminal = ids[fallback.terminal.index()]?;
            Some(Fallback { terminal, soft: fallback.soft })
        });
        if let Some(budget) = &mut terminal.budget {
            budget.cuts = budget.cuts.iter().filter_map(|cut| ids[cut.index()]).collect();
        }
        terminal.lookahead = terminal.lookahead.and_then(|lookahead| {
            let kept = |list: &Vec<TerminalId>| {
                list.iter().filter_map(|other| ids[other.index()]).collect()
            };
            Some(Lookahead {
                other: ids[lookahead.other.index()]?,
                after: lookahead.after.as_ref().map(kept),
                before: lookahead.before.iter().map(kept).collect(),
            })
        });
        terminals.push(terminal);
    }
    let mut by_rank: Vec<usize> = (0..terminals.len()).collect();
    by_rank.sort_by_key(|&terminal| terminals[terminal].rank);
    for (rank, terminal) in by_rank.into_iter().enumerate() {
        terminals[terminal].rank = rank as u32;
    }
    terminals
}

/// Copies the nonterminals that are kept, with these productions.
fn copy_rules(
    grammar: &Grammar,
    kept: Vec<&Production>,
    ids: &Renumbered,
) -> (Vec<Nonterminal>, Vec<Production>) {
    let mut nonterminals: Vec<Nonterminal> = Vec::new();
    for (_, nonterminal) in
        ids.nonterminals.iter().zip(&grammar.nonterminals).filter(|(id, _)| id.is_some())
    {
        let Nonterminal { name, place, marks, .. } = nonterminal.clone();
        nonterminals.push(Nonterminal { name, productions: SmallVec::new(), marks, place });
    }
    let mut productions = Vec::with_capacity(kept.len());
    for production in kept {
        let symbols = production.rhs.iter().filter_map(|symbol| match symbol {
            Symbol::Terminal(terminal) => ids.terminals[terminal.index()].map(Symbol::Terminal),
            Symbol::Nonterminal(nonterminal) => {
                ids.nonterminals[nonterminal.index()].map(Symbol::Nonterminal)
            }
        });
        let lhs = ids.nonterminals[production.lhs.index()].expect("its left side is reached");
        nonterminals[lhs.index()].productions.push(ProductionId::new(productions.len()));
        productions.push(Production {
            lhs,
            rhs: symbols.collect(),
            precedence: production.precedence,
            priority: production.priority,
            place: production.place.clone(),
        });
    }
    (nonterminals, productions)
}

/// Restricts the requirements to lists that are kept, and to sets all of whose members are.
fn requirements(grammar: &Grammar, ids: &Renumbered) -> Vec<Requirement> {
    let kept = |old: &Requirement| {
        let mut requirement = old.clone();
        requirement.map(|id| ids.nonterminals[id.index()]);
        requirement.open = ids.terminals[old.open.index()]?;
        requirement.separator = old.separator.and_then(|id| ids.terminals[id.index()]);
        (!requirement.ends.is_empty()).then_some(requirement)
    };
    grammar.requirements.iter().filter_map(kept).collect()
}

/// Assigns new ids to the kept items.
fn renumber<Id>(kept: &[bool], id: impl Fn(usize) -> Id) -> Vec<Option<Id>> {
    let mut next = 0;
    kept.iter()
        .map(|&kept| {
            kept.then(|| {
                next += 1;
                id(next - 1)
            })
        })
        .collect()
}
