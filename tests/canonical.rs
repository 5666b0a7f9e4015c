//! Canonical tokens: whole masks against an encoder from the textbook, the model's own tokenizers
//! on texts that people wrote, and texts that follow the masks.
//!
//! `LRMASK_CASE=name` runs one directory of `tests/grammars`. `LRMASK_RANDOM=N` runs N random
//! vocabularies, N texts of the corpora with each tokenizer, and writes N texts with each.

#![allow(clippy::print_stdout)]

use crate::corpus;
use crate::oracle;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::tokenizer::Tokenizer;
use fastrand::Rng;
use lrmask::{
    AdvanceErrorKind, BudgetError, CanonicalError, Constraint, Draft, Grammar, Matcher, TakeBack,
    TokenId, TokenMask, Vocabulary,
};
use oracle::case::Case;
use oracle::every::in_every_small_grammar;
use serde_json::json;

/// Number of cases, if the environment does not say it.
fn cases(default: usize) -> usize {
    let given = std::env::var("LRMASK_RANDOM").ok();
    given.map_or(default, |cases| cases.parse().expect("LRMASK_RANDOM is a number"))
}

fn filled(matcher: &Matcher) -> TokenMask {
    let mut mask = TokenMask::default();
    matcher.fill_mask(&mut mask);
    mask
}

/// Returns the bytes of a list of tokens.
fn text_of(vocabulary: &Vocabulary, tokens: &[u32]) -> Vec<u8> {
    let bytes = |&id: &u32| vocabulary.bytes(id).unwrap_or_default();
    tokens.iter().flat_map(bytes).copied().collect()
}

fn any_text(vocabulary: &Vocabulary) -> Constraint {
    let grammar = Grammar::from_lark("start: ANY?\nANY: /(.|\\n)+/s").unwrap();
    Constraint::new(&grammar, vocabulary).unwrap().with_canonical_tokens().unwrap()
}

/// Byte-pair encoding as in the textbook: any two neighbours whose bytes are a token are merged,
/// that with the lowest id first, and of equal ones the leftmost.
fn encode(tokens: &[Vec<u8>], text: &[u8]) -> Vec<u32> {
    let id = |bytes: &[u8]| tokens.iter().position(|token| token == bytes);
    let mut parts: Vec<Vec<u8>> = text.iter().map(|&byte| vec![byte]).collect();
    loop {
        let pairs = parts.windows(2).enumerate();
        let best = pairs.filter_map(|(at, two)| Some((id(&two.concat())?, at))).min();
        let Some((_, at)) = best else { break };
        let right = parts.remove(at + 1);
        parts[at].extend(right);
    }
    parts.iter().map(|part| id(part).expect("a byte is a token") as u32).collect()
}

/// The encoder on a whole piece: one that is a token is not merged.
fn of_piece(tokens: &[Vec<u8>], text: &[u8]) -> Vec<u32> {
    match tokens.iter().position(|token| token == text) {
        Some(whole) => vec![whole as u32],
        None => encode(tokens, text),
    }
}

/// Maximum number of bytes that are tried after a text.
const FOLLOWING: usize = 6;

/// Whether some text that begins with `text` is made of `sequence` and other tokens after it.
fn goes_on(tokens: &[Vec<u8>], text: &[u8], sequence: &[u32]) -> bool {
    let letters = tokens.iter().filter(|token| token.len() == 1);
    let letters: Vec<u8> = letters.flatten().copied().collect();
    let mut texts = vec![text.to_vec()];
    for _ in 0..FOLLOWING {
        let with = |text: &Vec<u8>, letter: &u8| [&text[..], &[*letter]].concat();
        texts = texts
            .iter()
            .flat_map(|text| letters.iter().map(move |letter| with(text, letter)))
            .collect();
        if texts.iter().any(|text| of_piece(tokens, text).starts_with(sequence)) {
            return true;
        }
    }
    false
}

/// Tokens of random strings in random order: often not what training would find.
fn random_tokens(random: &mut Rng) -> Vec<Vec<u8>> {
    let letters = &b"abc"[..random.usize(2..4)];
    let mut tokens: Vec<Vec<u8>> = letters.iter().map(|&byte| vec![byte]).collect();
    for _ in 0..random.usize(1..12) {
        let token = match random.bool() {
            true => {
                let length = random.usize(2..6);
                (0..length).map(|_| letters[random.usize(..letters.len())]).collect()
            }
            false => {
                [&random.choice(&tokens).unwrap()[..], random.choice(&tokens).unwrap()].concat()
            }
        };
        if token.len() <= 8 && !tokens.contains(&token) {
            tokens.push(token);
        }
    }
    // Letters keep their places: their ids are those that no merge makes.
    let (letters, merged) = tokens.split_at_mut(letters.len());
    random.shuffle(merged);
    let _ = letters;
    tokens
}

