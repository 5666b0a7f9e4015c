//! Masks: composed from token classes, found again by the reads of their computation, stored once.
//!
//! * [`context`] has what masks are composed from, and makes the mask of one configuration.
//! * [`driver`] is the driver of a composition: [`frame`]s that look for tokens, which are met in
//!   walks and, where readings are many, wait on an [`work_list`].
//! * [`submask`]: the parts that are computed by themselves, and kept.
//! * [`multi_reading`]: texts of several readings and stacks that fork.
//! * [`stack_trie`] finds again what was composed before; [`storage`] stores masks, near to each
//!   other as its [`row_sketch`] rows tell, [`unions`] the unions of some; [`tables`] holds all
//!   three.

mod context;
mod driver;
mod frame;
mod multi_reading;
mod row_sketch;
mod stack_trie;
mod storage;
mod submask;
mod tables;
mod unions;
mod work_list;

pub(crate) use context::{Composer, allow};
pub(crate) use stack_trie::Lookup;
pub(crate) use tables::{MaskTables, PartTables};
