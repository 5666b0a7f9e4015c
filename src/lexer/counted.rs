//! Automata whose lexemes have a bounded number of characters.

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

use crate::grammar::pattern::Counted;
use crate::lexer::algebra;
use crate::lexer::count::Count;
use crate::lexer::dfa::Dfa;
use crate::lexer::error::PatternError;
use crate::lexer::from_automaton;
use crate::util::meter::Meter;

impl Dfa {
    /// Returns the automaton of a pattern with a count: a table and a count, unless
    /// `is_written_out`.
    ///
    /// # Errors
    ///
    /// If the automaton exceeds a limit.
    pub(super) fn of_counted(
        counted: &Counted,
        is_written_out: bool,
        meter: &Meter,
    ) -> Result<Self, PatternError> {
        let Counted { automaton, marked, least, most } = counted;
        let (table, states) = from_automaton::as_it_is(automaton, meter)?;
        let marks =
            states.iter().map(|&state| marked.get(state).is_some_and(|&marked| marked)).collect();
        let too_large =
            || PatternError::too_large("its repetition counts are too large".to_owned());
        let count = Count::new(table.table(), marks, *least, *most).ok_or_else(too_large)?;
        // Most of the work is on words of bits.
        meter.step(table.table().moves.len() + count.bytes() / 2)?;
        if !count.is_live(0, 0) {
            return algebra::product::<Self>(&[], |_| false, meter);
        }
        let dfa = Self { count: Some(Box::new(count)), ..table };
        match is_written_out {
            true => algebra::product(&[dfa], |only| only[0], meter),
            false => Ok(dfa),
        }
    }

    /// Returns the state of the table, without the count of characters if there is one.
    pub(crate) fn table_state(&self, state: u32) -> u32 {
        self.count.as_ref().map_or(state, |count| count.split(state).0)
    }

    /// Returns whether the table has a count.
    pub(crate) fn counts(&self) -> bool {
        self.count.is_some()
    }

    /// Whether both count the same of each text that both might match, and never up to one number:
    /// then they have no text in common. Costs the product of the two tables.
    pub(crate) fn counts_apart(&self, other: &Self) -> bool {
        let (Some(one), Some(two)) = (&self.count, &other.count) else { return false };
        let is_below =
            |low: &Count, high: &Count| low.most().is_some_and(|most| most < high.least());
        if !is_below(one, two) && !is_below(two, one) {
            return false;
        }
        let tables = [self.uncounted(), other.uncounted()];
        let classes = tables[0].classes().merge(tables[1].classes());
        let mut seen: HashSet<(u32, u32), FxBuildHasher> = HashSet::default();
        let mut pending = vec![(tables[0].start(), tables[1].start())];
        seen.extend(&pending);
        while let Some(states) = pending.pop() {
            if one.is_marked(states.0) != two.is_marked(states.1) {
                return false;
            }
            for &byte in classes.representatives() {
                let next = (tables[0].next(states.0, byte), tables[1].next(states.1, byte));
                if next.0 != Self::DEAD && next.1 != Self::DEAD && seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::{Automaton, Pattern, RegexFlags, State};
    use crate::lexer::Compiler;
    use crate::util::limits::Limits;
    use proptest::prelude::*;

    fn compiled(regex: &str) -> Dfa {
        let pattern =
            Pattern::Regex { pattern: regex.to_owned(), flags: RegexFlags::default(), place: None };
        Compiler::new(&Meter::new(&Limits::default())).compile(&pattern).expect("a regex")
    }

    /// Returns the texts of `regex`, which are ASCII and have a number of characters within the
    /// bounds, each followed by a `!` that does not count.
    fn counted(regex: &str, least: u32, most: Option<u32>) -> Counted {
        let dfa = compiled(regex);
        let end = dfa.state_count() as u32;
        let state = |at| {
            let moves = (0..=u8::MAX).map(|byte| (byte, byte, dfa.next(at, byte)));
            let ends = dfa.is_accept(at).then_some((b'!', b'!', end));
            let moves = ends.into_iter().chain(moves.filter(|&(_, _, next)| next != Dfa::DEAD));
            State { moves: moves.collect(), accepts: false }
        };
        let mut states: Vec<State> = (0..end).map(state).collect();
        states.push(State { accepts: true, ..State::default() });
        let marked = (0..=end).map(|at| at != end).collect();
        Counted { automaton: Automaton::new(states), marked, least, most }
    }

    fn both(regex: &str, least: u32, most: Option<u32>) -> [Dfa; 2] {
        let meter = Meter::new(&Limits::default());
        let counted = counted(regex, least, most);
        [false, true]
            .map(|is_written_out| Dfa::of_counted(&counted, is_written_out, &meter).expect("small"))
    }

    #[test]
    fn counts_are_those_of_an_intersection() {
        for regex in ["(a|bc)*", "a{2,5}|b", "(ab)*c?", "a*b{3}", "[ab]*a[ab]{2}", "a"] {
            for (least, most) in
                [(0, Some(4)), (3, Some(3)), (2, None), (0, None), (5, Some(9)), (70, Some(200))]
            {
                let [apart, written_out] = both(regex, least, most);
                let bounds = most.map_or(String::new(), |most| most.to_string());
                let meter = Meter::new(&Limits::default());
                let lengths = compiled(&format!("[abc]{{{least},{bounds}}}!"));
                let texts = compiled(&format!("({regex})!"));
                let expected = algebra::intersection(&texts, &lengths, &meter).expect("small");
                assert_eq!(written_out, expected, "{regex} {least} {most:?}");
                assert_eq!(apart.is_empty(), expected.is_empty());
                assert_eq!(apart.shortest(), expected.shortest(), "{regex} {least} {most:?}");
                assert_eq!(apart.shortest_length(), expected.shortest_length());
                assert!(apart.is_empty() || apart.counts());
            }
        }
    }

    #[test]
    fn what_counts_too_far_is_refused() {
        let meter = Meter::new(&Limits::default());
        let far = counted("(a|bc)*", 0, Some(u32::MAX));
        assert!(Dfa::of_counted(&far, false, &meter).is_err());
    }

    proptest! {
        /// Texts are matched as by the expanded automaton, and exactly the states that lead to a
        /// lexeme are live.
        #[test]
        fn states_live_as_they_are_written_out(
            text in "[abc]{0,12}!?",
            least in 0u32..6,
            more in prop::option::of(0u32..6),
            regex in prop::sample::select(vec!["(a|bc)*", "(ab)*c?", "a*b{3}|c*", "[ab]*a[ab]{2}"]),
        ) {
            let [apart, written_out] = both(regex, least, more.map(|more| least + more));
            let mut states = [apart.start(), written_out.start()];
            for byte in text.bytes() {
                states = [apart.next(states[0], byte), written_out.next(states[1], byte)];
                prop_assert_eq!(states[0] == Dfa::DEAD, states[1] == Dfa::DEAD);
                prop_assert_eq!(apart.is_accept(states[0]), written_out.is_accept(states[1]));
                prop_assert_eq!(apart.distance(states[0]), written_out.distance(states[1]));
            }
        }
    }
}
