use std::time::Duration;

use accrue::{
    ErrorKind, IdempotencyKey, PropertyName,
    usage::{Amendment, PropertyValue},
};

use crate::{
    corrected::{Corrected, Naive, Said, key, said},
    support::{
        credited::{CREDITS, credited_with, dropped},
        fixture::{at, block_on, external, refused, run, usage_alert},
        priced::{NOTHING, Priced, cost_alert, metered},
    },
};

pub(crate) const AT: &str = "2026-03-10T16:20:00Z";

/// Five events that share users and regions, three of them a quarter of an hour.
pub(crate) fn six() -> (Corrected, Naive) {
    let (corrected, mut naive) = (Corrected::new(), Naive::default());
    for (id, instant, content) in [
        ("a", AT, said("5", "region 0", "ada")),
        ("b", "2026-03-10T16:16:00Z", said("2.5", "region 1", "eve")),
        ("c", "2026-03-10T16:29:59Z", said("7", "region 0", "ada")),
        ("d", "2026-03-10T17:00:00Z", said("-1", "", "bob")),
        ("e", "2026-03-10T15:07:00Z", said("3", "region 0", "ada")),
    ] {
        corrected.ingest(id, at(instant), &content);
        naive.0.insert(id.to_owned(), (at(instant), content));
    }
    naive.check(&corrected);
    (corrected, naive)
}

#[test]
fn wire_3_5_an_amendment_says_what_counts_from_now_on_and_the_last_one_wins() {
    let (corrected, mut naive) = six();
    let first = corrected.kept();
    let other = Said { is_other: true, ..said("5", "region 0", "ada") };
    let original = naive.0["a"].1.clone();
    for content in [
        said("9", "region 0", "ada"),
        said("9", "region 1", "zoe"),
        said("", "region 1", "zoe"),
        said("1.5", "", "eve"),
        said("0", "region 5", ""),
        Said::default(),
        other,
        original,
    ] {
        assert_eq!(run(corrected.amend("a", at(AT), &content)).unwrap(), key("a"));
        naive.0.insert("a".to_owned(), (at(AT), content));
        naive.check(&corrected);
        assert_eq!(corrected.kept(), naive.anew().kept());
    }
    assert_eq!(corrected.kept(), first, "what it said at first brings back what there was");
}

#[test]
fn wire_3_5_a_search_shows_what_an_event_was_amended_to() {
    let (corrected, _) = six();
    let before = corrected.found("a").unwrap();
    run(corrected.amend("a", at(AT), &said("9", "", ""))).unwrap();
    let after = corrected.found("a").unwrap();
    assert_eq!(after.properties, corrected.amendment(at(AT), &said("9", "", "")).properties);
    assert_eq!((&after.id, after.timestamp), (&before.id, before.timestamp));
    assert_eq!(after.external_customer_id, before.external_customer_id);
    assert!(!after.deprecated);
}

#[test]
fn wire_3_4_an_amended_event_is_a_duplicate_of_what_it_said_first() {
    let (corrected, naive) = six();
    run(corrected.amend("a", at(AT), &said("9", "", ""))).unwrap();
    let first = corrected.event("a", at(AT), &naive.0["a"].1);
    assert_eq!(run(corrected.fixture.account.ingest([first])).unwrap().duplicates, 1);
    let amended = corrected.event("a", at(AT), &said("9", "", ""));
    let (kind, _) = refused(&corrected.fixture, corrected.fixture.account.ingest([amended]));
    assert_eq!(kind, ErrorKind::RequestValidation);
}

#[test]
fn wire_3_5_what_is_not_there_cannot_be_amended() {
    let (corrected, _) = six();
    let fixture = &corrected.fixture;
    let nothing = said("", "", "");
    let (kind, text) = refused(fixture, corrected.amend("nothing", at(AT), &nothing));
    assert_eq!((kind, &*text), (ErrorKind::ResourceNotFound, "no event with identifier nothing"));

    let amend_of = |id: &str, customer: &str, instant| {
        let customer = external(customer).into();
        let amendment = Amendment { customer, ..corrected.amendment(instant, &nothing) };
        fixture.account.amend_event(key(id), amendment)
    };
    let (kind, _) = refused(fixture, amend_of("a", "nobody", at(AT)));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
    fixture.use_now("eve", "waiting", "1");
    let (kind, _) = refused(fixture, amend_of("waiting", "eve", corrected.now()));
    assert_eq!(kind, ErrorKind::ResourceNotFound, "the customer is yet to be created");
    let eve = fixture.customer("eve").id;
    run(amend_of("waiting", "eve", corrected.now())).unwrap();
    run(fixture.account.delete_customer(eve)).unwrap();
    let (kind, _) = refused(fixture, amend_of("waiting", "eve", corrected.now()));
    assert_eq!(kind, ErrorKind::ResourceNotFound, "the customer is deleted");
}

