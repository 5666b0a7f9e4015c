//! A text that grows byte by byte and has a cheap copy for each step of a sequence.

use super::history::History;

/// Number of bytes that fit into a word with their count.
const CHUNK: usize = 7;

/// A text; clones share their common prefix except for a few bytes.
#[derive(Clone, Default)]
pub(super) struct TextSoFar {
    /// The full chunks.
    chunks: History<[u8; CHUNK]>,
    /// The bytes after them, and their number.
    tail: [u8; CHUNK],
    count: u8,
}

impl TextSoFar {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.chunks.len() == 0
    }

    pub(super) fn push(&mut self, byte: u8) {
        if usize::from(self.count) == CHUNK {
            self.chunks.push(self.tail);
            self.count = 0;
        }
        self.tail[usize::from(self.count)] = byte;
        self.count += 1;
    }

    /// Returns the whole text. Linear in its length.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            self.chunks.iter().flat_map(|of| of.iter().rev()).copied().collect();
        bytes.reverse();
        bytes.extend_from_slice(self.end());
        bytes
    }

    /// Whether both are certainly equal. May be false for equal ones.
    pub(super) fn same(&self, other: &Self) -> bool {
        self.end() == other.end() && self.chunks.same(&other.chunks)
    }

    fn end(&self) -> &[u8] {
        &self.tail[..usize::from(self.count)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_go_on_by_themselves() {
        let text: Vec<u8> = (0..40).collect();
        let mut all = vec![TextSoFar::default()];
        for (count, &byte) in text.iter().enumerate() {
            let mut next = all[count].clone();
            assert_eq!(next.is_empty(), count == 0);
            next.push(byte);
            assert!(next.same(&next.clone()) && !next.same(&all[count]));
            all.push(next);
        }
        for (count, own) in all.iter().enumerate() {
            let mut other = own.clone();
            other.push(99);
            assert_eq!(own.bytes(), text[..count]);
            assert_eq!(other.bytes(), [&text[..count], &[99]].concat());
        }
    }
}
