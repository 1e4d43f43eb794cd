//! The cost of waking a thread on the other core of this machine.

use crate::serve::pin;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

/// The number of round trips in a batch.
const TRIPS: u32 = 2_000;

/// The number of batches.
const BATCHES: usize = 9;

/// Returns the microseconds for a message to a thread on the other core and its answer: the median
/// of the batches. Each thread sleeps while it waits for the other.
pub fn there_and_back() -> f64 {
    let ((there, heard), (back, answered)) = (channel(), channel());
    thread::spawn(move || {
        pin(1);
        for () in heard {
            if back.send(()).is_err() {
                return;
            }
        }
    });
    // This thread is pinned, and not the thread of the program: later measurements choose their core
    // themselves.
    let asking = thread::spawn(move || {
        pin(0);
        let mut batches = [0.0; BATCHES];
        for batch in &mut batches {
            let start = Instant::now();
            for _ in 0..TRIPS {
                there.send(()).expect("the other thread listens");
                answered.recv().expect("the other thread answers");
            }
            *batch = start.elapsed().as_secs_f64() * 1e6 / f64::from(TRIPS);
        }
        batches.sort_by(f64::total_cmp);
        batches[BATCHES / 2]
    });
    asking.join().expect("it does not panic")
}
