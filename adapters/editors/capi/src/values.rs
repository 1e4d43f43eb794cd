//! The values of C: numbers and results.

use crate::lent::Lent;
use crate::refusal::Code;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// The address of a length that C asks for, or NULL.
pub(crate) type Length<'a> = Option<&'a mut MaybeUninit<usize>>;

/// The address of an address that C asks for, or NULL.
pub(crate) type Address<'a> = Option<&'a mut MaybeUninit<*const u8>>;

/// Returns the number of a call or of a connection. None of them has the number 0.
pub(crate) fn named(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Returns a number of the editor for C.
pub(crate) fn numbered(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns 0, or the number of the refusal.
pub(crate) fn done(result: Result<(), Code>) -> c_int {
    number(result.map(|()| 0))
}

/// Returns the number, or that of the refusal.
pub(crate) fn number<N: From<c_int>>(result: Result<N, Code>) -> N {
    result.unwrap_or_else(|code| code.number().into())
}

/// Returns the address, and writes the length; NULL and 0 after a refusal.
pub(crate) fn lend(lent: Result<Lent, Code>, len: Length<'_>) -> *const u8 {
    let lent = lent.unwrap_or(Lent::NONE);
    if let Some(len) = len {
        len.write(lent.len);
    }
    lent.ptr
}
