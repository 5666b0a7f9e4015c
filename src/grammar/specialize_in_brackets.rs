//! Copies of rules for use between brackets, in a grammar with significant lines: there line ends
//! do not count, so alternatives that need one are dropped.
//!
//! A rule that may be used in both contexts (a function's body, which a lambda in an argument has
//! as well) becomes two: the original, and its remainder between brackets. The language is the
//! same, but the rules now show that brackets contain no line end, on which the proof and all
//! decisions about lines rest.

use std::collections::HashMap;

use smallvec::SmallVec;

use crate::grammar::analysis;
use crate::grammar::ir::{Grammar, Indentation, Nonterminal, Production, Symbol, Symbols};
use crate::util::diagnostic::Diagnostic;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};

/// Returns the grammar without the parts between brackets that need a line end, with a warning, or
/// `None` if there are none or nothing else is left.
pub(crate) fn without_lines(grammar: &Grammar) -> Option<Grammar> {
    let directive = grammar.indentation.as_ref()?;
    let rewriting = Rewriting::new(grammar, directive);
    let first = grammar.productions.iter().find_map(|production| {
        let held = rewriting.held_in_brackets(production)?;
        Some((production, held))
    });
    let (production, held) = first?;
    let name = grammar.symbol_name(held);
    let message = format!(
        "`{name}` is used inside brackets, where line ends are ignored; alternatives that need a \
         line end are left out there"
    );
    let finding = Diagnostic::warning("line-in-brackets", message)
        .at(production.place.clone())
        .help("use a rule without line ends inside brackets");
    let mut kept = analysis::keep_productive(&rewriting.grammar())?;
    kept.warnings.clone_from(&grammar.warnings);
    kept.warnings.push(finding);
    kept.untrimmed.clone_from(&grammar.untrimmed);
    Some(kept)
}

/// By nonterminal, whether something that it derives contains the beginning or the end of a line.
pub(crate) fn holding_lines(grammar: &Grammar, directive: &Indentation<TerminalId>) -> Vec<bool> {
    let own = [directive.newline, directive.indent, directive.dedent];
    let mut holds = vec![false; grammar.nonterminals.len()];
    loop {
        let mut changed = false;
        for production in &grammar.productions {
            let is_line = |symbol: &Symbol| match symbol {
                Symbol::Terminal(terminal) => own.contains(terminal),
                Symbol::Nonterminal(nonterminal) => holds[nonterminal.index()],
            };
            if !holds[production.lhs.index()] && production.rhs.iter().any(is_line) {
                holds[production.lhs.index()] = true;
                changed = true;
            }
        }
        if !changed {
            return holds;
        }
    }
}

/// Returns the symbols of a right side, each with its bracket depth.
pub(crate) fn with_depth<'a>(
    rhs: &'a [Symbol],
    directive: &'a Indentation<TerminalId>,
) -> impl Iterator<Item = (Symbol, u32)> + 'a {
    rhs.iter().scan(0u32, |depth, &symbol| {
        match symbol {
            Symbol::Terminal(terminal) if directive.open.contains(&terminal) => {
                *depth += 1;
                return Some((symbol, *depth - 1));
            }
            Symbol::Terminal(terminal) if directive.close.contains(&terminal) => {
                *depth = depth.saturating_sub(1);
            }
            _ => {}
        }
        Some((symbol, *depth))
    })
}

struct Rewriting<'a> {
    grammar: &'a Grammar,
    directive: &'a Indentation<TerminalId>,
    holds: Vec<bool>,
    nonterminals: Vec<Nonterminal>,
    productions: Vec<Production>,
    /// By nonterminal that contains lines: its copy between brackets.
    copies: HashMap<NonterminalId, NonterminalId>,
    /// Nonterminals whose copies have no productions yet.
    pending: Vec<NonterminalId>,
}

impl<'a> Rewriting<'a> {
    fn new(grammar: &'a Grammar, directive: &'a Indentation<TerminalId>) -> Self {
        let emptied = |of: &Nonterminal| Nonterminal { productions: SmallVec::new(), ..of.clone() };
        Self {
            grammar,
            directive,
            holds: holding_lines(grammar, directive),
            nonterminals: grammar.nonterminals.iter().map(emptied).collect(),
            productions: Vec::with_capacity(grammar.productions.len()),
            copies: HashMap::new(),
            pending: Vec::new(),
        }
    }

    fn holds(&self, symbol: Symbol) -> bool {
        match symbol {
            Symbol::Terminal(terminal) => {
                [self.directive.newline, self.directive.indent, self.directive.dedent]
                    .contains(&terminal)
            }
            Symbol::Nonterminal(nonterminal) => self.holds[nonterminal.index()],
        }
    }

    /// Returns a symbol between brackets that contains lines.
    fn held_in_brackets(&self, production: &Production) -> Option<Symbol> {
        let mut symbols = with_depth(&production.rhs, self.directive);
        symbols.find(|&(symbol, depth)| depth > 0 && self.holds(symbol)).map(|(symbol, _)| symbol)
    }

    fn grammar(mut self) -> Grammar {
        let grammar = self.grammar;
        for production in &grammar.productions {
            self.produce(production, production.lhs, 0);
        }
        while let Some(of) = self.pending.pop() {
            let copy = self.copies[&of];
            for &production in &grammar.nonterminals[of.index()].productions {
                self.produce(&grammar.productions[production.index()], copy, 1);
            }
        }
        Grammar {
            nonterminals: self.nonterminals.into(),
            productions: self.productions.into(),
            ..grammar.clone()
        }
    }

    /// Writes a production for a bracket depth of `around`, unless it needs a line end between
    /// brackets.
    fn produce(&mut self, of: &Production, lhs: NonterminalId, around: u32) {
        let mut rhs = Symbols::with_capacity(of.rhs.len());
        for (symbol, depth) in with_depth(&of.rhs, self.directive) {
            rhs.push(match symbol {
                _ if around + depth == 0 || !self.holds(symbol) => symbol,
                Symbol::Terminal(_) => return,
                Symbol::Nonterminal(nonterminal) => Symbol::Nonterminal(self.copy(nonterminal)),
            });
        }
        self.nonterminals[lhs.index()].productions.push(ProductionId::new(self.productions.len()));
        self.productions.push(Production { lhs, rhs, ..of.clone() });
    }

    /// Returns the copy of a nonterminal between brackets.
    fn copy(&mut self, of: NonterminalId) -> NonterminalId {
        let next = NonterminalId::new(self.nonterminals.len());
        let copy = *self.copies.entry(of).or_insert(next);
        if copy == next {
            let original = &self.grammar.nonterminals[of.index()];
            let name = format!("{}[in brackets]", original.name);
            self.nonterminals.push(Nonterminal {
                name: name.into(),
                productions: SmallVec::new(),
                ..original.clone()
            });
            self.pending.push(of);
        }
        copy
    }
}
