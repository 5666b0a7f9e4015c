//! Translation of ECMA-262 regular expressions, the syntax of `pattern`, to patterns of the lexer.
//!
//! A schema's pattern is searched for, not matched: `a` is found in `cat`. The search is
//! unnecessary at ends where all alternatives are anchored. If the pattern has other assertions (an
//! anchor inside, a word boundary, a look-around), the text is put between two marks, noncharacters
//! that appear in no text: `^` is then a look-behind for the first mark, `$` a look-ahead for the
//! second, and both lie within the marked text, as the lexer's look-arounds require. The first mark
//! is repeated once for each character of the longest look-behind, so that none of them reaches
//! before it.

use regex_syntax::hir::ClassUnicode;

use crate::grammar::pattern::{Pattern, RegexFlags};
use crate::schema::text::ecma_anchors::taken_out;
pub(super) use crate::schema::text::ecma_parser::Less;
use crate::schema::text::ecma_parser::parse;
use crate::schema::text::ecma_separators::set_apart;
use crate::schema::text::ecma_tree::{Refusal, Regex, everything, set};

/// Marks before and after a text.
pub(super) const MARKS: [char; 2] = ['\u{10fffe}', '\u{10ffff}'];

/// Maximum width of a look-behind; wider ones take more states than allowed.
const MOST_MARKS: usize = 1000;

/// Meaning of a schema's pattern.
pub(super) enum Meaning {
    /// The texts themselves, or their prefixes if the end is open.
    Plain { pattern: Pattern, is_open: bool },
    /// Texts between [`MARKS`]: the first mark is repeated `marks` times, the second appears once.
    Marked { pattern: Pattern, marks: usize },
}

