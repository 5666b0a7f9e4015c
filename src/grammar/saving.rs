//! How a grammar is saved, and what makes two grammars the same.
//!
//! Written is what a grammar means. Places in files, and the rules that only another start symbol
//! would reach, are not: they serve what comes before tables.

use smallvec::SmallVec;

use super::Grammar;
use super::ir::{
    Associativity, Budget, Conflicts, Distinct, Fallback, Indentation, LexerKind, Lookahead, Marks,
    Matching, Nonterminal, Precedence, Production, Suffix, Symbol, Temperature, Terminal,
};
use super::pattern::{Automaton, Counted, Pattern, RegexFlags, State};
use super::requirement::{End, Member, Requirement, Set};
use super::tokens::Tokens;
use crate::util::fingerprint::Fingerprint;
use crate::util::id::{NonterminalId, ProductionId, TerminalId};
use crate::util::meter::Cost;
use crate::util::saving::{Malformed, Reader, Writer, ensure};

/// Patterns nest no deeper where they were compiled.
const DEEPEST: usize = 256;

impl Grammar {
    /// A number that differs, but for chance, between grammars that differ in a rule, a terminal, a
    /// name or a directive. The same on every machine. White space, comments and places in the file
    /// have no part in it. Costs the grammar's size.
    pub fn fingerprint(&self) -> u64 {
        let mut writer = Writer::default();
        self.save(&mut writer);
        let mut hash = Fingerprint::default();
        hash.bytes(&writer.into_bytes());
        hash.value()
    }

    /// Writes the grammar.
    pub(crate) fn save(&self, writer: &mut Writer) {
        writer.list(&self.terminals, |w, terminal| terminal.save(w));
        writer.list(&self.nonterminals, |w, nonterminal| {
            w.str(&nonterminal.name);
            w.option(nonterminal.marks.as_deref(), |w, marks| marks.save(w));
        });
        writer.list(&self.productions, |w, production| production.save(w));
        writer.list(&self.requirements, |w, requirement| requirement.save(w));
        writer.u32(self.start.0);
        writer.bool(self.lexer == LexerKind::Basic);
        writer.u8(match self.conflicts {
            Conflicts::Follow => 0,
            Conflicts::Refuse => 1,
            Conflicts::Shift => 2,
            Conflicts::Silent => 3,
        });
        writer.bool(self.leading_ignored);
        writer.u8(self.matching as u8);
        ids(writer, &self.reserve_covered);
        writer.option(self.indentation.as_ref(), |w, indentation| indentation.save(w));
    }

