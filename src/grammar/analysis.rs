//! Structural analyses of a grammar: productive, reachable and cyclic rules; and trimming of the IR
//! to the part that its start symbol needs.
//!
//! Every analysis is a work list over counters or a depth-first search on an explicit stack: linear
//! in the size of the grammar, without recursion.

mod cycles;
mod project;

use std::sync::Arc;

use crate::grammar::derivable::{self, Ends};
use crate::grammar::ir::{Production, Symbol, Terminal};
use crate::grammar::{Grammar, GrammarError};
use crate::util::diagnostic::{self, Diagnostic, Severity};
use crate::util::id::{NonterminalId, TerminalId};

/// Selection of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// All.
    All,
    /// No warnings about rules that the start symbol does not reach: another start symbol was
    /// requested.
    Reached,
}

/// Returns the part of the grammar that `start` needs, or the reasons why it is invalid.
pub(crate) fn trim(
    untrimmed: &Arc<Grammar>,
    start: NonterminalId,
    report: Report,
) -> Result<Grammar, GrammarError> {
    let mut findings = untrimmed.warnings.clone();
    let without_lines = without_lines(untrimmed, start);
    let grammar = without_lines.as_ref().unwrap_or(untrimmed);

    let dead = dead_terminals(grammar);
    let productive = mark_derivable(grammar, |terminal| !dead[terminal.index()]);
    let ends = Ends::new(&grammar.requirements);
    let alive = |of: &Production| {
        ends.is_alive((of.lhs, &of.rhs), &productive, |terminal| !dead[terminal.index()])
    };
    let written = reachable(grammar, start, |_| true);
    report_unproductive(grammar, start, &written, &dead, &productive, &mut findings);
    report_dead_terminals(grammar, &written, &dead, &mut findings);

    let reached = reachable(grammar, start, alive);
    if report == Report::All {
        let mut wanted = written;
        for &other in &grammar.starts {
            let also = reachable(grammar, other, |_| true);
            wanted.iter_mut().zip(also).for_each(|(wanted, also)| *wanted |= also);
        }
        report_unreached(grammar, start, &wanted, &mut findings);
    }
    cycles::report(grammar, &reached, alive, &mut findings);

    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(GrammarError::new(diagnostic::fold(findings)));
    }
    // Several entry points lead into one language, with one set of words.
    let mut competing = reached.clone();
    for &other in grammar.starts.iter().filter(|_| grammar.starts.contains(&start)) {
        let also = reachable(grammar, other, alive);
        competing.iter_mut().zip(also).for_each(|(competing, also)| *competing |= also);
    }
    let mut trimmed = project::keep(grammar, start, &reached, &competing, alive);
    findings.extend(assumed_lines(&trimmed));
    trimmed.warnings = diagnostic::fold(findings);
    trimmed.untrimmed = Some(untrimmed.clone());
    Ok(trimmed)
}

/// Returns the grammar without its assumed indentation if `start` reaches no rule with a block.
fn without_lines(grammar: &Grammar, start: NonterminalId) -> Option<Grammar> {
    let assumed = grammar.indentation.as_ref().filter(|indentation| indentation.is_assumed)?;
    let indent = Symbol::Terminal(assumed.indent);
    let written = reachable(grammar, start, |_| true);
    let has_blocks = (grammar.productions.iter())
        .any(|production| written[production.lhs.index()] && production.rhs.contains(&indent));
    (!has_blocks).then(|| Grammar { indentation: None, ..grammar.clone() })
}

/// Warns about an assumed indentation.
fn assumed_lines(grammar: &Grammar) -> Option<Diagnostic> {
    let assumed = grammar.indentation.as_ref().filter(|indentation| indentation.is_assumed)?;
    let line = grammar.indent_line(assumed);
    let message = "there is no %indent, so indented blocks are read with the defaults of Lark's \
                   `Indenter`";
    Some(
        Diagnostic::warning("assumed-indent", message)
            .at(assumed.place.clone())
            .example(line)
            .help(
                "add this line; change its terminals, brackets or tab width if the program that \
                 reads the texts uses others",
            ),
    )
}

/// Returns the grammar reduced to reachable and productive rules, or `None` if the start symbol is
/// unproductive.
pub(crate) fn keep_productive(grammar: &Grammar) -> Option<Grammar> {
    let dead = dead_terminals(grammar);
    let productive = mark_derivable(grammar, |terminal| !dead[terminal.index()]);
    let ends = Ends::new(&grammar.requirements);
    let alive = |of: &Production| {
        ends.is_alive((of.lhs, &of.rhs), &productive, |terminal| !dead[terminal.index()])
    };
    let reached = reachable(grammar, grammar.start, alive);
    productive[grammar.start.index()]
        .then(|| project::keep(grammar, grammar.start, &reached, &reached, alive))
}

/// Whether every nonterminal derives some text.
pub(crate) fn is_productive(grammar: &Grammar) -> bool {
    let dead = dead_terminals(grammar);
    mark_derivable(grammar, |terminal| !dead[terminal.index()]).into_iter().all(|derives| derives)
}