#[test]
fn wire_3_5_an_amendment_names_the_customer_of_the_event() {
    let (corrected, _) = six();
    let fixture = &corrected.fixture;
    let eve = fixture.customer("eve").id;
    for customer in [eve.into(), external("eve").into()] {
        let amendment = Amendment { customer, ..corrected.amendment(at(AT), &said("9", "", "")) };
        let (kind, text) = refused(fixture, fixture.account.amend_event(key("a"), amendment));
        assert_eq!(kind, ErrorKind::ConstraintViolation);
        assert_eq!(text, "the event is of another customer");
    }
    let customer = corrected.customer.into();
    let amendment = Amendment { customer, ..corrected.amendment(at(AT), &said("9", "", "")) };
    run(fixture.account.amend_event(key("a"), amendment)).unwrap();
}

#[test]
fn wire_3_5_an_amendment_has_the_timestamp_of_the_event() {
    let (corrected, _) = six();
    for instant in ["2026-03-10T16:20:00.000001Z", "2026-03-10T16:19:59.999999Z"] {
        let call = || corrected.amend("a", at(instant), &said("9", "", ""));
        assert_eq!(refused(&corrected.fixture, call()).0, ErrorKind::RequestValidation);
        assert_eq!(run(call()).unwrap_err().violations()[0].field, "timestamp");
    }
}

#[test]
fn wire_3_5_an_amendment_is_bounded_like_an_event() {
    let (corrected, _) = six();
    let amend = |count: usize, bytes: usize| {
        let mut amendment = corrected.amendment(at(AT), &said("", "", ""));
        let name = |n| PropertyName::parse(format!("p{n}")).unwrap();
        let text = PropertyValue::from("x".repeat(bytes).as_str());
        amendment.properties = (0..count).map(|n| (name(n), text.clone())).collect();
        corrected.fixture.account.amend_event(key("a"), amendment)
    };
    for (count, bytes) in [(65, 1), (1, 4 * 1024 + 1), (5, 4 * 1024)] {
        assert_eq!(
            refused(&corrected.fixture, amend(count, bytes)).0,
            ErrorKind::RequestValidation,
            "{count} {bytes}"
        );
    }
    run(amend(64, 1)).unwrap();
    run(amend(1, 4 * 1024)).unwrap();
}

#[test]
fn wire_3_5_a_deprecated_event_cannot_be_amended() {
    let (corrected, _) = six();
    run(corrected.deprecate("a")).unwrap();
    let (kind, text) =
        refused(&corrected.fixture, corrected.amend("a", at(AT), &said("9", "", "")));
    assert_eq!((kind, &*text), (ErrorKind::ConstraintViolation, "the event a was deprecated"));
}

/// The first billing period ends at noon of the 10th of April, the second one at 15:07:30.
#[test]
fn wire_3_5_an_event_is_amended_as_long_as_its_billing_period_takes_events() {
    let check = |id: &str, now: &str, expect: Result<(), ErrorKind>| {
        let (corrected, naive) = six();
        corrected.fixture.set(now);
        corrected.fixture.tick();
        let (instant, _) = naive.0[id];
        let call = corrected.amend(id, instant, &said("9", "", ""));
        match expect {
            Ok(()) => drop(run(call).unwrap()),
            Err(kind) => assert_eq!(refused(&corrected.fixture, call).0, kind, "{id} {now}"),
        }
    };
    let closed = Err(ErrorKind::ConstraintViolation);
    check("a", "2026-04-10T11:59:59Z", Ok(()));
    check("a", "2026-04-11T11:59:59.999999Z", Ok(()));
    check("a", "2026-04-11T12:00:00Z", closed);
    // Only the first subscription covers it.
    check("e", "2026-04-11T11:59:59.999999Z", Ok(()));
    check("e", "2026-04-11T12:00:00Z", closed);
    check("e", "2026-06-11T12:00:00Z", closed);
}

/// A caller who lost the answer asks again, and learns that it was done.
#[test]
fn an_amendment_can_be_asked_for_again_when_the_billing_period_is_over() {
    let (corrected, naive) = six();
    let (instant, _) = naive.0["a"];
    let amend = |n: &str| corrected.amend("a", instant, &said(n, "", ""));
    run(amend("9")).unwrap();
    corrected.fixture.set("2026-04-11T12:00:00Z");
    corrected.fixture.tick();
    let before = corrected.figures(0);
    run(amend("9")).unwrap();
    assert_eq!(corrected.figures(0), before);
    assert_eq!(refused(&corrected.fixture, amend("8")).0, ErrorKind::ConstraintViolation);
}