    /// A grammar whose ids name something.
    pub(crate) fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let terminals = reader.list(16, Terminal::load)?;
        let mut nonterminals = reader.list(5, |r| {
            let name = r.str()?.into();
            let marks = r.option(Marks::load)?.map(Box::new);
            Ok(Nonterminal { name, productions: SmallVec::new(), marks, place: None })
        })?;
        let productions = reader.list(10, Production::load)?;
        let requirements = reader.list(13, Requirement::load)?;
        for (index, production) in productions.iter().enumerate() {
            let of = nonterminals
                .get_mut(production.lhs.index())
                .ok_or(Malformed { what: "a production" })?;
            of.productions.push(ProductionId::new(index));
        }
        let grammar = Self {
            cost: Cost::default(),
            start: NonterminalId(reader.u32()?),
            starts: Vec::new(),
            requirements,
            lexer: if reader.bool()? { LexerKind::Basic } else { LexerKind::Contextual },
            conflicts: match reader.u8()? {
                0 => Conflicts::Follow,
                1 => Conflicts::Refuse,
                2 => Conflicts::Shift,
                3 => Conflicts::Silent,
                _ => return Err(Malformed { what: "what is done about conflicts" }),
            },
            leading_ignored: reader.bool()?,
            matching: *Matching::ALL
                .get(usize::from(reader.u8()?))
                .ok_or(Malformed { what: "how terminals match" })?,
            reserve_covered: read_ids(reader)?,
            indentation: reader.option(Indentation::load)?,
            terminals: terminals.into(),
            nonterminals: nonterminals.into(),
            productions: productions.into(),
            warnings: Vec::new(),
            untrimmed: None,
        };
        ensure(grammar.is_sound(), "a grammar")?;
        Ok(grammar)
    }

    /// Whether every id names something.
    fn is_sound(&self) -> bool {
        let known = |id: &TerminalId| id.index() < self.terminals.len();
        let rule = |id: &NonterminalId| id.index() < self.nonterminals.len();
        let symbol = |symbol: &Symbol| match symbol {
            Symbol::Terminal(id) => known(id),
            Symbol::Nonterminal(id) => rule(id),
        };
        rule(&self.start)
            && self.reserve_covered.iter().all(known)
            && self.productions.iter().all(|production| production.rhs.iter().all(symbol))
            && self.requirements.iter().all(|requirement| {
                requirement.is_sound()
                    && requirement.nonterminals().all(|id| rule(&id))
                    && requirement.separator.iter().all(known)
                    && known(&requirement.open)
            })
            && self.terminals.iter().all(|terminal| {
                terminal.reserved_against.iter().all(known)
                    && terminal.meant.iter().all(known)
                    && terminal.fallback.iter().all(|fallback| known(&fallback.terminal))
                    && terminal.budget.iter().all(|budget| budget.cuts.iter().all(known))
                    && terminal.lookahead.iter().all(|lookahead| {
                        let lists = lookahead.after.iter().chain(&lookahead.before);
                        known(&lookahead.other)
                            && !lookahead.before.is_empty()
                            && lists.into_iter().all(|list| list.iter().all(known))
                    })
            })
            && self.indentation.iter().all(|indentation| {
                let brackets = indentation.open.iter().chain(&indentation.close);
                indentation.tab > 0 && indentation.own().chain(brackets).all(known)
            })
    }
}

fn ids(writer: &mut Writer, ids: &[TerminalId]) {
    writer.list(ids, |w, id| w.u32(id.0));
}

fn read_ids(reader: &mut Reader<'_>) -> Result<Vec<TerminalId>, Malformed> {
    reader.list(4, |r| r.u32().map(TerminalId))
}

impl Terminal {
    fn save(&self, writer: &mut Writer) {
        writer.str(&self.name);
        writer.option(self.description.as_deref(), Writer::str);
        writer.option(self.pattern.as_ref(), |w, pattern| pattern.save(w));
        writer.bool(self.ignored);
        writer.u32(self.rank);
        writer.u32(self.priority.cast_unsigned());
        ids(writer, &self.reserved_against);
        writer.option(self.fallback.as_ref(), |w, fallback| {
            w.u32(fallback.terminal.0);
            w.bool(fallback.soft);
        });
        ids(writer, &self.meant);
        writer.bool(self.exclusive);
        writer.bool(self.lazy);
        writer.bool(self.every_match);
        writer.option(self.lookahead.as_ref(), |w, lookahead| {
            w.u32(lookahead.other.0);
            w.option(lookahead.after.as_ref(), |w, list| ids(w, list));
            w.list(&lookahead.before, |w, list| ids(w, list));
        });
        writer.option(self.budget.as_ref(), |w, budget| {
            w.u32(budget.tokens);
            ids(w, &budget.cuts);
        });
        writer.option(self.distinct.as_ref(), |w, distinct| distinct.save(w));
        writer.option(self.precedence.as_ref(), |w, precedence| precedence.save(w));
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            name: reader.str()?.to_owned(),
            description: reader.option(|r| r.str().map(Into::into))?,
            pattern: reader.option(|r| Pattern::load(r, DEEPEST))?,
            ignored: reader.bool()?,
            rank: reader.u32()?,
            priority: reader.u32()?.cast_signed(),
            reserved_against: read_ids(reader)?,
            fallback: reader
                .option(|r| Ok(Fallback { terminal: TerminalId(r.u32()?), soft: r.bool()? }))?,
            meant: read_ids(reader)?,
            exclusive: reader.bool()?,
            lazy: reader.bool()?,
            every_match: reader.bool()?,
            lookahead: reader.option(|r| {
                Ok(Lookahead {
                    other: TerminalId(r.u32()?),
                    after: r.option(read_ids)?,
                    before: r.list(4, read_ids)?,
                })
            })?,
            budget: reader.option(|r| Ok(Budget { tokens: r.u32()?, cuts: read_ids(r)? }))?,
            distinct: reader.option(Distinct::load)?,
            precedence: reader.option(Precedence::load)?,
            place: None,
        })
    }
}

