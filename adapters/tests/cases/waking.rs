//! Wake-ups by other threads, and answers outside any event.

use crate::adapter::{Adapter, Editor};
use crate::plain::PATIENCE;
use crate::support::{World, diagnostics, proposal};
use ide_mcp::ide::tool::DiffOutcome;
use ide_mcp::{Clock, Time};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Four threads put something into the queue first and wake second, while the server serves an agent.
pub(crate) fn e04_a_hundred_thousand_wakes_lose_nothing<A: Adapter>() {
    const SENDS: usize = 100_000;
    let mut world = World::<A>::new();
    let waker = world.editor.waker();
    let (sender, queue) = mpsc::channel();
    let agent = world.agent(diagnostics(), false);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (sender, waker) = (sender.clone(), waker.clone());
            thread::spawn(move || {
                for n in 0..SENDS / 4 {
                    sender.send(n).unwrap();
                    waker();
                }
            })
        })
        .collect();
    let (mut received, clock) = (0, Clock::new());
    while received < SENDS || !agent.is_finished() {
        // After a lost wake-up this step would take its whole timeout.
        world.step_for(if received < SENDS { PATIENCE } else { Duration::from_millis(20) });
        assert!(
            clock.now() < Time::ZERO.saturating_add(PATIENCE / 2),
            "{received} received, and no wake came"
        );
        received += queue.try_iter().count();
    }
    assert_eq!(received, SENDS);
    assert_eq!(agent.join().unwrap().answers, [["[]"]]);
    for thread in threads {
        thread.join().unwrap();
    }
}

/// An answer that the application gives long after the event of the call, outside any event, is sent.
pub(crate) fn answer_outside_of_an_event_is_sent<A: Adapter>() {
    let mut world = World::<A>::new();
    let agent = world.agent(proposal("new"), false);
    world.until(|world| !world.seen.open.is_empty());
    let until = world.editor.now().saturating_add(Duration::from_millis(200));
    world.until(|world| world.editor.now() >= until);
    for (call, diff) in std::mem::take(&mut world.seen.open) {
        let outcome = DiffOutcome::Accepted { contents: diff.new_file_contents };
        world.editor.machine_mut().answer(call, &outcome).unwrap();
    }
    let clock = Clock::new();
    let report = world.serve(agent);
    assert_eq!(report.answers, [["FILE_SAVED", "new"]]);
    // An answer that had to wait for the connection's next event would wait for its first ping, after 30 s.
    assert!(clock.now() < Time::ZERO.saturating_add(Duration::from_secs(15)), "{:?}", clock.now());
}
