//! Processes that share a database wait for their turns at it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

mod support;

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use accrue::store::{Turn, Turns as _};
use accrue_postgres::{PostgresOptions, PostgresStore};
use pollster::block_on;
use support::{execute, new_store, number, shared_server};

/// Waiters of the database of a store.
const WAITERS: &str = "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database \
    WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted";

fn stores(options: &PostgresOptions) -> [PostgresStore; 2] {
    [(); 2].map(|()| block_on(options.clone().turns(1).open()).unwrap())
}

fn is_waiting(future: Pin<&mut impl Future>) -> bool {
    matches!(future.poll(&mut Context::from_waker(Waker::noop())), Poll::Pending)
}

/// Waits until so many wait in the database.
fn until_waiting(options: &PostgresOptions, waiters: i64) {
    while number(options.connection(), WAITERS) != waiters {}
}

fn given(turn: Result<Option<Turn>, accrue::store::StoreError>) -> Turn {
    turn.unwrap().unwrap()
}

/// Takes a turn as soon as there is a connection: one that was given back is not there at once.
fn take(store: &PostgresStore, place: u16) -> Turn {
    loop {
        if let Some(turn) = block_on(store.take(place)).unwrap() {
            return turn;
        }
    }
}

#[test]
fn a_turn_is_waited_for_until_another_process_gives_it_back() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let [one, other] = stores(&options);
    let turn = given(block_on(one.take(7)));
    let mut waits = pin!(other.take(7));
    assert!(is_waiting(waits.as_mut()));
    until_waiting(&options, 1);
    drop(turn);
    drop(given(block_on(waits)));
    drop(take(&one, 7));
}

#[test]
fn turns_at_several_places_are_apart_and_so_are_those_of_several_stores() {
    let Some(server) = shared_server() else { return };
    let (options, schema) = (new_store(&server), "second");
    let [one, other] = stores(&options);
    let second = options.schema(schema);
    block_on(second.clone().migrate(&[])).unwrap();
    let second = block_on(second.open()).unwrap();
    let turns = [block_on(one.take(7)), block_on(other.take(8)), block_on(second.take(7))];
    assert_eq!(turns.map(given).len(), 3);
}

#[test]
fn whoever_finds_all_connections_in_use_goes_on_without_a_turn() {
    let Some(server) = shared_server() else { return };
    let [one, other] = stores(&new_store(&server));
    let turn = given(block_on(one.take(7)));
    assert!(block_on(one.take(8)).unwrap().is_none());
    drop(turn);
    drop(given(block_on(other.take(7))));
}

#[test]
fn a_turn_ends_with_its_connection() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let [one, other] = stores(&options);
    let lost = given(block_on(one.take(7)));
    let end = "SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d \
        ON d.oid = l.database WHERE d.datname = current_database() AND l.locktype = 'advisory'";
    execute(options.connection(), &[end]);
    let turn = given(block_on(other.take(7)));
    drop((lost, turn));
    // The connection that was lost is not used again.
    drop(take(&one, 7));
}

/// A caller that goes away gives up its place.
#[test]
fn a_wait_that_is_given_up_leaves_the_turn_to_others() {
    let Some(server) = shared_server() else { return };
    let options = new_store(&server);
    let [one, other] = stores(&options);
    let turn = given(block_on(one.take(7)));
    let mut waits = Box::pin(other.take(7));
    assert!(is_waiting(waits.as_mut()));
    until_waiting(&options, 1);
    drop((waits, turn));
    until_waiting(&options, 0);
    drop(take(&one, 7));
}
