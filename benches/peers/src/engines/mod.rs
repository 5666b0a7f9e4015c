//! The engines that are crates, one a file. glrmask is a package of its own beside this one: its
//! dependencies and llguidance's exclude each other.

pub mod llguidance;
pub mod lrmask;
pub mod outlines;
