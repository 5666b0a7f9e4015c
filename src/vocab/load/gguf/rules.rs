//! How the tokenizer of a GGUF model cuts texts into tokens.

use super::Metadata;
use crate::vocab::Vocabulary;
use crate::vocab::bpe::{Bpe, CanonicalError, Letters, Ranks, Tokenizer, patterns};
use crate::vocab::load::merges::MergeList;

/// The types of ordinary tokens, of text that is split off first, and of bytes.
const NORMAL: u32 = 1;
const USER_DEFINED: u32 = 4;
const BYTE: u32 = 6;

/// Returns the rules of a file, or the reason why they are not known.
pub(super) fn of(file: &Metadata<'_>, byte_level: bool) -> Tokenizer {
    let kind = |id: usize| file.types.get(id).copied().unwrap_or(NORMAL);
    let of_kind = |wanted: u32| -> Vec<u32> {
        let ids = (0..file.tokens.len()).filter(|&id| kind(id) == wanted);
        ids.map(|id| id as u32).collect()
    };
    let mut bpe = match file.model {
        b"gpt2" if byte_level && !file.merges.is_empty() => {
            let piece = |id: usize| file.tokens.get(id).map(|&piece| (piece, id as u64));
            let mut list = MergeList::new(piece);
            for merge in file.merges.iter().filter_map(|merge| std::str::from_utf8(merge).ok()) {
                if let Some((left, right)) = merge.split_once(' ') {
                    list.add(left, right, left.chars().count());
                }
            }
            let mut bpe = Bpe::new(Ranks::Merges(list.finish().into()), Letters::Bytes);
            bpe.pattern = pattern(file.splits).map(Into::into);
            bpe.whole_first = file.splits == b"llama-bpe";
            bpe
        }
        b"llama" if file.scores.len() == file.tokens.len() => {
            let scores =
                (0..).zip(&file.scores).map(|(id, &score)| (kind(id) == NORMAL).then_some(score));
            Bpe::by_scores(scores, of_kind(BYTE).into())
        }
        b"gpt2" | b"llama" => return Tokenizer::Unknown(CanonicalError::NoMerges),
        b"t5" => return Tokenizer::Unknown(CanonicalError::NotBpe("Unigram".to_owned())),
        b"bert" => return Tokenizer::Unknown(CanonicalError::NotBpe("WordPiece".to_owned())),
        other => {
            let name = other[..other.len().min(40)].escape_ascii().to_string();
            return Tokenizer::Unknown(CanonicalError::NotBpe(name));
        }
    };
    bpe.added = of_kind(USER_DEFINED).into();
    bpe.into()
}

/// Returns the pattern that llama.cpp calls by this name.
fn pattern(name: &[u8]) -> Option<&'static str> {
    Some(match name {
        b"gpt-2" | b"phi-2" | b"mpt" | b"olmo" | b"jais" => Vocabulary::GPT2_PATTERN,
        b"llama-bpe" | b"llama3" | b"llama-v3" => patterns::LLAMA3,
        b"qwen2" => patterns::QWEN2,
        b"smollm" => patterns::DIGITS_AND_GPT2,
        b"gpt-4o" | b"llama4" => Vocabulary::O200K_PATTERN,
        _ => return None,
    })
}