#[test]
fn in_one_piece_a_token_is_allowed_if_it_is_what_the_encoder_makes() {
    let (mut bits, mut refused) = (0, 0);
    for seed in 0..cases(2_000) as u64 {
        let mut random = Rng::with_seed(seed);
        let tokens = random_tokens(&mut random);
        let file: String =
            tokens.iter().enumerate().map(|(id, token)| tiktoken_line(token, id)).collect();
        let vocabulary = Vocabulary::from_tiktoken(file.as_bytes()).unwrap();
        let constraint = any_text(&vocabulary.with_split_pattern("(?s:.)+"));
        let mut matcher = constraint.matcher();
        let mut sequence: Vec<u32> = Vec::new();
        for _ in 0..6 {
            let mask = filled(&matcher);
            for id in 0..tokens.len() as u32 {
                let longer = [&sequence[..], &[id]].concat();
                let text: Vec<u8> =
                    longer.iter().flat_map(|&id| tokens[id as usize].clone()).collect();
                // The first tokens of what the encoder makes are what it makes of their bytes. Only
                // if these bytes are a token, they cannot end there.
                let is_canonical = of_piece(&tokens, &text) == longer
                    || encode(&tokens, &text) == longer && goes_on(&tokens, &text, &longer);
                assert_eq!(
                    mask.contains(id),
                    is_canonical,
                    "seed {seed}: {longer:?} of {tokens:?}"
                );
                assert_eq!(
                    matcher.allows(id),
                    is_canonical,
                    "seed {seed}: {longer:?} of {tokens:?}"
                );
                bits += 1;
                refused += usize::from(!is_canonical);
            }
            let text: Vec<u8> =
                sequence.iter().flat_map(|&id| tokens[id as usize].clone()).collect();
            let ends = of_piece(&tokens, &text) == sequence;
            assert_eq!(matcher.is_accepting(), ends, "seed {seed}: {sequence:?} of {tokens:?}");
            let Some(next) = random.choice(mask.tokens().collect::<Vec<_>>()) else { break };
            matcher.advance(next).unwrap();
            sequence.push(next.get());
        }
    }
    println!("{refused} of {bits} bits are not set");
}

fn tiktoken_line(token: &[u8], id: usize) -> String {
    use base64::Engine as _;
    format!("{} {id}\n", base64::engine::general_purpose::STANDARD.encode(token))
}

/// Returns the character that stands for each byte in the vocabularies of GPT-2 and its kin.
fn letters_of_bytes() -> Vec<char> {
    let mut others = (256u32..).filter_map(char::from_u32);
    let letter = |byte: u8| match byte {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => char::from(byte),
        _ => others.next().unwrap(),
    };
    (0..=255u8).map(letter).collect()
}

/// A small tokenizer, as a `tokenizer.json`.
struct Small {
    tokenizer: tokenizers::Tokenizer,
    vocabulary: Vocabulary,
    /// For messages.
    about: String,
}

/// Patterns that ask all that the splitter can do.
const PATTERNS: [&str; 6] = [
    "(?s:.)+",
    Vocabulary::GPT2_PATTERN,
    Vocabulary::CL100K_PATTERN,
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+|[^\r\n\p{L}\p{N}]?\p{L}+",
    "a+(?!b)|(?s:.){1,2}",
    "(ab)+c?|[ab]+?|(?s:.)",
];

impl Small {
    /// Creates a tokenizer for texts over this alphabet.
    fn new(alphabet: &[u8], random: &mut Rng) -> Self {
        let letters = letters_of_bytes();
        let letter = |byte: u8| letters[usize::from(byte)].to_string();
        let mut pieces: Vec<String> = alphabet.iter().map(|&byte| letter(byte)).collect();
        let mut merges = Vec::new();
        for _ in 0..random.usize(1..10) {
            let (left, right) =
                (random.choice(&pieces).unwrap().clone(), random.choice(&pieces).unwrap());
            let merged = format!("{left}{right}");
            if merged.chars().count() <= 4 && !pieces.contains(&merged) {
                merges.push(format!("{left} {right}"));
                pieces.push(merged);
            }
        }
        // Half of the tokenizers can spell all texts.
        if random.bool() {
            let others = (0..=255u8).filter(|byte| !alphabet.contains(byte));
            pieces.extend(others.map(letter));
        }
        let vocab: BTreeMap<String, usize> =
            pieces.iter().enumerate().map(|(id, piece)| (piece.clone(), id)).collect();
        let mut added = vec![json!({ "id": pieces.len(), "content": "</s>", "new": true,
            "special": true, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false })];
        if random.u8(..3) == 0 {
            let mut met = HashSet::new();
            for _ in 1..random.usize(2..4) {
                let length = random.usize(1..3);
                let text: Vec<u8> =
                    (0..length).map(|_| *random.choice(alphabet).unwrap()).collect();
                let text = String::from_utf8(text).unwrap();
                if !met.insert(text.clone()) {
                    continue;
                }
                // Hugging Face's tokenizers give one that is also a piece its id, and others the
                // next free one, whatever the file says.
                let next = pieces.len() + added.iter().filter(|token| token["new"] == true).count();
                let known = vocab.get(&text).copied();
                added.push(
                    json!({ "id": known.unwrap_or(next), "content": text, "new": known.is_none(),
                    "special": false, "single_word": false, "lstrip": false, "rstrip": false,
                    "normalized": true }),
                );
            }
        }
        let pattern = PATTERNS[random.usize(..PATTERNS.len())];
        let ignores = random.bool();
        let mut file = json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": added,
            "normalizer": null,
            "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
                { "type": "Split", "pattern": { "Regex": pattern }, "behavior": "Isolated", "invert": false },
                { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false },
            ] },
            "post_processor": null,
            "decoder": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true },
            "model": { "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
                "ignore_merges": ignores, "vocab": vocab, "merges": merges },
        });
        if random.bool() {
            let pairs = merges.iter().map(|merge| merge.split(' ').collect::<Vec<_>>());
            file["model"]["merges"] = json!(pairs.collect::<Vec<_>>());
        }
        let file = file.to_string();
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(file.as_bytes()).unwrap();
        tokenizer.set_encode_special_tokens(true);
        let vocabulary = Vocabulary::from_tokenizer_json(file.as_bytes()).unwrap();
        let about = format!("{pattern} {merges:?} {added:?} {ignores}");
        Self { tokenizer, vocabulary, about }
    }

    fn encode(&self, text: &[u8]) -> Option<Vec<u32>> {
        let text = std::str::from_utf8(text).ok()?;
        Some(self.tokenizer.encode_fast(text, false).ok()?.get_ids().to_vec())
    }
}

