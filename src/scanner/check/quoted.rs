//! Terminals whose lexemes are quoted: the closing quote ends them, and nothing continues after it.

use crate::lexer::Dfa;

pub(super) const QUOTE: u8 = b'"';
const ESCAPE: u8 = b'\\';

/// How much of a quoted text has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuotedState {
    Nothing,
    Inside,
    Escape,
    All,
}

impl QuotedState {
    /// Returns the state after `byte`; `None` if no quoted text continues with it.
    fn then(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Nothing, QUOTE) => Some(Self::Inside),
            (Self::Nothing | Self::All, _) => None,
            (Self::Inside, QUOTE) => Some(Self::All),
            (Self::Inside, ESCAPE) => Some(Self::Escape),
            (Self::Inside | Self::Escape, _) => Some(Self::Inside),
        }
    }
}

/// Returns whether all lexemes of an automaton begin with a quote and end with the next one that is
/// not escaped. The only lexeme of a plain string is its `text`.
pub(super) fn are_quoted(text: Option<&str>, dfa: &Dfa) -> bool {
    match text {
        Some(text) => {
            text.bytes().try_fold(QuotedState::Nothing, QuotedState::then) == Some(QuotedState::All)
        }
        None => are_all_quoted(dfa),
    }
}

fn are_all_quoted(dfa: &Dfa) -> bool {
    // If this holds for all lexemes without counting, it holds for all.
    let dfa = &*dfa.uncounted();
    // The quote, the escape, and one other byte of each class.
    let classes = dfa.classes();
    let mut bytes = vec![(QUOTE, classes.get(QUOTE)), (ESCAPE, classes.get(ESCAPE))];
    for (&first, class) in classes.representatives().iter().zip(0..) {
        let plain = |byte: &u8| ![QUOTE, ESCAPE].contains(byte);
        let byte = Some(first).filter(plain).or_else(|| classes.bytes(class).find(plain));
        bytes.extend(byte.map(|byte| (byte, class)));
    }
    let mut of: Vec<Option<QuotedState>> = vec![None; dfa.state_count()];
    let Some(start) = of.first_mut() else { return false };
    *start = Some(QuotedState::Nothing);
    let mut pending = vec![0u32];
    while let Some(state) = pending.pop() {
        let Some(read) = of[state as usize] else { return false };
        if dfa.is_accept(state) != (read == QuotedState::All) {
            return false;
        }
        let (mut before, row) = (Dfa::DEAD, dfa.row(state));
        for &(byte, class) in &bytes {
            let next = row[usize::from(class)];
            // Neighbouring bytes mostly lead to the same state with the same meaning.
            if next == Dfa::DEAD || next == before {
                continue;
            }
            before = if byte == QUOTE || byte == ESCAPE { Dfa::DEAD } else { next };
            let Some(then) = read.then(byte) else { return false };
            match of[next as usize] {
                None => {
                    of[next as usize] = Some(then);
                    pending.push(next);
                }
                // If every text is quoted, the suffixes of the two differ, so they are not the same
                // state.
                Some(known) if known != then => return false,
                Some(_) => {}
            }
        }
    }
    true
}
