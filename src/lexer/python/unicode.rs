//! Character classes as Python defines them, and how `re.IGNORECASE` folds.
//!
//! `\d` is the category Nd, `\w` the categories L and N and the underscore, `\s` is `str.isspace`: White_Space and the
//! four separators U+001C to U+001F. The tables are those of Unicode 16 (CPython 3.14); an older CPython differs
//! in characters that its own Unicode version does not assign yet.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// `\d`, `\s` or `\w`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Digit,
    Space,
    Word,
}

impl Category {
    /// Its characters; under the flag `a` only those of ASCII.
    pub(super) fn class(self, ascii: bool) -> ClassUnicode {
        let syntax = match (self, ascii) {
            (Category::Digit, false) => r"\p{Nd}",
            (Category::Space, false) => r"[\p{White_Space}\x1C-\x1F]",
            (Category::Word, false) => r"[\p{L}\p{N}_]",
            (Category::Digit, true) => "[0-9]",
            (Category::Space, true) => r"[ \t\n\r\f\v]",
            (Category::Word, true) => "[0-9A-Za-z_]",
        };
        let hir = regex_syntax::parse(syntax).expect("the syntax is one of the constants above");
        match hir.into_kind() {
            HirKind::Class(Class::Unicode(class)) => class,
            other => unreachable!("a character class is a class: {other:?}"),
        }
    }
}

/// The characters that match the literal character `c` under the flag `i`.
pub(in crate::lexer) fn fold_char(c: char, ascii: bool) -> ClassUnicode {
    fold(ClassUnicode::new([ClassUnicodeRange::new(c, c)]), ascii)
}

/// What matches a set of `class` under the flag `i`.
pub(super) fn fold(mut class: ClassUnicode, ascii: bool) -> ClassUnicode {
    if ascii {
        let shifted = |from: char, to: char| {
            let mut part = ClassUnicode::new([ClassUnicodeRange::new(from, char::from(from as u8 + 25))]);
            part.intersect(&class);
            let shift = |c: char| char::from((c as u8).wrapping_sub(from as u8).wrapping_add(to as u8));
            ClassUnicode::new(
                part.ranges().iter().map(|r| ClassUnicodeRange::new(shift(r.start()), shift(r.end()))),
            )
        };
        let (lower, upper) = (shifted('A', 'a'), shifted('a', 'A'));
        class.union(&lower);
        class.union(&upper);
        return class;
    }
    class.try_case_fold_simple().expect("the folding tables are compiled in");
    // Python's tables hold the two Turkish letters for equal to i; Unicode's simple folding does not.
    let dotted = ClassUnicode::new(['I', 'i', '\u{130}', '\u{131}'].map(|c| ClassUnicodeRange::new(c, c)));
    let mut common = dotted.clone();
    common.intersect(&class);
    if !common.ranges().is_empty() {
        class.union(&dotted);
    }
    class
}
