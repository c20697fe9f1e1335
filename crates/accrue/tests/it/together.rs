//! Single events of one customer that wait in a process are committed together, each with a record of its own.

use std::{
    pin::Pin,
    sync::{Arc, atomic::Ordering::SeqCst},
    task::{Context, Poll, Waker},
};

use accrue::{
    Account, AccountId, Billing, Error, IdempotencyKey, SeededEntropy,
    idempotency::Answer,
    limits,
    subscription::Subscription,
    usage::{Event, Ingestion},
};
use futures_util::future::join_all;
use proptest::prelude::*;

use crate::support::{
    fixture::{COUNT, Fixture, block_on, event, usage_alert},
    slow::{Slow, drive},
};

/// A customer whose usage is counted, on a store whose calls take a moment.
struct Counted {
    fixture: Fixture,
    subscription: Subscription,
    metric: accrue::metric::Metric,
    store: Arc<Slow>,
    account: Account,
}

type Request = Pin<Box<dyn Future<Output = Result<Answer<Ingestion>, Error>>>>;

impl Counted {
    fn new() -> Self {
        let fixture = Fixture::new();
        let metric = fixture.metric(COUNT);
        let plan = fixture.plan();
        let subscription = fixture.subscribe(fixture.customer("ada").id, &plan);
        let store = Arc::new(Slow::on(&fixture.store));
        let clock = fixture.clock.clone();
        let billing = Billing::new(Arc::clone(&store), clock, SeededEntropy::new(2));
        let account = billing.account(AccountId::parse("acme").unwrap());
        Self { fixture, subscription, metric, store, account }
    }

    fn event(&self, key: &str) -> Event {
        event("ada", key, self.account.billing().now(), "1")
    }

    fn request(&self, event: Event, key: &str) -> Request {
        let key = IdempotencyKey::parse(key).unwrap();
        self.account.ingest([event]).keyed(key).into_future()
    }

    /// A request with an event of its own.
    fn ask(&self, key: &str) -> Request {
        self.request(self.event(key), key)
    }

    fn commits(&self) -> usize {
        self.store.commits.load(SeqCst)
    }

    fn count(&self) -> Option<String> {
        self.fixture.usage(&self.subscription, &self.metric)
    }
}

/// Whether one was ingested, or was there, or why not; and whether that was answered before.
fn tell(answer: &Result<Answer<Ingestion>, Error>) -> String {
    match answer {
        Ok(answer) => {
            let Ingestion { ingested, duplicates, .. } = answer.outcome;
            let replayed = if answer.is_replayed() { " again" } else { "" };
            format!("{ingested} new, {duplicates} there{replayed}")
        }
        Err(error) => format!("{:?}", error.kind()),
    }
}

fn told(answers: &[Result<Answer<Ingestion>, Error>]) -> Vec<String> {
    answers.iter().map(tell).collect()
}

#[test]
fn those_that_wait_are_committed_together_each_with_its_record() {
    let counted = Counted::new();
    let keys: Vec<_> = (0..2 * limits::TOGETHER).map(|n| n.to_string()).collect();
    let all = || keys.iter().map(|key| counted.ask(key));
    let answers = drive(join_all(all()));
    assert!(told(&answers).iter().all(|told| told == "1 new, 0 there"), "{answers:?}");
    assert_eq!(counted.commits(), 3, "the first, {} behind it, and the rest", limits::TOGETHER);
    assert_eq!(counted.count().as_deref(), Some("128"));
    let before = counted.fixture.dump();
    let again = drive(join_all(all()));
    assert!(told(&again).iter().all(|told| told == "1 new, 0 there again"), "{again:?}");
    assert_eq!(counted.fixture.dump(), before);
}

