//! The oracle of `grammars/sqlite`: SQLite itself.
//!
//! SQLite has no call that only parses. `sqlite3_prepare` parses and compiles one statement, and an
//! error stops it where it stands: "no such table" may come before a syntax error later in the
//! text, and hide it. So each statement is asked up to three times ([`Sqlite::statement`]):
//!
//! 1. As it is. No error: yes. An error of the tokenizer or the parser: no.
//! 2. For any other error: again with a byte behind it that begins no token. If SQLite complains of
//!    that byte, its parser has taken every token of the statement; what it did not like came at
//!    the end, when all was read: yes.
//! 3. Else the error came early. What it misses (a table, a database, a collation) is made in an
//!    empty database, and all is asked again; where nothing can be made, the answer is
//!    [`Answer::Hidden`].
//!
//! A script is cut into its statements first, because SQLite does not say where a statement ends
//! that has an error. The empty script, and one of nothing but comments and semicolons, has no
//! statement that could be wrong: yes.

#![allow(unreachable_pub, reason = "a test's own module")]
#![allow(dead_code, reason = "each test uses its own part")]

pub mod mutations;
pub mod tokens;

use rusqlite::Connection;
use std::cell::RefCell;

/// How often something missing is made for one statement.
const REPAIRS: usize = 30;

/// A text that begins no token.
const NO_TOKEN: char = '\u{1}';

/// Whether SQLite takes a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does, or its complaint is not of syntax.
    Yes,
    /// An error of syntax: SQLite's words for it, and where the token begins that it stumbles over,
    /// if it says so.
    No(String, Option<usize>),
    /// Another error came before the end, so that what stands behind it was not read.
    Hidden(String),
}

impl Answer {
    /// Whether a verdict agrees with this answer; with one that was hidden, either does.
    pub fn agrees(&self, accepted: bool) -> bool {
        match self {
            Self::Yes => accepted,
            Self::No(..) => !accepted,
            Self::Hidden(_) => true,
        }
    }

    /// Yes or no, as far as SQLite's own words go: an error that is not of syntax means yes.
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

    /// SQLite's version.
    pub fn version(&self) -> &'static str {
        rusqlite::version()
    }

    /// Whether `text` is any number of statements, none included.
    pub fn script(&self, text: &str) -> Answer {
        // A zero byte ends the text for SQLite; there is no such text for us.
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

/// The first two questions; the error that came early where they do not decide.
fn ask(connection: &Connection, text: &str) -> Result<Answer, String> {
    match complaint(connection, text) {
        None => Ok(Answer::Yes),
        Some((complaint, at)) if is_of_syntax(&complaint) => Ok(Answer::No(complaint, at)),
        // Where underscores may stand in a number is looked at when all of an expression is read,
        // and what SQLite says of it is lost when it has more to say.
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

/// The third question.
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

/// What SQLite says against the first statement of a text, and of which place.
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

/// Whether a complaint is of the tokenizer or the parser. Names out of the text stand in messages
/// too, so that looking for words anywhere in them would not do.
fn is_of_syntax(complaint: &str) -> bool {
    complaint == "incomplete input"
        || complaint.starts_with("unrecognized token: \"")
        || complaint.starts_with("syntax error after column name \"")
        || (complaint.starts_with("near \"") && complaint.ends_with("\": syntax error"))
}

/// Makes what a complaint says is not there; whether that could be done.
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
