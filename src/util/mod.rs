//! Utilities that every layer uses, and that depend on none of them.
//!
//! * [`id`]: `u32` newtypes for terminals, parse states, tokens and so on.
//! * [`amount`]: formatting of numbers in messages.
//! * [`aligned`]: rows of words that are fast to copy.
//! * [`append`], [`append_map`], [`memo`]: tables that grow while others read them, their entries
//!   found by [`number_table`].
//! * [`bitset`]: sets of small ids (terminal sets above all).
//! * [`byte_classes`]: partitions of the bytes that automata cannot tell apart.
//! * [`decimal`]: exact decimal numbers of any length.
//! * [`distinct`]: distinct keys in the order of first insertion.
//! * [`lists`]: many short lists in two arrays.
//! * [`names`]: lists of names.
//! * [`shared`]: lists that are copied when they are changed, not when they are handed on.
//! * [`limits`], [`meter`]: what building and running may cost, and what building has cost.
//! * [`fingerprint`]: 64 bits that tell contents apart.
//! * [`similar`]: the known name nearest to one that is not known.
//! * [`self_loops`]: the contract by which walks pass over texts that lead back.
//! * [`threads`]: work that is shared among threads, which end with it.
//! * [`diagnostic`]: errors and warnings as plain data with spans; rendering is the command line's.

pub(crate) mod aligned;
pub(crate) mod amount;
pub(crate) mod append;
pub(crate) mod append_map;
pub(crate) mod bitset;
pub(crate) mod byte_classes;
pub(crate) mod components;
pub(crate) mod decimal;
pub(crate) mod diagnostic;
pub(crate) mod distinct;
pub(crate) mod fingerprint;
pub(crate) mod id;
pub(crate) mod limits;
pub(crate) mod lists;
pub(crate) mod memo;
pub(crate) mod meter;
pub(crate) mod names;
mod number_table;
pub(crate) mod self_loops;
pub(crate) mod shared;
pub(crate) mod similar;
pub(crate) mod threads;
