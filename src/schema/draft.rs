//! The drafts of JSON Schema.

/// Which version of JSON Schema the keywords are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Draft {
    /// Read as draft 4, with what it has under other names ([`meant`](super::meant)).
    Three,
    Four,
    Six,
    Seven,
    /// 2019-09.
    Eight,
    /// 2020-12.
    Nine,
}

impl Draft {
    /// What people call it.
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
