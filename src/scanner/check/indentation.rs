//! `%indent`: checks that the requirements of lines on a text can always be met.
//!
//! Line starts add a second stack to the parser's, the widths of the open blocks, and a counter of
//! open brackets. Whether two stacks can be emptied together is undecidable in general, so the
//! grammar must keep them in step: each alternative has a DEDENT after each INDENT that it opens,
//! and a closing bracket after each opening one. Then the open blocks are exactly those INDENT
//! whose DEDENT the parse stack waits for, and the remaining question is which terminals may be
//! adjacent ([`super::adjacency`]), which is finite again.
//!
//! Lexemes must meet two requirements: any number of blanks at the beginning of a line forms
//! ignored lexemes, whatever follows, so that every width can be written; and line ends contain no
//! blanks.

use crate::grammar::inline_unbalanced;
use crate::grammar::ir::{self, Grammar, Symbol, Terminal};
use crate::grammar::specialize_in_brackets;
use crate::lexer::Dfa;
use crate::scanner::lines::BLANKS;
use crate::scanner::{Lexis, Reads};
use crate::util::bitset::BitSet;
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{ScanStateId, TerminalId};

/// Returns all findings about the directive; none if the grammar has no such directive.
pub(super) fn check(grammar: &Grammar, lexis: &Lexis) -> Vec<Diagnostic> {
    let Some(directive) = &grammar.indentation else { return Vec::new() };
    let mut findings = check_roles(grammar, directive);
    if findings.is_empty() {
        findings.extend(check_balance(grammar, directive));
        findings.extend(check_brackets(grammar, directive));
        findings.extend(check_lexemes(grammar, lexis, directive));
        findings.extend(check_blanks(grammar, lexis, directive));
        findings.extend(check_conditions(grammar, lexis, directive));
        findings.extend(check_past(grammar, lexis));
    }
    if directive.is_assumed {
        findings.iter_mut().for_each(say_that_it_is_assumed);
    }
    findings
}

/// Adds that the remedy may be to write a directive, if none defines the meaning of lines.
fn say_that_it_is_assumed(finding: &mut Diagnostic) {
    let help = finding.help.get_or_insert_default();
    help.push_str(
        "; or add a directive if lines do not follow the defaults of Lark's `Indenter`: `%indent \
         NEWLINE INDENT DEDENT open \"(\" close \")\"`",
    );
}

/// Checks each terminal of the directive for its role.
fn check_roles(grammar: &Grammar, directive: &ir::Indentation<TerminalId>) -> Vec<Diagnostic> {
    let terminal = |id: TerminalId| &grammar.terminals[id.index()];
    let mut findings = Vec::new();
    let mut refuse = |id: TerminalId, what: &str, help: &str| {
        let message = format!("{} cannot have its role in %indent: {what}", terminal(id).name);
        findings
            .push(Diagnostic::error("bad-indent", message).at(directive.place.clone()).help(help));
    };
    for id in [directive.indent, directive.dedent] {
        if terminal(id).pattern.is_some() {
            refuse(
                id,
                "it has a pattern",
                "declare it without a pattern: `%declare INDENT DEDENT`",
            );
        }
    }
    if terminal(directive.newline).pattern.is_none() || terminal(directive.newline).ignored {
        let help = "define it as the line end, `NEWLINE: /\\r\\n|\\r|\\n/`, and do not ignore it";
        refuse(
            directive.newline,
            "it ends lines, so it must have a pattern and must not be \
                                   ignored",
            help,
        );
    }
    if let Some(join) = directive.join
        && !terminal(join).ignored
    {
        refuse(
            join,
            "it joins lines, so it must be ignored",
            "add a line with `%ignore` and its \
                                                               name",
        );
    }
    let own = [directive.newline, directive.indent, directive.dedent];
    let twice = (0..3).find(|&at| own[..at].contains(&own[at])).map(|at| own[at]);
    let brackets = directive.open.iter().chain(&directive.close);
    if let Some(id) = twice.or_else(|| brackets.copied().find(|bracket| own.contains(bracket))) {
        refuse(id, "it has two roles", "use a terminal for one role only");
    }
    findings
}

