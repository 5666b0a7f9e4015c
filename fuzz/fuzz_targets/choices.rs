//! Lines: each is in the language of just these lines, and what is not among them is not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lrmask_fuzz::read_and_use_choices;

fuzz_target!(|text: &str| read_and_use_choices(text));
