//! The events of a run, step by step: a participant acts, or something happens to the network, a
//! machine, or a clock.

use std::time::Duration;

use ide_mcp::Time;

use super::{network::Peer, oracle::Invariant as I, plan::Quality, world::World};

impl World {
    /// Does one step, and lets the time until the next one pass.
    pub fn step(&mut self) {
        let calm = self.plan.quality == Quality::Clean || self.is_orderly();
        match self.random.below(if self.is_orderly() { 34 } else { 40 }) {
            0..=15 => self.agent_acts(),
            16..=25 => self.editor_lives(),
            26..=28 => self.attack(),
            29 => self.crowd(),
            30 | 31 if self.plan.quality != Quality::Clean => self.line_varies(),
            32 if !calm => self.line_stalls(),
            33 if !calm => self.line_breaks(),
            34 => self.agent_dies(),
            35 | 36 if self.plan.ignores_for.is_none() => self.somebody_sleeps(),
            37 if self.plan.ignores_for.is_none() => self.clock_jumps(),
            38 if self.random.one_in(4) => self.restart(),
            _ => self.agents_start(),
        }
        self.settle();
        let pause = [0, 0, 1, 15, 60, 300, 1_500, 9_000][self.random.below(8)];
        let pause = Duration::from_millis(pause) + Duration::from_nanos(self.random.number() % 1_000_000);
        self.advance(pause);
    }

    fn agent_acts(&mut self) {
        let at = self.random.below(self.agents.len());
        for _ in 0..=self.random.below(4) {
            self.serial += 1;
            if self.agents[at].is_awake() {
                self.turn_agent(at);
                self.agents[at].act(self.now, self.serial, &self.plan, &mut self.oracle);
            }
        }
    }

    fn editor_lives(&mut self) {
        if self.server_asleep_until.is_none() && self.shut_down.is_none() {
            let time = self.server_clock.time_at(self.now);
            self.turn_server();
            let Self { editor, subject, oracle, plan, .. } = self;
            editor.live(time, plan, subject, oracle);
        }
    }

    /// Connects more strangers than the server has room for.
    fn crowd(&mut self) {
        for _ in 0..self.plan.outsiders + 2 {
            self.attack();
        }
        self.oracle.hit("crowd of outsiders");
    }

    fn cable(&mut self) -> Option<&mut super::network::Cable> {
        let at = self.random.below(self.cables.len());
        self.cables.get_mut(at)
    }

    fn line_varies(&mut self) {
        let slow = self.random.one_in(3) && !self.is_orderly();
        let (plan, mut random) = (self.plan.clone(), self.random.clone());
        self.random.number();
        let big = plan.big;
        let Some(cable) = self.cable() else { return };
        cable.vary(&plan, &mut random);
        if slow {
            // A reader that takes some bytes at a time.
            let link = if random.one_in(2) { &mut cable.up } else { &mut cable.down };
            link.piece = if big { 10_000 } else { 100 };
            link.pace = Duration::from_millis(30);
            self.oracle.hit("network: slow reader");
        } else {
            cable.up.pace = Duration::ZERO;
            cable.down.pace = Duration::ZERO;
            self.oracle.hit("network: other delays");
        }
    }

    fn line_stalls(&mut self) {
        let span = Duration::from_millis([100, 1_000, 5_000, 40_000][self.random.below(4)]);
        let (until, up) = (self.now.saturating_add(span), self.random.one_in(2));
        let Some(cable) = self.cable() else { return };
        if up {
            cable.up.stall(until);
        } else {
            cable.down.stall(until);
        }
        self.oracle.hit("network: stall");
    }

    fn line_breaks(&mut self) {
        let dice = self.random.below(5);
        if dice == 4 {
            return self.socket_fails();
        }
        let Some(cable) = self.cable().filter(|cable| !cable.is_dead) else { return };
        let hit = match dice {
            0 => {
                cable.die();
                "network: dead line"
            }
            1 => {
                cable.up.finish();
                "network: half-closed by the peer"
            }
            _ => {
                cable.up.cut();
                cable.down.cut();
                "network: cut"
            }
        };
        self.oracle.hit(hit);
        self.oracle.note(|| hit.into());
    }

    /// Ends a connection whose socket failed, without writing the rest of its output.
    fn socket_fails(&mut self) {
        let time = self.server_clock.read(self.now);
        let awake = self.server_asleep_until.is_none();
        let Some(conn) = self.cable().and_then(|cable| cable.conn.filter(|_| awake)) else { return };
        self.subject.lose(time, conn);
        self.oracle.note(|| format!("the socket of {conn:?} fails"));
        self.oracle.hit("network: failed socket");
    }

