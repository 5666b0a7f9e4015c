//! Grammars put together from parts that grow, within small limits: nothing goes past them.

#![no_main]

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = lrmask_fuzz::limits::grow_and_build(&mut Unstructured::new(input));
});
