//! Whether the steps that building is charged for follow the work that it does: one table, the
//! stages whose work grows fastest beyond their steps first.
//!
//! ```text
//! cargo run --release --example metering                   # nanoseconds of the processor
//! cargo run --release --example metering -- --instructions # counted by valgrind, which must be there
//! cargo run --release --example metering -- conflicts      # those with this in their names
//! ```
//!
//! Each stage's input is built at a size, at twice and at four times it. What a step costs may
//! differ between stages by a factor of a few; it must not grow with the size, or a limit on steps
//! is none. Under `--instructions` each build runs in a process of its own, less what an empty one
//! takes, so that the figures are the same each time.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is the answer")]

#[path = "survey/clock.rs"]
mod clock;

use std::process::Command;

use clock::Clock;
use lrmask::{Constraint, Grammar, GrammarReader, Limits, SchemaOptions, StructuralTags};

/// A stage: what grows, a size, and the input of that size.
struct Stage {
    name: &'static str,
    size: usize,
    input: fn(usize) -> Input,
}

/// What is built.
enum Input {
    Lark(String),
    Gbnf(String),
    Schema(String),
    Tags(Box<StructuralTags>),
    Choices(Vec<String>),
    Regex(String),
}

/// No more than that is to be between the dearest step and the cheapest of one stage.
const MOST: f64 = 2.0;

/// Builds are timed so often, and the least time counts.
const TIMES: usize = 3;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [child, name, size] = &arguments[..]
        && child == "--child"
    {
        let size = size.parse()?;
        match stages().into_iter().find(|stage| stage.name == name) {
            Some(stage) if size > 0 => println!("{}", build((stage.input)(size))),
            _ => println!("0"),
        }
        return Ok(());
    }
    let counts = arguments.iter().any(|argument| argument == "--instructions");
    let wanted: Vec<&String> = arguments.iter().filter(|part| !part.starts_with("--")).collect();
    let (unit, nothing) = match counts {
        true => ("instructions", instructions("", 0)?.1),
        false => ("ns", 0),
    };
    let mut rows: Vec<(f64, String)> = Vec::new();
    for stage in stages() {
        if !wanted.is_empty() && !wanted.iter().any(|part| stage.name.contains(part.as_str())) {
            continue;
        }
        let (mut cells, mut ratios) = (String::new(), Vec::new());
        for size in [stage.size, 2 * stage.size, 4 * stage.size] {
            let (steps, work) = match counts {
                true => instructions(stage.name, size)?,
                false => timed(&stage, size),
            };
            let work = work.saturating_sub(nothing);
            let ratio = work as f64 / steps.max(1) as f64;
            cells.push_str(&format!(" {steps} | {:.1} | {ratio:.1} |", work as f64 / 1e6));
            ratios.push(ratio);
        }
        let grows = ratios[2] / ratios[0];
        rows.push((grows, format!("| {}, {} |{cells} {grows:.2} |", stage.name, stage.size)));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!(
        "| stage, size | steps | million {unit} | a step | twice | | | four times | | | growth |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    rows.iter().for_each(|(_, row)| println!("{row}"));
    let over = rows.iter().filter(|(grows, _)| *grows > MOST).count();
    println!("\n{} stages, {over} of which grow by more than {MOST}", rows.len());
    Ok(())
}

/// The steps that building was charged for. Nothing is refused for its cost.
fn build(input: Input) -> u64 {
    let limits = Limits::default()
        .grammar_bytes(usize::MAX)
        .build_steps(u64::MAX / 2)
        .build_bytes(u64::MAX / 2)
        .schema_steps(usize::MAX / 2)
        .schema_attempt_steps(u64::MAX / 2)
        .terminal_states(4_000_000)
        .scan_states(4_000_000);
    let reader = GrammarReader::new().limits(&limits);
    let options = SchemaOptions::default();
    let grammar = match input {
        Input::Lark(text) => reader.lark(&text).map_err(|error| error.to_string()),
        Input::Gbnf(text) => reader.gbnf(&text).map_err(|error| error.to_string()),
        Input::Schema(text) => {
            let schema = reader.json_schema(&text, &options);
            schema.map(|schema| schema.grammar()).map_err(|error| error.to_string())
        }
        Input::Tags(tags) => {
            reader.structural_tags(&tags, &options).map_err(|error| error.to_string())
        }
        Input::Choices(texts) => Grammar::from_choices(&texts).map_err(|error| error.to_string()),
        Input::Regex(pattern) => Grammar::from_regex(&pattern).map_err(|error| error.to_string()),
    };
    let grammar = match grammar {
        Ok(grammar) => grammar,
        Err(error) => {
            eprintln!("{error}");
            return 0;
        }
    };
    match Constraint::builder().limits(&limits).compile(&grammar) {
        Ok(compiled) => compiled.cost().steps,
        Err(error) => {
            eprintln!("{error}");
            0
        }
    }
}

/// Steps, and nanoseconds of the processor.
fn timed(stage: &Stage, size: usize) -> (u64, u64) {
    let mut least = (0, u64::MAX);
    for _ in 0..TIMES {
        let input = (stage.input)(size);
        let clock = Clock::start();
        let steps = build(input);
        let took = u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
        least = (steps, took.min(least.1));
    }
    least
}

/// Steps, and instructions, of a process of its own.
fn instructions(name: &str, size: usize) -> Result<(u64, u64), Box<dyn std::error::Error>> {
    let child = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["--child", name, &size.to_string()])
        .output()?;
    let told = String::from_utf8_lossy(&child.stderr);
    let collected = told.lines().find_map(|line| line.split("Collected : ").nth(1));
    let collected = collected.ok_or("valgrind counts no instructions")?.trim().parse()?;
    Ok((String::from_utf8_lossy(&child.stdout).trim().parse()?, collected))
}

