//! Sets of numbers that are split repeatedly, for the minimisation of automata.

use crate::util::lists::Lists;

/// Valmari's refinable partition: sets are ranges of `elements`; marked elements are at the front
/// of their set.
pub(super) struct Partition {
    pub(super) elements: Vec<u32>,
    location: Vec<u32>,
    pub(super) set_of: Vec<u32>,
    first: Vec<u32>,
    past: Vec<u32>,
    marked: Vec<u32>,
    touched: Vec<u32>,
}

impl Partition {
    /// Creates the sets of elements with equal numbers, of which there are `count`.
    pub(super) fn new(numbers: &[u32], count: usize) -> Self {
        let pairs: Vec<(u32, u32)> = numbers.iter().copied().zip(0..).collect();
        let sets = Lists::from_pairs(count, &pairs);
        let mut location = vec![0; numbers.len()];
        for (at, &element) in (0..).zip(sets.entries()) {
            location[element as usize] = at;
        }
        Self {
            location,
            set_of: numbers.to_vec(),
            first: (0..count).map(|set| sets.range(set).start as u32).collect(),
            past: (0..count).map(|set| sets.range(set).end as u32).collect(),
            marked: vec![0; count],
            touched: Vec::new(),
            elements: sets.entries().to_vec(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.first.len()
    }

    pub(super) fn range(&self, set: usize) -> std::ops::Range<usize> {
        self.first[set] as usize..self.past[set] as usize
    }

    /// Marks an element; does nothing if it is marked already.
    pub(super) fn mark(&mut self, element: u32) {
        let set = self.set_of[element as usize] as usize;
        let at = self.location[element as usize];
        let to = self.first[set] + self.marked[set];
        if at < to {
            return;
        }
        let other = self.elements[to as usize];
        self.elements[at as usize] = other;
        self.location[other as usize] = at;
        self.elements[to as usize] = element;
        self.location[element as usize] = to;
        if self.marked[set] == 0 {
            self.touched.push(set as u32);
        }
        self.marked[set] += 1;
    }

    /// Splits every set with marked and unmarked elements; the smaller part becomes a new set.
    pub(super) fn split(&mut self) {
        while let Some(set) = self.touched.pop() {
            let set = set as usize;
            let middle = self.first[set] + self.marked[set];
            if middle == self.past[set] {
                self.marked[set] = 0;
                continue;
            }
            let fresh = self.first.len() as u32;
            if self.marked[set] <= self.past[set] - middle {
                self.first.push(self.first[set]);
                self.past.push(middle);
                self.first[set] = middle;
            } else {
                self.first.push(middle);
                self.past.push(self.past[set]);
                self.past[set] = middle;
            }
            for i in self.range(fresh as usize) {
                self.set_of[self.elements[i] as usize] = fresh;
            }
            self.marked[set] = 0;
            self.marked.push(0);
        }
    }
}
