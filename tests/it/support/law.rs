//! The laws by name, and how a test says which one is broken.

use std::fmt;
use std::panic::resume_unwind;

/// The laws, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    Total = 1,
    Cuts,
    OneEnding,
    ClockMovesOn,
    NothingUnseen,
    Bounded,
    AnsweredOnce,
    RefusalsFree,
    Linear,
    Rest,
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Total => "total",
            Self::Cuts => "cuts do not matter",
            Self::OneEnding => "one ending",
            Self::ClockMovesOn => "the clock moves on",
            Self::NothingUnseen => "nothing waits unseen",
            Self::Bounded => "bounded",
            Self::AnsweredOnce => "every call is answered once",
            Self::RefusalsFree => "refusals are free",
            Self::Linear => "linear",
            Self::Rest => "both come to rest",
        };
        write!(f, "law {} ({name})", *self as u8)
    }
}

/// A law that does not hold: what the test panics with.
#[derive(Debug)]
pub struct Broken {
    pub law: Law,
}

/// Ends the test: `law` does not hold.
#[track_caller]
pub fn broken(law: Law, message: impl fmt::Display) -> ! {
    // The payload keeps the law, so that a test of this test can ask which one it was.
    eprintln!("{law} does not hold: {message}\n  at {}", std::panic::Location::caller());
    resume_unwind(Box::new(Broken { law }))
}