/// Checks that each alternative closes what it opens.
fn check_balance(grammar: &Grammar, directive: &ir::Indentation<TerminalId>) -> Vec<Diagnostic> {
    let blocks = (std::slice::from_ref(&directive.indent), std::slice::from_ref(&directive.dedent));
    let brackets = (directive.open.as_slice(), directive.close.as_slice());
    let mut findings = Vec::new();
    for production in &grammar.productions {
        for (code, (open, close)) in
            [("unbalanced-blocks", blocks), ("unbalanced-brackets", brackets)]
        {
            let depth = inline_unbalanced::depth_behind(&production.rhs, open, close);
            // A repetition makes several productions of one place in the file.
            let is_known =
                |finding: &Diagnostic| finding.place.is_some() && finding.place == production.place;
            if depth != Some(0) && !findings.iter().any(is_known) {
                let name = grammar.nonterminals[production.lhs.index()].shown();
                let message = format!(
                    "an alternative of `{name}` is not balanced: it opens without closing, or \
                     closes without opening"
                );
                findings.push(
                    Diagnostic::error(code, message)
                        .at(production.place.clone())
                        .example(shown(grammar, &production.rhs))
                        .help(
                            "open and close in the same alternative: `block: NEWLINE INDENT line+ \
                             DEDENT`",
                        ),
                );
            }
        }
    }
    findings
}

/// Checks that no line is required between brackets. Rules that can do without lines have been
/// rewritten ([`specialize_in_brackets`]).
fn check_brackets(
    grammar: &Grammar,
    directive: &ir::Indentation<TerminalId>,
) -> Option<Diagnostic> {
    let own = [directive.newline, directive.indent, directive.dedent];
    let holds = specialize_in_brackets::holding_lines(grammar, directive);
    let is_line = |symbol: Symbol| match symbol {
        Symbol::Terminal(terminal) => own.contains(&terminal),
        Symbol::Nonterminal(nonterminal) => holds[nonterminal.index()],
    };
    grammar.productions.iter().find_map(|production| {
        let mut symbols = specialize_in_brackets::with_depth(&production.rhs, directive);
        let (symbol, _) = symbols.find(|&(symbol, depth)| depth > 0 && is_line(symbol))?;
        let name = grammar.symbol_name(symbol);
        let message = format!(
            "`{name}` needs a line end but is used inside brackets, where line ends are ignored"
        );
        Some(
            Diagnostic::error("line-in-brackets", message)
                .at(production.place.clone())
                .example(shown(grammar, &production.rhs))
                .help("use a rule without line ends inside brackets"),
        )
    })
}

/// Checks that the first lexeme of a line does not begin with a blank, and that line ends contain
/// none.
fn check_lexemes(
    grammar: &Grammar,
    lexis: &Lexis,
    directive: &ir::Indentation<TerminalId>,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let newline = &grammar.terminals[directive.newline.index()];
    let dfa = |terminal: usize| lexis.states().dfa(TerminalId::new(terminal));
    if dfa(directive.newline.index()).is_some_and(|dfa| BLANKS.iter().any(|&blank| dfa.uses(blank)))
    {
        findings.push(
            Diagnostic::error(
                "newline-with-blanks",
                format!("line end {} also matches blanks", newline.name),
            )
            .at(newline.place.clone())
            .help(
                "let it match only the line end; the width of the blanks after it is the \
                 indentation",
            ),
        );
    }
    let first = lexis.first_of_lines();
    if let Some(terminal) =
        first.iter().map(|first| &grammar.terminals[first]).find(|terminal| terminal.exclusive)
    {
        let message = format!("exclusive terminal {} may begin a line", terminal.name);
        findings.push(
            Diagnostic::error("exclusive-begins-line", message).at(terminal.place.clone()).help(
                "put an ordinary terminal before it: blanks before an exclusive terminal \
                       are not ignored",
            ),
        );
    }
    for (index, terminal) in grammar.terminals.iter().enumerate() {
        let fallback = terminal.fallback.iter().map(|fallback| &fallback.terminal);
        let instead = fallback.chain(&terminal.meant).any(|other| first.contains(other.index()));
        let begins =
            |dfa: &Dfa| BLANKS.iter().any(|&blank| dfa.next(dfa.start(), blank) != Dfa::DEAD);
        if !terminal.ignored && (first.contains(index) || instead) && dfa(index).is_some_and(begins)
        {
            let message = format!("{} may begin a line with a blank", terminal.name);
            findings.push(
                Diagnostic::error("blank-begins-line", message)
                    .at(terminal.place.clone())
                    .help("let only ignored terminals match the blanks at the beginning of a line"),
            );
        }
    }
    findings
}

