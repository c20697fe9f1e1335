//! Messages that endpoints are sent.

use accrue::{
    AccountId,
    webhook::{DeliveryOrder, EventType, EventTypes, NewEndpoint, PayloadStyle},
};

use crate::{
    deliveries::{Types, status, url},
    support::fixture::{Fixture, SUM, block_on, run, usage_alert},
};

/// A message of an alert that has fired, which is sent to nobody. It is of another account too.
pub(super) fn send_of_an_alert(fixture: &Fixture) {
    let Fixture { store, clock, billing, .. } = fixture;
    let account = billing.account(AccountId::parse("aab").unwrap());
    let (store, clock, billing) = (store.clone(), clock.clone(), billing.clone());
    let fixture = &Fixture { store, clock, billing, account };
    let sum = fixture.metric(SUM);
    let customer = fixture.customer("eve").id;
    let subscription = fixture.subscribe(customer, &fixture.plan());
    let new = usage_alert(sum.id, &["1"]);
    run(fixture.account.create_subscription_alert(subscription.id, new)).unwrap();
    fixture.use_now("eve", "fires", "2");
    let count = fixture.waiting(1_000).len();
    block_on(fixture.billing.fan_out_messages(&Types::default(), count)).unwrap();
    assert!(fixture.tables().contains(&"message_told"));
}

/// Messages to endpoints: one that takes them, and one that is sent them in a line and fails.
///
/// They are of another account, whose messages come first: the others stay in the outbox.
pub(super) fn send(fixture: &Fixture) {
    let Fixture { store, clock, billing, .. } = fixture;
    let account = billing.account(AccountId::parse("aaa").unwrap());
    let (store, clock, billing) = (store.clone(), clock.clone(), billing.clone());
    let fixture = &Fixture { store, clock, billing, account };
    let one = fixture.endpoint("one");
    run(fixture.account.rotate_webhook_secret(one.id, std::time::Duration::from_secs(60))).unwrap();
    let mut new = NewEndpoint::new(url("strict"));
    new.order = DeliveryOrder::Strict;
    new.payload_style = PayloadStyle::Standard;
    let strict = run(fixture.account.create_webhook_endpoint(new)).unwrap();
    fixture.customer("ada");
    fixture.tell_of("ada");
    fixture.tell_of("ada");
    block_on(fixture.billing.fan_out_messages(&Types::default(), 3)).unwrap();
    let code = |url: &str| if url.contains("strict") { 500 } else { 200 };
    fixture.deliver_next(|request| (status(code(&request.url)), None));
    block_on(fixture.account.fetch_webhook_endpoint(strict.id)).unwrap();
    // A worker that has one.
    fixture.clock.advance(std::time::Duration::from_secs(6));
    block_on(fixture.billing.take_endpoint()).unwrap().unwrap();
    let mut disabled = NewEndpoint::new(url("disabled"));
    disabled.event_types = EventTypes::Only([EventType::parse("invoice.issued").unwrap()].into());
    let disabled = run(fixture.account.create_webhook_endpoint(disabled)).unwrap();
    run(fixture.account.disable_webhook_endpoint(disabled.id)).unwrap();
}
