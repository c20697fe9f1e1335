mod flaw;
mod handle;
mod turns;

use std::sync::{Arc, Mutex, PoisonError};

pub use self::flaw::ProcessesFlaw;
use self::{
    handle::{Handle, Rows},
    turns::{BrokenTurns, TurnsOfOne},
};
use crate::{Opened, Processes};

/// The place of a store in memory that several handles have open, which breaks in one way what they have in common.
///
/// It shows that a test can fail: the tests of this crate hold every case of the suite for several processes against a
/// place that must fail it.
///
/// ```
/// use accrue::store::{Batch, Document, Key, Store, Table};
/// use accrue_conformance::{BrokenProcesses, Processes, ProcessesFlaw};
///
/// # pollster::block_on(async {
/// let place = BrokenProcesses::new(ProcessesFlaw::KeepsAbsence);
/// let [one, other] = [place.open().store, place.open().store];
/// let key = Key::new(Table::new("row"), *b"a");
/// assert_eq!(one.get(&[key.clone()]).await?, [None]);
/// other.commit(Batch::new().put(key.clone(), Document::parse("{}")?)).await?;
/// assert_eq!(one.get(&[key]).await?, [None], "it keeps what it has read");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct BrokenProcesses {
    flaw: ProcessesFlaw,
    rows: Arc<Mutex<Rows>>,
    turns: Arc<BrokenTurns>,
}

impl BrokenProcesses {
    /// An empty place.
    #[must_use]
    pub fn new(flaw: ProcessesFlaw) -> Self {
        Self { flaw, rows: Arc::default(), turns: Arc::new(BrokenTurns::new(flaw)) }
    }

    fn set_failing(&self, is_failing: bool) {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).is_failing = is_failing;
    }
}

impl Processes for BrokenProcesses {
    fn open(&self) -> Opened {
        Opened {
            store: Arc::new(Handle::open(self.flaw, &self.rows)),
            turns: Some(Arc::new(TurnsOfOne::of(&self.turns))),
        }
    }

    fn begin_failing(&self) {
        self.set_failing(true);
    }

    fn end_failing(&self) {
        self.set_failing(false);
    }
}
