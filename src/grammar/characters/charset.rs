//! Sets of characters.

use std::fmt;

/// The code points that are not characters.
const SURROGATES: (u32, u32) = (0xd800, 0xdfff);

/// A set of characters: ascending, non-adjacent ranges of code points, both ends included, without
/// surrogates.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CharSet(Vec<(u32, u32)>);

impl CharSet {
    /// Creates the set of the characters in any of `ranges`.
    pub(crate) fn new(ranges: &[(u32, u32)]) -> Self {
        let mut sorted = ranges.to_vec();
        sorted.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(sorted.len());
        for (first, last) in sorted {
            match merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        Self(merged.iter().flat_map(|&range| without(range, SURROGATES)).flatten().collect())
    }

    /// Creates the set of this character.
    pub(crate) fn of(character: char) -> Self {
        Self(vec![(character.into(), character.into())])
    }

    /// Returns the set of all other characters.
    pub(crate) fn complement(&self) -> Self {
        let mut ranges = Vec::with_capacity(self.0.len() + 1);
        let mut next = 0;
        for &(first, last) in &self.0 {
            if next < first {
                ranges.push((next, first - 1));
            }
            next = last + 1;
        }
        if next <= u32::from(char::MAX) {
            ranges.push((next, char::MAX.into()));
        }
        Self::new(&ranges)
    }

    /// Returns the characters in both.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let mut both = Vec::new();
        let (mut one, mut two) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(&&a), Some(&&b)) = (one.peek(), two.peek()) {
            let (first, last) = (a.0.max(b.0), a.1.min(b.1));
            if first <= last {
                both.push((first, last));
            }
            if a.1 < b.1 {
                one.next()
            } else {
                two.next()
            };
        }
        Self(both)
    }

    /// Returns the ranges.
    pub(crate) fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    /// Returns the character of a singleton.
    pub(crate) fn single(&self) -> Option<char> {
        match self.0[..] {
            [(first, last)] if first == last => char::from_u32(first),
            _ => None,
        }
    }

    /// Returns the ranges as characters.
    pub(crate) fn chars(&self) -> impl Iterator<Item = (char, char)> + '_ {
        self.0
            .iter()
            .filter_map(|&(first, last)| Some((char::from_u32(first)?, char::from_u32(last)?)))
    }
}

/// Returns the parts of `range` before and after `hole`.
fn without(range: (u32, u32), hole: (u32, u32)) -> [Option<(u32, u32)>; 2] {
    let (first, last) = range;
    if last < hole.0 || first > hole.1 {
        return [Some(range), None];
    }
    [(first < hole.0).then(|| (first, hole.0 - 1)), (last > hole.1).then(|| (hole.1 + 1, last))]
}

/// Formats the set as a class of the notation.
impl fmt::Display for CharSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // If the set has the first and the last character, its complement is shorter.
        let greatest = u32::from(char::MAX);
        if matches!(self.0[..], [(0, _), .., (_, last)] if last == greatest) {
            let others = self.complement();
            if others.0.is_empty() {
                return f.write_str(".");
            }
            let others = others.to_string();
            return write!(f, "[^{}", &others[1..]);
        }
        f.write_str("[")?;
        let one = |f: &mut fmt::Formatter<'_>, character: char| match character {
            '[' | ']' | '^' | '-' => write!(f, "\\{character}"),
            _ => write!(f, "{}", character.escape_debug()),
        };
        for (first, last) in self.chars() {
            one(f, first)?;
            if first != last {
                f.write_str("-")?;
                one(f, last)?;
            }
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_made_of_ranges_and_complements() {
        let set = CharSet::new(&[(0x61, 0x63), (0x64, 0x66), (0x30, 0x30)]);
        assert_eq!(set.ranges(), [(0x30, 0x30), (0x61, 0x66)]);
        assert_eq!(set.complement().complement(), set);
        assert_eq!(CharSet::new(&[(0, 0x10_ffff)]).ranges(), [(0, 0xd7ff), (0xe000, 0x10_ffff)]);
        assert_eq!(CharSet::default().complement(), CharSet::new(&[(0, 0x10_ffff)]));
        assert_eq!(CharSet::new(&[(0xd800, 0xdfff)]), CharSet::default());
        let vowels = CharSet::new(&[(0x61, 0x61), (0x65, 0x65), (0x69, 0x69)]);
        assert_eq!(set.intersection(&vowels).ranges(), [(0x61, 0x61), (0x65, 0x65)]);
        assert_eq!(set.intersection(&set.complement()), CharSet::default());
        assert_eq!(CharSet::of('x').single(), Some('x'));
        assert_eq!(set.to_string(), "[0a-f]");
    }
}
