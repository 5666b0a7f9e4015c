//! SQLite's SQL: exactly the statements that its parser accepts.
//!
//! The oracle is SQLite itself (`sqlite_oracle`). The ordinary run covers our own statements, and
//! parts of everything else; `LRMASK_LONG=1 cargo test --release --test sqlite -- --nocapture`
//! covers everything and prints the numbers. `LRMASK_RANDOM=N` mutates N statements,
//! `LRMASK_SEED=N` selects others than the usual ones. All differences between verdicts are written
//! to `sqlite-*.jsonl` in cargo's directory for the files of tests (`target/tmp`).

#![allow(clippy::print_stdout, reason = "a long run says what it did")]

use crate::corpus;
use crate::sqlite_oracle;

use lrmask::{CompiledGrammar, Constraint, Grammar, Matcher, TokenId, Vocabulary};
use serde::Deserialize;
use serde_json::json;
use sqlite_oracle::mutations;
use sqlite_oracle::tokens;
use sqlite_oracle::{Answer, Sqlite};
use std::collections::BTreeMap;

const SQLITE: &str = include_str!("../grammars/sqlite/sqlite.lark");

/// Small texts, and whether each is one statement.
const STATEMENTS: &[&str] = &[
    include_str!("data/sqlite/literals.tsv"),
    include_str!("data/sqlite/expressions.tsv"),
    include_str!("data/sqlite/queries.tsv"),
    include_str!("data/sqlite/changes.tsv"),
    include_str!("data/sqlite/schema.tsv"),
    include_str!("data/sqlite/triggers.tsv"),
    include_str!("data/sqlite/commands.tsv"),
];

/// Small texts, and whether each is a sequence of statements.
const SCRIPTS: &[&str] = &[include_str!("data/sqlite/scripts.tsv")];

/// The samples that may be placed next to the project, most of them not written for SQLite.
const SAMPLES: [&str; 5] =
    ["postgres_regress", "spider_dev_gold", "sqlglot_identity", "sqllogictest", "tpch"];

