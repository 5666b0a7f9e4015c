//! Display of grammars: one production per line, then one terminal per line, with its attributes.

use std::fmt;

use crate::grammar::Grammar;
use crate::grammar::ir::{
    Associativity, Conflicts, Indentation, LexerKind, Precedence, Symbol, Terminal,
};
use crate::grammar::pattern::{Counted, Pattern, RegexFlags};
use crate::grammar::requirement::{Member, Requirement};
use crate::grammar::tokens::Tokens;
use crate::util::id::{NonterminalId, TerminalId};

impl fmt::Display for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lexer = match self.lexer {
            LexerKind::Basic => "basic",
            LexerKind::Contextual => "contextual",
        };
        writeln!(f, "%start {}\n%lexer {lexer}", self.nonterminals[self.start.index()].name)?;
        match self.conflicts {
            Conflicts::Follow | Conflicts::Silent => {}
            Conflicts::Refuse => writeln!(f, "%conflicts refuse")?,
            Conflicts::Shift => writeln!(f, "%conflicts shift")?,
        }
        if let Some(indentation) = &self.indentation {
            writeln!(f, "{}", self.indent_line(indentation))?;
        }
        writeln!(f)?;
        for nonterminal in &self.nonterminals {
            for production in &nonterminal.productions {
                let production = &self.productions[production.index()];
                write!(f, "{}:", nonterminal.name)?;
                for symbol in &production.rhs {
                    write!(f, " {}", self.symbol_name(*symbol))?;
                }
                if let Some(precedence) = &production.precedence {
                    write!(f, "  [{precedence}]")?;
                }
                if production.priority != 0 {
                    write!(f, "  [priority {}]", production.priority)?;
                }
                writeln!(f)?;
            }
        }
        for requirement in &self.requirements {
            self.requirement(f, requirement)?;
        }
        writeln!(f)?;
        for (id, terminal) in self.terminals.iter().enumerate() {
            let covers = self.reserve_covered.iter().any(|covering| covering.index() == id);
            self.terminal(f, terminal, covers)?;
        }
        Ok(())
    }
}

impl Grammar {
    /// Returns the name of a symbol.
    pub(crate) fn symbol_name(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Terminal(terminal) => &self.terminals[terminal.index()].name,
            Symbol::Nonterminal(nonterminal) => &self.nonterminals[nonterminal.index()].name,
        }
    }

    fn requirement(&self, f: &mut fmt::Formatter<'_>, of: &Requirement) -> fmt::Result {
        let name = |id: NonterminalId| self.symbol_name(Symbol::Nonterminal(id));
        let member = |member: &Member| {
            let names: Vec<&str> = member.iter().map(|&id| name(id)).collect();
            names.join("|")
        };
        let set = |&set: &u32| {
            let members: Vec<String> = of.sets[set as usize].required().map(member).collect();
            members.join(" ")
        };
        for ends in of.ends.chunk_by(|one, other| one.sets == other.sets) {
            let rests: Vec<&str> = ends.iter().map(|end| name(end.rest)).collect();
            let sets: Vec<String> = ends[0].sets.iter().map(set).collect();
            writeln!(f, "// {} end after all of {}", rests.join(" "), sets.join(", or of "))?;
        }
        Ok(())
    }

    /// Returns the directive as written in a file, with brackets that are plain strings as strings.
    pub(crate) fn indent_line(&self, indentation: &Indentation<TerminalId>) -> String {
        let Indentation { newline, indent, dedent, open, close, join, tab, levels, .. } =
            indentation;
        let name = |terminal: &TerminalId| {
            let terminal = &self.terminals[terminal.index()];
            match &terminal.pattern {
                Some(pattern) if pattern.is_literal() => pattern.to_string(),
                _ => terminal.name.clone(),
            }
        };
        let mut words = vec!["%indent".to_owned()];
        words.extend(
            [newline, indent, dedent]
                .into_iter()
                .map(|own| self.terminals[own.index()].name.clone()),
        );
        for (clause, terminals) in
            [("open", open.as_slice()), ("close", close), ("join", join.as_slice())]
        {
            words.extend((!terminals.is_empty()).then(|| clause.to_owned()));
            words.extend(terminals.iter().map(name));
        }
        words.push(format!("tab {tab}"));
        words.extend(levels.iter().map(|levels| format!("levels {levels}")));
        words.join(" ")
    }

    fn terminal(
        &self,
        f: &mut fmt::Formatter<'_>,
        terminal: &Terminal,
        covers: bool,
    ) -> fmt::Result {
        write!(f, "{}:", terminal.name)?;
        match &terminal.pattern {
            Some(pattern) => write!(f, " {pattern}")?,
            None => f.write_str(" (declared)")?,
        }
        write!(f, "  [rank {}", terminal.rank)?;
        if terminal.ignored {
            f.write_str(", ignored")?;
        }
        if terminal.exclusive {
            f.write_str(", exclusive")?;
        }
        if let Some(precedence) = &terminal.precedence {
            write!(f, ", {precedence}")?;
        }
        for against in &terminal.reserved_against {
            write!(f, ", reserved against {}", self.terminals[against.index()].name)?;
        }
        if covers {
            f.write_str(", strings it covers are reserved")?;
        }
        if let Some(fallback) = &terminal.fallback {
            let kind = if fallback.soft { "soft" } else { "fallback" };
            write!(f, ", {kind} {}", self.terminals[fallback.terminal.index()].name)?;
        }
        for other in &terminal.meant {
            write!(f, ", also {}", self.terminals[other.index()].name)?;
        }
        if let Some(lookahead) = &terminal.lookahead {
            write!(f, ", lookahead {}", self.terminals[lookahead.other.index()].name)?;
            let after = lookahead.after.iter().map(|list| ("after", list));
            let ahead =
                std::iter::once("before").chain(std::iter::repeat("then")).zip(&lookahead.before);
            for (name, list) in after.chain(ahead) {
                write!(f, " {name}")?;
                list.iter()
                    .try_for_each(|other| write!(f, " {}", self.terminals[other.index()].name))?;
            }
        }
        writeln!(f, "]")
    }
}

