//! A small grammar, a vocabulary and operations on a matcher, judged by the oracle.
#![no_main]

use arbitrary::Unstructured;
use libfuzzer_sys::{Corpus, fuzz_target};
use lrmask_fuzz::{operations, small::Small};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let mut input = Unstructured::new(bytes);
    match Small::draw(&mut input) {
        Ok(Some(small)) => operations::run(&small, &mut input),
        _ => Corpus::Reject,
    }
});
