//! Ascending numbers in little room: the gaps between them, mostly of one byte each.

/// Numbers, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Gaps(Box<[u8]>);

/// Bits of a gap in one byte; the bit above says that more follow.
const BITS: u32 = 7;
const MORE: u8 = 1 << BITS;

impl Gaps {
    /// These numbers; `None` if they do not ascend.
    pub(crate) fn new(numbers: &[u32]) -> Option<Self> {
        let mut bytes = Vec::with_capacity(numbers.len() * 5 / 4);
        let ascend =
            numbers.is_sorted_by(|one, next| one < next) && numbers.last() != Some(&u32::MAX);
        ascend.then(|| {
            write(numbers, &mut bytes);
            Self(bytes.into())
        })
    }

    /// Calls `take` with each number.
    #[inline]
    pub(crate) fn each(&self, take: impl FnMut(u32)) {
        each(&self.0, take);
    }

    /// Whether they are these.
    pub(crate) fn are(&self, numbers: &[u32]) -> bool {
        let (mut rest, mut are) = (numbers.iter(), true);
        self.each(|number| are &= rest.next() == Some(&number));
        are && rest.next().is_none()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        count(&self.0)
    }

    /// Heap bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// Writes the gaps between numbers that ascend.
pub(super) fn write(numbers: &[u32], bytes: &mut Vec<u8>) {
    let mut next = 0u32;
    for &number in numbers {
        let mut gap = number.wrapping_sub(next);
        while gap >= u32::from(MORE) {
            bytes.push(gap as u8 | MORE);
            gap >>= BITS;
        }
        bytes.push(gap as u8);
        next = number.wrapping_add(1);
    }
}

/// Calls `take` with each number whose gaps these are.
#[inline]
pub(super) fn each(bytes: &[u8], mut take: impl FnMut(u32)) {
    let (mut next, mut gap, mut shift) = (0u32, 0, 0);
    for &byte in bytes {
        gap |= u32::from(byte & !MORE) << shift;
        shift += BITS;
        if byte < MORE {
            take(next + gap);
            next += gap + 1;
            (gap, shift) = (0, 0);
        }
    }
}

/// How many numbers these are the gaps of.
pub(super) fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte < MORE).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let mut random = fastrand::Rng::with_seed(3);
        for count in [0, 1, 2, 100] {
            for most in [1, 127, 128, 129, 20_000] {
                let gaps = std::iter::repeat_with(|| random.u32(..=most)).take(count);
                let ends = gaps.scan(0, |end, gap| {
                    *end += gap + 1;
                    Some(*end - 1)
                });
                let numbers: Vec<u32> = ends.collect();
                let (gaps, mut back) = (Gaps::new(&numbers).expect("they ascend"), Vec::new());
                gaps.each(|number| back.push(number));
                assert_eq!(back, numbers);
                assert!(gaps.are(&numbers) && gaps.count() == count);
                assert!(count == 0 || !gaps.are(&numbers[1..]));
                back.push(u32::MAX);
                assert!(!gaps.are(&back) && Gaps::new(&back).is_none());
            }
        }
        assert!(Gaps::new(&[2, 2]).is_none() && Gaps::new(&[2, 1]).is_none());
    }
}
