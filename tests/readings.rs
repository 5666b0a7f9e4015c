//! Many readings at once, from each possible cause, and languages that need them: the engine is
//! compared with the definitions of the languages.
//!
//! Each language is defined twice: by a grammar, for the engine, and by a few lines of plain code
//! that recognize its texts.

use lrmask::{
    AdvanceErrorKind, Constraint, Grammar, GrammarReader, Limits, Matcher, TokenMask, Vocabulary,
};

/// The definition of a language.
#[derive(Clone, Copy)]
struct Definition<'a> {
    is_member: &'a dyn Fn(&[u8]) -> bool,
    /// Whether the text has a completion.
    is_viable: &'a dyn Fn(&[u8]) -> bool,
}

/// Returns the grammar's constraint for all bytes, these tokens and a stop token.
fn constraint(grammar: &str, tokens: &[Vec<u8>]) -> Constraint {
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let tokens: Vec<Vec<u8>> =
        bytes.chain(tokens.iter().cloned()).chain([b"<end>".to_vec()]).collect();
    let end = tokens.len() as u32 - 1;
    let vocabulary = Vocabulary::from_tokens(tokens).expect("tokens").with_special(end, "<end>");
    let vocabulary = vocabulary.and_then(|all| all.with_stop_tokens([end])).expect("a stop token");
    let grammar = Grammar::from_lark(grammar).unwrap_or_else(|error| panic!("{grammar}\n{error}"));
    // A token of two hundred words, each with two readings that depend on the next word, takes 40
    // million steps.
    let limits = Limits::default().mask_steps(100_000_000);
    let constraint = Constraint::builder().limits(&limits).build(&grammar, &vocabulary);
    constraint.unwrap_or_else(|error| panic!("{error}"))
}

/// Compares the whole mask, the tokens that `advance` takes, and whether the text may end.
fn compare(constraint: &Constraint, matcher: &Matcher, text: &[u8], definition: Definition<'_>) {
    let shown = || shorten(text);
    assert_eq!(
        matcher.is_accepting(),
        (definition.is_member)(text),
        "is_accepting after {}",
        shown()
    );
    let mut mask = constraint.new_mask();
    matcher.fill_mask(&mut mask);
    let vocabulary = constraint.vocabulary();
    for id in 0..vocabulary.width() as u32 {
        let viable = match vocabulary.bytes(id) {
            _ if id as usize == vocabulary.width() - 1 => (definition.is_member)(text),
            Some(token) => (definition.is_viable)(&[text, token].concat()),
            None => false,
        };
        let token = || shorten(vocabulary.bytes(id).unwrap_or_default());
        assert_eq!(mask.contains(id), viable, "{} (id {id}) after {}", token(), shown());
        if viable || id >= 256 {
            assert_eq!(
                matcher.clone().advance(id).is_ok(),
                viable,
                "advance {} after {}",
                token(),
                shown()
            );
        }
    }
}

/// Compares along a text, at no more than about `places` positions, and at its last ones.
fn follow(constraint: &Constraint, text: &[u8], places: usize, definition: Definition<'_>) {
    let mut matcher = constraint.matcher();
    let step = text.len() / places + 1;
    for end in 0..=text.len() {
        if end > 0 && matcher.advance_bytes(&text[end - 1..end]).is_err() {
            let refused = &text[..end];
            assert!(!(definition.is_viable)(refused), "{} is refused", shorten(refused));
            return;
        }
        if end % step == 0 || end + 2 > text.len() {
            compare(constraint, &matcher, &text[..end], definition);
        }
    }
}

/// Compares at every text over the alphabet up to a length.
fn visit_all(constraint: &Constraint, alphabet: &[u8], length: usize, definition: Definition<'_>) {
    let mut todo = vec![(Vec::new(), constraint.matcher())];
    while let Some((text, matcher)) = todo.pop() {
        compare(constraint, &matcher, &text, definition);
        if text.len() == length {
            continue;
        }
        for &letter in alphabet {
            let longer = [text.as_slice(), &[letter]].concat();
            let mut next = matcher.clone();
            let taken = next.advance_bytes(&[letter]).is_ok();
            assert_eq!(taken, (definition.is_viable)(&longer), "{}", shorten(&longer));
            if taken {
                todo.push((longer, next));
            }
        }
    }
}

/// Formats a text with its runs counted: `a*70 b`.
fn shorten(text: &[u8]) -> String {
    let runs = text.chunk_by(|one, other| one == other);
    let shown = runs.map(|run| match run.len() {
        1 => char::from(run[0]).to_string(),
        length => format!("{}*{length}", char::from(run[0])),
    });
    format!("{:?}", shown.collect::<Vec<_>>().join(" "))
}

fn run(letter: u8, length: usize) -> Vec<u8> {
    vec![letter; length]
}

