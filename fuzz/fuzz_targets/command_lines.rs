//! See `ide_mcp_fuzz::command_lines`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ide_mcp_fuzz::command_lines::command_lines(data));