/// Whether a pattern is approximated by a smaller language because it has back-references or counts
/// too far.
pub(in crate::schema) fn is_narrowed(text: &str) -> bool {
    let may_refer = |pair: &[u8]| pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9' | b'k');
    let may_count = |five: &[u8]| five.iter().all(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    (bytes.windows(2).any(may_refer) || bytes.windows(5).any(may_count))
        && read(text, Some(Less::FAR)).is_ok_and(|(_, is_narrow)| is_narrow)
}

/// Returns the first construct in a pattern that belongs to other dialects and not to ECMA-262.
pub(in crate::schema) fn foreign(text: &str) -> Option<String> {
    // Most patterns contain none of the characters of such constructs.
    if text.contains("(?") || text.contains('\\') {
        super::ecma_parser::foreign(text)
    } else {
        None
    }
}

/// Whether the text contains counts, so that its automaton has its own bound: if that is exceeded,
/// a [smaller language](Less::counts) may be used.
pub(super) fn counts(text: &str) -> bool {
    text.bytes().zip(text.bytes().skip(1)).any(|pair| matches!(pair, (b'{' | b',', b'0'..=b'9')))
}

/// Reads `text`. Returns the branches of the pattern, whose union is its meaning, and whether they
/// are a smaller language than the pattern's, which is possible only if `less` is given.
pub(super) fn read(text: &str, less: Option<Less>) -> Result<(Vec<Meaning>, bool), Refusal> {
    let (mut regex, mut is_narrow) = parse(text, less)?;
    if let Some(apart) = less.and_then(|less| less.apart) {
        is_narrow |= set_apart(&mut regex, apart);
    }
    let mut meanings = Vec::new();
    branches(taken_out(regex)?, (false, false), &mut meanings);
    Ok((meanings, is_narrow))
}

/// Removes anchors from the ends of the alternatives of `regex`. `anchored` says which ends are
/// anchored outside of it.
fn branches(regex: Regex, anchored: (bool, bool), meanings: &mut Vec<Meaning>) {
    match regex {
        Regex::Alternation(parts) => {
            parts.into_iter().for_each(|part| branches(part, anchored, meanings));
        }
        Regex::Concat(mut parts) => {
            let (mut start, mut end) = anchored;
            while matches!(parts.first(), Some(Regex::Start)) {
                parts.remove(0);
                start = true;
            }
            while matches!(parts.last(), Some(Regex::End)) {
                parts.pop();
                end = true;
            }
            match <[Regex; 1]>::try_from(parts) {
                Ok([only @ (Regex::Alternation(_) | Regex::Concat(_))]) => {
                    branches(only, (start, end), meanings);
                }
                Ok([only]) => meanings.push(branch(&only, start, end)),
                Err(parts) => meanings.push(branch(&Regex::Concat(parts), start, end)),
            }
        }
        other => branches(Regex::Concat(vec![other]), anchored, meanings),
    }
}

fn branch(regex: &Regex, start: bool, end: bool) -> Meaning {
    let is_marked = looks(regex);
    let found;
    let regex = match is_marked {
        true => regex,
        false => {
            found = least(least(regex.clone(), end, false), start, true);
            &found
        }
    };
    let mut text = String::new();
    let any = |text: &mut String| {
        print(&Regex::Set(everything()), is_marked, text);
        text.push('*');
    };
    let marks = if is_marked { reach(regex).max(1) } else { 0 };
    (0..marks).for_each(|_| text.push(MARKS[0]));
    if !start {
        any(&mut text);
    }
    text.push_str("(?:");
    print(regex, is_marked, &mut text);
    text.push(')');
    if is_marked {
        if !end {
            any(&mut text);
        }
        text.push(MARKS[1]);
    }
    let pattern = Pattern::Regex { pattern: text, flags: RegexFlags::default(), place: None };
    match is_marked {
        true => Meaning::Marked { pattern, marks },
        false => Meaning::Plain { pattern, is_open: !end },
    }
}

/// Reduces a regex that is not anchored at one side to the least that has to be found: optional
/// repetitions at that side are dropped.
fn least(regex: Regex, is_anchored: bool, at_front: bool) -> Regex {
    match regex {
        regex if is_anchored => regex,
        Regex::Repeat(inner, min, max) if max != Some(min) => {
            least(Regex::Repeat(inner, min, Some(min)), is_anchored, at_front)
        }
        Regex::Repeat(_, 0, _) => Regex::Concat(Vec::new()),
        Regex::Concat(mut parts) => {
            if at_front {
                parts.reverse();
            }
            while let Some(last) = parts.pop() {
                match least(last, false, at_front) {
                    Regex::Concat(rest) if rest.is_empty() => {}
                    rest => {
                        parts.push(rest);
                        break;
                    }
                }
            }
            if at_front {
                parts.reverse();
            }
            Regex::Concat(parts)
        }
        Regex::Alternation(parts) => {
            Regex::Alternation(parts.into_iter().map(|part| least(part, false, at_front)).collect())
        }
        other => other,
    }
}

/// Returns the maximum number of characters that a look-behind reads. The lexer refuses unbounded
/// ones.
fn reach(regex: &Regex) -> usize {
    match regex {
        Regex::Look { ahead, inner, .. } => {
            if *ahead {
                reach(inner)
            } else {
                width(inner).saturating_add(reach(inner))
            }
        }
        Regex::Concat(parts) | Regex::Alternation(parts) => {
            parts.iter().map(reach).max().unwrap_or(0)
        }
        Regex::Repeat(inner, ..) => reach(inner),
        Regex::Boundary(_) => 1,
        Regex::Set(_) | Regex::Mark(_) | Regex::Start | Regex::End => 0,
    }
    .min(MOST_MARKS)
}

/// Returns the maximum number of characters matched inside a look-behind, including the mark of an
/// anchor. Unbounded repetitions count one round.
fn width(regex: &Regex) -> usize {
    match regex {
        Regex::Set(_) | Regex::Mark(_) | Regex::Start => 1,
        Regex::Concat(parts) => parts.iter().map(width).fold(0, usize::saturating_add),
        Regex::Alternation(parts) => parts.iter().map(width).max().unwrap_or(0),
        Regex::Repeat(inner, _, max) => {
            width(inner).saturating_mul(max.map_or(1, |max| max as usize))
        }
        Regex::End | Regex::Boundary(_) | Regex::Look { .. } => 0,
    }
}

fn looks(regex: &Regex) -> bool {
    match regex {
        Regex::Set(_) | Regex::Mark(_) => false,
        Regex::Concat(parts) | Regex::Alternation(parts) => parts.iter().any(looks),
        Regex::Repeat(inner, ..) => looks(inner),
        Regex::Start | Regex::End | Regex::Boundary(_) | Regex::Look { .. } => true,
    }
}

/// Writes the regex in the syntax of Python's `re`. If the text `is_marked`, its characters exclude
/// the marks.
fn print(regex: &Regex, is_marked: bool, text: &mut String) {
    let mut group = |open: &str, parts: &[Regex], between: &str| {
        text.push_str(open);
        for (at, part) in parts.iter().enumerate() {
            text.push_str(if at > 0 { between } else { "" });
            print(part, is_marked, text);
        }
        text.push(')');
    };
    match regex {
        Regex::Set(set) if is_marked => {
            let mut set = set.clone();
            set.intersect(&everything_but_marks());
            print_set(&set, text);
        }
        Regex::Set(set) => print_set(set, text),
        Regex::Mark(at) => text.push(MARKS[*at]),
        Regex::Concat(parts) => group("(?:", parts, ""),
        Regex::Alternation(parts) => group("(?:", parts, "|"),
        Regex::Look { ahead, negated, inner } => {
            // Python's look-behinds have a fixed width: each alternative becomes its own
            // look-behind.
            if let (false, Regex::Alternation(parts)) = (ahead, &**inner) {
                let look = |part: &Regex| Regex::Look {
                    ahead: false,
                    negated: *negated,
                    inner: Box::new(part.clone()),
                };
                let looks: Vec<Regex> = parts.iter().map(look).collect();
                return group("(?:", &looks, if *negated { "" } else { "|" });
            }
            let open = match (ahead, negated) {
                (true, false) => "(?=",
                (true, true) => "(?!",
                (false, false) => "(?<=",
                (false, true) => "(?<!",
            };
            let inner = if *ahead { inner } else { &Box::new(marked(inner)) };
            group(open, std::slice::from_ref(inner), "");
        }
        Regex::Start => text.extend(["(?<=", &MARKS[0].to_string(), ")"]),
        Regex::End => text.extend(["(?=", &MARKS[1].to_string(), ")"]),
        Regex::Boundary(true) => {
            text.push_str(
                "(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))",
            );
        }
        Regex::Boundary(false) => {
            text.push_str(
                "(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))",
            );
        }
        Regex::Repeat(inner, min, max) => {
            group("(?:", std::slice::from_ref(inner), "");
            text.push_str(&match (min, max) {
                (0, None) => "*".to_owned(),
                (1, None) => "+".to_owned(),
                (0, Some(1)) => "?".to_owned(),
                (min, None) => format!("{{{min},}}"),
                (min, Some(max)) => format!("{{{min},{max}}}"),
            });
        }
    }
}

/// Returns the inside of a look-behind, with each anchor of the start replaced by its mark.
fn marked(regex: &Regex) -> Regex {
    let all = |parts: &[Regex]| parts.iter().map(marked).collect();
    match regex {
        Regex::Start => Regex::Mark(0),
        Regex::Concat(parts) => Regex::Concat(all(parts)),
        Regex::Alternation(parts) => Regex::Alternation(all(parts)),
        Regex::Repeat(inner, min, max) => Regex::Repeat(Box::new(marked(inner)), *min, *max),
        other => other.clone(),
    }
}

fn print_set(set: &ClassUnicode, text: &mut String) {
    if set.ranges().is_empty() {
        text.push_str("[^\\s\\S]");
        return;
    }
    text.push('[');
    for range in set.ranges() {
        let (start, end) = (u32::from(range.start()), u32::from(range.end()));
        text.push_str(&format!("\\U{start:08x}"));
        if start < end {
            text.push_str(&format!("-\\U{end:08x}"));
        }
    }
    text.push(']');
}

fn everything_but_marks() -> ClassUnicode {
    set(&[('\0', '\u{10fffd}')])
}

/// Whether a pattern may be an alternative of another pattern: it is read exactly, and its groups
/// have no look-arounds, flags, names or back-references.
pub(in crate::schema) fn is_plain(text: &str) -> bool {
    let mut groups = text.match_indices("(?").map(|(at, begin)| &text[at + begin.len()..]);
    let refers = |two: &[u8]| two[0] == b'\\' && (two[1].is_ascii_digit() || two[1] == b'k');
    groups.all(|group| group.starts_with(':'))
        && !text.as_bytes().windows(2).any(refers)
        && matches!(parse(text, None), Ok((_, false)))
}
