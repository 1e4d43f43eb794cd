//! See `ide_mcp_fuzz::targets::paths`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ide_mcp_fuzz::targets::paths(data));
