use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{Builder, JoinHandle},
};

use crate::{filter::Filter, rows::Rows};

/// Keys that a filter has room for at least: 1.5 MiB.
const LEAST_ROOM: u64 = 1 << 20;
/// Keys that a filter has room for at most: 60 MiB.
const MOST_ROOM: u64 = 40 << 20;
/// How many times the rows that there are a new filter has room for.
const GROWTH: u64 = 4;
/// How many rows are read in the time in which fjall finds that there is none under a key.
const ROWS_PER_LOOK: u64 = 4;

/// Keys under which there is no row, as far as that is known without asking fjall.
///
/// The writer owns it, beside whom nobody writes. What it knows is a filter of the keys of all rows
/// (`docs/decisions/fjall-filter-of-keys.md`), which lives in memory alone: a thread reads the keys that
/// are there, and the writer adds those that it writes from then on. Until the thread has ended, and
/// where it could not read, nothing is known.
#[derive(Debug, Default)]
pub(crate) struct Absences {
    filter: Option<Filter>,
    filling: Option<Filling>,
    /// Looks of fjall for a row that is not there, since a filter was begun.
    vain: Cell<u64>,
}

impl Absences {
    /// Tells whether it is known that there is no row under the key with this hash.
    pub(crate) fn include(&self, hash: u64) -> bool {
        self.filter.as_ref().is_some_and(|filter| !filter.may_have(hash))
    }

    /// Counts a row that fjall has looked for, and that is not there.
    pub(crate) fn count_vain(&self) {
        self.vain.set(self.vain.get().saturating_add(1));
    }

    /// Takes in what is about to be written, and begins a new filter where it pays.
    pub(crate) fn before_write(&mut self, rows: &Rows, hashes: impl Iterator<Item = u64>) {
        if self.filling.as_ref().is_some_and(Filling::has_ended) {
            self.finish_filter();
        }
        if self.filling.is_none() && self.filter.as_ref().is_none_or(Filter::is_full) {
            let count = rows.approximate_count();
            if self.pays(count) {
                self.begin_filter(rows.hashes(), room_for(count));
            }
        }
        for hash in hashes {
            if let Some(filter) = &mut self.filter {
                filter.insert(hash);
            }
            if let Some(filling) = &mut self.filling {
                filling.written.push(hash);
            }
        }
    }

    /// Tells whether a new filter is worth that all rows are read for it: once looks in vain have cost
    /// as much. One that is full gets a successor where that would be better than it is.
    fn pays(&self, rows: u64) -> bool {
        match self.filter {
            None => rows <= MOST_ROOM && self.vain.get().saturating_mul(ROWS_PER_LOOK) >= rows,
            Some(_) => rows <= MOST_ROOM / 2,
        }
    }

    /// Begins a filter of the rows whose hashes these are, and of those that are written from now on.
    pub(crate) fn begin_filter(
        &mut self,
        hashes: impl Iterator<Item = fjall::Result<u64>> + Send + 'static,
        room: u64,
    ) {
        self.vain.set(0);
        self.filling = Filling::begin(hashes, Filter::with_room(room));
    }

    /// Puts the filter that was begun in the place of the one before, also where it came to nothing:
    /// then nothing is known, and the next one has to pay again.
    pub(crate) fn finish_filter(&mut self) {
        self.filter = self.filling.take().and_then(Filling::finish);
    }
}

fn room_for(rows: u64) -> u64 {
    rows.saturating_mul(GROWTH).clamp(LEAST_ROOM, MOST_ROOM)
}

/// A filter that a thread puts the hashes of all rows into. Dropping this ends the thread.
#[derive(Debug)]
struct Filling {
    thread: Option<JoinHandle<Option<Filter>>>,
    is_unwanted: Arc<AtomicBool>,
    /// Of the rows that were written meanwhile.
    written: Vec<u64>,
}

impl Filling {
    /// Starts the thread; none where there can be none.
    fn begin(
        mut hashes: impl Iterator<Item = fjall::Result<u64>> + Send + 'static,
        mut filter: Filter,
    ) -> Option<Self> {
        let is_unwanted = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_unwanted);
        let fill = move || {
            let is_whole = hashes.try_for_each(|hash| {
                filter.insert(hash.ok()?);
                (!stop.load(Ordering::Relaxed)).then_some(())
            });
            is_whole.map(|()| filter)
        };
        let thread = Builder::new().name("accrue-fjall-filter".into()).spawn(fill).ok()?;
        Some(Self { thread: Some(thread), is_unwanted, written: Vec::new() })
    }

    fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the thread; none where not all rows could be read.
    fn finish(mut self) -> Option<Filter> {
        // fjall panics where its files are damaged in some ways.
        let mut filter = self.thread.take()?.join().ok()??;
        self.written.iter().for_each(|hash| filter.insert(*hash));
        Some(filter)
    }
}

impl Drop for Filling {
    fn drop(&mut self) {
        self.is_unwanted.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
