//! The steps of a test with a [`Pair`](super::Pair), as a fuzzer or a property test generates them.

use core::{num::NonZeroU8, time::Duration};

use arbitrary::{Arbitrary, Unstructured};

/// A step. `A` is what an application does: an enum of your own, or [`AgentAct`](super::AgentAct).
#[derive(Arbitrary, Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "scripts are also written by hand")]
pub enum Step<A> {
    /// An application does this.
    Act(A),
    /// The link in this direction changes.
    Link(Way, Change),
    /// This span passes. Everything that is due within it happens at its time.
    Wait(Span),
    /// This span passes in one step, as when a laptop was suspended: the machines are not polled at the deadlines
    /// within it.
    Sleep(Span),
    /// Time passes until the next timer is due or the next bytes arrive.
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

/// How a link changes, from this step on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Bytes arrive in pieces of at most this many.
    Piece(NonZeroU8),
    /// Further bytes are delayed by this span.
    Delay(Span),
    /// Nothing arrives for this span.
    Stall(Span),
    /// Everything arrives in one piece and without delay.
    Clear,
    /// The link takes no more bytes. Those on the way arrive, and then the end.
    Finish,
    /// Both directions end at once. The bytes on the way are lost.
    Cut,
}

impl<'a> Arbitrary<'a> for Change {
    /// Returns a change. One in sixteen ends the connection, so that most steps of a script happen on an open one.
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

/// A span of time, from zero to 35 minutes. Short spans are as likely as long ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(u64);

impl Span {
    /// Creates a span of this many milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the duration of the span.
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

/// Returns the steps that `data` encodes, to the end of `data`. The same bytes always give the same steps.
pub fn script<'a, A: Arbitrary<'a> + 'a>(data: &'a [u8]) -> impl Iterator<Item = Step<A>> + 'a {
    let mut rest = Unstructured::new(data);
    core::iter::from_fn(move || if rest.is_empty() { None } else { Step::arbitrary(&mut rest).ok() })
}
