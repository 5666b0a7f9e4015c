//! Resolution of a reference against a base address (RFC 3986, section 5.2).

/// Parts of an address. `None` means that a part is missing, which differs from an empty one.
struct Parts<'a> {
    scheme: Option<&'a str>,
    authority: Option<&'a str>,
    path: &'a str,
    query: Option<&'a str>,
    fragment: Option<&'a str>,
}

fn parts(text: &str) -> Parts<'_> {
    let (rest, fragment) = cut(text, '#');
    let (rest, query) = cut(rest, '?');
    let is_scheme = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let (scheme, rest) = match rest.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        _ => (None, rest),
    };
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            (Some(authority), path)
        }
        None => (None, rest),
    };
    Parts { scheme, authority, path, query, fragment }
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, behind)| (before, Some(behind)))
}

/// Splits an address into the part before its fragment, and the fragment.
pub(super) fn split(address: &str) -> (&str, &str) {
    address.split_once('#').unwrap_or((address, ""))
}

/// Resolves `reference` against `base`.
pub(super) fn resolve(base: &str, reference: &str) -> String {
    let (base, own) = (parts(base), parts(reference));
    let fragment = own.fragment;
    if own.scheme.is_some() {
        return join(own.scheme, own.authority, &without_dots(own.path), own.query, fragment);
    }
    if own.authority.is_some() {
        return join(base.scheme, own.authority, &without_dots(own.path), own.query, fragment);
    }
    let (path, query) = match own.path {
        "" => (base.path.to_owned(), own.query.or(base.query)),
        path if path.starts_with('/') => (without_dots(path), own.query),
        path => {
            let merged = match base.path.rfind('/') {
                Some(at) => format!("{}{path}", &base.path[..=at]),
                None if base.authority.is_some() => format!("/{path}"),
                None => path.to_owned(),
            };
            (without_dots(&merged), own.query)
        }
    };
    join(base.scheme, base.authority, &path, query, fragment)
}

fn join(
    scheme: Option<&str>,
    authority: Option<&str>,
    path: &str,
    query: Option<&str>,
    fragment: Option<&str>,
) -> String {
    let mut text = String::new();
    let mut add = |before: &str, part: Option<&str>, behind: &str| {
        if let Some(part) = part {
            text.extend([before, part, behind]);
        }
    };
    add("", scheme, ":");
    add("//", authority, "");
    add("", Some(path), "");
    add("?", query, "");
    add("#", fragment.filter(|fragment| !fragment.is_empty()), "");
    text
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut ends_in_directory = false;
    for part in path.split('/') {
        ends_in_directory = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." if kept.len() > 1 || kept.first().is_some_and(|first| !first.is_empty()) => {
                kept.pop();
            }
            ".." => {}
            part => kept.push(part),
        }
    }
    if ends_in_directory {
        kept.push("");
    }
    kept.join("/")
}

/// Decodes the percent escapes of a text.
pub(super) fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if bytes[at] == b'%' => {
                decoded.push(byte);
                at += 3;
            }
            _ => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of RFC 3986, section 5.4.
    #[test]
    fn references_of_the_standard() {
        let base = "http://a/b/c/d;p?q";
        for (reference, whole) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y#s", "http://a/b/c/g?y#s"),
            ("#s", "http://a/b/c/d;p?q#s"),
            ("", "http://a/b/c/d;p?q"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
        ] {
            assert_eq!(resolve(base, reference), whole, "{reference}");
        }
        assert_eq!(resolve("", "#/a"), "#/a");
        assert_eq!(decode("/a%22b%25"), "/a\"b%");
    }
}