/// Results of a walk.
#[derive(Debug, Default)]
struct Outcome {
    bits: usize,
    left_out: usize,
    /// Tokens that the grammar allows, each two of them may be neighbours, and that are dead ends.
    dead_ends: usize,
    faults: Vec<String>,
}

/// Follows the masks to the end of a text, which must be a member with these tokens.
fn ends_well(
    small: &Small,
    judge: impl Fn(&[u8]) -> Option<bool>,
    from: &Matcher,
    tokens: &[u32],
) -> Result<(), String> {
    let (mut matcher, mut tokens) = (from.clone(), tokens.to_vec());
    let least = match matcher.set_budget(0) {
        Ok(()) => 0,
        Err(BudgetError::TooSmall { least }) => least,
        Err(error) => return Err(error.to_string()),
    };
    matcher.set_budget(least).map_err(|error| format!("{least}: {error}"))?;
    while !matcher.is_accepting() {
        let mask = filled(&matcher);
        let Some(next) = mask.tokens().next() else {
            return Err(format!("dead end after {tokens:?}"));
        };
        matcher.advance(next).map_err(|error| format!("{next}: {error}"))?;
        tokens.push(next.get());
    }
    let text = text_of(&small.vocabulary, &tokens);
    if judge(&text) == Some(false) {
        return Err(format!("{:?} is no member", text.escape_ascii().to_string()));
    }
    let own = small.encode(&text);
    if own.as_ref() != Some(&tokens) { Err(format!("{tokens:?} ends as {own:?}")) } else { Ok(()) }
}