/// Returns the number of leading occurrences of a letter, and the rest.
fn split_run(text: &[u8], letter: u8) -> (usize, &[u8]) {
    let length = text.iter().take_while(|&&byte| byte == letter).count();
    (length, &text[length..])
}

fn is_over(text: &[u8], alphabet: &[u8]) -> bool {
    text.iter().all(|byte| alphabet.contains(byte))
}

/// Critical numbers of readings: the sizes of small vectors and words, and many.
const NUMBERS: [usize; 7] = [8, 9, 63, 64, 65, 200, 1000];

/// Critical numbers for tests with quadratic cost: up to `ordinary`, and all of them with
/// `LRMASK_LONG`.
fn numbers(ordinary: usize) -> impl Iterator<Item = usize> {
    let is_long = std::env::var_os("LRMASK_LONG").is_some();
    NUMBERS.into_iter().filter(move |&number| is_long || number <= ordinary)
}

/// Each `a` is an A or a B, and no A comes after a B: after `n` words there are `n + 1` stacks.
#[test]
fn soft_words_one_reading_more_with_each() {
    let grammar = "%lexer basic\nstart: A start \"1\" | b\nb: B b \"2\" | \".\"\nA: \"a\"\nB: /a/\n%soft B A\n";
    // a^n . 2^j 1^(n - j)
    let parts = |text: &[u8]| {
        let (words, rest) = split_run(text, b'a');
        let Some((b'.', rest)) = rest.split_first() else {
            return rest.is_empty().then_some((words, None));
        };
        let (twos, rest) = split_run(rest, b'2');
        let (ones, rest) = split_run(rest, b'1');
        (rest.is_empty() && twos + ones <= words).then_some((words, Some(twos + ones)))
    };
    let definition = Definition {
        is_member: &|text| parts(text).is_some_and(|(words, ends)| ends == Some(words)),
        is_viable: &|text| parts(text).is_some(),
    };
    for readings in NUMBERS {
        let words = readings - 1;
        let longer = [
            run(b'a', words),
            run(b'a', readings + 1),
            [run(b'a', readings), b".2".to_vec()].concat(),
            run(b'2', words),
            run(b'2', words + 1),
            [run(b'2', words / 2), run(b'1', words - words / 2)].concat(),
            b".21".to_vec(),
            b"21".to_vec(),
            b"12".to_vec(),
        ];
        let constraint = constraint(grammar, &longer);
        for twos in [0, 1, words / 2, words] {
            let ends = [run(b'2', twos), run(b'1', words - twos)].concat();
            follow(&constraint, &[run(b'a', words), b".".to_vec(), ends].concat(), 40, definition);
        }
    }
}

/// Each `a` is an A or a B: after `n` words there are `2^n` stacks.
#[test]
fn soft_words_twice_as_many_readings_with_each() {
    let grammar =
        "%lexer basic\nstart: A start \"1\" | B start \"2\" | \".\"\nA: \"a\"\nB: /a/\n%soft B A\n";
    let parts = |text: &[u8]| {
        let (words, rest) = split_run(text, b'a');
        let Some((b'.', rest)) = rest.split_first() else {
            return rest.is_empty().then_some((words, None));
        };
        (is_over(rest, b"12") && rest.len() <= words).then_some((words, Some(rest.len())))
    };
    let definition = Definition {
        is_member: &|text| parts(text).is_some_and(|(words, ends)| ends == Some(words)),
        is_viable: &|text| parts(text).is_some(),
    };
    for words in [3, 4, 6, 7, 10, 200, 1000] {
        let longer = [
            run(b'a', words),
            run(b'a', 12),
            b"aa.1".to_vec(),
            b"1212".to_vec(),
            [run(b'2', words / 2), run(b'1', words - words / 2)].concat(),
            run(b'1', words + 1),
        ];
        let ends: Vec<u8> = (0..words).map(|place| b'1' + u8::from(place % 3 == 0)).collect();
        let text = [run(b'a', words), b".".to_vec(), ends].concat();
        follow(&constraint(grammar, &longer), &text, 20, definition);
    }
}

