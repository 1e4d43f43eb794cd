//! The eleven laws of `Machine` as one test: `laws(&subject)`.
//!
//! A [`Subject`] supplies its machine, the valid input, and an application that reacts; everything else is common to
//! all subjects. The order of the checks is the order of the laws. In each check, [`Run`] asserts the laws that concern
//! every single output: 3, 4, 5, and the part of 11 about bytes.

pub use super::law::{Broken, Law, broken};
pub use super::subject::{Calls, EventOf, LATE, Record, Subject};

use super::cost;
use super::line::Line;
use super::plan::{Cutting, Plan};
use super::run::Run;
use ide_mcp::Time;
use ide_mcp::testing::Random;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

/// Checks all eleven laws for a subject.
pub fn laws<S: Subject>(subject: &S) {
    let checks: [(&str, fn(&S)); 10] = [
        ("total", total),
        ("cuts", cuts),
        ("one ending", one_ending),
        ("time", time),
        ("bounded", bounded),
        ("calls", calls),
        ("refusals", refusals),
        ("linear", linear),
        ("rest", rest),
        ("driven", driven),
    ];
    for (name, check) in checks {
        let result = catch_unwind(AssertUnwindSafe(|| check(subject)));
        let Err(payload) = result else { continue };
        if payload.is::<Broken>() {
            eprintln!("  in the check `{name}` of {}", subject.name());
            resume_unwind(payload);
        }
        broken(Law::Total, format_args!("{} panicked in the check `{name}`", subject.name()));
    }
}

/// Checks law 1 with any input, in any order of calls, at any times.
fn total<S: Subject>(subject: &S) {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let input = any_input(subject, &mut random);
        let mut run = Run::new(subject, seed, random.number() % (LATE + 1));
        let mut rest = input.as_slice();
        for _ in 0..120 {
            match random.below(17) {
                0..=4 => {
                    let (piece, behind) = rest.split_at(random.below(rest.len().min(600) + 1));
                    rest = behind;
                    run.feed(run.now(), piece);
                }
                5 => {
                    let junk_len = random.below(40);
                    let junk = random.bytes(junk_len);
                    run.feed(run.now(), &junk);
                }
                6 => {
                    let n = [0, 1, 7, usize::MAX][random.below(4)];
                    run.fill_with(any_time(&mut random, run.now()), n);
                }
                7 => run.tick(any_time(&mut random, run.now())),
                8..=10 => run.settle(),
                11 => run.poll(),
                12 => run.write(random.below(300)),
                13 => run.write(usize::MAX),
                14 => run.trim(),
                15 => run.aside(any_time(&mut random, run.now())),
                _ if random.one_in(12) => run.eof(run.now()),
                _ => {
                    run.refuse();
                }
            }
        }
        run.finish();
    }
}

/// Checks law 2 with the same bytes at the same times and the same room in the socket, cut in different
/// places.
fn cuts<S: Subject>(subject: &S) {
    let scripts = subject.scripts();
    for seed in 0..90 {
        let mut random = Random::new(seed);
        // The first seeds use the scripts unchanged.
        let input = match scripts.get(usize::try_from(seed).unwrap()) {
            Some(script) => script.clone(),
            None => any_input(subject, &mut random),
        };
        let plan = Plan::new(&input, &mut random);
        let whole = plan.play(subject, seed, None);
        for cutting in 0..4 {
            let cut = plan.play(subject, seed, Some(Cutting { seed: cutting, bytewise: cutting == 0 }));
            if cut != whole {
                let how = if cutting == 0 { "a byte at a time".into() } else { format!("cutting {cutting}") };
                broken(
                    Law::Cuts,
                    format_args!("{}, seed {seed}, {how}, {}", subject.name(), whole.difference(&cut)),
                );
            }
        }
    }
}

