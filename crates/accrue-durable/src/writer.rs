use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{self, Sender},
    },
    thread,
};

use accrue::store::{Batch, Commit, StoreError};
use futures_channel::oneshot;

use crate::{
    Engine, WriteError,
    health::Health,
    judge::Judge,
    queue::{Answer, Job, Queue},
    versions::Versions,
};

/// The way to the one thread that writes a store.
///
/// Dropping this waits for what was sent to the thread, and for the engine to be closed.
///
/// ```
/// use std::collections::HashMap;
///
/// use accrue::store::{Batch, Commit, Document, Expected, Key, StoreError, Table, Version};
/// use accrue_durable::{Engine, Group, WriteError, Writer};
///
/// #[derive(Debug, Default)]
/// struct InMemory(HashMap<Key, Version>);
///
/// impl Engine for InMemory {
///     fn version(&self, key: &Key) -> Result<Option<Version>, StoreError> {
///         Ok(self.0.get(key).copied())
///     }
///
///     fn write(&mut self, group: Group) -> Result<(), WriteError> {
///         for (key, row) in group.rows {
///             match row {
///                 Some((version, _document)) => self.0.insert(key, version),
///                 None => self.0.remove(&key),
///             };
///         }
///         Ok(())
///     }
///
///     fn abandon(&mut self) {}
///
///     fn close(self) {}
/// }
///
/// # pollster::block_on(async {
/// let writer = Writer::start("example-writer", InMemory::default(), 0)?;
/// let key = Key::new(Table::new("greeting"), *b"hello");
/// let batch = Batch::new()
///     .expect(key.clone(), Expected::Absent)
///     .put(key.clone(), Document::parse("{}")?);
/// assert!(matches!(writer.commit(batch.clone()).await?, Commit::Committed(_)));
/// assert_eq!(writer.commit(batch).await?, Commit::Conflict(key));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Writer {
    // Dropped in this order: the thread ends when nobody can send any more.
    jobs: Sender<Job>,
    health: Arc<Health>,
    _thread: Thread,
}

impl Writer {
    /// Starts the thread, under a name for those who watch the process.
    ///
    /// `ceiling` is the [ceiling of versions](crate::Group::ceiling) that was stored last, and 0 in a new
    /// store.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub fn start<E: Engine>(name: &str, engine: E, ceiling: u64) -> io::Result<Self> {
        let health = Arc::new(Health::default());
        let (jobs, waiting) = mpsc::channel();
        let versions = Versions::above(ceiling);
        let running = Running { engine, versions, health: Arc::clone(&health) };
        let queue = Queue::new(waiting);
        let thread = thread::Builder::new().name(name.into()).spawn(move || running.run(queue))?;
        Ok(Self { jobs, health, _thread: Thread(Some(thread)) })
    }

    /// Judges the batch, writes it if it is accepted, and answers when it is durable.
    ///
    /// Where this is dropped before its end, the batch is committed or never sent.
    ///
    /// # Errors
    ///
    /// As the contract of [`Store`](accrue::store::Store) has it.
    pub async fn commit(&self, batch: Batch) -> Result<Commit, StoreError> {
        self.check()?;
        let (answer, answered) = oneshot::channel();
        self.send(Job::Commit { batch, answer })?;
        answered
            .await
            .unwrap_or_else(|_| Err(StoreError::indeterminate("the writer gave no answer")))
    }

    /// Answers once every group that the engine was given before is durable.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if one of them may not be.
    pub async fn settled(&self) -> Result<(), StoreError> {
        let (answer, answered) = oneshot::channel();
        self.send(Job::Barrier { answer })?;
        answered.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Refuses where a write has failed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`], until the store is opened again.
    pub fn check(&self) -> Result<(), StoreError> {
        self.health.check()
    }

    fn send(&self, job: Job) -> Result<(), StoreError> {
        self.jobs.send(job).map_err(|_| ended())
    }
}

fn ended() -> StoreError {
    StoreError::unavailable("the writer has ended")
}

/// What the thread owns.
#[derive(Debug)]
struct Running<E> {
    engine: E,
    versions: Versions,
    health: Arc<Health>,
}

impl<E: Engine> Running<E> {
    fn run(mut self, mut queue: Queue) {
        while let Some(jobs) = queue.next_group() {
            // A panic drops the answers of its group, which its callers take for what it is. The
            // thread goes on, to refuse whoever comes next.
            if catch_unwind(AssertUnwindSafe(|| self.round(jobs))).is_err() {
                self.health.fail("the writer panicked");
                self.engine.abandon();
            }
        }
        self.engine.close();
    }

    /// Judges, writes and answers one group. Every group before it is durable when it begins, or
    /// the store has failed.
    fn round(&mut self, jobs: Vec<Job>) {
        let mut judge = Judge::new(&self.engine, &mut self.versions);
        let mut waiting = Vec::new();
        for job in jobs {
            match job {
                Job::Barrier { answer } => drop(answer.send(self.health.check())),
                Job::Commit { batch, answer } => {
                    let changes = !batch.changes.is_empty();
                    let judged = self.health.check().and_then(|()| judge.admit(batch));
                    // What was judged on durable rows alone need not wait.
                    if judge.is_empty() {
                        drop(answer.send(judged));
                    } else {
                        waiting.push(Waiting { judged, changes, answer });
                    }
                }
            }
        }
        if judge.is_empty() {
            return;
        }
        let group = judge.into_group();
        match self.engine.write(group) {
            Ok(()) => waiting.into_iter().for_each(Waiting::settle),
            Err(error) => {
                self.health.fail(error.reason);
                waiting.into_iter().for_each(|waiting| waiting.fail(&error));
            }
        }
    }
}

/// The running thread. Dropping this waits until it has ended.
#[derive(Debug)]
struct Thread(Option<thread::JoinHandle<()>>);

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // It panics only where the engine cannot be closed. Nothing that was answered depends
            // on that.
            let _ = thread.join();
        }
    }
}

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

    fn fail(self, cause: &WriteError) {
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
        drop(self.answer.send(Err(error.with_source(Arc::clone(&cause.source)))));
    }
}