impl Distinct {
    fn save(self, writer: &mut Writer) {
        writer.u8(match self {
            Self::Open => 0,
            Self::Item => 1,
            Self::Next => 2,
            Self::Close => 3,
        });
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        match reader.u8()? {
            0 => Ok(Self::Open),
            1 => Ok(Self::Item),
            2 => Ok(Self::Next),
            3 => Ok(Self::Close),
            _ => Err(Malformed { what: "what a terminal is to a list" }),
        }
    }
}

impl Marks {
    fn save(&self, writer: &mut Writer) {
        writer.option(self.capture.as_ref(), |w, name| w.str(name));
        writer.option(self.suffix.as_ref(), |w, suffix| {
            suffix.pattern.save(w);
            w.option(suffix.capture.as_ref(), |w, (name, length)| {
                w.str(name);
                w.option(length.as_ref(), |w, &length| w.u32(length));
            });
        });
        writer.option(self.temperature.as_ref(), |w, temperature| w.u32(temperature.0));
        writer.option(self.max_tokens.as_ref(), |w, &tokens| w.u32(tokens));
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let name = |r: &mut Reader<'_>| Ok(r.str()?.to_owned());
        Ok(Self {
            capture: reader.option(name)?,
            suffix: reader.option(|r| {
                let pattern = Pattern::load(r, DEEPEST)?;
                let capture = r.option(|r| Ok((r.str()?.to_owned(), r.option(Reader::u32)?)))?;
                Ok(Suffix { pattern, capture })
            })?,
            temperature: reader.option(|r| r.u32().map(Temperature))?,
            max_tokens: reader.option(Reader::u32)?,
        })
    }
}

impl Production {
    fn save(&self, writer: &mut Writer) {
        writer.u32(self.lhs.0);
        let code = |symbol: &Symbol| match symbol {
            Symbol::Terminal(id) => 2 * id.0,
            Symbol::Nonterminal(id) => 2 * id.0 + 1,
        };
        writer.numbers(&self.rhs.iter().map(code).collect::<Vec<u32>>());
        writer.option(self.precedence.as_ref(), |w, precedence| precedence.save(w));
        writer.u32(self.priority.cast_unsigned());
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let symbol = |code: u32| match code % 2 {
            0 => Symbol::Terminal(TerminalId(code / 2)),
            _ => Symbol::Nonterminal(NonterminalId(code / 2)),
        };
        Ok(Self {
            lhs: NonterminalId(reader.u32()?),
            rhs: reader.numbers()?.into_iter().map(symbol).collect(),
            precedence: reader.option(Precedence::load)?,
            priority: reader.u32()?.cast_signed(),
            place: None,
        })
    }
}

