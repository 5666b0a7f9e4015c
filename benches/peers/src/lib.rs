//! lrmask and other engines of constrained decoding, on the same workloads in one run. `README.md`
//! says how to run it, what is measured, and whom each workload favours.
//!
//! A run is many processes: each measures one engine on one workload with one vocabulary
//! ([`measure`]), and prints what it found. So engines do not disturb one another, and memory is
//! each one's own.

pub mod case;
pub mod engine;
pub mod measure;
pub mod memory;
pub mod stats;

#[cfg(feature = "rivals")]
pub mod child;
#[cfg(feature = "rivals")]
pub mod engines;
#[cfg(feature = "rivals")]
pub mod peers;
#[cfg(feature = "rivals")]
pub mod plot;
#[cfg(feature = "rivals")]
pub mod results;
#[cfg(feature = "rivals")]
pub mod run;
#[cfg(feature = "rivals")]
pub mod samples;
#[cfg(feature = "rivals")]
pub mod schemas;
#[cfg(feature = "rivals")]
pub mod table;
#[cfg(feature = "rivals")]
pub mod vocabularies;
#[cfg(feature = "rivals")]
pub mod workloads;