/// Positions in which each keyword is tried, at `@`.
const POSITIONS: &[&str] = &[
    "@",
    "@ a",
    "SELECT @",
    "SELECT a @",
    "SELECT a AS @",
    "SELECT a @ FROM t",
    "SELECT a @ b",
    "SELECT (a) @",
    "SELECT (a) @ b",
    "SELECT f() @ (a)",
    "SELECT @.a",
    "SELECT a.@",
    "SELECT @(a)",
    "SELECT @()",
    "SELECT @ @",
    "SELECT a COLLATE @",
    "SELECT CAST(a AS @)",
    "SELECT CAST(a AS b @)",
    "SELECT CASE @ WHEN a THEN b END",
    "SELECT a IN @",
    "SELECT a + @ + b",
    "SELECT f() OVER @",
    "SELECT f() OVER (@)",
    "SELECT f() OVER (@ ORDER BY a)",
    "SELECT f() OVER (ROWS @ PRECEDING)",
    "SELECT * FROM @",
    "SELECT * FROM t @",
    "SELECT * FROM t AS @",
    "SELECT * FROM t @ JOIN u",
    "SELECT * FROM t LEFT @ JOIN u",
    "SELECT * FROM @ @",
    "SELECT * FROM @(a)",
    "SELECT * FROM @.@",
    "SELECT * FROM t JOIN u USING (@)",
    "SELECT * FROM t INDEXED BY @",
    "SELECT * FROM t WINDOW @ AS ()",
    "SELECT * FROM t GROUP BY @",
    "SELECT * FROM t ORDER BY @",
    "SELECT * FROM t ORDER BY a @",
    "SELECT * FROM t LIMIT @",
    "SELECT * FROM t LIMIT a @ b",
    "SELECT * FROM t WHERE @",
    "WITH @ AS (SELECT 1) SELECT 2",
    "WITH t(@) AS (SELECT 1) SELECT 2",
    "INSERT INTO @ VALUES (1)",
    "INSERT INTO t(@) VALUES (1)",
    "INSERT INTO t AS @ VALUES (1)",
    "INSERT OR @ INTO t VALUES (1)",
    "INSERT INTO t SELECT a @",
    "INSERT INTO t SELECT * FROM u @",
    "UPDATE @ SET a = 1",
    "UPDATE t SET @ = 1",
    "DELETE FROM @",
    "CREATE TABLE @(a)",
    "CREATE TABLE @.@(a)",
    "CREATE TABLE t(@)",
    "CREATE TABLE t(@ a)",
    "CREATE TABLE t(a @)",
    "CREATE TABLE t(a b @)",
    "CREATE TABLE t(a @ b)",
    "CREATE TABLE t(a DEFAULT @)",
    "CREATE TABLE t(a CONSTRAINT @)",
    "CREATE TABLE t(a AS (1) @)",
    "CREATE TABLE t(a, @)",
    "CREATE TABLE t(a) @",
    "CREATE TABLE t(a REFERENCES @)",
    "CREATE INDEX @ ON t(a)",
    "CREATE INDEX i ON t(@)",
    "CREATE VIEW @ AS SELECT 1",
    "CREATE @ t",
    "CREATE VIRTUAL TABLE t USING @",
    "CREATE VIRTUAL TABLE t USING m(@)",
    "CREATE TRIGGER @ AFTER INSERT ON t BEGIN SELECT 1; END",
    "CREATE TRIGGER r @ ON t BEGIN SELECT 1; END",
    "CREATE TRIGGER r INSERT ON @ BEGIN SELECT 1; END",
    "CREATE TRIGGER r INSERT ON t BEGIN @; END",
    "CREATE TRIGGER r INSERT ON t WHEN @ BEGIN SELECT @; END",
    "DROP TABLE @",
    "DROP @ t",
    "ALTER TABLE t RENAME @ TO b",
    "ALTER TABLE t RENAME TO @",
    "ALTER TABLE t ADD @",
    "ALTER TABLE t ADD @ a",
    "ALTER TABLE t DROP @",
    "BEGIN @",
    "COMMIT TRANSACTION @",
    "ROLLBACK TO @",
    "SAVEPOINT @",
    "RELEASE @",
    "ATTACH @ AS a",
    "ATTACH a AS @",
    "DETACH @",
    "PRAGMA @",
    "PRAGMA a = @",
    "PRAGMA a(@)",
    "VACUUM @",
    "ANALYZE @",
    "REINDEX @",
    "EXPLAIN @",
];

fn compiled(start: &str) -> CompiledGrammar {
    let grammar = Grammar::from_lark(SQLITE).expect("the grammar is sound");
    let grammar = grammar.with_start(start).expect("a start symbol of the grammar");
    CompiledGrammar::new(&grammar).expect("the engine can do it exactly")
}

fn engine(start: &str) -> Constraint {
    let bytes =
        Vocabulary::from_tokens((0..=255u8).map(|byte| vec![byte])).expect("a sound vocabulary");
    compiled(start).constraint(&bytes).expect("its tokens are known")
}

