//! SentencePiece's `.model` files: the protobuf `sentencepiece_model.proto`, of which four messages
//! are used.

use super::check_size;
use crate::vocab::Vocabulary;
use crate::vocab::bpe::{Bpe, CanonicalError, Tokenizer};
use crate::vocab::builder::VocabularyBuilder;
use crate::vocab::error::VocabularyError;
use crate::vocab::reader::VocabularyReader;
use crate::vocab::stops::is_stop_name;

use super::protobuf::{Fields, Value};
use super::tokenizer_json::fallback_byte;

/// The type of a piece, with the numbers of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::vocab) enum PieceKind {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6,
}

/// One entry of the vocabulary; its id is its position.
pub(in crate::vocab) struct Piece<'a> {
    pub(in crate::vocab) text: &'a str,
    /// Log-probability in a unigram model; in BPE, pieces with higher scores are merged first.
    pub(in crate::vocab) score: f32,
    pub(in crate::vocab) kind: PieceKind,
}

/// The fields of a model that the loader uses, initialized to the defaults of the format.
pub(in crate::vocab) struct Model<'a> {
    pub(in crate::vocab) pieces: Vec<Piece<'a>>,
    /// Whether the model is a BPE.
    pub(in crate::vocab) is_bpe: bool,
    /// Whether the text is normalized before it is split: by a table of characters, or by removing
    /// runs of spaces.
    pub(in crate::vocab) rewrites_text: bool,
    /// Id of the token that ends the text; -1 for none.
    eos_id: i64,
    add_dummy_prefix: bool,
    pub(in crate::vocab) escape_whitespaces: bool,
}

impl Vocabulary {
    /// Reads a SentencePiece model (`tokenizer.model`). The control pieces and the unknown piece
    /// are special, unused pieces are holes, byte pieces are their byte, and U+2581 in all others
    /// is a space. Costs about 3 ms for 32,000 pieces.
    ///
    /// # Errors
    ///
    /// If the bytes are no such model, or exceed the limits of [`Vocabulary::from_tokens`].
    pub fn from_sentencepiece(bytes: &[u8]) -> Result<Self, VocabularyError> {
        VocabularyReader::new().sentencepiece(bytes)
    }
}

impl VocabularyReader {
    /// Reads the format of [`Vocabulary::from_sentencepiece`].
    ///
    /// # Errors
    ///
    /// The same, and [`VocabularyErrorKind::Limit`](crate::VocabularyErrorKind::Limit) if a limit
    /// is exceeded.
    pub fn sentencepiece(&self, bytes: &[u8]) -> Result<Vocabulary, VocabularyError> {
        let limits = self.within();
        check_size(bytes, limits)?;
        let model = Model::parse(bytes)?;
        let mut builder = VocabularyBuilder::within(limits);
        builder.leading_space(model.add_dummy_prefix);
        for (id, piece) in (0..).zip(&model.pieces) {
            match piece.kind {
                PieceKind::UserDefined if is_stop_name(piece.text) => {
                    builder.special(id, piece.text)?;
                }
                PieceKind::Normal | PieceKind::UserDefined if model.escape_whitespaces => {
                    builder.token(id, piece.text.replace('\u{2581}', " ").as_bytes())?;
                }
                PieceKind::Normal | PieceKind::UserDefined => {
                    builder.token(id, piece.text.as_bytes())?;
                }
                PieceKind::Byte => {
                    let byte = fallback_byte(piece.text).ok_or_else(|| {
                        malformed(&format!(
                            "byte piece {id} is called \"{}\"",
                            piece.text.escape_debug()
                        ))
                    })?;
                    builder.token(id, &[byte])?;
                }
                PieceKind::Unknown | PieceKind::Control => builder.special(id, piece.text)?,
                PieceKind::Unused => builder.widen(id)?,
            }
        }
        builder.tokenizer(model.tokenizer());
        let eos = usize::try_from(model.eos_id).ok().and_then(|id| model.pieces.get(id));
        if eos.is_some_and(|piece| piece.kind == PieceKind::Control) {
            builder.stop(model.eos_id as u64)?;
        }
        builder.finish()
    }
}

