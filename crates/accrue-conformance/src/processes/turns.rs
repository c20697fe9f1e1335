//! Turns of processes ([`Turns`]). They do not apply where the backend has none.
//!
//! A turn may be refused at any time, and whoever is refused goes on without; so what is asked is that nobody has
//! a turn beside another, and that whoever waits has it before others had it very often.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    thread,
};

use accrue::store::{StoreError, Turn, Turns};

use crate::{Processes, fixtures::key, place::Place, races::at_once, subject::Subject};

/// How many calls of the store are answered while a turn is waited for.
const PATIENCE: usize = 1_000_000;

/// A process with its turns.
struct Queue<'a> {
    place: Place<'a>,
    turns: Arc<dyn Turns>,
    subject: Subject<'a>,
}

type Waiting<'a> = Pin<Box<dyn Future<Output = Result<Option<Turn>, StoreError>> + Send + 'a>>;

impl<'a> Queue<'a> {
    /// Opens several processes; none where they have no turns.
    fn several<const N: usize>(processes: &'a dyn Processes) -> Option<[Self; N]> {
        let place = Place::Shared(processes);
        let open = || {
            let opened = processes.open();
            let (turns, store) = (opened.turns?, opened.store);
            Some(Self { place, turns, subject: Subject::shared_through(processes, store) })
        };
        let all: Option<Vec<_>> = (0..N).map(|_| open()).collect();
        all?.try_into().ok()
    }

    fn wait(&self, place: u16) -> Waiting<'_> {
        let turns = &self.turns;
        Box::pin(async move { turns.take(place).await })
    }

    /// Takes a turn that nobody keeps for long, as soon as there is one.
    fn take(&self, place: u16) -> Turn {
        let mut waiting = self.wait(place);
        for _ in 0..PATIENCE {
            match self.look(&mut waiting) {
                Some(Some(turn)) => return turn,
                // One that was given back may not be there at once.
                Some(None) => waiting = self.wait(place),
                None => {}
            }
        }
        panic_without_a_turn()
    }

    /// Waits for a turn for as long as others have it.
    fn wait_for(&self, place: u16) -> Turn {
        let mut tries = (0..PATIENCE).map(|_| {
            let answer = self.place.answer(self.wait(place));
            answer.expect("turns at rest are given")
        });
        tries.find_map(|turn| turn).unwrap_or_else(|| panic_without_a_turn())
    }

    /// Looks once for the answer of a wait. A call of the store is answered meanwhile.
    fn look(&self, waiting: &mut Waiting<'_>) -> Option<Option<Turn>> {
        self.subject.row(&key("nothing"));
        thread::yield_now();
        let look = poll_fn(|context| match waiting.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => Poll::Ready(None),
        });
        let answer = self.place.answer(look)?;
        Some(answer.expect("turns at rest are given"))
    }
}

#[expect(clippy::panic, reason = "the case has failed")]
fn panic_without_a_turn() -> ! {
    panic!("there was no turn while {PATIENCE} calls of the store were answered")
}

/// Nobody has a turn while another process has it, and it is had when that one gives it back.
pub fn a_turn_is_one_processes_at_a_time(processes: &dyn Processes) {
    let Some([one, other]) = Queue::several(processes) else { return };
    for _ in 0..5 {
        let turn = one.take(7);
        let mut waiting = other.wait(7);
        for _ in 0..20 {
            if let Some(given) = other.look(&mut waiting) {
                assert!(given.is_none(), "two processes have one turn");
                waiting = other.wait(7);
            }
        }
        drop(turn);
        drop(waiting);
        drop(other.take(7));
    }
}

/// Of many that take turns at once, one goes after the other, and all of them go.
pub fn turns_of_many_never_overlap(processes: &dyn Processes) {
    let Some(all) = Queue::several::<4>(processes) else { return };
    let (inside, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let overlaps: usize = at_once(all.len(), |caller| {
        let mut overlaps = 0;
        let queue = all.get(caller).expect("there is one for each");
        for _ in 0..10 {
            let turn = queue.wait_for(3);
            overlaps += inside.fetch_add(1, Ordering::SeqCst);
            // Long enough for another one to come in between.
            for _ in 0..10 {
                queue.subject.row(&key("nothing"));
                thread::yield_now();
            }
            inside.fetch_sub(1, Ordering::SeqCst);
            drop(turn);
            done.fetch_add(1, Ordering::SeqCst);
        }
        overlaps
    })
    .into_iter()
    .sum();
    assert_eq!((overlaps, done.load(Ordering::SeqCst)), (0, 40));
}

/// Whoever waits has its turn, though others come again and again.
pub fn whoever_waits_is_not_overtaken_for_ever(processes: &dyn Processes) {
    let Some([first, one, other]) = Queue::several(processes) else { return };
    let mut turn = one.take(7);
    let mut waiting = first.wait(7);
    for round in 0..OTHERS {
        let next = if round % 2 == 0 { &other } else { &one };
        match next_after(turn, (&first, &mut waiting), next) {
            Served::First => return,
            Served::Next(had) => turn = had,
        }
    }
    drop(turn);
    assert_eq!(OTHERS, 0, "so many had their turns before one that had waited for longer");
}

/// How many may be before one that waits, whose wait they do not see at once.
const OTHERS: usize = 100;

/// Whoever has a turn that was given back.
enum Served {
    First,
    Next(Turn),
}

/// Gives a turn back while one waits for it and another one comes.
fn next_after<'q>(
    turn: Turn,
    (first, waiting): (&'q Queue<'_>, &mut Waiting<'q>),
    next: &Queue<'_>,
) -> Served {
    let mut coming = next.wait(7);
    let mut turn = Some(turn);
    for looks in 0..PATIENCE {
        if looks == 3 {
            turn = None;
        }
        match first.look(waiting) {
            Some(Some(_)) => {
                assert!(turn.is_none(), "two processes have one turn");
                return Served::First;
            }
            Some(None) => *waiting = first.wait(7),
            None => {}
        }
        match next.look(&mut coming) {
            Some(Some(given)) => {
                assert!(turn.is_none(), "two processes have one turn");
                return Served::Next(given);
            }
            Some(None) => coming = next.wait(7),
            None => {}
        }
    }
    panic_without_a_turn()
}

/// A wait that is given up holds nobody up.
pub fn a_wait_that_is_given_up_holds_nobody_up(processes: &dyn Processes) {
    let Some([one, other, third]) = Queue::several(processes) else { return };
    for _ in 0..3 {
        let turn = one.take(7);
        let mut waiting = other.wait(7);
        for _ in 0..10 {
            if other.look(&mut waiting).is_some() {
                waiting = other.wait(7);
            }
        }
        drop(waiting);
        drop(turn);
        drop(third.take(7));
    }
}

/// A process that is gone has no turn.
pub fn a_turn_ends_with_its_process(processes: &dyn Processes) {
    let Some([other]) = Queue::several(processes) else { return };
    for _ in 0..3 {
        let Some([gone]) = Queue::several(processes) else { return };
        let turn = gone.take(7);
        drop(gone);
        drop(turn);
        drop(other.take(7));
    }
}

/// Turns at one place have nothing to do with those at another.
pub fn turns_at_several_places_are_apart(processes: &dyn Processes) {
    let Some([one, other]) = Queue::several(processes) else { return };
    let first = one.take(7);
    let second = other.take(8);
    drop(first);
    let third = one.take(1_023);
    drop(other.take(7));
    drop((second, third));
}
