//! The examples of Willard and Louf (section 3.1), and the time of a step at any length of the text
//! (their figure 2).

use std::time::Instant;

use anyhow::{Result, ensure};
use lrmask::{Constraint, Grammar};

use super::print_head;
use crate::writer::{Mode, Writer};

/// Prompts and regexes of the paper's listings 3.1 to 3.3.
const EXAMPLES: [(&str, &str); 3] = [
    ("Is 1+1=2? ", r"\s*([Yy]es|[Nn]o|[Nn]ever|[Aa]lways)"),
    ("In what year was Noam Chomsky born?\n", r"\s*19[0-9]{2}"),
    (
        "What is the IP address of the Google DNS servers? ",
        r"((25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(25[0-5]|2[0-4]\d|[01]?\d\d?)",
    ),
];

/// Most tokens of a text, as in the paper.
const LIMIT: usize = 30;

/// Numbers of tokens after which the time of a step is measured.
const LENGTHS: [usize; 4] = [10, 100, 1_000, 10_000];

/// Prints the texts of the paper's prompts, and the time of a step after long texts.
pub fn run(writer: &Writer, _count: usize) -> Result<()> {
    let vocabulary = &writer.tokenizer.vocabulary;
    print_head("prompt | free | by the regex");
    for (prompt, regex) in EXAMPLES {
        let constraint = Constraint::new(&Grammar::from_regex(regex)?, vocabulary)?;
        let place = writer.read(&writer.tokenizer.encode(prompt));
        let mut cells = vec![format!("{prompt:?}")];
        for mask in [None, Some(&constraint)] {
            // White space has no end in the paper's regexes, so the limit is a budget.
            let mode = Mode { constraint: mask, budget: mask.map(|_| LIMIT), ..Mode::default() };
            let written = writer.write(vec![place.clone()], b"", &mode, LIMIT + 1)?.remove(0);
            ensure!(mask.is_none() || written.is_stopped, "{regex} does not end");
            let text = writer.tokenizer.decode(&written.tokens());
            cells.push(format!("{:?}", String::from_utf8_lossy(&text)));
        }
        println!("| {} |", cells.join(" | "));
    }

    // The regex of the paper's comparison with Guidance: a name in Python.
    let constraint = Constraint::new(&Grammar::from_regex(r"[^\W\d]\w*")?, vocabulary)?;
    let name = writer.tokenizer.encode("name");
    ensure!(name.len() == 1, "`name` is not one token");
    let mut matcher = constraint.matcher();
    let mut row = vec![0; vocabulary.width().div_ceil(32)];
    println!();
    print_head("tokens before it | mask and advance, median of 101");
    for length in LENGTHS {
        while matcher.steps() < length {
            matcher.advance(name[0])?;
        }
        let mut times = Vec::new();
        for _ in 0..101 {
            let started = Instant::now();
            matcher.fill_mask_into(&mut row)?;
            matcher.advance(name[0])?;
            times.push(started.elapsed());
            matcher.rollback(1);
        }
        times.sort_unstable();
        println!("| {length} | {:.2} µs |", times[50].as_secs_f64() * 1e6);
    }
    Ok(())
}
