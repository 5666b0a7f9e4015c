//! "Did you mean": the defined name nearest to an undefined one.

use crate::util::diagnostic::Diagnostic;
use crate::util::similar::nearest;

/// Adds the name nearest to `name` as help, if one is near.
pub(crate) fn did_you_mean<'a>(
    diagnostic: Diagnostic,
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    match nearest(name, candidates) {
        Some(candidate) => diagnostic.help(format!("did you mean `{candidate}`?")),
        None => diagnostic,
    }
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
