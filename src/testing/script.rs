//! What happens to a [`Pair`](super::Pair), step by step, as a fuzzer or a property test makes it up.

use core::{num::NonZeroU8, time::Duration};

use arbitrary::{Arbitrary, Unstructured};

/// One step; `A` is what an application may do, an enum of your own or [`AgentAct`](super::AgentAct).
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a script is written by hand as well")]
pub enum Step<A> {
    /// An application does something.
    Act(A),
    /// The link changes.
    Link(Way, Change),
    /// So much time passes, and whatever is due in it happens at its time.
    Wait(Span),
    /// So much time is gone, as when a laptop has slept: nobody looked at any deadline in it.
    Sleep(Span),
    /// Time passes until the next thing is due.
    Due,
}

/// A direction.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there are two")]
pub enum Way {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// What becomes of a link from here on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Bytes arrive in pieces of at most so many.
    Piece(NonZeroU8),
    /// Bytes are on the way for so long.
    Delay(Span),
    /// Nothing arrives for so long.
    Stall(Span),
    /// Bytes arrive whole and at once.
    Clear,
    /// Nothing more is taken; what is on the way arrives, and then the end.
    Finish,
    /// Both directions end at once, and what is on the way is lost.
    Cut,
}

impl<'a> Arbitrary<'a> for Change {
    /// One change in sixteen ends the connection, so that most of a script happens on a living one.
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(match u.int_in_range(0..=31)? {
            0 => Self::Finish,
            1 => Self::Cut,
            2..=9 => Self::Piece(u.arbitrary()?),
            10..=17 => Self::Delay(u.arbitrary()?),
            18..=23 => Self::Stall(u.arbitrary()?),
            _ => Self::Clear,
        })
    }
}

/// A span of time, from nothing to half an hour, short ones as likely as long ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(u64);

impl Span {
    /// So many milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// How long it is.
    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl<'a> Arbitrary<'a> for Span {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let millis = u64::from(u.arbitrary::<u8>()?);
        let doubled = u.int_in_range(0..=13)?;
        Ok(Self(millis.checked_shl(doubled).unwrap_or(millis)))
    }
}

/// The steps that these bytes are, to their end. The same bytes are the same steps.
pub fn script<'a, A: Arbitrary<'a> + 'a>(data: &'a [u8]) -> impl Iterator<Item = Step<A>> + 'a {
    let mut rest = Unstructured::new(data);
    core::iter::from_fn(move || if rest.is_empty() { None } else { Step::arbitrary(&mut rest).ok() })
}
