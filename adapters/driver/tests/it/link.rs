//! A link against a scripted socket and a machine that only records.

use crate::tape::{Script, Tape};
use ide_mcp::Time;
use ide_mcp_driver::{BUDGET, Link};
use std::io::{self, ErrorKind};

const START: Time = Time::ZERO;

#[test]
fn read_continues_until_empty_or_ended() {
    // The name of the case; the results of the reads; how many bytes and how many ends must reach the
    // machine, and whether the link must still be due.
    type Case = (&'static str, &'static [Result<usize, ErrorKind>], (usize, usize, bool));
    let cases: &[Case] = &[
        ("nothing", &[], (0, 0, false)),
        ("short reads", &[Ok(1), Ok(999), Ok(1000)], (2000, 0, false)),
        ("the end", &[Ok(5), Ok(0), Ok(9)], (5, 1, false)),
        ("a reset", &[Ok(5), Err(ErrorKind::ConnectionReset), Ok(9)], (5, 2, false)),
        ("an unreachable host", &[Err(ErrorKind::HostUnreachable)], (0, 2, false)),
        ("interrupted: stays due", &[Ok(5), Err(ErrorKind::Interrupted), Ok(9)], (5, 0, true)),
    ];
    for (name, script, expected) in cases {
        let (mut link, mut machine) = (Link::new(Script::reads(script)), Tape::new(0));
        link.read(&mut machine, (), START, BUDGET);
        let found = (machine.filled, machine.ends, link.is_due(&machine, ()));
        assert_eq!(found, *expected, "{name}");
        // Readiness after an end changes nothing. The machine gets one end for the stream, and one more for an
        // error.
        link.ready();
        link.read(&mut machine, (), START, BUDGET);
        assert_eq!(machine.ends, expected.1, "{name}");
    }
}

/// The room for the first reads is 1,000 bytes.
#[test]
fn after_a_read_that_left_room_the_link_waits_for_a_report() {
    type Reads = &'static [Result<usize, ErrorKind>];
    // The name of the case; the results of the reads; the expected bytes after the first report and in total,
    // ends, and read calls.
    let cases: &[(&str, Reads, [usize; 4])] = &[
        ("a short read", &[Ok(5), Ok(7)], [5, 12, 0, 2]),
        ("full, then short", &[Ok(1000), Ok(5), Ok(7)], [1005, 1012, 0, 3]),
        ("full, then nothing", &[Ok(1000), Err(ErrorKind::WouldBlock), Ok(7)], [1000, 1007, 0, 3]),
        ("an end that came later", &[Ok(5), Ok(0)], [5, 5, 1, 2]),
    ];
    for (name, script, [first, all, ends, calls]) in cases {
        let (mut link, mut machine) = (Link::new(Script::reads(script)).short_reads_drain(), Tape::new(0));
        link.read(&mut machine, (), START, BUDGET);
        assert_eq!((machine.filled, link.is_due(&machine, ())), (*first, false), "{name}");
        link.ready();
        link.read(&mut machine, (), START, BUDGET);
        assert_eq!((machine.filled, machine.ends, link.socket().read_calls), (*all, *ends, *calls), "{name}");
    }
    // Nothing is reported after an end, so the link reads until it finds the end.
    let (mut link, mut machine) =
        (Link::new(Script::reads(&[Ok(5), Ok(7), Ok(0)])).short_reads_drain(), Tape::new(0));
    link.report_end();
    link.read(&mut machine, (), START, BUDGET);
    assert_eq!((machine.filled, machine.ends, link.socket().read_calls), (12, 1, 3));
}

/// On Windows a read that finds nothing makes mio report the room again, and a loop that reads then never
/// rests.
#[test]
fn report_of_room_reads_nothing() {
    let (mut link, mut machine) = (Link::new(Script::default().writes(&[Ok(10)])), Tape::new(20));
    link.read(&mut machine, (), START, BUDGET);
    machine.write_to(&mut link, START);
    assert_eq!(
        (link.socket().read_calls, link.socket().write_calls, link.is_due(&machine, ())),
        (1, 2, false)
    );
    link.report_room();
    assert!(link.is_due(&machine, ()));
    link.read(&mut machine, (), START, BUDGET);
    machine.write_to(&mut link, START);
    assert_eq!((link.socket().read_calls, link.socket().write_calls), (1, 3));
}

#[test]
fn link_stays_due_when_its_budget_is_spent() {
    let many = [Ok(1000); 300];
    for (name, budget, calls) in
        [("one read", 1, 1), ("exactly two reads", 2000, 2), ("one byte more", 2001, 3), ("no budget", 0, 0)]
    {
        let (mut link, mut machine) = (Link::new(Script::reads(&many)), Tape::new(0));
        link.read(&mut machine, (), START, budget);
        assert_eq!(link.socket().read_calls, calls, "{name}");
        assert!(link.is_due(&machine, ()), "{name}");
    }
}

