//! "Did you mean": the known word most similar to an unknown one.

/// Returns the known word most similar to `word`, ignoring case, if one is similar: a third of its
/// letters may differ, and two swapped letters are one difference.
pub(crate) fn nearest<'w>(word: &str, known: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    const LONGEST: usize = 64;
    if word.len() > LONGEST {
        return None;
    }
    let word = word.to_lowercase();
    let most = word.chars().count().div_ceil(3);
    let near = known.into_iter().filter(|known| known.len() <= LONGEST).filter_map(|known| {
        let distance = strsim::osa_distance(&word, &known.to_lowercase());
        (distance <= most).then_some((distance, known))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_far_one_is_not() {
        let words = ["FROM", "FOR", "WHERE"];
        assert_eq!(nearest("FORM", words), Some("FROM"));
        assert_eq!(nearest("wher", words), Some("WHERE"));
        assert_eq!(nearest("users", words), None);
    }
}
