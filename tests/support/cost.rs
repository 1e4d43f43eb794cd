//! What a piece of work costs, measured so that other work on the computer does not count.

use std::time::Duration;

/// What a piece of work cost this thread.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub time: Duration,
    /// Bytes ever allocated.
    pub allocated: u64,
    /// The most bytes held at one time, beyond those held before.
    pub peak: u64,
}

/// Does the work and says what it cost.
pub fn of(work: impl FnOnce()) -> Cost {
    let mut time = Duration::ZERO;
    let info = allocation_counter::measure(|| {
        let before = cpu_time();
        work();
        time = cpu_time().saturating_sub(before);
    });
    Cost { time, allocated: info.bytes_total, peak: info.bytes_max }
}

/// The processor time that this thread has used.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}
