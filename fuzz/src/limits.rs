//! Grammars put together from parts that grow.

use arbitrary::{Result, Unstructured};
use lrmask::{Constraint, GrammarReader, Limits};

/// Grows a grammar as the input says, and builds it: what is counted stays within the limits.
pub fn grow_and_build(input: &mut Unstructured<'_>) -> Result<()> {
    let limits = Limits::strict().build_steps(5_000_000).build_bytes(20_000_000);
    let mut text = String::from("start: item+\nitem: \"z\"");
    let mut terminals = String::new();
    for part in 0..input.int_in_range(1..=12)? {
        let n: usize = input.int_in_range(1..=400)?;
        match input.int_in_range(0..=6)? {
            0 => terminals.push_str(&format!("T{part}: /x{part}\\w{{{n}}}/\n")),
            1 => terminals.push_str(&format!("T{part}: /(a|b)*a(a|b){{{}}}/\n", n % 24)),
            2 => {
                terminals.push_str(&format!("T{part}: /{}a{}/\n", "(".repeat(n), "|b)*".repeat(n)))
            }
            3 => terminals.push_str(&format!("T{part}: /y{part}(?![a-z]{{0,{n}}}q)/\n")),
            4 => terminals
                .push_str(&format!("T{part}: \"w{part}\"\n%lookahead T0 T{part} before T0 T0\n")),
            5 => terminals.push_str(&format!("T{part}: /[^a-z]{{{n}}}/i\n")),
            _ => terminals.push_str(&format!("T{part}: /p{part}/\n")),
        }
        let options: String = (0..n % 60).map(|i| format!(" \"k{part}-{i}\"?")).collect();
        text.push_str(&format!("\n | T{part} (item T{part})~0..{n} |{options} item item \"o\""));
    }
    let text = format!("{text}\n{terminals}");
    let Ok(grammar) = GrammarReader::new().limits(&limits).lark(&text) else {
        return Ok(());
    };
    if let Ok(compiled) = Constraint::builder().limits(&limits).compile(&grammar) {
        let cost = compiled.cost();
        assert!(cost.steps <= limits.build_steps && cost.bytes <= limits.build_bytes, "{cost:?}");
    }
    Ok(())
}
