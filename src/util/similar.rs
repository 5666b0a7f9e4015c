//! The known name nearest to one that is not known.

/// Longer names are not compared: the distance takes quadratic time.
const MAX_LENGTH: usize = 64;
/// Names looked at.
const MAX_CANDIDATES: usize = 10_000;

/// The candidate nearest to `name`, if one is near: a third of its letters may differ.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    let limit = name.chars().count().div_ceil(3);
    let best = candidates
        .take(MAX_CANDIDATES)
        .filter(|candidate| {
            candidate.len() <= MAX_LENGTH && candidate.len().abs_diff(name.len()) <= limit * 4
        })
        .map(|candidate| (distance(name, candidate), candidate))
        .min();
    best.filter(|&(distance, _)| distance <= limit).map(|(_, candidate)| candidate)
}

/// Insertions, deletions and substitutions that make `a` into `b` (Levenshtein), cases apart
/// counting too.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
