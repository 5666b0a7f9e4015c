//! The vocabulary in the metadata of a GGUF model, the format of llama.cpp.
//!
//! A file begins with `GGUF`, its version, the number of tensors and the number of key-value pairs,
//! and then has these pairs. What follows them, the tensors, is not read, so the file may be cut
//! off there. Numbers are little-endian, or big-endian if the version tells so.

mod rules;

use super::byte_level;
use super::tokenizer_json::fallback_byte;
use crate::vocab::Vocabulary;
use crate::vocab::builder::VocabularyBuilder;
use crate::vocab::error::VocabularyError;
use crate::vocab::reader::VocabularyReader;
use crate::vocab::stops::is_stop_name;

/// The first bytes of a file.
pub(in crate::vocab) const MAGIC: &[u8] = b"GGUF";

/// Upper bound on the length of a key, as in the format.
const LONGEST_KEY: u64 = 65_535;

/// Arrays within arrays are skipped up to this depth.
const DEPTH: usize = 4;

/// Types of values, by their numbers.
const U32: u32 = 4;
const F32: u32 = 6;
const BOOL: u32 = 7;
const STRING: u32 = 8;
const ARRAY: u32 = 9;

/// Keys of tokens that end a text: of the document, the turn, the message.
const STOPS: [&str; 3] = ["eos_token_id", "eot_token_id", "eom_token_id"];

impl Vocabulary {
    /// Reads the vocabulary in the metadata of a GGUF model. `bytes` is the file, or its beginning
    /// with all metadata: the tensors are not read. Tokens are read as llama.cpp writes them: for
    /// the models `gpt2` and alike in the byte-level alphabet, for `llama`, `t5`, `bert` and alike
    /// with U+2581 as a space. Control tokens and the unknown token are special, unused tokens are
    /// holes, byte tokens are their byte, user-defined tokens are their text. The tokens that the
    /// file says end a text, a turn or a message are stop tokens, and so are those with names that
    /// are known to (`<|im_end|>`).
    ///
    /// ```no_run
    /// use std::io::Read as _;
    /// let mut bytes = Vec::new();
    /// std::fs::File::open("model.gguf")?.take(64 << 20).read_to_end(&mut bytes)?;
    /// let vocabulary = lrmask::Vocabulary::from_gguf(&bytes)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the bytes are no such file, the metadata is cut off or has no tokenizer whose tokens are
    /// known as bytes, or exceeds the limits of [`Vocabulary::from_tokens`].
    pub fn from_gguf(bytes: &[u8]) -> Result<Self, VocabularyError> {
        VocabularyReader::new().gguf(bytes)
    }
}

impl VocabularyReader {
    /// Reads the format of [`Vocabulary::from_gguf`]. [`Limits::vocabulary_bytes`] bounds the
    /// metadata, not the file.
    ///
    /// # Errors
    ///
    /// The same, and [`VocabularyErrorKind::Limit`](crate::VocabularyErrorKind::Limit) if a limit
    /// is exceeded.
    ///
    /// [`Limits::vocabulary_bytes`]: crate::Limits::vocabulary_bytes
    pub fn gguf(&self, bytes: &[u8]) -> Result<Vocabulary, VocabularyError> {
        let limits = self.within();
        let within = &bytes[..bytes.len().min(limits.vocabulary_bytes)];
        let metadata = Metadata::read(within).map_err(|fault| match fault {
            Fault::CutOff if within.len() < bytes.len() => VocabularyError::limit(format!(
                "the metadata has more than the {} bytes that `vocabulary_bytes` of the limits \
                 allows",
                limits.vocabulary_bytes
            )),
            Fault::CutOff => malformed("the metadata is cut off; give more of the file"),
            Fault::Wrong(what) => malformed(what),
        })?;
        metadata.vocabulary(VocabularyBuilder::within(limits))
    }
}

/// The metadata that describes the tokenizer.
#[derive(Default)]
pub(super) struct Metadata<'a> {
    pub(super) model: &'a [u8],
    pub(super) tokens: Vec<&'a [u8]>,
    /// By token, its type; empty if the file has none.
    pub(super) types: Vec<u32>,
    stops: Vec<u64>,
    add_space_prefix: Option<bool>,
    /// The merges, and by token its score: each only for some tokenizers.
    pub(super) merges: Vec<&'a [u8]>,
    pub(super) scores: Vec<f32>,
    /// The name of the way in which texts are split first.
    pub(super) splits: &'a [u8],
}

