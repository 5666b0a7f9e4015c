//! Patterns of the formats that drafts define.
//!
//! Some are narrower than their standards, where these are not regular or the automata would be
//! large: leap seconds require an offset of whole or half hours, host names a length that need not
//! be counted, and for `regex` see [`super::regex_format`].

use crate::grammar::pattern::Pattern;
use crate::schema::text::{regex, regex_format};

/// Formats that drafts define.
pub(in crate::schema) const KNOWN: [&str; 19] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Whether a draft defines the format.
pub(in crate::schema) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

const PERCENT: &str = "%[0-9A-Fa-f]{2}";
const UCS: &str = "\u{a0}-\u{d7ff}\u{f900}-\u{fdcf}\u{fdf0}-\u{ffef}\u{10000}-\u{1fffd}\u{20000}-\u{dfffd}\u{e1000}-\u{efffd}";
const PRIVATE: &str = "\u{e000}-\u{f8ff}\u{f0000}-\u{ffffd}\u{100000}-\u{10fffd}";

/// Returns the contents of strings of a format; of no strings if it is unknown.
pub(super) fn pattern(name: &str) -> Pattern {
    match name {
        "date" => regex(date()),
        "time" => regex(time()),
        "date-time" => regex(format!("{}[Tt](?:{})", date(), time())),
        "duration" => regex(duration()),
        "email" => email("", false),
        "idn-email" => email("\u{80}-\u{10fffd}", false),
        "hostname" => regex(hostname("")),
        "idn-hostname" => regex(hostname("ß-öø-ÿα-ωа-я\u{4e00}-\u{9fff}\u{ac00}-\u{d7a3}")),
        "ipv4" => regex(ipv4()),
        "ipv6" => regex(ipv6()),
        "uri" => regex(uri("", false)),
        "uri-reference" => regex(uri("", true)),
        "iri" => regex(uri(UCS, false)),
        "iri-reference" => regex(uri(UCS, true)),
        "uri-template" => regex(template()),
        "json-pointer" => regex(pointer()),
        "relative-json-pointer" => regex(format!("(?:0|[1-9][0-9]*)(?:#|{})", pointer())),
        "uuid" => regex("[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"),
        "regex" => regex_format::pattern(),
        _ => Pattern::Alternation(Vec::new()),
    }
}

/// RFC 3339, `full-date`. The last day of February depends only on the year's digits.
fn date() -> String {
    let days = "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])";
    let leap = "[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00";
    format!("(?:[0-9]{{4}}-(?:{days})|(?:{leap})-02-29)")
}

/// RFC 3339, `full-time`. A leap second is the last second of a day in UTC.
fn time() -> String {
    let offset = "[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]";
    let mut leaps = vec!["23:59:60(?:\\.[0-9]+)?[Zz]".to_owned()];
    let offset_of = |half: u32| format!("{:02}:{:02}", half / 2, half % 2 * 30);
    for half in 0..48u32 {
        let local = (1439 + half * 30) % 1440;
        let (hour, minute) = (local / 60, local % 60);
        let (east, west) = (offset_of(half), offset_of((48 - half) % 48));
        leaps.push(format!("{hour:02}:{minute:02}:60(?:\\.[0-9]+)?(?:\\+{east}|-{west})"));
    }
    let usual = format!("(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:{offset})");
    format!("(?:{usual}|{})", leaps.join("|"))
}

/// RFC 3339, appendix A.
fn duration() -> String {
    let time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
    let date = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)";
    format!("P(?:{date}(?:{time})?|{time}|[0-9]+W)")
}

/// Like `pattern`, for texts whose total length is bounded so that no part can be too long, and
/// parts need not be counted.
pub(super) fn short_pattern(name: &str) -> Pattern {
    match name {
        "email" => email("", true),
        "idn-email" => email("\u{80}-\u{10fffd}", true),
        _ => pattern(name),
    }
}

/// Whether texts of the format are addresses, whose domains are bounded.
pub(super) fn is_address(name: &str) -> bool {
    matches!(name, "email" | "idn-email")
}

/// Length of the longest address whose domain cannot be too long.
pub(super) const SHORT_ADDRESS: u64 = 255;
/// Upper bound on the length of addresses.
pub(super) const LONGEST_ADDRESS: u64 = 64 + 1 + 255;

