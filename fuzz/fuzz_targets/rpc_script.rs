//! See `ide_mcp_fuzz::targets::rpc_script`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ide_mcp_fuzz::targets::rpc_script(data));
