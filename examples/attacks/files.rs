//! Files that cost much more than their size suggests: tokenizers, and saved constraints.

use lrmask::{Limits, VocabularyReader};

use crate::{Answer, Attack};

pub(crate) fn attacks() -> Vec<Attack> {
    let attack = |name, sizes, run| Attack { name, sizes, run };
    vec![
        attack("`Replace` steps of a tokenizer", [2, 6, 12], |n, limits| {
            let step = |from: char| {
                let to = char::from_u32(from as u32 + 1).unwrap_or('z').to_string().repeat(16);
                format!(
                    "{{\"type\":\"Replace\",\"pattern\":{{\"String\":\"{from}\"}},\"content\":\"{to}\"}}"
                )
            };
            let steps: Vec<String> = ('a'..).take(n).map(step).collect();
            vocabulary(
                &format!(
                    "{{\"model\":{{\"type\":\"BPE\",\"vocab\":{{\"a\":0}}}},\"decoder\":{{\"type\":\"Sequence\",\"decoders\":[{}]}}}}",
                    steps.join(",")
                ),
                limits,
            )
        }),
        attack("`Replace` of one letter by itself", [2, 6, 12], |n, limits| {
            let to = "t".repeat(16);
            let step = format!(
                "{{\"type\":\"Replace\",\"pattern\":{{\"String\":\"t\"}},\"content\":\"{to}\"}}"
            );
            vocabulary(
                &format!(
                    "{{\"model\":{{\"type\":\"BPE\",\"vocab\":{{\"t\":0}}}},\"decoder\":{{\"type\":\"Sequence\",\"decoders\":[{}]}}}}",
                    vec![step; n].join(",")
                ),
                limits,
            )
        }),
        attack("a large token id", [1 << 16, 1 << 21, (1 << 24) - 1], |n, limits| {
            vocabulary(
                &format!(
                    "{{\"model\":{{\"type\":\"BPE\",\"vocab\":{{\"a\":{n}}}}},\"decoder\":{{\"type\":\"ByteLevel\"}}}}"
                ),
                limits,
            )
        }),
        attack("JSON in JSON in a tokenizer", [1_000, 100_000, 10_000_000], |n, limits| {
            vocabulary(
                &format!(
                    "{{\"model\":{{\"type\":\"BPE\"}},\"decoder\":{}{}}}",
                    "[".repeat(n),
                    "]".repeat(n)
                ),
                limits,
            )
        }),
        attack("a long list in a tokenizer", [1_000, 100_000, 10_000_000], |n, limits| {
            vocabulary(
                &format!(
                    "{{\"model\":{{\"type\":\"BPE\",\"vocab\":{{\"a\":0}}}},\"decoder\":{{\"x\":[{}0]}}}}",
                    "0,".repeat(n)
                ),
                limits,
            )
        }),
        attack("long tokens with common beginnings", [100, 1_000, 10_000], |n, limits| {
            // Allocated once, so that the library's own memory use is visible.
            let mut file = String::with_capacity(3 * n * n + 32 * n + 100);
            file.push_str(
                "{\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{",
            );
            for i in 0..n {
                let comma = if i == 0 { "" } else { "," };
                file.extend([comma, "\""]);
                file.extend(std::iter::repeat_n('a', 6 * i + 1));
                file.push_str(&format!("\":{i}"));
            }
            file.push_str("}}}");
            vocabulary(&file, limits)
        }),
        attack("long tokens with nothing in common", [10, 100, 1_000], |n, limits| {
            let token = |i: usize| -> String {
                (0..30_000)
                    .map(|at| char::from(b'a' + ((at * at * (i + 3) / 7 + i) % 26) as u8))
                    .collect()
            };
            let tokens: Vec<String> = (0..n).map(|i| format!("\"{i} {}\":{i}", token(i))).collect();
            vocabulary(
                &format!(
                    "{{\"model\":{{\"type\":\"BPE\",\"vocab\":{{{}}}}},\"decoder\":{{\"type\":\"ByteLevel\"}}}}",
                    tokens.join(",")
                ),
                limits,
            )
        }),
    ]
}

fn vocabulary(file: &str, limits: &Limits) -> Answer {
    let word = match VocabularyReader::new().limits(limits).file_bytes(file.as_bytes()) {
        Ok(vocabulary) => format!("accepted, width {}", vocabulary.width()),
        Err(error) => format!("{:?}", error.kind()),
    };
    Answer { bytes: file.len(), word }
}
