//! Throughput: tokens a second of a thread, relative to writing freely (DOMINO, table 3 and
//! figure 5).

use std::time::Duration;

use anyhow::{Context, Result};

use super::speculation::learn;
use super::{for_each, places, print_head, write_all};
use crate::clock::thread_time;
use crate::drafts::{self, Way};
use crate::tasks;
use crate::writer::{Mode, Place, Writer, best};

/// Number of texts from which counts are learnt.
const LEARNT: usize = 10;

/// Most tokens of a draft, in the table.
const MOST: [usize; 5] = [2, 4, 6, 8, 10];

/// Number of tokens after which a text is cut.
const LIMIT: usize = 100;

/// Prints one row for each task.
pub fn run(writer: &Writer, count: usize) -> Result<()> {
    let head = MOST.map(|most| format!("s = {most}")).join(" | ");
    print_head(&format!("task | free | masked | opportunistic | both, {head}"));
    for task in [
        tasks::any_json(),
        tasks::steps_without_examples(),
        tasks::c_program(),
        tasks::xml(),
        tasks::character_with_separators(),
    ] {
        let constraint = task.constraint(&writer.tokenizer.vocabulary)?;
        let mode = Mode { constraint: Some(&constraint), ..Mode::default() };
        let places = places(writer, &task, count)?;
        let learnt = LEARNT.min(count / 2);
        let written = write_all(writer, &places[..learnt], &mode, LIMIT)?;
        let texts: Vec<Vec<u32>> =
            written.iter().map(|one| one.steps.iter().map(|step| step.token).collect()).collect();
        let speculator = learn(&constraint, &texts);
        let places = &places[learnt..];
        let free = speed(places, |place| freely(writer, place))?;
        let mut cells = vec![format!("{free:.1} tokens/s")];
        cells.push(times(free, speed(places, |place| masked(writer, place, &mode))?));
        cells.push(times(free, speed(places, |place| opportunistic(writer, place, &mode))?));
        for most in MOST {
            let how = (Way::Both, most);
            let speed = speed(places, |place| {
                Ok(drafts::write(writer, place, &mode, &speculator, how, LIMIT)?.0.len())
            })?;
            cells.push(times(free, speed));
        }
        println!("| {} | {} |", task.name, cells.join(" | "));
    }
    Ok(())
}

fn times(free: f64, speed: f64) -> String {
    format!("{:.2} x", speed / free)
}

/// Returns the tokens that a thread writes in a second. `write` returns the number of tokens of a
/// text; the prompt has given the first.
fn speed(places: &[Place], write: impl Fn(Place) -> Result<usize> + Send + Sync) -> Result<f64> {
    let texts = for_each(places.len(), |index| {
        let place = places[index].clone();
        let started = thread_time();
        let tokens = write(place)?.saturating_sub(1);
        Ok((tokens, thread_time().saturating_sub(started)))
    })?;
    let tokens: usize = texts.iter().map(|text| text.0).sum();
    let time: Duration = texts.iter().map(|text| text.1).sum();
    Ok(tokens as f64 / time.as_secs_f64().max(1e-9))
}

fn freely(writer: &Writer, mut place: Place) -> Result<usize> {
    let mut tokens = 0;
    while tokens < LIMIT {
        let token = best(&place.scores, &[]).context("the model has no tokens")?;
        tokens += 1;
        if writer.tokenizer.vocabulary.stop_tokens().contains(&token.into()) || tokens == LIMIT {
            break;
        }
        writer.append(&mut place, &[token]);
    }
    Ok(tokens)
}

fn masked(writer: &Writer, mut place: Place, mode: &Mode<'_>) -> Result<usize> {
    let mut matcher = writer.matcher(mode)?.context("no constraint")?;
    let mut row = vec![0; writer.model.width().div_ceil(32)];
    let mut tokens = 0;
    loop {
        matcher.fill_mask_into(&mut row)?;
        let token = best(&place.scores, &row).context("an empty mask")?;
        matcher.advance(token)?;
        tokens += 1;
        if matcher.is_finished() || tokens == LIMIT {
            return Ok(tokens);
        }
        writer.append(&mut place, &[token]);
    }
}

fn opportunistic(writer: &Writer, mut place: Place, mode: &Mode<'_>) -> Result<usize> {
    let mut matcher = writer.matcher(mode)?.context("no constraint")?;
    let mut tokens = 0;
    loop {
        let choose = |mask: Option<&lrmask::TokenMask>| {
            best(&place.scores, mask.map_or(&[], |mask| mask.words())).unwrap_or_default()
        };
        let token = matcher.sample_with(choose)?;
        tokens += 1;
        if matcher.is_finished() || tokens == LIMIT {
            return Ok(tokens);
        }
        writer.append(&mut place, &[token.get()]);
    }
}