/// Marks the nonterminals that derive a sequence of terminals that all pass `allowed`.
pub(crate) fn mark_derivable(grammar: &Grammar, allowed: impl Fn(TerminalId) -> bool) -> Vec<bool> {
    let productions = grammar.productions.iter().map(|of| (of.lhs, &of.rhs[..]));
    derivable::derivable(grammar.nonterminals.len(), productions, &grammar.requirements, allowed)
}

/// Marks the nonterminals that derive the empty text.
fn nullable(grammar: &Grammar) -> Vec<bool> {
    mark_derivable(grammar, |_| false)
}

/// Marks the nonterminals that `start` reaches through productions that pass `through`.
fn reachable(
    grammar: &Grammar,
    start: NonterminalId,
    through: impl Fn(&Production) -> bool,
) -> Vec<bool> {
    let mut reached = vec![false; grammar.nonterminals.len()];
    reached[start.index()] = true;
    let mut queue = vec![start];
    while let Some(nonterminal) = queue.pop() {
        for production in &grammar.nonterminals[nonterminal.index()].productions {
            let production = &grammar.productions[production.index()];
            if !through(production) {
                continue;
            }
            for symbol in &production.rhs {
                if let Symbol::Nonterminal(next) = symbol
                    && !std::mem::replace(&mut reached[next.index()], true)
                {
                    queue.push(*next);
                }
            }
        }
    }
    reached
}

/// Marks the terminals that the parser never sees: declared ones that no word becomes and no line
/// start produces, and ignored ones.
fn dead_terminals(grammar: &Grammar) -> Vec<bool> {
    let terminals = &grammar.terminals;
    let mut dead: Vec<bool> =
        terminals.iter().map(|terminal| terminal.pattern.is_none() || terminal.ignored).collect();
    for word in terminals.iter().filter(|word| word.pattern.is_some() && !word.ignored) {
        if let Some(lookahead) = &word.lookahead {
            dead[lookahead.other.index()] = terminals[lookahead.other.index()].ignored;
        }
    }
    // A lexeme that is cut off has the text of its original terminal instead of one of its own.
    for budget in terminals
        .iter()
        .filter(|terminal| terminal.pattern.is_some())
        .filter_map(|t| t.budget.as_ref())
    {
        budget.cuts.iter().for_each(|cut| dead[cut.index()] = false);
    }
    if let Some(indentation) = &grammar.indentation {
        dead[indentation.indent.index()] = false;
        dead[indentation.dedent.index()] = false;
    }
    dead
}

/// Whether this nonterminal was made by the lowering.
fn is_helper(grammar: &Grammar, nonterminal: usize) -> bool {
    grammar.nonterminals[nonterminal].name.starts_with("__")
}

/// Reports unproductive rules. Alternatives with one are dropped; if the start symbol is
/// unproductive, nothing is left.
fn report_unproductive(
    grammar: &Grammar,
    start: NonterminalId,
    written: &[bool],
    dead: &[bool],
    productive: &[bool],
    findings: &mut Vec<Diagnostic>,
) {
    let unproductive: Vec<usize> = (0..written.len())
        .filter(|&nonterminal| written[nonterminal] && !productive[nonterminal])
        .collect();
    let rules: Vec<usize> = unproductive
        .iter()
        .copied()
        .filter(|&nonterminal| !is_helper(grammar, nonterminal))
        .collect();
    let reported = if rules.is_empty() { unproductive } else { rules };
    for &nonterminal in &reported {
        let name = grammar.nonterminals[nonterminal].shown();
        let message = if nonterminal == start.index() {
            format!("the start symbol `{name}` derives no text")
        } else {
            format!("rule `{name}` derives no text; alternatives that need it are left out")
        };
        let (reason, help) = why_unproductive(grammar, nonterminal, dead, productive);
        let finding = match productive[start.index()] {
            true => Diagnostic::warning("unproductive", message),
            false => Diagnostic::error("unproductive", message),
        };
        let place = grammar.nonterminals[nonterminal].place.clone();
        findings.push(finding.at(place).example(reason).help(help));
    }
}