impl Requirement {
    fn save(&self, writer: &mut Writer) {
        let numbers = |ids: &[NonterminalId]| ids.iter().map(|id| id.0).collect::<Vec<u32>>();
        writer.list(&self.ends, |w, end| {
            w.u32(end.rest.0);
            w.numbers(&end.sets);
        });
        writer.option(self.separator.as_ref(), |w, separator| w.u32(separator.0));
        writer.u32(self.open.0);
        writer.list(&self.sets, |w, set| {
            for members in [&set.lasting, &set.revocable, &set.remedy] {
                w.list(members, |w, member| w.numbers(&numbers(member)));
            }
        });
        writer.list(&self.keys, |w, key| w.numbers(&numbers(key)));
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let ids = |r: &mut Reader<'_>| Ok(r.numbers()?.into_iter().map(NonterminalId).collect());
        Ok(Self {
            ends: reader
                .list(8, |r| Ok(End { rest: NonterminalId(r.u32()?), sets: r.numbers()? }))?,
            separator: reader.option(|r| r.u32().map(TerminalId))?,
            open: TerminalId(reader.u32()?),
            sets: reader.list(12, |r| {
                let mut members = || -> Result<Vec<Member>, Malformed> { r.list(4, ids) };
                Ok(Set { lasting: members()?, revocable: members()?, remedy: members()? })
            })?,
            keys: reader.list(4, ids)?,
        })
    }
}

impl Precedence {
    fn save(&self, writer: &mut Writer) {
        writer.u32(self.level);
        writer.u8(match self.associativity {
            Associativity::Left => 0,
            Associativity::Right => 1,
            Associativity::Nonassoc => 2,
        });
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let level = reader.u32()?;
        let associativity = match reader.u8()? {
            0 => Associativity::Left,
            1 => Associativity::Right,
            2 => Associativity::Nonassoc,
            _ => return Err(Malformed { what: "a precedence" }),
        };
        Ok(Self { level, associativity })
    }
}

impl Pattern {
    fn save(&self, writer: &mut Writer) {
        match self {
            Self::Literal { text, ignore_case } => {
                writer.u8(0);
                writer.str(text);
                writer.bool(*ignore_case);
            }
            Self::Range(from, to) => {
                writer.u8(1);
                writer.u32((*from).into());
                writer.u32((*to).into());
            }
            Self::Regex { pattern, flags, place: _ } => {
                writer.u8(2);
                writer.str(pattern);
                flags.save(writer);
            }
            Self::Concat(parts) => {
                writer.u8(3);
                writer.list(parts, |w, part| part.save(w));
            }
            Self::Alternation(parts) => {
                writer.u8(4);
                writer.list(parts, |w, part| part.save(w));
            }
            Self::Repeat { pattern, min, max } => {
                writer.u8(5);
                pattern.save(writer);
                writer.u32(*min);
                writer.option(max.as_ref(), |w, &max| w.u32(max));
            }
            Self::Intersection(parts) => {
                writer.u8(6);
                writer.list(parts, |w, part| part.save(w));
            }
            Self::Complement(pattern) => {
                writer.u8(7);
                pattern.save(writer);
            }
            Self::Automaton(automaton) => {
                writer.u8(8);
                writer.list(&automaton.states, |w, state| state.save(w));
            }
            Self::Counted(Counted { automaton, marked, least, most }) => {
                writer.u8(12);
                writer.list(&automaton.states, |w, state| state.save(w));
                writer.list(marked, |w, &marked| w.bool(marked));
                writer.u32(*least);
                writer.option(most.as_ref(), |w, &most| w.u32(most));
            }
            Self::Shortest(pattern) => {
                writer.u8(9);
                pattern.save(writer);
            }
            Self::Schema(schema) => {
                writer.u8(11);
                writer.str(schema);
            }
            Self::Tokens(tokens) => {
                writer.u8(10);
                tokens.save(writer);
            }
        }
    }