/// Checks that no condition on the following text reaches into the next line. A line can be
/// restarted with other blanks, and every decision about widths relies on that.
fn check_conditions(
    grammar: &Grammar,
    lexis: &Lexis,
    directive: &ir::Indentation<TerminalId>,
) -> Vec<Diagnostic> {
    let dfa = |terminal: TerminalId| lexis.states().dfa(terminal);
    let mut findings = Vec::new();
    for (index, terminal) in grammar.terminals.iter().enumerate() {
        let id = TerminalId::new(index);
        let conditions = dfa(id).map_or(&[][..], Dfa::conditions);
        let mut automata =
            conditions.iter().flat_map(|condition| [&condition.holds, &condition.fails]);
        let between_lines = terminal.ignored || id == directive.newline;
        let outlives =
            |automaton: &Dfa| dfa(directive.newline).is_some_and(|line| outlives(automaton, line));
        if between_lines && !conditions.is_empty() || automata.any(outlives) {
            let message = format!(
                "{} looks ahead into the next line, which %indent does not allow",
                terminal.name
            );
            findings.push(
                Diagnostic::error("indent-with-look-ahead", message)
                    .at(terminal.place.clone())
                    .help(
                        "let the look-ahead end with the line; an ignored terminal or a line end \
                         must not look ahead",
                    ),
            );
        }
    }
    findings
}

/// Checks that no terminal looks at the text before it, for the same reason.
fn check_past(grammar: &Grammar, lexis: &Lexis) -> Vec<Diagnostic> {
    let looks = |(terminal, dfa): (&Terminal, &Option<Dfa>)| {
        let finding = |_: &Dfa| {
            let name = terminal.shown();
            let message =
                format!("{name} looks at the text before it, which %indent does not allow");
            Diagnostic::error("indent-with-look-behind", message).at(terminal.place.clone()).help(
                "remove the `\\b`, `^` or look-behind at the beginning of its pattern: the rules \
                 define the text before it",
            )
        };
        dfa.as_ref().filter(|dfa| dfa.looks_behind()).map(finding)
    };
    grammar.terminals.iter().zip(lexis.states().dfas()).filter_map(looks).collect()
}

/// Returns whether `condition` is still undecided after some text of `line`.
fn outlives(condition: &Dfa, line: &Dfa) -> bool {
    let mut met = vec![(condition.start(), line.start())];
    let mut at = 0;
    while let Some(&(open, end)) = met.get(at) {
        at += 1;
        for byte in 0..=255 {
            let next = (condition.next(open, byte), line.next(end, byte));
            if next.0 == Dfa::DEAD || next.1 == Dfa::DEAD || condition.is_accept(next.0) {
                continue;
            }
            if line.is_accept(next.1) {
                return true;
            }
            if !met.contains(&next) {
                met.push(next);
            }
        }
    }
    false
}

