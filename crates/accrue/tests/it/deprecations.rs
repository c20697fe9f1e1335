use accrue::{
    ErrorKind, IdempotencyKey, Timestamp,
    usage::{EventSearch, FoundEvent},
};

use crate::{
    amendments::{AT, six},
    corrected::{Corrected, Naive, key, said},
    support::{
        credited::credited_with,
        fixture::{at, block_on, event, refused, run, usage_alert},
        priced::{NOTHING, metered},
    },
};

impl Corrected {
    /// What a search of March finds under a key.
    pub(crate) fn found(&self, id: &str) -> Option<FoundEvent> {
        let mut search = EventSearch::new([key(id)]);
        search.timeframe_start = Some(at("2026-03-01T00:00:00Z"));
        search.timeframe_end = Some(Timestamp::MAX);
        block_on(self.fixture.account.search_events(search)).unwrap().pop()
    }
}

#[test]
fn wire_3_5_a_deprecated_event_counts_no_longer() {
    let (corrected, mut naive) = six();
    for id in ["c", "a", "e", "b", "d"] {
        assert_eq!(run(corrected.deprecate(id)).unwrap(), key(id));
        naive.0.remove(id);
        naive.check(&corrected);
        assert_eq!(corrected.kept(), naive.anew().kept(), "{id}");
    }
    assert_eq!(corrected.kept(), Vec::<String>::new(), "nothing is left");
    let none = ["0", "0", "none", "none", "none", "0"];
    let figures = corrected.figures(0).into_iter().map(|figure| figure.unwrap_or("none".into()));
    assert_eq!(figures.collect::<Vec<_>>(), none);
    assert_eq!(Naive::default().volume(), []);
}

#[test]
fn wire_3_5_a_search_shows_that_an_event_is_deprecated() {
    let (corrected, _) = six();
    let before = corrected.found("a").unwrap();
    assert!(!before.deprecated);
    run(corrected.deprecate("a")).unwrap();
    let after = corrected.found("a").unwrap();
    assert!(after.deprecated);
    assert_eq!(after.properties, before.properties);
    assert_eq!((after.id, after.timestamp), (before.id, before.timestamp));
}

#[test]
fn wire_3_5_to_deprecate_again_changes_nothing() {
    let (corrected, _) = six();
    run(corrected.deprecate("a")).unwrap();
    let before = corrected.fixture.dump();
    assert_eq!(run(corrected.deprecate("a")).unwrap(), key("a"));
    corrected.fixture.advance_days(200);
    corrected.fixture.tick();
    let later = corrected.fixture.dump();
    assert_eq!(run(corrected.deprecate("a")).unwrap(), key("a"), "nor long after");
    assert_eq!(corrected.fixture.dump(), later);
    assert_ne!(before, Vec::<String>::new());
}

#[test]
fn wire_3_4_the_key_of_a_deprecated_event_is_refused() {
    let (corrected, naive) = six();
    run(corrected.deprecate("a")).unwrap();
    let (at, content) = naive.0["a"].clone();
    for content in [content, said("77", "", "")] {
        let again = corrected.event("a", at, &content);
        let (kind, _) = refused(&corrected.fixture, corrected.fixture.account.ingest([again]));
        assert_eq!(kind, ErrorKind::RequestValidation);
    }
}

#[test]
fn wire_3_5_what_is_not_there_cannot_be_deprecated() {
    let (corrected, _) = six();
    let (kind, text) = refused(&corrected.fixture, corrected.deprecate("nothing"));
    assert_eq!((kind, &*text), (ErrorKind::ResourceNotFound, "no event with identifier nothing"));
    let fixture = &corrected.fixture;
    fixture.use_now("eve", "waiting", "1");
    let (kind, text) = refused(fixture, corrected.deprecate("waiting"));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
    assert!(text.starts_with("no customer with identifier"), "{text}");
    fixture.customer("eve");
    run(corrected.deprecate("waiting")).unwrap();
    run(fixture.account.delete_customer(corrected.customer)).unwrap();
    assert_eq!(refused(fixture, corrected.deprecate("a")).0, ErrorKind::ResourceNotFound);
}

