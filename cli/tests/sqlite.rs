//! What the command line generates is SQL by SQLite's own word.

#![allow(clippy::print_stdout, reason = "a long run says what it did")]

#[path = "../../tests/sqlite_oracle/mod.rs"]
mod sqlite_oracle;

use serde::Deserialize;
use sqlite_oracle::{Answer, Sqlite};

#[derive(Deserialize)]
struct Generated {
    text: String,
}

#[test]
fn generated_statements() {
    let sqlite = Sqlite::new();
    let count = if std::env::var_os("LRMASK_LONG").is_some() { 5_000 } else { 100 };
    let (mut hidden, mut wrong) = (0, Vec::new());
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lrmask"))
        .args(["--json", "generate", "sqlite:statement", "--vocab", "o200k", "--seed", "1"])
        .args(["--count", &count.to_string()])
        .output()
        .expect("the command line runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let texts = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    assert_eq!(texts.lines().count(), count);
    for line in texts.lines() {
        let Generated { text } = serde_json::from_str(line).expect("one JSON object a line");
        match sqlite.script(&text) {
            Answer::Yes => {}
            Answer::Hidden(_) => hidden += 1,
            Answer::No(complaint, _) => wrong.push(format!("{complaint}: {text:?}")),
        }
    }
    println!("{count} statements, {hidden} with an error that hides what follows");
    assert!(wrong.is_empty(), "{} are no statements:\n{}", wrong.len(), wrong.join("\n"));
}
