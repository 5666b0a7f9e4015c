//! `lrmask replay`: texts tokenised and replayed token by token, with a mask before each.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use lrmask::{Constraint, Matcher, TokenId, TokenMask};
use serde::Serialize;

use crate::Answer;
use crate::failure::Failure;
use crate::fault::{self, Chunk, Fault};
use crate::grammars::{self, CanonicalArgument, GrammarArgument};
use crate::input::{self, Inputs};
use crate::output::{self, Output};
use crate::place::TextPlace;
use crate::tokens::Spelled;
use crate::vocabularies::{self, VocabularyArgument};

/// The arguments.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgument,
    #[command(flatten)]
    vocabulary: VocabularyArgument,
    #[command(flatten)]
    canonical: CanonicalArgument,
    /// The texts; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Number of passes over all texts; the first one is cold.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    passes: u32,
    /// Cut the texts into random tokens with this seed, instead of as the tokenizer does.
    #[arg(long, value_name = "SEED")]
    retokenize: Option<u64>,
    /// Also count the tokens that a masker refuses which looks only K terminals ahead: those within
    /// which more than K lexemes end.
    #[arg(long, value_name = "K")]
    lookahead: Option<usize>,
}

/// The result for a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Replayed<'a> {
    file: &'a str,
    tokens: usize,
    /// Index of the first token that the mask or the matcher refused.
    rejected_at: Option<usize>,
    /// The same token with its position and the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected: Option<Rejected>,
    /// Number of tokens within which more lexemes end than the given lookahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    beyond_lookahead: Option<usize>,
    /// Whether the text may end after its last token.
    eos_at_end: bool,
    /// The first step at which the mask's stop tokens contradict the matcher, which only an error
    /// in the engine can cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    eos_contradicted_at: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

/// A token that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Rejected {
    token: Spelled,
    /// Position of the first wrong byte, or of the token if that is not known.
    offset: usize,
    line: usize,
    column: usize,
    /// The kind of the reason, in one word.
    kind: &'static str,
    reason: String,
    expected: Vec<String>,
    hints: Vec<String>,
}

impl Replayed<'_> {
    fn is_good(&self) -> bool {
        self.rejected_at.is_none()
            && self.eos_at_end
            && self.eos_contradicted_at.is_none()
            && self.error.is_none()
    }
}

#[derive(Debug, Serialize)]
struct Summary {
    compile_us: u64,
    first_mask_us: Option<u64>,
    passes: Vec<Pass>,
    index_bytes: usize,
    peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Pass {
    mask_ns: Percentiles,
    advance_ns: Percentiles,
}

/// Nearest ranks, in nanoseconds.
#[derive(Debug, Default, Serialize)]
struct Percentiles {
    p50: u64,
    p90: u64,
    p99: u64,
    max: u64,
    mean: u64,
}

impl Percentiles {
    fn of(mut samples: Vec<u64>) -> Self {
        samples.sort_unstable();
        let Some(&max) = samples.last() else { return Self::default() };
        let rank = |percent: usize| samples[(samples.len() * percent).div_ceil(100).max(1) - 1];
        let sum: u128 = samples.iter().map(|&sample| u128::from(sample)).sum();
        let mean = (sum / samples.len() as u128) as u64;
        Self { p50: rank(50), p90: rank(90), p99: rank(99), max, mean }
    }
}

/// The durations of one pass.
#[derive(Debug, Default)]
struct Samples {
    mask: Vec<u64>,
    advance: Vec<u64>,
}

/// Answers yes if each token of each text is allowed, and each text may end after its last token.
pub(crate) fn run(
    arguments: &Arguments,
    inputs: &Inputs,
    out: &mut Output,
) -> Result<Answer, Failure> {
    let name = &arguments.vocabulary.vocab;
    let (vocabulary, cutter) = vocabularies::load_with_cutter(name, arguments.retokenize, inputs)?;
    if vocabulary.stop_tokens().is_empty() {
        output::note(
            "warning: this vocabulary has no stop token; the matcher decides whether texts may end",
        );
    }
    let started = Instant::now();
    let constraint = grammars::constrain(&arguments.grammar, &vocabulary, inputs)?;
    let constraint = arguments.canonical.narrow(constraint)?;
    let compile = started.elapsed();

    let mut texts = Vec::new();
    for (index, file) in arguments.files.iter().enumerate() {
        let text = inputs.bytes(file)?;
        texts.push((file.as_str(), cutter.cut(&vocabulary, &text, index)));
    }
    let steps: usize = texts.iter().flat_map(|(_, tokens)| tokens).map(Vec::len).sum();
    let bar = output::progress(steps as u64 * u64::from(arguments.passes));

    let mut player = Player {
        matcher: constraint.matcher(),
        mask: constraint.new_mask(),
        constraint: &constraint,
        lookahead: arguments.lookahead,
        samples: Samples::default(),
    };
    let mut passes = Vec::new();
    let mut first_mask = None;
    let mut first_pass = Vec::new();
    let mut all = true;
    for pass in 0..arguments.passes {
        for (index, (file, tokens)) in texts.iter().enumerate() {
            let replayed = player.play(file, tokens.as_deref(), &bar);
            all &= replayed.is_good();
            if pass == 0 {
                print(&replayed, out)?;
                first_pass.push(replayed);
            } else if first_pass[index] != replayed {
                all = false;
                output::note(&format!(
                    "error: {file} had a different result in pass {}: {replayed:?}",
                    pass + 1
                ));
            }
        }
        let samples = std::mem::take(&mut player.samples);
        first_mask = first_mask.or(samples.mask.first().copied());
        passes.push(Pass {
            mask_ns: Percentiles::of(samples.mask),
            advance_ns: Percentiles::of(samples.advance),
        });
    }
    bar.finish_and_clear();
    grammars::tell_undecided(constraint.undecided());
    let summary = Summary {
        compile_us: microseconds(nanoseconds(compile)),
        first_mask_us: first_mask.map(microseconds),
        passes,
        index_bytes: constraint.index_size().bytes,
        peak_rss_bytes: peak_rss_bytes(),
    };
    summarize(&summary, out)?;
    Ok(all.into())
}

/// Replays texts one after another with one matcher.
struct Player<'a> {
    constraint: &'a Constraint,
    lookahead: Option<usize>,
    matcher: Matcher,
    mask: TokenMask,
    samples: Samples,
}

