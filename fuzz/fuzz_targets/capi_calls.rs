//! See `ide_mcp_fuzz::capi_calls`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ide_mcp_fuzz::capi_calls::capi_calls(data));
