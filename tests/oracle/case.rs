//! A directory of `tests/grammars`: one phenomenon, its grammar in two notations, and its
//! expectations.
//!
//! `tests/grammars/README.md` describes the format.

use super::quoted::words;
use super::spec::{LexerKind, Spec};
use super::viability::Oracle;
use std::fs;
use std::path::PathBuf;

/// A phenomenon.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub name: String,
    /// The grammar for the engine.
    lark: String,
    /// The same grammar for the oracle.
    spec: String,
    pub lexers: Vec<LexerKind>,
    pub alphabet: Vec<u8>,
    /// Texts up to this length are visited.
    pub n: usize,
    /// Tokens that span or split lexemes.
    pub tokens: Vec<Vec<u8>>,
    /// A vocabulary without single bytes to fall back on.
    pub sparse: Vec<Vec<u8>>,
    /// The code of the diagnostic with which the engine must refuse the grammar.
    pub refused: Vec<(LexerKind, String)>,
    /// Whether the engine may fail to find completions by itself: a known limit.
    pub may_lack_completions: bool,
    /// Codes of warnings that the engine must give.
    pub warnings: Vec<(LexerKind, String)>,
    /// Hand-written expectations for some texts.
    pub expectations: Vec<Expectation>,
}

/// A hand-written expectation for one text.
#[derive(Clone, Debug)]
pub struct Expectation {
    pub lexer: LexerKind,
    pub text: Vec<u8>,
    pub fact: Fact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    Member,
    NotMember,
    Viable,
    NotViable,
}

/// Returns the directory of the cases.
pub fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/grammars")
}

/// Returns the names of all cases.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

impl Case {
    /// Reads a case.
    ///
    /// # Panics
    /// On any fault in its files.
    pub fn read(name: &str) -> Self {
        let read = |file: &str| {
            let path = directory().join(name).join(file);
            fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        let mut case = Self {
            name: name.to_owned(),
            lark: read("grammar.lark"),
            spec: read("oracle.txt"),
            lexers: vec![LexerKind::Basic, LexerKind::Contextual],
            n: 5,
            ..Self::default()
        };
        assert!(read("README.md").len() > 100, "{name}: README.md says too little");
        for line in read("case.txt").lines() {
            case.read_line(line);
        }
        assert!(!case.alphabet.is_empty(), "{name}: no alphabet");
        case
    }

    fn read_line(&mut self, line: &str) {
        let words = words(line);
        let Some((keyword, values)) = words.split_first() else { return };
        let string = |word: &Vec<u8>| String::from_utf8(word.clone()).unwrap();
        let number = |word: &Vec<u8>| string(word).parse::<usize>().unwrap();
        let mut lexers = self.lexers.clone();
        let mut values = values.to_vec();
        let keyword = string(keyword);
        if keyword == "lexers" {
            self.lexers = values.iter().map(|word| lexer(word).unwrap()).collect();
            return;
        }
        if !matches!(keyword.as_str(), "token" | "sparse" | "alphabet")
            && let Some(only) = values.first().and_then(lexer)
        {
            assert!(lexers.contains(&only), "{}: {line}", self.name);
            lexers = vec![only];
            values.remove(0);
        }
        let fact = match keyword.as_str() {
            "alphabet" => return self.alphabet = values.concat(),
            "n" => return self.n = number(&values[0]),
            "may-lack-completions" => return self.may_lack_completions = true,
            "token" => return self.tokens.extend(values),
            "sparse" => return self.sparse.extend(values),
            "refused" => {
                return self
                    .refused
                    .extend(lexers.iter().map(|&lexer| (lexer, string(&values[0]))));
            }
            "warning" => {
                return self
                    .warnings
                    .extend(lexers.iter().map(|&lexer| (lexer, string(&values[0]))));
            }
            "member" => Fact::Member,
            "nonmember" => Fact::NotMember,
            "viable" => Fact::Viable,
            "dead" => Fact::NotViable,
            _ => panic!("{}: {line}", self.name),
        };
        for lexer in lexers {
            self.expectations.extend(values.iter().map(|text| Expectation {
                lexer,
                text: text.clone(),
                fact,
            }));
        }
    }

    /// Returns the grammar file with the given lexer.
    pub fn lark(&self, lexer: LexerKind) -> String {
        let mut lines: Vec<String> = self.lark.lines().map(str::to_owned).collect();
        let line = lines.iter_mut().find(|line| line.starts_with("%lexer "));
        let line = line.unwrap_or_else(|| panic!("{}: grammar.lark has no %lexer line", self.name));
        *line = format!("%lexer {}", lexer.name());
        lines.join("\n") + "\n"
    }

    /// Returns the oracle of the case.
    pub fn oracle(&self, lexer: LexerKind) -> Oracle {
        Oracle::new(self.spec(lexer), &self.alphabet)
    }

    /// Returns the grammar for the oracle with the given lexer.
    pub fn spec(&self, lexer: LexerKind) -> Spec {
        let mut spec = Spec::read(&self.spec);
        spec.lexer = lexer;
        spec
    }
}

fn lexer(word: impl AsRef<[u8]>) -> Option<LexerKind> {
    match word.as_ref() {
        b"basic" => Some(LexerKind::Basic),
        b"contextual" => Some(LexerKind::Contextual),
        _ => None,
    }
}
