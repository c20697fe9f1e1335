//! Spans of operations, with the feature `tracing`. Without it the same types are empty and do nothing
//! (`docs/decisions/spans-with-tracing.md`).

pub(in crate::engine) use self::imp::{RowsRead, Span};

#[cfg(feature = "tracing")]
mod imp {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use tracing::{
        field::{self, Empty},
        instrument::{Instrument, Instrumented},
    };

    use crate::AccountId;

    /// Span of an operation, with its figures.
    ///
    /// The figures are recorded once, when it is dropped: a subscriber may write down every value that it
    /// is given, and a future may be dropped at any await.
    pub(in crate::engine) struct Span {
        span: tracing::Span,
        attempts: AtomicUsize,
        conflicts: AtomicUsize,
        rows_read: RowsRead,
        rows_written: AtomicUsize,
    }

    /// Number of rows that the runs of an operation have read: each of them counts on.
    #[derive(Clone, Default)]
    pub(in crate::engine) struct RowsRead(Arc<AtomicUsize>);

    impl RowsRead {
        pub(in crate::engine) fn add(&self, rows: usize) {
            self.0.fetch_add(rows, Ordering::Relaxed);
        }
    }

    impl Span {
        pub(in crate::engine) fn of(operation: &'static str, account: &AccountId) -> Self {
            let span = tracing::info_span!(
                target: "accrue",
                "operation",
                operation,
                account = field::display(account),
                attempts = Empty,
                conflicts = Empty,
                rows_read = Empty,
                rows_written = Empty,
            );
            let [attempts, conflicts, rows_written] = Default::default();
            Self { span, attempts, conflicts, rows_read: RowsRead::default(), rows_written }
        }

        /// Runs work in the span: spans that it begins are within it.
        pub(in crate::engine) fn around<F: Future>(&self, work: F) -> Instrumented<F> {
            work.instrument(self.span.clone())
        }

        /// Notes that a run begins, and returns the counter of the rows that it reads.
        pub(in crate::engine) fn attempt(&self) -> RowsRead {
            self.attempts.fetch_add(1, Ordering::Relaxed);
            self.rows_read.clone()
        }

        /// Notes a commit that lost a race.
        pub(in crate::engine) fn conflict(&self) {
            self.conflicts.fetch_add(1, Ordering::Relaxed);
        }

        /// Notes the rows that were committed.
        pub(in crate::engine) fn committed(&self, rows_written: usize) {
            self.rows_written.store(rows_written, Ordering::Relaxed);
        }
    }

    impl Drop for Span {
        fn drop(&mut self) {
            for (field, figure) in [
                ("attempts", &self.attempts),
                ("conflicts", &self.conflicts),
                ("rows_read", &*self.rows_read.0),
                ("rows_written", &self.rows_written),
            ] {
                self.span.record(field, figure.load(Ordering::Relaxed));
            }
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod imp {
    use crate::AccountId;

    pub(in crate::engine) struct Span;

    #[derive(Clone, Default)]
    pub(in crate::engine) struct RowsRead {}

    impl RowsRead {
        pub(in crate::engine) const fn add(&self, _: usize) {}
    }

    impl Span {
        pub(in crate::engine) const fn of(_: &'static str, _: &AccountId) -> Self {
            Self
        }

        pub(in crate::engine) const fn around<F: Future>(&self, work: F) -> F {
            work
        }

        pub(in crate::engine) const fn attempt(&self) -> RowsRead {
            RowsRead {}
        }

        pub(in crate::engine) const fn conflict(&self) {}

        pub(in crate::engine) const fn committed(&self, _: usize) {}
    }
}