#[test]
fn they_fire_the_alerts_that_they_fire_one_by_one() {
    let fired = |at_once: bool| {
        let counted = Counted::new();
        let alert = usage_alert(counted.metric.id, &["3", "7", "30"]);
        let id = counted.subscription.id;
        block_on(counted.fixture.account.create_subscription_alert(id, alert).into_future())
            .unwrap();
        let requests = (0..40).map(|n| counted.ask(&n.to_string()));
        match at_once {
            true => drop(drive(join_all(requests))),
            false => requests.for_each(|request| drop(drive(request))),
        }
        counted.fixture.fired()
    };
    let one_by_one = fired(false);
    assert_eq!(one_by_one.len(), 3);
    assert_eq!(fired(true), one_by_one);
}

#[test]
fn an_event_that_comes_twice_at_once_counts_once() {
    let counted = Counted::new();
    let other = Event {
        timestamp: counted.event("x").timestamp,
        ..event("ada", "x", counted.account.billing().now(), "2")
    };
    let answers = drive(join_all([
        counted.ask("first"),
        counted.request(counted.event("x"), "one"),
        counted.request(counted.event("x"), "same"),
        counted.request(other, "other"),
        counted.ask("last"),
    ]));
    let (new, there) = ("1 new, 0 there", "0 new, 1 there");
    assert_eq!(told(&answers), [new, new, there, "RequestValidation", new]);
    assert_eq!(counted.count().as_deref(), Some("3"));
}

#[test]
fn one_that_is_refused_keeps_no_other_back() {
    let counted = Counted::new();
    let mut late = counted.event("late");
    late.timestamp = crate::support::fixture::at("2025-01-01T00:00:00Z");
    let mut requests: Vec<_> = (0..9).map(|n| counted.ask(&n.to_string())).collect();
    requests.insert(5, counted.request(late, "late"));
    let answers = drive(join_all(requests));
    let refused = told(&answers).iter().position(|told| told == "RequestValidation");
    assert_eq!(refused, Some(5));
    assert_eq!(told(&answers).iter().filter(|told| *told == "1 new, 0 there").count(), 9);
    assert_eq!(counted.count().as_deref(), Some("9"));
    // One alone, the nine with it that are refused together and then without it, and the refused one.
    assert!(counted.commits() <= 5, "{} commits", counted.commits());
}

#[test]
fn keys_that_were_used_are_answered_as_before() {
    let counted = Counted::new();
    drive(counted.ask("used")).unwrap();
    let answers = drive(join_all([
        counted.ask("first"),
        counted.ask("new"),
        counted.ask("used"),
        counted.ask("last"),
    ]));
    let new = "1 new, 0 there";
    assert_eq!(told(&answers), [new, new, "1 new, 0 there again", new]);
    let answers = drive(join_all([
        counted.ask("1"),
        counted.ask("2"),
        counted.request(counted.event("3"), "used"),
        counted.ask("4"),
    ]));
    assert_eq!(told(&answers), [new, new, "ResourceConflict", new]);
    assert_eq!(counted.count().as_deref(), Some("7"));
}

#[test]
fn a_key_that_was_used_keeps_no_other_back() {
    let counted = Counted::new();
    drive(counted.ask("5")).unwrap();
    let before = counted.commits();
    let answers = drive(join_all((0..12).map(|n| counted.ask(&n.to_string()))));
    let again = told(&answers).iter().position(|told| told == "1 new, 0 there again");
    assert_eq!(again, Some(5));
    assert_eq!(counted.count().as_deref(), Some("12"));
    let commits = counted.commits() - before;
    assert!(commits <= 4, "one alone, the others with it and without it, and itself: {commits}");
}

/// Each that is left out has cost the others a run.
#[test]
fn where_many_are_left_out_each_goes_alone() {
    let counted = Counted::new();
    let all = || (0..20).map(|n| counted.ask(&n.to_string()));
    drive(join_all(all()));
    let before = counted.commits();
    let answers = drive(join_all(all().chain([counted.ask("new")])));
    assert_eq!(told(&answers).last().map(String::as_str), Some("1 new, 0 there"));
    let alone = 21;
    let commits = counted.commits() - before;
    assert!(commits <= alone + limits::DISMISSED, "{commits}");
    assert_eq!(counted.count().as_deref(), Some("21"));
}

