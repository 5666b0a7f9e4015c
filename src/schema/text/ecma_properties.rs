//! Properties of characters in regular expressions of ECMA-262: `\p{Lu}`.

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

use crate::schema::text::ecma_tree::{Refusal, set};

/// The characters of the property whose name begins `rest`, what stands behind the name, and
/// whether it is written as other dialects have it.
pub(super) fn property(rest: &str) -> Result<(ClassUnicode, &str, bool), Refusal> {
    let in_braces = rest.strip_prefix('{');
    let name = match in_braces {
        Some(rest) => rest.split_once('}'),
        // Other dialects have names of one letter without braces.
        None => rest.split_at_checked(1),
    };
    let (name, rest) = name.ok_or_else(|| Refusal("`\\p` wants a name in braces".to_owned()))?;
    let read = |regex: String| regex_syntax::parse(&regex).ok();
    let own = read(format!("\\p{{{name}}}"));
    let is_foreign = in_braces.is_none() || own.is_none();
    // Java has the classes of POSIX as properties.
    let parsed = own.or_else(|| read(format!("[[:{}:]]", name.to_ascii_lowercase())));
    let unknown =
        || Refusal(format!("no property of characters is called `{}`", name.escape_debug()));
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
