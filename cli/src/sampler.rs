//! Draws tokens from masks so that texts are varied. A uniform distribution over a vocabulary would
//! produce hardly anything but long words. So a token is drawn by its length first, then by the
//! kind of its first character, and only then uniformly.

use lrmask::{TokenId, TokenMask, Vocabulary};

use fastrand::Rng;

/// Number of length classes: one byte; a few printable ones; all others.
const LENGTHS: usize = 3;

/// How often each length class is the first choice, in percent.
const LENGTH_WEIGHTS: [usize; LENGTHS] = [45, 35, 20];

/// The same for the first tokens of a text: together with [`FIRST_KIND_WEIGHTS`], few texts are
/// then a single word.
const FIRST_LENGTH_WEIGHTS: [usize; LENGTHS] = [80, 14, 6];

/// Maximum length of tokens in the second class.
const SHORT: usize = 4;

/// The kind of a token's first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Sign,
    Space,
    Other,
}

const KINDS: usize = 5;

/// How often each kind is the first choice, in percent; signs carry the structure.
const KIND_WEIGHTS: [usize; KINDS] = [34, 12, 40, 6, 8];

/// The same for the first tokens of a text.
const FIRST_KIND_WEIGHTS: [usize; KINDS] = [10, 8, 74, 4, 4];

/// Number of tokens that count as the first ones.
const FIRST: usize = 3;

impl Kind {
    fn of(bytes: &[u8]) -> Self {
        match bytes.first() {
            Some(_) if bytes.iter().any(|byte| !matches!(byte, b' '..=b'~' | b'\n' | b'\t')) => {
                Self::Other
            }
            // Ruler lines and rows of zeros.
            Some(first) if bytes.len() > 2 && bytes.iter().all(|byte| byte == first) => Self::Other,
            Some(byte) if byte.is_ascii_alphabetic() => Self::Letter,
            Some(byte) if byte.is_ascii_digit() => Self::Digit,
            Some(byte) if byte.is_ascii_whitespace() => Self::Space,
            Some(_) => Self::Sign,
            None => Self::Other,
        }
    }
}

/// The tokens of a vocabulary by length and kind.
#[derive(Debug)]
pub(crate) struct Sampler {
    /// By length and kind: one bit for each token, as in masks; shorter than a mask where the last
    /// words are empty.
    classes: [[Vec<u32>; KINDS]; LENGTHS],
}

impl Sampler {
    /// Sorts the tokens of `vocabulary`, except stop tokens, into classes.
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let mut classes: [[Vec<u32>; KINDS]; LENGTHS] = Default::default();
        for id in 0..vocabulary.width() as u32 {
            let bytes = vocabulary.bytes(id).unwrap_or_default();
            if vocabulary.stop_tokens().contains(&TokenId::from(id)) {
                continue;
            }
            let kind = Kind::of(bytes);
            let length = match bytes.len() {
                1 => 0,
                2..=SHORT if kind != Kind::Other => 1,
                _ => 2,
            };
            let class = &mut classes[length][kind as usize];
            let word = id as usize / 32;
            if class.len() <= word {
                class.resize(word + 1, 0);
            }
            class[word] |= 1 << (id % 32);
        }
        Self { classes }
    }

    /// Draws one of the tokens of `mask` that are no stop tokens, to follow `before` others.
    /// Returns `None` if there are none.
    pub(crate) fn draw(
        &self,
        mask: &TokenMask,
        before: usize,
        random: &mut Rng,
    ) -> Option<TokenId> {
        let (lengths, kinds) = match before < FIRST {
            true => (FIRST_LENGTH_WEIGHTS, FIRST_KIND_WEIGHTS),
            false => (LENGTH_WEIGHTS, KIND_WEIGHTS),
        };
        Shuffle::new(lengths).find_map(random, |length, random| {
            Shuffle::new(kinds)
                .find_map(random, |kind, random| draw(mask, &self.classes[length][kind], random))
        })
    }

    /// Returns the tokens of a single sign that `mask` allows.
    pub(crate) fn signs<'a>(&'a self, mask: &'a TokenMask) -> impl Iterator<Item = TokenId> + 'a {
        let signs = &self.classes[0][Kind::Sign as usize];
        mask.tokens()
            .take_while(|token| token.index() < signs.len() * 32)
            .filter(|&token| contains(signs, token))
    }

    /// Returns whether `mask` allows an ordinary token that is not only white space.
    pub(crate) fn has_more_than_space(&self, mask: &TokenMask) -> bool {
        let kinds = [Kind::Letter, Kind::Digit, Kind::Sign, Kind::Other];
        self.classes
            .iter()
            .any(|class| kinds.iter().any(|&kind| meets(mask, &class[kind as usize])))
    }
}

fn contains(class: &[u32], token: TokenId) -> bool {
    class.get(token.index() / 32).is_some_and(|word| word >> (token.index() % 32) & 1 == 1)
}

fn meets(mask: &TokenMask, class: &[u32]) -> bool {
    mask.words().iter().zip(class).any(|(a, b)| a & b != 0)
}

/// Draws one of the tokens in both, uniformly.
fn draw(mask: &TokenMask, class: &[u32], random: &mut Rng) -> Option<TokenId> {
    let both = || mask.words().iter().zip(class).map(|(a, b)| a & b);
    let count: usize = both().map(|word| word.count_ones() as usize).sum();
    if count == 0 {
        return None;
    }
    let mut rank = random.usize(..count);
    for (index, mut word) in both().enumerate() {
        let ones = word.count_ones() as usize;
        if rank >= ones {
            rank -= ones;
            continue;
        }
        for _ in 0..rank {
            word &= word - 1;
        }
        return Some(TokenId::from(index as u32 * 32 + word.trailing_zeros()));
    }
    None
}

/// Visits choices in a random order, drawn by their weights.
struct Shuffle<const N: usize>([usize; N]);

impl<const N: usize> Shuffle<N> {
    fn new(weights: [usize; N]) -> Self {
        Self(weights)
    }

    fn find_map<T>(
        mut self,
        random: &mut Rng,
        mut found: impl FnMut(usize, &mut Rng) -> Option<T>,
    ) -> Option<T> {
        for _ in 0..N {
            let sum: usize = self.0.iter().sum();
            let mut at = random.usize(..sum.max(1));
            let choice = self.0.iter().position(|&weight| {
                let here = at < weight;
                at = at.saturating_sub(weight);
                here
            })?;
            self.0[choice] = 0;
            if let Some(value) = found(choice, random) {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_comes_up_once() {
        let mut random = Rng::with_seed(1);
        for _ in 0..100 {
            let mut seen = Vec::new();
            let none: Option<()> = Shuffle::new([1, 50, 3]).find_map(&mut random, |choice, _| {
                seen.push(choice);
                None
            });
            assert_eq!(none, None);
            seen.sort_unstable();
            assert_eq!(seen, [0, 1, 2]);
        }
    }

    #[test]
    fn kinds_go_by_the_first_character_if_all_are_printable() {
        let kinds = [&b"a1"[..], b"1a", b"{\"", b" a", b"\xc3", b"a\x00"].map(Kind::of);
        assert_eq!(
            kinds,
            [Kind::Letter, Kind::Digit, Kind::Sign, Kind::Space, Kind::Other, Kind::Other]
        );
    }
}
