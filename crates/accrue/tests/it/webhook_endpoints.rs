//! Endpoints: what they are sent while they are enabled, and how one that fails is spared (subscriptions 10.1).

use std::time::Duration;

use accrue::{
    ErrorKind, PageRequest, limits,
    webhook::{
        DeliveryStatus, DisableReason, EndpointStatus, EventType, EventTypes, NewEndpoint,
        PayloadStyle,
    },
};

use crate::{
    deliveries::{status, url},
    support::fixture::{Fixture, NOON, at, block_on, refused, run},
};

#[test]
fn subscriptions_10_1_an_endpoint_is_sent_the_types_and_the_style_that_it_wants() {
    let fixture = Fixture::new();
    let mut new = NewEndpoint::new(url("edits"));
    new.event_types = EventTypes::Only([EventType::parse("customer.edited").unwrap()].into());
    new.payload_style = PayloadStyle::Standard;
    run(fixture.account.create_webhook_endpoint(new)).unwrap();
    fixture.endpoint("all");
    fixture.customer("ada");
    fixture.tell_of("ada");
    let mut log: Vec<_> = fixture
        .deliver(|_| status(200))
        .into_iter()
        .map(|of| {
            let style: Vec<_> = of.body.split(' ').take(2).collect();
            let style = style.join(" ");
            format!("{} {style}", of.url.trim_start_matches("https://"))
        })
        .collect();
    log.sort();
    assert_eq!(
        log,
        [
            "all.example.com customer.created Expanded",
            "all.example.com customer.edited Expanded",
            "edits.example.com customer.edited Standard",
        ]
    );
}

#[test]
fn subscriptions_10_1_4_a_disabled_endpoint_is_sent_nothing_and_nothing_later() {
    let fixture = Fixture::new();
    let one = fixture.endpoint("one");
    fixture.customer("ada");
    fixture.fan_out();
    let disabled = run(fixture.account.disable_webhook_endpoint(one.id)).unwrap();
    let reason = DisableReason::Requested;
    assert_eq!(disabled.status, EndpointStatus::Disabled { at: at(NOON), reason });
    let again = run(fixture.account.disable_webhook_endpoint(one.id)).unwrap();
    assert_eq!(again, disabled);
    fixture.clock.advance(Duration::from_secs(1));
    fixture.customer("bob");
    assert_eq!(fixture.deliver(|_| status(200)), [], "neither what waits nor what comes up");
    assert_eq!(fixture.sent()[1].deliveries[0].status, DeliveryStatus::Canceled);
    assert!(fixture.sent()[0].deliveries.is_empty());
    fixture.clock.advance(Duration::from_secs(1));
    let enabled = run(fixture.account.enable_webhook_endpoint(one.id)).unwrap();
    assert_eq!(run(fixture.account.enable_webhook_endpoint(one.id)).unwrap(), enabled);
    assert_eq!(fixture.deliver(|_| status(200)), []);
    fixture.customer("eve");
    assert_eq!(fixture.deliver(|_| status(200)).len(), 1);
}

#[test]
fn subscriptions_10_1_what_waited_for_one_that_was_disabled_meanwhile_is_canceled() {
    let fixture = Fixture::new();
    let one = fixture.endpoint("one");
    fixture.customer("ada");
    fixture.fan_out();
    fixture.clock.advance(Duration::from_secs(1));
    run(fixture.account.disable_webhook_endpoint(one.id)).unwrap();
    run(fixture.account.enable_webhook_endpoint(one.id)).unwrap();
    assert_eq!(fixture.deliver(|_| status(200)), []);
    assert_eq!(fixture.only_delivery().status, DeliveryStatus::Canceled);
}

#[test]
fn subscriptions_10_1_6_a_deleted_endpoint_is_sent_nothing() {
    let fixture = Fixture::new();
    let one = fixture.strict_endpoint("one");
    fixture.customer("ada");
    for _ in 0..3 {
        fixture.tell_of("ada");
    }
    fixture.fan_out();
    run(fixture.account.delete_webhook_endpoint(one.id)).unwrap();
    let call = fixture.account.delete_webhook_endpoint(one.id);
    assert_eq!(refused(&fixture, call).0, ErrorKind::ResourceNotFound);
    let found = block_on(fixture.account.fetch_webhook_endpoint(one.id));
    assert_eq!(found.unwrap_err().kind(), ErrorKind::ResourceNotFound);
    assert_eq!(fixture.deliver(|_| status(200)), []);
    assert!(fixture.sent().iter().all(|of| of.deliveries[0].status == DeliveryStatus::Canceled));
    assert_eq!(block_on(fixture.billing.next_endpoint_turn()).unwrap(), None);
}

