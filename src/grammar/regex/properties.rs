//! Character properties in ECMA-262 regular expressions: `\p{Lu}`.

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

use crate::grammar::regex::Refusal;
use crate::grammar::regex::sets::set;

/// Returns the characters of the property whose name begins `rest`, the text after the name, and
/// whether it is spelled as in other dialects.
pub(super) fn property(rest: &str) -> Result<(ClassUnicode, &str, bool), Refusal> {
    let in_braces = rest.strip_prefix('{');
    let name = match in_braces {
        Some(rest) => rest.split_once('}'),
        // Other dialects allow names of one letter without braces.
        None => rest.split_at_checked(1),
    };
    let (name, rest) =
        name.ok_or_else(|| Refusal("`\\p` must be followed by a name in braces".to_owned()))?;
    let read = |regex: String| regex_syntax::parse(&regex).ok();
    let own = read(format!("\\p{{{name}}}"));
    let is_foreign = in_braces.is_none() || own.is_none();
    // Java has the POSIX classes as properties.
    let parsed = own.or_else(|| read(format!("[[:{}:]]", name.to_ascii_lowercase())));
    let unknown = || Refusal(format!("there is no character property `{}`", name.escape_debug()));
    let hir = parsed.ok_or_else(unknown)?;
    let class = match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class.clone(),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).map_err(|_| unknown())?;
            let only = text.chars().next().ok_or_else(unknown)?;
            set(&[(only, only)])
        }
        _ => return Err(unknown()),
    };
    Ok((class, rest, is_foreign))
}
