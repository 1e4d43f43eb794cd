//! A plan of input, which runs can repeat with the bytes cut in any way.

use super::run::Run;
use super::subject::Subject;
use ide_mcp::Time;
use ide_mcp::testing::Random;
use std::time::Duration;

/// Bytes, and passes with a fixed room in the socket, at fixed times: identical for every cutting.
#[derive(Debug)]
pub struct Plan {
    /// The seed of the application.
    app: u64,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    at: Time,
    /// True if something other than the connection first tells the machine the time, and the run polls all
    /// events.
    aside: bool,
    bytes: Vec<u8>,
    then: Then,
}

#[derive(Debug)]
enum Then {
    Nothing,
    /// Writes at most this many bytes.
    Write(usize),
    Tick,
    Eof,
    /// The transport ends in the turn of the bytes, before any event is polled.
    EofUnpolled,
}

#[derive(Clone, Copy)]
pub struct Cutting {
    pub seed: u64,
    pub bytewise: bool,
}

impl Plan {
    pub fn new(input: &[u8], random: &mut Random) -> Self {
        let app = random.number() % 8;
        let mut at = Time::from_millis(50);
        let mut rest = input;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let len = if random.one_in(3) { rest.len() } else { 1 + random.below(rest.len()) };
            let (bytes, behind) = rest.split_at(len);
            rest = behind;
            let then = match random.below(6) {
                0 | 1 => Then::Nothing,
                2 => Then::Write(random.below(100)),
                3 => Then::Tick,
                _ => Then::Write(usize::MAX),
            };
            steps.push(Step { at, aside: random.one_in(3), bytes: bytes.to_vec(), then });
            let gap = if random.one_in(10) { 2500 } else { random.below(200) };
            at = at.saturating_add(Duration::from_millis(u64::try_from(gap).unwrap()));
        }
        match random.below(4) {
            0 | 1 => steps.push(Step { at, aside: false, bytes: Vec::new(), then: Then::Eof }),
            2 => {
                if let Some(last) = steps.last_mut() {
                    last.then = Then::EofUnpolled;
                }
            }
            _ => {}
        }
        Self { app, steps }
    }

    pub fn play<S: Subject>(&self, subject: &S, seed: u64, cutting: Option<Cutting>) -> Seen {
        self.play_with(subject, seed, cutting, |_| {})
    }

    /// Plays the plan, and calls `between` at each point at which the application could act too.
    pub fn play_with<'a, S: Subject>(
        &self,
        subject: &'a S,
        seed: u64,
        cutting: Option<Cutting>,
        between: impl Fn(&mut Run<'a, S>),
    ) -> Seen {
        let mut random = cutting.map(|cutting| (cutting, Random::new(cutting.seed)));
        let mut run = Run::new(subject, seed, self.app);
        // What a client sends first is offered before anything can end the connection.
        run.settle();
        let mut fed = 0;
        for step in &self.steps {
            between(&mut run);
            if step.aside {
                run.aside(step.at);
                run.settle();
            }
            // A timer of this application can be due by now. The cutting would decide between the
            // timer and a piece of the bytes, so the timer comes first.
            if self.app != 0 {
                run.tick(step.at);
            }
            let is_unpolled = matches!(step.then, Then::EofUnpolled);
            let mut rest = step.bytes.as_slice();
            while !rest.is_empty() {
                let len = match &mut random {
                    None => rest.len(),
                    // It is enough to feed the first 4,096 bytes of a long message one by one.
                    Some((cutting, _)) if cutting.bytewise && fed < 4096 => 1,
                    Some((_, random)) => 1 + random.below(rest.len()),
                };
                // Input that is not wanted after a poll is not wanted in any cutting: a script
                // stays below the limits.
                if !run.wants_input() {
                    run.settle();
                }
                let (piece, behind) = rest.split_at(len);
                rest = behind;
                fed += len;
                match &mut random {
                    Some((_, random)) => {
                        if random.one_in(2) {
                            run.feed_wanted(step.at, piece);
                        } else {
                            run.read_all(step.at, piece);
                        }
                        if random.one_in(8) {
                            run.trim();
                        }
                        if random.one_in(8) {
                            run.aside(step.at);
                        }
                        if random.one_in(2) && !is_unpolled {
                            run.settle();
                        }
                    }
                    None => run.feed_wanted(step.at, piece),
                }
                between(&mut run);
            }
            if !is_unpolled {
                run.settle();
                between(&mut run);
            }
            match step.then {
                Then::Nothing => {}
                Then::Write(most) => run.write(most),
                Then::Tick => run.tick(step.at),
                Then::Eof | Then::EofUnpolled => run.eof(step.at),
            }
            run.settle();
        }
        between(&mut run);
        run.finish();
        // The end of the transport drops output. In some cuttings, input that is not wanted leads to a poll
        // before that end, and the poll offers output that is then dropped.
        let ends_unpolled = self.steps.iter().any(|step| matches!(step.then, Then::EofUnpolled));
        let written = if ends_unpolled { 0 } else { run.written() };
        Seen { events: run.shown().to_vec(), output: run.record().output.clone(), written }
    }
}

/// The observable behavior of a run.
#[derive(PartialEq, Eq)]
pub struct Seen {
    events: Vec<String>,
    output: Vec<u8>,
    /// The written bytes of the output; 0 if the transport ends in the turn of the last bytes.
    written: usize,
}

impl Seen {
    /// Returns the first difference, in few words: the seed can repeat the whole run.
    pub fn difference(&self, other: &Self) -> String {
        let events = self.events.len().max(other.events.len());
        if let Some(at) = (0..events).find(|at| self.events.get(*at) != other.events.get(*at)) {
            let show = |seen: &Self| {
                let event = seen.events.get(at).map_or("nothing", String::as_str);
                event.chars().take(200).collect::<String>()
            };
            return format!("event {at}: {}\n  and: {}", show(self), show(other));
        }
        if self.output == other.output {
            return format!("{} bytes written\n  and: {}", self.written, other.written);
        }
        let same = self.output.iter().zip(&other.output).take_while(|(one, two)| one == two).count();
        let show = |seen: &Self| {
            let end = seen.output.len().min(same + 40);
            format!("{} ({} bytes in all)", seen.output[same..end].escape_ascii(), seen.output.len())
        };
        format!("output from byte {same}: {}\n  and: {}", show(self), show(other))
    }
}
