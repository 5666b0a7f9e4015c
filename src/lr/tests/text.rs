//! Grammars for tests, from text: a line `S -> A b | c` for each nonterminal, the first one the
//! start, after lines `%left + -`; an alternative may end in `%prec +`. A symbol that is on no left
//! side is a terminal: a literal with its name as text, unless that begins with a capital.

use smallvec::SmallVec;

use crate::grammar::Grammar;
use crate::grammar::ir::{
    Associativity, Conflicts, LexerKind, Nonterminal, Precedence, Production, Symbol, Symbols,
    Terminal,
};
use crate::grammar::pattern::Pattern;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};

/// Parses the grammar in `text`; panics if it is malformed.
pub(super) fn grammar(text: &str) -> Grammar {
    let mut grammar = Grammar::plain(Vec::new(), Vec::new(), Vec::new(), Conflicts::Refuse);
    grammar.lexer = LexerKind::Basic;
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    for (lhs, _) in lines().filter_map(|line| line.split_once("->")) {
        let name = lhs.trim().into();
        grammar.nonterminals.push(Nonterminal {
            name,
            productions: SmallVec::new(),
            marks: None,
            place: None,
        });
    }
    let mut levels: Vec<(String, Precedence)> = Vec::new();
    for (level, line) in (1..).zip(lines().filter(|line| line.starts_with('%'))) {
        let mut words = line.split_whitespace();
        let associativity = match words.next() {
            Some("%left") => Associativity::Left,
            Some("%right") => Associativity::Right,
            _ => Associativity::Nonassoc,
        };
        levels.extend(words.map(|word| (word.to_owned(), Precedence { level, associativity })));
    }
    let precedence = |name: &str| {
        levels.iter().find(|(terminal, _)| terminal == name).map(|&(_, precedence)| precedence)
    };
    for (number, (_, alternatives)) in lines().filter_map(|line| line.split_once("->")).enumerate()
    {
        for alternative in alternatives.split('|') {
            let (symbols, prec) = alternative.split_once("%prec").unwrap_or((alternative, ""));
            let mut own = precedence(prec.trim());
            let (mut rhs, mut last) = (Symbols::new(), None);
            for name in symbols.split_whitespace() {
                let known =
                    grammar.nonterminals.iter().position(|nonterminal| &*nonterminal.name == name);
                rhs.push(match known {
                    Some(index) => Symbol::Nonterminal(NonterminalId::new(index)),
                    None => {
                        last = precedence(name).or(last);
                        Symbol::Terminal(terminal(&mut grammar, name, precedence(name)))
                    }
                });
            }
            own = own.or(last);
            let id = ProductionId::new(grammar.productions.len());
            grammar.nonterminals[number].productions.push(id);
            grammar.productions.push(Production {
                lhs: NonterminalId::new(number),
                rhs,
                precedence: own,
                priority: 0,
                place: None,
            });
        }
    }
    grammar
}

fn terminal(grammar: &mut Grammar, name: &str, precedence: Option<Precedence>) -> TerminalId {
    if let Some(index) = grammar.terminals.iter().position(|terminal| terminal.name == name) {
        return TerminalId::new(index);
    }
    let literal = !name.starts_with(|c: char| c.is_uppercase());
    let pattern = literal.then(|| Pattern::Literal { text: name.to_owned(), ignore_case: false });
    let rank = grammar.terminals.len() as u32;
    grammar
        .terminals
        .push(Terminal { precedence, ..Terminal::plain(name.to_owned(), pattern, rank) });
    TerminalId::new(grammar.terminals.len() - 1)
}

/// Runs `table` over terminals given by name; returns whether the text is accepted.
pub(super) fn run(grammar: &Grammar, table: &super::super::table::ParseTable, text: &str) -> bool {
    use super::super::table::Action;
    let named = |name: &str| grammar.terminals.iter().position(|terminal| terminal.name == name);
    let ids = text.split_whitespace().map(|name| TerminalId::new(named(name).unwrap()));
    let mut stack = vec![table.start()];
    for terminal in ids.chain([table.end()]) {
        loop {
            match table.actions(*stack.last().unwrap(), terminal) {
                [] => return false,
                [Action::Accept] => return true,
                [Action::Shift(state)] => {
                    stack.push(*state);
                    break;
                }
                [Action::Reduce(production), ..] => {
                    let (lhs, length) = table.production(*production);
                    stack.truncate(stack.len() - length);
                    stack.push(table.goto(*stack.last().unwrap(), lhs).unwrap());
                }
                [..] => unreachable!("cells have one action"),
            }
        }
    }
    false
}
