//! A regex: reading and compiling it ends without a panic, and so does using it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lrmask_fuzz::read_and_use_regex;

fuzz_target!(|text: &str| read_and_use_regex(text));
