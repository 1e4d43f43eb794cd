//! What every adapter must do: the same cases with the same results.
//!
//! A row of the table below is one case; its body names the topic, which is a module of `cases`. Each row
//! becomes three tests, `mio::…`, `smol::…` and `blocking::…`, and some rows a fourth, `nested::…`. The tests
//! use real loopback sockets, real directories and real time. The three tests with a thousand unauthenticated
//! peers may run at the same time, and all their sockets belong to this process. That needs some 3,300 file
//! descriptors; each of these tests raises the soft limit to the hard limit if necessary.

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
mod over_nested;
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

// The cases in which the descriptor matters.
table!(@ nested over_nested::Nested
    attaching several_agents_attach_call_and_leave
    bytes e03_large_text_passes_a_server_both_ways
    peers peer_that_never_reads_delays_no_other
    peers peer_that_never_finishes_handshake_is_dropped
    peers e03_noisy_peer_never_starves_a_quiet_one
    endings server_survives_every_ending_in_every_state
    endings requests_before_the_end_are_answered
    shutdown shutdown_rejects_diffs_and_closes_all
    shutdown l06_a_lock_file_that_vanishes_comes_back
    shutdown shutdown_ends_connections_in_every_state
    waking e04_a_hundred_thousand_wakes_lose_nothing
    waking answer_outside_of_an_event_is_sent
    idling an_idle_server_wakes_only_for_timers
    starting options_are_published_and_kept
    starting handles_reach_the_server_in_order
    starting shortcuts_of_a_handle_have_their_effects
    starting full_queue_refuses_until_next_turn
    starting handle_ends_with_its_server
    starting idle_server_ends_at_once
);

table! {
    #[test]
    fn agent_attaches_calls_and_detaches() {
        agents
    }

    #[test]
    fn idle_agent_is_ready_at_the_editor() {
        agents
    }

    #[test]
    fn detach_before_the_answer_ends_at_once() {
        agents
    }

    #[test]
    fn agent_that_is_not_admitted_names_the_remedy() {
        agents
    }

    #[test]
    fn agent_between_two_editors_names_both() {
        agents
    }

    #[test]
    fn agent_finds_restarted_editor_twice() {
        agents
    }

    #[test]
    fn agent_gives_up_if_editor_stays_away() {
        agents
    }

    #[test]
    fn agent_ends_if_lock_file_is_wrong() {
        agents
    }

    #[test]
    fn agent_without_reconnect_ends_with_its_connection() {
        agents
    }

    #[test]
    fn events_during_a_call_keep_their_order() {
        agents
    }

    #[test]
    fn several_agents_attach_call_and_leave() {
        attaching
    }

    #[test]
    fn wrong_token_receives_refusal_before_the_reset() {
        attaching
    }

    #[test]
    fn n04_server_listens_as_configured() {
        attaching
    }

    #[test]
    fn n06_parallel_starts_get_different_ports() {
        attaching
    }

    #[test]
    fn single_bytes_are_joined_to_messages() {
        bytes
    }

    #[test]
    fn e03_both_ends_send_more_than_the_high_water_mark() {
        bytes
    }

    #[test]
    fn e03_large_messages_pass_through_a_tiny_buffer() {
        bytes
    }

    #[test]
    fn e03_large_text_passes_a_server_both_ways() {
        bytes
    }

    #[test]
    fn n05_a_thousand_unauthenticated_peers_keep_nobody_out() {
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
    fn one_connection_ends_by_a_reset() {
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
    fn requests_before_the_end_are_answered() {
        endings
    }

    #[test]
    fn shutdown_rejects_diffs_and_closes_all() {
        shutdown
    }

    #[test]
    fn l05_lock_file_is_removed_before_listener_closes() {
        shutdown
    }

    #[test]
    fn l06_a_lock_file_that_vanishes_comes_back() {
        shutdown
    }

    #[test]
    fn shutdown_ends_connections_in_every_state() {
        shutdown
    }

    #[test]
    fn e04_a_hundred_thousand_wakes_lose_nothing() {
        waking
    }

    #[test]
    fn answer_outside_of_an_event_is_sent() {
        waking
    }

    #[test]
    fn an_idle_server_wakes_only_for_timers() {
        idling
    }

    #[test]
    fn options_are_published_and_kept() {
        starting
    }

    #[test]
    fn each_start_generates_another_token() {
        starting
    }

    #[test]
    fn misuse_of_start_has_clear_errors() {
        starting
    }

    #[test]
    fn failing_random_source_has_a_clear_error() {
        starting
    }

    #[test]
    fn handles_reach_the_server_in_order() {
        starting
    }

    #[test]
    fn shortcuts_of_a_handle_have_their_effects() {
        starting
    }

    #[test]
    fn full_queue_refuses_until_next_turn() {
        starting
    }

    #[test]
    fn handle_ends_with_its_server() {
        starting
    }

    #[test]
    fn idle_server_ends_at_once() {
        starting
    }
}