/// `w` is a word if `n` more of them and then a `y` follow: any of the last `n + 1` may be one, or
/// none. There is exactly one, and no `y` before it.
#[test]
fn look_ahead_one_reading_for_each_word() {
    for readings in [8, 9, 63, 64, 65, 200] {
        let others = readings - 1;
        let then = " then WORD NAME".repeat(others - 1);
        let grammar = format!(
            "%lexer basic\nstart: before WORD behind\nbefore: | before NAME | before X\n\
             behind: | behind NAME | behind X | behind Y\nWORD: \"w\"\nX: \"x\"\nY: \"y\"\n%declare NAME\n\
             %lookahead NAME WORD before WORD NAME{then} then Y\n"
        );
        let word = [run(b'w', readings), b"y".to_vec()].concat();
        let is_viable = |text: &[u8]| {
            let mut parts = text.split_inclusive(|&byte| byte == b'y');
            let is_word = |part: &[u8]| part.ends_with(&word);
            let ended = |part: &[u8]| part.ends_with(b"y");
            let first = parts.next().unwrap_or_default();
            is_over(text, b"wxy") && (!ended(first) || is_word(first)) && !parts.any(is_word)
        };
        let definition = Definition {
            is_member: &|text| is_viable(text) && text.contains(&b'y'),
            is_viable: &is_viable,
        };
        let longer = [
            run(b'w', readings - 1),
            run(b'w', readings + 1),
            word.clone(),
            [b"x".to_vec(), word.clone()].concat(),
            [word.clone(), word.clone()].concat(),
            b"wy".to_vec(),
            b"yw".to_vec(),
        ];
        let constraint = constraint(&grammar, &longer);
        let text =
            [run(b'w', 5), b"x".to_vec(), word.clone(), b"y".to_vec(), run(b'w', readings + 1)]
                .concat();
        follow(&constraint, &text, 3, definition);
        follow(
            &constraint,
            &[b"x".to_vec(), run(b'w', readings - 1), b"y".to_vec()].concat(),
            2,
            definition,
        );
    }
}

/// `w` is a word if the `n`th lexeme after it is a `y`: each of the last `n` may be a word or not.
/// No two words are adjacent.
#[test]
fn look_ahead_twice_as_many_readings_with_each_word() {
    for distance in [3, 4, 6, 7] {
        let then = " then WORD NAME X Y".repeat(distance - 2);
        let grammar = format!(
            "%lexer basic\nstart: other | word\nword: other WORD\nother: | any NAME | any X | any Y\nany: other | word\n\
             WORD: \"w\"\nX: \"x\"\nY: \"y\"\n%declare NAME\n\
             %lookahead NAME WORD before WORD NAME X Y{then} then Y\n"
        );
        let is_member = |text: &[u8]| {
            let is_word =
                |place: usize| text[place] == b'w' && text.get(place + distance) == Some(&b'y');
            let side_by_side = (1..text.len()).any(|place| is_word(place - 1) && is_word(place));
            is_over(text, b"wxy") && !side_by_side
        };
        let definition = Definition { is_member: &is_member, is_viable: &is_member };
        let longer = [
            run(b'w', distance + 1),
            run(b'y', distance),
            b"yy".to_vec(),
            b"xyy".to_vec(),
            b"wwy".to_vec(),
            [run(b'w', distance), b"xy".to_vec()].concat(),
            [run(b'w', distance), b"yy".to_vec()].concat(),
        ];
        let constraint = constraint(&grammar, &longer);
        let text =
            [run(b'w', 2 * distance), b"yxyxyxw".to_vec(), run(b'w', distance), b"y".to_vec()]
                .concat();
        follow(&constraint, &text, 100, definition);
        follow(&constraint, &[run(b'w', distance + 1), b"yy".to_vec()].concat(), 100, definition);
    }
}

/// A long match may be pending from each of the last positions, and another letter refutes all of
/// them.
#[test]
fn back_up_one_reading_for_each_place() {
    for readings in numbers(200) {
        let length = readings - 1;
        for lexer in ["basic", "contextual"] {
            let grammar = format!(
                "%lexer {lexer}\nstart: (A | X | C)+\nA: \"a\"\nC: \"c\"\nX: /a{{{length}}}b/\n"
            );
            let is_viable = |text: &[u8]| {
                let mut parts =
                    text.split_inclusive(|&byte| byte == b'b').filter(|part| part.ends_with(b"b"));
                is_over(text, b"abc")
                    && parts.all(|part| part[..part.len() - 1].ends_with(&run(b'a', length)))
            };
            let definition = Definition {
                is_member: &|text| !text.is_empty() && is_viable(text),
                is_viable: &is_viable,
            };
            let longer = [
                run(b'a', length),
                run(b'a', length + 2),
                [run(b'a', length), b"b".to_vec()].concat(),
                [run(b'a', length + 3), b"ba".to_vec()].concat(),
                [run(b'a', length - 1), b"b".to_vec()].concat(),
                [run(b'a', length - 1), b"c".to_vec()].concat(),
                b"ab".to_vec(),
                b"bb".to_vec(),
                b"ca".to_vec(),
            ];
            let constraint = constraint(&grammar, &longer);
            let text =
                [run(b'a', length + 5), b"b".to_vec(), run(b'a', length), b"ca".to_vec()].concat();
            follow(&constraint, &text, 6, definition);
        }
    }
}

