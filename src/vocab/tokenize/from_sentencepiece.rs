//! SentencePiece's BPE: the pair whose piece has the highest score is merged first; scores of
//! pieces, not pairs.

use std::collections::BTreeSet;

use crate::vocab::load::sentencepiece::{Model, PieceKind};

use super::{Atoms, Merges, NO_TOKEN, TokenId, Tokenizer, Units, Vocabulary, VocabularyError};

impl Tokenizer {
    /// The tokenizer of a SentencePiece `.model` of the BPE kind that leaves texts as they are. The
    /// space that SentencePiece puts before a text is left out.
    ///
    /// # Errors
    ///
    /// [`crate::VocabularyErrorKind::Unsupported`] for models of other kinds, such that rewrite the
    /// text, and such that have unused pieces; else as of [`Vocabulary::from_sentencepiece`].
    pub fn from_sentencepiece(bytes: &[u8]) -> Result<Self, VocabularyError> {
        let vocabulary = Vocabulary::from_sentencepiece(bytes)?;
        let model = Model::parse(bytes)?;
        let refused = [
            (!model.is_bpe, "is no BPE"),
            (model.rewrites_text, "rewrites the text before it cuts it"),
            (!model.escape_whitespaces, "does not escape spaces"),
            (model.pieces.iter().any(|piece| piece.kind == PieceKind::Unused), "has unused pieces"),
        ];
        if let Some((_, what)) = refused.iter().find(|(refused, _)| *refused) {
            return Err(VocabularyError::unsupported(format!(
                "this SentencePiece model {what}; how it cuts texts is not known here exactly"
            )));
        }

        let mut bytes = [NO_TOKEN; 256];
        let mut known = rustc_hash::FxHashMap::default();
        let mut tokens = rustc_hash::FxHashMap::default();
        let mut atoms = Vec::new();
        // Equal scores are equal priorities: the leftmost pair goes first.
        let scores: BTreeSet<i64> = model.pieces.iter().map(|piece| descending(piece.score)).collect();
        let scores: Vec<i64> = scores.into_iter().collect();
        for (id, piece) in (0u32..).zip(&model.pieces) {
            let Some(text) = vocabulary.bytes(TokenId(id)) else { continue };
            match piece.kind {
                PieceKind::Byte => {
                    if let &[byte] = text {
                        bytes[usize::from(byte)] = id;
                    }
                }
                PieceKind::UserDefined => atoms.push((id, text)),
                _ => {
                    let priority = scores.partition_point(|&score| score < descending(piece.score));
                    let mut chars = piece.text.chars();
                    if let (Some(c), None) = (chars.next(), chars.next()) {
                        known.insert(if c == '\u{2581}' { ' ' } else { c }, id);
                    }
                    tokens.insert(text.into(), (priority as u32, id));
                }
            }
        }
        Ok(Tokenizer {
            atoms: Atoms::new(&atoms),
            splits: Vec::new(),
            whole_words: None,
            merges: Merges::ByBytes(tokens),
            units: Units::Characters { known, bytes },
            normal_form_c: false,
            escapes_spaces: true,
        })
    }
}

/// A number that is the smaller the higher the score.
fn descending(score: f32) -> i64 {
    // The bits of a float, read as sign and magnitude, are in the order of the floats.
    let bits = i64::from(score.to_bits());
    if score.is_sign_negative() { bits & 0x7fff_ffff } else { -bits }
}
