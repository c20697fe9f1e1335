use std::{pin::Pin, sync::Arc};

use accrue::store::Store;

/// How the suite gets at a backend. One value of it is one place where one store lives.
///
/// The suite makes a harness for each case, and expects the store in it to be empty and to share
/// nothing with another: a directory of its own, a database of its own.
pub trait Harness: Send + Sync {
    /// Opens the store.
    ///
    /// The first call finds it empty. The suite calls again only after it has dropped the store,
    /// which closes it; then everything committed before must be there, unless the store is
    /// [`Durability::Volatile`].
    fn open(&self) -> Arc<dyn Store>;

    /// Says whether rows outlive the closing of the store.
    ///
    /// The cases about reopening do not apply to a volatile store, and pass.
    fn durability(&self) -> Durability;

    /// Runs a future to its end on this thread.
    ///
    /// A backend that needs a runtime of its own enters it here; it has to bear calls from several
    /// threads at once.
    fn block_on(&self, future: Pin<Box<dyn Future<Output = ()> + Send + '_>>) {
        pollster::block_on(future);
    }

    /// Makes commits fail from now on, as a full disk or a lost connection does.
    ///
    /// A backend whose disk or connection can be made to fail does that here. Others do nothing:
    /// the cases about failures then look only at failures that come by themselves.
    ///
    /// What a commit of unknown outcome did must be settled once
    /// [`end_failing`](Harness::end_failing) has returned and a read was answered.
    fn begin_failing(&self) {}

    /// Ends what [`begin_failing`](Harness::begin_failing) began. The store may stay unavailable
    /// until it is opened again.
    fn end_failing(&self) {}
}

/// Whether rows outlive the closing of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// They do.
    Durable,
    /// They are gone with the store.
    Volatile,
}