#[test]
fn an_endpoint_that_is_gone_is_disabled() {
    let fixture = Fixture::new();
    fixture.endpoint("one");
    fixture.customer("ada");
    fixture.fan_out();
    let lease = block_on(fixture.billing.take_endpoint()).unwrap().unwrap();
    let waiting = block_on(fixture.billing.waiting_deliveries(&lease, 1)).unwrap();
    let disabled = fixture.answer(&lease, waiting.deliveries[0], status(410)).unwrap();
    let reason = DisableReason::Gone;
    assert_eq!(disabled.status, EndpointStatus::Disabled { at: at(NOON), reason });
    fixture.clock.advance(Duration::from_secs(3_600));
    assert_eq!(fixture.deliver(|_| status(200)), []);
}

#[test]
fn an_endpoint_that_fails_for_five_days_is_disabled() {
    let fixture = Fixture::new();
    let one = fixture.endpoint("one");
    fixture.customer("ada");
    let of = |fixture: &Fixture| {
        block_on(fixture.account.fetch_webhook_endpoint(one.id)).unwrap().status
    };
    fixture.deliver(|_| status(500));
    fixture.clock.set(at("2026-03-15T11:59:59Z"));
    fixture.tell_of("ada");
    fixture.deliver(|_| status(500));
    assert!(matches!(of(&fixture), EndpointStatus::Enabled { .. }));
    fixture.clock.set(at("2026-03-15T12:00:05Z"));
    fixture.deliver(|_| status(500));
    let reason = DisableReason::Failing;
    let now = at("2026-03-15T12:00:05Z");
    assert_eq!(of(&fixture), EndpointStatus::Disabled { at: now, reason });
    // Enabled anew, it has as long as before.
    run(fixture.account.enable_webhook_endpoint(one.id)).unwrap();
    fixture.tell_of("ada");
    fixture.deliver(|_| status(500));
    assert!(matches!(of(&fixture), EndpointStatus::Enabled { .. }));
}

#[test]
fn after_ten_failures_in_a_row_one_message_at_a_time_is_sent() {
    let fixture = Fixture::new();
    fixture.endpoint("one");
    for n in 0..15 {
        fixture.customer(&format!("customer {n}"));
    }
    let log = fixture.deliver(|_| status(500));
    // Three at once, until it is known.
    assert_eq!(log.len(), 12);
    fixture.clock.advance(Duration::from_secs(12));
    assert_eq!(fixture.deliver(|_| status(500)).len(), 0, "it rests for 20 seconds by then");
    fixture.clock.advance(Duration::from_secs(12));
    assert_eq!(fixture.deliver(|_| status(500)).len(), 1);
    fixture.clock.advance(Duration::from_secs(60));
    let log = fixture.deliver(|_| status(200));
    assert_eq!(log.len(), 15, "one that succeeds is followed by all that are due");
}

#[test]
fn subscriptions_10_1_3_twenty_endpoints_at_most_newest_first() {
    let fixture = Fixture::new();
    for n in 0..limits::WEBHOOK_ENDPOINTS {
        fixture.endpoint(&format!("host{n}"));
        fixture.clock.advance(Duration::from_secs(1));
    }
    let call = fixture.account.create_webhook_endpoint(NewEndpoint::new(url("more")));
    assert_eq!(refused(&fixture, call).0, ErrorKind::ConstraintViolation);
    let page = PageRequest::first(15).unwrap();
    let first = block_on(fixture.account.list_webhook_endpoints(&page)).unwrap();
    assert_eq!(first.data[0].url, url("host19"));
    let page = page.after(first.next_cursor.unwrap());
    let rest = block_on(fixture.account.list_webhook_endpoints(&page)).unwrap();
    assert_eq!((rest.data.len(), rest.next_cursor), (5, None));
    let mut none = NewEndpoint::new(url("none"));
    none.event_types = EventTypes::Only([].into());
    run(fixture.account.delete_webhook_endpoint(rest.data[0].id)).unwrap();
    let call = fixture.account.create_webhook_endpoint(none);
    assert_eq!(refused(&fixture, call).0, ErrorKind::RequestValidation);
}
