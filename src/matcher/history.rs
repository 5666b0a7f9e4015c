//! A persistent list of earlier states, shared by clones in the same way as parse stacks.

use std::sync::Arc;

/// The states before each step, the last one first. Cloning shares them.
pub(super) struct History<T> {
    last: Link<T>,
    /// Number of steps.
    count: usize,
}

type Link<T> = Option<Arc<Step<T>>>;

struct Step<T> {
    before: T,
    earlier: Link<T>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self { last: None, count: 0 }
    }
}

impl<T> Clone for History<T> {
    fn clone(&self) -> Self {
        Self { last: self.last.clone(), count: self.count }
    }
}

impl<T: Clone> History<T> {
    /// Returns the elements, the last one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        let steps = std::iter::successors(self.last.as_deref(), |step| step.earlier.as_deref());
        steps.map(|step| &step.before)
    }

    /// Whether both are the same list, not merely lists with equal elements.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (&self.last, &other.last) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// Returns the number of steps.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Adds a step; `before` is the state before it.
    pub(super) fn push(&mut self, before: T) {
        let earlier = self.last.take();
        self.last = Some(Arc::new(Step { before, earlier }));
        self.count += 1;
    }

    /// Removes the last step and returns the state before it.
    pub(super) fn pop(&mut self) -> Option<T> {
        let last = self.last.take()?;
        self.count -= 1;
        let Step { before, earlier } = match Arc::try_unwrap(last) {
            Ok(step) => step,
            Err(shared) => Step { before: shared.before.clone(), earlier: shared.earlier.clone() },
        };
        self.last = earlier;
        Some(before)
    }
}

impl<T> Drop for History<T> {
    /// Drops the list in a loop: the derived drop would recurse once per step.
    fn drop(&mut self) {
        let mut last = self.last.take();
        while let Some(step) = last {
            last = Arc::into_inner(step).and_then(|mut step| step.earlier.take());
        }
    }
}
