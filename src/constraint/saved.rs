//! The form of what is saved: a header, a table of sections, the sections, and one checksum over
//! all of it. `docs/saved.md` describes it byte by byte.

use std::ops::Range;

use super::load_error::{LoadError, LoadErrorKind};
use crate::util::saving::{Malformed, Reader, Writer};

/// What the bytes begin with. The first is no ASCII, and the last is a line end, so that neither
/// taking it for text nor translating line ends goes unnoticed.
const MAGIC: [u8; 8] = *b"\x89lrmask\n";

/// Whether bytes, of which the first eight are enough, begin as those that
/// [`Constraint::save`](crate::Constraint::save) and
/// [`CompiledGrammar::save`](crate::CompiledGrammar::save) give. Whether they can be loaded, only
/// loading tells.
///
/// ```
/// use lrmask::{CompiledGrammar, Grammar, is_saved};
///
/// let compiled = CompiledGrammar::new(&Grammar::from_lark("start: \"a\"")?)?;
/// assert!(is_saved(&compiled.save()) && !is_saved(b"start: \"a\""));
/// # Ok::<(), lrmask::GrammarError>(())
/// ```
pub fn is_saved(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Written little-endian as all numbers are; other orders of bytes would show here.
const ENDIANNESS: u32 = 0x0102_0304;

/// The version of this form and of what is in the sections. It goes up with every change of either.
const FORMAT: u32 = 20;

/// The version of the crate: what was computed by another one might have been computed otherwise.
const CRATE: &str = env!("CARGO_PKG_VERSION");

/// Bytes that the version of the crate has in the header.
const CRATE_BYTES: usize = 24;

/// Bytes of the header.
const HEADER: usize = 72;

/// Bytes of an entry of the table of sections.
const ENTRY: usize = 24;

/// Where the checksum stands: the last field of the header.
const CHECKSUM: Range<usize> = HEADER - 4..HEADER;

/// Sections begin at multiples of this, so that rows of words are aligned where the file is mapped.
const ALIGNMENT: usize = 64;

/// What a section holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// The grammar.
    Grammar,
    /// The tables, the DFAs, and what the scanner has met.
    Scanner,
    /// Warnings.
    Findings,
    /// What has been computed of the grammar and the vocabulary, but for the numbers.
    Index,
    /// Numbers of four bytes that are read where they are.
    Tokens,
}

impl Section {
    fn tag(self) -> [u8; 8] {
        match self {
            Self::Grammar => *b"grammar ",
            Self::Scanner => *b"scanner ",
            Self::Findings => *b"findings",
            Self::Index => *b"index   ",
            Self::Tokens => *b"tokens  ",
        }
    }
}

/// What the sections are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprints {
    pub(super) grammar: u64,
    /// `None` of a grammar without a vocabulary.
    pub(super) vocabulary: Option<u64>,
}

/// Puts sections together.
pub(super) fn put_together(of: Fingerprints, sections: Vec<(Section, Vec<u8>)>) -> Vec<u8> {
    let mut at = (HEADER + ENTRY * sections.len()).next_multiple_of(ALIGNMENT);
    let mut table = Writer::default();
    for (section, content) in &sections {
        table.raw(&section.tag());
        table.u64(at as u64);
        table.u64(content.len() as u64);
        at = (at + content.len()).next_multiple_of(ALIGNMENT);
    }
    let mut header = Writer::default();
    header.raw(&MAGIC);
    header.u32(ENDIANNESS);
    header.u32(FORMAT);
    header.raw(&crate_version());
    header.u64(at as u64);
    header.u64(of.grammar);
    header.u64(of.vocabulary.unwrap_or(0));
    header.u8(of.vocabulary.is_some().into());
    header.raw(&[0; 2]);
    header.u8(sections.len() as u8);
    header.u32(0);
    let mut bytes = header.into_bytes();
    debug_assert_eq!(bytes.len(), HEADER);
    bytes.reserve_exact(at - HEADER);
    bytes.extend(table.into_bytes());
    for (_, content) in sections {
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        bytes.extend(content);
    }
    bytes.resize(at, 0);
    let sum = checksum(&bytes);
    bytes[CHECKSUM].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// CRC-32 of all but the checksum itself.
fn checksum(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..CHECKSUM.start]);
    hasher.update(&bytes[CHECKSUM.end..]);
    hasher.finalize()
}

/// Saved bytes of which every one is as it was written.
#[derive(Debug)]
pub(super) struct Saved<'b> {
    bytes: &'b [u8],
    pub(super) of: Fingerprints,
    sections: Vec<([u8; 8], Range<usize>)>,
}

impl<'b> Saved<'b> {
    /// Checks the bytes and finds the sections. Costs one look at every byte.
    pub(super) fn open(bytes: &'b [u8]) -> Result<Self, LoadError> {
        if !is_saved(bytes) {
            return Err(LoadError::of(LoadErrorKind::NotSaved));
        }
        if bytes.len() < HEADER {
            return Err(LoadError::of(LoadErrorKind::Damaged));
        }
        let mut header = Reader::new(&bytes[MAGIC.len()..HEADER]);
        let (order, format) = (header.u32()?, header.u32()?);
        let version = header.raw(CRATE_BYTES)?;
        if order != ENDIANNESS || format != FORMAT || version != crate_version() {
            return Err(LoadError::of(LoadErrorKind::Version));
        }
        if header.u64()? != bytes.len() as u64 || checksum(bytes) != last_u32(&bytes[..HEADER]) {
            return Err(LoadError::of(LoadErrorKind::Damaged));
        }
        let (grammar, vocabulary) = (header.u64()?, header.u64()?);
        let vocabulary = header.bool()?.then_some(vocabulary);
        header.raw(2)?;
        let count = header.u8()?;
        let mut table = Reader::new(&bytes[HEADER..]);
        let mut sections = Vec::with_capacity(count.into());
        for _ in 0..count {
            let mut tag = [0; 8];
            tag.copy_from_slice(table.raw(8)?);
            let (start, length) = (table.u64()?, table.u64()?);
            let end = start.checked_add(length).filter(|&end| end <= bytes.len() as u64);
            let end = end.ok_or(Malformed { what: "the table of sections" })?;
            sections.push((tag, start as usize..end as usize));
        }
        Ok(Self { bytes, of: Fingerprints { grammar, vocabulary }, sections })
    }

    /// Where a section is.
    pub(super) fn place(&self, section: Section) -> Result<Range<usize>, Malformed> {
        let found = self.sections.iter().find(|(tag, _)| *tag == section.tag());
        found.map(|(_, range)| range.clone()).ok_or(Malformed { what: "a section" })
    }

    /// How many bytes all sections have that are not read where they are.
    pub(super) fn read_bytes(&self) -> usize {
        let read = self.sections.iter().filter(|(tag, _)| *tag != Section::Tokens.tag());
        read.map(|(_, range)| range.len()).sum()
    }

    /// The content of a section.
    pub(super) fn section(&self, section: Section) -> Result<Reader<'b>, Malformed> {
        let content = self.bytes.get(self.place(section)?);
        Ok(Reader::new(content.ok_or(Malformed { what: "a section" })?))
    }
}

/// The version of the crate as the header has it.
fn crate_version() -> [u8; CRATE_BYTES] {
    let mut version = [0; CRATE_BYTES];
    version.iter_mut().zip(CRATE.bytes()).for_each(|(to, from)| *to = from);
    version
}

fn last_u32(bytes: &[u8]) -> u32 {
    bytes.last_chunk().map_or(0, |&word| u32::from_le_bytes(word))
}