/// Checks law 3 after random prefixes of the scripts. What ends the connection is the transport, a timeout, or input
/// fed against `wants_input`.
fn one_ending<S: Subject>(subject: &S) {
    for script in subject.scripts() {
        for seed in 0..24 {
            let mut random = Random::new(seed);
            let mut run = Run::new(subject, seed, seed % (LATE + 1));
            run.feed(run.now(), &script[..random.below(script.len() + 1)]);
            if random.one_in(2) {
                run.settle();
            }
            match seed % 3 {
                0 => run.eof(run.now()),
                1 => run.overfeed(),
                _ => {}
            }
            if random.one_in(2) {
                run.settle();
            }
            run.finish();
        }
    }
}

/// Checks laws 4 and 5 at each deadline of a quiet peer, and at early, late and repeated ticks.
fn time<S: Subject>(subject: &S) {
    for script in subject.scripts() {
        for seed in 0..=LATE {
            let mut random = Random::new(seed);
            let mut run = Run::new(subject, seed, seed);
            for piece in script.chunks(script.len() / 4 + 1) {
                if random.one_in(2) {
                    run.aside(run.now().saturating_add(Duration::from_millis(random.number() % 1000)));
                    run.settle();
                }
                run.feed(run.now(), piece);
                run.settle();
                if random.one_in(2) {
                    run.write(usize::MAX);
                    run.settle();
                }
                for _ in 0..3 {
                    let due = run.deadline().unwrap_or_else(|| run.now().saturating_add(A_LONG_TIME));
                    let early = Duration::from_millis(u64::try_from(random.below(3)).unwrap());
                    let at = Time::new(due.since_start().saturating_sub(early));
                    run.tick(if random.one_in(8) {
                        due.saturating_add(Duration::from_secs(8 * 3600))
                    } else {
                        at
                    });
                    run.tick(run.now());
                }
            }
            run.finish();
        }
    }
}

/// More than the time for an opening handshake of any subject.
const A_LONG_TIME: Duration = Duration::from_secs(8);

/// Checks law 6 with a caller that never writes, a caller that never polls, and a caller that feeds
/// against `wants_input`.
fn bounded<S: Subject>(subject: &S) {
    let name = subject.name();
    let limit = S::MARK + subject.slack();
    let message = subject.message(200);

    // The caller never writes.
    let mut run = Run::new(subject, 0, 0);
    open(&mut run);
    let mut fed = 0;
    let cost = cost::of(|| {
        while run.wants_input() {
            if fed > 64 * limit {
                broken(Law::Bounded, format_args!("{name} never stops reading although nothing is written"));
            }
            run.forget();
            run.feed(run.now(), &message);
            fed += message.len();
            run.settle();
            let waiting = run.unwritten();
            if waiting > limit {
                broken(Law::Bounded, format_args!("{name} has {waiting} bytes of output, {limit} allowed"));
            }
        }
    });
    // A buffer can be twice as large as its content, and the receive buffer has its own 256 KiB.
    let most = u64::try_from(3 * (limit + S::ROOM) + 512 * 1024).unwrap();
    if cost.peak > most {
        broken(Law::Bounded, format_args!("{name} held {} bytes, {most} allowed", cost.peak));
    }
    if !run.has_closed() {
        run.write(usize::MAX);
        run.settle();
        if !run.wants_input() {
            broken(Law::Bounded, format_args!("{name} does not read on once everything is written"));
        }
    }
    run.finish();

    // The caller never polls.
    let mut run = Run::new(subject, 0, 0);
    open(&mut run);
    let mut taken = 0;
    for piece in std::iter::repeat(&message).flat_map(|message| message.chunks(1000)) {
        if !run.wants_input() {
            break;
        }
        taken += run.read(run.now(), piece);
        if taken > 256 * 1024 {
            broken(Law::Bounded, format_args!("{name} took {taken} bytes unpolled, 256 KiB allowed"));
        }
    }
    run.overfeed();
    run.settle();
    if !run.has_closed() {
        broken(Law::Bounded, format_args!("{name} was fed against `wants_input` and has not ended"));
    }
    run.finish();
}