#[test]
fn events_of_a_customer_who_is_yet_to_come_wait_for_one_customer() {
    let counted = Counted::new();
    let now = counted.account.billing().now();
    let requests = (0..20).map(|n| {
        let key = n.to_string();
        counted.request(event("bob", &key, now, "1"), &key)
    });
    let answers = drive(join_all(requests));
    assert!(told(&answers).iter().all(|told| told == "1 new, 0 there"), "{answers:?}");
    let reserved = counted.fixture.dump();
    let reserved = reserved.iter().filter(|row| row.contains("customer_external:"));
    assert_eq!(reserved.count(), 2, "of ada and of bob");
}

#[test]
fn where_nobody_knows_whether_they_were_committed_each_finds_out() {
    let counted = Counted::new();
    let mut first = counted.ask("first");
    let mut others: Vec<_> = (0..8).map(|n| counted.ask(&n.to_string())).collect();
    let mut context = Context::from_waker(Waker::noop());
    assert!(first.as_mut().poll(&mut context).is_pending());
    others.iter_mut().for_each(|other| assert!(other.as_mut().poll(&mut context).is_pending()));
    drive(first).unwrap();
    counted.store.is_unsure.store(true, SeqCst);
    let answers = drive(join_all(others));
    assert!(told(&answers).iter().all(|told| told == "1 new, 0 there"), "{answers:?}");
    assert_eq!(counted.count().as_deref(), Some("9"));
}

/// Whoever is told its outcome while it asks to lead leaves the others to those who wait.
#[test]
fn callers_on_threads_are_all_answered() {
    const THREADS: usize = 8;
    const CALLS: usize = 200;
    let counted = Counted::new();
    let call = |thread: usize| {
        let (account, now) = (counted.fixture.account.clone(), counted.fixture.billing.now());
        move || {
            for call in 0..CALLS {
                let key = format!("{thread} {call}");
                let used = event("ada", &key, now, "1");
                let key = IdempotencyKey::parse(key).unwrap();
                let answer = block_on(account.ingest([used]).keyed(key).into_future());
                assert_eq!(tell(&answer), "1 new, 0 there");
            }
        }
    };
    let threads: Vec<_> = (0..THREADS).map(|thread| std::thread::spawn(call(thread))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(counted.count(), Some((THREADS * CALLS).to_string()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Callers come at any time, go away at any time, and come again: each event counts once.
    #[test]
    fn whoever_goes_away_takes_no_other_along(
        comes in prop::collection::vec((0_usize..12, 1_usize..24, any::<bool>()), 2..24),
        unsure in 0_usize..40,
    ) {
        let counted = Counted::new();
        let mut context = Context::from_waker(Waker::noop());
        let mut requests: Vec<_> = comes
            .iter()
            .enumerate()
            .map(|(n, (from, polls, stays))| {
                (counted.ask(&n.to_string()), *from, if *stays { usize::MAX } else { *polls })
            })
            .map(Some)
            .collect();
        for round in 0..10_000 {
            if round == unsure {
                counted.store.is_unsure.store(true, SeqCst);
            }
            for place in &mut requests {
                let Some((request, from, polls)) = place else { continue };
                if *from > round {
                    continue;
                }
                match request.as_mut().poll(&mut context) {
                    Poll::Ready(answer) => {
                        prop_assert_eq!(tell(&answer), "1 new, 0 there");
                        *place = None;
                    }
                    Poll::Pending => {
                        *polls -= 1;
                        if *polls == 0 {
                            *place = None;
                        }
                    }
                }
            }
        }
        prop_assert!(requests.iter().all(Option::is_none), "somebody waits for ever");
        counted.store.is_unsure.store(false, SeqCst);
        for number in 0..comes.len() {
            let again = drive(counted.ask(&number.to_string()));
            prop_assert!(tell(&again).starts_with("1 new, 0 there"), "{:?}", again);
        }
        let count = comes.len().to_string();
        prop_assert_eq!(counted.count(), Some(count));
    }
}
