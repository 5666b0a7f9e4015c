//! Converts the contents of strings to JSON lexemes: adds quotes and mandatory escapes.
//!
//! Quotes, backslashes and control characters have to be escaped in a string. Each has one spelling
//! here: the short escape if there is one, otherwise `\u` and four digits. All other characters are
//! unescaped. If neither escape is allowed, the character cannot appear.

use rustc_hash::FxHashMap;
use smallvec::smallvec;

use crate::grammar::pattern::{Automaton, Moves, State};
use crate::lexer::Dfa;
use crate::schema::text::automaton::push_run;
use crate::schema::text::escapes::Escapes;

/// Returns the automaton of the lexemes of the strings with these contents.
pub(super) fn spell(contents: &Dfa, allowed: &Escapes) -> Automaton {
    let count = contents.state_count() as u32;
    // State 0 reads the quote; the state `q` of the contents is `q + 1`; the last one is the end.
    let end = count + 1;
    let mut states = vec![State::default(); count as usize + 2];
    states[0].moves.push((b'"', b'"', 1));
    states[end as usize].accepts = true;
    let plain = plain_runs(contents);
    let mut escaped = Escaped::new(contents, allowed);
    let mut moves = Moves::new();
    let mut is_apart = true;
    for state in 0..count {
        moves.clear();
        for &run in &plain {
            if let Some(next) = target(contents, state, run.0) {
                push_run(&mut moves, run, next);
            }
        }
        if let Some(next) = escaped.behind(state, &mut states) {
            moves.push((b'\\', b'\\', next));
        }
        if contents.is_accept(state) {
            moves.push((b'"', b'"', end));
        }
        // Sorting by bytes saves the compiler a search.
        moves.sort_unstable();
        is_apart &= contents.is_accept(state) || moves.iter().any(|&run| !is_within_escape(run));
        states[state as usize + 1].moves.clone_from(&moves);
    }
    // The contents are minimal, and each has one spelling. So only a state after a backslash could
    // be equivalent to another state, one without any other moves.
    match count > 0 && allowed.are_whole() && (is_apart || escaped.made.is_empty()) {
        true => Automaton::minimal(states),
        false => Automaton::new(states),
    }
}

/// Whether all bytes of a move may appear after the backslash of an escape.
fn is_within_escape((first, last, _): (u8, u8, u32)) -> bool {
    let stands = |byte: u8| byte.is_ascii_hexdigit() || br#""\/nrtu"#.contains(&byte);
    (first..=last).all(stands)
}

/// Returns the state after `byte`, a character of the contents.
fn target(contents: &Dfa, state: u32, byte: u8) -> Option<u32> {
    match contents.next(state, byte) {
        Dfa::DEAD => None,
        next => Some(next + 1),
    }
}

/// States after backslashes, without duplicates.
struct Escaped<'a> {
    contents: &'a Dfa,
    allowed: &'a Escapes,
    coded: Vec<u8>,
    /// One character of each class of the escaped characters.
    kinds: Vec<u8>,
    /// By the states after the characters of `kinds`.
    known: FxHashMap<Vec<Option<u32>>, Option<u32>>,
    made: FxHashMap<Moves, u32>,
}

impl<'a> Escaped<'a> {
    fn new(contents: &'a Dfa, allowed: &'a Escapes) -> Self {
        let coded: Vec<u8> = allowed.coded().collect();
        let all = allowed.short().iter().map(|&(of, _)| of).chain(coded.iter().copied());
        let mut kinds: Vec<u8> = Vec::new();
        for byte in all {
            let class = contents.classes().get(byte);
            if kinds.iter().all(|&known| contents.classes().get(known) != class) {
                kinds.push(byte);
            }
        }
        let (known, made) = (FxHashMap::default(), FxHashMap::default());
        Self { contents, allowed, coded, kinds, known, made }
    }

    /// Returns the state after the backslash that follows `state`, or `None` if no escape can
    /// follow.
    fn behind(&mut self, state: u32, states: &mut Vec<State>) -> Option<u32> {
        let kinds: Vec<Option<u32>> =
            self.kinds.iter().map(|&byte| target(self.contents, state, byte)).collect();
        if let Some(&known) = self.known.get(&kinds) {
            return known;
        }
        let behind = self.escapes(state, states);
        self.known.insert(kinds, behind);
        behind
    }

    fn escapes(&mut self, state: u32, states: &mut Vec<State>) -> Option<u32> {
        let contents = self.contents;
        let target = |byte: u8| target(contents, state, byte);
        let mut escapes = Moves::new();
        for &(of, letter) in self.allowed.short() {
            escapes.extend(target(of).map(|next| (letter, letter, next)));
        }
        let live: Vec<u8> =
            self.coded.iter().copied().filter(|&code| target(code).is_some()).collect();
        let mut digits = Moves::new();
        for half in live.chunk_by(|one, other| one / 16 == other / 16) {
            let first = b"01234567"[usize::from(half[0] / 16)];
            let last = self.allowed.last_digits(half, |code| target(code).unwrap_or_default());
            digits.push((first, first, state_of(last, states, &mut self.made)));
        }
        if !digits.is_empty() {
            for _ in 0..2 {
                let next = state_of(digits, states, &mut self.made);
                digits = smallvec![(b'0', b'0', next)];
            }
            let next = state_of(digits, states, &mut self.made);
            escapes.push((b'u', b'u', next));
        }
        (!escapes.is_empty()).then(|| state_of(escapes, states, &mut self.made))
    }
}