/// RFC 5321, `Mailbox`; the local part has at most 64 characters. The domain is bounded like host
/// names, unless the address is short.
fn email(letters: &str, is_short: bool) -> Pattern {
    let atom = format!("[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~{letters}-]+");
    let quoted = format!(r#""(?:[ !#-\[\]-~{letters}]|\\[ -~])*""#);
    let label =
        format!("[A-Za-z0-9{letters}](?:[A-Za-z0-9{letters}-]{{0,61}}[A-Za-z0-9{letters}])?");
    let literal = format!("\\[(?:{}|IPv6:{})\\]", ipv4(), ipv6());
    let local = regex(format!("(?:{atom}(?:\\.{atom})*|{quoted})"));
    let local = Pattern::Intersection(vec![local, regex(format!("[ -~{letters}]{{1,64}}"))]);
    let domain = match is_short {
        true => format!("{label}(?:\\.{label})*"),
        false => {
            let one = format!("[A-Za-z0-9{letters}]");
            let narrow = format!("{one}(?:[A-Za-z0-9{letters}-]{{0,22}}{one})?");
            format!("{label}(?:\\.{label}){{0,2}}|{narrow}(?:\\.{narrow}){{3,9}}")
        }
    };
    Pattern::Concat(vec![local, regex(format!("@(?:{domain}|{literal})"))])
}

/// RFC 1123: labels of at most 63 characters, 253 in all. Three labels of any length never exceed
/// this, nor do ten labels of 24 characters. Labels with hyphens as third and fourth character are
/// reserved for other encodings (RFC 5891), and left out.
fn hostname(letters: &str) -> String {
    let label = |most: usize, letters: &str| {
        let (one, more) = (format!("[A-Za-z0-9{letters}]"), format!("[A-Za-z0-9{letters}-]"));
        let rest = most - 5;
        // One to four characters, or more if the third and fourth are not both hyphens.
        let short = format!("{one}|{one}{one}|{one}{more}{one}|{one}{more}{more}{one}");
        let long = format!("{one}{more}(?:{one}{more}|-{one}){more}{{0,{rest}}}{one}");
        format!("(?:{short}|{long})")
    };
    let wide = label(63, "");
    if !letters.is_empty() {
        // Each letter takes up to five characters in the encoding whose length counts.
        let wide = format!("(?:{wide}|{})", label(11, letters));
        return format!("(?:{wide}(?:\\.{wide}){{0,2}})");
    }
    let narrow = label(24, "");
    format!("(?:{wide}(?:\\.{wide}){{0,2}}|{narrow}(?:\\.{narrow}){{3,9}})")
}

fn ipv4() -> String {
    let octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
    format!("(?:{octet}(?:\\.{octet}){{3}})")
}

/// RFC 4291, section 2.2: eight groups, of which one run of zeros may be omitted, and the last two
/// may be an IPv4 address.
fn ipv6() -> String {
    let group = "[0-9A-Fa-f]{1,4}";
    let end = format!("(?:{group}:{group}|{})", ipv4());
    let mut forms = vec![format!("(?:{group}:){{6}}{end}")];
    for before in 0..=7usize {
        // This many groups before the gap, and at most as many after it as omit at least one.
        let head = match before {
            0 => String::new(),
            count => format!("{group}(?::{group}){{{}}}", count - 1),
        };
        let most = 7 - before;
        let mut tails = vec![String::new()];
        if most >= 1 {
            tails.push(group.to_owned());
        }
        if most >= 2 {
            tails.push(format!("(?:{group}:){{0,{}}}{end}", most - 2));
        }
        forms.push(format!("{head}::(?:{})", tails.join("|")));
    }
    format!("(?:{})", forms.join("|"))
}

/// RFC 3986 and RFC 3987.
fn uri(letters: &str, may_be_relative: bool) -> String {
    let unit = |more: &str| format!("(?:[A-Za-z0-9._~!$&'()*+,;={more}{letters}-]|{PERCENT})");
    let segment = unit(":@");
    let future = "[vV][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+";
    let host = format!("(?:\\[(?:{}|{future})\\]|{}*)", ipv6(), unit(""));
    let authority = format!("(?:{}*@)?{host}(?::[0-9]*)?", unit(":"));
    let path = format!("(?:/{segment}*)*");
    let absolute = format!("/(?:{segment}+{path})?");
    let private = if letters.is_empty() { "" } else { PRIVATE };
    let tail = format!("(?:\\?(?:{segment}|[/?{private}])*)?(?:#(?:{segment}|[/?])*)?");
    let whole = format!(
        "[A-Za-z][A-Za-z0-9+.-]*:(?://{authority}{path}|{absolute}|{segment}+{path}|){tail}"
    );
    if !may_be_relative {
        return whole;
    }
    let relative = format!("(?://{authority}{path}|{absolute}|{}+{path}|){tail}", unit("@"));
    format!("(?:{whole}|{relative})")
}

/// RFC 6570.
fn template() -> String {
    let literal = format!("(?:[!#$&'(-;=?-\\[\\]_a-z~{UCS}]|{PERCENT})");
    let variable = format!(
        "(?:[A-Za-z0-9_]|{PERCENT})(?:\\.?(?:[A-Za-z0-9_]|{PERCENT}))*(?::[1-9][0-9]{{0,3}}|\\*)?"
    );
    format!("(?:{literal}|\\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\\}})*")
}

/// RFC 6901.
fn pointer() -> String {
    "(?:/(?:[^~/]|~[01])*)*".to_owned()
}
