//! Byte classes: a partition of the 256 bytes into classes that some automaton cannot tell apart.
//!
//! Classes are numbered by their smallest byte, so equal partitions are equal values.

use std::fmt;
use std::ops::RangeInclusive;

use smallvec::SmallVec;

/// A map from bytes to dense class numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ByteClasses {
    map: [u8; 256],
    /// The smallest byte of each class, ascending.
    representatives: Box<[u8]>,
}

impl ByteClasses {
    /// One class that holds every byte.
    pub(crate) fn one() -> Self {
        Self { map: [0; 256], representatives: [0].into() }
    }

    /// Bytes are in one class exactly when `key` gives them one number. Costs as much memory as the
    /// greatest number.
    pub(crate) fn by_key(mut key: impl FnMut(u8) -> usize) -> Self {
        let mut map = [0; 256];
        let (mut representatives, mut count) = ([0; 256], 0);
        // By number, the class plus 1; 0 where there is none yet. Numbers are small.
        let mut known: SmallVec<[u16; 256]> = SmallVec::from_buf([0; 256]);
        for byte in 0..=255u8 {
            let key = key(byte);
            if known.len() <= key {
                known.resize(key + 1, 0);
            }
            if known[key] == 0 {
                representatives[count] = byte;
                count += 1;
                known[key] = count as u16;
            }
            map[usize::from(byte)] = (known[key] - 1) as u8;
        }
        Self { map, representatives: representatives[..count].into() }
    }

    /// The classes in groups: for each class its group, for each group its first class. Groups are
    /// in the order of these.
    pub(crate) fn merged(&self, group: &[u8], leaders: &[usize]) -> Self {
        let map = self.map.map(|class| group[usize::from(class)]);
        let representatives = leaders.iter().map(|&leader| self.representatives[leader]);
        Self { map, representatives: representatives.collect() }
    }

    /// Runs of bytes, each a class; `begins` says, a bit for each byte, where one begins beside the
    /// first.
    pub(crate) fn of_runs(begins: &[u64; 4]) -> Self {
        let mut map = [0; 256];
        let (mut representatives, mut count) = ([0; 256], 1);
        for (word, &begins) in (0..).zip(begins) {
            let mut left = if word == 0 { begins & !1 } else { begins };
            while left != 0 {
                let byte = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                map[usize::from(representatives[count - 1])..byte].fill((count - 1) as u8);
                representatives[count] = byte as u8;
                count += 1;
            }
        }
        map[usize::from(representatives[count - 1])..].fill((count - 1) as u8);
        Self { map, representatives: representatives[..count].into() }
    }

    /// The class of `byte`.
    #[inline]
    pub(crate) fn get(&self, byte: u8) -> u8 {
        self.map[usize::from(byte)]
    }

    /// How many classes there are, 1 to 256.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.representatives.len()
    }

    /// The smallest byte of each class; the position is the class.
    pub(crate) fn representatives(&self) -> &[u8] {
        &self.representatives
    }

    /// All classes.
    pub(crate) fn all(&self) -> ClassSet {
        let below = |word: usize| match self.count().saturating_sub(word * 64) {
            64.. => u64::MAX,
            some => (1 << some) - 1,
        };
        ClassSet(std::array::from_fn(below))
    }

    /// The classes in each class of `coarse`, a partition that this one refines.
    pub(crate) fn coarsened(&self, coarse: &Self) -> Box<[ClassSet]> {
        let mut parts = vec![ClassSet::default(); coarse.count()];
        for (class, &byte) in (0..=u8::MAX).zip(&*self.representatives) {
            parts[usize::from(coarse.get(byte))].insert(class);
        }
        parts.into()
    }

    /// The bytes of `class`, ascending.
    pub(crate) fn bytes(&self, class: u8) -> impl Iterator<Item = u8> + '_ {
        (0..=255u8).filter(move |&byte| self.get(byte) == class)
    }

    /// The bytes of `class` as maximal ranges, ascending.
    pub(crate) fn ranges(&self, class: u8) -> Vec<RangeInclusive<u8>> {
        let mut ranges: Vec<RangeInclusive<u8>> = Vec::new();
        for byte in self.bytes(class) {
            match ranges.last_mut() {
                Some(last) if u16::from(*last.end()) + 1 == u16::from(byte) => {
                    *last = *last.start()..=byte;
                }
                _ => ranges.push(byte..=byte),
            }
        }
        ranges
    }

    /// Runs of bytes of one class, ascending: first byte, last byte, class.
    pub(crate) fn runs(&self) -> Vec<(u8, u8, u8)> {
        let mut runs: Vec<(u8, u8, u8)> = Vec::new();
        for byte in 0..=255u8 {
            let own = self.get(byte);
            match runs.last_mut() {
                Some((_, last, class)) if *class == own => *last = byte,
                _ => runs.push((byte, byte, own)),
            }
        }
        runs
    }

    /// The coarsest partition that refines both.
    pub(crate) fn merge(&self, other: &Self) -> Self {
        let mut ids = vec![u16::MAX; self.count() * other.count()];
        let mut map = [0; 256];
        let (mut representatives, mut count) = ([0; 256], 0);
        for byte in 0..=255u8 {
            let pair = usize::from(self.get(byte)) * other.count() + usize::from(other.get(byte));
            if ids[pair] == u16::MAX {
                ids[pair] = count as u16;
                representatives[count] = byte;
                count += 1;
            }
            map[usize::from(byte)] = ids[pair] as u8;
        }
        Self { map, representatives: representatives[..count].into() }
    }

    /// The coarsest partition that refines all of `parts`. Costs 256 steps for each.
    pub(crate) fn refinement<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        parts.into_iter().fold(Self::one(), |all, part| match all.refines(part) {
            true => all,
            false => all.merge(part),
        })
    }

    /// Whether `other` tells no bytes apart that this does not.
    fn refines(&self, other: &Self) -> bool {
        let mut of = [0; 256];
        for (class, &byte) in self.representatives.iter().enumerate() {
            of[class] = other.get(byte);
        }
        self.map.iter().zip(&other.map).all(|(&class, &other)| of[usize::from(class)] == other)
    }
}

