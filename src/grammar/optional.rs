//! Terminals that match the empty text, or no text. A lexeme has at least one byte, so in the rules
//! the former become optional and the latter are dropped.
//!
//! Finding these terminals takes their automata, so this is done when a grammar is compiled. The
//! language stays the same as if the empty text were a lexeme: if `T` matches it, each use of `T`
//! is `T?`. As everywhere (see the expansion of groups) an option is written out into alternatives
//! with and without it, since an empty production asks the parser for a decision before it has seen
//! anything. So a nonterminal that derives the empty text only through such terminals becomes an
//! option at each use, and has no empty alternative itself; except the start symbol.

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use crate::grammar::analysis;
use crate::grammar::ir::{Grammar, Nonterminal, Production, Symbol};
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{NonterminalId, ProductionId};

/// Maximum number of alternatives that one production becomes; beyond it the production is cut, and
/// its end becomes a nonterminal of its own.
const MAX_VARIANTS: usize = 64;

/// Kind of the texts that a terminal matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texts {
    /// One or more, none of them empty; or the terminal is declared, and has none of its own.
    Lexemes,
    /// The empty text and others.
    LexemesAndEmpty,
    /// Only the empty text.
    Empty,
    /// None.
    Nothing,
}

impl Texts {
    fn has_empty(self) -> bool {
        matches!(self, Self::LexemesAndEmpty | Self::Empty)
    }

    fn has_lexemes(self) -> bool {
        matches!(self, Self::Lexemes | Self::LexemesAndEmpty)
    }
}

/// Returns the grammar over terminals that match `texts`, changed so that every terminal has
/// lexemes and none is empty, with a finding for each terminal that needed the change.
///
/// # Errors
///
/// Findings, one of them an error, if the start symbol derives nothing any more.
pub(crate) fn without_empty(
    grammar: &Grammar,
    texts: &[Texts],
) -> Result<Grammar, Vec<Diagnostic>> {
    let mut findings = findings(grammar, texts);
    let mut rewritten = Rewriting::new(grammar, texts).grammar();
    for (terminal, texts) in rewritten.terminals.iter_mut().zip(texts) {
        if !texts.has_lexemes() {
            terminal.pattern = None;
            terminal.ignored = false;
        }
    }
    match analysis::keep_productive(&rewritten) {
        Some(mut kept) => {
            kept.warnings.clone_from(&grammar.warnings);
            kept.warnings.append(&mut findings);
            kept.untrimmed.clone_from(&grammar.untrimmed);
            Ok(kept)
        }
        None => {
            let start = &grammar.nonterminals[grammar.start.index()];
            let message = format!("the start symbol `{}` derives no text", start.name);
            let error = Diagnostic::error("unproductive", message).at(start.place.clone());
            findings.insert(
                0,
                error.help(
                    "correct the patterns of the terminals that match no \
                                           text",
                ),
            );
            Err(findings)
        }
    }
}

/// Returns findings for the author: one for each such terminal that a rule uses.
fn findings(grammar: &Grammar, texts: &[Texts]) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (index, (terminal, &texts)) in grammar.terminals.iter().zip(texts).enumerate() {
        let is_used = |production: &&Production| {
            production
                .rhs
                .iter()
                .any(|symbol| matches!(symbol, Symbol::Terminal(id) if id.index() == index))
        };
        let name = terminal.shown();
        let finding = match texts {
            Texts::Lexemes => continue,
            Texts::LexemesAndEmpty if terminal.ignored => continue,
            Texts::LexemesAndEmpty => Diagnostic::warning(
                "empty-terminal",
                format!(
                    "terminal {name} matches the empty text, which is not a lexeme; each use of \
                     it is optional instead"
                ),
            )
            .help(
                "to make this explicit, let the pattern match at least one character, and write \
                 `?` where the terminal is used",
            ),
            Texts::Empty => Diagnostic::warning(
                "empty-terminal",
                format!("terminal {name} matches only the empty text; each use of it is left out"),
            )
            .help(
                "remove it; a lazy repetition at the end of a pattern (`.*?`) matches only the \
                 empty text",
            ),
            Texts::Nothing => Diagnostic::warning(
                "dead-alternative",
                format!("terminal {name} matches no text; alternatives that need it are left out"),
            )
            .help("correct its pattern, or remove it"),
        };
        let used = grammar.productions.iter().find(is_used);
        if used.is_none() && !terminal.ignored {
            continue;
        }
        let finding = finding.at(terminal.place.clone());
        findings.push(match used.and_then(|production| production.place.clone()) {
            Some(place) if !terminal.place.as_ref().is_some_and(|own| place.contains(own)) => {
                finding.related(place, "it is used here")
            }
            _ => finding,
        });
    }
    findings
}

