//! The text of a grammar in llguidance's dialect: reading and compiling it ends without a panic,
//! and so does using it: masks, captures, budgets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lrmask_fuzz::read_and_use_dialect;

fuzz_target!(|text: &str| read_and_use_dialect(text));
