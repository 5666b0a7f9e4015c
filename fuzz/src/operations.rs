//! Operations on a matcher, each step judged by the oracle and by what the steps before have shown.

use arbitrary::Unstructured;
use libfuzzer_sys::Corpus;
use lrmask::{Constraint, Grammar, Limits, Matcher, TokenId, TokenMask, Vocabulary};

use crate::oracle::spec::{LexerKind, Spec};
use crate::oracle::viability::Oracle;
use crate::small::{ALPHABET, Small};

/// With so many soft words a text has fewer readings than the engine carries (64): each doubles
/// them at most, and while a longest match is open there is one more of each.
const SOFT_WORDS: usize = 5;

/// How many operations are done.
const OPERATIONS: usize = 10;

/// The matcher beside what it must be.
struct Walk {
    matcher: Matcher,
    /// The text and mask after each step.
    past: Vec<(Vec<u8>, TokenMask)>,
}

/// Runs the operations that the rest of the input describes.
pub fn run(small: &Small, input: &mut Unstructured<'_>) -> Corpus {
    let Ok(grammar) = Grammar::from_lark(&small.lark) else { return Corpus::Keep };
    let limits =
        Limits::default().index_bytes(if input.ratio(1, 4).unwrap_or(false) { 1 } else { 1 << 20 });
    let Ok(compiled) = Constraint::builder().limits(&limits).compile(&grammar) else {
        return Corpus::Keep;
    };
    let mut spec = Spec::read(&small.oracle);
    spec.lexer = if small.basic { LexerKind::Basic } else { LexerKind::Contextual };
    let oracle = Oracle::new(spec, ALPHABET);

    // After the tokens a hole, a special token, and the stop token.
    let mut tokens = small.tokens.clone();
    let stop = tokens.len() as u32 + 2;
    tokens.extend([Vec::new(), Vec::new(), Vec::new()]);
    let vocabulary = Vocabulary::from_tokens(tokens)
        .and_then(|vocabulary| vocabulary.with_special(stop - 1, "<special>"))
        .and_then(|vocabulary| vocabulary.with_special(stop, "</s>"))
        .and_then(|vocabulary| vocabulary.with_stop_tokens([stop]))
        .and_then(|vocabulary| vocabulary.with_width(stop as usize + 10))
        .expect("a small vocabulary");
    let constraint = compiled.constraint(&vocabulary).expect("its tokens are known");

    let mut walk = Walk { matcher: constraint.matcher(), past: Vec::new() };
    let judge = Judge { small, oracle: &oracle, vocabulary: &vocabulary };
    walk.past.push((Vec::new(), judge.mask(&walk.matcher, b"")));
    for _ in 0..OPERATIONS {
        let Ok(operation) = input.int_in_range(0..=9) else { break };
        match operation {
            0..=5 => {
                let (text, mask) = walk.past.last().cloned().expect("there is a present");
                let allowed: Vec<TokenId> =
                    mask.tokens().filter(|token| token.get() != stop).collect();
                let Ok(&token) = input.choose(&allowed) else { break };
                walk.matcher.advance(token).expect("judged before");
                judge.enter(&mut walk, [&text, judge.bytes(token)].concat());
            }
            6 => {
                let steps = input.int_in_range(0..=4).unwrap_or(0);
                let expected = steps.min(walk.past.len() - 1);
                assert_eq!(walk.matcher.rollback(steps), expected);
                walk.past.truncate(walk.past.len() - expected);
                judge.same(&walk, "rollback");
            }
            7 => {
                walk.matcher = walk.matcher.clone();
                judge.same(&walk, "clone");
            }
            8 => {
                let (text, _) = walk.past.last().cloned().expect("there is a present");
                let length = input.int_in_range(0..=5).unwrap_or(0);
                let bytes: Vec<u8> =
                    (0..length).filter_map(|_| input.choose(ALPHABET).ok().copied()).collect();
                if walk.matcher.advance_bytes(&bytes).is_ok() {
                    judge.enter(&mut walk, [&text, &*bytes].concat());
                } else {
                    let whole = [&text, &*bytes].concat();
                    assert!(
                        judge.may_have_too_many_readings(&whole) || !oracle.is_viable(&whole),
                        "refused bytes {whole:?} are viable\n{}",
                        small.lark
                    );
                    judge.same(&walk, "refused bytes");
                }
            }
            _ => {
                let tokens: Vec<TokenId> = (0..4)
                    .filter_map(|_| input.int_in_range(0..=stop).ok())
                    .map(TokenId::from)
                    .collect();
                let mut fork = walk.matcher.clone();
                let taken = tokens.iter().take_while(|&&token| fork.advance(token).is_ok()).count();
                assert_eq!(walk.matcher.validate(&tokens), taken, "validate\n{}", small.lark);
                judge.same(&walk, "validate");
            }
        }
    }
    Corpus::Keep
}

