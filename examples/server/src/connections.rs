//! The connections of a server, and how long those may wait that send nothing whole.

mod attended;
mod bounds;

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

pub use self::{attended::Attended, bounds::ConnectionBounds};

/// The connections of a server, within [`ConnectionBounds`]. Cheap to clone; all clones are one.
///
/// A connection is at a request, from its whole head to its answer, or it waits for its client. Who
/// waits is closed after a time, and earlier where a new one finds no place: then the one that has
/// waited longest makes room. So a new connection is served at once however many others send nothing,
/// and no request is broken off for another before it is answered.
#[derive(Clone)]
pub struct Connections(Arc<Shared>);

struct Shared {
    bounds: ConnectionBounds,
    table: Mutex<Table>,
    /// That a connection left, or began to wait.
    changed: Notify,
}

/// The connections that have a place. One that lost it is closed by whoever reads from it next.
#[derive(Default)]
struct Table {
    next: u64,
    seats: HashMap<u64, Seat>,
    /// Those that wait, the longest first.
    waiting: BTreeSet<(Instant, u64)>,
}

#[derive(Default)]
struct Seat {
    /// None while it is at a request.
    wait: Option<Wait>,
    /// Who is told that the place is lost.
    waker: Option<Waker>,
}

/// A wait for a client.
#[derive(Clone, Copy)]
struct Wait {
    since: Instant,
    until: Instant,
    /// Whether something of a head has come.
    begun: bool,
}

impl Connections {
    /// Has no connection yet.
    #[must_use]
    pub fn new(bounds: ConnectionBounds) -> Self {
        Self(Arc::new(Shared { bounds, table: Mutex::default(), changed: Notify::new() }))
    }

    /// Returns the bounds.
    #[must_use]
    pub fn bounds(&self) -> &ConnectionBounds {
        &self.0.bounds
    }

    /// Gives a new connection a place, from where it waits for the head of its first request.
    ///
    /// It is done at once, but where every place is taken by a connection that is at a request.
    pub async fn enter<S>(&self, stream: S) -> Attended<S> {
        loop {
            let changed = self.0.changed.notified();
            if let Some(number) = self.table().seat(self.bounds()) {
                let place = Place { connections: self.clone(), number };
                return Attended::new(stream, place, Instant::now() + self.bounds().head);
            }
            changed.await;
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Takes a place: a free one, or that of the connection that has waited longest.
    fn seat(&mut self, bounds: &ConnectionBounds) -> Option<u64> {
        if self.seats.len() >= bounds.most.get() {
            let (_, longest) = self.waiting.pop_first()?;
            let seat = self.seats.remove(&longest);
            seat.and_then(|seat| seat.waker).into_iter().for_each(Waker::wake);
        }
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.seats.insert(number, Seat::default());
        self.wait(number, bounds.head, true);
        Some(number)
    }

    /// Begins a wait, in place of the one before.
    fn wait(&mut self, number: u64, time: Duration, begun: bool) {
        let Some(seat) = self.seats.get_mut(&number) else { return };
        let since = Instant::now();
        let wait = Wait { since, until: since + time, begun };
        if let Some(before) = seat.wait.replace(wait) {
            self.waiting.remove(&(before.since, number));
        }
        self.waiting.insert((since, number));
    }

    /// Ends the wait, if there is one.
    fn end_wait(&mut self, number: u64) {
        if let Some(seat) = self.seats.get_mut(&number)
            && let Some(wait) = seat.wait.take()
        {
            self.waiting.remove(&(wait.since, number));
        }
    }
}

/// The place of a connection. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Place {
    connections: Connections,
    number: u64,
}

impl Place {
    /// Begins a request, whose head is whole. It ends when what this returns is dropped; then the
    /// connection waits for its client: to take the answer, and to send another request.
    #[must_use = "drop it when the request is answered"]
    pub fn serve(&self) -> Serving {
        self.connections.table().end_wait(self.number);
        Serving(self.clone())
    }

    /// Returns until when the connection waits, if it does.
    ///
    /// # Errors
    ///
    /// That it lost its place. Otherwise the waker is called when it does.
    fn waits(&self, waker: &Waker) -> Result<Option<Instant>, LostPlace> {
        let mut table = self.connections.table();
        let seat = table.seats.get_mut(&self.number).ok_or(LostPlace)?;
        match &mut seat.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        Ok(seat.wait.map(|wait| wait.until))
    }

    /// Something came from the client: of the head of a request, where it is waited for.
    fn heard(&self) {
        let table = &mut *self.connections.table();
        if let Some(seat) = table.seats.get_mut(&self.number)
            && let Some(wait) = seat.wait.as_mut().filter(|wait| !wait.begun)
        {
            wait.begun = true;
            wait.until = Instant::now() + self.connections.bounds().head;
        }
    }

    /// The client took something of an answer.
    fn taken(&self) {
        let mut table = self.connections.table();
        let is_idle = |seat: &Seat| seat.wait.is_some_and(|wait| !wait.begun);
        if table.seats.get(&self.number).is_some_and(is_idle) {
            table.wait(self.number, self.connections.bounds().idle, false);
        }
    }

    /// Gives the place up.
    fn leave(&self) {
        let mut table = self.connections.table();
        table.end_wait(self.number);
        table.seats.remove(&self.number);
        self.connections.0.changed.notify_one();
    }
}

/// A request that is being answered.
pub struct Serving(Place);

impl Drop for Serving {
    fn drop(&mut self) {
        let Place { connections, number } = &self.0;
        connections.table().wait(*number, connections.bounds().idle, false);
        connections.0.changed.notify_one();
    }
}

/// That a connection was closed for another.
struct LostPlace;

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").field("bounds", &self.0.bounds).finish_non_exhaustive()
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Place").field(&self.number).finish()
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Serving").field(&self.0.number).finish()
    }
}