#[test]
fn unwanted_input_stays_in_the_socket() {
    let (mut link, mut machine) = (Link::new(Script::reads(&[Ok(10)])), Tape::new(0));
    machine.wants = false;
    link.read(&mut machine, (), START, BUDGET);
    assert_eq!((machine.filled, link.socket().read_calls, link.is_due(&machine, ())), (0, 0, false));
    // The machine wants input again, without new readiness.
    machine.wants = true;
    assert!(link.is_due(&machine, ()));
    link.read(&mut machine, (), START, BUDGET);
    assert_eq!((machine.filled, machine.ends), (10, 0));
}

#[test]
fn write_continues_until_empty_or_ended() {
    // The name of the case; the results of writing 10 bytes; how many bytes must be left, how many ends must
    // reach the machine, and whether the link must still be due.
    type Case = (&'static str, &'static [Result<usize, ErrorKind>], (usize, usize, bool));
    let cases: &[Case] = &[
        ("all at once", &[Ok(10)], (0, 0, true)),
        ("short writes", &[Ok(1), Ok(3), Ok(6)], (0, 0, true)),
        ("no room", &[Ok(4)], (6, 0, true)),
        ("interrupted", &[Ok(4), Err(ErrorKind::Interrupted), Ok(6)], (0, 0, true)),
        ("a broken pipe", &[Ok(4), Err(ErrorKind::BrokenPipe), Ok(6)], (6, 2, false)),
        ("nothing is taken", &[Ok(0), Ok(6)], (10, 2, false)),
    ];
    for (name, script, expected) in cases {
        let (mut link, mut machine) = (Link::new(Script::default().writes(script)), Tape::new(10));
        machine.write_to(&mut link, START);
        assert_eq!((machine.outgoing.len(), machine.ends, link.is_due(&machine, ())), *expected, "{name}");
    }
    // Without room nothing is due until the socket is ready again.
    let (mut link, mut machine) = (Link::new(Script::default()), Tape::new(10));
    link.read(&mut machine, (), START, BUDGET);
    machine.write_to(&mut link, START);
    assert!(!link.is_due(&machine, ()));
    link.ready();
    assert!(link.is_due(&machine, ()));
}

#[test]
fn failed_write_first_reads_arrived_input() {
    // The first read finds nothing, and the input arrives before the write.
    let script =
        Script::reads(&[Err(ErrorKind::WouldBlock), Ok(30), Ok(12), Err(ErrorKind::ConnectionReset)])
            .writes(&[Err(ErrorKind::BrokenPipe)]);
    let (mut link, mut machine) = (Link::new(script), Tape::new(10));
    link.read(&mut machine, (), START, BUDGET);
    assert_eq!((machine.filled, link.may_read()), (0, false));
    machine.write_to(&mut link, START);
    assert_eq!((machine.filled, machine.ends), (42, 2));
    assert_eq!(link.error().map(io::Error::kind), Some(ErrorKind::BrokenPipe));
    link.ready();
    machine.write_to(&mut link, START);
    assert_eq!((link.socket().write_calls, machine.ends), (1, 2));
}

/// Returns a link that has written its last bytes. The script has the results of the reads that follow.
fn farewell(reads: &[Result<usize, ErrorKind>]) -> Link<Script> {
    let mut link = Link::new(Script::reads(reads).writes(&[Ok(10)]));
    let mut machine = Tape::new(10);
    machine.done = true;
    assert!(link.is_due(&machine, ()));
    machine.write_to(&mut link, START);
    assert_eq!((link.socket().shutdowns, link.is_ending(), link.is_over()), (1, true, false));
    link
}

#[test]
fn closed_link_shuts_down_and_discards_input_briefly() {
    let flood = [Ok(4096); 20];
    let almost: Vec<_> = [Ok(4096); 15].into_iter().chain([Ok(4095)]).collect();
    let cases: &[(&str, &[Result<usize, ErrorKind>], usize, bool)] = &[
        ("silence", &[], 0, false),
        ("a little", &[Ok(100)], 100, false),
        ("the end", &[Ok(100), Ok(0)], 100, true),
        ("a reset", &[Err(ErrorKind::ConnectionReset)], 0, true),
        ("a connection that timed out", &[Err(ErrorKind::TimedOut)], 0, true),
        ("one byte below the limit", &almost, 64 * 1024 - 1, false),
        ("the limit", &flood, 64 * 1024, true),
    ];
    for (name, reads, discarded, over) in cases {
        let mut link = farewell(reads);
        assert_eq!(link.deadline(START), Some(START), "{name}");
        link.discard(START, BUDGET);
        assert_eq!((link.socket().discarded, link.is_over()), (*discarded, *over), "{name}");
        let until = Time::from_millis(1000);
        assert_eq!(link.deadline(START), (!over).then_some(until), "{name}");
        link.discard(Time::from_millis(999), BUDGET);
        assert_eq!(link.is_over(), *over, "{name}");
        link.discard(until, BUDGET);
        assert!(link.is_over(), "{name}");
        assert_eq!(link.deadline(until), None, "{name}");
    }
}

