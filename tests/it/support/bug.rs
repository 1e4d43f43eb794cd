//! The planted bugs, and which law each breaks.

use super::law::Law;

/// The bug of a [`Mutant`](super::mutant::Mutant).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// No bug: the wrapper itself holds the laws.
    Harmless,
    PanicsOnAByte,
    PanicsWhenTimeGoesBack,
    PanicsAtTheEndOfTime,
    PanicsOnMoreThanItsSpace,
    DropsAnEventAtACut,
    OutputShowsCuts,
    TrimLosesOutput,
    ClosedTwice,
    EventAfterClosed,
    NeverCloses,
    NeverDone,
    ActsAfterClosed,
    DeadlineStuckInThePast,
    NeverIdle,
    DeadlineHidesAnEvent,
    DeadlineMissesTheEnd,
    OutputUnseen,
    AlwaysWantsInput,
    TakesEverythingUnpolled,
    OverfedInSilence,
    OffersSpaceItDoesNotWant,
    AnswersTwice,
    NeverAnswers,
    AnswersUnderAnotherId,
    OmitsTheEndOfACall,
    ReportsTheEndOfACallTwice,
    RefusalLeavesAByte,
    RefusalMovesTheDeadline,
    RefusalShowsLater,
    CopiesAllForEachByte,
    ReadsAllForEachByte,
    /// Two machines with this bug wait for each other.
    StopsReadingAboveItsMark,
    ShortWriteLosesAByte,
    OffersAgainToAFullSocket,
}

impl Bug {
    /// The bugs that any machine can have, and the law that each bug breaks.
    pub const ANYWHERE: &[(Self, Law)] = &[
        (Self::PanicsOnAByte, Law::Total),
        (Self::PanicsWhenTimeGoesBack, Law::Total),
        (Self::PanicsAtTheEndOfTime, Law::Total),
        (Self::PanicsOnMoreThanItsSpace, Law::Total),
        (Self::DropsAnEventAtACut, Law::Cuts),
        (Self::OutputShowsCuts, Law::Cuts),
        (Self::TrimLosesOutput, Law::Cuts),
        (Self::ClosedTwice, Law::OneEnding),
        (Self::EventAfterClosed, Law::OneEnding),
        (Self::NeverCloses, Law::OneEnding),
        (Self::NeverDone, Law::OneEnding),
        (Self::ActsAfterClosed, Law::OneEnding),
        (Self::DeadlineStuckInThePast, Law::ClockMovesOn),
        (Self::NeverIdle, Law::ClockMovesOn),
        (Self::DeadlineHidesAnEvent, Law::NothingUnseen),
        (Self::DeadlineMissesTheEnd, Law::NothingUnseen),
        (Self::OutputUnseen, Law::NothingUnseen),
        (Self::AlwaysWantsInput, Law::Bounded),
        (Self::TakesEverythingUnpolled, Law::Bounded),
        (Self::OverfedInSilence, Law::Bounded),
        (Self::OffersSpaceItDoesNotWant, Law::Bounded),
        (Self::RefusalLeavesAByte, Law::RefusalsFree),
        (Self::RefusalMovesTheDeadline, Law::RefusalsFree),
        (Self::RefusalShowsLater, Law::RefusalsFree),
        (Self::CopiesAllForEachByte, Law::Linear),
        (Self::ReadsAllForEachByte, Law::Linear),
        (Self::StopsReadingAboveItsMark, Law::Rest),
        (Self::ShortWriteLosesAByte, Law::LosesNothing),
        (Self::OffersAgainToAFullSocket, Law::LosesNothing),
    ];

    /// The bugs that only a machine with calls can have.
    pub const WITH_CALLS: &[(Self, Law)] = &[
        (Self::AnswersTwice, Law::AnsweredOnce),
        (Self::NeverAnswers, Law::AnsweredOnce),
        (Self::AnswersUnderAnotherId, Law::AnsweredOnce),
        (Self::OmitsTheEndOfACall, Law::AnsweredOnce),
        (Self::ReportsTheEndOfACallTwice, Law::AnsweredOnce),
    ];

    /// The bugs that only a machine that sends requests can have.
    pub const WITH_REQUESTS: &[(Self, Law)] = &[
        (Self::OmitsTheEndOfACall, Law::AnsweredOnce),
        (Self::ReportsTheEndOfACallTwice, Law::AnsweredOnce),
    ];
}
