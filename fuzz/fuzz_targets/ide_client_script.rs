//! See `ide_mcp_fuzz::targets::ide_client_script`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ide_mcp_fuzz::targets::ide_client_script(data));
