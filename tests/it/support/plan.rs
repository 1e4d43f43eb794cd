//! One course of events that can be played with any cutting of its bytes.

use super::run::Run;
use super::subject::Subject;
use ide_mcp::Time;
use ide_mcp::testing::Random;
use std::time::Duration;

/// Who hears what when: bytes and `sent` calls at fixed times, the same for every cutting.
#[derive(Debug)]
pub struct Plan {
    /// Which application reacts.
    app: u64,
    steps: Vec<Step>,
}

#[derive(Debug)]
struct Step {
    at: Time,
    /// Something beside the connection brings the time in first, and all is polled.
    aside: bool,
    bytes: Vec<u8>,
    then: Then,
}

#[derive(Debug)]
enum Then {
    Nothing,
    /// Writes this much, or all there is.
    Write(usize),
    Tick,
    Eof,
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
        if random.one_in(2) {
            steps.push(Step { at, aside: false, bytes: Vec::new(), then: Then::Eof });
        }
        Self { app, steps }
    }

    pub fn play<S: Subject>(&self, subject: &S, seed: u64, cutting: Option<Cutting>) -> Seen {
        self.play_with(subject, seed, cutting, |_| {})
    }

    /// Plays the plan; `between` is called wherever the application could act as well.
    pub fn play_with<'a, S: Subject>(
        &self,
        subject: &'a S,
        seed: u64,
        cutting: Option<Cutting>,
        between: impl Fn(&mut Run<'a, S>),
    ) -> Seen {
        let mut random = cutting.map(|cutting| (cutting, Random::new(cutting.seed)));
        let mut run = Run::new(subject, seed, self.app);
        let mut fed = 0;
        for step in &self.steps {
            between(&mut run);
            if step.aside {
                run.aside(step.at);
                run.settle();
            }
            // What this application does may be due by now. Whether the timer or a piece of the bytes comes first would
            // depend on the cutting, so it is the timer.
            if self.app != 0 {
                run.tick(step.at);
            }
            let mut rest = step.bytes.as_slice();
            while !rest.is_empty() {
                let len = match &mut random {
                    None => rest.len(),
                    // Long messages have enough bytes in front to be tried one by one.
                    Some((cutting, _)) if cutting.bytewise && fed < 4096 => 1,
                    Some((_, random)) => 1 + random.below(rest.len()),
                };
                // What is not wanted now is not wanted in any cutting: a script stays below the limits.
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
                        if random.one_in(2) {
                            run.settle();
                        }
                    }
                    None => run.feed_wanted(step.at, piece),
                }
                between(&mut run);
            }
            run.settle();
            between(&mut run);
            match step.then {
                Then::Nothing => {}
                Then::Write(most) => run.write(most),
                Then::Tick => run.tick(step.at),
                Then::Eof => run.eof(step.at),
            }
            run.settle();
        }
        between(&mut run);
        run.finish();
        Seen { events: run.shown().to_vec(), output: run.record().output.clone(), written: run.written() }
    }
}

/// What an observer sees of a run.
#[derive(PartialEq, Eq)]
pub struct Seen {
    events: Vec<String>,
    output: Vec<u8>,
    /// How much of the output was written.
    written: usize,
}

impl Seen {
    /// The first difference, in few words: the seed repeats the rest.
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
