use std::sync::{Mutex, PoisonError};

/// Numbers of calls, which are the versions of what they write: an epoch that no other process has, and a
/// counter.
#[derive(Debug)]
pub(crate) struct Versions(Mutex<Counter>);

#[derive(Debug)]
struct Counter {
    epoch: i64,
    next: u32,
}

impl Versions {
    pub(crate) fn of(epoch: i64) -> Self {
        Self(Mutex::new(Counter { epoch, next: 0 }))
    }

    /// Returns the next number; none where the epoch has no more.
    pub(crate) fn next(&self) -> Option<i64> {
        let mut counter = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = counter.next;
        counter.next = next.checked_add(1)?;
        Some((counter.epoch << 32) | i64::from(next))
    }

    /// Goes on with another epoch.
    pub(crate) fn renew(&self, epoch: i64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Counter { epoch, next: 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_that_is_used_up_has_no_number() {
        let versions = Versions(Mutex::new(Counter { epoch: 7, next: u32::MAX - 1 }));
        assert_eq!(versions.next(), Some((7 << 32) + i64::from(u32::MAX) - 1));
        assert_eq!(versions.next(), None);
        assert_eq!(versions.next(), None);
        versions.renew(8);
        assert_eq!(versions.next(), Some(8 << 32));
        assert_eq!(versions.next(), Some((8 << 32) + 1));
    }
}