#[test]
fn wire_3_5_events_of_a_closed_billing_period_stay() {
    let (corrected, _) = six();
    // Both billing periods have ended, and the second one a day ago.
    corrected.fixture.set("2026-04-11T15:07:29.999999Z");
    corrected.fixture.tick();
    assert_eq!(
        refused(&corrected.fixture, corrected.deprecate("b")).0,
        ErrorKind::ConstraintViolation,
        "of the first subscription"
    );
}

#[test]
fn wire_3_5_a_hundred_deprecations_in_a_hundred_days() {
    let corrected = Corrected::new();
    let ids: Vec<_> = (0..102).map(|id| format!("{id:03}")).collect();
    for id in &ids {
        corrected.ingest(id, at(AT), &said("1", "", ""));
    }
    for id in &ids[..100] {
        run(corrected.deprecate(id)).unwrap();
    }
    let (kind, text) = refused(&corrected.fixture, corrected.deprecate(&ids[100]));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert!(text.contains("100 events of the customer were deprecated within 100 days"), "{text}");
    run(corrected.deprecate(&ids[0])).unwrap();
    run(corrected.amend(&ids[100], at(AT), &said("2", "", ""))).unwrap();
    corrected.fixture.advance_days(99);
    let now = corrected.now();
    corrected.ingest("late", now, &said("1", "", ""));
    assert_eq!(
        refused(&corrected.fixture, corrected.deprecate("late")).0,
        ErrorKind::ConstraintViolation
    );
    corrected.fixture.advance_days(1);
    corrected.fixture.tick();
    run(corrected.deprecate("late")).unwrap();
}

#[test]
fn what_a_deprecated_event_has_drawn_is_given_back() {
    let priced = credited_with("20");
    priced.use_now("a", "6");
    priced.use_now("b", "3");
    assert_eq!(priced.standing(), "11: 11, 0");
    run(priced.fixture.account.deprecate_event(key("a"))).unwrap();
    assert_eq!(priced.standing(), "17: 17, 0");
    assert_eq!(priced.ledger().last().unwrap(), "amendment 6 = 17");
}

#[test]
fn a_deprecation_arms_nothing_again() {
    let priced = metered();
    priced.alert(usage_alert(priced.metric.id, &["10"]));
    priced.use_now("a", "6");
    priced.use_now("b", "6");
    assert_eq!(priced.told(), ["usage 10: 6 -> 12 by event b"]);
    run(priced.fixture.account.deprecate_event(key("b"))).unwrap();
    priced.use_now("c", "6");
    assert_eq!(priced.told(), NOTHING);
}

#[test]
fn a_deprecation_can_make_an_alert_fire() {
    let priced = metered();
    priced.use_now("a", "-6");
    priced.use_now("b", "12");
    priced.alert(usage_alert(priced.metric.id, &["10"]));
    run(priced.fixture.account.deprecate_event(key("a"))).unwrap();
    assert_eq!(priced.told(), ["usage 10: 6 -> 12 by event a"]);
}

#[test]
fn s4_5_6_a_deprecation_is_done_once_under_its_key() {
    let (corrected, _) = six();
    let keyed = || {
        let call = corrected.deprecate("a").keyed(IdempotencyKey::parse("once").unwrap());
        block_on(call.into_future())
    };
    let first = keyed().unwrap();
    let before = corrected.fixture.dump();
    let again = keyed().unwrap();
    assert!(again.is_replayed());
    assert_eq!((again.outcome, corrected.fixture.dump()), (first.outcome, before));
}

#[test]
fn a_preview_of_a_deprecation_changes_nothing() {
    let priced = metered();
    run(priced.fixture.account.ingest([event("ada", "a", at("2026-03-10T12:00:00Z"), "5")]))
        .unwrap();
    let before = priced.fixture.dump();
    let call = priced.fixture.account.deprecate_event(key("a"));
    block_on(call.preview()).unwrap();
    assert_eq!(priced.fixture.dump(), before);
}
