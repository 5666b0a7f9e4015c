//! Forty things that newcomers get wrong, and the first line that each is told: `newcomer.txt`.
//!
//! A case is a title after `#`, files after `>` with a `|` before each of their lines, a command
//! after `$`, and after `=` its exit status and the first line of what it prints. To write the
//! lines anew: `LRMASK_WRITE=1 cargo test --release -p lrmask-cli --test newcomer`.
// A test fails by panicking; the lint only knows that of the test functions themselves.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/newcomer.txt");

/// What a command prints first, with its exit status.
fn first_line(directory: &Path, command: &str) -> String {
    let arguments = command.split_whitespace().skip(1).map(|word| word.replace('␣', " "));
    let output = Command::new(env!("CARGO_BIN_EXE_lrmask"))
        .args(arguments)
        .current_dir(directory)
        .env_remove("NO_COLOR")
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let line = said.iter().flat_map(|said| said.lines()).find(|line| !line.trim().is_empty());
    format!("[{}] {}", output.status.code().unwrap(), line.unwrap_or_default())
}

#[test]
fn every_first_line_is_the_one_on_the_page() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let directory: PathBuf =
        std::env::temp_dir().join(format!("lrmask-newcomer-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (mut now, mut cases) = (String::new(), 0);
    let (mut file, mut command): (Option<(String, String)>, &str) = (None, "");
    for line in page.lines() {
        if let Some(content) = line.strip_prefix('|') {
            let (_, text) = file.as_mut().expect("a line belongs to a file");
            writeln!(text, "{}", content.strip_prefix(' ').unwrap_or(content)).unwrap();
        } else if let Some((name, text)) = file.take() {
            // A last line `\` joins nothing: the file has no line end.
            let text = text.strip_suffix("\\\n").map_or(&*text, |text| text.trim_end());
            std::fs::write(directory.join(name), text).unwrap();
        }
        if let Some(name) = line.strip_prefix("> ") {
            file = Some((name.to_owned(), String::new()));
        } else if let Some(line) = line.strip_prefix("$ ") {
            command = line;
        } else if line.starts_with("= ") {
            writeln!(now, "= {}", first_line(&directory, command)).unwrap();
            cases += 1;
            continue;
        }
        writeln!(now, "{line}").unwrap();
    }
    std::fs::remove_dir_all(&directory).unwrap();
    if std::env::var_os("LRMASK_WRITE").is_some() {
        std::fs::write(PAGE, &now).unwrap();
    }
    assert!(cases >= 40, "{cases} cases");
    let differs = page.lines().zip(now.lines()).filter(|(page, now)| page != now);
    let differs: Vec<String> = differs.map(|(page, now)| format!("{page}\n{now}")).collect();
    assert!(differs.is_empty() || page == now, "{}", differs.join("\n"));
}