/// Checks law 7 with applications that treat their calls in different ways, and with different ends
/// of the connection.
fn calls<S: Subject>(subject: &S) {
    let scripts = subject.scripts();
    for seed in 0..120_usize {
        let mut random = Random::new(seed.try_into().unwrap());
        let script = &scripts[seed % scripts.len()];
        let mut run = Run::new(subject, random.number(), random.number() % (LATE + 1));
        // One run in three is cut short.
        let len = if random.one_in(3) { random.below(script.len() + 1) } else { script.len() };
        let mut rest = &script[..len];
        while !rest.is_empty() && run.wants_input() {
            let (piece, behind) = rest.split_at(1 + random.below(rest.len()));
            rest = behind;
            if random.one_in(4) {
                run.aside(run.now().saturating_add(Duration::from_millis(random.number() % 1000)));
            }
            run.feed(run.now(), piece);
            if rest.is_empty() && random.one_in(4) {
                run.eof(run.now());
            }
            run.settle();
            if random.one_in(3) {
                run.tick(
                    run.now()
                        .saturating_add(Duration::from_millis(u64::try_from(random.below(40_000)).unwrap())),
                );
            }
            if random.one_in(2) {
                run.write(usize::MAX);
                run.settle();
            }
        }
        run.finish();
        let Calls { mut begun, mut ended } = subject.calls(run.record());
        begun.sort();
        ended.sort();
        if begun != ended {
            broken(
                Law::AnsweredOnce,
                format_args!("{}, seed {seed}\n  begun: {begun:?}\n  ended: {ended:?}", subject.name()),
            );
        }
    }
}

/// Checks law 8: refused sends in between change nothing, neither at once nor later.
fn refusals<S: Subject>(subject: &S) {
    let tried = RefCell::new(BTreeSet::<&str>::new());
    let refuse = |run: &mut Run<'_, S>| {
        run.refuse();
        tried.borrow_mut().extend(run.refused());
    };
    for script in subject.scripts() {
        for seed in 0..6 {
            let mut random = Random::new(seed);
            let plan = Plan::new(&script, &mut random);
            let without = plan.play_with(subject, seed, None, |_| {});
            let with = plan.play_with(subject, seed, None, refuse);
            if with != without {
                broken(
                    Law::RefusalsFree,
                    format_args!(
                        "{}, seed {seed}: refused sends show later, {}",
                        subject.name(),
                        without.difference(&with)
                    ),
                );
            }
        }
    }
    // Refused sends above the mark.
    let mut run = Run::new(subject, 0, 0);
    open(&mut run);
    let message = subject.message(200);
    while run.wants_input() && run.unwritten() <= S::MARK + subject.slack() {
        refuse(&mut run);
        run.feed(run.now(), &message);
        run.settle();
    }
    refuse(&mut run);
    run.finish();
    if let Some(name) = subject.must_refuse().iter().find(|name| !tried.borrow().contains(*name)) {
        broken(Law::RefusalsFree, format_args!("{}: never tried: {name}", subject.name()));
    }
}

/// Checks law 9: four times the bytes, fed one at a time, cost about four times as much. Quadratic
/// work would cost sixteen times as much.
fn linear<S: Subject>(subject: &S) {
    const MANY: usize = 16 * 1024;
    for (shape, message_len, repeats) in [("one message", MANY, 1), ("small messages", 16, MANY / 64)] {
        let found = cost::four_times_the_work_costs_four_times(|times| {
            let (len, repeats) =
                if repeats == 1 { (message_len * times, 1) } else { (message_len, repeats * times) };
            let mut run = Run::new(subject, 0, 0);
            open(&mut run);
            let message = subject.message(len);
            cost::of(|| {
                for _ in 0..repeats {
                    run.forget();
                    for byte in message.chunks(1) {
                        run.feed(run.now(), byte);
                        run.settle();
                    }
                    run.write(usize::MAX);
                }
            })
        });
        if let Err(found) = found {
            broken(Law::Linear, format_args!("{}, {shape}: {found}", subject.name()));
        }
    }
}

