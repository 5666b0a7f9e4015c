//! Blocks and brackets that are opened and closed in one alternative, in a grammar with significant
//! lines.
//!
//! Some grammars have separate rules for the two ends: `begin: _INDENT`, and
//! `block: begin line+ end`. The proof and all decisions about lines rest on alternatives that
//! close what they open; so such a rule is inlined. The language is the same. A rule that cannot be
//! inlined because it is recursive stays as it is, and is rejected later with its place.

use smallvec::SmallVec;

use crate::grammar::analysis;
use crate::grammar::ir::{Grammar, Indentation, Nonterminal, Production, Symbol};
use crate::util::id::{NonterminalId, ProductionId, TerminalId};

/// Factor by which the symbols of a grammar may grow: each inlined rule has few alternatives and
/// few uses.
const GROWTH: usize = 4;

/// Maximum number of inlined rules, each at the cost of the whole grammar: usually two or three.
const MOST_ENDS: usize = 50;

/// Returns the grammar with such rules inlined, or `None` if there are none, or too many.
pub(crate) fn written_out(grammar: &Grammar) -> Option<Grammar> {
    let directive = grammar.indentation.as_ref()?;
    let symbols = grammar.productions.iter().map(|production| production.rhs.len() + 1);
    let most = GROWTH * symbols.sum::<usize>();
    let mut productions = grammar.productions.to_vec();
    let mut ends = 0;
    while let Some(end) = one_end(grammar, directive, &productions) {
        ends += 1;
        if ends > MOST_ENDS {
            return None;
        }
        productions = without(&productions, end, most)?;
    }
    if ends == 0 {
        return None;
    }
    let emptied = |of: &Nonterminal| Nonterminal { productions: SmallVec::new(), ..of.clone() };
    let mut nonterminals: Vec<Nonterminal> = grammar.nonterminals.iter().map(emptied).collect();
    for (number, production) in productions.iter().enumerate() {
        nonterminals[production.lhs.index()].productions.push(ProductionId::new(number));
    }
    let (nonterminals, productions) = (nonterminals.into(), productions.into());
    let mut kept =
        analysis::keep_productive(&Grammar { nonterminals, productions, ..grammar.clone() })?;
    kept.warnings.clone_from(&grammar.warnings);
    kept.untrimmed.clone_from(&grammar.untrimmed);
    Some(kept)
}

/// Returns a rule that opens without closing, or closes without opening, and uses no such rule
/// itself. Rules whose texts are captured or counted are excluded.
fn one_end(
    grammar: &Grammar,
    directive: &Indentation<TerminalId>,
    productions: &[Production],
) -> Option<NonterminalId> {
    let mut is_end = vec![false; grammar.nonterminals.len()];
    for production in productions {
        is_end[production.lhs.index()] |= !is_balanced(&production.rhs, directive);
    }
    let holds_end = |rhs: &[Symbol]| {
        let mut symbols = rhs.iter();
        symbols.any(|symbol| matches!(symbol, Symbol::Nonterminal(held) if is_end[held.index()]))
    };
    let mut holds = vec![false; grammar.nonterminals.len()];
    for production in productions {
        holds[production.lhs.index()] |= holds_end(&production.rhs);
    }
    (0..is_end.len()).map(NonterminalId::new).find(|&nonterminal| {
        let at = nonterminal.index();
        let is_used = || {
            let symbol = Symbol::Nonterminal(nonterminal);
            productions.iter().any(|production| production.rhs.contains(&symbol))
        };
        is_end[at]
            && !holds[at]
            && nonterminal != grammar.start
            && grammar.nonterminals[at].marks.is_none()
            && is_used()
    })
}

/// Whether an alternative closes the blocks and brackets that it opens.
fn is_balanced(rhs: &[Symbol], directive: &Indentation<TerminalId>) -> bool {
    let ends = [
        (std::slice::from_ref(&directive.indent), std::slice::from_ref(&directive.dedent)),
        (directive.open.as_slice(), directive.close.as_slice()),
    ];
    ends.iter().all(|&(open, close)| depth_behind(rhs, open, close) == Some(0))
}

/// Returns the number of `open` left unclosed at the end, or `None` if a close has no matching
/// open.
pub(crate) fn depth_behind(
    rhs: &[Symbol],
    open: &[TerminalId],
    close: &[TerminalId],
) -> Option<u32> {
    rhs.iter().try_fold(0u32, |depth, symbol| match symbol {
        Symbol::Terminal(terminal) if open.contains(terminal) => Some(depth + 1),
        Symbol::Terminal(terminal) if close.contains(terminal) => depth.checked_sub(1),
        _ => Some(depth),
    })
}

/// Returns the productions with each alternative of `end` substituted for `end`, or `None` if that
/// makes more than `most` symbols.
fn without(productions: &[Production], end: NonterminalId, most: usize) -> Option<Vec<Production>> {
    let symbol = Symbol::Nonterminal(end);
    let ways: Vec<&[Symbol]> = productions
        .iter()
        .filter(|production| production.lhs == end)
        .map(|production| production.rhs.as_slice())
        .collect();
    let mut all = Vec::with_capacity(productions.len());
    let mut size = 0;
    for production in productions.iter().filter(|production| production.lhs != end) {
        let mut written: Vec<Vec<Symbol>> = vec![Vec::new()];
        for &part in &production.rhs {
            let parts: &[&[Symbol]] = if part == symbol { &ways } else { &[&[part]] };
            let longer = |before: &Vec<Symbol>| -> Vec<Vec<Symbol>> {
                parts.iter().map(|part| [before.as_slice(), part].concat()).collect()
            };
            written = written.iter().flat_map(longer).collect();
            if size + written.len() > most {
                return None;
            }
        }
        size += written.iter().map(|rhs| rhs.len() + 1).sum::<usize>();
        all.extend(
            written.into_iter().map(|rhs| Production { rhs: rhs.into(), ..production.clone() }),
        );
    }
    (size <= most).then_some(all)
}