/// Checks that any number of blanks can be read at the beginning of a line.
fn check_blanks(
    grammar: &Grammar,
    lexis: &Lexis,
    directive: &ir::Indentation<TerminalId>,
) -> Option<Diagnostic> {
    let indented = grammar
        .productions
        .iter()
        .any(|production| production.rhs.contains(&Symbol::Terminal(directive.indent)));
    let readable = blank_states(lexis);
    let space = lexis.states().next(line_start(lexis), b' ').is_some();
    if readable.is_some() && (space || !indented) {
        return None;
    }
    Some(
        Diagnostic::error(
            "unreadable-blanks",
            "blanks at the beginning of a line are not ignored in every number",
        )
        .at(directive.place.clone())
        .example("\" \" \"  \" \"   \"")
        .help("ignore them all: `%ignore /[ \\t\\f]+/`"),
    )
}

/// Checks a limit on open blocks. The limit removes continuations that the parser has, and the
/// remaining ones are found item by item, so every item must be possible: `total` says that lexemes
/// do not prevent any.
pub(super) fn check_limit(grammar: &Grammar, lexis: &Lexis, total: bool) -> Option<Diagnostic> {
    let directive = grammar.indentation.as_ref().filter(|directive| directive.levels.is_some())?;
    let (message, help) = if !total || lexis.table().has_settled_conflicts() {
        (
            "`levels` is not supported with precedence, or where lexemes run into one another",
            "remove `levels`, or replace precedence by rules",
        )
    } else if lexis.has_room_at_all(&mut Reads::none()) {
        return None;
    } else {
        ("every text opens more blocks than `levels` allows", "raise `levels`")
    };
    Some(Diagnostic::error("level-limit", message).at(directive.place.clone()).help(help))
}

/// Returns the finding that a text whose lines count has `%lookahead` words.
pub(super) fn among_words(grammar: &Grammar) -> Diagnostic {
    let place = grammar.indentation.as_ref().and_then(|directive| directive.place.clone());
    Diagnostic::error(
        "indent-with-lookahead",
        "%indent and %lookahead cannot be combined in one grammar",
    )
    .at(place)
    .help("distinguish the word with rules or `%soft` instead")
}

/// Returns the finding that no line end may follow an ignored terminal.
pub(super) fn unending(grammar: &Grammar, ignored: TerminalId) -> Diagnostic {
    let terminal = &grammar.terminals[ignored.index()];
    let message = format!("ignored terminal {} may leave no line end after it", terminal.name);
    Diagnostic::error("unending-line", message)
        .at(terminal.place.clone())
        .help("let it end before the line end, or include the line end")
}

/// Returns the scan state where lexemes at the beginning of lines start, among all terminals that
/// may appear there.
fn line_start(lexis: &Lexis) -> ScanStateId {
    lexis.states().start(&lexis.candidates(&lexis.first_of_lines()))
}

/// Returns the scan states in which blanks at the beginning of a line end; `None` if some blanks
/// are not an ignored lexeme.
pub(super) fn blank_states(lexis: &Lexis) -> Option<Vec<ScanStateId>> {
    let scan = lexis.states();
    let mut met = vec![line_start(lexis)];
    let mut at = 0;
    while let Some(&state) = met.get(at) {
        at += 1;
        for next in BLANKS.iter().filter_map(|&blank| scan.next(state, blank)) {
            if !scan.label(next).is_some_and(|label| lexis.is_ignored(label)) {
                return None;
            }
            if !met.contains(&next) {
                met.push(next);
            }
        }
    }
    Some(met.split_off(1))
}

impl Lexis {
    /// Returns the terminals that the tables allow first in a line, and NEWLINE.
    fn first_of_lines(&self) -> BitSet {
        let Some(indentation) = self.indentation() else {
            return BitSet::new(self.states().dfas().len() + 1);
        };
        let mut first = indentation.openers.clone();
        first.remove(self.table().end().index());
        first.insert(indentation.newline.index());
        first
    }
}

fn shown(grammar: &Grammar, symbols: &[Symbol]) -> String {
    symbols.iter().map(|symbol| grammar.symbol_name(*symbol)).collect::<Vec<_>>().join(" ")
}
