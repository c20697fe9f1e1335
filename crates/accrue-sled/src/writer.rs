use std::{
    io, mem,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::Arc,
    thread,
};

use accrue::store::{Commit, StoreError};

use crate::{
    group::Group,
    open,
    progress::Progress,
    queue::{Answer, Job, Queue},
    rows::Rows,
    sync::{Sync, while_applying, while_flushing},
    versions::Versions,
};

/// What the writer thread owns: alone it applies and makes durable.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) path: PathBuf,
    pub(crate) rows: Rows,
    pub(crate) versions: Versions,
    pub(crate) sync: Box<dyn Sync>,
    pub(crate) progress: Arc<Progress>,
}

/// The running thread. Dropping this waits until it has ended, and with it the use of the
/// directory; it ends when no job can come any more.
#[derive(Debug)]
pub(crate) struct WriterThread(Option<thread::JoinHandle<()>>);

impl Writer {
    pub(crate) fn start(self, queue: Queue) -> io::Result<WriterThread> {
        let name = "accrue-sled-writer".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || self.run(queue))?;
        Ok(WriterThread(Some(thread)))
    }

    fn run(mut self, mut queue: Queue) {
        while let Some(jobs) = queue.next_group() {
            // A panic drops the answers of its group, which its callers take for what it is. The
            // thread goes on, to refuse whoever comes next.
            if catch_unwind(AssertUnwindSafe(|| self.round(jobs))).is_err() {
                self.abandon("the writer panicked");
            }
        }
        self.close();
    }

    /// Judges, applies, makes durable and answers one group. Everything applied before it is
    /// durable when it begins, or the store has failed.
    fn round(&mut self, jobs: Vec<Job>) {
        let mut group = Group::new(&self.rows, &mut self.versions);
        let mut waiting = Vec::new();
        for job in jobs {
            match job {
                Job::Barrier { answer } => drop(answer.send(self.progress.check())),
                Job::Commit { batch, answer } => {
                    let changes = !batch.changes.is_empty();
                    let judged = self.progress.check().and_then(|()| group.admit(batch));
                    // What was judged on durable rows alone need not wait.
                    if group.is_empty() {
                        drop(answer.send(judged));
                    } else {
                        waiting.push(Waiting { judged, changes, answer });
                    }
                }
            }
        }
        if group.is_empty() {
            return;
        }
        let writes = group.into_writes();
        match self.write(writes) {
            Ok(()) => waiting.into_iter().for_each(Waiting::settle),
            Err(reason) => waiting.into_iter().for_each(|waiting| waiting.fail(&reason)),
        }
    }

    fn write(&mut self, writes: sled::Batch) -> Result<(), Failure> {
        let apply = || self.progress.apply(|| self.rows.apply(writes));
        if let Err(error) = while_applying(apply) {
            self.abandon("a group could not be applied");
            return Err(Arc::new(error));
        }
        if let Err(error) = self.sync.sync() {
            self.progress.fail("a flush failed");
            return Err(Arc::new(error));
        }
        self.progress.all_durable();
        Ok(())
    }

    /// Fails the store where a group may be half applied.
    ///
    /// sled would write the half of it when it is dropped, so it never is: the directory stays
    /// locked until the process ends.
    fn abandon(&self, reason: &'static str) {
        self.progress.fail(reason);
        mem::forget(self.rows.clone());
    }

    fn close(self) {
        let Self { path, rows, sync, .. } = self;
        drop(sync);
        // The last handle flushes.
        while_flushing(|| drop(rows));
        open::wait_until_unlocked(&path);
    }
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // It panics only where sled fails to flush for the last time. Nothing that was
            // answered depends on that.
            let _ = thread.join();
        }
    }
}

type Failure = Arc<dyn std::error::Error + Send + std::marker::Sync>;

/// A judged batch whose answer waits for its group to be durable.
#[derive(Debug)]
struct Waiting {
    judged: Result<Commit, StoreError>,
    changes: bool,
    answer: Answer<Commit>,
}

impl Waiting {
    fn settle(self) {
        drop(self.answer.send(self.judged));
    }

    fn fail(self, failure: &Failure) {
        let error = match self.judged {
            Ok(Commit::Committed(_)) if self.changes => {
                StoreError::indeterminate("its group may not be durable")
            }
            Ok(_) => StoreError::unavailable("what it was judged on may not be durable"),
            Err(error) => {
                drop(self.answer.send(Err(error)));
                return;
            }
        };
        drop(self.answer.send(Err(error.with_source(Arc::clone(failure)))));
    }
}
