//! The check of a grammar: is a text viable whenever the engine says so?
//!
//! The engine calls a text viable when the lexeme in progress can become a terminal that the stack can shift.
//! That is exact only if every stack so reached can be completed, by lexemes that longest match lets stand side
//! by side, and if what is still open about earlier lexemes gets settled. The passes, in order:
//!
//! * [`terminals`]: no terminal matches the empty text; which ones are never a label; which words others cover;
//! * [`indentation`]: that blanks, brackets and blocks do not go their own way;
//! * [`universe`]: all that lexemes can come to;
//! * [`adjacency`]: which terminals can always be made to follow which others;
//! * [`succession`]: the same in the terms of the proof, with what words ask of the lexemes behind them;
//! * [`gates`]: which ignored terminals only some may follow;
//! * [`crate::lr::completable`]: with that, every stack can be completed (run only where it is in doubt);
//! * [`expectations`]: what a word asks of the lexemes behind it is settled within a bounded number of them;
//! * [`backup`]: how long a lexeme's end can stay open.

mod adjacency;
mod backup;
mod expectations;
mod gates;
mod indentation;
mod succession;
mod terminals;
mod universe;

use crate::grammar::ir::{Grammar, Symbol};
use crate::lr::completable::{Completability, prove_completable};
use crate::lr::table::ParseTable;
use crate::scanner::Scanner;
use crate::util::bitset::BitSet;
use crate::util::diagnostic::{Diagnostic, Severity};
use crate::util::id::CoreId;
use adjacency::Adjacency;
use succession::Lexemes;
use universe::Universe;

/// All findings about the lexemes of a grammar: errors where the engine could not be exact.
pub(crate) fn check(
    grammar: &Grammar,
    scanner: &Scanner,
    scan_states: usize,
    proof_steps: usize,
) -> Vec<Diagnostic> {
    let mut findings = terminals::check_texts(grammar, scanner);
    findings.extend(indentation::check(grammar, scanner));
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return findings;
    }
    let Some(universe) = Universe::explore(scanner, scan_states) else {
        findings.push(
            Diagnostic::error(
                "scanner-too-large",
                format!("the terminals together need more than {scan_states} scan states"),
            )
            .help("shorten counted repetitions, or split long terminals into rules"),
        );
        return findings;
    };
    findings.extend(terminals::check_labels(grammar, scanner, &universe));
    if grammar.indentation.is_some() && !scanner.lookaheads.is_empty() {
        findings.push(indentation::among_words(grammar));
        return findings;
    }
    let adjacency = Adjacency::new(grammar, scanner, &universe);
    scanner.set_gates(adjacency.gates().to_vec());
    if let Some(ignored) = adjacency.unending(grammar) {
        findings.push(indentation::unending(grammar, ignored));
    }
    findings.extend(indentation::check_limit(grammar, scanner, adjacency.is_total(scanner.table())));
    findings.extend(check_completability(grammar, scanner, &adjacency, proof_steps));
    findings.extend(expectations::check(grammar, scanner, &adjacency, scan_states, proof_steps));
    if !findings.iter().any(|finding| finding.severity == Severity::Error) {
        findings.extend(backup::check(grammar, scanner, &universe, &adjacency, scan_states));
    }
    findings
}

/// Proves that whatever is reached can be completed; silent when it is so.
fn check_completability(
    grammar: &Grammar,
    scanner: &Scanner,
    adjacency: &Adjacency,
    proof_steps: usize,
) -> Option<Diagnostic> {
    let table = scanner.table();
    if scanner.lookaheads.is_empty() && adjacency.is_total(table) && !table.has_settled_conflicts() {
        // Every cell of the tables is really there, so the completion that the items promise exists.
        return None;
    }
    match prove_completable(table, &Lexemes { grammar, scanner, adjacency }, proof_steps) {
        Completability::Proved => None,
        Completability::TooLarge => Some(
            Diagnostic::error(
                "unproved",
                format!("the proof that every text can be completed takes more than {proof_steps} steps"),
            )
            .help("let an ignored terminal (white space) stand between lexemes, or do without precedence"),
        ),
        Completability::Stuck(symbols, ignored) => {
            let name = |symbol: &Symbol| match symbol {
                Symbol::Terminal(terminal) => grammar.terminals[terminal.index()].name.clone(),
                Symbol::Nonterminal(nonterminal) => grammar.nonterminals[nonterminal.index()].name.clone(),
            };
            let behind = ignored.map(Symbol::Terminal);
            let path: Vec<String> = symbols.iter().chain(&behind).map(name).collect();
            let last = ignored.or_else(|| {
                symbols.iter().rev().find_map(|symbol| match symbol {
                    Symbol::Terminal(terminal) => Some(*terminal),
                    Symbol::Nonterminal(_) => None,
                })
            });
            let place = last.and_then(|terminal| grammar.terminals[terminal.index()].place.clone());
            let mut text = path.join(" ");
            if let Some(example) = last.and_then(|terminal| adjacency.example(scanner, grammar, terminal)) {
                text = format!("{text}\n{example}");
            }
            Some(
                Diagnostic::error("dead-end", "after these symbols nothing can be sure to follow, because lexemes run into one another or precedence removed the way on")
                    .at(place)
                    .example(text)
                    .help("let an ignored terminal (white space) stand between the lexemes, or make the first one end on a character that the next cannot begin with"),
            )
        }
    }
}

/// By terminal, what the tables let follow it, `$` included.
fn rows(table: &ParseTable) -> Vec<BitSet> {
    let count = table.end().index();
    let mut rows = vec![BitSet::new(count + 1); count];
    for state in (0..table.state_count()).map(CoreId::new) {
        if let Some(Symbol::Terminal(terminal)) = table.accessing(state) {
            rows[terminal.index()].union_with(table.row(state));
        }
    }
    rows
}
