//! How often something was asked for, as far as it matters for whether it is kept.

use std::sync::atomic::{AtomicU32, Ordering};

/// More are not counted: what is asked for most is then only read, by however many threads.
const MOST: u32 = 1 << 10;

/// A number of uses. Those of two threads at the same time may count as one.
#[derive(Debug, Default)]
pub(crate) struct Uses(AtomicU32);

impl Uses {
    /// One more.
    #[inline]
    pub(crate) fn note(&self) {
        let known = self.get();
        if known < MOST {
            self.0.store(known + 1, Ordering::Relaxed);
        }
    }

    /// How many there are.
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// What they count later: half, so that what was asked for long ago gives way.
    pub(crate) fn aged(&self) -> Self {
        Self(AtomicU32::new(self.get() / 2))
    }
}

impl Clone for Uses {
    fn clone(&self) -> Self {
        Self(AtomicU32::new(self.get()))
    }
}
