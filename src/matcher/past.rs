//! What held before each step of a sequence: a persistent list, so that a clone shares it as it shares parse stacks.

use std::sync::Arc;

use super::Moment;

/// The moments before each step, the last one first. Cloning shares them.
#[derive(Clone, Default)]
pub(super) struct Past(Option<Arc<Step>>);

struct Step {
    before: Moment,
    /// How many steps there are up to this one.
    count: usize,
    earlier: Past,
}

impl Past {
    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |step| step.count)
    }

    /// One more step, before which `before` held.
    pub(super) fn push(&mut self, before: Moment) {
        let count = self.len() + 1;
        let earlier = Self(self.0.take());
        self.0 = Some(Arc::new(Step { before, count, earlier }));
    }

    /// Takes the last step off; what held before it.
    pub(super) fn pop(&mut self) -> Option<Moment> {
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

impl Drop for Past {
    /// In a loop: the derived drop would recurse once a step.
    fn drop(&mut self) {
        let mut last = self.0.take();
        while let Some(step) = last {
            last = Arc::into_inner(step).and_then(|mut step| step.earlier.0.take());
        }
    }
}