/// An exact number of lexemes: how many the text has depends on which pending match ends.
#[test]
fn back_up_where_lexemes_are_counted() {
    for (length, count) in numbers(64).map(|readings| (readings - 1, readings + readings / 2)) {
        let grammar =
            format!("%lexer basic\nstart: (A | X)~{count}\nA: \"-\"\nX: /-{{{length}}}b/\n");
        // Each `b` is a lexeme together with the dashes before it.
        let lexemes = |text: &[u8]| {
            let mut parts = text.split(|&byte| byte == b'b').collect::<Vec<_>>();
            let last = parts.pop().unwrap_or_default().len();
            let fits = is_over(text, b"-b") && parts.iter().all(|part| part.len() >= length);
            let before: usize =
                parts.iter().map(|part| (part.len() + 1).saturating_sub(length)).sum();
            fits.then_some((before, last))
        };
        let is_member =
            |text: &[u8]| lexemes(text).is_some_and(|(before, last)| before + last == count);
        let is_viable = |text: &[u8]| {
            lexemes(text).is_some_and(|(before, last)| {
                let pending = last.min(length);
                before + last <= count || before + last - pending < count
            })
        };
        let definition = Definition { is_member: &is_member, is_viable: &is_viable };
        let longer = [
            run(b'-', length - 1),
            run(b'-', length),
            [run(b'-', length), b"b".to_vec()].concat(),
            [run(b'-', length - 1), b"b".to_vec()].concat(),
            run(b'-', count),
            run(b'-', count + 1),
        ];
        let constraint = constraint(&grammar, &longer);
        follow(&constraint, &run(b'-', count + length), 60, definition);
        let long = [run(b'-', count), run(b'-', length - 1), b"b".to_vec()].concat();
        follow(&constraint, &long, 60, definition);
        let twice =
            [run(b'-', length), b"b".to_vec(), run(b'-', length + 2), b"b--".to_vec()].concat();
        follow(&constraint, &twice, 60, definition);
    }
}

fn is_palindrome(text: &[u8]) -> bool {
    text.iter().eq(text.iter().rev())
}

/// Palindromes with an end mark: any position after the first half of a text may be the middle.
#[test]
fn conflicts_one_reading_for_each_place() {
    let grammar = "start: s \".\"\ns: \"a\" s \"a\" | \"b\" s \"b\" | \"a\" | \"b\" |\n";
    let is_member = |text: &[u8]| {
        text.strip_suffix(b".").is_some_and(|text| is_over(text, b"ab") && is_palindrome(text))
    };
    let is_viable = |text: &[u8]| is_over(text, b"ab") || is_member(text);
    let definition = Definition { is_member: &is_member, is_viable: &is_viable };
    for readings in numbers(200) {
        let longer = [
            run(b'a', readings),
            run(b'a', readings + 1),
            [run(b'a', readings), b".".to_vec()].concat(),
            [b"b".to_vec(), run(b'a', readings), b".".to_vec()].concat(),
            b"ab".to_vec(),
            b"ba.".to_vec(),
        ];
        let constraint = constraint(grammar, &longer);
        let half = run(b'a', readings);
        follow(
            &constraint,
            &[half.clone(), b"b".to_vec(), half.clone(), b".".to_vec()].concat(),
            20,
            definition,
        );
        follow(&constraint, &[half.clone(), half].concat(), 20, definition);
    }
}

/// Pairs of an A and a B, from the outside to the middle, where `a` may be either: two `b` never
/// form a pair.
#[test]
fn conflicts_and_soft_words() {
    let grammar =
        "%lexer basic\nstart: s \".\"\ns: A s B | B s A |\nA: \"a\"\nB: /[ab]/\n%soft B A\n";
    let is_member = |text: &[u8]| {
        let Some(text) = text.strip_suffix(b".") else { return false };
        let pairs = || text.iter().zip(text.iter().rev());
        is_over(text, b"ab") && text.len() % 2 == 0 && pairs().all(|pair| pair != (&b'b', &b'b'))
    };
    let is_viable = |text: &[u8]| is_over(text, b"ab") || is_member(text);
    let definition = Definition { is_member: &is_member, is_viable: &is_viable };
    // The number of stacks doubles with each letter.
    for readings in [2, 3, 4] {
        let half = run(b'a', readings);
        let longer = [
            half.clone(),
            [half.as_slice(), b"."].concat(),
            [half.as_slice(), b"b."].concat(),
            b"ab.".to_vec(),
            b"bb.".to_vec(),
        ];
        let constraint = constraint(grammar, &longer);
        follow(&constraint, &[half.as_slice(), b"b", &half, b"ab."].concat(), 20, definition);
        follow(&constraint, &[b"b", half.as_slice(), &half, b"b"].concat(), 20, definition);
    }
}

