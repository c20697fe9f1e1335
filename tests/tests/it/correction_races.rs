//! Many at once: whatever comes of it, figures are those of the events that are said to count.

use std::{collections::BTreeSet, thread};

use accrue::{
    Account, Clock as _, Error, ErrorKind, EventKey, Timeframe,
    backfill::NewBackfill,
    store::MemoryStore,
    usage::{Amendment, Event, EventSearch, FoundEvent, PropertyValue},
};
use accrue_tests::{
    corrected::{GRANTED, Story, story::ALIASES},
    host::{Host, event, micros},
    stores::PendingStore,
};
use pollster::block_on;

const HOUR: i64 = 3_600_000_000;

/// Something that is done by one of many, at a step.
type Act = fn(&Story, &Host, u64);

/// Does a thing until nobody is in the way; what cannot be is left.
fn insist<T>(mut act: impl FnMut() -> Result<T, Error>) -> Option<T> {
    for _ in 0..1_000 {
        match act() {
            Ok(done) => return Some(done),
            Err(error) if error.can_be_retried() => {}
            Err(error) => {
                let kind = error.kind();
                let is_refusal = matches!(
                    kind,
                    ErrorKind::ConstraintViolation
                        | ErrorKind::RequestValidation
                        | ErrorKind::ResourceNotFound
                );
                assert!(is_refusal, "{error:?}");
                return None;
            }
        }
    }
    panic!("nobody gets anywhere");
}

fn some_event(host: &Host, step: u64, kind: &str) -> Event {
    let alias = ALIASES[usize::from(step.is_multiple_of(3))];
    let back = i64::try_from(step * 7 % 40).unwrap() * HOUR / 2;
    let at = micros(host.clock.now().micros() - back % (20 * HOUR));
    event(alias, &format!("{kind} {step}"), at, &[("n", PropertyValue::from(step % 11))])
}

fn use_some(_: &Story, host: &Host, step: u64) {
    insist(|| block_on(host.account.ingest([some_event(host, step, "raced")]).into_future()));
}

fn bring_some(story: &Story, host: &Host, step: u64) {
    let mut event = some_event(host, step, "late");
    let within = story.fetched().timeframe;
    let length = within.end().micros() - within.start().micros();
    event.timestamp = micros(within.start().micros() + length / 50 * i64::try_from(step).unwrap());
    let id = story.backfill;
    insist(|| block_on(host.account.ingest_backfill(id, [event.clone()]).into_future()));
}

fn turn(story: &Story, host: &Host, step: u64) {
    let id = story.backfill;
    match step {
        8 => drop(insist(|| block_on(host.account.close_backfill(id).into_future()))),
        20 => drop(insist(|| block_on(host.account.revert_backfill(id).into_future()))),
        _ => {}
    }
}

/// Backfills of one customer, each of which is closed at once; every other one is reverted.
fn correct(story: &Story, host: &Host, step: u64) {
    let now = host.clock.now().micros();
    let from = now - 30 * HOUR + i64::try_from(step).unwrap() * HOUR;
    let within = Timeframe::new(micros(from), micros(from + 3 * HOUR)).unwrap();
    let mut new = NewBackfill::new(within);
    new.customer = Some(story.customers[0].into());
    new.replace_existing_events = step.is_multiple_of(2);
    let created = insist(|| block_on(host.account.create_backfill(new.clone()).into_future()));
    let Some(created) = created else { return };
    let event =
        event(ALIASES[0], &format!("own {step}"), micros(from + HOUR), &[("n", 5_u64.into())]);
    let id = created.id;
    insist(|| block_on(host.account.ingest_backfill(id, [event.clone()]).into_future()));
    insist(|| block_on(host.account.close_backfill(id).into_future()));
    if step.is_multiple_of(3) {
        insist(|| block_on(host.account.revert_backfill(id).into_future()));
    }
}

fn edit(_: &Story, host: &Host, step: u64) {
    let event = some_event(host, step, "raced");
    let id = event.idempotency_key.clone();
    if step.is_multiple_of(2) {
        insist(|| block_on(host.account.deprecate_event(id.clone()).into_future()));
        return;
    }
    let amendment = Amendment {
        event_name: event.event_name,
        timestamp: event.timestamp,
        properties: Default::default(),
        customer: event.customer,
    };
    insist(|| block_on(host.account.amend_event(id.clone(), amendment.clone()).into_future()));
}

