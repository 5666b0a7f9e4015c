//! Token healing: prompts that are cut inside a token.

use anyhow::{Context, Result};
use lrmask::{FreeText, TakeBack, TokenId};

use super::{for_each, print_head};
use crate::prompts;
use crate::writer::{Writer, best, surprise};

/// Number of tokens that are written after each prompt.
const LENGTH: usize = 8;

/// Prints one row for each way to take tokens back.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    print_head("taken back | goes on as expected | mean log p of the expected text");
    for (name, how) in [
        ("nothing", TakeBack::Tokens(0)),
        ("one token", TakeBack::Tokens(1)),
        ("the word", TakeBack::Word),
    ] {
        let results = for_each(count, |index| goes_on(writer, index, how))?;
        let right = results.iter().filter(|result| result.0).count();
        let surprise: f64 = results.iter().map(|result| result.1).sum();
        println!("| {name} | {right} of {count} | {:.1} |", -surprise / count as f64);
    }
    Ok(())
}

/// Whether the model continues prompt `index` as expected, and `-log p` of the expected text.
fn goes_on(writer: &Writer, index: usize, how: TakeBack) -> Result<(bool, f64)> {
    let tokenizer = &writer.tokenizer;
    let (prompt, expected) = prompts::CUT[index];
    // The model has seen the beginning of a document after this token.
    let begin = tokenizer.encode("<|endoftext|>");
    let tokens: Vec<TokenId> = tokenizer.encode(prompt).into_iter().map(TokenId::from).collect();
    let taken = tokenizer.vocabulary.take_back(&tokens, how);
    let kept = tokens[..taken.kept].iter().map(|token| token.get());
    let start = writer.read(&begin.into_iter().chain(kept).collect::<Vec<_>>());

    let mut text = FreeText::new(&tokenizer.vocabulary, &taken.bytes);
    let (mut place, mut written) = (start.clone(), Vec::new());
    for _ in 0..LENGTH {
        let token = best(&place.scores, text.mask().words()).context("an empty mask")?;
        text.advance(token)?;
        written.push(token);
        writer.append(&mut place, &[token]);
    }
    let written = tokenizer.decode(&written);
    let is_expected = written
        .strip_prefix(&taken.bytes[..])
        .is_some_and(|written| written.starts_with(expected.as_bytes()));

    // The expected text in the tokenizer's own tokens, after the tokens that stay.
    let mut whole = String::from_utf8_lossy(&taken.bytes).into_owned();
    whole.push_str(expected);
    let (mut place, mut sum) = (start, 0.0);
    for token in tokenizer.encode(&whole) {
        sum += surprise(&place.scores, token);
        writer.append(&mut place, &[token]);
    }
    Ok((is_expected, sum))
}