/// The reason why metadata cannot be read.
enum Fault {
    CutOff,
    Wrong(&'static str),
}

/// How tokens are written.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    /// In the byte-level alphabet.
    ByteLevel,
    /// As text, with U+2581 for a space.
    Spaces,
}

impl<'a> Metadata<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(Fault::Wrong("it does not begin with `GGUF`"));
        };
        let mut input = Input { rest, is_big: false };
        let mut version = input.u32()?;
        if version & 0xffff == 0 {
            input.is_big = true;
            version = version.swap_bytes();
        }
        if !(2..=3).contains(&version) {
            return Err(Fault::Wrong("its version is not 2 or 3; convert it again"));
        }
        input.u64()?;
        let mut metadata = Self::default();
        for _ in 0..input.u64()? {
            let length = input.u64()?;
            if length > LONGEST_KEY {
                return Err(Fault::Wrong("a key is too long"));
            }
            let key = std::str::from_utf8(input.take(length)?).unwrap_or_default();
            let kind = input.u32()?;
            match (key.strip_prefix("tokenizer.ggml."), kind) {
                (Some("model"), STRING) => metadata.model = input.string()?,
                (Some("tokens"), ARRAY) => {
                    metadata.tokens.clear();
                    for _ in 0..input.array(&[STRING])? {
                        metadata.tokens.push(input.string()?);
                    }
                }
                (Some("token_type"), ARRAY) => {
                    metadata.types.clear();
                    for _ in 0..input.array(&[U32, U32 + 1])? {
                        metadata.types.push(input.u32()?);
                    }
                }
                (Some("merges"), ARRAY) => {
                    metadata.merges.clear();
                    for _ in 0..input.array(&[STRING])? {
                        metadata.merges.push(input.string()?);
                    }
                }
                (Some("scores"), ARRAY) => {
                    metadata.scores.clear();
                    for _ in 0..input.array(&[F32])? {
                        metadata.scores.push(f32::from_bits(input.u32()?));
                    }
                }
                (Some("pre"), STRING) => metadata.splits = input.string()?,
                (Some("add_space_prefix"), BOOL) => {
                    metadata.add_space_prefix = Some(input.take(1)? != [0]);
                }
                (Some(key), U32) if STOPS.contains(&key) => {
                    metadata.stops.push(input.u32()?.into());
                }
                _ => input.skip(kind, 0)?,
            }
        }
        Ok(metadata)
    }

    fn vocabulary(&self, mut builder: VocabularyBuilder) -> Result<Vocabulary, VocabularyError> {
        let (encoding, leading_space) = match self.model {
            b"gpt2" => (Encoding::ByteLevel, self.add_space_prefix == Some(true)),
            b"llama" | b"t5" | b"bert" => (Encoding::Spaces, self.add_space_prefix != Some(false)),
            b"gemma4" => (Encoding::Spaces, self.add_space_prefix == Some(true)),
            b"" => {
                let message = "the GGUF file has no tokenizer; use the model's tokenizer.json";
                return Err(VocabularyError::unsupported(message));
            }
            other => {
                return Err(VocabularyError::unsupported(format!(
                    "the tokenizer `{}` of the GGUF file is not known; use the model's \
                     tokenizer.json",
                    other[..other.len().min(40)].escape_ascii()
                )));
            }
        };
        if !self.types.is_empty() && self.types.len() != self.tokens.len() {
            return Err(malformed("the numbers of tokens and of their types differ"));
        }
        builder.leading_space(leading_space);
        let mut decoded = Vec::new();
        for (id, &bytes) in self.tokens.iter().enumerate() {
            let (kind, id) = (self.types.get(id).copied().unwrap_or(1), id as u64);
            // Tokens are UTF-8 but for some files with bytes as they are.
            let text = std::str::from_utf8(bytes).ok();
            let name = || String::from_utf8_lossy(bytes);
            let is_stop = || text.is_some_and(is_stop_name);
            match kind {
                1 | 4 if self.is_untyped_special(text) || kind == 4 && is_stop() => {
                    builder.special(id, &name())?;
                }
                // Converters fill the width with these.
                2 | 4 if is_padding(bytes) => builder.widen(id)?,
                2 | 3 => builder.special(id, &name())?,
                5 => builder.widen(id)?,
                6 => {
                    let byte = text.and_then(fallback_byte).ok_or_else(|| {
                        malformed(&format!(
                            "byte token {id} is called \"{}\"",
                            name().escape_debug()
                        ))
                    })?;
                    builder.token(id, &[byte])?;
                }
                1 | 4 => {
                    decoded.clear();
                    let is_decoded = kind == 1
                        && encoding == Encoding::ByteLevel
                        && text.is_some_and(|text| byte_level::decode(text, &mut decoded));
                    match text {
                        _ if is_decoded => {}
                        Some(text) if encoding == Encoding::Spaces => {
                            decoded.extend_from_slice(text.replace('\u{2581}', " ").as_bytes());
                        }
                        _ => decoded.extend_from_slice(bytes),
                    }
                    if decoded.is_empty() {
                        builder.widen(id)?;
                    } else {
                        builder.token(id, &decoded)?;
                    }
                }
                _ => return Err(malformed(&format!("token {id} has the unknown type {kind}"))),
            }
        }
        builder.tokenizer(rules::of(self, encoding == Encoding::ByteLevel));
        for &id in self.stops.iter().filter(|&&id| id < self.tokens.len() as u64) {
            builder.stop(id)?;
        }
        builder.finish()
    }

    /// Whether a token of a file without types is special by its name.
    fn is_untyped_special(&self, text: Option<&str>) -> bool {
        let is_special = |text| is_stop_name(text) || matches!(text, "<s>" | "<unk>" | "<pad>");
        self.types.is_empty() && text.is_some_and(is_special)
    }
}