fn check(case: &Case, lexer: oracle::spec::LexerKind) -> Outcome {
    let mut outcome = Outcome::default();
    if case.refused.iter().any(|(of, _)| *of == lexer) || !case.alphabet.is_ascii() {
        return outcome;
    }
    let (lark, oracle) = (case.lark(lexer), case.oracle(lexer));
    let members = {
        let most = (0..8).rev().find(|&most| case.alphabet.len().pow(most) <= 5_000).unwrap_or(0);
        oracle.members(most as usize)
    };
    let seed = case.name.bytes().fold(7, |hash, byte| hash * 31 + u64::from(byte));
    for round in 0..cases(2).min(1_000) as u64 {
        let mut random = Rng::with_seed(seed.wrapping_add(round));
        let small = Small::new(&case.alphabet, &mut random);
        let Ok(grammar) = Grammar::from_lark(&lark) else { continue };
        let Ok(constraint) = Constraint::new(&grammar, &small.vocabulary) else { continue };
        // Bytes of a prompt, which are written again before the text.
        let length = if random.u8(..3) == 0 { random.usize(1..3) } else { 0 };
        let prefix: Vec<u8> =
            (0..length).map(|_| *random.choice(&case.alphabet).unwrap()).collect();
        // All beginnings of the tokens of members.
        let mut beginnings: HashSet<Vec<u32>> = HashSet::new();
        for member in &members {
            let tokens = small.encode(&[&prefix[..], member].concat()).unwrap_or_default();
            beginnings.extend((0..=tokens.len()).map(|end| tokens[..end].to_vec()));
        }
        let narrowed = match constraint.with_canonical_tokens() {
            Ok(narrowed) => narrowed,
            Err(CanonicalError::DistinctItems | CanonicalError::TokenLimits) => return outcome,
            Err(CanonicalError::NoSentence) if beginnings.is_empty() => continue,
            Err(error) => {
                outcome.faults.push(format!("{}: {error}", small.about));
                return outcome;
            }
        };
        let mut start = narrowed.matcher();
        start.heal(&prefix);
        let judge = |text: &[u8]| oracle.judge(text.strip_prefix(&prefix[..])?);
        let mut pending = vec![(Vec::new(), start)];
        let (mut visited, mut followed) = (0, 0usize);
        while let Some((tokens, matcher)) = pending.pop() {
            visited += 1;
            if visited > 24 || outcome.faults.len() > 5 {
                break;
            }
            let mask = filled(&matcher);
            let mut fault = |why: String| {
                let prefix = prefix.escape_ascii();
                outcome
                    .faults
                    .push(format!("{why}, after {tokens:?}, \"{prefix}\" first, {}", small.about));
            };
            let text = text_of(&small.vocabulary, &tokens);
            let ends = judge(&text) == Some(true) && small.encode(&text).as_ref() == Some(&tokens);
            if matcher.is_accepting() != ends {
                fault(format!("may end: {}", !ends));
            }
            if mask.is_empty() {
                fault("the mask is empty".to_owned());
            }
            for id in 0..small.vocabulary.width() as u32 {
                let bit = mask.contains(id);
                let bytes = small.vocabulary.bytes(id).unwrap_or_default();
                // Of the letters that no member has, a few are tried.
                let is_used =
                    !bytes.is_empty() && bytes.iter().all(|byte| case.alphabet.contains(byte));
                if (is_used || id as usize % 32 == visited % 32) && matcher.allows(id) != bit {
                    fault(format!("the bit of {id} is {bit}, and `allows` differs"));
                }
                if !is_used {
                    continue;
                }
                let longer = [&tokens[..], &[id]].concat();
                outcome.bits += 1;
                if !bit && beginnings.contains(&longer) {
                    outcome.left_out += 1;
                }
                if bit {
                    let mut next = matcher.clone();
                    next.advance(id).unwrap();
                    // Of longer texts a few are followed to their end, which takes many masks.
                    let is_longer = !beginnings.contains(&longer);
                    followed += usize::from(is_longer);
                    if is_longer
                        && (followed < 4 || followed % 16 == 0)
                        && let Err(why) = ends_well(&small, judge, &next, &longer)
                    {
                        fault(format!("too wide: {id}: {why}"));
                    }
                    if longer.len() < 5 {
                        pending.insert(random.usize(..=pending.len()), (longer, next));
                    }
                } else if let Some(why) = matcher.explain(id)
                    && why.reason() == AdvanceErrorKind::Canonical
                {
                    outcome.dead_ends += 1;
                }
            }
        }
    }
    outcome
}

#[test]
fn masks_of_canonical_tokens_are_those_of_the_oracle_in_every_small_grammar() {
    let sums = [const { AtomicUsize::new(0) }; 3];
    in_every_small_grammar(|case, lexer| {
        let outcome = check(case, lexer);
        for (sum, count) in sums.iter().zip([outcome.bits, outcome.left_out, outcome.dead_ends]) {
            sum.fetch_add(count, Ordering::Relaxed);
        }
        outcome.faults
    });
    let [bits, left_out, refused] = sums.map(AtomicUsize::into_inner);
    println!("{bits} bits: {refused} tokens are not canonical, {left_out} others are left out");
    assert!(left_out * 10_000 <= bits, "{left_out} of {bits} are left out");
}

#[test]
fn a_vocabulary_without_merges_is_refused_by_name() {
    let canonical = |vocabulary: &Vocabulary| {
        let grammar = Grammar::from_lark("start: \"a\"").unwrap();
        Constraint::new(&grammar, vocabulary).unwrap().with_canonical_tokens().map(|_| ())
    };
    let mini = |name: &str| Vocabulary::from_file_bytes(&corpus::mini(name)).unwrap();
    assert_eq!(canonical(&Vocabulary::single_bytes()), Err(CanonicalError::NoMerges));
    assert_eq!(canonical(&mini("mini-vocab.json")), Err(CanonicalError::NoMerges));
    assert_eq!(canonical(&mini("mini-list.json")), Err(CanonicalError::NoMerges));
    assert_eq!(canonical(&mini("mini.tiktoken")), Err(CanonicalError::NoPattern));
    let unigram = Err(CanonicalError::NotBpe("Unigram".to_owned()));
    assert_eq!(canonical(&mini("mini-unigram.json")), unigram);
    let split = mini("mini.tiktoken").with_split_pattern(Vocabulary::GPT2_PATTERN);
    assert_eq!(canonical(&split), Ok(()));
    let odd = mini("mini.tiktoken").with_split_pattern(r"\bx");
    assert!(matches!(canonical(&odd), Err(CanonicalError::Step(_))));
    let gap = mini("mini.tiktoken").with_split_pattern("[a-z]+");
    assert!(matches!(canonical(&gap), Err(CanonicalError::Step(_))));
}

