//! Reads the directives, which define how words are read, operator precedence, and the start rules.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use crate::grammar::ir::{Associativity, Conflicts, Indentation, LexerKind, Matching, Precedence};
use crate::grammar::lower::Context;
use crate::grammar::lower::indenter;
use crate::grammar::lower::similar::did_you_mean;
use crate::grammar::lower::source::At;
use crate::grammar::lower::table::TerminalTable;
use crate::grammar::lower::tree::{Order, TerminalIndex, WordKey};
use crate::syntax::ast;
use crate::util::diagnostic::Diagnostic;

/// Settings made by the directives.
#[derive(Debug, Default)]
pub(crate) struct Directions {
    /// The rules that may start a text, the default one first; empty if none is given.
    pub(crate) starts: Vec<(String, At)>,
    pub(crate) lexer: Option<LexerKind>,
    pub(crate) matching: Option<Matching>,
    pub(crate) conflicts: Option<Conflicts>,
    /// Words, each with the terminal that it is reserved against.
    pub(crate) reserved: Vec<(TerminalIndex, TerminalIndex)>,
    /// Terminals of `%reserved` without words.
    pub(crate) covered: Vec<TerminalIndex>,
    /// Words, each with its fallback and whether that is soft.
    pub(crate) fallbacks: BTreeMap<TerminalIndex, (TerminalIndex, bool, At)>,
    /// Terminals of `%exclusive`: where one can be shifted, only what can be shifted there
    /// competes.
    pub(crate) exclusive: BTreeMap<TerminalIndex, At>,
    /// Words, each with the context that decides that they are themselves.
    pub(crate) lookaheads: BTreeMap<TerminalIndex, Lookahead>,
    /// `%llguidance`: whether ignored text may start the text.
    pub(crate) leading_ignored: Option<bool>,
    /// `%indent`.
    pub(crate) indentation: Option<Indentation<TerminalIndex>>,
    levels: HashMap<Level, Precedence>,
}

/// A `%lookahead`.
#[derive(Debug)]
pub(crate) struct Lookahead {
    pub(crate) other: TerminalIndex,
    pub(crate) after: Option<Vec<TerminalIndex>>,
    pub(crate) before: Vec<Vec<TerminalIndex>>,
    at: At,
}

/// Holder of a precedence: a terminal, or a name or string that is none and serves only `%prec`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Level {
    Terminal(TerminalIndex),
    Pseudo(WordKey),
}

impl Directions {
    /// Returns the precedence of a terminal.
    pub(crate) fn of_terminal(&self, terminal: TerminalIndex) -> Option<Precedence> {
        self.levels.get(&Level::Terminal(terminal)).copied()
    }

    /// Returns the precedence that `%prec` names.
    pub(crate) fn of_word(
        &self,
        word: &WordKey,
        names: &HashMap<String, TerminalIndex>,
        table: &TerminalTable<'_>,
    ) -> Option<Precedence> {
        self.levels.get(&level(word, names, table)).copied()
    }
}

/// Reads the directives.
///
/// AFTER THIS: every word that a directive names is a terminal, except those with only a
/// precedence.
pub(crate) fn direct(
    context: &mut Context,
    directives: &[(ast::Directive, At)],
    names: &HashMap<String, TerminalIndex>,
    table: &mut TerminalTable<'_>,
) -> Directions {
    let mut reader = DirectiveReader { context, names, table, directions: Directions::default() };
    let mut level = 0;
    for (directive, at) in directives {
        match directive {
            ast::Directive::Options(options) => reader.options(options, *at),
            ast::Directive::Start(names) => reader.start(names, *at),
            ast::Directive::Lexer(name) => reader.lexer(name, *at),
            ast::Directive::Match(name) => reader.matching(name, *at),
            ast::Directive::Conflicts(name) => reader.conflicts(name, *at),
            ast::Directive::Reserved { against, words } => reader.reserved(against, words, *at),
            ast::Directive::Fallback { to, words } => reader.fallback(to, words, false, *at),
            ast::Directive::Soft { to, words } => reader.fallback(to, words, true, *at),
            ast::Directive::Exclusive(words) => reader.exclusive(words, *at),
            ast::Directive::Lookahead { to, word, after, before } => {
                reader.lookahead(to, word, after.as_deref(), before, *at);
            }
            ast::Directive::Precedence { associativity, words } => {
                level += 1;
                reader.precedence(level, *associativity, words, *at);
            }
            ast::Directive::Indent { newline, indent, dedent, clauses } => {
                reader.indentation([newline, indent, dedent], clauses, *at);
            }
        }
    }
    reader.contradictions();
    if reader.directions.indentation.is_none() {
        reader.directions.indentation = indenter::assumed(reader.context, names, reader.table);
    }
    reader.directions
}

