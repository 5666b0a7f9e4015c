//! Statements with one token changed: the hardest texts to judge, because nearly all of each is
//! valid.

use fastrand::Rng;

use super::tokens::{Kind, pieces};

/// Replacement tokens: every keyword, every symbol, and one or two of each kind of literal.
const POOL: &str = "
    ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY CASCADE CASE CAST
    CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATABASE
    DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH ELSE END ESCAPE EXCEPT EXCLUDE EXCLUSIVE EXISTS
    EXPLAIN FAIL FILTER FIRST FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX
    INDEXED INITIALLY INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL
    NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY
    RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX RELEASE RENAME REPLACE RESTRICT RETURNING RIGHT ROLLBACK ROW ROWS
    SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN TIES TO TRANSACTION TRIGGER UNBOUNDED UNION UNIQUE UPDATE USING VACUUM
    VALUES VIEW VIRTUAL WHEN WHERE WINDOW WITH WITHIN WITHOUT
    ( ) , ; . * + - / % = == < > <= >= <> != << >> & | || ~ -> ->> ! : ? @ # $ { } [ ] ' \" ` ^ \\
        a b t rowid \"a\" [a] `a` 'a' '' x'00' x'0' 0 1 1.5 .5 1. 1e5 1e 0x1F 1_000 1_ 1a ?1 :a @a $a $a::b(c) #a #1 é -- /* */ /**/
";

/// Returns the keywords of SQLite.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    POOL.split_whitespace().filter(|word| {
        let is_word = word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        is_word && word.len() > 1
    })
}

/// A kind of mutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Delete,
    Duplicate,
    Swap,
    Replace,
}

/// Returns a random change of a text, and the text with one token deleted, duplicated, swapped with
/// the next or replaced; `None` if it has no token. The text between tokens is kept.
pub fn mutate(text: &str, random: &mut Rng) -> Option<(Change, String)> {
    let mut parts: Vec<(Kind, String)> =
        pieces(text).into_iter().map(|(kind, piece)| (kind, piece.to_owned())).collect();
    let tokens: Vec<usize> =
        (0..parts.len()).filter(|&part| parts[part].0 != Kind::Blank).collect();
    if tokens.is_empty() {
        return None;
    }
    let at = random.usize(..tokens.len());
    let token = tokens[at];
    let change = match random.usize(..4) {
        0 => Change::Delete,
        1 => Change::Duplicate,
        2 if at + 1 < tokens.len() => Change::Swap,
        _ => Change::Replace,
    };
    match change {
        Change::Delete => parts[token].1.clear(),
        Change::Duplicate => parts[token].1 = format!("{0} {0}", parts[token].1),
        Change::Swap => parts.swap(token, tokens[at + 1]),
        Change::Replace => {
            let pool: Vec<&str> = POOL.split_whitespace().collect();
            parts[token].1 = pool[random.usize(..pool.len())].to_owned();
        }
    }
    Some((change, parts.into_iter().map(|(_, part)| part).collect()))
}
