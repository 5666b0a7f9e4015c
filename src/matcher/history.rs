//! What held before each step of a sequence: a persistent list, so that a clone shares it as it
//! shares parse stacks.

use std::sync::Arc;

/// The moments before each step, the last one first. Cloning shares them.
pub(super) struct History<T>(Option<Arc<Step<T>>>);

struct Step<T> {
    before: T,
    /// How many steps there are up to this one.
    count: usize,
    earlier: History<T>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Clone for History<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Clone> History<T> {
    /// What is in the list, the last first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        let steps = std::iter::successors(self.0.as_deref(), |step| step.earlier.0.as_deref());
        steps.map(|step| &step.before)
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |step| step.count)
    }

    /// One more step, before which `before` held.
    pub(super) fn push(&mut self, before: T) {
        let count = self.len() + 1;
        let earlier = Self(self.0.take());
        self.0 = Some(Arc::new(Step { before, count, earlier }));
    }

    /// Takes the last step off; what held before it.
    pub(super) fn pop(&mut self) -> Option<T> {
        match Arc::try_unwrap(self.0.take()?) {
            Ok(mut step) => {
                self.0 = step.earlier.0.take();
                Some(step.before)
            }
            Err(shared) => {
                self.0 = shared.earlier.0.clone();
                Some(shared.before.clone())
            }
        }
    }
}

impl<T> Drop for History<T> {
    /// In a loop: the derived drop would recurse once a step.
    fn drop(&mut self) {
        let mut last = self.0.take();
        while let Some(step) = last {
            last = Arc::into_inner(step).and_then(|mut step| step.earlier.0.take());
        }
    }
}