/// Returns the chain of needs from an unproductive nonterminal to itself or to a dead terminal.
fn why_unproductive(
    grammar: &Grammar,
    nonterminal: usize,
    dead: &[bool],
    productive: &[bool],
) -> (String, &'static str) {
    let mut path = vec![nonterminal];
    loop {
        let last = path[path.len() - 1];
        let Some(production) = grammar.nonterminals[last].productions.first() else {
            let name = grammar.nonterminals[last].shown();
            return (format!("`{name}` has no alternatives"), "add an alternative");
        };
        let rhs = &grammar.productions[production.index()].rhs;
        let needs = |symbols: &str| {
            let names =
                path.iter().map(|&on_path| format!("`{}`", grammar.nonterminals[on_path].shown()));
            format!("{} needs {symbols}", names.collect::<Vec<_>>().join(" needs "))
        };
        let missing = rhs.iter().find(|symbol| match symbol {
            Symbol::Terminal(terminal) => dead[terminal.index()],
            Symbol::Nonterminal(next) => !productive[next.index()],
        });
        match missing {
            Some(Symbol::Terminal(terminal)) => {
                let terminal = &grammar.terminals[terminal.index()];
                let (why, help) = never_comes(terminal);
                return (needs(&format!("`{}`, which is {why}", terminal.shown())), help);
            }
            Some(Symbol::Nonterminal(next)) => {
                let next = next.index();
                if path.contains(&next) || path.len() >= 20 {
                    let name = grammar.nonterminals[next].shown();
                    return (
                        needs(&format!("`{name}`, and so on without end")),
                        "add an alternative that ends the recursion",
                    );
                }
                path.push(next);
            }
            None => {
                return (
                    needs("nothing that is missing"),
                    "add an alternative that ends the recursion",
                );
            }
        }
    }
}

/// Explains why no text produces this terminal, with help.
fn never_comes(terminal: &Terminal) -> (&'static str, &'static str) {
    if terminal.ignored {
        return (
            "ignored",
            "remove it from the rule, or do not ignore it and name it in every rule where it may \
             occur",
        );
    }
    (
        "only declared",
        "use it in `%indent NEWLINE INDENT DEDENT` (indented blocks) or `%lookahead` (a word), \
         give it a pattern, or remove it from the rule",
    )
}

/// Returns the production as an example.
fn shown(grammar: &Grammar, production: &Production) -> String {
    let name = |symbol: &Symbol| match symbol {
        Symbol::Terminal(terminal) => grammar.terminals[terminal.index()].shown(),
        Symbol::Nonterminal(nonterminal) => {
            grammar.nonterminals[nonterminal.index()].shown().into_owned()
        }
    };
    let symbols: Vec<String> = production.rhs.iter().map(name).collect();
    format!("{}: {}", grammar.nonterminals[production.lhs.index()].shown(), symbols.join(" "))
}

/// Warns once for each dead terminal in a reached production.
fn report_dead_terminals(
    grammar: &Grammar,
    written: &[bool],
    dead: &[bool],
    findings: &mut Vec<Diagnostic>,
) {
    let mut reported = vec![false; grammar.terminals.len()];
    for production in
        grammar.productions.iter().filter(|production| written[production.lhs.index()])
    {
        for symbol in &production.rhs {
            let Symbol::Terminal(terminal) = symbol else { continue };
            if dead[terminal.index()] && !std::mem::replace(&mut reported[terminal.index()], true) {
                let terminal = &grammar.terminals[terminal.index()];
                let (why, help) = never_comes(terminal);
                let message = format!(
                    "`{}` is {why} and never reaches the parser; alternatives that need it are \
                     left out",
                    terminal.shown()
                );
                findings.push(
                    Diagnostic::warning("dead-alternative", message)
                        .at(production.place.clone())
                        .example(shown(grammar, production))
                        .help(help),
                );
            }
        }
    }
}

fn report_unreached(
    grammar: &Grammar,
    start: NonterminalId,
    written: &[bool],
    findings: &mut Vec<Diagnostic>,
) {
    let mut users: Vec<Vec<NonterminalId>> = vec![Vec::new(); grammar.nonterminals.len()];
    for production in &grammar.productions {
        for symbol in &production.rhs {
            if let Symbol::Nonterminal(used) = symbol
                && *used != production.lhs
                && !users[used.index()].contains(&production.lhs)
                && users[used.index()].len() < 8
            {
                users[used.index()].push(production.lhs);
            }
        }
    }
    let name = |nonterminal: usize| &grammar.nonterminals[nonterminal].name;
    let help = "remove it, use it in a rule that is reachable, or make it a start rule with \
                `%start`";
    for (i, nonterminal) in grammar.nonterminals.iter().enumerate() {
        if written[i] || is_helper(grammar, i) || nonterminal.place.is_none() {
            continue;
        }
        let finding = if users[i].is_empty() {
            Diagnostic::warning(
                "unused-rule",
                format!("rule `{}` is not used and is left out", name(i)),
            )
        } else {
            let (start, rule) = (name(start.index()), name(i));
            let message = format!(
                "rule `{rule}` is not reachable from the start symbol `{start}` and is left out"
            );
            let users =
                users[i].iter().map(|user| user.index()).filter(|&user| !is_helper(grammar, user));
            let users: Vec<String> =
                users.take(3).map(|user| format!("`{}`", name(user))).collect();
            let finding = Diagnostic::warning("unreachable", message);
            match users.is_empty() {
                true => finding,
                false => finding.example(format!(
                    "used in {}, which the start symbol does not reach either",
                    users.join(", ")
                )),
            }
        };
        findings.push(finding.at(nonterminal.place.clone()).help(help));
    }
}