/// Palindromes of lexemes, one of which may be pending for a long time.
#[test]
fn conflicts_and_back_up() {
    for length in numbers(64).map(|readings| readings - 1) {
        let grammar = format!(
            "%lexer basic\nstart: s \".\"\ns: A s A | B s B | X s X |\nA: \"a\"\nB: \"b\"\nX: /a{{{length}}}c/\n"
        );
        let lexemes = |text: &[u8]| {
            let mut lexemes: Vec<u8> = Vec::new();
            for &byte in text {
                match byte {
                    b'a' | b'b' => lexemes.push(byte),
                    b'c' if lexemes.ends_with(&run(b'a', length)) => {
                        lexemes.truncate(lexemes.len() - length);
                        lexemes.push(b'c');
                    }
                    _ => return None,
                }
            }
            Some(lexemes)
        };
        let is_member = |text: &[u8]| {
            let lexemes = text.strip_suffix(b".").and_then(lexemes);
            lexemes.is_some_and(|lexemes| lexemes.len() % 2 == 0 && is_palindrome(&lexemes))
        };
        let is_viable = |text: &[u8]| lexemes(text).is_some() || is_member(text);
        let definition = Definition { is_member: &is_member, is_viable: &is_viable };
        let long = [run(b'a', length).as_slice(), b"c"].concat();
        let longer = [
            long.clone(),
            [long.as_slice(), b"."].concat(),
            [b"a", long.as_slice(), b"a."].concat(),
            run(b'a', length - 1),
            b"ac".to_vec(),
            b"ba.".to_vec(),
        ];
        let constraint = constraint(&grammar, &longer);
        follow(&constraint, &[b"b", long.as_slice(), b"aa", &long, b"b."].concat(), 5, definition);
        follow(&constraint, &[long.as_slice(), &long, &run(b'a', length)].concat(), 5, definition);
    }
}

/// If there are more readings than the limit, some are kept: masks are narrow and never empty, and
/// `advance` agrees with them. Readings do not fork once the steps for that are spent.
#[test]
fn readings_beyond_the_limit_are_dropped() {
    // Palindromes, in which each position may be the middle, of letters with two readings.
    let soft = "%lexer basic\nstart: s \"1\"\ns: A s A | B s B |\nA: \"a\"\nB: /a/\n%soft B A\n";
    let palindromes = "start: s \"1\"\ns: \"a\" s \"a\" | \"b\" s \"b\" |\n";
    let ambiguous = "start: s \"1\"\ns: \"a\" s s | \"a\" s | \"a\"\n";
    let few_readings = Limits::default().readings(1);
    let few_steps = Limits::default().reading_steps(0);
    for (grammar, limits) in [
        (soft, &few_readings),
        (soft, &few_steps),
        (palindromes, &few_steps),
        (ambiguous, &few_steps),
    ] {
        let grammar = Grammar::from_lark(grammar).expect("the grammar can be read");
        let mut matcher = are_narrow(&grammar, limits);
        // The limits also apply within a long text.
        let taken = matcher.advance_bytes(&run(b'a', 1_000));
        let taken = taken.map_or_else(|refused| refused.accepted_bytes(), |()| 1_000);
        let dropped = matcher.dropped_readings();
        assert!(taken > 10 && (taken < 1_000 || dropped > 0), "{taken}, {dropped}: {grammar}");
    }
    // Lexemes that count tokens.
    let counting = "start: s \"1\"\ns: x s s | x s | x\nx[max_tokens=1]: /a+/\n";
    are_narrow(&Grammar::from_lark(counting).expect("the grammar can be read"), &few_steps);
}

/// What decisions take along a text is charged to it: past its limit one reading is kept, of which
/// little is asked. Each decision that was left open took 100,000 steps.
#[test]
fn decisions_are_charged_to_their_text() {
    let grammar = "%lexer basic\nstart: (A | B | X | Y)+\nA: \"-\"\nB: \"+\"\n\
        X: /[-+]{900}b/\nY: /(-|\\+[-+]{30})*c/\n";
    let grammar = Grammar::from_lark(grammar).expect("the grammar can be read");
    let compiled = Constraint::builder().limits(&Limits::strict()).compile(&grammar);
    let compiled = compiled.expect("sound");
    for length in [600, 2_000] {
        let mut matcher = compiled.matcher();
        let text = b"-+".repeat(length / 2);
        let taken = matcher.advance_bytes(&text).map_or_else(|no| no.accepted_bytes(), |()| length);
        assert!(taken >= 600, "{taken}");
        let _ = matcher.explain_end(&text[..taken]);
        assert!(compiled.undecided() < 100, "{length}: {}", compiled.undecided());
        let mut matcher = compiled.matcher();
        assert!(matcher.advance_bytes(&text[..600]).is_ok());
        assert!(matcher.dropped_readings() > 0);
    }
}

