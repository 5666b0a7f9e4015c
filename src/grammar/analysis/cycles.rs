//! Nonterminals that derive themselves and nothing else (`a: a`, or `a: b c?`, `b: a`): such a
//! grammar gives a text infinitely many parses.

use crate::grammar::Grammar;
use crate::grammar::analysis::nullable;
use crate::grammar::ir::{Conflicts, Production, Symbol};
use crate::util::components::depth_first;
use crate::util::diagnostic::Diagnostic;

/// Maximum number of reported cycles.
const MAX_REPORTED: usize = 20;

/// Reports cycles among the reached nonterminals, each with its path.
pub(super) fn report(
    grammar: &Grammar,
    reached: &[bool],
    alive: impl Fn(&Production) -> bool,
    findings: &mut Vec<Diagnostic>,
) {
    let alone = derives_alone(grammar, reached, alive);
    let mut reported = 0;
    let report_cycle = |path: &[usize]| {
        let shown = |&on_path: &usize| grammar.nonterminals[on_path].shown().into_owned();
        let cycle: Vec<String> = path.iter().map(shown).collect();
        let message = format!(
            "`{}` derives itself with no other symbol, so the grammar is ambiguous",
            cycle[0]
        );
        let diagnostic = match grammar.conflicts {
            Conflicts::Refuse => Diagnostic::error("cyclic", message),
            Conflicts::Follow | Conflicts::Silent | Conflicts::Shift => {
                Diagnostic::warning("cyclic", message)
            }
        };
        findings.push(
            diagnostic
                .at(grammar.nonterminals[path[0]].place.clone())
                .example(cycle.join(" -> "))
                .help(
                    "remove the alternative that adds nothing; a repeated expression must not match the \
                     empty text",
                ),
        );
        reported += 1;
        reported < MAX_REPORTED
    };
    depth_first(&alone, |_| (), report_cycle);
}

/// Returns for each reached nonterminal those that it derives alone.
fn derives_alone(
    grammar: &Grammar,
    reached: &[bool],
    alive: impl Fn(&Production) -> bool,
) -> Vec<Vec<usize>> {
    let nullable = nullable(grammar);
    let mut alone = vec![Vec::new(); grammar.nonterminals.len()];
    for production in
        grammar.productions.iter().filter(|production| reached[production.lhs.index()])
    {
        if !alive(production) {
            continue;
        }
        let solid = |symbol: &&Symbol| match symbol {
            Symbol::Terminal(_) => true,
            Symbol::Nonterminal(nonterminal) => !nullable[nonterminal.index()],
        };
        let mut solids = production.rhs.iter().filter(solid);
        let lhs: &mut Vec<usize> = &mut alone[production.lhs.index()];
        match (solids.next(), solids.next()) {
            // All symbols but one can derive the empty text.
            (None, _) => lhs.extend(production.rhs.iter().filter_map(nonterminal)),
            (Some(only), None) => lhs.extend(nonterminal(only)),
            _ => {}
        }
    }
    // `a: a a |` derives itself through either symbol, which is one cycle.
    for inner in &mut alone {
        let mut seen = hashbrown::HashSet::new();
        inner.retain(|&nonterminal| seen.insert(nonterminal));
    }
    alone
}

fn nonterminal(symbol: &Symbol) -> Option<usize> {
    match symbol {
        Symbol::Terminal(_) => None,
        Symbol::Nonterminal(nonterminal) => Some(nonterminal.index()),
    }
}
