//! Random numbers from a seed.

use fastrand::Rng;

/// Returns the generator of the `index`th of several things that depend on one seed, each
/// independent of the others.
pub(crate) fn nth(seed: u64, index: u64) -> Rng {
    Rng::with_seed(Rng::with_seed(seed ^ Rng::with_seed(index).u64(..)).u64(..))
}
