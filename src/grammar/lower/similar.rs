//! "Did you mean": the defined name nearest to one that is not.

use crate::util::diagnostic::Diagnostic;

/// Longer names are not compared: the distance takes quadratic time.
const MAX_LENGTH: usize = 64;
/// Names looked at.
const MAX_CANDIDATES: usize = 10_000;

/// Adds the name nearest to `name` as help, if one is near.
pub(crate) fn did_you_mean<'a>(
    diagnostic: Diagnostic,
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    if name.len() > MAX_LENGTH {
        return diagnostic;
    }
    let limit = name.chars().count().div_ceil(3);
    let best = candidates
        .take(MAX_CANDIDATES)
        .filter(|candidate| {
            candidate.len() <= MAX_LENGTH && candidate.len().abs_diff(name.len()) <= limit * 4
        })
        .map(|candidate| (distance(name, candidate), candidate))
        .min();
    match best {
        Some((distance, candidate)) if distance <= limit => {
            diagnostic.help(format!("did you mean `{candidate}`?"))
        }
        _ => diagnostic,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_a_far_one_is_not() {
        let help = |name: &str| {
            let names = ["object", "array", "NUMBER"];
            did_you_mean(Diagnostic::error("x", "x"), name, names.into_iter()).help
        };
        assert_eq!(help("objct").as_deref(), Some("did you mean `object`?"));
        assert_eq!(help("NUMBR").as_deref(), Some("did you mean `NUMBER`?"));
        assert_eq!(help("string"), None);
    }
}