/// Returns ranges of unescaped bytes that no state of `contents` distinguishes.
fn plain_runs(contents: &Dfa) -> Vec<(u8, u8)> {
    let mut plain = Vec::new();
    for (first, last, _) in contents.classes().runs() {
        let mut first = first.max(b' ');
        for escaped in [b'"', b'\\'] {
            if (first..=last).contains(&escaped) {
                if first < escaped {
                    plain.push((first, escaped - 1));
                }
                first = escaped + 1;
            }
        }
        if first <= last {
            plain.push((first, last));
        }
    }
    plain
}

/// Returns a non-accepting state with these moves.
fn state_of(moves: Moves, states: &mut Vec<State>, made: &mut FxHashMap<Moves, u32>) -> u32 {
    if let Some(&known) = made.get(&moves) {
        return known;
    }
    let id = states.len() as u32;
    states.push(State { moves: moves.clone(), accepts: false });
    made.insert(moves, id);
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::pattern::Pattern;
    use crate::lexer::Compiler;
    use crate::schema::options::{SchemaOptions, StringEscapes};
    use crate::schema::text::automaton::among_blanks;
    use crate::schema::text::{lengths, regex};
    use crate::util::limits::Limits;
    use crate::util::meter::Meter;

    fn compiled(pattern: &Pattern) -> Dfa {
        let meter = Meter::new(&Limits::default());
        // Counted strings are written out within other texts.
        let within = Pattern::Intersection(vec![pattern.clone()]);
        Compiler::new(&meter).compile(&within).expect("small")
    }

    #[test]
    fn automata_are_those_of_their_regexes() {
        let plain = r#"[^"\\\x00-\x1f]"#;
        let code = r"\\u(?:[0-9a-cA-Ce-fE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})";
        let pair = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}";
        let any_way = format!(r#""(?:{plain}|\\["\\/bfnrt]|{code}|{pair})*""#);
        let allowed = Escapes::new(&SchemaOptions::default());
        let spelled = |min, max, allowed: &Escapes| {
            let is_free = (min, max) == (0, None) && allowed.are_free() || allowed.are_general();
            lengths::spelled((min, max), [true, true], is_free, allowed)
        };
        let mut options =
            SchemaOptions { escapes: StringEscapes::General, ..SchemaOptions::default() };
        let general = Escapes::new(&options);
        assert_eq!(compiled(&spelled(0, None, &general)), compiled(&regex(any_way)));
        options.escape_letters = "\"u".to_owned();
        let few = regex(format!(r#""(?:{plain}|\\"|{code}|{pair})*""#));
        assert_eq!(compiled(&spelled(0, None, &Escapes::new(&options))), compiled(&few));
        options.escapes = StringEscapes::Needed;
        let coded = r"\\u00(?:0[0-9a-fA-F]|1[0-9a-fA-F]|5[cC])";
        let needed = compiled(&regex(format!(r#""(?:{plain}|\\"|{coded})*""#)));
        let few = Escapes::new(&options);
        assert_eq!(compiled(&spelled(0, None, &few)), needed);
        let all = compiled(&Pattern::Automaton(lengths::counted(0, None)));
        assert_eq!(compiled(&Pattern::Automaton(spell(&all, &few))), needed);
        let mandatory = r#"\\["\\bfnrt]|\\u00(?:0[0-7bBeEfF]|1[0-9a-fA-F])"#;
        for (min, max, counts) in [(0, Some(3), "{0,3}"), (2, Some(5), "{2,5}"), (2, None, "{2,}")]
        {
            let expected = compiled(&regex(format!("\"(?:{plain}|{mandatory}){counts}\"")));
            assert_eq!(compiled(&spelled(min, max, &allowed)), expected);
            let contents =
                compiled(&Pattern::Automaton(lengths::counted(min.into(), max.map(u64::from))));
            assert_eq!(compiled(&Pattern::Automaton(spell(&contents, &allowed))), expected);
        }
        let blanks = |text, before, behind| Pattern::Automaton(among_blanks(text, before, behind));
        assert_eq!(
            compiled(&blanks(", ", true, true)),
            compiled(&regex(r"[ \t\n\r]*, [ \t\n\r]*"))
        );
        assert_eq!(compiled(&blanks("[", false, true)), compiled(&regex(r"\[[ \t\n\r]*")));
        assert_eq!(compiled(&blanks("]", true, false)), compiled(&regex(r"[ \t\n\r]*\]")));
    }
}