    /// Kills the process of an agent. Its kernel closes the connection, or the connection stays
    /// half-open.
    fn agent_dies(&mut self) {
        let at = self.random.below(self.agents.len());
        let silent = self.random.one_in(2) && self.plan.quality != Quality::Clean;
        let Some(cable) = self.cables.iter_mut().find(|cable| cable.peer == Peer::Agent(at)) else { return };
        if silent {
            cable.peer = Peer::Lost;
            cable.die();
            self.oracle.hit("network: half-open");
        } else {
            cable.peer = Peer::Dead;
            self.oracle.hit("agent killed");
        }
        self.agents[at].die();
        self.oracle.note(|| format!("agent {at} is killed, in silence: {silent}"));
    }

    fn somebody_sleeps(&mut self) {
        let span = Duration::from_millis([50, 900, 4_000, 20_000, 70_000, 3_600_000][self.random.below(6)]);
        let until = self.now.saturating_add(span);
        match self.random.below(4) {
            0 => {
                self.server_sleeps(until);
                self.oracle.hit("sleep: editor");
            }
            1 | 2 => {
                let at = self.random.below(self.agents.len());
                self.agents[at].asleep_until = Some(until);
                self.oracle.hit("sleep: agent");
            }
            _ => self.laptop_sleeps(span),
        }
        self.oracle.note(|| format!("somebody sleeps for {span:?}"));
    }

    fn server_sleeps(&mut self, until: Time) {
        self.server_asleep_until = Some(until);
        if let Some((_, slept)) = &mut self.shut_down {
            *slept = true;
        }
    }

    /// Lets all machines sleep. With a clean network and a running editor, a connection that was in order before must
    /// still exist afterwards (I34).
    fn laptop_sleeps(&mut self, span: Duration) {
        self.settle();
        let well = |world: &Self| -> Vec<(usize, ide_mcp::ide::ConnId)> {
            let of = |cable: &super::network::Cable| match (cable.peer, cable.conn) {
                (Peer::Agent(at), Some(conn))
                    if !cable.is_dead && cable.up.is_open() && cable.down.is_open() =>
                {
                    let rested = cable.next_arrival(world.now).is_none() && cable.unwritten == 0;
                    let awake = world.agents[at].is_awake() && world.server_asleep_until.is_none();
                    (world.agents[at].is_ready && rested && awake).then_some((at, conn))
                }
                _ => None,
            };
            world.cables.iter().filter_map(of).collect()
        };
        let before = if self.plan.quality == Quality::Clean { well(self) } else { Vec::new() };
        let until = self.now.saturating_add(span);
        self.server_sleeps(until);
        for agent in &mut self.agents {
            agent.asleep_until = Some(until);
        }
        self.advance(span);
        self.advance(Duration::from_secs(3));
        let after = well(self);
        let calm = self.shut_down.is_none() && self.is_listening;
        for (at, conn) in before.into_iter().filter(|_| calm) {
            let kept = after.contains(&(at, conn)) || self.agents[at].gave_up.is_some();
            self.oracle.claim(kept, I::Liveness, || format!("agent {at} has lost {conn:?} by sleeping"));
        }
        self.oracle.hit("sleep: laptop");
    }

    fn clock_jumps(&mut self) {
        let span = Duration::from_millis([10, 1_000, 45_000, 4_000_000][self.random.below(4)]);
        if self.random.one_in(2) {
            self.server_clock.jump(span);
            if let Some((_, slept)) = &mut self.shut_down {
                *slept = true;
            }
        } else {
            let at = self.random.below(self.agents.len());
            self.agents[at].clock.jump(span);
        }
        self.oracle.hit("clock jumps");
        self.oracle.note(|| format!("a clock jumps by {span:?}"));
    }

    /// Shuts the editor down and starts it again.
    fn restart(&mut self) {
        if self.server_asleep_until.is_some() {
            return;
        }
        self.shut_down();
        self.wait_for_shutdown();
        self.server_asleep_until = None;
        self.advance(Duration::from_millis(10));
        self.replace_server();
        let pause = Duration::from_millis(self.random.number() % 9_000);
        self.advance(pause);
        self.is_listening = true;
        self.oracle.hit("editor starts again");
    }

    /// Waits until every connection has ended. A client that reads slowly can take longer than the usual 4 s;
    /// the checks at every rest have the limits of each.
    fn wait_for_shutdown(&mut self) {
        self.advance(Duration::from_millis(4_500));
        let slept = self.shut_down.is_some_and(|(_, slept)| slept);
        while !slept && self.oracle.is_content() && self.subject.server.connections().next().is_some() {
            self.advance(Duration::from_millis(500));
        }
    }