#[test]
fn canonical_tokens_go_with_all_that_matchers_do() {
    let tokens = ["a", "b", "ab", "c", "x", "bc", "\u{e9}", ""];
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap().with_special(7, "</s>").unwrap();
    let vocabulary = vocabulary.with_merges([("a", "b"), ("b", "c")]).unwrap();
    let grammar = Grammar::from_lark("start: \"ab\" \"c\"? (\"x\" \"bc\")*").unwrap();
    let constraint =
        Constraint::new(&grammar, &vocabulary).unwrap().with_canonical_tokens().unwrap();
    let mut matcher = constraint.matcher();
    let ids = |matcher: &Matcher| filled(matcher).tokens().map(TokenId::get).collect::<Vec<_>>();
    assert_eq!(ids(&matcher), [2]);
    let mut rows = [0; 4];
    let drafts = Draft::chain([2u32, 3, 4]);
    assert_eq!(matcher.fill_draft_masks(&drafts, &mut rows, 1).unwrap(), [true; 3]);
    assert_eq!(rows, [1 << 2, 1 << 3 | 1 << 4 | 1 << 7, 1 << 4 | 1 << 7, 1 << 5]);
    let why = matcher.explain(0).unwrap();
    assert_eq!((why.reason(), why.reason().name()), (AdvanceErrorKind::Canonical, "canonical"));
    assert_eq!(constraint.trace([2u32, 4, 1]).fill(&mut rows, 1).unwrap()[2].allowed, 1);
    matcher.advance(2).unwrap();
    let fork = matcher.clone();
    matcher.advance(4).unwrap();
    assert_eq!(ids(&matcher), [5]);
    matcher.rollback(1);
    assert_eq!(ids(&matcher), ids(&fork));
    assert_eq!(matcher.set_budget(0), Ok(()));
    assert_eq!(ids(&matcher), [7]);
    matcher.set_budget(1).unwrap();
    assert_eq!(ids(&matcher), [3, 7]);
    assert_eq!(matcher.explain(4).unwrap().reason(), AdvanceErrorKind::Budget);
    matcher.reset();
    assert_eq!(matcher.set_budget(0), Err(BudgetError::TooSmall { least: 1 }));

    // The prompt ends in "xa", of which "a" is taken back: it cannot be written alone.
    let prompt = [4, 0].map(TokenId::from);
    let taken = vocabulary.take_back(&prompt, TakeBack::Tokens(1));
    let grammar = Grammar::from_lark("start: \"b\" | \"c\"").unwrap();
    let constraint =
        Constraint::new(&grammar, &vocabulary).unwrap().with_canonical_tokens().unwrap();
    let mut matcher = constraint.matcher();
    matcher.heal(&taken.bytes);
    assert_eq!(ids(&matcher), [0, 2]);
    matcher.advance(0).unwrap();
    assert_eq!(ids(&matcher), [3]);
    let mut matcher = constraint.matcher();
    assert!(matcher.follow_prompt(prompt));
    assert_eq!(ids(&matcher), [3]);
    let forced = Grammar::from_lark("start: \"b\"").unwrap();
    let forced = Constraint::new(&forced, &vocabulary).unwrap().with_canonical_tokens().unwrap();
    assert!(!forced.matcher().follow_prompt(prompt) && forced.matcher().follow_prompt([4u32]));
}

#[test]
fn grammars_that_no_tokenizer_follows_are_refused_by_name() {
    let vocabulary =
        Vocabulary::from_tokens(["a", "ab"]).unwrap().with_merges([("a", "b")]).unwrap();
    let canonical = |grammar: &str| {
        let grammar = Grammar::from_lark(grammar).unwrap();
        Constraint::new(&grammar, &vocabulary).unwrap().with_canonical_tokens().map(|_| ())
    };
    assert_eq!(canonical("start: \"a\"+"), Ok(()));
    assert_eq!(canonical("start: \"b\""), Err(CanonicalError::NoSentence));
    let limited = "%llguidance {}\nstart: x\nx[max_tokens=3]: /a+/";
    assert_eq!(canonical(limited), Err(CanonicalError::TokenLimits));
    let bytes = "%llguidance {\"allow_invalid_utf8\": true}\nstart: /a+/";
    assert_eq!(canonical(bytes), Err(CanonicalError::NotText));
}