#[test]
fn wire_3_5_an_event_that_no_subscription_covers_can_be_amended() {
    let corrected = Corrected::new();
    let early = "2026-03-10T11:00:00Z";
    corrected.ingest("early", at(early), &said("1", "", ""));
    corrected.fixture.advance_days(150);
    corrected.fixture.tick();
    run(corrected.amend("early", at(early), &said("2", "", ""))).unwrap();
    let day = crate::support::priced::between("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    let sum = corrected.metrics[1].id;
    let sum = block_on(corrected.fixture.account.usage_between(corrected.customer, sum, day));
    assert_eq!(sum.unwrap().unwrap().to_string(), "2");
}

#[test]
fn wire_3_5_a_hundred_amendments_in_a_hundred_days() {
    let (corrected, _) = six();
    let start = corrected.now();
    let amend = |n: usize| corrected.amend("a", at(AT), &said(&n.to_string(), "", ""));
    for n in 0..100 {
        run(amend(n)).unwrap();
    }
    // Sent again, the last one is no other one.
    run(amend(99)).unwrap();
    let (kind, text) = refused(&corrected.fixture, amend(100));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert_eq!(text, "100 events of the customer were amended within 100 days, which is the most");
    assert_eq!(corrected.figures(0)[1].as_deref(), Some("110.5"), "99 and the others");
    run(corrected.deprecate("b")).unwrap();

    let hundred_days = Duration::from_secs(100 * 24 * 60 * 60);
    corrected.fixture.clock.set(start.saturating_add(hundred_days));
    corrected.fixture.tick();
    let now = corrected.now();
    corrected.ingest("late", now, &said("1", "", ""));
    let late = |n: &str| corrected.amend("late", now, &said(n, "", ""));
    run(late("2")).unwrap();
    run(late("3")).unwrap();
}

#[test]
fn cost_follows_an_amendment() {
    let priced = metered();
    priced.use_now("a", "6");
    priced.use_now("b", "3");
    priced.amend("a", "1.5");
    assert_eq!(priced.cost().total.to_string(), "4.5");
}

impl Priced {
    /// Amends an event of now.
    fn amend(&self, id: &str, n: &str) {
        run(self.amendment(id, n)).unwrap();
    }

    fn amendment(&self, id: &str, n: &str) -> accrue::Call<accrue::EventKey> {
        let now = accrue::Clock::now(&self.fixture.clock);
        let event = crate::support::fixture::event("ada", id, now, n);
        let amendment = Amendment {
            event_name: event.event_name,
            timestamp: event.timestamp,
            properties: event.properties,
            customer: event.customer,
        };
        self.fixture.account.amend_event(key(id), amendment)
    }
}

#[test]
fn an_amendment_draws_more_or_gives_back() {
    let priced = credited_with("20");
    priced.watch(dropped(&["10"]));
    priced.use_now("a", "6");
    priced.amend("a", "11");
    assert_eq!(priced.standing(), "9: 9, 0");
    assert_eq!(priced.told(), ["dropped 10: 14 -> 9 by event a"]);
    priced.amend("a", "4");
    assert_eq!(priced.standing(), "16: 16, 0");
    assert_eq!(priced.ledger()[1..], ["decrement -11 = 9", "amendment 7 = 16"]);
    assert_eq!(CREDITS, priced.entries()[2].currency.as_str());
}

#[test]
fn an_amendment_that_raises_a_value_fires_with_the_event_as_its_cause() {
    let priced = metered();
    priced.alert(usage_alert(priced.metric.id, &["10", "20"]));
    priced.alert(cost_alert(&["15"]));
    priced.use_now("a", "6");
    priced.use_now("b", "1");
    priced.amend("a", "17");
    assert_eq!(priced.told(), ["usage 10: 7 -> 18 by event a", "cost 15: 7 -> 18 by event a"]);
}

#[test]
fn an_amendment_that_lowers_a_value_arms_nothing_again() {
    let priced = metered();
    priced.alert(usage_alert(priced.metric.id, &["10"]));
    priced.use_now("a", "12");
    assert_eq!(priced.told(), ["usage 10: none -> 12 by event a"]);
    priced.amend("a", "1");
    priced.amend("a", "30");
    priced.use_now("b", "30");
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn an_amendment_within_the_grace_period_is_judged_in_the_billing_period_before() {
    let priced = metered();
    priced.alert(usage_alert(priced.metric.id, &["10"]));
    priced.use_now("a", "6");
    let amendment = priced.amendment("a", "12");
    priced.fixture.set("2026-04-10T18:00:00Z");
    run(amendment).unwrap();
    assert_eq!(priced.told(), ["usage 10: 6 -> 12 by event a"]);
    assert_eq!(priced.fixture.usage(&priced.subscription, &priced.metric).unwrap(), "0");
}

#[test]
fn s4_5_6_an_amendment_is_done_once_under_its_key() {
    let (corrected, _) = six();
    let keyed = |n: &str| {
        let call = corrected.amend("a", at(AT), &said(n, "", ""));
        block_on(call.keyed(IdempotencyKey::parse("once").unwrap()).into_future())
    };
    let first = keyed("9").unwrap();
    let before = corrected.fixture.dump();
    let again = keyed("9").unwrap();
    assert!(again.is_replayed());
    assert_eq!((again.outcome, corrected.fixture.dump()), (first.outcome, before));
    assert!(keyed("10").unwrap_err().is_conflict());
}
