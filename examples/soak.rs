//! Random and adversarial sampling for hours, in threads that share a constraint with a small
//! budget.
//!
//! ```text
//! cargo run --release --example soak -- 5000000            # steps in all
//! cargo run --release --example soak -- 100000 python      # of one grammar
//! ```
//!
//! Each grammar runs in four threads under budgets of 1, 4 and 16 MB, and of a tenth of its working
//! set: the size of the index with a large budget. For each run one line gives the time of masks,
//! the bytes of the index, of the scanner's states, and of the process over time, and the number of
//! masks that were compared with those of a fresh constraint, built just for that position. The
//! program fails if one differs. It reads `/proc`, so this runs on Linux only.

#![allow(clippy::print_stdout, reason = "the figures are the answer")]

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lrmask::{Constraint, Grammar, GrammarReader, Limits, Matcher, TokenId, TokenMask, Vocabulary};

const THREADS: usize = 4;

/// Budgets of the index, in bytes.
const BUDGETS: [usize; 3] = [1 << 20, 4 << 20, 16 << 20];

/// The import of Python's grammar.
const IDENTIFIERS: &str = include_str!("../grammars/python/identifiers.lark");

/// The project's grammars, and some whose texts always create new states.
const GRAMMARS: [(&str, &str); 7] = [
    ("json", include_str!("../grammars/json/json.lark")),
    ("sqlite", include_str!("../grammars/sqlite/sqlite.lark")),
    ("python", include_str!("../grammars/python/python.lark")),
    (
        "dangling else",
        "start: s+\ns: \"if\" e s | \"if\" e s \"else\" s | \"for\" e s | NAME \"=\" e \";\" | \
         \"{\" s* \"}\"\n\
         e: e OP e | NAME | \"(\" e \")\"\nOP: /[-+*<>]|&&|==/\nNAME: /[a-z]+/\n\
         %reserved NAME \"if\" \"else\" \"for\"\n\
         %ignore /[ \\n]+/",
    ),
    (
        "nests",
        "start: v\nv: \"(\" v* \")\" | \"[\" v* \"]\" | \"{\" v* \"}\" | \"<\" v* \">\" | \
         /[a-z]/\n%ignore \" \"",
    ),
    (
        "pending matches",
        "%lexer basic\nstart: (A | B | C | D)+\nA: /[ab]/\nB: /[ab]*a[ab]{12}c/\nC: \"c\"\n\
         D: \" \"",
    ),
    (
        "contexts",
        "start: (\"(\" a \")\" | \"[\" b \"]\" | \"{\" c \"}\")+\n\
         a: x \"1\" | y \"2\" | \"(\" b \")\" | \"[\" a \"]\"\n\
         b: x \"2\" | y \"1\" | \"(\" c \")\" | \"{\" a \"}\"\n\
         c: x \"3\" | y \"3\" | \"[\" b \"]\" | \"{\" a \"}\"\n\
         x: \"x\" | \"(\" x \")\" | x \"+\" x\ny: \"x\" | \"[\" y \"]\"\n",
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let steps: usize = arguments.first().map_or(Ok(100_000), |steps| steps.parse())?;
    let wanted =
        |name: &str| arguments.len() < 2 || arguments[1..].iter().any(|part| name.contains(part));
    let grammars: Vec<_> = GRAMMARS.into_iter().filter(|(name, _)| wanted(name)).collect();
    let vocabulary = Vocabulary::builtin("gpt2")?;
    let share = steps / (grammars.len() * (BUDGETS.len() + 1)).max(1);
    println!(
        "| grammar, budget | steps | mean | p99 | longest | index, greatest | scanner | process over \
         time | checked |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (name, text) in grammars {
        let read = |file: &str| match file {
            "identifiers.lark" => Ok(IDENTIFIERS.to_owned()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        };
        let grammar = GrammarReader::new().name(name).imports(&read).lark(text)?;
        let soak = |budget: usize, label: &str| -> Result<usize, Box<dyn Error>> {
            let run = Run::new(&grammar, &vocabulary, budget, share)?;
            run.work();
            run.report(&format!("{name}, {label}"));
            Ok(run.constraint.index_size().bytes)
        };
        let mut working_set = 0;
        for budget in BUDGETS {
            working_set = soak(budget, &format!("{} MB", budget >> 20))?;
        }
        let tenth = working_set / 10;
        soak(tenth, &format!("a tenth, {} KB", tenth / 1000))?;
    }
    Ok(())
}

/// One grammar under one budget.
struct Run<'g> {
    grammar: &'g Grammar,
    constraint: Constraint,
    steps: usize,
    taken: AtomicUsize,
    figures: Mutex<Figures>,
    /// Masks to check, each after these tokens. Checked only at the end of the run: the constraints
    /// built for the checks would take most of the memory of the process.
    samples: Mutex<Vec<(Vec<TokenId>, TokenMask)>>,
}

/// Measurements.
#[derive(Default)]
struct Figures {
    /// A histogram of mask times in nanoseconds: the index is the logarithm to base 2 in eighths.
    times: Vec<usize>,
    total: u128,
    longest: u128,
    index: usize,
    process: Vec<usize>,
}

impl<'g> Run<'g> {
    fn new(
        grammar: &'g Grammar,
        vocabulary: &Vocabulary,
        budget: usize,
        steps: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let limits = Limits::default().index_bytes(budget);
        let constraint = Constraint::builder().limits(&limits).build(grammar, vocabulary)?;
        let (taken, figures, samples) = (AtomicUsize::new(0), Mutex::default(), Mutex::default());
        Ok(Self { grammar, constraint, steps, taken, figures, samples })
    }

    fn work(&self) {
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || self.sample(thread as u64 + 1));
            }
        });
    }

    /// Samples texts until all steps are taken.
    fn sample(&self, seed: u64) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut mask = self.constraint.new_mask();
        loop {
            let mut matcher = self.constraint.matcher();
            let (mut text, length, openers) =
                (Vec::new(), random.usize(1..=400), random.usize(..3) == 0);
            while text.len() < length && !matcher.is_finished() {
                let begun = Instant::now();
                matcher.fill_mask(&mut mask);
                let step = self.note(begun.elapsed().as_nanos());
                if step >= self.steps {
                    return;
                }
                if random.usize(..4_000) == 0 {
                    let mut samples = self.samples.lock().expect("no thread panics");
                    samples.push((text.clone(), mask.clone()));
                }
                let token = pick(&self.constraint, &mask, openers, &mut random);
                let Some(token) = token.filter(|&token| matcher.advance(token).is_ok()) else {
                    break;
                };
                text.push(token);
                if random.usize(..50) == 0 {
                    let back = matcher.rollback(random.usize(..8));
                    text.truncate(text.len() - back);
                }
            }
        }
    }

    /// Records the time of a mask; returns its number.
    fn note(&self, time: u128) -> usize {
        let step = self.taken.fetch_add(1, Ordering::Relaxed);
        let size = step.is_multiple_of(256).then(|| self.constraint.index_size().bytes);
        let process = step.is_multiple_of((self.steps / 8).max(1)).then(resident);
        let mut figures = self.figures.lock().expect("no thread panics");
        let place = (time.max(1) as f64).log2() * 8.0;
        figures.times.resize(512, 0);
        figures.times[place as usize] += 1;
        figures.total += time;
        figures.longest = figures.longest.max(time);
        figures.index = figures.index.max(size.unwrap_or(0));
        figures.process.extend(process);
        step
    }

    /// Checks the recorded masks; returns their number.
    fn check_samples(&self) -> usize {
        let samples = self.samples.lock().expect("no thread panics");
        samples.iter().for_each(|(text, mask)| self.check(text, mask));
        samples.len()
    }

    /// Checks that the mask equals that of a fresh constraint.
    fn check(&self, text: &[TokenId], mask: &TokenMask) {
        let vocabulary = self.constraint.vocabulary();
        let own = Constraint::new(self.grammar, vocabulary).expect("it was built before");
        let mut matcher: Matcher = own.matcher();
        for &token in text {
            matcher.advance(token).expect("a token that was taken before");
        }
        let mut expected = own.new_mask();
        matcher.fill_mask(&mut expected);
        assert!(*mask == expected, "masks differ behind {text:?}");
    }

    fn report(&self, name: &str) {
        let figures = self.figures.lock().expect("no thread panics");
        let count: usize = figures.times.iter().sum();
        let mut rest = count / 100;
        let place = figures.times.iter().rposition(|&here| {
            let is_it = here > rest;
            rest = rest.saturating_sub(here);
            is_it
        });
        let p99 = 2f64.powf((place.unwrap_or(0) + 1) as f64 / 8.0);
        let micro = |nanos: f64| format!("{:.1} µs", nanos / 1e3);
        let process: Vec<String> =
            figures.process.iter().map(|bytes| format!("{:.0}", *bytes as f64 / 1e6)).collect();
        println!(
            "| {name} | {count} | {} | {} | {} | {:.2} MB | {:.2} MB | {} MB | {} |",
            micro(figures.total as f64 / count.max(1) as f64),
            micro(p99),
            micro(figures.longest as f64),
            figures.index as f64 / 1e6,
            self.constraint.index_size().scanner_bytes as f64 / 1e6,
            process.join(" "),
            self.check_samples(),
        );
    }
}

/// Returns a token that the mask allows: any, or preferably one that opens something.
fn pick(
    constraint: &Constraint,
    mask: &TokenMask,
    openers: bool,
    random: &mut fastrand::Rng,
) -> Option<TokenId> {
    let words = mask.words();
    let mut some = || {
        let first = random.usize(..words.len());
        let at = (first..words.len()).chain(0..first).find(|&at| words[at] != 0)?;
        let bits: Vec<u32> = (0..32).filter(|bit| words[at] >> bit & 1 == 1).collect();
        Some(TokenId::from(at as u32 * 32 + bits[random.usize(..bits.len())]))
    };
    let opens = |token: &TokenId| {
        let bytes = constraint.vocabulary().bytes(*token).unwrap_or_default();
        bytes.iter().any(|byte| b"([{<".contains(byte))
            || bytes.ends_with(b"if")
            || bytes.ends_with(b":\n")
    };
    if openers && let Some(token) = (0..8).filter_map(|_| some()).find(opens) {
        return Some(token);
    }
    some()
}

/// Returns the resident bytes of the process.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok());
    kilobytes.unwrap_or(0) * 1024
}
