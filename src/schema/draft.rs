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

impl Draft {
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
