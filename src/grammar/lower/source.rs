//! Source texts of a grammar, and positions in them.
//!
//! Finding the line and column of a position takes a binary search and a look at 64 bytes at most,
//! so that the places of a hundred thousand productions cost almost nothing, even if all are on one
//! line.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::syntax::ast::Span;
use crate::util::diagnostic::Place;

/// Interval in bytes of the stored character counts.
const STRIDE: usize = 64;

/// Position of a node. Any two positions are equal, so nodes that differ only in it are equal: it
/// only serves messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    source: u32,
    start: u32,
    end: u32,
}

impl PartialEq for At {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for At {}

impl Hash for At {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl At {
    /// Creates the position `span` in source number `source`.
    pub(crate) fn new(source: u32, span: &Span) -> Self {
        Self { source, start: span.start as u32, end: span.end as u32 }
    }

    /// Returns another span of the same source.
    pub(crate) fn with_span(self, span: &Span) -> Self {
        Self::new(self.source, span)
    }

    /// Returns the number of its source.
    pub(crate) fn source(self) -> u32 {
        self.source
    }

    /// Returns the offset of the first byte in its source.
    pub(crate) fn start(self) -> u32 {
        self.start
    }
}

/// All texts, by number.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    sources: Vec<Source>,
}

#[derive(Debug)]
struct Source {
    name: Arc<str>,
    length: usize,
    /// Byte offset of the start of each line, and the number of characters before it.
    lines: Vec<(u32, u32)>,
    /// Number of characters that start before each multiple of [`STRIDE`].
    characters: Vec<u32>,
    text: Arc<str>,
}

impl Sources {
    /// Adds a text and returns its number.
    pub(crate) fn add(&mut self, name: Arc<str>, text: &str) -> u32 {
        let mut lines = vec![(0, 0)];
        let mut characters = Vec::with_capacity(text.len() / STRIDE + 1);
        let mut count = 0;
        for (at, byte) in text.bytes().enumerate() {
            if at % STRIDE == 0 {
                characters.push(count);
            }
            count += u32::from(is_first_byte(byte));
            if byte == b'\n' {
                lines.push((at as u32 + 1, count));
            }
        }
        characters.push(count);
        self.sources.push(Source {
            name,
            length: text.len(),
            lines,
            characters,
            text: text.into(),
        });
        self.sources.len() as u32 - 1
    }

    /// Returns the place for a message.
    pub(crate) fn place(&self, at: At) -> Place {
        let source = &self.sources[at.source as usize];
        let start = (at.start as usize).min(source.length);
        let line = source.lines.partition_point(|&(first, _)| first as usize <= start) - 1;
        let checkpoint = start / STRIDE * STRIDE;
        let bytes = &source.text.as_bytes()[checkpoint..start];
        let before = bytes.iter().filter(|&&byte| is_first_byte(byte)).count() as u32;
        let characters = source.characters[start / STRIDE] + before;
        Place {
            source: source.name.clone(),
            span: at.start as usize..at.end as usize,
            line: line as u32 + 1,
            column: characters - source.lines[line].1 + 1,
        }
    }
}

/// Whether a character of UTF-8 starts with this byte.
fn is_first_byte(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_agree_with_counting_from_the_start() {
        let text = format!("a: \"ä\"\n{}\nb: c\n", "é x ".repeat(50));
        let name: Arc<str> = "g".into();
        let mut sources = Sources::default();
        let source = sources.add(name.clone(), &text);
        for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
            assert_eq!(sources.place(At::new(source, &(at..at))), Place::new(&name, &text, at..at));
        }
    }
}
