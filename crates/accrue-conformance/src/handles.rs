use std::{pin::Pin, sync::Arc};

use accrue::store::{Store, Turns};

/// How the suite for several processes gets at a backend. One value of it is one place where one store
/// lives, which several handles have open at once.
///
/// The suite makes one for each case, and expects the store in it to be empty and to share nothing
/// with another: a database of its own.
pub trait Processes: Send + Sync {
    /// Opens one more handle on the store, with everything that a process has for itself: its own
    /// connections, its own copies of rows.
    ///
    /// The suite calls it while other handles are open, and after it has dropped some.
    fn open(&self) -> Opened;

    /// Runs a future to its end on this thread.
    ///
    /// A backend that needs a runtime of its own enters it here; it has to bear calls from several
    /// threads at once.
    fn block_on(&self, future: Pin<Box<dyn Future<Output = ()> + Send + '_>>) {
        pollster::block_on(future);
    }

    /// Makes commits fail from now on, of all handles, as lost connections do.
    ///
    /// A backend whose connections can be made to fail does that here. Others do nothing: the cases
    /// about unknown outcomes then look at answers that the suite itself loses.
    fn begin_failing(&self) {}

    /// Ends what [`begin_failing`](Processes::begin_failing) began. All handles serve again.
    fn end_failing(&self) {}
}

/// One handle on a store, as a process has it.
#[derive(Clone)]
pub struct Opened {
    /// Store of the process.
    pub store: Arc<dyn Store>,
    /// Turns of the process; none where the backend has none. The cases about them do not apply then, and
    /// pass.
    pub turns: Option<Arc<dyn Turns>>,
}
