//! Backfills: created, looked at before they are closed, closed and reverted.

use std::time::Duration;

use accrue::{
    EventKey, EventName, PageRequest, PropertyName, Timestamp,
    backfill::{BackfillFilter, BackfillStatus},
    person::Role,
    usage::Event,
};
use http::StatusCode;

use crate::support::{Desk, NOON, block_on};

#[test]
fn a_backfill_says_what_closing_it_changes_and_is_closed_and_reverted() {
    let desk = Desk::new();
    let (customer, subscription) = desk.customer("Tokens");
    let session = desk.session_of(Role::Operate);
    desk.clock.advance(Duration::from_secs(2 * 60 * 60));
    let fields = [
        ("start", "2026-03-10T12:00"),
        ("end", "2026-03-10T13:00:00Z"),
        ("customer", "ext-1"),
        ("replaces", "no"),
    ];
    let created = desk.post("/a/acme/backfills", Some(&session), &fields);
    assert_eq!(created.status, StatusCode::SEE_OTHER, "{}", created.body);
    let filter = BackfillFilter::default();
    let listed =
        || block_on(desk.account.list_backfills(&filter, &PageRequest::default())).unwrap();
    let id = listed().data[0].id;
    assert_eq!(created.location(), format!("/console/a/acme/backfills/{id}?done=backfill-created"));

    let lost = Event {
        idempotency_key: EventKey::parse("lost").unwrap(),
        event_name: EventName::parse("call").unwrap(),
        timestamp: Timestamp::parse(NOON).unwrap(),
        properties: [(PropertyName::parse("tokens").unwrap(), 400_u64.into())]
            .into_iter()
            .collect(),
        customer: customer.into(),
    };
    block_on(desk.account.ingest_backfill(id, [lost]).into_future()).unwrap();
    let path = format!("/a/acme/backfills/{id}");
    let page = desk.get(&path, Some(&session)).body;
    assert!(
        page.contains("What closing it changes")
            && page.contains("6.00\u{a0}USD")
            && page.contains("10.00\u{a0}USD")
    );
    assert_eq!(listed().data[0].status, BackfillStatus::Pending, "to look changes nothing");

    let closed = desk.post(&format!("{path}/close"), Some(&session), &[]);
    assert_eq!(closed.location(), format!("/console{path}?done=backfill-closed"));
    let page = desk.get(&path, Some(&session)).body;
    assert!(page.contains("Closed, about to count") && !page.contains("Close the backfill"));
    while block_on(desk.billing.tick(100)).unwrap().more {}
    let cost = || {
        let costs = block_on(desk.account.subscription_costs(subscription, &Default::default()));
        costs.unwrap()[0].total.to_string()
    };
    assert_eq!(cost(), "10");
    let page = desk.get(&path, Some(&session)).body;
    assert!(page.contains("What reverting it changes") && page.contains("Closed"));
    desk.post(&format!("{path}/revert"), Some(&session), &[]);
    while block_on(desk.billing.tick(100)).unwrap().more {}
    assert_eq!(cost(), "6");
    assert!(desk.get("/a/acme/backfills", Some(&session)).body.contains("Reverted"));
}

#[test]
fn what_is_wrong_with_a_backfill_is_said() {
    let desk = Desk::new();
    desk.customer("Tokens");
    let (session, reader) = (desk.session_of(Role::Operate), desk.session_of(Role::Read));
    let create = |start, end, customer| {
        let fields = [("start", start), ("end", end), ("customer", customer)];
        desk.post("/a/acme/backfills", Some(&session), &fields)
    };
    let (day, next) = ("2026-03-09T00:00:00Z", "2026-03-10T00:00:00Z");
    for (reply, field) in [
        (create("yesterday", next, ""), "start"),
        (create(next, day, ""), "end"),
        (create(day, day, ""), "end"),
        (create(day, "2026-09-09", ""), "end"),
        (create(day, next, "nobody"), "customer"),
    ] {
        assert_eq!(reply.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(reply.body.contains(&format!("id=\"backfill-{field}-fault\"")), "{field}");
    }
    let fields = [("start", day), ("end", next)];
    let refused = desk.post("/a/acme/backfills", Some(&reader), &fields);
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}
