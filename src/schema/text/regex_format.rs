//! The format `regex`: ECMA-262 regular expressions with the flag `u`.
//!
//! They are not a regular language, so this is a subset of them. Groups nest up to three deep,
//! without back-references. A named group comes first and contains no groups, so that no two have
//! the same name. Look-arounds contain no groups, and are not inside groups either. The order of a
//! class range is obvious from its form: it begins with an ASCII character, or ends in a later
//! block of characters; or both ends are escapes of the same kind, `\x41-\x5A`, whose first digits
//! determine the order. Counts have up to four digits. Properties are the general categories and
//! some others. Within groups and look-arounds, each of which is written out here, only ranges of
//! digits and letters and a few properties are included.

use std::fmt::Write as _;

use crate::grammar::pattern::Pattern;
use crate::schema::text::regex;

/// Maximum nesting depth of groups.
const DEPTH: usize = 3;

/// General categories, and binary properties.
const PROPERTIES: &str = "L|Lu|Ll|Lt|LC|Lm|Lo|M|Mn|Mc|Me|N|Nd|Nl|No|P|Pc|Pd|Ps|Pe|Pi|Pf|Po|S|Sm|\
    Sc|Sk|So|Z|Zs|Zl|Zp|C|Cc|Cf|Cs|Co|Cn|Letter|Uppercase_Letter|Lowercase_Letter|Mark|Number|\
    Decimal_Number|Punctuation|Symbol|Separator|Other|Any|ASCII|Alphabetic|Lowercase|Uppercase|\
    White_Space|Emoji|ASCII_Hex_Digit|Hex_Digit|ID_Start|ID_Continue|\
    (?:Script|sc|Script_Extensions|scx)=(?:Latin|Greek|Cyrillic|Han|Hiragana|Katakana|Hangul|\
    Arabic|Hebrew|Thai|Devanagari|Common)|\
    (?:General_Category|gc)=(?:L|Lu|Ll|M|N|Nd|P|S|Z|C|Letter|Number)";

/// Properties that are included within groups and look-arounds.
const FEW_PROPERTIES: &str = "L|Lu|Ll|Lm|Lo|N|Nd|P|S|Z";

/// Characters that mean themselves after a backslash; within classes, a hyphen does too.
const SYNTAX: &str = r"^$\.*+?()[]{}|/";

/// Blocks of the non-ASCII characters.
const BLOCKS: [(u32, u32); 4] =
    [(0x80, 0xff), (0x100, 0xfff), (0x1000, 0xffff), (0x1_0000, 0x10_ffff)];

/// Returns the pattern of the regular expressions.
pub(super) fn pattern() -> Pattern {
    let counts = counts();
    let quantifier = format!(r"(?:(?:[*+?]|{counts})\??)?");
    let few = Parts { properties: FEW_PROPERTIES, class: few_in_class(), quantifier: &quantifier };
    let all = Parts { properties: PROPERTIES, class: class(), quantifier: &quantifier };
    let look = Pattern::Concat(vec![regex(r"\(\?<?[=!]"), few.sequence(None, None), regex(r"\)")]);
    let inner = (0..DEPTH).fold(None, |inner, _| Some(few.sequence(inner, None)));
    let named = Pattern::Concat(vec![
        regex(r"\^?\(\?<[A-Za-z_\$][0-9A-Za-z_\$]*>"),
        few.sequence(None, None),
        regex(format!(r"\){quantifier}")),
    ]);
    let named = Pattern::Alternation(vec![named, regex("")]);
    Pattern::Concat(vec![named, all.sequence(inner, Some(look))])
}

/// Parts of a regular expression, as regular expressions.
struct Parts<'a> {
    properties: &'a str,
    class: String,
    quantifier: &'a str,
}

impl Parts<'_> {
    /// Returns the expressions with these groups and look-arounds.
    ///
    /// Their automaton is built before that of an expression around them, as each operand of an
    /// intersection is, and so is that of the classes: the whole in one go takes many more steps.
    fn sequence(&self, group: Option<Pattern>, look: Option<Pattern>) -> Pattern {
        let apart = |pattern| Pattern::Intersection(vec![pattern]);
        let escape = format!(r"\\(?:[dDwWsS]|{})", character(self.properties));
        let plain = regex(format!(r"[^\\^$.*+?()\[\]{{}}|]|\.|{escape}"));
        let group =
            group.map(|group| Pattern::Concat(vec![regex(r"\((?:\?:)?"), group, regex(r"\)")]));
        let atoms = [plain, apart(regex(self.class.as_str()))].into_iter().chain(group).collect();
        let atom = Pattern::Concat(vec![Pattern::Alternation(atoms), regex(self.quantifier)]);
        let terms = [regex(r"\^|\$|\\[bB]|\|"), atom].into_iter().chain(look).collect();
        let terms = Box::new(Pattern::Alternation(terms));
        apart(Pattern::Repeat { pattern: terms, min: 0, max: None })
    }
}

/// Returns the escapes of one character, without the backslash.
fn character(properties: &str) -> String {
    let syntax = in_class(SYNTAX);
    format!(
        r"[tnvfr{syntax}]|c[A-Za-z]|x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}}|[pP]\{{(?:{properties})\}}"
    )
}

