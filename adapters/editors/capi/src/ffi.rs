//! The functions of `include/ide_mcp.h`, which describes them. This is the border to C, and the only file
//! with unsafe code.
//!
//! The types allow for NULL: a handle is an `Option<&mut Handle>`, a pointer to a length an
//! `Option<&mut MaybeUninit<usize>>`. The other pointers are types without a constructor, so that every
//! address comes from C, which must do what the header says.

#![allow(unsafe_code, reason = "C passes addresses and lengths, and finds the functions by their names")]

use crate::caught::caught;
use crate::editor::AnyEditor;
use crate::handle::Handle;
use crate::refusal::{Code, Refusal};
use crate::values::{Address, Length, id_from_c, id_to_c, lend, status, value_or_code};
use ide_mcp_embed::{MAX_COMMAND, TypedCommand};
use std::ffi::{CStr, c_char, c_int};
use std::{ptr, slice, str};

/// `IDEMCP_ABI`.
const ABI: u32 = 1;

/// `IDEMCP_ZT`: the string ends with a NUL.
const ZT: usize = usize::MAX;

type Idemcp<'a> = Option<&'a mut Handle>;

#[unsafe(no_mangle)]
extern "C" fn idemcp_abi() -> u32 {
    ABI
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_open(config: Chars, len: usize, error: Room, size: usize) -> Option<Box<Handle>> {
    create(|| AnyEditor::listening(config.text(len)?), error, size)
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_new(config: Chars, len: usize, error: Room, size: usize) -> Option<Box<Handle>> {
    create(|| AnyEditor::of_bytes(config.text(len)?), error, size)
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_free(handle: Option<Box<Handle>>) {
    // After a panic the rest of the handle leaks.
    let _ = caught(|| drop(handle));
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_fd(handle: Idemcp<'_>) -> c_int {
    value_or_code(Handle::enter(handle, |handle| handle.fd()))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_timeout(handle: Idemcp<'_>) -> i64 {
    value_or_code(Handle::enter(handle, |handle| Ok(handle.timeout())))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_is_over(handle: Option<&Handle>) -> bool {
    handle.is_none_or(Handle::is_over)
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_error(handle: Option<&Handle>) -> *const c_char {
    handle.map_or(c"the handle is NULL".as_ptr(), |handle| handle.error().ptr.cast())
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_next(handle: Idemcp<'_>) -> c_int {
    value_or_code(Handle::enter(handle, Handle::next))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_text(handle: Idemcp<'_>, name: Chars, len: Length<'_>) -> *const c_char {
    lend(Handle::enter(handle, |handle| Ok(handle.text(name.text(ZT)?))), len).cast()
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_number(handle: Idemcp<'_>, name: Chars, otherwise: i64) -> i64 {
    Handle::enter(handle, |handle| Ok(handle.number(name.text(ZT)?))).ok().flatten().unwrap_or(otherwise)
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_json(handle: Idemcp<'_>, len: Length<'_>) -> *const c_char {
    lend(Handle::enter(handle, |handle| Ok(handle.json())), len).cast()
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_quote(to: Room, size: usize, text: Chars, len: usize) -> usize {
    // Every string can be written as JSON, so the only errors are those of `Chars::text`: NULL, too long, or
    // not UTF-8.
    let quoted =
        caught(|| serde_json::to_string(text.text(len).ok()?).ok()).ok().flatten().unwrap_or_default();
    to.write(size, if quoted.len() < size { &quoted } else { "" });
    quoted.len()
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_accept(handle: Idemcp<'_>, call: i64, contents: Chars, len: usize) -> c_int {
    value_or_code(Handle::execute(handle, || {
        Ok(TypedCommand::accept(id_from_c(call), contents.optional(len)?.map(Into::into)))
    }))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_reject(handle: Idemcp<'_>, call: i64) -> c_int {
    value_or_code(Handle::execute(handle, || Ok(TypedCommand::reject(id_from_c(call)))))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_respond(handle: Idemcp<'_>, call: i64, json: Chars, len: usize) -> c_int {
    value_or_code(Handle::respond(handle, id_from_c(call), || json.optional(len)))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_fail(handle: Idemcp<'_>, call: i64, message: Chars) -> c_int {
    value_or_code(Handle::execute(handle, || {
        Ok(TypedCommand::fail(id_from_c(call), message.text(ZT)?.into()))
    }))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_select(
    handle: Idemcp<'_>,
    path: Chars,
    line: u32,
    column: u32,
    end_line: u32,
    end_column: u32,
    text: Chars,
    len: usize,
) -> c_int {
    value_or_code(Handle::execute(handle, || {
        let (path, text) = (path.optional(ZT)?, text.optional(len)?.map(Into::into));
        let Some(path) = path else { return Ok(TypedCommand::clear()) };
        Ok(TypedCommand::select(path.into(), (line, column), (end_line, end_column), text))
    }))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_mention(
    handle: Idemcp<'_>,
    path: Chars,
    first_line: i64,
    last_line: i64,
    conn: i64,
) -> c_int {
    let line = |line| u32::try_from(line).map_err(|_| Refusal::new(Code::Invalid, "a line is out of range"));
    value_or_code(Handle::execute(handle, || {
        let lines = if first_line < 0 { None } else { Some((line(first_line)?, line(last_line)?)) };
        Ok(TypedCommand::mention(path.text(ZT)?.into(), lines, (conn != 0).then(|| id_from_c(conn))))
    }))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_do(handle: Idemcp<'_>, json: Chars, len: usize) -> i64 {
    value_or_code(Handle::enter(handle, |handle| handle.command(json.text(len)?)))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_quit(handle: Idemcp<'_>) -> c_int {
    value_or_code(Handle::execute(handle, || Ok(TypedCommand::quit())))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_lock_file(handle: Idemcp<'_>, len: Length<'_>) -> *const c_char {
    lend(Handle::enter(handle, Handle::lock_file), len).cast()
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_connect(handle: Idemcp<'_>) -> i64 {
    value_or_code(Handle::input(handle, |editor, now| Ok(id_to_c(editor.connect(now)))))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_wants_input(handle: Idemcp<'_>, conn: i64) -> bool {
    Handle::enter(handle, |handle| Ok(handle.bytes()?.wants_input(id_from_c(conn)))).unwrap_or(false)
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_feed(handle: Idemcp<'_>, conn: i64, from: Bytes, len: usize) -> c_int {
    status(Handle::input(handle, |editor, now| {
        from.bytes(len).map(|bytes| editor.feed(now, id_from_c(conn), bytes))
    }))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_feed_eof(handle: Idemcp<'_>, conn: i64) -> c_int {
    status(Handle::input(handle, |editor, now| {
        editor.feed_eof(now, id_from_c(conn));
        Ok(())
    }))
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_wants_output(handle: Idemcp<'_>, conn: i64) -> bool {
    Handle::enter(handle, |handle| Ok(handle.bytes()?.wants_output(id_from_c(conn)))).unwrap_or(false)
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_next_output(handle: Idemcp<'_>, bytes: Address<'_>, len: Length<'_>) -> i64 {
    let next = Handle::enter(handle, Handle::next_output);
    let (conn, lent) = match next {
        Ok((conn, lent)) => (Ok(id_to_c(conn)), Ok(lent)),
        Err(code) => (Err(code), Err(code)),
    };
    let ptr = lend(lent, len);
    if let Some(bytes) = bytes {
        bytes.write(ptr);
    }
    value_or_code(conn)
}

#[unsafe(no_mangle)]
extern "C" fn idemcp_written(handle: Idemcp<'_>, conn: i64, len: usize) -> c_int {
    status(Handle::enter(handle, |handle| handle.written(id_from_c(conn), len)))
}

/// Creates a handle, or writes to `error` why not.
fn create(
    open: impl FnOnce() -> Result<AnyEditor, Refusal>,
    error: Room,
    size: usize,
) -> Option<Box<Handle>> {
    let reason = match caught(open) {
        Ok(Ok(editor)) => return Some(Box::new(Handle::new(editor))),
        Ok(Err(refusal)) => refusal.message,
        Err(message) => message,
    };
    error.write(size, &reason);
    None
}

/// The address of a string, which must not change while the function runs.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Chars(*const c_char);

impl Chars {
    fn text<'a>(self, len: usize) -> Result<&'a str, Refusal> {
        let len = match len {
            // SAFETY: C has passed the address of a string that ends with a NUL.
            ZT if !self.0.is_null() => unsafe { CStr::from_ptr(self.0) }.count_bytes(),
            len => len,
        };
        let text = str::from_utf8(Bytes(self.0.cast()).bytes(len)?);
        text.map_err(|error| Refusal::new(Code::Invalid, format!("a string is not UTF-8: {error}")))
    }

    fn optional<'a>(self, len: usize) -> Result<Option<&'a str>, Refusal> {
        (!self.0.is_null()).then(|| self.text(len)).transpose()
    }
}

/// The address of bytes, which must not change while the function runs.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Bytes(*const u8);

impl Bytes {
    /// Returns the bytes. A length above the limit is refused before we read any.
    fn bytes<'a>(self, len: usize) -> Result<&'a [u8], Refusal> {
        if self.0.is_null() {
            return Err(Refusal::new(Code::Misuse, "a string is NULL"));
        }
        if len > MAX_COMMAND {
            let message = format!("a string has {len} bytes, more than {MAX_COMMAND}");
            return Err(Refusal::new(Code::Invalid, message));
        }
        // SAFETY: C has passed an address with `len` bytes, and `len` is below `isize::MAX`.
        Ok(unsafe { slice::from_raw_parts(self.0, len) })
    }
}

/// The address of room for a string.
#[repr(transparent)]
struct Room(*mut c_char);

impl Room {
    /// Writes as much of the string as fits, and a NUL.
    fn write(self, size: usize, text: &str) {
        let Some(most) = size.checked_sub(1).filter(|_| !self.0.is_null()) else { return };
        let mut len = text.len().min(most);
        while !text.is_char_boundary(len) {
            len = len.saturating_sub(1);
        }
        // SAFETY: C has passed an address with room for `size` bytes, which are more than `len`.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr().cast(), self.0, len);
            self.0.add(len).write(0);
        }
    }
}
