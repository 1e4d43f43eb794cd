//! See `ide_mcp_fuzz::targets::against_tungstenite`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ide_mcp_fuzz::targets::against_tungstenite(data));
