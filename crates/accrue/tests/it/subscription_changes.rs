//! Editing a subscription, and taking its end back.

use accrue::{
    CarriedUpdate, ErrorKind, MetadataUpdate, Patch, SubscriptionId,
    customer::AttributeValue,
    subscription::{
        BillingAnchor, Cancellation, NewSubscription, Subscription, SubscriptionStatus,
        SubscriptionUpdate,
    },
    webhook::Body,
};

use crate::support::{
    fixture::{COUNT, Fixture, UNKNOWN, at, block_on, event, name, refused, run},
    priced::{NOTHING, cost_alert, priced},
};

fn subscribed() -> (Fixture, SubscriptionId) {
    let fixture = Fixture::new();
    let mut new = NewSubscription::new(fixture.customer("ada").id, fixture.plan().id);
    new.name = Some(name("one"));
    new.metadata = [("a", "1"), ("b", "2")].map(|(key, of)| (key.into(), of.into())).into();
    let id = fixture.create(new).id;
    fixture.messages();
    (fixture, id)
}

fn edit(fixture: &Fixture, id: SubscriptionId, update: SubscriptionUpdate) -> Subscription {
    let after = run(fixture.account.update_subscription(id, update)).unwrap();
    assert_eq!(block_on(fixture.account.fetch_subscription(id)).unwrap(), after);
    after
}

