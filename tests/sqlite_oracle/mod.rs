//! The oracle of `grammars/sqlite`: SQLite itself.
//!
//! SQLite has no call that only parses. `sqlite3_prepare` parses and compiles one statement, and
//! stops at the first error: "no such table" may come before a syntax error later in the text, and
//! hide it. So each statement is tried up to three times ([`Sqlite::statement`]):
//!
//! 1. Unchanged. No error: yes. An error of the tokenizer or the parser: no.
//! 2. After any other error: again, followed by a byte that begins no token. If SQLite complains
//!    about that byte, its parser has accepted every token of the statement; the error came at the
//!    end, after all of it was read: yes.
//! 3. Otherwise the error came early. The missing object (a table, a database, a collation) is
//!    created in an empty database, and both steps are repeated; if nothing can be created, the
//!    answer is [`Answer::Hidden`].
//!
//! A script is split into its statements first, because SQLite does not report where a statement
//! with an error ends. The empty script, and one of nothing but comments and semicolons, has no
//! statement that could be wrong: yes.

#![allow(unreachable_pub, reason = "a test's own module")]
#![allow(dead_code, reason = "each test uses its own part")]

pub mod mutations;
pub mod tokens;

use rusqlite::Connection;
use std::cell::RefCell;

/// Upper bound on the missing objects that are created for one statement.
const REPAIRS: usize = 30;

/// A text that begins no token.
const NO_TOKEN: char = '\u{1}';

/// Whether SQLite accepts a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does, or its error is not a syntax error.
    Yes,
    /// A syntax error: SQLite's message, and the start of the offending token, if it is reported.
    No(String, Option<usize>),
    /// Another error came before the end, so the rest was not read.
    Hidden(String),
}

impl Answer {
    /// Whether a verdict agrees with this answer; with a hidden one, either does.
    pub fn agrees(&self, accepted: bool) -> bool {
        match self {
            Self::Yes => accepted,
            Self::No(..) => !accepted,
            Self::Hidden(_) => true,
        }
    }

    /// Yes or no according to SQLite's message: an error that is not a syntax error means yes.
    pub fn is_yes(&self) -> bool {
        !matches!(self, Self::No(..))
    }
}

/// SQLite, with an empty database.
#[derive(Debug)]
pub struct Sqlite {
    connection: RefCell<Connection>,
}

impl Sqlite {
    pub fn new() -> Self {
        Self { connection: RefCell::new(empty()) }
    }

    /// Returns SQLite's version.
    pub fn version(&self) -> &'static str {
        rusqlite::version()
    }

    /// Whether `text` is a sequence of statements, possibly empty.
    pub fn script(&self, text: &str) -> Answer {
        // A zero byte ends the text for SQLite; the grammar has no such texts.
        if text.contains('\0') {
            return Answer::No("zero byte".to_owned(), text.find('\0'));
        }
        let mut answer = Answer::Yes;
        for statement in tokens::statements(text) {
            match self.statement(statement) {
                Answer::Yes => {}
                Answer::No(complaint, at) => {
                    let before = statement.as_ptr() as usize - text.as_ptr() as usize;
                    let at =
                        if complaint == "incomplete input" { Some(statement.len()) } else { at };
                    return Answer::No(complaint, at.map(|at| before + at));
                }
                hidden @ Answer::Hidden(_) => answer = hidden,
            }
        }
        answer
    }

    /// Whether `text`, which has no semicolon at its end, is one statement.
    fn statement(&self, text: &str) -> Answer {
        // Some pragmas take effect when they are prepared.
        let is_pragma = text.as_bytes().windows(6).any(|word| word.eq_ignore_ascii_case(b"pragma"));
        if is_pragma {
            *self.connection.borrow_mut() = empty();
        }
        let answer = match ask(&self.connection.borrow(), text) {
            Ok(answer) => answer,
            Err(complaint) => repaired(text, complaint),
        };
        if is_pragma {
            *self.connection.borrow_mut() = empty();
        }
        answer
    }
}

fn empty() -> Connection {
    Connection::open_in_memory().expect("SQLite opens an empty database")
}

/// Runs the first two steps; returns the early error if they do not decide.
fn ask(connection: &Connection, text: &str) -> Result<Answer, String> {
    match complaint(connection, text) {
        None => Ok(Answer::Yes),
        Some((complaint, at)) if is_of_syntax(&complaint) => Ok(Answer::No(complaint, at)),
        // SQLite checks underscores in a number after reading a whole expression, and a later error
        // replaces that message.
        Some((complaint, _)) if has_separated_number(text) => Err(complaint),
        Some((complaint, _)) => {
            let end = tokens::end_of_last(text);
            let marked = format!("{} {NO_TOKEN}", &text[..end]);
            let reads_all = self::complaint(connection, &marked)
                .is_some_and(|(again, _)| again == format!("unrecognized token: \"{NO_TOKEN}\""));
            if reads_all { Ok(Answer::Yes) } else { Err(complaint) }
        }
    }
}

fn has_separated_number(text: &str) -> bool {
    let is_number =
        |token: &str| token.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit());
    tokens::tokens(text).into_iter().any(|token| is_number(token) && token.contains('_'))
}

/// Runs the third step.
fn repaired(text: &str, first: String) -> Answer {
    let connection = empty();
    let mut complaint = first;
    for _ in 0..REPAIRS {
        if !make_what_is_missing(&connection, &complaint) {
            break;
        }
        match ask(&connection, text) {
            Ok(answer) => return answer,
            Err(again) if again == complaint => break,
            Err(again) => complaint = again,
        }
    }
    Answer::Hidden(complaint)
}

/// Returns SQLite's error for the first statement of a text, and its position.
fn complaint(connection: &Connection, text: &str) -> Option<(String, Option<usize>)> {
    match connection.prepare(text).err()? {
        rusqlite::Error::SqlInputError { msg, offset, .. } => {
            Some((msg, usize::try_from(offset).ok()))
        }
        rusqlite::Error::SqliteFailure(error, message) => {
            Some((message.unwrap_or_else(|| error.to_string()), None))
        }
        other => Some((other.to_string(), None)),
    }
}

/// Whether an error is from the tokenizer or the parser. Names from the text occur in messages too,
/// so searching for words anywhere in them would not work.
fn is_of_syntax(complaint: &str) -> bool {
    complaint == "incomplete input"
        || complaint.starts_with("unrecognized token: \"")
        || complaint.starts_with("syntax error after column name \"")
        || (complaint.starts_with("near \"") && complaint.ends_with("\": syntax error"))
}

/// Creates the object that is missing according to an error; returns whether that succeeded.
fn make_what_is_missing(connection: &Connection, complaint: &str) -> bool {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let made = if let Some(name) = complaint.strip_prefix("unknown database ") {
        connection.execute_batch(&format!("ATTACH ':memory:' AS {}", quoted(name)))
    } else if let Some(name) = complaint.strip_prefix("no such table: ") {
        match name.split_once('.') {
            Some((schema, table)) => {
                let _ =
                    connection.execute_batch(&format!("ATTACH ':memory:' AS {}", quoted(schema)));
                connection.execute_batch(&format!(
                    "CREATE TABLE {}.{}(lrmask)",
                    quoted(schema),
                    quoted(table)
                ))
            }
            None => connection.execute_batch(&format!("CREATE TABLE {}(lrmask)", quoted(name))),
        }
    } else if let Some(name) = complaint.strip_prefix("no such collation sequence: ") {
        connection.create_collation(name, str::cmp)
    } else {
        return false;
    };
    made.is_ok()
}