fn tick(_: &Story, host: &Host, _: u64) {
    insist(|| block_on(host.billing.tick(1)));
}

/// The events that are found and count.
fn counting(account: &Account, keys: &BTreeSet<String>) -> Vec<FoundEvent> {
    let keys: Vec<_> = keys.iter().map(|key| EventKey::parse(key.as_str()).unwrap()).collect();
    let search = |keys: &[EventKey]| {
        let mut search = EventSearch::new(keys.iter().cloned());
        search.timeframe_start = Some(micros(0));
        search.timeframe_end = Some(micros(4_000_000_000_000_000));
        block_on(account.search_events(search)).unwrap()
    };
    let found = keys.chunks(500).flat_map(search);
    found.filter(|found| !found.deprecated).collect()
}

fn number(event: &FoundEvent) -> Option<u64> {
    let name = accrue::PropertyName::parse("n").unwrap();
    let found = event.properties.iter().find(|(of, _)| **of == name)?;
    match found.1 {
        PropertyValue::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// What the metrics of the story come to of some events.
fn figures<'a>(events: impl Iterator<Item = &'a FoundEvent>) -> Vec<u64> {
    let (mut sum, mut count, mut values) = (0, 0, BTreeSet::new());
    for event in events {
        count += 1;
        sum += number(event).unwrap_or_default();
        values.extend(number(event).filter(|number| *number > 3));
    }
    vec![sum, count, u64::try_from(values.len()).unwrap()]
}

fn check(story: &Story) {
    let mut keys = BTreeSet::new();
    for step in 0..40 {
        for kind in ["raced", "late", "own"] {
            keys.insert(format!("{kind} {step}"));
        }
        for (alias, kind) in ALIASES.iter().flat_map(|of| [(of, "used"), (of, "brought")]) {
            keys.insert(format!("{kind} {alias} {step}"));
        }
    }
    let account = &story.host.account;
    let found = counting(account, &keys);
    for (index, customer) in story.customers.iter().enumerate() {
        let own = || found.iter().filter(|event| event.customer_id == Some(*customer));
        let usage = block_on(account.subscription_usage(story.subscriptions[index])).unwrap();
        let told: Vec<_> =
            usage.metrics.iter().map(|of| of.quantity.as_ref().unwrap().to_string()).collect();
        let expected: Vec<_> = figures(own()).iter().map(u64::to_string).collect();
        assert_eq!(told, expected, "the usage of customer {index}");
        for back in (0..80).step_by(7) {
            let end = story.host.clock.now().micros() - back * HOUR;
            let within = Timeframe::new(micros(end - 9 * HOUR), micros(end)).unwrap();
            let some = figures(own().filter(|event| within.contains(event.timestamp)));
            for (metric, expected) in story.metrics.iter().zip(some) {
                let used = block_on(account.usage_between(*customer, *metric, within)).unwrap();
                assert_eq!(used.unwrap().to_string(), expected.to_string(), "{within:?}");
            }
        }
        let credits = accrue::PricingUnit::parse("credits").unwrap();
        let balance = block_on(account.credit_balance(*customer, &credits)).unwrap().balance;
        let left = GRANTED - 2 * figures(own())[1];
        assert_eq!(balance.unwrap().to_string(), left.to_string(), "of customer {index}");
    }
}

#[test]
fn whoever_comes_first_figures_are_those_of_the_events_that_count() {
    const ACTS: [Act; 6] = [use_some, bring_some, turn, correct, edit, tick];
    for round in 0..4 {
        let told = Story::told(MemoryStore::new(), 30, 30);
        let story = told.copied(|store| Host::on(PendingStore(store)), 50 + round);
        thread::scope(|scope| {
            for (number, act) in ACTS.iter().enumerate() {
                let seed = 1_000 * (round + 1) + u64::try_from(number).unwrap();
                let host = story.host.another(seed);
                let story = &story;
                scope.spawn(move || {
                    for step in 0..40 {
                        act(story, &host, step);
                    }
                });
            }
        });
        story.host.tick();
        check(&story);
    }
}