    /// A pattern that nests no deeper than `depth`.
    fn load(reader: &mut Reader<'_>, depth: usize) -> Result<Self, Malformed> {
        ensure(depth > 0, "a pattern")?;
        let parts = |r: &mut Reader<'_>| r.list(5, |r| Self::load(r, depth - 1));
        let character =
            |r: &mut Reader<'_>| char::from_u32(r.u32()?).ok_or(Malformed { what: "a character" });
        Ok(match reader.u8()? {
            0 => Self::Literal { text: reader.str()?.to_owned(), ignore_case: reader.bool()? },
            1 => Self::Range(character(reader)?, character(reader)?),
            2 => Self::Regex {
                pattern: reader.str()?.to_owned(),
                flags: RegexFlags::load(reader)?,
                place: None,
            },
            3 => Self::Concat(parts(reader)?),
            4 => Self::Alternation(parts(reader)?),
            5 => Self::Repeat {
                pattern: Box::new(Self::load(reader, depth - 1)?),
                min: reader.u32()?,
                max: reader.option(Reader::u32)?,
            },
            6 => Self::Intersection(parts(reader)?),
            7 => Self::Complement(Box::new(Self::load(reader, depth - 1)?)),
            8 => Self::Automaton(Automaton::new(reader.list(5, State::load)?)),
            9 => Self::Shortest(Box::new(Self::load(reader, depth - 1)?)),
            10 => Self::Tokens(Tokens::load(reader)?),
            11 => Self::Schema(reader.str()?.to_owned()),
            12 => {
                let automaton = Automaton::new(reader.list(5, State::load)?);
                let marked = reader.list(1, Reader::bool)?.into();
                let (least, most) = (reader.u32()?, reader.option(Reader::u32)?);
                Self::Counted(Counted { automaton, marked, least, most })
            }
            _ => return Err(Malformed { what: "a pattern" }),
        })
    }
}

impl Tokens {
    fn save(&self, writer: &mut Writer) {
        match self {
            Self::Name(name) => {
                writer.u8(0);
                writer.str(name);
            }
            Self::Ids(ids) => {
                writer.u8(1);
                writer.list(ids, |w, &(first, last)| {
                    w.u32(first);
                    w.u32(last);
                });
            }
            Self::Others(excluded) => {
                writer.u8(2);
                excluded.save(writer);
            }
        }
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let named = |kind: u8, r: &mut Reader<'_>| match kind {
            0 => Ok(Self::Name(r.str()?.to_owned())),
            1 => Ok(Self::Ids(r.list(8, |r| Ok((r.u32()?, r.u32()?)))?)),
            _ => Err(Malformed { what: "tokens" }),
        };
        match reader.u8()? {
            2 => {
                let kind = reader.u8()?;
                Ok(Self::Others(Box::new(named(kind, reader)?)))
            }
            kind => named(kind, reader),
        }
    }
}

impl State {
    fn save(&self, writer: &mut Writer) {
        writer.bool(self.accepts);
        writer.list(&self.moves, |w, &(first, last, next)| {
            w.u8(first);
            w.u8(last);
            w.u32(next);
        });
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let accepts = reader.bool()?;
        let moves = reader.list(6, |r| Ok((r.u8()?, r.u8()?, r.u32()?)))?;
        Ok(Self { moves: moves.into(), accepts })
    }
}

impl RegexFlags {
    fn save(self, writer: &mut Writer) {
        let Self { ignore_case, multi_line, dot_all, verbose, bytes } = self;
        [ignore_case, multi_line, dot_all, verbose, bytes]
            .into_iter()
            .for_each(|flag| writer.bool(flag));
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            ignore_case: reader.bool()?,
            multi_line: reader.bool()?,
            dot_all: reader.bool()?,
            verbose: reader.bool()?,
            bytes: reader.bool()?,
        })
    }
}

impl Indentation<TerminalId> {
    fn save(&self, writer: &mut Writer) {
        [self.newline, self.indent, self.dedent].into_iter().for_each(|id| writer.u32(id.0));
        ids(writer, &self.open);
        ids(writer, &self.close);
        writer.option(self.join.as_ref(), |w, join| w.u32(join.0));
        writer.u32(self.tab);
        writer.option(self.levels.as_ref(), |w, &levels| w.u32(levels));
    }

    fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            newline: TerminalId(reader.u32()?),
            indent: TerminalId(reader.u32()?),
            dedent: TerminalId(reader.u32()?),
            open: read_ids(reader)?,
            close: read_ids(reader)?,
            join: reader.option(|r| r.u32().map(TerminalId))?,
            tab: reader.u32()?,
            levels: reader.option(Reader::u32)?,
            place: None,
            is_assumed: false,
        })
    }
}
