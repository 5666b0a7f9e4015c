//! Many short lists in two flat arrays. Invariant: `starts` ascends, and its last entry is the
//! start of the open list.

/// Lists numbered from 0, appended one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Lists<T> {
    starts: Vec<u32>,
    entries: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Lists<T> {
    /// Creates an empty collection.
    pub(crate) fn new() -> Self {
        Self::with_capacity(0, 0)
    }

    /// Creates an empty collection with room for this many lists and entries in total.
    pub(crate) fn with_capacity(lists: usize, entries: usize) -> Self {
        let mut starts = Vec::with_capacity(lists + 1);
        starts.push(0);
        Self { starts, entries: Vec::with_capacity(entries) }
    }

    /// Appends to the open list.
    pub(crate) fn push(&mut self, entry: T) {
        self.entries.push(entry);
    }

    /// Appends all of these to the open list.
    pub(crate) fn extend(&mut self, entries: &[T])
    where
        T: Copy,
    {
        self.entries.extend_from_slice(entries);
    }

    /// Closes the open list and returns its number.
    pub(crate) fn close(&mut self) -> usize {
        self.starts.push(self.entries.len() as u32);
        self.starts.len() - 2
    }

    /// Returns the number of closed lists.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the range of the entries of one list.
    #[inline]
    pub(crate) fn range(&self, list: usize) -> std::ops::Range<usize> {
        self.starts[list] as usize..self.starts[list + 1] as usize
    }

    /// Returns the entries of one list.
    #[inline]
    pub(crate) fn get(&self, list: usize) -> &[T] {
        &self.entries[self.range(list)]
    }

    /// Returns all entries of all lists.
    pub(crate) fn entries(&self) -> &[T] {
        &self.entries
    }
}

impl<T: Copy + Default> Lists<T> {
    /// Creates `count` lists of the pairs' second components, by the first; the order within a list
    /// is that of the pairs.
    pub(crate) fn from_pairs(count: usize, pairs: &[(u32, T)]) -> Self {
        let mut starts = vec![0u32; count + 1];
        for &(list, _) in pairs {
            starts[list as usize + 1] += 1;
        }
        for list in 0..count {
            starts[list + 1] += starts[list];
        }
        let mut next = starts.clone();
        let mut entries = vec![T::default(); pairs.len()];
        for &(list, entry) in pairs {
            let at = &mut next[list as usize];
            entries[*at as usize] = entry;
            *at += 1;
        }
        Self { starts, entries }
    }
}
