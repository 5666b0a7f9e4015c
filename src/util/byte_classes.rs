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
    /// Returns the partition with one class for all bytes.
    pub(crate) fn one() -> Self {
        Self { map: [0; 256], representatives: [0].into() }
    }

    /// Creates the partition in which bytes share a class exactly if `key` is the same for them.
    /// Costs memory proportional to the greatest key.
    pub(crate) fn by_key(mut key: impl FnMut(u8) -> usize) -> Self {
        let mut map = [0; 256];
        let (mut representatives, mut count) = ([0; 256], 0);
        // By key, the class plus 1; 0 if there is none yet. Keys are small.
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

    /// Merges classes into groups: `group` is the group of each class, and `leaders` the first
    /// class of each group. Groups must be in the order of their first classes.
    pub(crate) fn merged(&self, group: &[u8], leaders: &[usize]) -> Self {
        let map = self.map.map(|class| group[usize::from(class)]);
        let representatives = leaders.iter().map(|&leader| self.representatives[leader]);
        Self { map, representatives: representatives.collect() }
    }

    /// Creates a partition into runs of bytes, each a class. `begins` has one bit for each byte
    /// that begins a run; the first byte always does.
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

    /// Returns the class of `byte`.
    #[inline]
    pub(crate) fn get(&self, byte: u8) -> u8 {
        self.map[usize::from(byte)]
    }

    /// Returns the number of classes, 1 to 256.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.representatives.len()
    }

    /// Returns the smallest byte of each class; the position is the class.
    pub(crate) fn representatives(&self) -> &[u8] {
        &self.representatives
    }

    /// Returns the set of all classes.
    pub(crate) fn all(&self) -> ClassSet {
        let below = |word: usize| match self.count().saturating_sub(word * 64) {
            64.. => u64::MAX,
            some => (1 << some) - 1,
        };
        ClassSet(std::array::from_fn(below))
    }

    /// Returns the classes within each class of `coarse`, a partition that this one refines.
    pub(crate) fn coarsened(&self, coarse: &Self) -> Box<[ClassSet]> {
        let mut parts = vec![ClassSet::default(); coarse.count()];
        for (class, &byte) in (0..=u8::MAX).zip(&*self.representatives) {
            parts[usize::from(coarse.get(byte))].insert(class);
        }
        parts.into()
    }

    /// Returns the bytes of `class`, ascending.
    pub(crate) fn bytes(&self, class: u8) -> impl Iterator<Item = u8> + '_ {
        (0..=255u8).filter(move |&byte| self.get(byte) == class)
    }

    /// Returns the bytes of `class` as maximal ranges, ascending.
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

    /// Returns the runs of bytes of one class, ascending: first byte, last byte, class.
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

    /// Returns the coarsest partition that refines both.
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

    /// Returns the coarsest partition that refines all of `parts`. Costs 256 steps for each.
    pub(crate) fn refinement<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        parts.into_iter().fold(Self::one(), |all, part| match all.refines(part) {
            true => all,
            false => all.merge(part),
        })
    }

    /// Returns whether this partition refines `other`.
    fn refines(&self, other: &Self) -> bool {
        let mut of = [0; 256];
        for (class, &byte) in self.representatives.iter().enumerate() {
            of[class] = other.get(byte);
        }
        self.map.iter().zip(&other.map).all(|(&class, &other)| of[usize::from(class)] == other)
    }
}

/// A set of classes of one partition, which has at most 256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ClassSet([u64; 4]);

impl ClassSet {
    /// Returns the set of `class` alone.
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

    /// Returns whether `class` is in the set.
    #[inline]
    pub(crate) fn contains(&self, class: u8) -> bool {
        self.0[usize::from(class / 64)] >> (class % 64) & 1 == 1
    }

    /// Returns the union of both sets.
    #[inline]
    pub(crate) fn union(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Returns the intersection of both sets.
    #[inline]
    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Returns the classes of this set that are not in the other.
    #[inline]
    pub(crate) fn difference(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    /// Returns whether the set is empty.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Returns whether the two sets share a class.
    #[inline]
    pub(crate) fn intersects(self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// Returns the classes in the set, ascending.
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

/// Writes a range of bytes in the syntax of a character class.
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
