//! Vocabularies: built-in ones by name, others from files.

use std::io::Read as _;

use lrmask::{Limits, TokenId, Vocabulary, VocabularyError, VocabularyErrorKind};

use crate::failure::Failure;
use crate::input::{self, Inputs};
use crate::output;
use crate::random;
use crate::similar;
use crate::tokenizer::Tokenizer;

/// The default vocabulary: the built-in one of a model that loads fastest, in some 30 ms.
pub(crate) const DEFAULT: &str = if cfg!(feature = "tokenizers") { "gpt2" } else { "bytes" };

/// The built-in vocabularies.
const BUILT_IN: [&str; 6] = ["bytes", "gpt2", "p50k", "cl100k", "o200k", "o200k_harmony"];

/// The vocabulary of a command that needs one.
#[derive(Debug, clap::Args)]
pub(crate) struct VocabularyArgument {
    /// The vocabulary: bytes, gpt2, p50k, cl100k, o200k, o200k_harmony, or the file of a tokenizer
    /// (tokenizer.json, SentencePiece's .model, a GGUF model, tiktoken's, tekken.json, a
    /// vocab.json).
    #[arg(long, value_name = "V", default_value = DEFAULT)]
    pub(crate) vocab: String,
}

/// Loads the vocabulary called `name`: a built-in one, or else that of a file.
///
/// # Errors
///
/// If the file cannot be read or is not a tokenizer's.
pub(crate) fn load(name: &str, inputs: &Inputs) -> Result<Vocabulary, Failure> {
    Ok(find(name, inputs)?.0)
}

/// The way in which texts are cut into tokens.
#[derive(Debug)]
pub(crate) enum Cutter {
    /// Like the model's tokenizer.
    Tokenizer(Tokenizer),
    /// The longest token first, if the tokenizer's own way is not known.
    Longest,
    /// At random.
    Random(u64),
}

impl Cutter {
    /// Cuts `text`, the `index`th of several. Returns `None` if the vocabulary cannot spell it.
    pub(crate) fn cut(
        &self,
        vocabulary: &Vocabulary,
        text: &[u8],
        index: usize,
    ) -> Option<Vec<TokenId>> {
        match (self, std::str::from_utf8(text)) {
            (Self::Tokenizer(tokenizer), Ok(text)) => tokenizer
                .encode(vocabulary, text)
                .or_else(|| vocabulary.cut_longest(text.as_bytes())),
            (Self::Random(seed), _) => {
                let mut random = random::nth(*seed, index as u64);
                vocabulary.cut(text, |choices| random.usize(..choices.len()))
            }
            _ => vocabulary.cut_longest(text),
        }
    }
}

/// Loads the vocabulary called `name` with the cutter of its tokenizer; with `retokenize`, texts
/// are cut at random with that seed.
///
/// # Errors
///
/// As [`load`].
pub(crate) fn load_with_cutter(
    name: &str,
    retokenize: Option<u64>,
    inputs: &Inputs,
) -> Result<(Vocabulary, Cutter), Failure> {
    let (vocabulary, bytes) = find(name, inputs)?;
    if let Some(seed) = retokenize {
        return Ok((vocabulary, Cutter::Random(seed)));
    }
    let tokenizer = match &bytes {
        Some(bytes) => Tokenizer::from_file_bytes(bytes),
        None => Tokenizer::builtin(name),
    };
    let cutter = match tokenizer {
        Ok(tokenizer) => Cutter::Tokenizer(tokenizer),
        Err(error) => {
            output::note(&format!(
                "warning: texts are cut into the longest tokens that match: {error}"
            ));
            Cutter::Longest
        }
    };
    Ok((vocabulary, cutter))
}

/// Returns the vocabulary called `name`, and the content of its file if it has one.
fn find(name: &str, inputs: &Inputs) -> Result<(Vocabulary, Option<Vec<u8>>), Failure> {
    let refused =
        |error: VocabularyError| Failure::unusable(format_args!("vocabulary {name}: {error}"));
    match Vocabulary::builtin(name) {
        Ok(vocabulary) => Ok((vocabulary, None)),
        Err(error) if error.kind() == VocabularyErrorKind::UnknownName => {
            if input::is_bare_word(name) {
                let nearest = similar::nearest(name, BUILT_IN.iter().copied())
                    .map(|nearest| format!("\nhelp: did you mean `{nearest}`?"))
                    .unwrap_or_default();
                let message = format_args!("{error}, and no such file either{nearest}");
                return Err(Failure::unusable(message));
            }
            let mut bytes = Vec::new();
            // The tensors of a model follow its vocabulary.
            let most = Limits::default().vocabulary_bytes as u64 + 1;
            let read = inputs.open(name)?.take(most).read_to_end(&mut bytes);
            read.map_err(|error| input::unreadable(name, &error))?;
            Ok((Vocabulary::from_file_bytes(&bytes).map_err(refused)?, Some(bytes)))
        }
        Err(error) => Err(refused(error)),
    }
}