fn level(
    word: &WordKey,
    names: &HashMap<String, TerminalIndex>,
    table: &TerminalTable<'_>,
) -> Level {
    let terminal = match word {
        WordKey::Name(name) => names.get(name).copied(),
        WordKey::Leaf(leaf) => table.find(leaf),
    };
    terminal.map_or_else(|| Level::Pseudo(word.clone()), Level::Terminal)
}

struct DirectiveReader<'a, 'b> {
    context: &'a mut Context,
    names: &'a HashMap<String, TerminalIndex>,
    table: &'a mut TerminalTable<'b>,
    directions: Directions,
}

impl DirectiveReader<'_, '_> {
    fn error(&mut self, at: At, diagnostic: Diagnostic) {
        let place = self.context.sources.place(at);
        self.context.report(diagnostic.at(place));
    }

    fn options(&mut self, options: &ast::Options, at: At) {
        if options.allow_initial_skip.is_some() {
            self.directions.leading_ignored = options.allow_initial_skip;
        }
        if options.skip_once == Some(true) && options.allow_initial_skip == Some(true) {
            let message =
                "the option allow_initial_skip has no effect if skip_repetition is \"once\"";
            let help = "name the text to skip at the beginning of the rule `start`";
            self.error(at, Diagnostic::warning("option-without-effect", message).help(help));
        }
    }

    fn start(&mut self, names: &[ast::Spanned<String>], at: At) {
        if !self.directions.starts.is_empty() {
            let diagnostic = Diagnostic::error(
                "duplicate-directive",
                "there are two %start \
                                                                       directives",
            );
            self.error(
                at,
                diagnostic.help("name all start rules in one %start, the default first"),
            );
        } else {
            let starts = names.iter().map(|name| (name.node.clone(), at.with_span(&name.span)));
            self.directions.starts = starts.collect();
        }
    }

    fn lexer(&mut self, name: &ast::Spanned<String>, at: At) {
        let kinds = [("contextual", LexerKind::Contextual), ("basic", LexerKind::Basic)];
        self.directions.lexer = self.chosen("lexer", &kinds, self.directions.lexer, name, at);
    }

    fn matching(&mut self, name: &ast::Spanned<String>, at: At) {
        let ways = [
            ("longest", Matching::Longest),
            ("priority", Matching::Priority),
            ("all", Matching::All),
        ];
        self.directions.matching = self.chosen("match", &ways, self.directions.matching, name, at);
    }

    fn conflicts(&mut self, name: &ast::Spanned<String>, at: At) {
        let ways = [
            ("follow", Conflicts::Follow),
            ("refuse", Conflicts::Refuse),
            ("shift", Conflicts::Shift),
        ];
        self.directions.conflicts =
            self.chosen("conflicts", &ways, self.directions.conflicts, name, at);
    }

    /// Returns the value of a directive that `name` names, or the one `before` if it names none.
    /// The first of the values is the default.
    fn chosen<T: Copy + PartialEq>(
        &mut self,
        directive: &str,
        values: &[(&str, T)],
        before: Option<T>,
        name: &ast::Spanned<String>,
        at: At,
    ) -> Option<T> {
        let Some(&(_, value)) = values.iter().find(|(known, _)| *known == name.node) else {
            let message = format!("`{}` is not a value of %{directive}", name.node);
            let code = match directive {
                "lexer" => "unknown-lexer",
                "match" => "unknown-match",
                _ => "unknown-conflicts",
            };
            let names: Vec<String> =
                values.iter().map(|(known, _)| format!("`%{directive} {known}`")).collect();
            let help = format!("write {}; the first is the default", names.join(" or "));
            self.error(at.with_span(&name.span), Diagnostic::error(code, message).help(help));
            return before;
        };
        if before.is_some_and(|before| before != value) {
            let message = format!("two %{directive} directives contradict each other; keep one");
            self.error(at, Diagnostic::error("duplicate-directive", message));
        }
        Some(value)
    }

