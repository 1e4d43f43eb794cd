//! The laws by name, and how a test reports a broken one.

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
    LosesNothing,
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
            Self::LosesNothing => "a loop that keeps the rules loses nothing",
        };
        write!(f, "law {} ({name})", *self as u8)
    }
}

/// The payload of a panic: a law that does not hold.
#[derive(Debug)]
pub struct Broken {
    pub law: Law,
}

/// Ends the test, because `law` does not hold.
#[track_caller]
pub fn broken(law: Law, message: impl fmt::Display) -> ! {
    // The payload has the law, so that the tests with planted bugs can check it.
    eprintln!("{law} does not hold: {message}\n  at {}", std::panic::Location::caller());
    resume_unwind(Box::new(Broken { law }))
}
