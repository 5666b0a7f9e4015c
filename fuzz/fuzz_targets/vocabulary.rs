//! A tokenizer file: every loader ends without a panic, and what is loaded answers for every id.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lrmask_fuzz::load_and_ask;

fuzz_target!(|bytes: &[u8]| load_and_ask(bytes));