/// A set of classes of one partition: of which there are 256 at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassSet([u64; 4]);

impl ClassSet {
    /// `class` alone.
    pub(crate) fn one(class: u8) -> Self {
        let mut one = Self::default();
        one.insert(class);
        one
    }

    /// Adds `class`.
    #[inline]
    pub(crate) fn insert(&mut self, class: u8) {
        self.0[usize::from(class / 64)] |= 1 << (class % 64);
    }

    /// Whether `class` is in the set.
    #[inline]
    pub(crate) fn contains(&self, class: u8) -> bool {
        self.0[usize::from(class / 64)] >> (class % 64) & 1 == 1
    }

    /// What is in either set.
    #[inline]
    pub(crate) fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// What is in both sets.
    #[inline]
    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// What is in this set and not in the other.
    #[inline]
    pub(crate) fn difference(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// Whether nothing is in the set.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Whether the two sets share a class.
    #[inline]
    pub(crate) fn intersects(self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// The classes in the set, ascending.
    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        let Self([mut bits, rest @ ..]) = self;
        let (mut rest, mut base) = (rest.into_iter(), 0u8);
        std::iter::from_fn(move || {
            while bits == 0 {
                bits = rest.next()?;
                base += 64;
            }
            let class = base + bits.trailing_zeros() as u8;
            bits &= bits - 1;
            Some(class)
        })
    }
}

impl fmt::Debug for ByteClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ByteClasses({self})")
    }
}

impl fmt::Display for ByteClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for class in 0..self.count() {
            if class > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{class}:[")?;
            for range in self.ranges(class as u8) {
                fmt_range(f, &range)?;
            }
            f.write_str("]")?;
        }
        Ok(())
    }
}

/// Writes a range of bytes as it would stand in a character class.
pub(crate) fn fmt_range(f: &mut impl fmt::Write, range: &RangeInclusive<u8>) -> fmt::Result {
    fmt_byte(f, *range.start())?;
    if range.start() != range.end() {
        if *range.end() - *range.start() > 1 {
            f.write_char('-')?;
        }
        fmt_byte(f, *range.end())?;
    }
    Ok(())
}

fn fmt_byte(f: &mut impl fmt::Write, byte: u8) -> fmt::Result {
    match byte {
        b'\n' => f.write_str("\\n"),
        b'\r' => f.write_str("\\r"),
        b'\t' => f.write_str("\\t"),
        b'\\' | b'[' | b']' | b'-' | b'^' => write!(f, "\\{}", char::from(byte)),
        b' '..=b'~' => f.write_char(char::from(byte)),
        _ => write!(f, "\\x{byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refinement_separates_what_any_part_separates() {
        let digits = ByteClasses::by_key(|b| usize::from(b.is_ascii_digit()));
        let even = ByteClasses::by_key(|b| usize::from(b % 2));
        let both = ByteClasses::refinement([&digits, &even]);
        assert_eq!(both.count(), 4);
        for a in 0..=255u8 {
            for b in 0..=255u8 {
                let together = digits.get(a) == digits.get(b) && even.get(a) == even.get(b);
                assert_eq!(both.get(a) == both.get(b), together);
            }
        }
        assert_eq!(ByteClasses::refinement([]), ByteClasses::one());
    }

    #[test]
    fn sets_hold_the_classes_that_make_up_coarser_ones() {
        let coarse = ByteClasses::by_key(|b| usize::from(b > 100));
        let fine = coarse.merge(&ByteClasses::by_key(|b| usize::from(b / 2)));
        let parts = fine.coarsened(&coarse);
        assert_eq!(parts.len(), 2);
        assert!(!parts[0].intersects(parts[1]));
        assert_eq!(parts[0].union(parts[1]), fine.all());
        assert_eq!(fine.all().iter().count(), fine.count());
        for class in parts[1].iter() {
            assert!(fine.representatives()[usize::from(class)] > 100);
        }
        assert!(parts[0].difference(parts[0]).is_empty());
    }

    #[test]
    fn every_byte_may_be_alone() {
        let all = ByteClasses::by_key(usize::from);
        assert_eq!(all.count(), 256);
        assert_eq!(all.representatives().len(), 256);
        assert!((0..=255u8).all(|b| all.get(b) == b));
    }

    #[test]
    fn classes_print_as_ranges() {
        let digits = ByteClasses::by_key(|b| usize::from(b.is_ascii_digit()));
        assert_eq!(digits.to_string(), "0:[\\x00-/:-\\xFF] 1:[0-9]");
    }
}