struct Judge<'a> {
    small: &'a Small,
    oracle: &'a Oracle,
    vocabulary: &'a Vocabulary,
}

impl Judge<'_> {
    fn bytes(&self, token: TokenId) -> &[u8] {
        self.vocabulary.bytes(token).unwrap_or_default()
    }

    /// Whether this text may be refused though it is viable.
    fn may_have_too_many_readings(&self, text: &[u8]) -> bool {
        let count = |word: &Vec<u8>| text.windows(word.len()).filter(|part| part == word).count();
        self.small.soft.iter().map(count).sum::<usize>() > SOFT_WORDS
    }

    fn enter(&self, walk: &mut Walk, text: Vec<u8>) {
        let mask = self.mask(&walk.matcher, &text);
        walk.past.push((text, mask));
    }

    /// The mask is what it was when the text was here before.
    fn same(&self, walk: &Walk, after: &str) {
        let (text, expected) = walk.past.last().expect("there is a present");
        let mut mask = TokenMask::default();
        walk.matcher.fill_mask(&mut mask);
        let shown = String::from_utf8_lossy(text);
        assert_eq!(&mask, expected, "the mask of {shown:?} after {after}\n{}", self.small.lark);
    }

    /// The mask, each bit of it judged.
    fn mask(&self, matcher: &Matcher, text: &[u8]) -> TokenMask {
        let lark = &self.small.lark;
        let shown = String::from_utf8_lossy(text);
        let mut mask = TokenMask::default();
        matcher.fill_mask(&mut mask);
        assert_eq!(
            matcher.is_accepting(),
            self.oracle.is_member(text),
            "whether {shown:?} is a sentence\n{lark}"
        );
        for token in (0..mask.width() as u32 + 2).map(TokenId::from) {
            let bit = mask.contains(token);
            assert_eq!(
                bit,
                matcher.allows(token),
                "bit and `allows` of token {token} after {shown:?}\n{lark}"
            );
            let mut fork = matcher.clone();
            assert_eq!(
                bit,
                fork.advance(token).is_ok(),
                "bit and `advance` of {token} after {shown:?}\n{lark}"
            );
            if self.vocabulary.stop_tokens().contains(&token) {
                assert_eq!(bit, matcher.is_accepting(), "the end after {shown:?}\n{lark}");
                continue;
            }
            let Some(bytes) = self.vocabulary.bytes(token) else {
                assert!(!bit, "token {token} without bytes is allowed\n{lark}");
                continue;
            };
            let next = [text, bytes].concat();
            let shown = String::from_utf8_lossy(&next);
            let refusable = self.may_have_too_many_readings(&next);
            if !bit {
                assert!(
                    refusable || !self.oracle.is_viable(&next),
                    "{shown:?} is viable, but refused\n{lark}"
                );
                continue;
            }
            let completion = fork.shortest_completion();
            let completion =
                completion.unwrap_or_else(|| panic!("no completion of {shown:?}\n{lark}"));
            let whole = [&*next, &completion].concat();
            let member = String::from_utf8_lossy(&whole);
            assert!(
                self.oracle.is_member(&whole),
                "{shown:?} is allowed, but {member:?} is no sentence\n{lark}"
            );
            let mut by_bytes = matcher.clone();
            assert!(
                by_bytes.advance_bytes(bytes).is_ok(),
                "token but not bytes of {shown:?}\n{lark}"
            );
            let (mut left, mut right) = (TokenMask::default(), TokenMask::default());
            fork.fill_mask(&mut left);
            by_bytes.fill_mask(&mut right);
            assert_eq!(left, right, "by token and by bytes to {shown:?}\n{lark}");
            assert!(refusable || left.count() > 0, "a dead end at {shown:?}\n{lark}");
        }
        mask
    }
}
