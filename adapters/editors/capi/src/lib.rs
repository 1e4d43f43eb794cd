//! The C library of [`ide_mcp`]: `libidemcp`, for editors in C, in C++, and in languages that call C.
//!
//! `include/ide_mcp.h` describes the functions. The events, commands and configuration are those of
//! [`ide_mcp_embed`], see `docs/sidecar.md`. There is no API for Rust here.
//!
//! ```text
//!  C ──▶ ffi: pointers to values ──▶ handle: safe ──▶ editor: a ListeningEditor, or an Editor and a clock
//!                                      └─ caught: no panic reaches C
//! ```

#[cfg(panic = "abort")]
compile_error!("a panic would end the editor: build ide-mcp-capi with panic = \"unwind\"");

mod caught;
mod editor;
mod ffi;
mod handle;
mod lent;
mod member;
mod refusal;
mod values;