impl Player<'_> {
    fn play<'a>(
        &mut self,
        file: &'a str,
        tokens: Option<&[TokenId]>,
        bar: &ProgressBar,
    ) -> Replayed<'a> {
        let mut replayed = Replayed {
            file,
            tokens: tokens.map_or(0, <[_]>::len),
            rejected_at: None,
            rejected: None,
            beyond_lookahead: self.lookahead.map(|_| 0),
            eos_at_end: false,
            eos_contradicted_at: None,
            error: None,
        };
        let Some(tokens) = tokens else {
            replayed.error = Some("the vocabulary cannot spell this text");
            return replayed;
        };
        self.matcher.reset();
        for (step, &token) in tokens.iter().enumerate() {
            self.fill(step, &mut replayed);
            if let (Some(most), Some(beyond)) = (self.lookahead, &mut replayed.beyond_lookahead) {
                let ended = self.matcher.lexemes_ended(token);
                *beyond += usize::from(ended.is_some_and(|ended| ended > most));
            }
            let started = Instant::now();
            let advanced = self.matcher.advance(token);
            self.samples.advance.push(nanoseconds(started.elapsed()));
            if advanced.is_err() || !self.mask.contains(token) {
                replayed.rejected_at = Some(step);
                if advanced.is_ok() {
                    self.matcher.rollback(1);
                }
                replayed.rejected = Some(self.rejected(tokens, step));
                return replayed;
            }
            if step % 1024 == 1023 {
                bar.inc(1024);
            }
        }
        bar.inc(tokens.len() as u64 % 1024);
        replayed.eos_at_end = self.fill(tokens.len(), &mut replayed);
        replayed
    }

    /// Returns the token at `step`, which was refused, with the reason.
    fn rejected(&self, tokens: &[TokenId], step: usize) -> Rejected {
        let vocabulary = self.constraint.vocabulary();
        let bytes = |token: &TokenId| vocabulary.bytes(*token).unwrap_or_default();
        let text: Vec<u8> = tokens.iter().flat_map(bytes).copied().collect();
        let token = Spelled::nth(vocabulary, tokens, step);
        let chunk = Chunk::whole(&text);
        // Read again from the beginning: a lexeme may have begun in an earlier token.
        let fault = fault::take(&mut self.constraint.matcher(), &text);
        let fault = fault.filter(|fault| fault.offset >= token.offset);
        let offset = fault.as_ref().map_or(token.offset, |fault| fault.offset);
        let TextPlace { line, column, .. } = chunk.place(offset);
        let why = self.matcher.explain(tokens[step]);
        let reason = match (&fault, &why) {
            (Some(fault), _) => fault::title(&chunk, fault),
            (None, Some(why)) => format!("{line}:{column}: {}", why.error()),
            (None, None) => format!("{line}:{column}: the mask does not have the token"),
        };
        let kind = why.map_or("mask", |why| why.reason().name());
        let Fault { expected, hints, .. } = fault.unwrap_or_default();
        Rejected { token, offset, line, column, kind, reason, expected, hints }
    }

    /// Fills the mask, and returns whether it lets the text end.
    fn fill(&mut self, step: usize, replayed: &mut Replayed<'_>) -> bool {
        let started = Instant::now();
        self.matcher.fill_mask(&mut self.mask);
        self.samples.mask.push(nanoseconds(started.elapsed()));
        let accepting = self.matcher.is_accepting();
        let stops = self.constraint.vocabulary().stop_tokens();
        if stops.iter().any(|&stop| self.mask.contains(stop) != accepting) {
            replayed.eos_contradicted_at.get_or_insert(step);
            return false;
        }
        accepting
    }
}

