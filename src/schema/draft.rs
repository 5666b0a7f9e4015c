//! The drafts of JSON Schema.

/// Version of JSON Schema that the keywords belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Draft {
    /// Read as draft 4, with its keywords of other names translated ([`meant`](super::meant)).
    Three,
    Four,
    Six,
    Seven,
    /// 2019-09.
    Eight,
    /// 2020-12.
    Nine,
}

/// Parts of the names of drafts. The inexact ones have letters and digits alone.
const NAMES: [(&str, &[&str], Draft); 6] = [
    ("draft-03", &["draft3", "draft03"], Draft::Three),
    ("draft-04", &["draft4", "draft04"], Draft::Four),
    ("draft-06", &["draft6", "draft06"], Draft::Six),
    ("draft-07", &["draft7", "draft07"], Draft::Seven),
    ("2019-09", &["201909"], Draft::Eight),
    ("2020-12", &["202012"], Draft::Nine),
];

impl Draft {
    /// Returns the draft whose meta-schema has this address.
    pub(super) fn at(address: &str) -> Option<Self> {
        let is_official = address.contains("json-schema.org");
        let (.., draft) = NAMES.iter().find(|(name, ..)| is_official && address.contains(name))?;
        Some(*draft)
    }

    /// Returns the draft that an inexact address probably means.
    pub(super) fn meant(address: &str) -> Option<Self> {
        let plain: String = address.chars().filter(char::is_ascii_alphanumeric).collect();
        let plain = plain.to_ascii_lowercase();
        let (.., draft) =
            NAMES.iter().find(|(_, names, _)| names.iter().any(|name| plain.contains(name)))?;
        Some(*draft)
    }

    /// Returns the usual name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Three => "draft 3",
            Self::Four => "draft 4",
            Self::Six => "draft 6",
            Self::Seven => "draft 7",
            Self::Eight => "2019-09",
            Self::Nine => "2020-12",
        }
    }
}