/// Returns the classes within groups and look-arounds: with ranges of digits, lowercase and
/// uppercase letters.
fn few_in_class() -> String {
    let single = format!(r"[^\\\[\]-]|\\(?:[dDwWsSb-]|{})", character(FEW_PROPERTIES));
    let ranges = [('0', '9'), ('a', 'z'), ('A', 'Z')].into_iter();
    let ranges = ranges.flat_map(|(from, to)| (from..=to).map(move |low| (low, to)));
    let ranges: Vec<String> = ranges.map(|(low, to)| format!("{low}-[{low}-{to}]")).collect();
    format!(r"\[\^?-?(?:{single}|{})*-?\]", ranges.join("|"))
}

/// Returns the classes. Hyphens outside of ranges are at their ends.
fn class() -> String {
    let single = format!(r"[^\\\[\]-]|\\(?:[dDwWsSb-]|{})", character(PROPERTIES));
    let mut ranges = Vec::new();
    // From an ASCII character to itself or to a later one.
    for low in ' '..='~' {
        let is_special = |letter: &char| SYNTAX.contains(*letter) || *letter == '-';
        let plain: String = (low..='~').filter(|high| !r"\[]-".contains(*high)).collect();
        let escaped: String = (low..='~').filter(is_special).collect();
        let mut high = vec![format!("[{}]", in_class(&plain))];
        if !escaped.is_empty() {
            high.push(format!(r"\\[{}]", in_class(&escaped)));
        }
        let begin = match (is_special(&low), r"\[]-".contains(low)) {
            (true, true) => r"\\",
            (true, false) => r"\\?",
            _ => "",
        };
        let low = in_class(&low.to_string());
        ranges.push(format!("{begin}[{low}]-(?:{})", high.join("|")));
    }
    let ascii = format!("(?:[^\\\\\\[\\]\\-\u{80}-\u{10ffff}]|\\\\[{}\\-])", in_class(SYNTAX));
    ranges.push(format!("{ascii}-[\u{80}-\u{10ffff}]"));
    for pair in BLOCKS.windows(2) {
        let [start, end, after] =
            [pair[0].0, pair[0].1, pair[1].0].map(|code| char::from_u32(code).unwrap_or_default());
        ranges.push(format!("[{start}-{end}]-[{after}-\u{10ffff}]"));
    }
    ranges.extend(ordered_escapes(r"\\x", "", 1));
    for (same, rest) in [("", 3), ("0", 2), ("00", 1), ("04", 1)] {
        ranges.extend(ordered_escapes(r"\\u", same, rest));
    }
    let range = ranges.join("|");
    format!(r"\[\^?-?(?:{single}|{range})*-?\]")
}

/// Returns pairs of escapes of one kind with a hyphen between them. Their digits begin with `same`;
/// then the second escape has a greater digit and both have `rest` more, or they have the same
/// digit and the rest of the first are zeros.
fn ordered_escapes(escape: &str, same: &str, rest: usize) -> impl Iterator<Item = String> {
    let more = format!("[0-9A-Fa-f]{{{rest}}}");
    (0..16).map(move |digit| {
        let (own, begin) = (digits(digit, digit), format!("{escape}{same}"));
        let equal = format!("{begin}{own}0{{{rest}}}-{begin}{own}{more}");
        match digit {
            15 => equal,
            _ => {
                let above = digits(digit + 1, 15);
                format!("{equal}|{begin}{own}{more}-{begin}{above}{more}")
            }
        }
    })
}

/// Returns a class of the hexadecimal digits from one number to another.
fn digits(from: u32, to: u32) -> String {
    let mut letters = String::new();
    for digit in (from..=to).filter_map(|number| char::from_digit(number, 16)) {
        letters.push(digit);
        if digit.is_ascii_lowercase() {
            letters.push(digit.to_ascii_uppercase());
        }
    }
    format!("[{letters}]")
}

/// Matches `{2}`, `{2,}`, and `{2,3}` with ascending numbers. Of two numbers of the same length, if
/// that is at least three digits, the first digits ascend, or those after the first digit of the
/// lower number are zeros.
fn counts() -> String {
    let number = "(?:0|[1-9][0-9]{0,3})";
    let mut pairs = vec![format!("0,{number}")];
    for length in 1..=4usize {
        let rest = length - 1;
        if length < 4 {
            pairs.push(format!("[1-9][0-9]{{{rest}}},[1-9][0-9]{{{length},3}}"));
        }
        for first in 1..=9 {
            if first < 9 {
                let above = first + 1;
                pairs.push(format!("{first}[0-9]{{{rest}}},[{above}-9][0-9]{{{rest}}}"));
            }
            match rest {
                1 => pairs.extend((0..=9).map(|last| format!("{first}{last},{first}[{last}-9]"))),
                _ => pairs.push(format!("{first}0{{{rest}}},{first}[0-9]{{{rest}}}")),
            }
        }
    }
    format!(r"\{{(?:{number},?|{})\}}", pairs.join("|"))
}

/// Escapes characters for use in a class.
fn in_class(letters: &str) -> String {
    let mut escaped = String::new();
    for letter in letters.chars() {
        if letter.is_ascii_punctuation() {
            escaped.push('\\');
        }
        let _ = write!(escaped, "{letter}");
    }
    escaped
}
