use std::{num::NonZeroUsize, time::Duration};

/// Bounds on the connections of a server.
///
/// None of them is raised by the server itself: where the operating system lets the process open
/// fewer files, there are fewer connections ([`within`](Self::within)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionBounds {
    /// The most connections at once: 4,096. An idle one takes some ten thousand bytes, one with an
    /// endless head up to 400,000.
    ///
    /// Once it is reached, each new connection takes the place of the one that has waited longest for
    /// its client. Somebody who opens connections and sends nothing therefore keeps nobody out, unless
    /// this many are opened while the head of another request is on its way. Where all of them are at
    /// requests, new ones wait in the backlog of the operating system until one is answered, which
    /// takes [`REQUEST_TIME`](crate::REQUEST_TIME) at most.
    pub most: NonZeroUsize,
    /// How long the head of a request may take: 10 s. The first counts from the connection's begin,
    /// the others from their first byte; what else of a refused body comes counts like a head.
    ///
    /// A head has 32 KiB at most, which a slow line brings in that time.
    pub head: Duration,
    /// How long a connection may be idle between two requests, or its client may take nothing of an
    /// answer: 75 s. Load balancers keep connections for 60 s: the one who is to close first, so
    /// that no request meets a connection that is being closed, is the client.
    pub idle: Duration,
}

impl Default for ConnectionBounds {
    fn default() -> Self {
        Self {
            most: NonZeroUsize::new(4_096).unwrap_or(NonZeroUsize::MIN),
            head: Duration::from_secs(10),
            idle: Duration::from_secs(75),
        }
    }
}

/// The files that are left to a store and to the process itself: fjall keeps 900 open at most.
const OTHER_FILES: usize = 1_000;

impl ConnectionBounds {
    /// Lowers [`most`](Self::most) to what is left of so many open files once a store has its own:
    /// half of them where there are few.
    #[must_use]
    pub fn within(self, files: usize) -> Self {
        let left = files.saturating_sub(OTHER_FILES.min(files / 2));
        let left = NonZeroUsize::new(left).unwrap_or(NonZeroUsize::MIN);
        Self { most: self.most.min(left), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_are_as_documented() {
        let bounds = ConnectionBounds::default();
        assert_eq!(bounds.most.get(), 4_096);
        assert_eq!(bounds.head, Duration::from_secs(10));
        assert_eq!(bounds.idle, Duration::from_secs(75));
    }

    #[test]
    fn the_cap_follows_the_limit_of_open_files() {
        let most = |files| ConnectionBounds::default().within(files).most.get();
        let expected = [(0, 1), (1, 1), (256, 128), (1_024, 512), (2_000, 1_000), (5_095, 4_095)];
        for (files, expected) in expected {
            assert_eq!(most(files), expected, "{files}");
        }
        assert_eq!(most(5_096), 4_096);
        assert_eq!(most(usize::MAX), 4_096);
    }
}
