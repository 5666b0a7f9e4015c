//! How often something was asked for, as far as it matters for whether it is kept.

use std::sync::atomic::{AtomicU32, Ordering};

/// A number of uses, each of which counts [`Uses::ONE`]. Those of two threads at the same time may
/// count as one.
#[derive(Debug, Default)]
pub(crate) struct Uses(AtomicU32);

impl Uses {
    /// What a use counts. A quarter of what is counted goes whenever something is given up, so a
    /// single use is remembered four times over.
    pub(crate) const ONE: u32 = 4;

    /// More is not counted: what is asked for most is then only read, by however many threads.
    const MOST: u32 = Self::ONE << 10;

    /// One use.
    pub(crate) fn once() -> Self {
        Self(AtomicU32::new(Self::ONE))
    }

    /// One more.
    #[inline]
    pub(crate) fn note(&self) {
        let known = self.get();
        if known < Self::MOST {
            self.0.store(known + Self::ONE, Ordering::Relaxed);
        }
    }

    /// What they count.
    #[inline]
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// What they count later: less by a quarter, so that what was asked for long ago gives way.
    pub(crate) fn aged(&self) -> Self {
        let known = self.get();
        Self(AtomicU32::new(known - known.div_ceil(4)))
    }
}

impl Clone for Uses {
    fn clone(&self) -> Self {
        Self(AtomicU32::new(self.get()))
    }
}
