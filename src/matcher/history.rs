//! What held before each step of a sequence: a persistent list, so that a clone shares it as it
//! shares parse stacks.

use std::sync::Arc;

/// The moments before each step, the last one first. Cloning shares them.
pub(super) struct History<T> {
    last: Link<T>,
    /// How many steps there are.
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
    /// What is in the list, the last first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        let steps = std::iter::successors(self.last.as_deref(), |step| step.earlier.as_deref());
        steps.map(|step| &step.before)
    }

    /// Whether both are one list, not only lists of the same.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (&self.last, &other.last) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// One more step, before which `before` held.
    pub(super) fn push(&mut self, before: T) {
        let earlier = self.last.take();
        self.last = Some(Arc::new(Step { before, earlier }));
        self.count += 1;
    }

    /// Takes the last step off; what held before it.
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
    /// In a loop: the derived drop would recurse once a step.
    fn drop(&mut self) {
        let mut last = self.last.take();
        while let Some(step) = last {
            last = Arc::into_inner(step).and_then(|mut step| step.earlier.take());
        }
    }
}
