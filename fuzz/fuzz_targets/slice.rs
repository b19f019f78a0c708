//! Any bytes as a slice read from disk.
#![no_main]

use libfuzzer_sys::fuzz_target;
use squall_measure::{Slice, Totals};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(slice) = Slice::decode(&mut &*bytes) {
        Totals::new().add(&slice);
    }
});
