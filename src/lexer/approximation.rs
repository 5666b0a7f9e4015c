//! Patterns that were approximated by a smaller language.

use crate::util::diagnostic::{Diagnostic, Place};

/// A group that a back reference names, restricted to some of its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Narrowed {
    /// The source of the group.
    pub(crate) group: String,
    pub(crate) texts: Vec<String>,
    /// Whether the group is below a negation: there a text that is not listed is assumed to be
    /// repeated by any other such text.
    pub(crate) is_negated: bool,
    /// Position of the regex.
    pub(crate) place: Option<Place>,
}

/// Number of texts from which on they are not listed.
const MANY: usize = 17;

impl Narrowed {
    /// Returns the warning about terminal `name`; `place` is used if the regex has no place itself.
    pub(crate) fn into_diagnostic(self, name: &str, place: Option<&Place>) -> Diagnostic {
        self.about(&format!("the pattern of terminal {name}"), place)
    }

    /// Returns the same about a pattern that is not a terminal's.
    pub(crate) fn about(self, subject: &str, place: Option<&Place>) -> Diagnostic {
        let texts: Vec<String> = self.texts.iter().map(|text| format!("`{text}`")).collect();
        let read = match texts.len() {
            _ if self.is_negated => {
                "under a negation: any non-ASCII character is taken to repeat any other, so more \
                 texts are forbidden than the pattern states"
                    .to_owned()
            }
            MANY.. => "which is read as a single ASCII character".to_owned(),
            count => format!("which is read as one of only {count} texts: {}", texts.join(" ")),
        };
        let message = format!("{subject} refers back to `{}`, {read}", self.group);
        Diagnostic::warning("narrowed-group", message)
            .at(self.place.or_else(|| place.cloned()))
            .help("list the intended texts in the group, as in `(EOF|END)`")
    }
}
