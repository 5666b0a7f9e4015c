//! What a measuring process is given: files, so that the process reads little and its memory is the
//! engine's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// One measurement: an engine's grammar, a vocabulary and documents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The grammar's form.
    pub form: Form,
    /// The grammar's file.
    pub grammar: PathBuf,
    /// The file of [`Words`].
    pub vocabulary: PathBuf,
    /// The file of [`Documents`].
    pub documents: PathBuf,
    /// Documents and steps whose masks are to be counted.
    pub checks: Vec<(u32, u32)>,
    /// Seconds after which a pass over the documents is cut short.
    pub patience: f64,
}

/// How a grammar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Lark's notation, in the engine's own dialect.
    Lark,
    /// One regular expression for the whole text.
    Regex,
    /// xgrammar's EBNF.
    Ebnf,
    /// A JSON Schema.
    Schema,
}

/// A grammar as the engine is given it.
#[derive(Debug)]
pub struct GrammarText {
    /// How it is written.
    pub form: Form,
    /// Where it lies, for what it imports.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

impl GrammarText {
    /// The grammar in Lark's notation: a regular expression becomes the only terminal.
    ///
    /// # Errors
    ///
    /// When it is in neither form.
    pub fn as_lark(&self) -> Result<String, String> {
        match self.form {
            Form::Lark => Ok(self.text.clone()),
            Form::Regex => {
                let escaped = self.text.replace('/', "\\/");
                Ok(format!("start: TEXT\nTEXT: /{escaped}/\n"))
            }
            Form::Ebnf | Form::Schema => Err("not a form that this engine reads".to_owned()),
        }
    }

    /// The regular expression.
    ///
    /// # Errors
    ///
    /// When it is none.
    pub fn as_regex(&self) -> Result<&str, String> {
        match self.form {
            Form::Regex => Ok(&self.text),
            Form::Lark | Form::Ebnf | Form::Schema => Err("not a regular expression".to_owned()),
        }
    }
}

/// A vocabulary as bytes: the words by id, empty ones for special tokens, holes and padding.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// The bytes of each id.
    pub words: Vec<Vec<u8>>,
    /// The ids that end a text.
    pub stops: Vec<u32>,
}

impl Words {
    /// How many `u32` a mask takes.
    pub fn row(&self) -> usize {
        self.words.len().div_ceil(32)
    }
}

/// Texts in tokens.
#[derive(Debug, PartialEq, Eq)]
pub struct Documents(pub Vec<Vec<u32>>);

// The files of both are lists of numbers, little-endian `u32`, each list behind its length; the
// bytes of a word stand as they are, behind their number.

impl Words {
    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_list(&mut bytes, &self.stops);
        put(&mut bytes, self.words.len() as u32);
        for word in &self.words {
            put(&mut bytes, word.len() as u32);
            bytes.extend_from_slice(word);
        }
        bytes
    }

    /// What the content of a file says; `None` when it is broken.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let stops = take_list(&mut bytes)?;
        let count = take(&mut bytes)?;
        let mut words = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let length = take(&mut bytes)?;
            let (word, rest) = bytes.split_at_checked(length as usize)?;
            words.push(word.to_vec());
            bytes = rest;
        }
        Some(Self { words, stops })
    }
}

impl Documents {
    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, self.0.len() as u32);
        self.0.iter().for_each(|tokens| put_list(&mut bytes, tokens));
        bytes
    }

    /// What the content of a file says; `None` when it is broken.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let count = take(&mut bytes)?;
        (0..count).map(|_| take_list(&mut bytes)).collect::<Option<_>>().map(Self)
    }
}

fn put(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn put_list(bytes: &mut Vec<u8>, list: &[u32]) {
    put(bytes, list.len() as u32);
    list.iter().for_each(|&number| put(bytes, number));
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number))
}

fn take_list(bytes: &mut &[u8]) -> Option<Vec<u32>> {
    let count = take(bytes)?;
    (0..count).map(|_| take(bytes)).collect()
}

/// A case with its files read.
#[derive(Debug)]
pub struct Loaded {
    /// The grammar.
    pub grammar: GrammarText,
    /// The vocabulary.
    pub words: Words,
    /// The documents.
    pub documents: Documents,
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    ///
    /// When its file cannot be read or is none.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }

    /// Reads the files that it names.
    ///
    /// # Errors
    ///
    /// When one cannot be read.
    pub fn load(&self) -> io::Result<Loaded> {
        let broken = || io::Error::from(io::ErrorKind::InvalidData);
        let text = fs::read_to_string(&self.grammar)?;
        // A regular expression is the file without the end of its line.
        let text =
            if self.form == Form::Regex { text.trim_end_matches('\n').to_owned() } else { text };
        Ok(Loaded {
            grammar: GrammarText { form: self.form, path: self.grammar.clone(), text },
            words: Words::from_bytes(&fs::read(&self.vocabulary)?).ok_or_else(broken)?,
            documents: Documents::from_bytes(&fs::read(&self.documents)?).ok_or_else(broken)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_as_they_were() {
        let words = Words { words: vec![b"a".to_vec(), Vec::new(), vec![0, 255]], stops: vec![1] };
        assert_eq!(Words::from_bytes(&words.to_bytes()).as_ref(), Some(&words));
        let documents = Documents(vec![vec![0, 2], Vec::new()]);
        assert_eq!(Documents::from_bytes(&documents.to_bytes()).as_ref(), Some(&documents));
    }

    #[test]
    fn broken_files_are_none() {
        let bytes = Words { words: vec![b"abc".to_vec()], stops: vec![7] }.to_bytes();
        assert!((0..bytes.len()).all(|length| Words::from_bytes(&bytes[..length]).is_none()));
    }

    #[test]
    fn a_regex_is_a_grammar_of_one_terminal() {
        let text = GrammarText { form: Form::Regex, path: PathBuf::new(), text: "a/b".to_owned() };
        assert_eq!(text.as_lark().as_deref(), Ok("start: TEXT\nTEXT: /a\\/b/\n"));
    }
}