fn long_run() -> bool {
    std::env::var_os("LRMASK_LONG").is_some()
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// Returns the length of the viable prefix, and whether the text is a sentence.
fn verdict(matcher: &mut Matcher, text: &str) -> (usize, bool) {
    matcher.reset();
    match matcher.advance_bytes(text.as_bytes()) {
        Ok(()) => (text.len(), matcher.is_accepting()),
        Err(refused) => (refused.accepted_bytes(), false),
    }
}

/// The verdicts of the engine and of SQLite on many texts.
struct Comparison {
    name: &'static str,
    sqlite: Sqlite,
    matcher: Matcher,
    accepted: usize,
    refused: usize,
    hidden: Vec<String>,
    differences: Vec<serde_json::Value>,
}

impl Comparison {
    fn new(name: &'static str) -> Self {
        let matcher = engine("script").matcher();
        let (hidden, differences) = (Vec::new(), Vec::new());
        Self { name, sqlite: Sqlite::new(), matcher, accepted: 0, refused: 0, hidden, differences }
    }

    /// Compares the verdicts on one text, and returns SQLite's.
    fn check(&mut self, id: &str, text: &str) -> Answer {
        let answer = self.sqlite.script(text);
        let (viable, accepted) = verdict(&mut self.matcher, text);
        match accepted {
            true => self.accepted += 1,
            false => self.refused += 1,
        }
        if let Answer::Hidden(complaint) = &answer {
            self.hidden.push(format!("{id}: {complaint}, lrmask {accepted}: {text}"));
        }
        if !answer.agrees(accepted) {
            let complaint = match &answer {
                Answer::No(complaint, _) => complaint,
                _ => "",
            };
            self.differences.push(json!({
                "id": id, "text": text, "lrmask": accepted, "viable": viable,
                "sqlite": answer.is_yes(), "complaint": complaint,
            }));
        }
        answer
    }

    /// Prints the results, and fails if there are differences.
    fn finish(self) {
        let Self { name, accepted, refused, hidden, differences, .. } = self;
        println!(
            "{name}: {accepted} accepted, {refused} refused, {} with an error that hides what follows, {} differ",
            hidden.len(),
            differences.len()
        );
        let shown = |texts: &[String]| {
            texts.iter().take(40).map(|text| format!("\n  {text}")).collect::<String>()
        };
        if long_run() {
            println!("hidden:{}", shown(&hidden));
        }
        let differences: Vec<String> = differences.iter().map(ToString::to_string).collect();
        let path = format!("{}/sqlite-{name}.jsonl", env!("CARGO_TARGET_TMPDIR"));
        std::fs::write(&path, differences.join("\n"))
            .expect("the directory for tests can be written");
        assert!(
            differences.is_empty(),
            "{} differ, see {path}{}",
            differences.len(),
            shown(&differences)
        );
    }
}

/// Returns our own texts, with their expected verdicts.
fn own() -> impl Iterator<Item = (bool, String)> {
    read(STATEMENTS).chain(read(SCRIPTS))
}

fn read(files: &'static [&'static str]) -> impl Iterator<Item = (bool, String)> {
    let lines = files.iter().flat_map(|file| file.lines());
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(|line| {
        let (verdict, text) = line.split_once('\t').expect("verdict and text");
        let text = match text.starts_with('"') {
            true => serde_json::from_str(text).expect("the text as a JSON string"),
            false => text.to_owned(),
        };
        (verdict == "yes", text)
    })
}

#[derive(Deserialize)]
struct Sample {
    id: String,
    sql: String,
}

/// Returns the samples, if they are available.
fn samples() -> Vec<Sample> {
    let files = SAMPLES.iter().filter_map(|name| corpus::file(&format!("sql/{name}.jsonl.gz")));
    let mut samples = Vec::new();
    for file in files {
        let text = String::from_utf8(file).expect("samples are UTF-8");
        samples.extend(
            text.lines().map(|line| serde_json::from_str::<Sample>(line).expect("a sample")),
        );
    }
    samples
}

/// Returns texts that SQLite accepts: our own, and one of `part` samples.
fn sound(part: usize) -> Vec<String> {
    let sqlite = Sqlite::new();
    let samples = samples().into_iter().step_by(part).map(|sample| sample.sql);
    let texts = own().map(|(_, text)| text).chain(samples);
    texts.filter(|text| sqlite.script(text) == Answer::Yes).collect()
}

#[test]
fn small_texts() {
    let mut comparison = Comparison::new("own");
    let (mut count, mut wrong) = (0, Vec::new());
    for (expected, text) in own() {
        let answer = comparison.check("own", &text);
        if !answer.agrees(expected) {
            wrong.push(format!("{answer:?}: {text}"));
        }
        let accepted = verdict(&mut comparison.matcher, &text).1;
        if matches!(answer, Answer::Hidden(_)) && accepted != expected {
            wrong.push(format!("lrmask {accepted}: {text}"));
        }
        count += 1;
    }
    println!("SQLite {}", comparison.sqlite.version());
    comparison.finish();
    assert!(wrong.is_empty(), "not as listed:\n{}", wrong.join("\n"));
    assert!(count > 2_000);
}

