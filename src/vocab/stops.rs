//! The special tokens that end a text, recognized by their names.

use std::collections::BTreeMap;

use crate::util::id::TokenId;

/// Names of special tokens that end a text or a turn, in the vocabularies of models in wide use.
///
/// A grammar's text is one answer of the model, so it ends with the end of a turn as well as with
/// the end of the document: all of them are allowed there, and the model chooses.
const STOP_NAMES: &[&str] = &[
    "</s>",                  // SentencePiece's default: Llama 1 and 2, Mistral, T5
    "<|endoftext|>",         // GPT-2 and its successors
    "<|end_of_text|>",       // Llama 3, the document
    "<|eot_id|>",            // Llama 3, the turn
    "<|eom_id|>",            // Llama 3.1, the message that calls a tool
    "<|eot|>",               // Llama 4
    "<|eom|>",               // Llama 4
    "<|im_end|>",            // ChatML: Qwen and many others
    "<eos>",                 // Gemma
    "<end_of_turn>",         // Gemma
    "<|end|>",               // Phi 3 and 4
    "<|return|>",            // gpt-oss, the answer
    "<|call|>",              // gpt-oss, the message that calls a tool
    "<|end_of_turn|>",       // OpenChat
    "<|END_OF_TURN_TOKEN|>", // Command R
    "<|EOT|>",               // DeepSeek Coder
    "<｜end▁of▁sentence｜>", // DeepSeek
];

/// Returns whether a special token of this name ends a text.
pub(crate) fn is_stop_name(name: &str) -> bool {
    STOP_NAMES.contains(&name)
}

/// Returns the stop tokens among the special ones, ascending.
pub(super) fn stops_by_name(special: &BTreeMap<u32, Box<str>>) -> Vec<TokenId> {
    // In gpt-oss an answer is several messages, each closed by <|end|>, and only the last by
    // <|return|>.
    let many_messages = special.values().any(|name| &**name == "<|return|>");
    let stops = |name: &str| is_stop_name(name) && !(many_messages && name == "<|end|>");
    special.iter().filter(|(_, name)| stops(name)).map(|(&id, _)| TokenId(id)).collect()
}
