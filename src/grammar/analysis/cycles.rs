//! Nonterminals that derive themselves and nothing else (`a: a`, or `a: b c?`, `b: a`): such a
//! grammar gives a text infinitely many parses.

use crate::grammar::Grammar;
use crate::grammar::analysis::nullable;
use crate::grammar::ir::{Conflicts, Production, Symbol};
use crate::util::diagnostic::Diagnostic;

/// Maximum number of reported cycles.
const MAX_REPORTED: usize = 20;

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Reports cycles among the reached nonterminals, each with its path.
pub(super) fn report(
    grammar: &Grammar,
    reached: &[bool],
    alive: impl Fn(&Production) -> bool,
    findings: &mut Vec<Diagnostic>,
) {
    let alone = derives_alone(grammar, reached, alive);
    let mut marks = vec![Mark::New; alone.len()];
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut reported = 0;
    for root in 0..alone.len() {
        if marks[root] == Mark::New {
            marks[root] = Mark::Open;
            path.push((root, 0));
        }
        while let Some((nonterminal, next)) = path.last_mut() {
            let Some(&inner) = alone[*nonterminal].get(*next) else {
                marks[*nonterminal] = Mark::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match marks[inner] {
                Mark::Done => {}
                Mark::New => {
                    marks[inner] = Mark::Open;
                    path.push((inner, 0));
                }
                Mark::Open if reported < MAX_REPORTED => {
                    reported += 1;
                    let start = path.iter().position(|&(on_path, _)| on_path == inner).unwrap_or(0);
                    let cycle = path[start..].iter().map(|&(on_path, _)| on_path).chain([inner]);
                    let cycle: Vec<String> = cycle
                        .map(|on_path| grammar.nonterminals[on_path].shown().into_owned())
                        .collect();
                    let message = format!(
                        "`{}` derives itself with no other symbol, so the grammar is \
                                 ambiguous",
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
                            .at(grammar.nonterminals[inner].place.clone())
                            .example(cycle.join(" -> "))
                            .help(
                                "remove the alternative that adds nothing; a repeated expression \
                                 must not match the empty text",
                            ),
                    );
                }
                Mark::Open => {}
            }
        }
    }
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