/// State of the rewriting of productions.
struct Rewriting<'a> {
    grammar: &'a Grammar,
    texts: &'a [Texts],
    /// Nonterminals that are empty only through such terminals, and so become options at each use.
    optional: Vec<bool>,
    nonterminals: Vec<Nonterminal>,
    productions: Vec<Production>,
    seen: HashSet<(NonterminalId, Vec<Symbol>)>,
    /// Ends of productions that were cut, each with its nonterminal.
    ends: HashMap<Vec<Vec<Symbol>>, NonterminalId>,
}

impl<'a> Rewriting<'a> {
    fn new(grammar: &'a Grammar, texts: &'a [Texts]) -> Self {
        let before = analysis::mark_derivable(grammar, |_| false);
        let after =
            analysis::mark_derivable(grammar, |terminal| texts[terminal.index()].has_empty());
        Self {
            grammar,
            texts,
            // A rule with marks stays even if it derives the empty text.
            optional: (before.iter().zip(after).zip(&grammar.nonterminals))
                .map(|((&before, after), nonterminal)| {
                    after && !before && nonterminal.marks.is_none()
                })
                .collect(),
            nonterminals: grammar
                .nonterminals
                .iter()
                .map(|nonterminal| Nonterminal {
                    productions: SmallVec::new(),
                    ..nonterminal.clone()
                })
                .collect(),
            productions: Vec::with_capacity(grammar.productions.len()),
            seen: HashSet::new(),
            ends: HashMap::new(),
        }
    }

    fn grammar(mut self) -> Grammar {
        let grammar = self.grammar;
        for production in &grammar.productions {
            for rhs in self.variants(production) {
                let is_start = production.lhs == grammar.start;
                let stays_empty = is_start || !self.optional[production.lhs.index()];
                if !rhs.is_empty() || stays_empty {
                    self.produce(production, production.lhs, rhs);
                }
            }
        }
        Grammar {
            nonterminals: self.nonterminals.into(),
            productions: self.productions.into(),
            ..grammar.clone()
        }
    }

    /// Returns the right sides that a production becomes.
    fn variants(&mut self, production: &Production) -> Vec<Vec<Symbol>> {
        let mut ends: Vec<Vec<Symbol>> = vec![Vec::new()];
        for &symbol in production.rhs.iter().rev() {
            let (may_stand, may_miss) = match symbol {
                Symbol::Terminal(terminal) => {
                    let texts = self.texts[terminal.index()];
                    (texts.has_lexemes(), texts.has_empty())
                }
                Symbol::Nonterminal(nonterminal) => (true, self.optional[nonterminal.index()]),
            };
            if may_stand && may_miss && ends.len() * 2 > MAX_VARIANTS {
                ends = self.cut(production, ends);
            }
            // Symbols are pushed in reverse; the sides are reversed at the end.
            let without = if may_miss { ends.clone() } else { Vec::new() };
            if may_stand {
                ends.iter_mut().for_each(|end| end.push(symbol));
            } else {
                ends.clear();
            }
            ends.extend(without);
        }
        ends.iter_mut().for_each(|end| end.reverse());
        ends
    }

    /// Returns a nonterminal for these reversed ends, and the empty end if there was one.
    fn cut(&mut self, production: &Production, mut ends: Vec<Vec<Symbol>>) -> Vec<Vec<Symbol>> {
        ends.sort();
        ends.dedup();
        let is_optional = ends.iter().any(Vec::is_empty);
        ends.retain(|end| !end.is_empty());
        let known = self.ends.get(&ends).copied();
        let nonterminal = known.unwrap_or_else(|| {
            let id = NonterminalId::new(self.nonterminals.len());
            let of = &self.nonterminals[production.lhs.index()];
            let name = format!("__{}_end_{}", of.name.trim_start_matches('_'), self.ends.len());
            let place = of.place.clone();
            self.nonterminals.push(Nonterminal {
                name: name.into(),
                productions: SmallVec::new(),
                marks: None,
                place,
            });
            for end in &ends {
                self.produce(production, id, end.iter().rev().copied().collect());
            }
            self.ends.insert(ends, id);
            id
        });
        let mut cut = vec![vec![Symbol::Nonterminal(nonterminal)]];
        cut.extend(is_optional.then(Vec::new));
        cut
    }

    /// Adds a production, unless it is known or has become a trivial cycle `A -> A`.
    fn produce(&mut self, of: &Production, lhs: NonterminalId, rhs: Vec<Symbol>) {
        let says_nothing = rhs == [Symbol::Nonterminal(lhs)] && of.rhs[..] != rhs;
        if !says_nothing && self.seen.insert((lhs, rhs.clone())) {
            self.nonterminals[lhs.index()]
                .productions
                .push(ProductionId::new(self.productions.len()));
            self.productions.push(Production { lhs, rhs: rhs.into(), ..of.clone() });
        }
    }
}
