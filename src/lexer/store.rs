//! How a DFA is kept.

use super::Dfa;
use crate::util::byte_classes::ByteClasses;
use crate::util::store::{Malformed, Reader, Writer, ensure};

impl Dfa {
    /// Writes the automaton.
    pub(crate) fn save(&self, writer: &mut Writer) {
        self.classes().save(writer);
        writer.numbers(&self.table);
        writer.numbers(&self.distance);
    }

    /// An automaton of which each move leads to a state.
    pub(crate) fn load(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let classes = ByteClasses::load(reader)?;
        let (table, distance) = (reader.numbers()?, reader.numbers()?);
        let states = distance.len();
        let leads = |&next: &u32| next == Self::DEAD || (next as usize) < states;
        ensure(table.len() == states * classes.count() && table.iter().all(leads), "a DFA")?;
        Ok(Self { classes, table: table.into(), distance: distance.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::{Pattern, RegexFlags};
    use crate::lexer::{Compiler, LexerLimits};

    #[test]
    fn automata_come_back() {
        for pattern in ["[a-z]+", "ab|abc", "\\w\\d*", "[^\\s\\S]"] {
            let pattern =
                Pattern::Regex { pattern: pattern.to_owned(), flags: RegexFlags::default(), place: None };
            let dfa = Compiler::new(&LexerLimits::default()).compile(&pattern).unwrap();
            let mut writer = Writer::default();
            dfa.save(&mut writer);
            let bytes = writer.into_bytes();
            assert_eq!(Dfa::load(&mut Reader::new(&bytes)), Ok(dfa));
        }
    }
}