#[test]
fn wire_2_3_an_edit_merges_metadata_and_tells_what_was_before() {
    let (fixture, id) = subscribed();
    let merge = [("a".to_owned(), None), ("c".to_owned(), Some("3".to_owned()))];
    let metadata = MetadataUpdate::Merge(merge.into());
    let name = Patch::Set(name("two"));
    let after = edit(&fixture, id, SubscriptionUpdate { name, metadata, ..Default::default() });
    assert_eq!(after.name.as_deref(), Some("two"));
    assert_eq!(format!("{:?}", after.metadata), r#"{"b": "2", "c": "3"}"#);
    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(message.message_type(), "subscription.edited");
    assert_eq!(message.subscription.as_ref(), Some(&after));
    let Body::SubscriptionEdited { previous_attributes, .. } = &message.body else { panic!() };
    let before = [("a", "1"), ("b", "2")].map(|(key, of)| (key.into(), of.into())).into();
    let expect = [
        ("metadata".to_owned(), AttributeValue::Metadata(before)),
        ("name".to_owned(), AttributeValue::Text(Some("one".into()))),
    ];
    assert_eq!(*previous_attributes, expect.into());

    let (name, metadata) = (Patch::Clear, MetadataUpdate::Clear);
    let cleared = SubscriptionUpdate { name, metadata, ..Default::default() };
    let after = edit(&fixture, id, cleared);
    assert!(after.name.is_none() && after.metadata.is_empty());
}

#[test]
fn an_edit_that_changes_nothing_writes_and_tells_nothing() {
    let (fixture, id) = subscribed();
    let before = fixture.dump();
    edit(&fixture, id, SubscriptionUpdate::default());
    let same = MetadataUpdate::Merge([("a".to_owned(), Some("1".to_owned()))].into());
    let name = Patch::Set(name("one"));
    let gone = CarriedUpdate::new([("net_terms", "null")]).unwrap();
    edit(&fixture, id, SubscriptionUpdate { name, metadata: same, carried: gone });
    assert_eq!(fixture.dump(), before);
}

#[test]
fn an_edit_merges_carried_fields_and_tells_what_was_before() {
    let (fixture, id) = subscribed();
    let carry = |fields: [(&str, &str); 2]| {
        let carried = CarriedUpdate::new(fields).unwrap();
        let after = edit(&fixture, id, SubscriptionUpdate { carried, ..Default::default() });
        let fields: Vec<_> =
            after.carried.iter().map(|(name, text)| format!("{name} {text}")).collect();
        let messages = fixture.messages();
        let [message] = messages.as_slice() else { panic!("{messages:?}") };
        let Body::SubscriptionEdited { previous_attributes, .. } = &message.body else { panic!() };
        (fields, format!("{previous_attributes:?}"))
    };
    let (fields, before) = carry([("net_terms", "30"), ("auto_collection", "true")]);
    assert_eq!(fields, ["auto_collection true", "net_terms 30"]);
    assert_eq!(before, r#"{"auto_collection": Json(None), "net_terms": Json(None)}"#);
    let (fields, before) = carry([("net_terms", "60"), ("auto_collection", "null")]);
    assert_eq!(fields, ["net_terms 60"]);
    let expect = r#"{"auto_collection": Json(Some("true")), "net_terms": Json(Some("30"))}"#;
    assert_eq!(before, expect);
}

#[test]
fn what_has_ended_is_still_edited_and_what_is_not_there_is_not() {
    let (fixture, id) = subscribed();
    run(fixture.account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    fixture.set("2027-01-01T00:00:00Z");
    let update = SubscriptionUpdate { name: Patch::Set(name("past")), ..Default::default() };
    assert_eq!(edit(&fixture, id, update.clone()).name.as_deref(), Some("past"));
    let unknown = UNKNOWN.parse::<SubscriptionId>().unwrap();
    let call = fixture.account.update_subscription(unknown, update);
    assert_eq!(refused(&fixture, call).0, ErrorKind::ResourceNotFound);
}

#[test]
fn metadata_out_of_bounds_is_refused() {
    let (fixture, id) = subscribed();
    let long = [("k".to_owned(), Some("x".repeat(513)))];
    let update =
        SubscriptionUpdate { metadata: MetadataUpdate::Merge(long.into()), ..Default::default() };
    let found = refused(&fixture, fixture.account.update_subscription(id, update));
    let detail = "metadata: value has 513 bytes, expected at most 512".to_owned();
    assert_eq!(found, (ErrorKind::RequestValidation, detail));
}

#[test]
fn wire_6_8_an_end_that_is_taken_back_never_comes() {
    let (fixture, id) = subscribed();
    run(fixture.account.cancel_subscription(id, Cancellation::EndOfSubscriptionTerm)).unwrap();
    fixture.messages();
    let after = run(fixture.account.unschedule_cancellation(id)).unwrap();
    assert_eq!(after.end_date, None);
    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(message.message_type(), "subscription.cancellation_unscheduled");
    let Body::SubscriptionCancellationUnscheduled { original_cancellation_date, .. } = message.body
    else {
        panic!("{message:?}")
    };
    assert_eq!(original_cancellation_date, at("2026-04-01T00:00:00Z"));
    assert_eq!(
        block_on(fixture.billing.next_deadline()).unwrap(),
        Some(at("2026-04-01T00:00:00Z"))
    );
    fixture.set("2026-06-01T00:00:00Z");
    fixture.tick();
    assert_eq!(fixture.message_types(), NOTHING);
    let found = block_on(fixture.account.fetch_subscription(id)).unwrap();
    assert_eq!(found.status(at("2026-06-01T00:00:00Z")), SubscriptionStatus::Active);
}

#[test]
fn an_end_is_taken_back_whoever_gave_it_and_the_one_before_is_gone() {
    let fixture = Fixture::new();
    let mut new = NewSubscription::new(fixture.customer("ada").id, fixture.plan().id);
    new.end_date = Some(at("2027-01-01T00:00:00Z"));
    let given = fixture.create(new.clone()).id;
    let taken_back = run(fixture.account.unschedule_cancellation(given)).unwrap();
    assert_eq!(taken_back.end_date, None);
    let replaced = fixture.create(new).id;
    let end = Cancellation::EndOfSubscriptionTerm;
    run(fixture.account.cancel_subscription(replaced, end)).unwrap();
    assert_eq!(run(fixture.account.unschedule_cancellation(replaced)).unwrap().end_date, None);
}

#[test]
fn fees_that_were_prorated_to_the_end_are_whole_again_and_judged_at_once() {
    let priced = priced(|fixture, _| [fixture.advance_fee("31"), fixture.arrear_fee("31")]);
    let mut new = NewSubscription::new(priced.customer, priced.plan.id);
    new.anchor = BillingAnchor::SubscriptionStart;
    new.start_date = Some(at("2026-03-10T12:00:00Z"));
    new.end_date = Some(at("2026-03-20T12:00:00Z"));
    let id = priced.fixture.create(new).id;
    let account = &priced.fixture.account;
    run(account.create_subscription_alert(id, cost_alert(&["20", "60"]))).unwrap();
    assert_eq!(priced.told(), NOTHING, "10 of 31 days");
    priced.fixture.set("2026-03-20T11:59:59Z");
    run(account.unschedule_cancellation(id)).unwrap();
    assert_eq!(priced.told(), ["cost 20: 10 -> 31 by subscription"]);
    priced.fixture.set("2026-04-10T12:00:00Z");
    priced.fixture.tick();
    let expect = [
        "cost 60: 31 -> 62 by period 2026-04-10T12:00:00Z",
        "cost 20: none -> 31 by period 2026-04-10T12:00:00Z",
    ];
    assert_eq!(priced.told(), expect);
}

#[test]
fn usage_behind_the_end_counts_again() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let subscription = fixture.subscribe(fixture.customer("ada").id, &fixture.plan());
    let id = subscription.id;
    let soon = Cancellation::RequestedDate(at("2026-03-10T12:02:00Z"));
    run(fixture.account.cancel_subscription(id, soon)).unwrap();
    let ahead = ["2026-03-10T12:01:00Z", "2026-03-10T12:04:00Z"];
    run(fixture.account.ingest(ahead.map(|text| event("ada", text, at(text), "")))).unwrap();
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "1");
    run(fixture.account.unschedule_cancellation(id)).unwrap();
    assert_eq!(fixture.usage(&subscription, &metric).unwrap(), "2");
}

#[test]
fn credits_that_an_end_gave_back_are_drawn_again() {
    let priced = crate::support::credited::credited_with("10");
    priced.use_at("b", "2026-03-10T12:04:00Z", "2");
    let id = priced.subscription.id;
    let soon = Cancellation::RequestedDate(at("2026-03-10T12:02:00Z"));
    run(priced.fixture.account.cancel_subscription(id, soon)).unwrap();
    assert_eq!(priced.standing(), "10: 10, 0");
    run(priced.fixture.account.unschedule_cancellation(id)).unwrap();
    assert_eq!(priced.standing(), "8: 8, 0");
}

#[test]
fn subscriptions_3_10_nothing_is_taken_back_where_no_end_is_known_or_it_has_passed() {
    let (fixture, id) = subscribed();
    let check = |expect: &str| {
        let (kind, found) = refused(&fixture, fixture.account.unschedule_cancellation(id));
        assert_eq!(kind, ErrorKind::RequestValidation);
        assert!(found.ends_with(expect), "{found}");
    };
    check("of which no end is scheduled");
    let end = Cancellation::RequestedDate(at("2026-03-20T00:00:00Z"));
    run(fixture.account.cancel_subscription(id, end)).unwrap();
    fixture.set("2026-03-20T00:00:00Z");
    fixture.tick();
    check("which has ended at 2026-03-20T00:00:00.000000Z");
}

#[test]
fn one_that_was_cancelled_before_it_began_begins_again() {
    let fixture = Fixture::new();
    let mut new = NewSubscription::new(fixture.customer("ada").id, fixture.plan().id);
    new.start_date = Some(at("2026-04-01T00:00:00Z"));
    let id = fixture.create(new).id;
    run(fixture.account.cancel_subscription(id, Cancellation::Immediate)).unwrap();
    run(fixture.account.unschedule_cancellation(id)).unwrap();
    fixture.messages();
    fixture.set("2026-05-01T00:00:00Z");
    fixture.tick();
    assert_eq!(fixture.message_types(), ["subscription.started"]);
}