#[test]
fn tokens_without_text_cut_the_text_and_bytes_begin_it_anew() {
    let tokens = ["a", "b", "ab", "c", "", "\u{e9}"];
    let vocabulary = Vocabulary::from_tokens(tokens).unwrap().with_special(4, "<|x|>").unwrap();
    let vocabulary = vocabulary.with_merges([("a", "b")]).unwrap();
    let grammar = Grammar::from_lark("%llguidance {}\nstart: \"a\" <|x|> \"bab\" \"c\"*").unwrap();
    let constraint =
        Constraint::new(&grammar, &vocabulary).unwrap().with_canonical_tokens().unwrap();
    let mut matcher = constraint.matcher();
    let ids = |matcher: &Matcher| filled(matcher).tokens().map(TokenId::get).collect::<Vec<_>>();
    for (token, allowed) in
        [(0u32, vec![0]), (4, vec![4]), (1, vec![1]), (2, vec![2]), (3, vec![3])]
    {
        assert_eq!(ids(&matcher), allowed);
        matcher.advance(token).unwrap();
    }
    assert!(matcher.is_accepting());
    let mut matcher = constraint.matcher();
    matcher.set_budget(4).unwrap();
    assert_eq!(ids(&matcher), [0]);

    // Of `true` two bytes come from elsewhere: the tokenizer cuts the others alone.
    let vocabulary = Vocabulary::builtin("gpt2").unwrap();
    let grammar = Grammar::from_lark("start: \"true\" | /\u{e9}+/").unwrap();
    let constraint =
        Constraint::new(&grammar, &vocabulary).unwrap().with_canonical_tokens().unwrap();
    let mut matcher = constraint.matcher();
    matcher.advance_bytes(b"tr").unwrap();
    let own = Tokenizer::builtin("gpt2").unwrap().encode(&vocabulary, "ue").unwrap();
    assert_eq!(filled(&matcher).tokens().collect::<Vec<_>>(), own);
    // No text begins within a character.
    let refused = constraint.matcher().advance_bytes(b"\xc3").unwrap_err();
    assert_eq!(refused.kind(), AdvanceErrorKind::Canonical);
}

/// A model's vocabulary with its own tokenizer.
struct Real {
    name: &'static str,
    vocabulary: Vocabulary,
    tokenizer: Tokenizer,
}

impl Real {
    fn encode(&self, text: &[u8]) -> Option<Vec<u32>> {
        let tokens = self.tokenizer.encode(&self.vocabulary, std::str::from_utf8(text).ok()?)?;
        Some(tokens.into_iter().map(TokenId::get).collect())
    }

    /// Returns a text without the blanks that Hugging Face's file has lost from the model.
    fn known(&self, text: String) -> String {
        if self.name.contains("SentencePiece") { text.replace('\u{a0}', "") } else { text }
    }
}

/// Returns the merges of a file of GPT-2's form.
fn gpt2_merges(file: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let letters: BTreeMap<char, u8> = letters_of_bytes().into_iter().zip(0..=255u8).collect();
    let bytes = |part: &str| part.chars().map(|character| letters[&character]).collect();
    let text = String::from_utf8(file.to_vec()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("#version"));
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(left, right)| (bytes(left), bytes(right)))
        .collect()
}

