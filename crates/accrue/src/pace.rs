use std::{
    future::poll_fn,
    sync::atomic::{AtomicUsize, Ordering},
    task::Poll,
};

use crate::limits;

/// Pace of work that shares the thread of an executor: after every so much work, other tasks get their
/// turn.
///
/// It needs no runtime: it wakes its task and lets the executor choose. Dropping the future at a turn
/// is as safe as at any other await.
///
/// ```
/// use accrue::Pace;
///
/// # pollster::block_on(async {
/// let pace = Pace::new();
/// let mut sum = 0_u64;
/// for number in 0..1_000_000 {
///     sum += number;
///     pace.spend(1).await;
/// }
/// assert_eq!(sum, 499_999_500_000);
/// # });
/// ```
#[derive(Debug, Default)]
pub struct Pace {
    since_turn: AtomicUsize,
    /// Work that was spent before the last turn.
    before_turn: AtomicUsize,
}

impl Pace {
    /// Work of making the key of a row.
    pub(crate) const KEY: usize = 4;
    /// Work of a row that is read or written, beside that of its document.
    pub(crate) const ROW: usize = 20;
    /// Bytes of JSON that are a unit of work to read or write.
    const BYTES: usize = 16;

    /// Creates a pace with nothing spent.
    #[must_use]
    pub const fn new() -> Self {
        Self { since_turn: AtomicUsize::new(0), before_turn: AtomicUsize::new(0) }
    }

    /// Notes work that was done, and lets others take their turn where it is
    /// [enough](limits::TURN_WORK). A unit is about the work of a comparison of an expression: some
    /// tens of nanoseconds.
    pub async fn spend(&self, work: usize) {
        let spent = self.since_turn.load(Ordering::Relaxed).saturating_add(work);
        if spent < limits::TURN_WORK {
            self.since_turn.store(spent, Ordering::Relaxed);
            return;
        }
        self.since_turn.store(0, Ordering::Relaxed);
        let all = self.before_turn.load(Ordering::Relaxed).saturating_add(spent);
        self.before_turn.store(all, Ordering::Relaxed);
        take_turns().await;
    }

    /// Returns all work that was spent.
    pub(crate) fn spent(&self) -> usize {
        let [before, since] =
            [&self.before_turn, &self.since_turn].map(|work| work.load(Ordering::Relaxed));
        before.saturating_add(since)
    }

    /// Notes that so many bytes of JSON were read or written.
    pub async fn spend_bytes(&self, bytes: usize) {
        self.spend(Self::work_of_bytes(bytes)).await;
    }

    pub(crate) const fn work_of_bytes(bytes: usize) -> usize {
        bytes / Self::BYTES
    }
}

/// Waits until the executor comes back to it.
async fn take_turns() {
    let mut had_turn = false;
    poll_fn(|context| {
        if std::mem::replace(&mut had_turn, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::Arc,
        task::{Context, Wake, Waker},
    };

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts the turns that others get while work is spent piece by piece.
    fn turns(pieces: &[usize]) -> usize {
        let pace = Pace::new();
        let mut working = pin!(async {
            for piece in pieces {
                pace.spend(*piece).await;
            }
        });
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut turns = 0;
        while working.as_mut().poll(&mut context).is_pending() {
            turns += 1;
        }
        assert_eq!(woken.0.load(Ordering::Relaxed), turns, "each turn wakes its task");
        turns
    }

    #[test]
    fn others_get_a_turn_after_enough_work() {
        const TURN: usize = limits::TURN_WORK;
        assert_eq!(turns(&[TURN - 1]), 0);
        assert_eq!(turns(&[TURN]), 1);
        assert_eq!(turns(&[TURN - 1, 1, TURN - 1]), 1);
        assert_eq!(turns(&[1; 3 * TURN]), 3);
        assert_eq!(turns(&[usize::MAX, 1]), 1);
    }
}
