//! Masks: composed from token classes, found again by the reads of their computation, stored once.
//!
//! * [`composer`] has what masks are composed from, and makes the mask of one configuration.
//! * [`compose`] is the driver of a composition: [`task`]s that look for tokens, which are met in
//!   walks and, where readings are many, wait on an [`agenda`].
//! * [`submask`]: the parts that are computed by themselves, and kept.
//! * [`ways`]: texts of several readings and stacks that fork.
//! * [`stack_trie`] finds again what was composed before; [`storage`] stores masks, near to each
//!   other as its [`folded`] rows tell, [`unions`] the unions of some; [`tables`] holds all three.

mod agenda;
mod compose;
mod composer;
mod folded;
mod stack_trie;
mod storage;
mod submask;
mod tables;
mod task;
mod unions;
mod ways;

pub(crate) use composer::{Composer, allow};
pub(crate) use stack_trie::Found;
pub(crate) use tables::{MaskTables, MasksOf, PartTables};
