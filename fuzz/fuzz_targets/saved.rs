//! A saved constraint, changed: loading ends without a panic.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::{Corpus, fuzz_target};
use lrmask_fuzz::saved;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match saved::change_and_load(&mut Unstructured::new(bytes)) {
        Ok(()) => Corpus::Keep,
        Err(_) => Corpus::Reject,
    }
});
