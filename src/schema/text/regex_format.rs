//! The format `regex`: regular expressions of ECMA-262 with the flag `u`.
//!
//! They are no regular language, so this is a part of them. Groups nest three deep, and none is
//! referred to. A group with a name stands first and holds no group, so that no two have the same.
//! Look-arounds hold no groups and stand in none, either. A range of a class is one whose order is
//! seen at once: it begins with a character of ASCII, or ends in a later block of characters; or
//! both its ends are escapes of the same kind, `\x41-\x5A`, whose first digits tell the order.
//! Counts have four digits at most. Properties are the general categories and some others. Within
//! groups, of which each is written out here, ranges are those of digits and letters, and
//! properties few.

use std::fmt::Write as _;

/// How deep groups nest.
const DEPTH: usize = 3;

/// General categories, and properties that are either there or not.
const PROPERTIES: &str = "L|Lu|Ll|Lt|LC|Lm|Lo|M|Mn|Mc|Me|N|Nd|Nl|No|P|Pc|Pd|Ps|Pe|Pi|Pf|Po|S|Sm|\
    Sc|Sk|So|Z|Zs|Zl|Zp|C|Cc|Cf|Cs|Co|Cn|Letter|Uppercase_Letter|Lowercase_Letter|Mark|Number|\
    Decimal_Number|Punctuation|Symbol|Separator|Other|Any|ASCII|Alphabetic|Lowercase|Uppercase|\
    White_Space|Emoji|ASCII_Hex_Digit|Hex_Digit|ID_Start|ID_Continue|\
    (?:Script|sc|Script_Extensions|scx)=(?:Latin|Greek|Cyrillic|Han|Hiragana|Katakana|Hangul|\
    Arabic|Hebrew|Thai|Devanagari|Common)|\
    (?:General_Category|gc)=(?:L|Lu|Ll|M|N|Nd|P|S|Z|C|Letter|Number)";

/// Those that are known within groups.
const FEW_PROPERTIES: &str = "L|Lu|Ll|Lm|Lo|N|Nd|P|S|Z";

/// Characters that stand for themselves behind a backslash; within classes a hyphen, too.
const SYNTAX: &str = r"^$\.*+?()[]{}|/";

/// The characters of the whole code above ASCII, in blocks.
const BLOCKS: [(u32, u32); 4] =
    [(0x80, 0xff), (0x100, 0xfff), (0x1000, 0xffff), (0x1_0000, 0x10_ffff)];

/// The expressions, as an expression.
pub(super) fn expression() -> String {
    let counts = counts();
    let (few, all) = (few_in_class(), class());
    let outermost = |depth| if depth == DEPTH { &all } else { &few };
    let unnamed = (0..=DEPTH)
        .fold(String::new(), |inner, depth| nested(depth, &inner, outermost(depth), &counts));
    let within = nested(0, "", &few, &counts);
    let named = format!(r"\(\?<[A-Za-z_\$][0-9A-Za-z_\$]*>{within}\)(?:(?:[*+?]|{counts})\??)?");
    format!(r"(?:(?:\^?{named})?{unnamed})")
}

/// Those whose groups nest `depth` deep, made of those that nest one less.
fn nested(depth: usize, inner: &str, class: &str, counts: &str) -> String {
    let properties = if depth == DEPTH { PROPERTIES } else { FEW_PROPERTIES };
    let escape = format!(r"\\(?:[dDwWsS]|{})", character(properties));
    let (group, look) = match depth {
        0 => (String::new(), String::new()),
        DEPTH => {
            // In look-arounds, which stand at the outermost level, there are no groups.
            let within = nested(0, "", class, counts);
            (format!(r"|\((?:\?:)?{inner}\)"), format!(r"|\(\?<?[=!]{within}\)"))
        }
        _ => (format!(r"|\((?:\?:)?{inner}\)"), String::new()),
    };
    let atom = format!(r"[^\\^$.*+?()\[\]{{}}|]|\.|{escape}|{class}{group}");
    let term = format!(r"(?:\^|\$|\\[bB]{look}|(?:{atom})(?:(?:[*+?]|{counts})\??)?)");
    format!(r"(?:{term}*(?:\|{term}*)*)")
}

/// Escapes of one character, without the backslash.
fn character(properties: &str) -> String {
    let syntax = in_class(SYNTAX);
    format!(
        r"[tnvfr{syntax}]|c[A-Za-z]|x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}}|[pP]\{{(?:{properties})\}}"
    )
}

/// Classes within groups: ranges of digits, of small and of capital letters.
fn few_in_class() -> String {
    let single = format!(r"[^\\\[\]-]|\\(?:[dDwWsSb-]|{})", character(FEW_PROPERTIES));
    let ranges = [('0', '9'), ('a', 'z'), ('A', 'Z')].into_iter();
    let ranges = ranges.flat_map(|(from, to)| (from..=to).map(move |low| (low, to)));
    let ranges: Vec<String> = ranges.map(|(low, to)| format!("{low}-[{low}-{to}]")).collect();
    format!(r"\[\^?-?(?:{single}|{})*-?\]", ranges.join("|"))
}

/// Classes. Hyphens that are no ranges stand at their ends.
fn class() -> String {
    let single = format!(r"[^\\\[\]-]|\\(?:[dDwWsSb-]|{})", character(PROPERTIES));
    let mut ranges = Vec::new();
    // From a character of ASCII on to itself or one behind it.
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

/// Two escapes of one kind with a hyphen between them, whose digits are the `same`, then one that
/// is greater in the second, then `rest` more; or that one is equal, and the rest of the first are
/// zeros.
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

/// A hexadecimal digit from one number to another.
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

/// `{2}`, `{2,}`, and `{2,3}` with numbers that ascend: two of as many digits, from three digits
/// on, do so in the first, or the lower one has zeros behind it.
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

/// Characters as they stand in a class.
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
