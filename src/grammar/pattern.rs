//! Patterns of terminals: trees whose leaves are strings, ranges, Python regexes and ready-made
//! automata.

use serde::{Deserialize, Serialize};

use crate::grammar::tokens::Tokens;
use crate::util::diagnostic::Place;

pub(crate) use crate::grammar::automaton::{Automaton, Counted, Moves, State};

/// A set of texts. Texts are UTF-8; the lexer layer compiles patterns to automata over bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Pattern {
    /// A plain string, possibly with the `i` flag (Unicode simple case folding, as Python's
    /// `re.IGNORECASE`).
    Literal { text: String, ignore_case: bool },
    /// `"a".."z"`, both ends included.
    Range(char, char),
    /// A regular expression in the syntax of Python's `re`.
    Regex {
        pattern: String,
        flags: RegexFlags,
        #[serde(skip)]
        place: Option<Place>,
    },
    /// A concatenation; the empty one matches the empty text.
    Concat(Vec<Pattern>),
    /// A union; the empty one matches nothing.
    Alternation(Vec<Pattern>),
    /// At least `min` and at most `max` times (`None`: unbounded).
    Repeat { pattern: Box<Pattern>, min: u32, max: Option<u32> },
    /// An intersection; the empty one matches every text.
    Intersection(Vec<Pattern>),
    /// A complement.
    Complement(Box<Pattern>),
    /// The texts of an automaton over bytes.
    Automaton(Automaton),
    /// The texts of an automaton that enter a number of marked states within bounds: of a terminal
    /// as a whole.
    Counted(Counted),
    /// The texts of a pattern that have no other of its texts as a prefix: those read up to the
    /// first match.
    Shortest(Box<Pattern>),
    /// Any one of these tokens of the vocabulary, each spelled as no text is
    /// ([`Tokens::spellings`]).
    Tokens(Tokens),
    /// The JSON texts that satisfy a schema: of a terminal as a whole. Replaced by rules before
    /// patterns are compiled.
    Schema(String),
}

/// Flags after a regex, `imslux` as in Lark. `l` and `u` change nothing for text patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct RegexFlags {
    /// `i`: letters match both cases.
    pub(crate) ignore_case: bool,
    /// `m`: only affects `^` and `$`, which terminals may not use.
    pub(crate) multi_line: bool,
    /// `s`: `.` matches a newline too.
    pub(crate) dot_all: bool,
    /// `x`: white space and comments in the pattern are skipped.
    pub(crate) verbose: bool,
    /// llguidance's `allow_invalid_utf8`: classes are sets of bytes, and an escape is a byte. The
    /// byte [`MARK`](crate::grammar::tokens::MARK) is in no class.
    pub(crate) bytes: bool,
}

impl Pattern {
    /// Whether this is a plain string: plain strings win ties against patterns.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(self, Pattern::Literal { .. })
    }

    /// Whether a regex in it has a look-around. Cost: the size of the tree.
    pub(crate) fn looks_around(&self) -> bool {
        const LOOKS: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];
        self.has_regex(&|pattern, _| LOOKS.iter().any(|look| pattern.contains(look)))
    }

    /// Whether it may match texts that are not UTF-8. Cost: the size of the tree.
    pub(crate) fn reads_bytes(&self) -> bool {
        self.has_regex(&|_, flags| flags.bytes)
    }

    /// Whether it contains a regex for which `is_wanted` returns true.
    fn has_regex(&self, is_wanted: &dyn Fn(&str, RegexFlags) -> bool) -> bool {
        match self {
            Pattern::Regex { pattern, flags, .. } => is_wanted(pattern, *flags),
            Pattern::Concat(parts) | Pattern::Alternation(parts) | Pattern::Intersection(parts) => {
                parts.iter().any(|part| part.has_regex(is_wanted))
            }
            Pattern::Repeat { pattern, .. }
            | Pattern::Complement(pattern)
            | Pattern::Shortest(pattern) => pattern.has_regex(is_wanted),
            Pattern::Literal { .. }
            | Pattern::Range(..)
            | Pattern::Automaton(_)
            | Pattern::Counted(_)
            | Pattern::Tokens(_)
            | Pattern::Schema(_) => false,
        }
    }

    /// Whether it contains a complement, an intersection, an automaton or the like. Cost: the size
    /// of the tree.
    pub(crate) fn has_algebra(&self) -> bool {
        match self {
            Pattern::Literal { .. } | Pattern::Range(..) | Pattern::Regex { .. } => false,
            Pattern::Concat(parts) | Pattern::Alternation(parts) => {
                parts.iter().any(Pattern::has_algebra)
            }
            Pattern::Repeat { pattern, .. } => pattern.has_algebra(),
            Pattern::Intersection(_)
            | Pattern::Complement(_)
            | Pattern::Automaton(_)
            | Pattern::Counted(_)
            | Pattern::Shortest(_)
            | Pattern::Tokens(_)
            | Pattern::Schema(_) => true,
        }
    }

    /// Whether the parts of an automaton fit together, which the builders of patterns ensure.
    pub(crate) fn is_sound(&self) -> bool {
        match self {
            Pattern::Concat(parts) | Pattern::Alternation(parts) | Pattern::Intersection(parts) => {
                parts.iter().all(Pattern::is_sound)
            }
            Pattern::Repeat { pattern, .. }
            | Pattern::Complement(pattern)
            | Pattern::Shortest(pattern) => pattern.is_sound(),
            Pattern::Counted(counted) => counted.marked.len() == counted.automaton.states.len(),
            Pattern::Literal { .. }
            | Pattern::Range(..)
            | Pattern::Regex { .. }
            | Pattern::Automaton(_)
            | Pattern::Tokens(_)
            | Pattern::Schema(_) => true,
        }
    }
}
