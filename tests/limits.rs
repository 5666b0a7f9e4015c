//! Growing grammars and their accounting: no build exceeds its limits, and the counted bytes match
//! the bytes in use.

use lrmask::{Constraint, Cost, GrammarReader, LimitKind, LimitReached, Limits};
use peak_alloc::PeakAlloc;
use proptest::prelude::*;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Serializes the tests that measure the heap.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Returns a grammar that grows with `n` in the way given by `kind`.
fn grown(kind: usize, n: usize) -> String {
    let each = |part: &dyn Fn(usize) -> String| (0..n).map(part).collect::<String>();
    let names: Vec<String> = (0..n).map(|i| format!("T{i}")).collect();
    let any = names.join(" | ");
    match kind {
        0 => format!("start: ({any})+\n{}", each(&|i| format!("T{i}: /x{i}y\\w{{20}}/\n"))),
        1 => format!("start:{}\n", each(&|i| format!(" \"k{i};\"?"))),
        2 => format!("start: {}\"a\"{}\n", "(".repeat(n), ")*".repeat(n)),
        3 => format!("start: A\nA: /(a|b)*a(a|b){{{n}}}/\n"),
        4 => format!("start: A\nA: /\\w{{{n}}}\\d{{{n}}}/i\n"),
        5 => format!("start: e\ne: \"x\"{}\n", each(&|i| format!(" | e \"o{i}\" e"))),
        6 => format!(
            "start: (NAME | {any})+\nNAME: /[a-z0-9]+/\n{}{}%ignore \" \"\n",
            each(&|i| format!("T{i}: \"w{i}\"\n")),
            each(&|i| format!("%lookahead NAME T{i} before T{} NAME\n", (i + 1) % n)),
        ),
        7 => format!("start: (a \"b\")~{n}..{}\na: \"a\"\n", 2 * n),
        _ => format!("start: r0\nr{n}: \"e\"\n{}", each(&|i| format!("r{i}: \"a\" r{}\n", i + 1))),
    }
}

/// Returns the cost of a build, or the limit that it reached; `None` if the grammar is refused for
/// another reason.
fn build(text: &str, limits: &Limits) -> Option<Result<Cost, LimitReached>> {
    let grammar = match GrammarReader::new().limits(limits).lark(text) {
        Ok(grammar) => grammar,
        Err(error) => return error.limit().cloned().map(Err),
    };
    match Constraint::builder().limits(limits).compile(&grammar) {
        Ok(compiled) => Some(Ok(compiled.cost())),
        Err(error) => error.limit().cloned().map(Err),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_build_goes_past_its_limits(kind in 0..9usize, n in 1..120usize, steps in 10_000..2_000_000u64) {
        let limits = Limits::strict().build_steps(steps);
        let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(Ok(cost)) = build(&grown(kind, n), &limits) {
            prop_assert!(cost.steps <= steps && cost.bytes <= limits.build_bytes, "{cost:?}");
        }
    }

    #[test]
    fn what_is_counted_is_what_is_held(kind in 0..9usize, n in 1..300usize, megabytes in 1..40u64) {
        let limits = Limits::strict().build_bytes(megabytes * 1_000_000);
        let text = grown(kind, n);
        let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = HEAP.current_usage();
        HEAP.reset_peak_usage();
        let _ = build(&text, &limits);
        let held = HEAP.peak_usage() - before;
        // Only data that does not grow is not counted, and the unused capacity of allocations.
        prop_assert!(held as u64 <= 20_000_000 + 3 * limits.build_bytes, "{held} bytes, kind {kind}, {n}");
    }
}

#[test]
fn more_steps_are_taken_for_more_grammar() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for kind in 0..9 {
        let steps = |n| match build(&grown(kind, n), &Limits::default()) {
            Some(Ok(cost)) => cost.steps,
            other => panic!("kind {kind}, {n}: {other:?}"),
        };
        assert!(steps(3) < steps(9), "kind {kind}");
    }
}

/// Each of this many states is compared with as many others, all of whose rows are equal. Edge by
/// edge 700 operators took a minute.
#[test]
fn rows_of_operators_are_compared_once() {
    let steps = |n| match build(&grown(5, n), &Limits::strict()) {
        Some(Ok(cost)) => cost.steps,
        other => panic!("{n}: {other:?}"),
    };
    let (few, many) = (steps(350), steps(700));
    assert!(many < 4 * few, "{few} and {many}");
}

/// The terminals of a grammar of characters are found within the limits, or not at all.
#[test]
fn the_choice_of_terminals_stays_within_the_limits() {
    let rules: String = (0..200)
        .map(|i| {
            let letter = char::from(b'a' + (i % 26) as u8);
            let (next, other) = ((i + 1) % 200, (i * 5) % 200);
            format!("r{i} ::= [^{letter}] r{next} | \"(\" r{other} \")\" [a-z]* | \"\"\n")
        })
        .collect();
    let limits = Limits::strict().build_bytes(20_000_000);
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    let grammar = GrammarReader::new().limits(&limits).gbnf(&format!("root ::= r0 r1\n{rules}"));
    let held = HEAP.peak_usage() - before;
    assert!(held as u64 <= 20_000_000 + 3 * limits.build_bytes, "{held} bytes");
    drop(grammar);
}

/// Examples of conflicts are for people: the search for them may take a part of the limits, and no
/// grammar is refused because an example is missing.
#[test]
fn the_search_for_examples_of_conflicts_stops() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let each = |part: &dyn Fn(usize) -> String| (0..200).map(part).collect::<Vec<_>>();
    let ends = each(&|i| format!("\"z{i}-\"")).join(" ");
    let begins = each(&|i| format!("\"a{i}-\" s | \"a{i}-\" s \"z{i}-\" s")).join(" | ");
    let text = format!("%nonassoc {ends}\nstart: s\ns: \"x\" | {begins}\n");
    let limits = Limits::strict();
    let cost = build(&text, &limits).expect("sound").expect("within the limits");
    assert!(cost.steps < limits.build_steps / 2, "{cost:?}");
}

#[test]
fn the_limit_that_was_reached_is_told() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = "start: A | B\nA: \"a\"\nB: /\\w{50}/\n";
    let limits = Limits::default().grammar_bytes(10);
    let reached = build(text, &limits).and_then(Result::err).expect("ten bytes are too few");
    assert_eq!((reached.kind(), reached.limit()), (LimitKind::Input, 10));

    let limits = Limits::default().build_bytes(100_000);
    let reached = build(text, &limits).and_then(Result::err).expect("too many bytes");
    assert_eq!(reached.kind(), LimitKind::Bytes);
}
