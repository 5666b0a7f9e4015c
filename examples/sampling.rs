//! The loop around a model: logits in, one allowed token out, until the text is complete.
//!
//! `cargo run --release --example sampling`. The model here only knows which bytes are common in
//! JSON; its output would rarely be JSON without the masks.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use lrmask::{Constraint, Grammar, TokenId, Vocabulary};

/// Number of tokens after which the text is completed.
const ENOUGH: usize = 40;

/// A model from the loop's point of view: a score for each id.
struct Model<'v> {
    vocabulary: &'v Vocabulary,
    random: fastrand::Rng,
}

impl Model<'_> {
    fn logits(&mut self) -> Vec<f32> {
        let score = |id: u32| {
            let bytes = self.vocabulary.bytes(id).unwrap_or_default();
            let usual = bytes.iter().filter(|byte| b"{}[]\":, etaoins0123".contains(byte)).count();
            usual as f32 - bytes.len() as f32 / 2.0 + 4.0 * self.random.f32()
        };
        (0..self.vocabulary.width() as u32).map(score).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let vocabulary = Vocabulary::builtin("gpt2")?;
    let grammar = Grammar::from_lark(include_str!("../grammars/json/json.lark"))?;
    let constraint = Constraint::new(&grammar, &vocabulary)?;
    let mut model = Model { vocabulary: &vocabulary, random: fastrand::Rng::with_seed(7) };

    let mut matcher = constraint.matcher();
    let mut mask = constraint.new_mask();
    let mut text = Vec::new();
    while !matcher.is_finished() && matcher.steps() < ENOUGH {
        matcher.fill_mask(&mut mask);
        let logits = model.logits();
        let best = mask.tokens().max_by(|a, b| logits[a.index()].total_cmp(&logits[b.index()]));
        let token: TokenId = best.ok_or("a mask always allows something")?;
        matcher.advance(token)?;
        text.extend(vocabulary.bytes(token).unwrap_or_default());
    }
    if !matcher.is_finished() {
        // A short completion of everything that is open.
        text.extend(matcher.shortest_completion().ok_or("every text of JSON can be completed")?);
    }
    println!("{}", String::from_utf8(text)?);
    Ok(())
}

#[test]
fn it_runs() {
    main().unwrap();
}
