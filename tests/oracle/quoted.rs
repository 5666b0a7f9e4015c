//! Lines of plain data: words and quoted byte strings with the escapes `\n \t \r \\ \" \xNN`.

/// Returns the words of a line; escapes in quoted words are decoded, and `#` outside quotes begins
/// a comment.
pub fn words(line: &str) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        if let Some(after) = rest.strip_prefix('"') {
            let (word, tail) = unquote(after, line);
            words.push(word);
            rest = tail.trim_start();
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            words.push(rest.as_bytes()[..end].to_vec());
            rest = rest[end..].trim_start();
        }
    }
    words
}

fn unquote<'a>(text: &'a str, line: &str) -> (Vec<u8>, &'a str) {
    let bytes = text.as_bytes();
    let mut word = Vec::new();
    let mut at = 0;
    loop {
        match bytes.get(at).unwrap_or_else(|| panic!("no closing quote: {line}")) {
            b'"' => return (word, &text[at + 1..]),
            b'\\' => {
                at += 1;
                match bytes[at] {
                    b'n' => word.push(b'\n'),
                    b't' => word.push(b'\t'),
                    b'r' => word.push(b'\r'),
                    b'x' => {
                        word.push(u8::from_str_radix(&text[at + 1..at + 3], 16).unwrap());
                        at += 2;
                    }
                    other => word.push(other),
                }
                at += 1;
            }
            &byte => {
                word.push(byte);
                at += 1;
            }
        }
    }
}

/// Formats `bytes` as a readable string in quotes, for messages.
pub fn show(bytes: &[u8]) -> String {
    let mut shown = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => {
                shown.push('\\');
                shown.push(byte as char);
            }
            b'\n' => shown.push_str("\\n"),
            0x20..0x7f => shown.push(byte as char),
            _ => shown.push_str(&format!("\\x{byte:02x}")),
        }
    }
    shown.push('"');
    shown
}
