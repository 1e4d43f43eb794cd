//! The watchdog of a published lock file: when to look after it, and what to do then.

use std::time::Duration;

use ide_mcp::Time;

use crate::{Error, Published, Watch};

/// A published lock file, and when it is looked after next.
///
/// Dropping it removes the file, as dropping the [`Published`] does.
#[derive(Debug)]
#[must_use = "the lock file is removed when this is dropped"]
pub struct Watched {
    published: Published,
    /// The first look comes an interval after the first time it is told.
    look_at: Option<Time>,
}

impl Watched {
    /// How often it is seen to that the file is still there: a client that cannot see our process deletes it.
    pub const INTERVAL: Duration = Duration::from_secs(5);

    /// Watches over this file from the first [`tick`](Self::tick) on.
    pub const fn new(published: Published) -> Self {
        Self { published, look_at: None }
    }

    /// The file, to say where it is.
    pub const fn published(&self) -> &Published {
        &self.published
    }

    /// The file, to [update](Published::update) it.
    pub const fn published_mut(&mut self) -> &mut Published {
        &mut self.published
    }

    /// When to [`tick`](Self::tick) at the latest: `now` before the first one.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Time {
        self.look_at.unwrap_or(now)
    }

    /// Looks after the file if its time has come, and brings it back if it is gone. `None` if there was no look.
    pub fn tick(&mut self, now: Time) -> Option<Result<Watch, Error>> {
        let look_at = self.look_at.get_or_insert_with(|| now.after(Self::INTERVAL));
        if now < *look_at {
            return None;
        }
        *look_at = now.after(Self::INTERVAL);
        Some(self.published.republish_if_missing())
    }

    /// Removes the file: [`Published::remove`].
    ///
    /// # Errors
    /// As [`Published::remove`].
    pub fn remove(self) -> Result<bool, Error> {
        self.published.remove()
    }
}
