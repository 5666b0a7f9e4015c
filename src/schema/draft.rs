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
