//! The numbered groups of a regex.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;

/// Groups that have a number, and the texts they have matched.
#[derive(Debug, Default)]
pub(super) struct Groups<'a> {
    /// Number of groups that have begun.
    pub(super) count: usize,
    pub(super) numbers: HashMap<&'a str, usize>,
    /// The groups that references may name, with the texts that they are assumed to have matched.
    pub(super) matched: Vec<(usize, Matched)>,
    /// Groups that conditionals may test, and whether they are assumed to have matched.
    pub(super) present: Vec<(usize, bool)>,
    /// Number of times that the rest after a group has been read.
    pub(super) readings: usize,
}

/// The text that a group is assumed to have matched.
#[derive(Clone, Debug)]
pub(super) enum Matched {
    Text(String),
    /// Any one of these characters; with the number of negations around the group.
    OneOf(ClassUnicode, usize),
}

impl<'a> Groups<'a> {
    /// Begins a numbered group and returns its number.
    pub(super) fn begin(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// Names the group that begins next; returns `false` if another one has that name.
    pub(super) fn name(&mut self, name: &'a str) -> bool {
        self.numbers.insert(name, self.count + 1).is_none()
    }
}
