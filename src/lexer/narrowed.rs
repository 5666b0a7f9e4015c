//! What a pattern is read as less than it says.

use crate::util::diagnostic::{Diagnostic, Place};

/// A group that a back reference means and that is read as some of its texts only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Narrowed {
    /// As written.
    pub(crate) group: String,
    pub(crate) texts: Vec<String>,
    /// Whether it stands below a negation: what is no such text is taken to be repeated by any
    /// other.
    pub(crate) is_negated: bool,
    /// Of the regex.
    pub(crate) place: Option<Place>,
}

/// So many texts are too many to name.
const MANY: usize = 17;

impl Narrowed {
    /// The finding about terminal `name`; `place` stands in where the regex has no place itself.
    pub(crate) fn into_diagnostic(self, name: &str, place: Option<&Place>) -> Diagnostic {
        self.about(&format!("the pattern of terminal {name}"), place)
    }

    /// The same about a pattern that is no terminal's.
    pub(crate) fn about(self, subject: &str, place: Option<&Place>) -> Diagnostic {
        let texts: Vec<String> = self.texts.iter().map(|text| format!("`{text}`")).collect();
        let read = match texts.len() {
            _ if self.is_negated => {
                "below a negation: any character beyond ASCII is taken to repeat any other, so \
                 more is forbidden than it says"
                    .to_owned()
            }
            MANY.. => "which is read as an ASCII character only".to_owned(),
            count => format!("which is read as one of {count} texts only: {}", texts.join(" ")),
        };
        let message = format!("{subject} refers back to `{}`, {read}", self.group);
        Diagnostic::warning("narrowed-group", message)
            .at(self.place.or_else(|| place.cloned()))
            .help("write the texts that are meant into the group, as in `(EOF|END)`")
    }
}