impl fmt::Display for Precedence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let associativity = match self.associativity {
            Associativity::Left => "left",
            Associativity::Right => "right",
            Associativity::Nonassoc => "nonassoc",
        };
        write!(f, "{associativity} {}", self.level)
    }
}

/// Formats the pattern in Lark's notation, with a group around anything that is not a single item.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Literal { text, ignore_case } => {
                write!(f, "{text:?}{}", if *ignore_case { "i" } else { "" })
            }
            Pattern::Range(from, to) => write!(f, "{:?}..{:?}", from.to_string(), to.to_string()),
            Pattern::Regex { pattern, flags, .. } => {
                write!(f, "/{}/{flags}", pattern.replace('/', "\\/").replace('\n', "\\n"))
            }
            Pattern::Concat(parts) if parts.is_empty() => f.write_str("()"),
            Pattern::Concat(parts) => join(f, parts, " ", |part| {
                matches!(part, Pattern::Alternation(_) | Pattern::Intersection(_))
            }),
            Pattern::Alternation(all) if all.is_empty() => f.write_str("(nothing)"),
            Pattern::Alternation(all) => {
                join(f, all, " | ", |part| matches!(part, Pattern::Intersection(_)))
            }
            Pattern::Repeat { pattern, min, max } => {
                let single = matches!(**pattern, Pattern::Literal { .. } | Pattern::Regex { .. });
                if single {
                    write!(f, "{pattern}")?;
                } else {
                    write!(f, "({pattern})")?;
                }
                match (min, max) {
                    (0, None) => f.write_str("*"),
                    (1, None) => f.write_str("+"),
                    (0, Some(1)) => f.write_str("?"),
                    (min, Some(max)) if min == max => write!(f, "~{min}"),
                    (min, Some(max)) => write!(f, "~{min}..{max}"),
                    (min, None) => write!(f, "~{min}.."),
                }
            }
            Pattern::Intersection(parts) if parts.is_empty() => f.write_str("(anything)"),
            Pattern::Intersection(parts) => join(f, parts, " & ", |part| {
                matches!(part, Pattern::Alternation(_) | Pattern::Concat(_))
            }),
            Pattern::Complement(pattern) => write!(f, "~({pattern})"),
            Pattern::Automaton(automaton) => {
                write!(f, "(an automaton of {} states)", automaton.states.len())
            }
            Pattern::Counted(Counted { automaton, least, most, .. }) => {
                write!(f, "(an automaton of {} states, marks {least}..", automaton.states.len())?;
                most.map_or(Ok(()), |most| write!(f, "{most}"))?;
                f.write_str(")")
            }
            Pattern::Shortest(pattern) => write!(f, "(the first match of {pattern})"),
            Pattern::Schema(schema) => write!(f, "%json {schema}"),
            Pattern::Tokens(tokens) => write!(f, "{tokens}"),
        }
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tokens::Name(name) | Tokens::Special(name) => f.write_str(name),
            Tokens::Others(excluded) => write!(f, "!{excluded}"),
            Tokens::Ids(ids) => {
                f.write_str("<[")?;
                for (i, (first, last)) in ids.iter().enumerate() {
                    let comma = if i > 0 { "," } else { "" };
                    match first == last {
                        true => write!(f, "{comma}{first}")?,
                        false => write!(f, "{comma}{first}-{last}")?,
                    }
                }
                f.write_str("]>")
            }
        }
    }
}

impl fmt::Display for RegexFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.ignore_case, 'i'),
            (self.multi_line, 'm'),
            (self.dot_all, 's'),
            (self.verbose, 'x'),
        ];
        flags.iter().filter(|(set, _)| *set).try_for_each(|(_, flag)| write!(f, "{flag}"))
    }
}

fn join(
    f: &mut fmt::Formatter<'_>,
    parts: &[Pattern],
    separator: &str,
    grouped: impl Fn(&Pattern) -> bool,
) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        if grouped(part) { write!(f, "({part})")? } else { write!(f, "{part}")? }
    }
    Ok(())
}
