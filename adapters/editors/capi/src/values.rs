//! Converts numbers and results between C and Rust.

use crate::lent::Lent;
use crate::refusal::Code;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// Where C wants a length, or NULL.
pub(crate) type Length<'a> = Option<&'a mut MaybeUninit<usize>>;

/// Where C wants an address, or NULL.
pub(crate) type Address<'a> = Option<&'a mut MaybeUninit<*const u8>>;

/// Converts the number of a call or connection. A negative number becomes 0, which none of them has.
pub(crate) fn id_from_c(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Converts a number for C.
pub(crate) fn id_to_c(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns 0, or the number of the refusal.
pub(crate) fn status(result: Result<(), Code>) -> c_int {
    value_or_code(result.map(|()| 0))
}

/// Returns the number, or the number of the refusal.
pub(crate) fn value_or_code<N: From<c_int>>(result: Result<N, Code>) -> N {
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