fn print(replayed: &Replayed<'_>, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(replayed);
    }
    let (file, tokens) = (input::name(replayed.file), replayed.tokens);
    let s = if tokens == 1 { "token" } else { "tokens" };
    let verdict = match replayed {
        Replayed { error: Some(error), .. } => (*error).to_owned(),
        Replayed { rejected: Some(rejected), .. } => {
            let Rejected { token, reason, expected, hints, .. } = rejected;
            let expected = match expected.is_empty() {
                true => String::new(),
                false => format!("\n  expected {}", fault::list(expected)),
            };
            let hints: String = hints.iter().map(|hint| format!("\n  help: {hint}")).collect();
            format!("{token} was rejected\n  {reason}{expected}{hints}")
        }
        Replayed { eos_contradicted_at: Some(at), .. } => {
            format!("the mask's stop tokens are wrong before token {} of {tokens}", at + 1)
        }
        Replayed { eos_at_end: false, .. } => {
            format!("{tokens} {s} allowed, but the text may not end there")
        }
        _ => format!("{tokens} {s} allowed, and the end"),
    };
    let verdict = match replayed.beyond_lookahead {
        Some(beyond) => format!("{verdict}; {beyond} beyond the lookahead"),
        None => verdict,
    };
    out.text(format_args!("{file}: {verdict}\n"))
}

fn summarize(summary: &Summary, out: &mut Output) -> Result<(), Failure> {
    if out.is_json() {
        return out.json(summary);
    }
    out.text(format_args!("compiled in {} us", summary.compile_us))?;
    if let Some(first) = summary.first_mask_us {
        out.text(format_args!(", first mask in {first} us"))?;
    }
    out.text(format_args!("\nnanoseconds          p50       p90       p99       max      mean\n"))?;
    for (number, pass) in summary.passes.iter().enumerate() {
        for (what, times) in [("mask", &pass.mask_ns), ("advance", &pass.advance_ns)] {
            let Percentiles { p50, p90, p99, max, mean } = times;
            let label = format!("pass {} {what}", number + 1);
            out.text(format_args!("{label:<14} {p50:>9} {p90:>9} {p99:>9} {max:>9} {mean:>9}\n"))?;
        }
    }
    out.text(format_args!("index: {} bytes", summary.index_bytes))?;
    if let Some(peak) = summary.peak_rss_bytes {
        out.text(format_args!("; peak memory of the process: {peak} bytes"))?;
    }
    out.text(format_args!("\n"))
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn microseconds(nanoseconds: u64) -> u64 {
    nanoseconds.div_ceil(1000)
}

/// Returns the peak memory of this process, if the system reports it (Linux).
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let of = Percentiles::of((1..=200).rev().collect());
        assert_eq!((of.p50, of.p90, of.p99, of.max, of.mean), (100, 180, 198, 200, 100));
        let of = Percentiles::of(vec![7]);
        assert_eq!((of.p50, of.p99, of.max), (7, 7, 7));
        assert_eq!(Percentiles::of(Vec::new()).max, 0);
    }
}
