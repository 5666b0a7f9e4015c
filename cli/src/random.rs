//! Chance that a seed decides.

use fastrand::Rng;

/// The stream of the `index`th of several things that one seed decides, each independent of the
/// others.
pub(crate) fn nth(seed: u64, index: u64) -> Rng {
    Rng::with_seed(Rng::with_seed(seed ^ Rng::with_seed(index).u64(..)).u64(..))
}
