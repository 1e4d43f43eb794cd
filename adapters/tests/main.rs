//! The behaviour of every adapter: the same cases with the same results.
//!
//! A row of the table below is one case, with its topic. The row becomes three tests, `mio::…`,
//! `smol::…` and `blocking::…`. The tests use real loopback sockets, real directories and real
//! time. Three tests with a thousand strangers can run at once, and the sockets of the strangers
//! belong to this process. So these tests need some 3,300 file descriptors, and raise the limit as
//! far as they can.

#![allow(
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    clippy::disallowed_methods,
    reason = "a test states what it expects, and measures how long it takes"
)]

mod adapter;
mod cases;
mod over_blocking;
mod over_mio;
mod over_smol;
mod plain;
mod support;

macro_rules! table {
    ($(#[test] fn $case:ident() { $topic:ident })*) => {
        table!(@ mio over_mio::Mio $($topic $case)*);
        table!(@ smol over_smol::Smol $($topic $case)*);
        table!(@ blocking over_blocking::Blocking $($topic $case)*);
    };
    (@ $name:ident $module:ident::$adapter:ident $($topic:ident $case:ident)*) => {
        mod $name {
            use crate::{cases, $module::$adapter};
            $(
                #[test]
                fn $case() {
                    cases::$topic::$case::<$adapter>();
                }
            )*
        }
    };
}

table! {
    #[test]
    fn several_agents_attach_call_and_leave() {
        attaching
    }

    #[test]
    fn wrong_token_receives_refusal_before_the_reset() {
        attaching
    }

    #[test]
    fn n04_where_it_listens() {
        attaching
    }

    #[test]
    fn n06_two_that_start_at_once_never_collide() {
        attaching
    }

    #[test]
    fn one_byte_at_a_time() {
        bytes
    }

    #[test]
    fn e03_large_messages_pass_through_a_tiny_buffer() {
        bytes
    }

    #[test]
    fn e03_much_goes_through_a_server_both_ways() {
        bytes
    }

    #[test]
    fn n05_a_thousand_strangers_keep_nobody_out() {
        peers
    }

    #[test]
    fn peer_that_never_reads_delays_no_other() {
        peers
    }

    #[test]
    fn peer_that_never_finishes_handshake_is_dropped() {
        peers
    }

    #[test]
    fn e03_noisy_peer_never_starves_a_quiet_one() {
        peers
    }

    #[test]
    fn one_connection_ends_in_every_way() {
        endings
    }

    #[test]
    fn unused_address_refuses_connection() {
        endings
    }

    #[test]
    fn junk_is_answered_with_a_close_frame() {
        endings
    }

    #[test]
    fn server_survives_every_ending_in_every_state() {
        endings
    }

    #[test]
    fn shutdown_rejects_diffs_and_closes_all() {
        shutdown
    }

    #[test]
    fn l05_a_lock_file_goes_before_the_listener() {
        shutdown
    }

    #[test]
    fn l06_a_lock_file_that_vanishes_comes_back() {
        shutdown
    }

    #[test]
    fn shutting_down_ends_every_state() {
        shutdown
    }

    #[test]
    fn e04_a_hundred_thousand_wakes_lose_nothing() {
        waking
    }

    #[test]
    fn an_answer_of_later_goes_out() {
        waking
    }

    #[test]
    fn an_idle_server_wakes_for_timers_alone() {
        idling
    }
}