    /// Replaces the server that was shut down by a new one.
    pub fn replace_server(&mut self) {
        let slept = self.shut_down.is_some_and(|(_, slept)| slept);
        let left = self.subject.server.connections().count();
        self.oracle
            .claim(left == 0 || slept, I::Shutdown, || format!("{left} connections outlive the editor"));
        if left > 0 {
            // The server slept for too long, and is killed.
            self.cables.iter_mut().for_each(|cable| cable.conn = None);
            self.ledgers.clear();
            self.drop_server();
            self.editor.kill();
        } else {
            let most = self.held_at_rest();
            let held = self.drop_server();
            self.oracle.claim(held <= most, I::Bounded, || {
                format!("{held} bytes are held without a connection, of {most}")
            });
            self.editor.restart(&mut self.oracle);
        }
        self.shut_down = None;
        self.oracle.note(|| "another editor".into());
    }

    /// Starts every agent that was killed or has given up.
    pub fn agents_start(&mut self) {
        for agent in &mut self.agents {
            if agent.client.is_none() && agent.gave_up.is_some() {
                agent.start(self.now);
            }
        }
    }

    /// Ends all disturbances, and checks that every agent then attaches and gets the selection.
    pub fn calm(&mut self) {
        let quiet = |world: &mut Self| {
            world.server_asleep_until = world.server_asleep_until.map(|_| world.now);
            for agent in &mut world.agents {
                agent.asleep_until = agent.asleep_until.map(|_| world.now);
            }
            world.cables.iter_mut().for_each(super::network::Cable::heal);
            for hostile in &mut world.hostiles {
                hostile.is_over = true;
            }
        };
        quiet(self);
        self.editor.allows_all = true;
        self.plan.quality = Quality::Clean;
        let may_be_late = self.shut_down.is_none() && !self.is_orderly() && self.plan.ignores_for.is_none();
        if self.random.one_in(4) && may_be_late {
            self.be_late();
        }
        let time = self.server_clock.time_at(self.now);
        if self.shut_down.is_none() && self.random.one_in(2) {
            self.editor.select(time, &mut self.subject, &mut self.oracle);
        }
        // 140 s: longer than the timeout of any silence or stall.
        for _ in 0..28 {
            self.agents_start();
            self.settle();
            self.advance(Duration::from_secs(5));
        }
        self.judge_calm();
    }

    /// Runs the loop of the server late every time. The server must still find dead peers (K1).
    fn be_late(&mut self) {
        for _ in 0..4 {
            self.settle();
            self.server_sleeps(self.now.saturating_add(Duration::from_secs(50)));
            self.advance(Duration::from_secs(51));
        }
        let dead = self.cables.iter().filter(|cable| cable.is_dead && cable.conn.is_some()).count();
        self.oracle.claim(dead == 0, I::Liveness, || format!("{dead} dead lines are not noticed"));
        self.oracle.hit("a loop that is always late");
    }

    fn judge_calm(&mut self) {
        let attached = self.agents.iter().filter(|agent| agent.is_ready).count();
        let places = self.agents.len().min(self.plan.connections);
        self.oracle.claim(attached == places, I::Reconnect, || {
            format!("{attached} of {places} agents are attached after two quiet minutes")
        });
        let there = self.subject.server.connections().count();
        let expected = self.cables.iter().filter(|cable| matches!(cable.peer, Peer::Agent(_))).count();
        self.oracle.claim(there <= expected, I::Liveness, || {
            format!("{there} connections are held for {expected} peers")
        });
        let selected = Some(self.editor.selected).filter(|number| *number > 0);
        for agent in self.agents.iter().filter(|agent| agent.is_ready) {
            self.oracle.claim(agent.shows == selected, I::Selection, || {
                format!("agent {} shows {:?} and not {selected:?}", agent.index, agent.shows)
            });
        }
        self.oracle.hit("calm");
    }

    /// Ends the run, in good order or by killing the editor.
    pub fn finish(&mut self) {
        if self.random.one_in(3) {
            // A killed server holds no more than the limits of its connections permit.
            let there = self.subject.server.connections().count() as u64;
            let each = 4 * self.plan.mark as u64 + 4 * super::plan::MESSAGE as u64;
            let held = self.drop_server();
            let most = self.held_at_rest() + there * each;
            self.oracle
                .claim(held <= most, I::Bounded, || format!("{held} bytes are held by {there} connections"));
            return self.oracle.hit("editor killed");
        }
        for _ in 0..5 {
            self.agent_acts();
            self.settle();
        }
        self.shut_down();
        self.wait_for_shutdown();
        self.replace_server();
    }
}