impl<'a> Model<'a> {
    pub(in crate::vocab) fn parse(bytes: &'a [u8]) -> Result<Self, VocabularyError> {
        let mut model = Self {
            pieces: Vec::new(),
            is_bpe: false,
            rewrites_text: false,
            eos_id: 2,
            add_dummy_prefix: true,
            escape_whitespaces: true,
        };
        for field in Fields::new(bytes) {
            match field.map_err(malformed)? {
                (1, Value::Bytes(piece)) => model.pieces.push(Piece::parse(piece)?),
                (2, Value::Bytes(trainer)) => {
                    for field in Fields::new(trainer) {
                        match field.map_err(malformed)? {
                            (3, Value::Varint(kind)) => model.is_bpe = kind == 2,
                            // An int32, which the format sign-extends to 64 bits.
                            (42, Value::Varint(id)) => model.eos_id = id.cast_signed(),
                            _ => {}
                        }
                    }
                }
                (3, Value::Bytes(normalizer)) => {
                    let (mut table, mut squeezes) = (false, true);
                    for field in Fields::new(normalizer) {
                        match field.map_err(malformed)? {
                            (2, Value::Bytes(map)) => table = !map.is_empty(),
                            (4, Value::Varint(yes)) => squeezes = yes != 0,
                            (3, Value::Varint(yes)) => model.add_dummy_prefix = yes != 0,
                            (5, Value::Varint(yes)) => model.escape_whitespaces = yes != 0,
                            _ => {}
                        }
                    }
                    model.rewrites_text = table || squeezes;
                }
                _ => {}
            }
        }
        if model.pieces.is_empty() {
            return Err(malformed("the model has no pieces"));
        }
        Ok(model)
    }
}

impl Model<'_> {
    /// Returns how the model cuts texts into tokens.
    fn tokenizer(&self) -> Tokenizer {
        if !self.is_bpe {
            return Tokenizer::Unknown(CanonicalError::NotBpe("Unigram".to_owned()));
        }
        if self.rewrites_text {
            let what = "its model normalizes texts".to_owned();
            return Tokenizer::Unknown(CanonicalError::Step(what));
        }
        let of_kind = |kind: PieceKind| {
            let ids = (0..).zip(&self.pieces).filter(move |(_, piece)| piece.kind == kind);
            ids.map(|(id, _)| id).collect()
        };
        let scores = self
            .pieces
            .iter()
            .map(|piece| (piece.kind == PieceKind::Normal).then_some(piece.score));
        let mut bpe = Bpe::by_scores(scores, of_kind(PieceKind::Byte));
        bpe.added = of_kind(PieceKind::UserDefined);
        bpe.into()
    }
}

impl<'a> Piece<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, VocabularyError> {
        let mut piece = Self { text: "", score: 0.0, kind: PieceKind::Normal };
        for field in Fields::new(bytes) {
            match field.map_err(malformed)? {
                (1, Value::Bytes(text)) => {
                    piece.text =
                        std::str::from_utf8(text).map_err(|_| malformed("a piece is not UTF-8"))?;
                }
                (2, Value::Float(score)) => piece.score = score,
                (3, Value::Varint(kind)) => {
                    use PieceKind::{Byte, Control, Normal, Unknown, Unused, UserDefined};
                    piece.kind = [Normal, Unknown, Control, UserDefined, Unused, Byte]
                        .into_iter()
                        .find(|&known| known as u64 == kind)
                        .ok_or_else(|| {
                            malformed(&format!("a piece has the unknown type {kind}"))
                        })?;
                }
                _ => {}
            }
        }
        Ok(piece)
    }
}

fn malformed(what: &str) -> VocabularyError {
    VocabularyError::malformed(format!("not a SentencePiece model: {what}"))
}