#[test]
fn interrupted_discarding_goes_on() {
    let mut link = farewell(&[Ok(100), Err(ErrorKind::Interrupted), Ok(50)]);
    for discarded in [100, 150] {
        link.discard(START, BUDGET);
        assert_eq!((link.socket().discarded, link.is_over()), (discarded, false));
    }
}

#[test]
fn discarding_keeps_to_its_budget() {
    let mut link = farewell(&[Ok(10); 5]);
    link.discard(START, 1);
    assert_eq!((link.socket().discarded, link.is_over()), (10, false));
    assert_eq!(link.deadline(START), Some(START));
}

#[test]
fn link_ends_at_once_if_waiting_is_pointless() {
    let ending = |mut link: Link<Script>, machine: &mut Tape| {
        machine.done = true;
        machine.write_to(&mut link, START);
        (link.is_over(), link.socket().shutdowns)
    };
    let nothing_written = Link::new(Script::default());
    assert_eq!(ending(nothing_written, &mut Tape::new(0)), (true, 0), "nothing was ever written");

    let mut gone = Link::new(Script::reads(&[Ok(0)]).writes(&[Ok(10)]));
    let mut machine = Tape::new(10);
    machine.write_to(&mut gone, START);
    gone.read(&mut machine, (), START, BUDGET);
    assert_eq!(ending(gone, &mut machine), (true, 0), "the peer has gone");

    let refuses = Script { shutdown_fails: true, ..Script::default().writes(&[Ok(10)]) };
    assert_eq!(ending(Link::new(refuses), &mut Tape::new(10)), (true, 1), "the shutdown fails");
}

#[test]
fn closed_link_does_not_use_its_machine() {
    let mut link = farewell(&[Ok(10)]);
    let mut machine = Tape::new(10);
    link.read(&mut machine, (), START, BUDGET);
    machine.write_to(&mut link, START);
    assert_eq!((machine.filled, machine.outgoing.len(), link.is_due(&machine, ())), (0, 10, false));
}

#[test]
fn an_idle_machine_is_trimmed_once() {
    let (mut link, mut machine) = (Link::new(Script::reads(&[Ok(1000), Ok(1000), Ok(49)])), Tape::new(0));
    assert_eq!(link.deadline(START), None);
    link.read(&mut machine, (), START, BUDGET);
    let idle = Time::from_millis(1000);
    assert_eq!(link.deadline(START), Some(idle));
    machine.write_to(&mut link, Time::from_millis(999));
    assert_eq!(machine.trims, 0);
    machine.write_to(&mut link, idle);
    machine.write_to(&mut link, idle);
    assert_eq!((machine.trims, link.deadline(idle)), (1, None));
}

#[test]
fn machine_is_trimmed_at_once_after_little_traffic() {
    let (mut link, mut machine) =
        (Link::new(Script::reads(&[Ok(1000), Ok(1000), Ok(38)]).writes(&[Ok(10)])), Tape::new(10));
    machine.write_to(&mut link, START);
    assert_eq!(machine.trims, 0, "the socket may have more to read");
    link.read(&mut machine, (), START, BUDGET);
    machine.write_to(&mut link, START);
    assert_eq!(machine.trims, 1, "2,048 bytes have moved");
}

#[test]
fn machine_is_trimmed_at_once_after_little_traffic_in_a_later_period() {
    let (mut link, mut machine) = (Link::new(Script::reads(&[Ok(1000); 3])), Tape::new(0));
    let end_of_period = Time::from_millis(1000);
    link.read(&mut machine, (), START, BUDGET);
    machine.write_to(&mut link, end_of_period);
    assert_eq!(machine.trims, 1, "3,000 bytes have moved");
    link.socket_mut().reads.push_back(Ok(1000));
    link.ready();
    link.read(&mut machine, (), end_of_period, BUDGET);
    machine.write_to(&mut link, end_of_period);
    assert_eq!(machine.trims, 2, "1,000 bytes have moved in the next period");
}

#[test]
fn busy_machine_is_trimmed_once_per_second() {
    let mut link = Link::new(Script::reads(&[]));
    let mut machine = Tape::new(0);
    for turn in 0..100 {
        link.socket_mut().reads.push_back(Ok(1000));
        link.ready();
        let now = Time::from_millis(turn * 50);
        link.read(&mut machine, (), now, BUDGET);
        machine.write_to(&mut link, now);
    }
    // One trim at the end of each of the five seconds, and one after each read at the beginning of a second,
    // while few bytes have moved.
    assert!((5..=15).contains(&machine.trims), "{}", machine.trims);
}

#[test]
fn connecting_socket_is_untouched_until_ready() {
    let (mut link, mut machine) =
        (Link::connecting(Script::reads(&[Ok(3)]).writes(&[Ok(10)])), Tape::new(10));
    link.read(&mut machine, (), START, BUDGET);
    machine.write_to(&mut link, START);
    assert_eq!(
        (link.socket().read_calls, link.socket().write_calls, link.is_due(&machine, ())),
        (0, 0, false)
    );
    link.ready();
    link.read(&mut machine, (), START, BUDGET);
    machine.write_to(&mut link, START);
    assert_eq!((machine.filled, machine.outgoing.len()), (3, 0));
}