/// Returns the vocabularies that are there.
fn reals() -> Vec<Real> {
    let builtin = |name| Real {
        name,
        vocabulary: Vocabulary::builtin(name).unwrap(),
        tokenizer: Tokenizer::builtin(name).unwrap(),
    };
    let mut all = vec![builtin("gpt2"), builtin("cl100k"), builtin("o200k")];
    let files: [(&'static str, &str, &str); 4] = [
        ("llama2", "llama2/tokenizer.json.gz", "llama2/tokenizer.json.gz"),
        ("llama2 (SentencePiece)", "llama2/tokenizer.model", "llama2/tokenizer.json.gz"),
        ("llama3", "llama3/tokenizer.json.gz", "llama3/tokenizer.json.gz"),
        ("phi2", "phi2/tokenizer.json.gz", "phi2/tokenizer.json.gz"),
    ];
    for (name, vocabulary, tokenizer) in files {
        let file = |path: &str| corpus::file(&format!("tokenizers/{path}"));
        if let (Some(vocabulary), Some(tokenizer)) = (file(vocabulary), file(tokenizer)) {
            let vocabulary = Vocabulary::from_file_bytes(&vocabulary).unwrap();
            let tokenizer = Tokenizer::from_file_bytes(&tokenizer).unwrap();
            all.push(Real { name, vocabulary, tokenizer });
        }
    }
    if let Some(merges) = corpus::file("tokenizers/gpt2/merges.txt.gz") {
        let Real { vocabulary, tokenizer, .. } = builtin("gpt2");
        let vocabulary = vocabulary.with_merges(gpt2_merges(&merges)).unwrap();
        let vocabulary = vocabulary.with_split_pattern(Vocabulary::GPT2_PATTERN);
        all.push(Real { name: "gpt2 (merges)", vocabulary, tokenizer });
    }
    let only = std::env::var("LRMASK_VOCABULARY").ok();
    all.retain(|real| only.as_ref().is_none_or(|only| real.name.starts_with(only.as_str())));
    all
}

/// Text that people wrote: of this project, and what is there beside it.
fn written() -> String {
    let mut all = [
        include_str!("../README.md"),
        include_str!("../docs/json-schema.md"),
        include_str!("../grammars/sqlite/sqlite.lark"),
        include_str!("../grammars/python/python.lark"),
        include_str!("canonical.rs"),
    ]
    .concat();
    for (archive, most) in [("json/maskbench-sample.tar.gz", 150), ("python/snippets.tar.gz", 100)]
    {
        let exists = corpus::directory().is_some_and(|directory| directory.join(archive).exists());
        let files = if exists { corpus::archive(archive).unwrap_or_default() } else { Vec::new() };
        for (_, file) in files.into_iter().take(most) {
            all.push_str(&String::from_utf8_lossy(&file));
        }
    }
    all
}

/// Strings that change where tokenizers cut.
const ODD: [&str; 24] = [
    "  ",
    "   ",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    " \n ",
    "'s",
    "'LL",
    "it's",
    "1",
    "12345",
    "\u{e9}",
    "\u{4e2d}\u{6587}",
    "\u{1f600}",
    "\u{a0}",
    "\u{3000}",
    "\u{c9}COLE",
    "\u{301}",
    "$$$",
    "...",
    "//",
    "\u{661}",
    "x\u{200d}",
];

/// Returns a random text.
fn random_text(written: &str, random: &mut Rng, most: usize) -> String {
    let length = random.usize(1..most);
    let mut start = random.usize(..written.len() - length);
    while !written.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = start + length;
    while !written.is_char_boundary(end) {
        end -= 1;
    }
    let mut text = written[start..end].to_owned();
    for _ in 0..random.usize(..3) {
        let mut at = random.usize(..=text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, ODD[random.usize(..ODD.len())]);
    }
    text
}

#[test]
fn the_tokenizers_own_cut_is_never_refused() {
    let (written, count) = (written(), cases(100));
    for real in reals() {
        let constraint = any_text(&real.vocabulary);
        let mut all = 0;
        for seed in 0..count as u64 {
            let text = real.known(random_text(&written, &mut Rng::with_seed(seed), 300));
            let Some(tokens) = real.encode(text.as_bytes()) else { continue };
            let mut matcher = constraint.matcher();
            for (place, &token) in tokens.iter().enumerate() {
                if let Err(error) = matcher.advance(token) {
                    panic!("{}: {text:?}: token {place} of {tokens:?}: {error}", real.name);
                }
            }
            assert!(matcher.is_accepting(), "{}: {text:?}", real.name);
            all += tokens.len();
        }
        println!("{}: {count} texts, {all} tokens", real.name);
    }
}

/// Whether some text begins with these tokens, as far as a few continuations tell.
fn is_beginning(real: &Real, tokens: &[u32]) -> bool {
    let text = text_of(&real.vocabulary, tokens);
    let tails: Vec<Vec<u8>> = match std::str::from_utf8(&text) {
        Ok(_) => vec![Vec::new()],
        Err(error) if error.error_len().is_some() => return false,
        Err(error) => {
            let (start, begun) = (error.valid_up_to(), text.len() - error.valid_up_to());
            let length = match text[start] {
                0xc0..0xe0 => 2,
                0xe0..0xf0 => 3,
                _ => 4,
            };
            let mut tails = vec![Vec::new()];
            for _ in begun..length {
                let longer = |tail: &Vec<u8>| {
                    (0x80..0xc0u8).map({
                        let tail = tail.clone();
                        move |byte| [&tail[..], &[byte]].concat()
                    })
                };
                tails = tails.iter().flat_map(longer).collect();
            }
            tails
        }
    };
    let longer = ["", " a", "  a", "ing", "00", "\u{e9}", "\u{4e2d}"].map(str::to_owned);
    let more: Vec<String> = (0..0x80u8).map(|byte| char::from(byte).into()).chain(longer).collect();
    tails.iter().any(|tail| {
        more.iter().any(|more| {
            let whole = [&text[..], tail, more.as_bytes()].concat();
            real.encode(&whole).is_some_and(|own| own.starts_with(tokens))
        })
    })
}

#[test]
fn the_tokenizers_own_cut_of_json_is_hardly_ever_refused() {
    let (written, count) = (written(), cases(30));
    let json = std::fs::read_to_string("grammars/json/json.lark").unwrap();
    let grammar = Grammar::from_lark(&json).unwrap();
    let mut worst = 0.0f64;
    for real in reals() {
        let constraint = Constraint::new(&grammar, &real.vocabulary).unwrap();
        let constraint = constraint.with_canonical_tokens().unwrap();
        let (mut all, mut refused) = (0, 0);
        for seed in 0..count as u64 {
            let mut random = Rng::with_seed(seed);
            let mut string = || real.known(random_text(&written, &mut random, 60));
            let value = json!({ "key": string(), "list": [1, -2.5e9, null, string(), [true]], "object": {} });
            let text = match seed % 2 {
                0 => value.to_string(),
                _ => serde_json::to_string_pretty(&value).unwrap(),
            };
            let Some(tokens) = real.encode(text.as_bytes()) else { continue };
            let mut matcher = constraint.matcher();
            let taken = tokens.iter().take_while(|&&token| matcher.advance(token).is_ok()).count();
            all += taken;
            refused += usize::from(taken < tokens.len());
        }
        println!("{}: {count} texts, {all} tokens, {refused} refused", real.name);
        worst = worst.max(refused as f64 / all as f64);
    }
    assert!(worst < 0.002, "{worst} of the tokens are refused");
}

#[test]
fn another_cut_is_refused_at_the_first_token_that_shows_it() {
    let (written, count) = (written(), cases(60));
    for real in reals() {
        let constraint = any_text(&real.vocabulary);
        let (mut others, mut open) = (0, 0);
        for seed in 0..count as u64 {
            let text = real.known(random_text(&written, &mut Rng::with_seed(seed), 24));
            let (Some(own), Some(cut)) = (
                real.encode(text.as_bytes()),
                corpus::cut_random(&real.vocabulary, text.as_bytes(), seed),
            ) else {
                continue;
            };
            let cut: Vec<u32> = cut.into_iter().map(TokenId::get).collect();
            if cut == own {
                continue;
            }
            others += 1;
            let mut matcher = constraint.matcher();
            let taken = cut.iter().take_while(|&&token| matcher.advance(token).is_ok()).count();
            let about =
                format!("{}: {text:?}: {taken} of {cut:?} are taken, own {own:?}", real.name);
            assert!(taken < cut.len() || !matcher.is_accepting(), "{about}");
            assert!(is_beginning(&real, &cut[..taken]), "{about}: not the first");
            match cut.get(..=taken) {
                Some(refused) => assert!(!is_beginning(&real, refused), "{about}: too early"),
                None => open += 1,
            }
        }
        println!("{}: {others} cuts refused, {open} of them at the end", real.name);
    }
}

#[test]
fn texts_that_follow_the_masks_are_cut_into_their_tokens() {
    let count = cases(30);
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    let grammars = [
        ("json", Grammar::from_lark(&read("grammars/json/json.lark")).unwrap()),
        ("sqlite", Grammar::from_lark(&read("grammars/sqlite/sqlite.lark")).unwrap()),
        (
            "words",
            Grammar::from_lark(
                "start: (\"true\" | \"falsehood\" | /[a-z]{3}[0-9]{5}/ | \"  \\n  }\")+",
            )
            .unwrap(),
        ),
    ];
    for real in reals() {
        for (grammar, made) in &grammars {
            let plain = Constraint::new(made, &real.vocabulary).unwrap();
            let canonical = plain.with_canonical_tokens().unwrap();
            let (mut tokens, mut masks, mut refused) = (0, 0, 0);
            for seed in 0..count.div_ceil(grammars.len()) as u64 {
                let mut random = Rng::with_seed(seed);
                let mut matcher = canonical.matcher();
                let mut free = plain.matcher();
                let about = |ids: &[u32]| {
                    let text = text_of(&real.vocabulary, ids).escape_ascii().to_string();
                    format!("{} {grammar}, seed {seed}: {ids:?} {text}", real.name)
                };
                let budget = random.usize(1..40);
                let is_bounded = match matcher.set_budget(budget) {
                    Err(BudgetError::TooSmall { least }) => matcher.set_budget(least).is_ok(),
                    other => other.is_ok(),
                };
                assert!(is_bounded, "{}", about(&[]));
                let mut ids = Vec::new();
                let draw = |mask: &TokenMask, random: &mut Rng| {
                    random.choice(mask.tokens().collect::<Vec<_>>())
                };
                while !(matcher.is_accepting()
                    && (matcher.budget() == Some(0) || random.u8(..8) == 0))
                {
                    let mask = filled(&free);
                    // Mostly guesses, which cost less than masks.
                    let guesses = if seed % 16 == 0 { 3 } else { 40 };
                    let guess =
                        (0..guesses).filter_map(|_| draw(&mask, &mut random)).find(|&token| {
                            refused += 1;
                            real.vocabulary.bytes(token).is_some() && matcher.allows(token)
                        });
                    let next = guess.or_else(|| {
                        masks += 1;
                        let mask = filled(&matcher);
                        let is_text = |token: &TokenId| real.vocabulary.bytes(*token).is_some();
                        let texts: Vec<TokenId> = mask.tokens().filter(is_text).collect();
                        random.choice(texts)
                    });
                    let Some(next) = next else {
                        assert!(matcher.is_accepting(), "dead end: {}", about(&ids));
                        break;
                    };
                    matcher
                        .advance(next)
                        .unwrap_or_else(|error| panic!("{error}: {}", about(&ids)));
                    free.advance(next).unwrap();
                    ids.push(next.get());
                }
                let text = text_of(&real.vocabulary, &ids);
                assert_eq!(real.encode(&text).as_ref(), Some(&ids), "{}", about(&ids));
                tokens += ids.len();
            }
            println!("{} {grammar}: {tokens} tokens, {masks} masks, {refused} guesses", real.name);
        }
    }
}