fn list(n: usize, join: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(join)
}

/// Letters that repeat nothing for long.
fn word(number: usize) -> String {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..9).map(|at| char::from(b'a' + (mixed >> (5 * at) & 15) as u8)).collect()
}

fn stages() -> Vec<Stage> {
    let stage = |name, size, input| Stage { name, size, input };
    let grammar_stages = vec![
        stage("rules", 1_000, |n| {
            let rules = list(n, "", |i| format!("r{i}: \"a\" r{} | \"b\"\n", (i + 1) % n));
            Input::Lark(format!("start: r0\n{rules}"))
        }),
        stage("alternatives", 250, |n| {
            Input::Lark(format!(
                "start: ({})+\nx: \"x\"\n",
                list(n, " | ", |i| format!("\"k{i}\" x"))
            ))
        }),
        stage("symbols of a production", 500, |n| {
            Input::Lark(format!("start: {}\nx: \"x\" | \"y\"\n", list(n, " ", |_| "x".to_owned())))
        }),
        stage("literals", 500, |n| {
            Input::Lark(format!("start: ({})+\n", list(n, " | ", |i| format!("\"{}\"", word(i)))))
        }),
        stage("terminals", 50, |n| {
            let names = list(n, " | ", |i| format!("T{i}"));
            let terminals = list(n, "", |i| format!("T{i}: /{}[a-z]+/\n", word(i)));
            Input::Lark(format!("start: ({names})+\n{terminals}"))
        }),
        stage("length of a regex", 2_000, |n| {
            Input::Lark(format!("start: A\nA: /{}/\n", "ab?".repeat(n)))
        }),
        stage("words of a regex", 2_000, |n| {
            Input::Lark(format!("start: A\nA: /{}/\n", list(n, "|", word)))
        }),
        stage("count of a regex", 500, |n| {
            Input::Lark(format!("start: A\nA: /(\\w[a-f]?){{0,{n}}}/\n"))
        }),
        stage("classes of a regex", 100, |n| {
            let class = |i: usize| format!("[\\u{:04x}-\\u{:04x}]b", 256 + 40 * i, 270 + 40 * i);
            Input::Lark(format!("start: A\nA: /({})+/\n", list(n, "|", class)))
        }),
        stage("look-aheads of a regex", 3, |n| {
            Input::Lark(format!(
                "start: A\nA: /{}[a-z]+/\n",
                list(n, "", |i| format!("(?!{})", word(i)))
            ))
        }),
        stage("conflicts before operators", 25, |n| {
            let operators = list(n, "", |i| format!(" | e \"<{i}>\" e"));
            Input::Lark(format!("start: e\nN: /[0-9]+/\ne: N{operators}\n"))
        }),
        stage("conflicts between reductions", 50, |n| {
            let rules = list(n, "", |i| format!("a{i}: \"x\"\nb{i}: \"x\"\n"));
            let uses = list(n, " | ", |i| {
                format!("a{i} \"<{i}>\" | b{i} \"<{i}>\" | a{i} \"<{}>\"", (i + 1) % n)
            });
            Input::Lark(format!("start: {uses}\n{rules}"))
        }),
        stage("conflicts in states of their own", 50, |n| {
            let uses = list(n, " | ", |i| format!("\"k{i}\" e{i}"));
            let rules = list(n, "", |i| format!("e{i}: e{i} \"+\" e{i} | \"x{i}\"\n"));
            Input::Lark(format!("start: {uses}\n{rules}"))
        }),
        stage("options in a row", 20, |n| {
            Input::Lark(format!("start: {}\n", list(n, " ", |i| format!("\"k{i}\"?"))))
        }),
        stage("nullable rules in a row", 15, |n| {
            let rules = list(n, "", |i| format!("r{i}: \"k{i}\" |\n"));
            Input::Lark(format!("start: ({})*\n{rules}", list(n, " ", |i| format!("r{i}"))))
        }),
        stage("hidden left recursion", 20, |n| {
            let rules = list(n, "", |i| format!("r{i}: \"k{i}\" |\n"));
            Input::Lark(format!(
                "start: {} start \"x\" | \"y\"\n{rules}",
                list(n, " ", |i| format!("r{i}"))
            ))
        }),
        stage("templates", 200, |n| {
            Input::Lark(format!(
                "start: {}\nt{{x, y}}: x y x\n",
                list(n, " | ", |i| format!("t{{\"a{i}\", \"b\"}}"))
            ))
        }),
        stage("ignored terminals", 20, |n| {
            let ignored = list(n, "", |i| format!("%ignore /#{}[^\\n]*/\n", word(i)));
            Input::Lark(format!("start: (\"a\" | \"b\")+\n{ignored}"))
        }),
        stage("keywords beside a name", 200, |n| {
            let words = list(n, " | ", |i| format!("\"{}\" N", word(i)));
            Input::Lark(format!("%lexer basic\nstart: ({words})+\nN: /[a-z]+/\n%ignore \" \"\n"))
        }),
        stage("rules, GBNF", 200, |n| {
            let rules =
                list(n, "", |i| format!("r{i} ::= [a-z]+ \"(\" r{} \")\" | \"b\"\n", (i + 1) % n));
            Input::Gbnf(format!("root ::= r0\n{rules}"))
        }),
        stage("literals, GBNF", 1_000, |n| {
            Input::Gbnf(format!("root ::= ({})+\n", list(n, " | ", |i| format!("\"{}\"", word(i)))))
        }),
        stage("keywords beside a name, GBNF", 20, |n| {
            let words = list(n, " | ", |i| format!("\"{}\" ws name", word(i)));
            Input::Gbnf(format!(
                "root ::= (name ws ({words}) ws)*\nname ::= [a-z]+\nws ::= [ \\n]*\n"
            ))
        }),
        stage("options in a row, GBNF", 50, |n| {
            Input::Gbnf(format!("root ::= {}\nx ::= \"a\" | \"bc\"\n", "x? ".repeat(n)))
        }),
        stage("length of a pattern", 2_000, |n| Input::Regex("ab?".repeat(n))),
        stage("choices", 2_000, |n| Input::Choices((0..n).map(word).collect())),
    ];
    let schema_stages = vec![
        stage("keys", 100, |n| {
            Input::Schema(format!(
                "{{\"type\": \"object\", \"properties\": {{{}}}, \"additionalProperties\": false}}",
                list(n, ", ", |i| format!("\"{}\": {{\"type\": \"integer\"}}", word(i)))
            ))
        }),
        stage("required keys", 100, |n| {
            let names = list(n, ", ", |i| format!("\"{}\"", word(i)));
            Input::Schema(format!(
                "{{\"type\": \"object\", \"properties\": {{{}}}, \"required\": [{names}]}}",
                list(n, ", ", |i| format!("\"{}\": {{\"type\": \"integer\"}}", word(i)))
            ))
        }),
        stage("nested objects", 30, |n| {
            Input::Schema(format!(
                "{}true{}",
                "{\"properties\": {\"a\": ".repeat(n),
                "}}".repeat(n)
            ))
        }),
        stage("enum of texts", 1_000, |n| {
            Input::Schema(format!(
                "{{\"enum\": [{}]}}",
                list(n, ", ", |i| format!("\"{}\"", word(i)))
            ))
        }),
        stage("enum of objects", 100, |n| {
            Input::Schema(format!(
                "{{\"enum\": [{}]}}",
                list(n, ", ", |i| format!("{{\"a\": {i}, \"b\": [\"{}\"]}}", word(i)))
            ))
        }),
        stage("references in a chain", 100, |n| {
            let definitions = list(n, ", ", |i| {
                format!(
                    "\"d{i}\": {{\"properties\": {{\"a{i}\": {{\"$ref\": \"#/$defs/d{}\"}}}}}}",
                    (i + 1) % n
                )
            });
            Input::Schema(format!("{{\"$ref\": \"#/$defs/d0\", \"$defs\": {{{definitions}}}}}"))
        }),
        stage("patternProperties, anchored", 25, |n| {
            Input::Schema(format!(
                "{{\"patternProperties\": {{{}}}}}",
                list(n, ", ", |i| format!("\"^{}\": {{\"type\": \"integer\"}}", word(i)))
            ))
        }),
        stage("patternProperties, open", 4, |n| {
            Input::Schema(format!(
                "{{\"patternProperties\": {{{}}}}}",
                list(n, ", ", |i| format!("\"{}\": {{\"type\": \"integer\"}}", &word(i)[..3]))
            ))
        }),
        stage("anyOf of objects", 25, |n| {
            Input::Schema(format!(
                "{{\"anyOf\": [{}]}}",
                list(n, ", ", |i| format!(
                    "{{\"properties\": {{\"kind\": {{\"const\": \"k{i}\"}}, \"v{i}\": {{}}}}, \"required\": [\"kind\"]}}"
                ))
            ))
        }),
        stage("oneOf of constants", 500, |n| {
            Input::Schema(format!(
                "{{\"oneOf\": [{}]}}",
                list(n, ", ", |i| format!("{{\"const\": \"c{i}\"}}"))
            ))
        }),
        stage("allOf", 25, |n| {
            Input::Schema(format!(
                "{{\"allOf\": [{}]}}",
                list(n, ", ", |i| format!(
                    "{{\"properties\": {{\"a{i}\": {{\"type\": \"string\"}}}}}}"
                ))
            ))
        }),
        stage("minItems", 1_000, |n| {
            Input::Schema(format!("{{\"type\": \"array\", \"minItems\": {n}}}"))
        }),
        stage("prefixItems", 100, |n| {
            Input::Schema(format!(
                "{{\"type\": \"array\", \"prefixItems\": [{}]}}",
                list(n, ", ", |i| format!("{{\"const\": {i}}}"))
            ))
        }),
        stage("maxLength", 1_000, |n| {
            Input::Schema(format!("{{\"type\": \"string\", \"maxLength\": {n}}}"))
        }),
        stage("patterns of strings", 10, |n| {
            Input::Schema(format!(
                "{{\"properties\": {{{}}}}}",
                list(n, ", ", |i| format!(
                    "\"p{i}\": {{\"type\": \"string\", \"pattern\": \"^{}[0-9]{{3,9}}$\"}}",
                    word(i)
                ))
            ))
        }),
        stage("tags", 25, |n| {
            let mut tags = StructuralTags::new(["<f"]);
            for tag in 0..n {
                let own =
                    format!("{{\"properties\": {{\"{}\": {{\"type\": \"string\"}}}}}}", word(tag));
                tags.add_tag(&format!("<f{tag}>"), &own, "</f>");
            }
            Input::Tags(Box::new(tags))
        }),
        stage("triggers", 25, |n| {
            let mut tags = StructuralTags::new((0..n).map(|tag| format!("<{}", word(tag))));
            (0..n).for_each(|tag| tags.add_tag(&format!("<{}>", word(tag)), "true", "</f>"));
            Input::Tags(Box::new(tags))
        }),
    ];
    grammar_stages.into_iter().chain(schema_stages).collect()
}
