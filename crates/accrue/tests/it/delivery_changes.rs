//! What changes while messages wait or are under way (subscriptions 10.1).

use std::time::Duration;

use accrue::{
    Account, Error, PayloadRenderer, limits,
    webhook::{
        Answer, DeliveryOrder, DeliveryStatus, EndpointUpdate, EndpointUrl, Message, PayloadStyle,
        Reach,
    },
};
use async_trait::async_trait;

use crate::{
    deliveries::{Request, status, url},
    support::fixture::{Fixture, block_on, run},
};

fn numbers(log: &[Request]) -> Vec<u64> {
    log.iter().map(|of| of.number).collect()
}

#[test]
fn a_line_goes_on_where_its_order_changes_and_its_first_is_sent_again() {
    let fixture = Fixture::new();
    let one = fixture.strict_endpoint("one");
    fixture.customer("ada");
    fixture.tell_of("ada");
    fixture.tell_of("ada");
    assert_eq!(numbers(&fixture.deliver(|_| status(500))), [1]);
    let mut update = EndpointUpdate::default();
    update.order = Some(DeliveryOrder::FirstAttempts);
    run(fixture.account.update_webhook_endpoint(one.id, update)).unwrap();
    // What comes up does not overtake what is still in the line.
    fixture.tell_of("ada");
    let first = fixture.sent().into_iter().find(|of| of.message_type == "customer.created");
    run(fixture.account.send_message_again(first.unwrap().id, None)).unwrap();
    assert_eq!(numbers(&fixture.deliver(|_| status(200))), [1, 2, 3, 4]);
    fixture.clock.advance(Duration::from_secs(1));
    fixture.tell_of("ada");
    assert_eq!(numbers(&fixture.deliver(|_| status(200))), [5]);
    assert!(fixture.sent().iter().all(|of| of.is_delivered));
}

#[test]
fn a_message_of_a_line_that_is_sent_again_is_not_canceled() {
    let fixture = Fixture::new();
    let one = fixture.strict_endpoint("one");
    fixture.customer("ada");
    fixture.tell_of("ada");
    fixture.fan_out();
    fixture.clock.advance(Duration::from_secs(1));
    run(fixture.account.disable_webhook_endpoint(one.id)).unwrap();
    run(fixture.account.enable_webhook_endpoint(one.id)).unwrap();
    let second = fixture.sent().into_iter().find(|of| of.message_type == "customer.edited");
    run(fixture.account.send_message_again(second.unwrap().id, None)).unwrap();
    assert_eq!(numbers(&fixture.deliver(|_| status(200))), [2]);
}

#[test]
fn whatever_endpoints_answer_fits_a_row() {
    let fixture = Fixture::new();
    let long = format!("https://one.example.com/{}", "a".repeat(2_000));
    let mut update = EndpointUpdate::default();
    update.url = Some(EndpointUrl::parse(&long, &Reach::public()).unwrap());
    let one = fixture.endpoint("one");
    run(fixture.account.update_webhook_endpoint(one.id, update)).unwrap();
    fixture.customer("ada");
    for _ in 0..40 {
        let body = "\0\"".repeat(limits::KEPT_ANSWER_BYTES);
        let answer = || Answer::Status { code: 500, elapsed_ms: 1, body: body.clone() };
        assert_eq!(fixture.deliver(|_| answer()).len(), 1);
        fixture.clock.advance(Duration::from_secs(12 * 60 * 60));
        run(fixture.account.enable_webhook_endpoint(one.id)).unwrap();
        run(fixture.account.send_message_again(fixture.sent()[0].id, None)).unwrap();
    }
    let attempts = fixture.sent().remove(0).deliveries.remove(0).attempts;
    assert!((5..=limits::KEPT_ATTEMPTS).contains(&attempts.len()), "{}", attempts.len());
}

/// Fails for the customers that are called so.
struct Fails;

#[async_trait]
impl PayloadRenderer for Fails {
    async fn render(&self, _: &Account, of: &Message, _: PayloadStyle) -> Result<String, Error> {
        let customer = of.customer.as_ref().unwrap();
        match customer.name.as_str().starts_with("bad") {
            // An error, whichever.
            true => EndpointUrl::parse("", &Reach::public()).map(|url| url.to_string()),
            false => Ok("{}".to_owned()),
        }
    }
}

