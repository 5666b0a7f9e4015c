//! Speculation: tokens for each call of the model, with counts from ten texts, on the others.

use anyhow::{Result, ensure};
use lrmask::{Constraint, Speculator};

use super::{for_each, percent, places, print_head, write_all};
use crate::drafts::{self, Tally, Way};
use crate::tasks;
use crate::writer::{Mode, Writer};

/// Number of texts from which counts are learnt.
const LEARNT: usize = 10;

/// Most tokens of a draft, in the table.
const MOST: [usize; 5] = [2, 4, 6, 8, 10];

/// Most tokens of the drafts with which texts are written again.
const CHECKED: usize = 8;

/// Prints one row for each task and way, and checks that no draft changes a text.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    let head = MOST.map(|most| format!("s = {most}")).join(" | ");
    print_head(&format!("task | drafts | tokens a call, {head} | accepted, s = 8"));
    for task in [
        tasks::person_after_example(),
        tasks::person(),
        tasks::person_with_separators(),
        tasks::character(),
        tasks::character_with_separators(),
        tasks::steps_without_examples(),
        tasks::any_json(),
        tasks::xml(),
        tasks::sqlite(),
        tasks::fenced_python(),
    ] {
        let constraint = task.constraint(&writer.tokenizer.vocabulary)?;
        let mode = Mode { constraint: Some(&constraint), ..Mode::default() };
        let places = places(writer, &task, count)?;
        let written = write_all(writer, &places, &mode, task.limit)?;
        let texts: Vec<Vec<u32>> =
            written.iter().map(|one| one.steps.iter().map(|step| step.token).collect()).collect();
        let learnt = LEARNT.min(count / 2);
        let speculator = learn(&constraint, &texts[..learnt]);
        for (name, way) in [("counts", Way::Counts), ("forced", Way::Forced), ("both", Way::Both)] {
            let (mut cells, mut accepted) = (Vec::new(), String::new());
            for most in MOST {
                let tallies = for_each(count - learnt, |index| {
                    let text = &texts[index + learnt];
                    drafts::tally(writer, &mode, &speculator, text, way, most)
                })?;
                let mut all = Tally::default();
                tallies.into_iter().for_each(|tally| all.add(tally));
                cells.push(format!("{:.2}", all.tokens_a_call()));
                if most == CHECKED {
                    accepted = percent(all.accepted, all.proposed);
                }
            }
            println!("| {} | {name} | {} | {accepted} |", task.name, cells.join(" | "));
        }
        for_each(count - learnt, |index| {
            let index = index + learnt;
            let (how, place) = ((Way::Both, CHECKED), places[index].clone());
            let (tokens, tally) =
                drafts::write(writer, place, &mode, &speculator, how, task.limit)?;
            ensure!(tokens == texts[index], "drafts changed text {index} of {}", task.name);
            let told = drafts::tally(writer, &mode, &speculator, &tokens, how.0, how.1)?;
            ensure!(tally.calls == told.calls, "text {index} of {}: {told:?}", task.name);
            Ok(())
        })?;
        // The model reads other tokens where it is not asked, so the counts are of such texts.
        let unasked = |index: usize, speculator: &Speculator| {
            let (how, place) = ((Way::Unasked, CHECKED), places[index].clone());
            drafts::write(writer, place, &mode, speculator, how, task.limit)
        };
        let nothing = Speculator::new(&constraint);
        let own = for_each(learnt, |index| Ok(unasked(index, &nothing)?.0))?;
        let own = learn(&constraint, &own);
        let unasked = for_each(count - learnt, |index| {
            let (tokens, tally) = unasked(index + learnt, &own)?;
            let is_same =
                writer.tokenizer.decode(&tokens) == writer.tokenizer.decode(&texts[index + learnt]);
            Ok((tally, is_same))
        })?;
        let mut all = Tally::default();
        unasked.iter().for_each(|&(tally, _)| all.add(tally));
        println!(
            "| {} | unasked, s = 8: {:.2} tokens a call; {} of {} texts are the same | | | | | | {} |",
            task.name,
            all.tokens_a_call(),
            unasked.iter().filter(|&&(_, is_same)| is_same).count(),
            unasked.len(),
            percent(all.accepted, all.proposed),
        );
    }
    println!("\nWritten again with drafts that the model checks, all texts are the same.");
    Ok(())
}

/// Returns a speculator with the counts of these texts.
pub fn learn(constraint: &Constraint, texts: &[Vec<u32>]) -> Speculator {
    let speculator = Speculator::new(constraint);
    for tokens in texts {
        speculator.observe(tokens.iter().copied());
    }
    speculator
}
