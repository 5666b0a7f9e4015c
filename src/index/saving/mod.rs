//! How an index is saved: what has been computed, in two parts. What has structure is written and
//! read; sets of tokens, which are most of it, are numbers that stay where they were saved and are
//! read there.
//!
//! All ids are those of the scanner that is saved beside it. An index is written before its
//! scanner: then whatever it names is there, though other threads go on.

mod masks;
mod stacks;
mod walks;
mod ways;

use std::sync::Arc;

use super::Index;
use super::cache::{Cache, Epoch, Parts};
use super::mask::{MaskTables, StackTrie};
use crate::scanner::{Marks, ScanStates, Scanner};
use crate::util::id::ScanStateId;
use crate::util::saving::{Malformed, Reader, SavedNumbers, Words, Writer, ensure, ensure_below};
use crate::vocab::Spelled;

/// Where numbers are put that are to stay where they were saved.
#[derive(Debug, Default)]
pub(crate) struct SavedNumbersWriter {
    numbers: Writer,
    count: u32,
}

impl SavedNumbersWriter {
    /// All numbers, four bytes each.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.numbers.into_bytes()
    }

    /// Puts numbers down, and writes where they are.
    fn put(&mut self, writer: &mut Writer, words: &Words) {
        writer.u32(self.count);
        writer.length(words.len());
        words.each(|word| self.numbers.u32(word));
        self.count += words.len() as u32;
    }
}

/// What the ids in a saved index name.
#[derive(Clone, Copy, Debug)]
struct Bounds<'s> {
    /// Words of a mask.
    words: usize,
    /// Of the trie.
    nodes: usize,
    states: &'s ScanStates,
    obligations: usize,
    expectations: usize,
    parse_states: usize,
    terminals: usize,
}

impl Bounds<'_> {
    /// Refuses scan states to which no lexeme comes.
    fn ensure_states(&self, states: &[u32], what: &'static str) -> Result<(), Malformed> {
        ensure_below(states, self.states.len(), what)?;
        ensure(states.iter().all(|&state| self.states.is_of_lexemes(ScanStateId(state))), what)
    }

    /// Reads where numbers are that were put down, each below `bound`.
    fn ids(&self, reader: &mut Reader<'_>, saved: &SavedNumbers) -> Result<Words, Malformed> {
        let words = saved.words(reader.u32()?, reader.u32()?)?;
        let mut greatest = 0;
        words.each(|id| greatest = greatest.max(id));
        ensure((greatest as usize) < 32 * self.words.max(1), "a list of tokens")?;
        Ok(words)
    }

    /// The same of the words of a mask.
    fn row(&self, reader: &mut Reader<'_>, saved: &SavedNumbers) -> Result<Words, Malformed> {
        let words = saved.words(reader.u32()?, reader.u32()?)?;
        ensure(words.len() == self.words, "a mask")?;
        Ok(words)
    }
}

impl MaskTables {
    /// Writes masks of `words` words, and what leads to them.
    fn save(&self, words: usize) -> (Writer, SavedNumbersWriter) {
        let (mut writer, mut saved) = (Writer::default(), SavedNumbersWriter::default());
        // What leads to masks before the masks; but masks are read first.
        let mut stacks = Writer::default();
        self.stacks.save(&mut stacks);
        self.unions.save(&mut stacks);
        self.masks.save(words, &mut writer, &mut saved);
        writer.raw(&stacks.into_bytes());
        (writer, saved)
    }
}

impl Index {
    /// What has been computed so far: what has structure, and the numbers.
    pub(crate) fn save(&self) -> (Writer, SavedNumbersWriter) {
        let epoch = self.cache.epoch();
        let mut written = epoch.masks.save(self.words);
        // Asked behind the masks that it is asked about.
        if self.scanner.table().has_long_closures() {
            written = MaskTables::default().save(self.words);
        }
        let (mut writer, mut saved) = written;
        walks::save(&epoch.parts.walked, self.words, &mut writer, &mut saved);
        (writer, saved)
    }

    /// The index of a scanner and a vocabulary, in which every id names something.
    pub(crate) fn load(
        reader: &mut Reader<'_>,
        saved: &SavedNumbers,
        scanner: Arc<Scanner>,
        vocabulary: Spelled,
        budget: usize,
        marks: Option<Arc<Marks>>,
    ) -> Result<Self, Malformed> {
        let (obligations, expectations) = scanner.open_sets();
        let bounds = Bounds {
            words: vocabulary.spelled.width().div_ceil(32),
            nodes: vocabulary.spelled.trie().node_count(),
            states: scanner.states(),
            obligations,
            expectations,
            parse_states: scanner.table().state_count(),
            terminals: scanner.table().end().index(),
        };
        let (mut masks, parts) = (MaskTables::default(), Parts::default());
        let bytes = masks.masks.load(reader, saved, &bounds)?;
        masks.add_bytes(bytes);
        masks.stacks = StackTrie::load(reader, masks.masks.len(), &bounds)?;
        masks.unions.load(reader, masks.masks.len())?;
        walks::load(&parts.walked, reader, saved, &bounds)?;
        let epoch = Epoch::new(parts, masks);
        Ok(Self::restore(scanner, vocabulary, marks, Cache::new(budget, epoch)))
    }
}