/// A text that has taken all its steps may end where it is a sentence, and goes on no further: its
/// masks say so, and what was taken back has not been taken.
#[test]
fn a_text_that_has_taken_all_its_steps_is_given_up() {
    let grammar = Grammar::from_lark("start: s\ns: \"a\" s s | \"a\" s | \"a\"\n").expect("sound");
    let vocabulary = Vocabulary::from_tokens([run(b'a', 1), run(b'a', 64), b"</s>".to_vec()]);
    let vocabulary = vocabulary.and_then(|tokens| tokens.with_stop_tokens([2u32])).expect("tokens");
    let limits = Limits::default().reading_steps(0).mask_steps(4_000);
    let constraint = Constraint::builder().limits(&limits).build(&grammar, &vocabulary);
    let mut matcher = constraint.expect("sound").matcher();
    let mut mask = TokenMask::default();
    for step in 0..200 {
        let info = matcher.fill_mask(&mut mask);
        for token in 0..3u32 {
            assert!(!mask.contains(token) || matcher.allows(token), "{step}: {token}");
        }
        if step > 0 && !mask.contains(0u32) {
            assert!(mask.contains(2u32) && !info.is_exact() && matcher.dropped_readings() > 0);
            let refused = matcher.advance(0u32).expect_err("given up");
            assert_eq!(refused.kind(), AdvanceErrorKind::Limit);
            assert_eq!(matcher.rollback(1), 1);
            assert!(matcher.allows(0u32));
            return;
        }
        let token = u32::from(mask.contains(1u32));
        matcher.advance(token).expect("the mask allows it");
    }
    panic!("the text goes on");
}

/// Follows letters with these limits and with others. The matcher is back at the beginning.
fn are_narrow(grammar: &Grammar, limits: &Limits) -> Matcher {
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain([run(b'a', 7), b"a1".to_vec()]);
    let vocabulary = Vocabulary::from_tokens(tokens.collect::<Vec<_>>()).expect("tokens");
    let exact = Constraint::new(grammar, &vocabulary).expect("sound");
    let narrow = Constraint::builder()
        .limits(limits)
        .compile(grammar)
        .expect("sound")
        .constraint(&vocabulary)
        .expect("its tokens are known");
    let (mut all, mut some) = (exact.matcher(), narrow.matcher());
    let (mut exactly, mut mask) = (exact.new_mask(), narrow.new_mask());
    for step in 0..20 {
        all.fill_mask(&mut exactly);
        some.fill_mask(&mut mask);
        assert!(mask.count() > 0);
        for id in 0..258 {
            assert!(exactly.contains(id) || !mask.contains(id), "{id} is too wide");
            assert_eq!(some.clone().advance(id).is_ok(), mask.contains(id), "{id}");
        }
        let Some(token) = mask.tokens().find(|token| token.get() == u32::from(b'a')) else {
            assert!(step > 10, "what is kept goes on");
            break;
        };
        all.advance(token).expect("any number of letters");
        some.advance(token).expect("allowed");
    }
    let dropped = (some.dropped_readings(), all.dropped_readings());
    assert!(dropped.0 > 0 && dropped.1 == 0, "{dropped:?}: {grammar}");
    some.reset();
    assert_eq!(some.dropped_readings(), 0);
    some
}

/// A decision that reaches its limit is reported as such, not as a language without texts.
#[test]
fn decisions_beyond_the_limit_are_counted() {
    let grammar = Grammar::from_lark("%lexer basic\nstart: A B\nA: /a+/\nB: /a*b/\n");
    let grammar = grammar.expect("the grammar can be read");
    for (decision_steps, code) in [(1, "decision-limit"), (1_000, "empty-language")] {
        let limits = Limits::default().decision_steps(decision_steps);
        let error = Constraint::builder()
            .limits(&limits)
            .compile(&grammar)
            .expect_err("no text, or nobody knows");
        assert!(error.diagnostics().iter().any(|d| d.code == code), "{error}");
    }
}

/// Each byte of a long name took a step, and each decision started again: a mask had no token, in
/// the middle of a text that had been accepted as viable.
#[test]
fn few_steps_for_decisions_leave_a_way_on() {
    let rules = r#"
        root ::= "(Show " event ")"
        event ::= "(LastEvent " span ")" | "(Nobody (knows (of (any (event (that (nobody)))))))"
        span ::= "(Between " now "(start of " event "))"
        now ::= "(now" " "
    "#;
    let limits = Limits::default().decision_steps(400);
    let grammar =
        GrammarReader::new().limits(&limits).gbnf(rules).expect("the grammar can be read");
    let vocabulary = Vocabulary::from_tokens((0..=255u8).map(|byte| vec![byte])).expect("tokens");
    let constraint =
        Constraint::builder().limits(&limits).build(&grammar, &vocabulary).expect("sound");
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    let nobody = "(Nobody (knows (of (any (event (that (nobody)))))))";
    let text = format!("(Show (LastEvent (Between (now (start of {nobody}))))");
    for byte in text.bytes() {
        matcher.fill_mask(&mut mask);
        assert!(mask.contains(u32::from(byte)), "{} is missing in {text}", byte.escape_ascii());
        matcher.advance(u32::from(byte)).expect("what the mask allows");
    }
    assert!(matcher.is_accepting());
}