#[test]
fn messages_that_cannot_be_written_hold_up_no_others() {
    let fixture = Fixture::new();
    for n in 0..9 {
        fixture.customer(&format!("bad {n}"));
    }
    fixture.customer("good");
    let fan_out = || block_on(fixture.billing.fan_out_messages(&Fails, 3)).unwrap();
    while fan_out().more {}
    assert_eq!(fixture.sent().len(), 1);
    assert_eq!(fixture.waiting(100).len(), 9, "they wait for a renderer that can");
}

#[test]
fn subscriptions_10_1_an_update_of_the_style_is_for_later_messages() {
    let fixture = Fixture::new();
    let one = fixture.endpoint("one");
    let mut standard = EndpointUpdate::default();
    standard.payload_style = Some(PayloadStyle::Standard);
    let other = fixture.endpoint("other");
    run(fixture.account.update_webhook_endpoint(other.id, standard.clone())).unwrap();
    fixture.customer("ada");
    let style = |of: &Request| of.body.split(' ').nth(1).unwrap().to_owned();
    let of_one = |log: Vec<Request>| -> Vec<_> {
        log.iter().filter(|of| of.url.contains("one")).map(style).collect()
    };
    assert_eq!(of_one(fixture.deliver(|_| status(500))), ["Expanded"]);
    run(fixture.account.update_webhook_endpoint(one.id, standard)).unwrap();
    fixture.clock.advance(Duration::from_secs(6));
    assert_eq!(of_one(fixture.deliver(|_| status(200))), ["Expanded"], "the same bytes");
    fixture.tell_of("ada");
    assert_eq!(of_one(fixture.deliver(|_| status(200))), ["Standard"]);
}

#[test]
fn subscriptions_10_1_an_endpoint_is_sent_what_comes_up_once_it_is_there() {
    let fixture = Fixture::new();
    fixture.customer("ada");
    fixture.clock.advance(Duration::from_secs(1));
    fixture.endpoint("one");
    fixture.tell_of("ada");
    assert_eq!(numbers(&fixture.deliver(|_| status(200))), [2]);
}

#[test]
fn an_attempt_that_is_under_way_while_its_endpoint_is_disabled_counts() {
    let fixture = Fixture::new();
    let one = fixture.endpoint("one");
    fixture.customer("ada");
    fixture.fan_out();
    let lease = block_on(fixture.billing.take_endpoint()).unwrap().unwrap();
    let waiting = block_on(fixture.billing.waiting_deliveries(&lease, 1)).unwrap();
    run(fixture.account.disable_webhook_endpoint(one.id)).unwrap();
    let again = block_on(fixture.billing.waiting_deliveries(&lease, 1)).unwrap();
    assert!(again.deliveries.is_empty());
    assert_eq!(fixture.sent()[0].deliveries[0].status, DeliveryStatus::Canceled);
    assert_eq!(fixture.answer(&lease, waiting.deliveries[0], status(200)), None);
    let sent = fixture.sent().remove(0);
    assert!(sent.is_delivered);
    assert_eq!(sent.deliveries[0].attempts.len(), 1);
}

#[test]
fn an_endpoint_that_asks_for_it_is_left_alone_until_its_address_changes() {
    let fixture = Fixture::new();
    let one = fixture.endpoint("one");
    fixture.customer("ada");
    fixture.deliver_next(|_| panic!("nothing is fanned out"));
    fixture.fan_out();
    fixture.deliver_next(|_| (status(503), Some(Duration::from_secs(600))));
    fixture.customer("bob");
    fixture.clock.advance(Duration::from_secs(500));
    assert_eq!(fixture.deliver(|_| status(200)), [], "neither the same nor others");
    let mut update = EndpointUpdate::default();
    update.url = Some(url("two"));
    run(fixture.account.update_webhook_endpoint(one.id, update)).unwrap();
    assert_eq!(fixture.deliver(|_| status(200)).len(), 1, "what was not tried yet");
    fixture.clock.advance(Duration::from_secs(101));
    assert_eq!(fixture.deliver(|_| status(200)).len(), 1);
}
