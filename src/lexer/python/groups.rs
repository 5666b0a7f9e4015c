//! The groups of a regex that have numbers.

use std::collections::HashMap;

use regex_syntax::hir::ClassUnicode;

/// Groups that have a number, and what they have matched.
#[derive(Debug, Default)]
pub(super) struct Groups<'a> {
    /// How many have begun.
    pub(super) count: usize,
    pub(super) numbers: HashMap<&'a str, usize>,
    /// Of the groups that references may mean, the texts that they are taken to have matched.
    pub(super) matched: Vec<(usize, Matched)>,
    /// Groups that conditionals may ask for, and whether they are taken to have matched.
    pub(super) present: Vec<(usize, bool)>,
    /// How often what follows a group has been read.
    pub(super) readings: usize,
}

/// What a group is taken to have matched.
#[derive(Clone, Debug)]
pub(super) enum Matched {
    Text(String),
    /// One of these characters, whichever; the group stands below so many negations.
    OneOf(ClassUnicode, usize),
}

impl<'a> Groups<'a> {
    /// A group with a number begins, and the number.
    pub(super) fn begin(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// Names the group that begins next; false where another one has that name.
    pub(super) fn name(&mut self, name: &'a str) -> bool {
        self.numbers.insert(name, self.count + 1).is_none()
    }
}