/// The other entry points: one statement, and one query, which is any text that SQLite accepts as a
/// view.
#[test]
fn statements_and_queries() {
    let sqlite = Sqlite::new();
    let mut statement = engine("statement").matcher();
    let mut query = engine("query").matcher();
    let mut wrong = Vec::new();
    for (expected, text) in read(STATEMENTS) {
        if verdict(&mut statement, &text).1 != expected {
            wrong.push(format!("statement, {}: {text}", !expected));
        }
        let answer = sqlite.script(&format!("CREATE VIEW v AS {text}"));
        let accepted = verdict(&mut query, &text).1;
        if !answer.agrees(accepted) {
            wrong.push(format!("query, {accepted}: {text}"));
        }
    }
    for text in ["", " ", "-- x", ";", ";SELECT 1", "SELECT 1;;", "SELECT 1; SELECT 2"] {
        for (start, matcher) in [("statement", &mut statement), ("query", &mut query)] {
            if verdict(matcher, text).1 {
                wrong.push(format!("{start}, true: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The oracle splits scripts where SQLite does.
#[test]
fn statements_are_cut_where_sqlite_cuts() {
    let trigger = "CREATE TEMP TRIGGER r INSERT ON t BEGIN SELECT 1; SELECT end; END";
    let table = "CREATE VIRTUAL TABLE t USING m(a; (b;) 'c)')";
    let script =
        format!("; SELECT ';' ;;{trigger}; /* ; */{table};\n EXPLAIN {trigger};BEGIN;END -- ;");
    let found = tokens::statements(&script);
    let explained = format!("EXPLAIN {trigger}");
    let wanted = ["SELECT ';'", trigger, table, &explained, "BEGIN", "END"];
    assert_eq!(found.len(), wanted.len(), "{found:?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.contains(wanted), "{found:?}");
    }
}

/// An early error does not hide a syntax error if the oracle can create the missing object.
#[test]
fn early_errors_are_looked_behind() {
    let sqlite = Sqlite::new();
    let refused = [
        "ALTER TABLE t ADD COLUMN a b c d 1",
        "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT FROM; END",
        "CREATE TABLE s.t(a b,)",
        "CREATE TABLE t(a COLLATE unheard_of NOT)",
        "CREATE TABLE \"syntax error\"(a) STRICT STRICT",
    ];
    for text in refused {
        assert!(matches!(sqlite.script(text), Answer::No(..)), "{text}: {:?}", sqlite.script(text));
    }
    for text in [
        "SELECT * FROM \"syntax error\"",
        "DROP TABLE t",
        "CREATE INDEX i ON t(a) WHERE b",
        "SELECT a",
    ] {
        assert_eq!(sqlite.script(text), Answer::Yes, "{text}");
    }
    assert!(matches!(sqlite.script("CREATE TABLE t(a, a) STRICT STRICT"), Answer::Hidden(_)));
}

#[test]
fn every_keyword_in_every_position() {
    let mut comparison = Comparison::new("keywords");
    assert_eq!(mutations::keywords().count(), 147 + 1);
    for position in POSITIONS {
        for keyword in mutations::keywords().chain(["t", "'t'", "\"t\"", "1", "?", "x'00'"]) {
            comparison.check(position, &position.replace('@', keyword));
        }
    }
    comparison.finish();
}

#[test]
fn samples_of_many_dialects() {
    let part = if long_run() { 1 } else { 10 };
    let mut comparison = Comparison::new("samples");
    for sample in samples().into_iter().step_by(part) {
        comparison.check(&sample.id, &sample.sql);
    }
    comparison.finish();
}

#[test]
fn mutated_statements() {
    let texts = sound(if long_run() { 1 } else { 50 });
    let mut random = fastrand::Rng::with_seed(number("LRMASK_SEED", 1) as u64);
    let mut comparison = Comparison::new("mutations");
    let count = number("LRMASK_RANDOM", if long_run() { 50_000 } else { 5_000 });
    let mut changes = 0;
    while changes < count {
        let text = &texts[random.usize(..texts.len())];
        if let Some((change, mutated)) = mutations::mutate(text, &mut random) {
            comparison.check(&format!("{change:?}"), &mutated);
            changes += 1;
        }
    }
    comparison.finish();
}

/// If a text is viable for the engine, SQLite can complete it, and SQLite's syntax errors are
/// refused at the same place: in refused texts up to the point where the engine stops, in accepted
/// ones up to any point.
#[test]
fn nothing_stays_open_and_nothing_is_closed_too_early() {
    let count = if long_run() { 2_000 } else { 300 };
    let (sqlite, mut matcher) = (Sqlite::new(), engine("script").matcher());
    let mut random = fastrand::Rng::with_seed(number("LRMASK_SEED", 1) as u64);
    let texts: Vec<String> =
        own().map(|(_, text)| text).chain(samples().into_iter().map(|s| s.sql)).collect();
    let (mut refused, mut accepted, mut dead, mut early, mut late) =
        (0, 0, Vec::new(), Vec::new(), BTreeMap::<String, Vec<String>>::new());
    let mut table = Vec::new();
    while refused < count || accepted < count {
        let text = &texts[random.usize(..texts.len())];
        let prefix = match sqlite.script(text) {
            Answer::No(complaint, at) if refused < count => {
                refused += 1;
                let viable = verdict(&mut matcher, text).0;
                let shown = || {
                    format!(
                        "{}<|>{} ({complaint})",
                        &lossy(text, 0, viable),
                        &lossy(text, viable, text.len())
                    )
                };
                if refused % (count / 40) == 0 {
                    table.push(shown());
                }
                if let Some(at) = at {
                    let token = tokens::pieces(&text[at..]).first().map_or("", |(_, token)| *token);
                    // SQLite reads a comment that opens with the last two bytes as a slash and a
                    // star. One more byte makes it a comment, which can still be closed.
                    let opens_at_end = &text[at..] == "/*";
                    if viable < at {
                        early.push(shown());
                    } else if viable > at + token.len() && !opens_at_end {
                        late.entry(token.to_ascii_uppercase()).or_default().push(shown());
                    }
                }
                viable
            }
            Answer::Yes if accepted < count => {
                accepted += 1;
                random.usize(..text.len() + 1)
            }
            _ => continue,
        };
        matcher.reset();
        let prefix = &text.as_bytes()[..prefix];
        if matcher.advance_bytes(prefix).is_err() {
            dead.push(format!("refused: {:?}", String::from_utf8_lossy(prefix)));
            continue;
        }
        let completion = matcher.shortest_completion();
        let whole = completion
            .as_ref()
            .map(|rest| String::from_utf8_lossy(&[prefix, rest].concat()).into_owned());
        match whole.as_ref().map(|whole| sqlite.script(whole)) {
            Some(Answer::Yes | Answer::Hidden(_)) => {}
            answer => dead
                .push(format!("{answer:?}: {:?} then {whole:?}", String::from_utf8_lossy(prefix))),
        }
    }
    println!("where the engine stops, one of {}:", count / 40);
    for row in table {
        println!("  {}", row.replace('\n', " "));
    }
    println!("stops behind the token that SQLite names, by the token:");
    for (token, rows) in &late {
        println!("  {token}: {} such as {}", rows.len(), rows[0].replace('\n', " "));
    }
    let path = format!("{}/sqlite-prefixes.txt", env!("CARGO_TARGET_TMPDIR"));
    let all: Vec<&String> = dead.iter().chain(&early).chain(late.values().flatten()).collect();
    std::fs::write(&path, all.iter().map(|row| format!("{row}\n")).collect::<String>())
        .expect("the directory for tests can be written");
    let shown =
        |rows: &[String]| rows.iter().take(30).map(|row| format!("\n  {row}")).collect::<String>();
    println!("{refused} refused texts, {accepted} prefixes of accepted ones");
    assert!(
        dead.is_empty(),
        "{} prefixes with no completion that SQLite takes:{}",
        dead.len(),
        shown(&dead)
    );
    assert!(
        early.is_empty(),
        "{} refused before the token that SQLite names:{}",
        early.len(),
        shown(&early)
    );
    // SQLite looks one or two tokens ahead of these words before it decides on their kind.
    late.retain(|token, _| !["WINDOW", "OVER", "FILTER"].contains(&token.as_str()));
    assert!(late.is_empty(), "refused only behind the token that SQLite names: {late:#?}");
}

/// Returns a part of a text, shortened if it is long.
fn lossy(text: &str, from: usize, to: usize) -> String {
    let part = String::from_utf8_lossy(&text.as_bytes()[from..to]).into_owned();
    let length = part.chars().count();
    match (from, length > 60) {
        (_, false) => part,
        (0, true) => format!("...{}", part.chars().skip(length - 60).collect::<String>()),
        (_, true) => format!("{}...", part.chars().take(60).collect::<String>()),
    }
}

/// Replays `tokens`, which spell `text`: every token must be allowed by the mask and by `advance`,
/// and EOS exactly when SQLite accepts the prefix. Returns the number of steps, or the error.
fn replay(
    constraint: &Constraint,
    sqlite: &Sqlite,
    text: &str,
    tokens: &[TokenId],
) -> Result<usize, String> {
    let vocabulary = constraint.vocabulary();
    let stop = vocabulary.stop_tokens()[0];
    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    let mut offset = 0;
    for (step, &token) in tokens.iter().enumerate() {
        matcher.fill_mask(&mut mask);
        if !mask.contains(token) {
            return Err(format!("token {token} at byte {offset} must be allowed: {text}"));
        }
        // Running SQLite on every prefix of a long text would be quadratic, so it runs on some of
        // them.
        let asks = text.len() < 500 || step % (tokens.len() / 20 + 1) == 0;
        if let Some(prefix) = text.get(..offset).filter(|_| asks) {
            let answer = sqlite.script(prefix);
            if !answer.agrees(mask.contains(stop)) {
                return Err(format!("EOS {}, {answer:?}: {prefix}", mask.contains(stop)));
            }
        }
        matcher
            .advance(token)
            .map_err(|_| format!("token {token} at byte {offset} has its bit set: {text}"))?;
        offset += vocabulary.bytes(token).map_or(0, <[u8]>::len);
    }
    assert_eq!(offset, text.len(), "the tokens spell the text");
    match matcher.advance(stop) {
        Ok(()) => Ok(tokens.len()),
        Err(_) => Err(format!("EOS at the end: {text}")),
    }
}

#[test]
fn no_true_token_is_refused() {
    let texts = sound(1);
    let part = if long_run() { 1 } else { 40 };
    let sqlite = Sqlite::new();
    let compiled = compiled("script");
    let mut faults = Vec::new();
    for (name, vocabulary, tokenizer) in
        corpus::vocabularies(&["o200k"], &["llama3/tokenizer.json.gz", "llama2/tokenizer.json.gz"])
    {
        let constraint = compiled.constraint(&vocabulary).expect("its tokens are known");
        let (mut count, mut own, mut steps) = (0, 0, 0);
        for (at, text) in texts.iter().enumerate().step_by(part) {
            let random = corpus::cut_random(&vocabulary, text.as_bytes(), at as u64)
                .expect("bytes can be spelled");
            let cut = tokenizer.encode(&vocabulary, text);
            own += usize::from(cut.is_some());
            for tokens in cut.iter().chain([&random]) {
                match replay(&constraint, &sqlite, text, tokens) {
                    Ok(count) => steps += count,
                    Err(fault) => faults.push(format!("{name}: {fault}")),
                }
            }
            count += 1;
        }
        println!(
            "{name}: {count} texts, {own} of them by the tokenizer's own cut as well, {steps} steps, {:?}",
            constraint.index_size()
        );
        assert!(own * 10 >= count * 9, "{name}: a tokenizer cuts what it is made for");
    }
    let path = format!("{}/sqlite-replays.txt", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, faults.join("\n")).expect("the directory for tests can be written");
    let shown = faults.iter().take(30).map(|fault| format!("\n  {fault}")).collect::<String>();
    assert!(faults.is_empty(), "{} faults, see {path}{shown}", faults.len());
}
