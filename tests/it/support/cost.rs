//! What a piece of work costs, not counting other work on the computer.

use std::time::Duration;

/// The cost of a piece of work to this thread.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub time: Duration,
    /// All allocated bytes, freed or not.
    pub allocated: u64,
    /// The peak of the held bytes, beyond the bytes held before.
    pub peak: u64,
    /// The bytes that are held afterwards, beyond the bytes held before.
    pub kept: i64,
}

/// Does the work and returns its cost.
pub fn of(work: impl FnOnce()) -> Cost {
    let mut time = Duration::ZERO;
    let info = allocation_counter::measure(|| {
        let before = cpu_time();
        work();
        time = cpu_time().saturating_sub(before);
    });
    Cost { time, allocated: info.bytes_total, peak: info.bytes_max, kept: info.bytes_current }
}

/// Checks that four times the work costs about four times as much: memory below six times, time
/// below nine times. Quadratic work costs sixteen times as much. The error has both costs.
pub fn four_times_the_work_costs_four_times(cost: impl Fn(usize) -> Cost) -> Result<(), String> {
    let (mut one, mut four) = (cost(1), cost(4));
    let slow = |one: &Cost, four: &Cost| four.time > one.time * 9 + Duration::from_millis(4);
    // Where the processor time is unknown, a round is only reliable if nothing else runs meanwhile: try more often.
    let (most, enough) = if cfg!(unix) { (16, 4) } else { (100, 40) };
    for round in 0..most {
        // A cost that is still nearly sixteen times as much after so many rounds is not noise.
        let is_hopeless = round >= enough && four.time > one.time * 12;
        if !slow(&one, &four) || is_hopeless {
            break;
        }
        // Other work can have used the processor's caches and its other thread: the shortest time is the closest to
        // the truth, and a quiet moment can take a while to come.
        one.time = one.time.min(cost(1).time);
        four.time = four.time.min(cost(4).time);
    }
    if slow(&one, &four) || four.allocated > 6 * one.allocated + 64 * 1024 {
        return Err(format!("{one:?}, four times as much: {four:?}"));
    }
    Ok(())
}

/// Returns the processor time that this thread has used.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// Returns the time of a clock instead of the processor time. Other work counts here, so it matters even more to
/// take the shortest of several runs.
#[cfg(not(unix))]
#[allow(clippy::disallowed_methods, reason = "real work takes real time")]
fn cpu_time() -> Duration {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}
