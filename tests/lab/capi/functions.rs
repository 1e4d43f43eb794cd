//! The functions of `adapters/editors/capi/include/ide_mcp.h`, for tests in Rust.

use std::ffi::{c_char, c_int, c_void};

/// `IDEMCP_ZT`.
pub(crate) const ZT: usize = usize::MAX;

// Links the library.
use idemcp as _;

#[allow(dead_code, reason = "each test uses some of the functions")]
unsafe extern "C" {
    pub(crate) fn idemcp_new(
        config: *const c_char,
        len: usize,
        error: *mut c_char,
        size: usize,
    ) -> *mut c_void;
    pub(crate) fn idemcp_free(ed: *mut c_void);
    pub(crate) fn idemcp_fd(ed: *mut c_void) -> c_int;
    pub(crate) fn idemcp_timeout(ed: *mut c_void) -> i64;
    pub(crate) fn idemcp_quit(ed: *mut c_void) -> c_int;
    pub(crate) fn idemcp_is_over(ed: *const c_void) -> bool;
    pub(crate) fn idemcp_error(ed: *const c_void) -> *const c_char;
    pub(crate) fn idemcp_quote(to: *mut c_char, size: usize, text: *const c_char, len: usize) -> usize;
    pub(crate) fn idemcp_next(ed: *mut c_void) -> c_int;
    pub(crate) fn idemcp_text(ed: *mut c_void, member: *const c_char, len: *mut usize) -> *const c_char;
    pub(crate) fn idemcp_number(ed: *mut c_void, member: *const c_char, otherwise: i64) -> i64;
    pub(crate) fn idemcp_json(ed: *mut c_void, len: *mut usize) -> *const c_char;
    pub(crate) fn idemcp_accept(ed: *mut c_void, call: i64, contents: *const c_char, len: usize) -> c_int;
    pub(crate) fn idemcp_reject(ed: *mut c_void, call: i64) -> c_int;
    pub(crate) fn idemcp_respond(ed: *mut c_void, call: i64, json: *const c_char, len: usize) -> c_int;
    pub(crate) fn idemcp_fail(ed: *mut c_void, call: i64, message: *const c_char) -> c_int;
    pub(crate) fn idemcp_select(
        ed: *mut c_void,
        path: *const c_char,
        line: u32,
        column: u32,
        end_line: u32,
        end_column: u32,
        text: *const c_char,
        len: usize,
    ) -> c_int;
    pub(crate) fn idemcp_mention(
        ed: *mut c_void,
        path: *const c_char,
        first: i64,
        last: i64,
        conn: i64,
    ) -> c_int;
    pub(crate) fn idemcp_do(ed: *mut c_void, json: *const c_char, len: usize) -> i64;
    pub(crate) fn idemcp_lock_file(ed: *mut c_void, len: *mut usize) -> *const c_char;
    pub(crate) fn idemcp_connect(ed: *mut c_void) -> i64;
    pub(crate) fn idemcp_wants_input(ed: *mut c_void, conn: i64) -> bool;
    pub(crate) fn idemcp_feed(ed: *mut c_void, conn: i64, bytes: *const u8, len: usize) -> c_int;
    pub(crate) fn idemcp_feed_eof(ed: *mut c_void, conn: i64) -> c_int;
    pub(crate) fn idemcp_wants_output(ed: *mut c_void, conn: i64) -> bool;
    pub(crate) fn idemcp_next_output(ed: *mut c_void, bytes: *mut *const u8, len: *mut usize) -> i64;
    pub(crate) fn idemcp_written(ed: *mut c_void, conn: i64, len: usize) -> c_int;
}
