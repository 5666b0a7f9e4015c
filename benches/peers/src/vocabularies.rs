//! The vocabularies: built-in ones, and others that may lie beside the project.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use flate2::read::GzDecoder;
use lrmask::Vocabulary;

use crate::case::Words;

/// As the command line cuts texts for replays.
#[path = "../../../cli/src/tokenizer.rs"]
mod tokenizer;

use tokenizer::Tokenizer;

/// A vocabulary, and how its model cuts texts.
pub struct Named {
    /// What tables call it.
    pub name: &'static str,
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
}

/// Where a vocabulary comes from.
enum Origin {
    BuiltIn(&'static str),
    /// A file below the samples.
    File(&'static str),
}

/// All vocabularies, by size.
const ALL: [(&str, Origin); 4] = [
    ("llama2-32k", Origin::File("tokenizers/llama2/tokenizer.json.gz")),
    ("cl100k", Origin::BuiltIn("cl100k")),
    ("llama3-128k", Origin::File("tokenizers/llama3/tokenizer.json.gz")),
    ("o200k", Origin::BuiltIn("o200k")),
];

/// The names of all vocabularies.
pub fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}

/// The vocabulary called `name`; `None` where its file is not there.
///
/// # Errors
///
/// When it is there and broken.
pub fn load(name: &str, data: &Path) -> Result<Option<Named>, String> {
    let Some((name, origin)) = ALL.iter().find(|(known, _)| *known == name) else {
        return Err(format!("no vocabulary is called {name}"));
    };
    let (vocabulary, tokenizer) = match origin {
        Origin::BuiltIn(id) => (Vocabulary::builtin(id), Tokenizer::builtin(id)),
        Origin::File(path) => {
            let Ok(packed) = fs::read(data.join(path)) else { return Ok(None) };
            let mut bytes = Vec::new();
            GzDecoder::new(&packed[..])
                .read_to_end(&mut bytes)
                .map_err(|error| format!("{name}: {error}"))?;
            (Vocabulary::from_file_bytes(&bytes), Tokenizer::from_file_bytes(&bytes))
        }
    };
    let vocabulary = vocabulary.map_err(|error| format!("{name}: {error}"))?;
    let tokenizer = tokenizer.map_err(|error| format!("{name}: {error}"))?;
    Ok(Some(Named { name, vocabulary, tokenizer }))
}

impl Named {
    /// The bytes of each token, and what ends a text.
    pub fn words(&self) -> Words {
        let ids = 0..self.vocabulary.width() as u32;
        let words: Vec<_> = ids
            .map(|id| self.vocabulary.bytes(id).map(<[u8]>::to_vec).unwrap_or_default())
            .collect();
        let stops = self.vocabulary.stop_tokens();
        // Some files name no end: the first id without bytes serves as well as any.
        let hole = || words.iter().position(Vec::is_empty).map(|id| id as u32);
        let stops = if stops.is_empty() {
            hole().into_iter().collect()
        } else {
            stops.iter().map(|id| id.get()).collect()
        };
        Words { words, stops }
    }

    /// The text in tokens, as the model's tokenizer cuts it; `None` when it cannot spell it.
    pub fn cut(&self, text: &str) -> Option<Vec<u32>> {
        let tokens = self.tokenizer.encode(&self.vocabulary, text)?;
        Some(tokens.iter().map(|token| token.get()).collect())
    }
}
