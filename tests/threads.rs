//! Threads that share a constraint: each reads the results of the others without a lock, and the
//! masks are those of a constraint that is not shared.
//!
//! Small enough for tools that detect races (CONTRIBUTING.md describes how to run them).

use lrmask::{Constraint, Grammar, GrammarReader, Limits, Vocabulary};

/// Number of threads.
const THREADS: u64 = 4;
/// Number of tokens that each thread takes.
const STEPS: usize = if cfg!(miri) { 12 } else { 4_000 };

/// Lists of names, with keywords, several readings and a look-ahead.
const LISTS: &str = r#"
start: value
value: "[" _values? "]" | NAME | call | WORD
_values: value ("," value)*
call: NAME "(" value ")" | NAME "(" NAME ")"
NAME: /[a-c]+/
WORD: /[bc]{2}(?!x)/
%ignore " "
"#;

fn vocabulary() -> Vocabulary {
    let words = ["ab", "bc", "[a", "],", "a(", "b)", "cc ", "[[", "]]", "a,b", " ", "bcb"];
    let letters = b"abcx[](),".iter().map(|&byte| vec![byte]);
    let tokens = letters.chain(words.iter().map(|word| word.as_bytes().to_vec()));
    Vocabulary::from_tokens(tokens).expect("these are tokens")
}

/// Takes random tokens, and compares each mask with that of the reference.
fn walk(shared: &Constraint, reference: &Constraint, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut matcher, mut alone) = (shared.matcher(), reference.matcher());
    let (mut mask, mut expected) = (shared.new_mask(), reference.new_mask());
    for step in 0..STEPS {
        matcher.fill_mask(&mut mask);
        alone.fill_mask(&mut expected);
        assert_eq!(mask, expected, "seed {seed}, step {step}");
        let allowed: Vec<_> = mask.tokens().collect();
        match random.choice(&allowed).filter(|_| step % 50 != 49) {
            Some(&token) => {
                matcher.advance(token).expect("allowed");
                alone.advance(token).expect("allowed");
            }
            None => {
                matcher.reset();
                alone.reset();
            }
        }
    }
}

fn share(grammar: &Grammar, limits: &Limits) {
    let vocabulary = vocabulary();
    let compiled = Constraint::builder().limits(limits).compile(grammar).expect("sound");
    let shared = compiled.constraint(&vocabulary).expect("its tokens are known");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (shared, vocabulary) = (&shared, &vocabulary);
            scope.spawn(move || {
                let reference = Constraint::new(grammar, vocabulary).expect("sound");
                walk(shared, &reference, thread);
            });
        }
    });
}

#[test]
fn masks_are_the_same_whoever_made_them() {
    let grammar = GrammarReader::new().lark(LISTS).expect("the grammar can be read");
    share(&grammar, &Limits::default());
}

/// The budget is so small that cached data is dropped all the time, while other threads read it.
#[test]
fn masks_are_the_same_while_others_are_dropped() {
    let grammar = GrammarReader::new().lark(LISTS).expect("the grammar can be read");
    let limits = Limits::default().index_bytes(4 << 10);
    share(&grammar, &limits);
}
