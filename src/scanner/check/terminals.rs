//! Checks of single terminals: labels that never win, words that other terminals cover.

use super::scan_graph::ScanGraph;
use crate::grammar::ir::{Conflicts, Grammar, LexerKind, Terminal};
use crate::grammar::pattern::Pattern;
use crate::scanner::Lexis;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::TerminalId;

/// Finds terminals that others shadow, and plain strings that a pattern covers.
pub(super) fn check_labels(
    grammar: &Grammar,
    lexis: &Lexis,
    scan_graph: &ScanGraph,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (index, terminal) in grammar.terminals.iter().enumerate() {
        let id = TerminalId::new(index);
        let Some(dfa) = lexis.states().dfa(id) else { continue };
        // A terminal without a place was made by a program, which knows where it is possible; so
        // was each terminal of a grammar that was written without terminals.
        if terminal.place.is_none() || grammar.conflicts == Conflicts::Silent {
            continue;
        }
        if scan_graph.is_label(id) || lexis.lookaheads.is_other(id) {
            continue;
        }
        let text = dfa.shortest();
        let shown = String::from_utf8_lossy(&text).into_owned();
        let winner =
            scan_graph.winner(lexis, &text).map(|winner| &grammar.terminals[winner.index()]);
        let winner = winner.map_or_else(|| "another terminal".to_owned(), Terminal::shown);
        let shadowed = terminal.shown();
        let higher = match (terminal.name.starts_with("__"), &terminal.place) {
            (true, _) => "give it a name and a priority (`NAME.2: ...`)".to_owned(),
            (false, Some(place)) if place.source.starts_with('<') => {
                format!("define it in this file with a priority (`{}.2: ...`)", terminal.name)
            }
            (false, _) => format!("give it a higher priority (`{}.2: ...`)", terminal.name),
        };
        let (message, help) = match grammar.lexer {
            LexerKind::Basic => (
                format!(
                    "no text is ever read as {shadowed}: {winner} takes all texts that it \
                     matches, so alternatives that need it are dead"
                ),
                format!("{higher}, or remove it"),
            ),
            LexerKind::Contextual => (
                format!(
                    "no text is ever read as {shadowed} where {winner} is possible: {winner} \
                     matches it too and is preferred"
                ),
                format!(
                    "write `%match all` if such a text may be either, or {higher} if it should be \
                     preferred"
                ),
            ),
        };
        findings.push(
            Diagnostic::warning("shadowed-terminal", message)
                .at(terminal.place.clone())
                .example(shown)
                .help(help),
        );
    }
    findings.extend(covered_words(grammar, lexis));
    findings
}

/// Returns the first of these, and how many more there are.
pub(super) fn listed(words: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = match words.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    words[..words.len().min(SHOWN)].join(" ") + &more
}

/// Returns whether a string may be a keyword. Punctuation is not, though a pattern for any text
/// matches it.
fn is_word_like(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(char::is_alphabetic)
        && chars.all(|c| c.is_alphanumeric() || "_-".contains(c))
}

/// Finds words that an identifier covers under the contextual lexer, which are reserved only if the
/// grammar says so.
pub(super) fn covered_words(grammar: &Grammar, lexis: &Lexis) -> Vec<Diagnostic> {
    if grammar.lexer == LexerKind::Basic || grammar.conflicts == Conflicts::Silent {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, terminal) in grammar.terminals.iter().enumerate() {
        let is_word = terminal.pattern.as_ref().is_none_or(Pattern::is_literal);
        if terminal.ignored || is_word || terminal.place.is_none() {
            continue;
        }
        let id = TerminalId::new(index);
        let Some(dfa) = lexis.states().dfa(id) else { continue };
        let is_free = |(word_index, word): &(usize, &Terminal)| {
            let declared = lexis.is_reserved_against(TerminalId::new(*word_index), id)
                || lexis.may_be_read_as(TerminalId::new(*word_index), id);
            let Some(Pattern::Literal { text, .. }) = &word.pattern else { return false };
            !declared && is_word_like(text) && dfa.matches(text.as_bytes())
        };
        let words: Vec<String> = (grammar.terminals.iter().enumerate().filter(is_free))
            .map(|(_, word)| word.shown())
            .collect();
        if !words.is_empty() {
            findings.push(
                Diagnostic::warning(
                    "unreserved-words",
                    format!(
                        "{} also matches words that are not reserved against it: {}",
                        terminal.shown(),
                        listed(&words)
                    ),
                )
                .at(terminal.place.clone())
                .help(match terminal.name.starts_with("__") {
                    true => "if they are keywords, give the pattern a name, as in `NAME: /.../`, \
                        and write \
                        `%reserved NAME`, or use `%lexer basic`"
                        .to_owned(),
                    false => format!(
                        "if they are keywords, write `%reserved {}`, or use `%lexer basic`",
                        terminal.name
                    ),
                }),
            );
        }
    }
    findings
}