    fn reserved(&mut self, against: &ast::Word, words: &[ast::Word], at: At) {
        let Some(against) = self.word(against, at) else { return };
        if words.is_empty() && !self.directions.covered.contains(&against) {
            self.directions.covered.push(against);
        }
        for word in words {
            let Some(terminal) = self.word(word, at) else { continue };
            if terminal == against {
                self.against_itself(word, at);
            } else if !self.directions.reserved.contains(&(terminal, against)) {
                self.directions.reserved.push((terminal, against));
            }
        }
    }

    fn fallback(&mut self, to: &ast::Word, words: &[ast::Word], soft: bool, at: At) {
        let Some(to) = self.word(to, at) else { return };
        for word in words {
            let Some(terminal) = self.word(word, at) else { continue };
            if terminal == to {
                self.against_itself(word, at);
                continue;
            }
            let at = at.with_span(span(word));
            let fallback = (to, soft, at);
            let previous = self.directions.fallbacks.insert(terminal, fallback);
            if previous.is_some_and(|previous| previous != fallback) {
                let message =
                    format!("`{}` has two different fallbacks", self.table.name(terminal));
                self.error(at, Diagnostic::error("contradicting-words", message));
            }
        }
    }

    fn exclusive(&mut self, words: &[ast::Word], at: At) {
        for word in words {
            if let Some(terminal) = self.word(word, at) {
                self.directions.exclusive.insert(terminal, at.with_span(span(word)));
            }
        }
    }

    fn lookahead(
        &mut self,
        to: &ast::Word,
        word: &ast::Word,
        after: Option<&[ast::Word]>,
        before: &[Vec<ast::Word>],
        at: At,
    ) {
        let Some(other) = self.word(to, at) else { return };
        let Some(terminal) = self.word(word, at) else { return };
        if terminal == other {
            self.against_itself(word, at);
            return;
        }
        let mut list =
            |words: &[ast::Word]| words.iter().filter_map(|word| self.word(word, at)).collect();
        let after = after.map(&mut list);
        let before = before.iter().map(|words| list(words)).collect();
        let at = at.with_span(span(word));
        let lookahead = Lookahead { other, after, before, at };
        if self.directions.lookaheads.insert(terminal, lookahead).is_some() {
            let message = format!("`{}` has two %lookahead directives", self.table.name(terminal));
            self.error(
                at,
                Diagnostic::error("contradicting-words", message)
                    .help("combine them: one directive takes several terminals in a list"),
            );
        }
    }

    /// Reports words that are both reserved against a terminal and fall back to it, and
    /// contradictory look-aheads.
    fn contradictions(&mut self) {
        let reserved: HashSet<_> = self.directions.reserved.iter().copied().collect();
        let both: Vec<_> = self
            .directions
            .fallbacks
            .iter()
            .filter(|&(&word, &(to, ..))| reserved.contains(&(word, to)))
            .map(|(&word, &(to, _, at))| (word, to, at))
            .collect();
        for (word, to, at) in both {
            let (word, to) = (self.table.name(word), self.table.name(to));
            let message = format!(
                "`{word}` is both reserved against `{to}` and a fallback to \
                                   `{to}`"
            );
            self.error(
                at,
                Diagnostic::error("contradicting-words", message).help(
                    "keep one: a reserved word is never the other terminal, a fallback word \
                     sometimes is",
                ),
            );
        }
        self.lookahead_contradictions(&reserved);
    }

    /// Reports words with a `%lookahead` that are also exclusive, reserved against the same
    /// terminal, or have a fallback.
    fn lookahead_contradictions(&mut self, reserved: &HashSet<(TerminalIndex, TerminalIndex)>) {
        let both: Vec<_> = (self.directions.lookaheads.iter())
            .filter_map(|(&word, lookahead)| {
                let why = if self.directions.exclusive.contains_key(&word) {
                    "is exclusive".to_owned()
                } else if reserved.contains(&(word, lookahead.other)) {
                    format!("is reserved against `{}`", self.table.name(lookahead.other))
                } else {
                    let (to, ..) = self.directions.fallbacks.get(&word)?;
                    format!("falls back to `{}`", self.table.name(*to))
                };
                Some((word, why, lookahead.at))
            })
            .collect();
        for (word, why, at) in both {
            let message = format!("`{}` has a %lookahead and {why}", self.table.name(word));
            self.error(
                at,
                Diagnostic::error("contradicting-words", message).help(
                    "keep one: either the text around a word decides its terminal, or the parser \
                     does",
                ),
            );
        }
    }