/// Checks the part of law 10 that concerns one machine. Above its high-water mark the machine must still read as much
/// as a peer that obeys the law can have left to write; otherwise that peer would never read again. It delivers all of
/// that once its output is written.
fn rest<S: Subject>(subject: &S) {
    let name = subject.name();
    let mut run = Run::new(subject, 0, 0);
    open(&mut run);
    let message = subject.message(200);
    while run.unwritten() < S::MARK {
        run.forget();
        run.feed(run.now(), &message);
        run.settle();
    }
    let mut taken = 0;
    for piece in std::iter::repeat(&message).flat_map(|message| message.chunks(70)) {
        if taken >= S::ROOM {
            break;
        }
        if !run.wants_input() {
            let room = S::ROOM;
            broken(Law::Rest, format_args!("{name} stops reading at {taken} of {room} bytes above the mark"));
        }
        taken += run.read(run.now(), piece);
        run.settle();
        run.forget();
    }
    while run.unwritten() > 0 && !run.has_closed() {
        run.write(usize::MAX);
        run.settle();
        run.forget();
    }
    if !run.wants_input() || run.has_closed() {
        broken(Law::Rest, format_args!("{name} does not deliver all that it has read above the mark"));
    }
    run.finish();
}

/// Checks the part of law 11 that concerns time: a loop that sleeps until a socket is ready, or until the time of the
/// last `Wait`, sees and writes the same, and at the same times, as a loop that makes a pass every millisecond. The
/// sockets take few bytes at a time, are slow, or break.
fn driven<S: Subject>(subject: &S) {
    let scripts = subject.scripts();
    for seed in 0..90 {
        let mut random = Random::new(seed);
        let script = &scripts[usize::try_from(seed).unwrap() % scripts.len()];
        let input = if random.one_in(3) { any_input(subject, &mut random) } else { script.clone() };
        let line = Line::new(&input, &mut random);
        let [asleep, awake] = [true, false].map(|sleeps| line.play(subject, seed % LATE, sleeps));
        if asleep != awake {
            let at = asleep.iter().zip(&awake).take_while(|(one, two)| one == two).count();
            broken(
                Law::LosesNothing,
                format_args!(
                    "{}, seed {seed}, {line:?}\n  asleep: {:?}\n  awake:  {:?}",
                    subject.name(),
                    asleep.get(at),
                    awake.get(at)
                ),
            );
        }
    }
}

/// Feeds the opening, polls, and writes the answers.
fn open<S: Subject>(run: &mut Run<'_, S>) {
    run.feed(run.now(), &run.subject().opening());
    run.write(usize::MAX);
}

/// Returns a script, a script with a few changes, or the beginning of a script followed by random bytes.
fn any_input<S: Subject>(subject: &S, random: &mut Random) -> Vec<u8> {
    let scripts = subject.scripts();
    let mut input = scripts[random.below(scripts.len())].clone();
    match random.below(4) {
        0 => {}
        1 => {
            for _ in 0..=random.below(3) {
                let at = random.below(input.len());
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
        2 => {
            let at = random.below(input.len());
            let len = random.below(12);
            input.splice(at..at, random.bytes(len));
        }
        _ => {
            input.truncate(random.below(input.len()));
            let len = random.below(2000);
            input.extend(random.bytes(len));
        }
    }
    input
}

/// Returns a random time: mostly near `now`, sometimes in the past, sometimes at the end of time.
fn any_time(random: &mut Random, now: Time) -> Time {
    match random.below(12) {
        0 => Time::ZERO,
        1 => Time::from_millis(random.number()),
        2 if random.one_in(4) => Time::from_millis(u64::MAX),
        2 if random.one_in(4) => Time::new(Duration::MAX),
        _ => now.saturating_add(Duration::from_millis(u64::try_from(random.below(4000)).unwrap())),
    }
}
