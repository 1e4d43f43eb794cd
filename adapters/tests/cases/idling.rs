//! What an idle server costs.

use crate::adapter::{Adapter, Editor};
use crate::plain::Upto;
use crate::support::World;
use cpu_time::ThreadTime;
use ide_mcp::{Clock, Time};
use std::time::Duration;

/// Attaches a hundred agents, which then send nothing.
pub(crate) fn an_idle_server_wakes_only_for_timers<A: Adapter>() {
    const AGENTS: usize = 100;
    let mut world = World::<A>::with(|config| config.max_clients = AGENTS);
    let mut agents = Vec::new();
    while agents.len() < AGENTS {
        agents.push(world.plain(Upto::Initialized));
        world.until(|world| world.seen.ready.len() == agents.len());
    }
    // Memory is freed a second after the last byte, and a client is settled 1.6 s after `initialized`.
    let rest = world.editor.now().saturating_add(Duration::from_millis(2_100));
    while world.editor.now() < rest {
        world.step_for(rest.saturating_since(world.editor.now()));
    }
    let (clock, before) = (Clock::new(), ThreadTime::now());
    let mut steps = 0;
    while clock.now() < Time::from_millis(1000) {
        world.step_for(Time::from_millis(1000).saturating_since(clock.now()));
        steps += 1;
    }
    let spent = before.elapsed();
    assert!(steps <= 3, "{steps} steps in a second");
    assert!(spent < Duration::from_millis(20), "{spent:?} of a second");
    assert_eq!(world.attached(), AGENTS);
}
