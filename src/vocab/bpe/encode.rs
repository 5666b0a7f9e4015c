//! The tokens of a text that continues a sequence.

use smallvec::SmallVec;

use super::canonical::{Begin, Canonical, CanonicalTokens, WHOLE};
use super::merges::Piece;
use super::splitter::DEAD;
use super::utf8::character_length;

/// A state at a place of the text, and how it was reached.
#[derive(Clone, Copy)]
struct Reached {
    state: u16,
    /// Whether the text was cut at this place.
    is_cut: bool,
    /// The place and index of the state before; `None` at the beginning.
    before: Option<(usize, usize)>,
    /// The added token in between.
    added: Option<u32>,
}

/// The states at one place.
type Place = SmallVec<[Reached; 4]>;

impl CanonicalTokens {
    /// Returns the tokens that the tokenizer makes of `text`, after which the text ends, where it
    /// follows these tokens. `None` if they are not the first that it makes of the whole then. If
    /// the text is joined to the last token, it is still to be tested that this and the first one
    /// may be neighbours.
    pub(crate) fn pieces_after(&self, from: &Canonical, text: &[u8]) -> Option<(Vec<u32>, Begin)> {
        if text.is_empty() {
            return self.may_end(from).then(|| (Vec::new(), Begin::Cut));
        }
        // The character in progress is read again.
        let read = [from.partial.bytes(), text].concat();
        from.guesses.iter().find_map(|guess| {
            let is_begun = from.joins(self, *guess);
            let cuts = self.cuts(&read, guess.state, is_begun)?;
            let mut ends = cuts.iter().map(|&(place, _)| place).chain([read.len()]);
            let (mut tokens, mut begin) = (Vec::new(), Begin::Cut);
            if is_begun {
                let end = ends.next()?;
                let rest = read.get(from.partial.len()..end)?;
                let node = self.walk(guess.node, rest);
                if !self.may_end_whole(node) || guess.node == WHOLE && !rest.is_empty() {
                    return None;
                }
                let first = &read[..end.min(character_length(&read))];
                if !from.partial.is_empty()
                    && self.merges.is_by_character()
                    && self.merges.has_letter(first)
                {
                    return None;
                }
                if !rest.is_empty() {
                    begin = Begin::Joined;
                    self.merge(rest, &mut tokens)?;
                }
            }
            for (&(start, added), end) in cuts.iter().zip(ends.skip(usize::from(!is_begun))) {
                match added {
                    Some(token) => tokens.push(token),
                    None => self.merge_piece(&read[start..end], &mut tokens)?,
                }
            }
            Some((tokens, begin))
        })
    }

    /// Adds the tokens of a piece.
    fn merge_piece(&self, piece: &[u8], tokens: &mut Vec<u32>) -> Option<()> {
        match self.whole(piece) {
            Some(token) => tokens.push(token),
            None => self.merge(piece, tokens)?,
        }
        Some(())
    }

    fn merge(&self, bytes: &[u8], tokens: &mut Vec<u32>) -> Option<()> {
        let mut piece = Piece::default();
        piece.fill(&self.merges, bytes).then_some(())?;
        piece.merge(&self.merges);
        tokens.extend(&piece.symbols);
        Some(())
    }

    /// Returns where pieces begin, with the added token if it is one. At the beginning there is a
    /// piece unless one is in progress.
    fn cuts(&self, text: &[u8], state: u16, is_begun: bool) -> Option<Vec<(usize, Option<u32>)>> {
        let splitter = &self.splitter;
        let mut places: Vec<Place> = vec![Place::new(); text.len() + 1];
        let start = Reached { state, is_cut: !is_begun, before: None, added: None };
        places[0].push(start);
        let mut at = 0;
        while at < text.len() {
            // Cuts at this place.
            let mut index = 0;
            while index < places[at].len() {
                let here = places[at][index];
                for &state in splitter.cuts(here.state) {
                    let cut =
                        Reached { state, is_cut: true, before: Some((at, index)), added: None };
                    places[at].push(cut);
                }
                index += 1;
            }
            let length = character_length(&text[at..]);
            let character = std::str::from_utf8(&text[at..at + length]).ok()?.chars().next()?;
            for index in 0..places[at].len() {
                let here = places[at][index];
                let next = splitter.step(here.state, character);
                if next != DEAD {
                    let before = Some((at, index));
                    places[at + length].push(Reached {
                        state: next,
                        is_cut: false,
                        before,
                        added: None,
                    });
                }
                for (number, &token) in self.added.iter().enumerate() {
                    let own = self.vocabulary_bytes(token);
                    let next = splitter.after_added(here.state, number);
                    if next != DEAD && text[at..].starts_with(own) {
                        let (before, added) = (Some((at, index)), Some(token));
                        places[at + own.len()].push(Reached {
                            state: next,
                            is_cut: true,
                            before,
                            added,
                        });
                    }
                }
            }
            at += length;
        }
        let last = places[text.len()].iter().position(|here| splitter.may_end(here.state))?;
        let (mut cuts, mut at) = (Vec::new(), Some((text.len(), last)));
        while let Some((place, index)) = at {
            let here = places[place][index];
            if let (Some(added), Some((from, _))) = (here.added, here.before) {
                cuts.push((place, None));
                cuts.push((from, Some(added)));
            } else if here.is_cut {
                cuts.push((place, None));
            }
            at = here.before;
        }
        cuts.sort_unstable_by_key(|&(place, added)| (place, added.is_none()));
        cuts.dedup_by_key(|&mut (place, _)| place);
        Some(cuts)
    }
}
