//! How a DFA is saved.

use super::Dfa;
use super::count::Count;
use super::dfa::{Condition, Trailing};
use crate::util::byte_classes::ByteClasses;
use crate::util::saving::{Malformed, Reader, Writer, ensure};

impl Dfa {
    /// Writes the automaton.
    pub(crate) fn save(&self, writer: &mut Writer) {
        self.classes().save(writer);
        writer.numbers(&self.table);
        writer.numbers(&self.distance);
        writer.option(self.count.as_ref(), |w, count| {
            let (marked, least, most) = count.parts();
            w.list(marked, |w, &marked| w.bool(marked));
            w.u32(least);
            w.option(most.as_ref(), |w, &most| w.u32(most));
        });
        writer.bool(self.leading);
        writer.option(self.trailing.as_ref(), |w, trailing| {
            w.numbers(&trailing.of);
            w.list(&trailing.conditions, |w, Condition { holds, fails }| {
                holds.save(w);
                fails.save(w);
            });
        });
    }

    /// An automaton of which each move leads to a state.
    pub(crate) fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Self::load_with(reader, |reader, states| {
            let of = reader.numbers()?;
            let plain =
                |r: &mut Reader<'_>| Self::load_with(r, |_, _| Err(Malformed { what: "a DFA" }));
            let conditions =
                reader.list(2, |r| Ok(Condition { holds: plain(r)?, fails: plain(r)? }))?;
            let asks = |&asked: &u32| asked as usize <= conditions.len();
            ensure(of.len() == states && of.iter().all(asks), "a DFA")?;
            Ok(Trailing { of: of.into(), conditions: conditions.into() })
        })
    }

    /// The same, where `trailing` reads what is asked behind so many states.
    fn load_with(
        reader: &mut Reader<'_>,
        trailing: impl Fn(&mut Reader<'_>, usize) -> Result<Trailing, Malformed>,
    ) -> Result<Self, Malformed> {
        let classes = ByteClasses::load(reader)?;
        let (table, distance) = (reader.numbers()?, reader.numbers()?);
        let count =
            reader.option(|r| Ok((r.list(1, Reader::bool)?, r.u32()?, r.option(Reader::u32)?)))?;
        let leading = reader.bool()?;
        let states = distance.len();
        let leads = |&next: &u32| next == Self::DEAD || (next as usize) < states;
        ensure(table.len() == states * classes.count() && table.iter().all(leads), "a DFA")?;
        let trailing = reader.option(|r| trailing(r, states))?.map(Box::new);
        let (table, distance) = (table.into(), distance.into());
        let dfa = Self { classes, table, distance, count: None, trailing, leading };
        let Some((marked, least, most)) = count else { return Ok(dfa) };
        let count = Count::new(dfa.table(), marked.into(), least, most);
        let count = count.ok_or(Malformed { what: "a DFA" })?;
        Ok(Self { count: Some(Box::new(count)), ..dfa })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::{Pattern, RegexFlags};
    use crate::lexer::Compiler;
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    #[test]
    fn automata_come_back() {
        for pattern in ["[a-z]+", "ab|abc", "\\w\\d*", "[^\\s\\S]", "a(?!b)|c+(?=d|$)", "\\b\\w|^a"]
        {
            let pattern = Pattern::Regex {
                pattern: pattern.to_owned(),
                flags: RegexFlags::default(),
                place: None,
            };
            let dfa = Compiler::new(&Meter::new(&Limits::default())).compile(&pattern).unwrap();
            let mut writer = Writer::default();
            dfa.save(&mut writer);
            let bytes = writer.into_bytes();
            assert_eq!(Dfa::load(&mut Reader::new(&bytes)), Ok(dfa));
        }
    }
}