/// Within a token nothing has to be decided, because the mask decided at the token's end. A byte
/// before the end that took too long made `advance` refuse a token that the mask had allowed.
#[test]
fn what_is_undecided_within_a_token_is_not_refused() {
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain(strings(b"ab", 6));
    let vocabulary = Vocabulary::from_tokens(tokens).expect("tokens");
    for rules in [
        "start: r+\nr: T r r | \"ba\" \"ba\" \"ba\"\nT: \"babaa\"\n",
        "start: s\ns: B s T | T O | O\nO: /[ab]{1}/\nB: \"bbab\"\nT: /[ab]{3}/\n",
        "start: s\ns: L s s | F E F\nE: /abbbb+/\nF: /[ab]{5}/\nL: /abbba+/\n",
    ] {
        let mut undecided = 0;
        for decision_steps in (10..200).step_by(10) {
            let limits = Limits::default().decision_steps(decision_steps);
            let grammar = Grammar::from_lark(rules).expect("the grammar can be read");
            let constraint = Constraint::builder().limits(&limits).build(&grammar, &vocabulary);
            let Ok(constraint) = constraint else { continue };
            let mut mask = constraint.new_mask();
            for prefix in strings(b"ab", 4).into_iter().chain([Vec::new()]) {
                let mut matcher = constraint.matcher();
                if matcher.advance_bytes(&prefix).is_err() {
                    continue;
                }
                matcher.fill_mask(&mut mask);
                for token in mask.tokens() {
                    matcher.clone().advance(token).expect("what the mask allows");
                }
            }
            undecided += constraint.undecided();
        }
        assert!(undecided > 0);
    }
}

/// Following all readings of a token may take longer than a mask may take. The token was then
/// refused although the mask had allowed it; now one reading is kept.
#[test]
fn of_a_token_whose_readings_take_too_long_one_is_kept() {
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain(strings(b"ab", 8));
    let vocabulary = Vocabulary::from_tokens(tokens).expect("tokens");
    for rules in [
        "start: r+\nr: B | A A A | A | r A | r r\nA: \"ab\"\nB: \"b\"\n",
        "start: r+\nr: B | A A A | A | r A | r r | t\nt[max_tokens=9]: C\nA: \"ab\"\nB: \"b\"\nC: \"aa\"\n",
        "%lexer basic\nstart: r\nr: C B | A | r r r r | (A r C A | C B r B)?\nA: \"aaabbbb\"\nB: \"b\"\nC: \"abbba\"\n",
    ] {
        let mut dropped = 0;
        for mask_steps in [500, 1_000, 2_000] {
            let limits = Limits::default().mask_steps(mask_steps);
            let grammar = Grammar::from_lark(rules).expect("the grammar can be read");
            let constraint =
                Constraint::builder().limits(&limits).build(&grammar, &vocabulary).expect("sound");
            let mut mask = constraint.new_mask();
            for walk in 0..20_usize {
                let mut matcher = constraint.matcher();
                for step in 1..40 {
                    matcher.fill_mask(&mut mask);
                    let allowed: Vec<_> = mask.tokens().collect();
                    let Some(place) = (walk * 7919 * step + step).checked_rem(allowed.len()) else {
                        break;
                    };
                    matcher.advance(allowed[place]).expect("what the mask allows");
                }
                dropped += matcher.dropped_readings();
            }
        }
        assert!(dropped > 0, "{rules}");
    }
}

/// Readings without a completion, each with many pending matches: the texts that many of these
/// allow are covered by those that a few allow, so each reading is decided quickly.
#[test]
fn pending_matches_that_cover_others_are_decided_together() {
    let rules =
        "start: (A | B | C)+\nA: /a+(?![ab]{0,20}c)/\nB: /b+(?=a{0,20}b)/\nC: /[ab](?!a{7}b)/\n";
    let grammar = Grammar::from_lark(rules).expect("the grammar can be read");
    let vocabulary = Vocabulary::from_tokens((0..=255u8).map(|byte| vec![byte])).expect("tokens");
    let limits = Limits::default().decision_steps(10_000);
    let constraint =
        Constraint::builder().limits(&limits).build(&grammar, &vocabulary).expect("sound");
    let (mut matcher, mut mask) = (constraint.matcher(), constraint.new_mask());
    for byte in b"abba".repeat(25) {
        matcher.fill_mask(&mut mask);
        matcher.advance(u32::from(byte)).expect("any letters");
    }
    assert_eq!(constraint.undecided(), 0);
}

