//! Lists of names, written as one text with bars between them.

/// Returns whether a name is in a list.
pub(crate) fn is_among(names: &str, name: &str) -> bool {
    names.split('|').any(|own| own == name)
}
