//! Character classes as Python defines them, and the folding of `re.IGNORECASE`.
//!
//! `\d` is the category Nd, `\w` the categories L and N and the underscore, `\s` is `str.isspace`:
//! White_Space and the four separators U+001C to U+001F. The tables are those of Unicode 16
//! (CPython 3.14); an older CPython differs in characters that its own Unicode version does not
//! assign yet.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// `\d`, `\s` or `\w`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Digit,
    Space,
    Word,
}

/// The tables in use, read from `regex-syntax` at the first request.
#[derive(Default)]
pub(in crate::lexer) struct Tables {
    categories: [[Option<ClassUnicode>; 2]; 3],
    /// All characters that fold to another one.
    cased: Option<ClassUnicode>,
}

impl Tables {
    /// Returns the characters of `category`; under the flag `a` only those of ASCII.
    pub(super) fn category(&mut self, category: Category, ascii: bool) -> ClassUnicode {
        let syntax = match (category, ascii) {
            (Category::Digit, false) => r"\p{Nd}",
            (Category::Space, false) => r"[\p{White_Space}\x1C-\x1F]",
            (Category::Word, false) => r"[\p{L}\p{N}_]",
            (Category::Digit, true) => "[0-9]",
            (Category::Space, true) => r"[ \t\n\r\f\v]",
            (Category::Word, true) => "[0-9A-Za-z_]",
        };
        self.categories[category as usize][usize::from(ascii)]
            .get_or_insert_with(|| class(syntax))
            .clone()
    }

    /// Returns the class that matches `set` under the flag `i`, and the number of characters that
    /// were folded.
    pub(in crate::lexer) fn fold(&mut self, mut set: ClassUnicode) -> (ClassUnicode, usize) {
        let cased = self.cased.get_or_insert_with(|| class(r"\p{Changes_When_Casemapped}"));
        let mut folded = set.clone();
        folded.intersect(cased);
        let count = folded.ranges().iter().map(ClassUnicodeRange::len).sum();
        folded.try_case_fold_simple().expect("the folding tables are compiled in");
        // Python's tables treat the two Turkish letters as equal to i; Unicode's simple folding
        // does not.
        let dotted = ['I', 'i', '\u{130}', '\u{131}'];
        if set
            .ranges()
            .iter()
            .any(|range| dotted.iter().any(|c| (range.start()..=range.end()).contains(c)))
        {
            folded.union(&ClassUnicode::new(dotted.map(|c| ClassUnicodeRange::new(c, c))));
        }
        set.union(&folded);
        (set, count)
    }
}

/// Returns the class that `syntax`, a constant of this module, describes.
fn class(syntax: &'static str) -> ClassUnicode {
    let hir = regex_syntax::parse(syntax).expect("the constants of this module are classes");
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => class,
        other => unreachable!("the constants of this module are classes: {other:?}"),
    }
}

/// Returns the characters that have the property `name`: a general category, a script, a script
/// extension or a binary property. Spelling is loose, as in UTS #18: `Lowercase_Letter`,
/// `lowercaseletter` and `Ll` are equivalent.
pub(super) fn property(name: &str) -> Option<ClassUnicode> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | '=' | ':');
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let hir = regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        // A class of one character is a literal.
        HirKind::Literal(literal) => {
            let c = std::str::from_utf8(&literal.0).ok()?.chars().next()?;
            Some(ClassUnicode::new([ClassUnicodeRange::new(c, c)]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_characters_that_fold_are_known_as_cased() {
        let mut all = class(r"\p{Changes_When_Casemapped}");
        all.negate();
        for range in all.ranges() {
            for c in range.start()..=range.end() {
                let alone = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
                let mut folded = alone.clone();
                folded.case_fold_simple();
                assert_eq!(folded, alone, "{c:?}");
            }
        }
    }
}