/// Bytes that are not read yet.
struct Input<'a> {
    rest: &'a [u8],
    is_big: bool,
}

impl<'a> Input<'a> {
    fn take(&mut self, length: u64) -> Result<&'a [u8], Fault> {
        let length = usize::try_from(length).map_err(|_| Fault::CutOff)?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Fault::CutOff)?;
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        let bytes = self.take(4)?.try_into().unwrap_or_default();
        Ok(if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn u64(&mut self) -> Result<u64, Fault> {
        let bytes = self.take(8)?.try_into().unwrap_or_default();
        Ok(if self.is_big { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    fn string(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.u64()?;
        self.take(length)
    }

    /// Reads the beginning of an array of one of these types, and returns its length.
    fn array(&mut self, kinds: &[u32]) -> Result<u64, Fault> {
        match kinds.contains(&self.u32()?) {
            true => self.u64(),
            false => Err(Fault::Wrong("the tokens or what belongs to them have another type")),
        }
    }

    /// Skips a value.
    fn skip(&mut self, kind: u32, depth: usize) -> Result<(), Fault> {
        match kind {
            STRING => self.string().map(|_| ()),
            ARRAY if depth < DEPTH => {
                let (kind, count) = (self.u32()?, self.u64()?);
                if let STRING | ARRAY = kind {
                    // Each takes some bytes, so this ends.
                    return (0..count).try_for_each(|_| self.skip(kind, depth + 1));
                }
                self.take(size(kind)?.checked_mul(count).ok_or(Fault::CutOff)?).map(|_| ())
            }
            ARRAY => Err(Fault::Wrong("arrays are nested too deep")),
            _ => self.take(size(kind)?).map(|_| ()),
        }
    }
}

/// Whether this is the text of a token that only fills the width: `[PAD7]`.
fn is_padding(token: &[u8]) -> bool {
    let number = token.strip_prefix(b"[PAD").and_then(|rest| rest.strip_suffix(b"]"));
    number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

/// Returns the number of bytes of a value of this type.
fn size(kind: u32) -> Result<u64, Fault> {
    match kind {
        0 | 1 | BOOL => Ok(1),
        2 | 3 => Ok(2),
        U32..=6 => Ok(4),
        10..=12 => Ok(8),
        _ => Err(Fault::Wrong("a value has an unknown type")),
    }
}

fn malformed(what: &str) -> VocabularyError {
    VocabularyError::malformed(format!("not a GGUF model: {what}"))
}
