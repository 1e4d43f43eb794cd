//! Why a function of C does nothing.

use ide_mcp_embed::{CommandError, CommandErrorKind};
use std::ffi::c_int;
use std::fmt;

/// The kind of a [`Refusal`]: `enum idemcp_refusal` of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Code {
    Misuse = -1,
    Invalid = -2,
    Gone = -3,
    Refused = -4,
    Io = -5,
    Panic = -6,
}

impl Code {
    pub(crate) const fn number(self) -> c_int {
        self as c_int
    }
}

/// Why a function of C does nothing: a kind for the program, and a message for a person.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl fmt::Display) -> Self {
        Self { code, message: message.to_string() }
    }
}

impl From<CommandError> for Refusal {
    fn from(error: CommandError) -> Self {
        let code = match error.kind() {
            CommandErrorKind::Gone => Code::Gone,
            CommandErrorKind::Refused => Code::Refused,
            CommandErrorKind::Io => Code::Io,
            CommandErrorKind::Invalid | _ => Code::Invalid,
        };
        Self::new(code, error)
    }
}