/// Returns all strings over an alphabet of two letters or more up to a length: tokens that span
/// several symbols.
fn strings(alphabet: &[u8], length: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..length {
        let last = all.split_off(from);
        from += last.len();
        let longer = |text: &Vec<u8>| {
            let text = text.clone();
            alphabet.iter().map(move |&letter| [text.as_slice(), &[letter]].concat())
        };
        let next: Vec<Vec<u8>> = last.iter().flat_map(longer).collect();
        all.extend(last.into_iter().chain(next));
    }
    all.split_off(1 + alphabet.len())
}

/// Compares at all texts of up to twelve symbols, under both lexers, and along the long ones.
fn is_defined_by(
    grammar: &str,
    alphabet: &[u8],
    is_member: &dyn Fn(&[u8]) -> bool,
    is_viable: &dyn Fn(&[u8]) -> bool,
    long: &[Vec<u8>],
) {
    let definition = Definition { is_member, is_viable };
    for lexer in ["basic", "contextual"] {
        let constraint = constraint(&format!("%lexer {lexer}\n{grammar}"), &strings(alphabet, 2));
        visit_all(&constraint, alphabet, 12, definition);
    }
    let constraint = constraint(grammar, &strings(alphabet, 3));
    for text in long {
        follow(&constraint, text, 4, definition);
    }
}

#[test]
fn palindromes() {
    let half: Vec<u8> = (0..1000usize).map(|place| b'a' + (place * place / 7 % 2) as u8).collect();
    let other: Vec<u8> = half.iter().rev().copied().collect();
    let long = [[half.as_slice(), &other].concat(), [half.as_slice(), b"a", &other].concat()];
    is_defined_by(
        "start: s\ns: \"a\" s \"a\" | \"b\" s \"b\" | \"a\" | \"b\" |\n",
        b"ab",
        &|text| is_over(text, b"ab") && is_palindrome(text),
        &|text| is_over(text, b"ab"),
        &long,
    );
    is_defined_by(
        "start: s\ns: \"a\" s \"a\" | \"b\" s \"b\" |\n",
        b"ab",
        &|text| is_over(text, b"ab") && text.len() % 2 == 0 && is_palindrome(text),
        &|text| is_over(text, b"ab"),
        &long,
    );
}

#[test]
fn two_of_three_runs_are_equal() {
    let runs = |text: &[u8]| {
        let (a, rest) = split_run(text, b'a');
        let (b, rest) = split_run(rest, b'b');
        let (c, rest) = split_run(rest, b'c');
        rest.is_empty().then_some((a, b, c))
    };
    let text = |a, b, c| [run(b'a', a), run(b'b', b), run(b'c', c)].concat();
    is_defined_by(
        "start: same cs | as also\nsame: \"a\" same \"b\" |\ncs: \"c\" cs |\nas: \"a\" as |\nalso: \"b\" also \"c\" |\n",
        b"abc",
        &|text| runs(text).is_some_and(|(a, b, c)| a == b || b == c),
        &|text| runs(text).is_some_and(|(a, b, c)| a == b || c <= b),
        &[
            text(1000, 1000, 500),
            text(700, 1000, 1000),
            text(1000, 1000, 1000),
            text(900, 1000, 1001),
        ],
    );
}

#[test]
fn sums_without_precedence() {
    let is_viable = |text: &[u8]| {
        let fits = |(place, byte): (usize, &u8)| {
            if place % 2 == 0 { *byte == b'1' } else { b"+*".contains(byte) }
        };
        text.iter().enumerate().all(fits)
    };
    let sum: Vec<u8> = (0..20_001).map(|place| [b'1', b'+', b'1', b'*'][place % 4]).collect();
    is_defined_by(
        "start: e\ne: e \"+\" e | e \"*\" e | N\nN: \"1\"\n",
        b"1+*",
        &|text| is_viable(text) && text.len() % 2 == 1,
        &is_viable,
        &[sum],
    );
}

#[test]
fn runs_of_one_letter_in_all_ways() {
    let is_viable = |text: &[u8]| is_over(text, b"a");
    is_defined_by(
        "start: s\ns: s s s | s s | \"a\"\n",
        b"ab",
        &|text| is_viable(text) && !text.is_empty(),
        &is_viable,
        &[run(b'a', 120)],
    );
}

/// Each end may match any start before it.
#[test]
fn ends_that_may_be_left_out() {
    let runs = |text: &[u8]| {
        let (a, rest) = split_run(text, b'a');
        let (b, rest) = split_run(rest, b'b');
        (rest.is_empty() && b <= a).then_some((a, b))
    };
    let is_member = |text: &[u8]| runs(text).is_some();
    is_defined_by(
        "start: s\ns: \"a\" s | \"a\" s \"b\" |\n",
        b"ab",
        &is_member,
        &is_member,
        &[[run(b'a', 300), run(b'b', 200)].concat(), [run(b'a', 300), run(b'b', 301)].concat()],
    );
}