    fn against_itself(&mut self, word: &ast::Word, at: At) {
        let diagnostic = Diagnostic::error(
            "contradicting-words",
            "the word and the terminal that it is \
                                                      distinguished from are the same",
        );
        self.error(at.with_span(span(word)), diagnostic);
    }

    fn precedence(
        &mut self,
        level_number: u32,
        associativity: ast::Associativity,
        words: &[ast::Word],
        at: At,
    ) {
        let associativity = match associativity {
            ast::Associativity::Left => Associativity::Left,
            ast::Associativity::Right => Associativity::Right,
            ast::Associativity::Nonassoc => Associativity::Nonassoc,
        };
        let precedence = Precedence { level: level_number, associativity };
        for word in words {
            let level = level(&WordKey::new(word), self.names, self.table);
            if self
                .directions
                .levels
                .insert(level, precedence)
                .is_some_and(|previous| previous != precedence)
            {
                let diagnostic = Diagnostic::error(
                    "duplicate-precedence",
                    "the word has two precedences; keep \
                                                               one",
                );
                self.error(at.with_span(span(word)), diagnostic);
            }
        }
    }

    fn indentation(&mut self, terminals: [&ast::Word; 3], clauses: &[ast::Clause], at: At) {
        if self.directions.indentation.is_some() {
            self.error(
                at,
                Diagnostic::error(
                    "duplicate-directive",
                    "there are two %indent \
                                                                     directives; keep one",
                ),
            );
        }
        let [newline, indent, dedent] = terminals.map(|word| self.word(word, at));
        let (Some(newline), Some(indent), Some(dedent)) = (newline, indent, dedent) else { return };
        let place = self.context.sources.place(at);
        let mut indentation = Indentation::new([newline, indent, dedent], place);
        for (index, clause) in clauses.iter().enumerate() {
            let name = clause.name.node.as_str();
            let at = at.with_span(&clause.name.span);
            if clauses[..index].iter().any(|other| other.name.node == name) {
                let message = format!("`{name}` is given twice in this directive");
                self.error(at, Diagnostic::error("duplicate-directive", message));
            }
            let words: Vec<TerminalIndex> =
                clause.words.iter().filter_map(|word| self.word(word, at)).collect();
            let number = clause.number.as_ref().map(|number| number.node);
            match (name, &words[..], number) {
                ("open", [_, ..], None) => indentation.open = words,
                ("close", [_, ..], None) => indentation.close = words,
                ("join", [join], None) => indentation.join = Some(*join),
                ("tab", [], Some(tab @ 1..)) => indentation.tab = tab,
                ("levels", [], levels @ Some(_)) => indentation.levels = levels,
                _ => {
                    let diagnostic = Diagnostic::error(
                        "bad-clause",
                        format!("the clause `{name}` of %indent is invalid"),
                    );
                    let help = "write `open \"(\" close \")\"` with any number of brackets, `join \
                                TERMINAL`, `tab 8` or `levels 100`";
                    self.error(at, diagnostic.help(help));
                }
            }
        }
        self.directions.indentation = Some(indentation);
    }

    /// Returns the terminal that a directive names; a string that occurs in no rule becomes one.
    fn word(&mut self, word: &ast::Word, at: At) -> Option<TerminalIndex> {
        let at = at.with_span(span(word));
        match WordKey::new(word) {
            WordKey::Leaf(leaf) => {
                let order = Order { offset: at.start(), sequence: 0 };
                Some(self.table.of_leaf(self.context, &leaf, at, order))
            }
            WordKey::Name(name) => {
                let terminal = self.names.get(&name).copied();
                if terminal.is_none() {
                    let diagnostic =
                        Diagnostic::error("undefined-symbol", format!("`{name}` is not defined"));
                    let names = self.names.keys().map(String::as_str);
                    let diagnostic = did_you_mean(diagnostic, &name, names);
                    self.error(at, diagnostic);
                }
                terminal
            }
        }
    }
}

fn span(word: &ast::Word) -> &ast::Span {
    match word {
        ast::Word::Name(name) => &name.span,
        ast::Word::Literal { span, .. } => span,
    }
}
