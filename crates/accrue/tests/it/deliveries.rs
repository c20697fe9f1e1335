//! Messages sent to endpoints (subscriptions 10, wire 6.8).

use std::{collections::BTreeMap, time::Duration};

use accrue::{
    Account, Error, ErrorKind, MessageId, PageRequest, PayloadRenderer, Timestamp,
    customer::CustomerUpdate,
    limits,
    webhook::{
        Answer, AttemptReport, Delivery, DeliveryOrder, DeliveryStatus, Endpoint, EndpointLease,
        EndpointUrl, EventType, Message, NewEndpoint, PayloadStyle, Reach, Schedule, SentMessage,
        SentMessageFilter, WaitingDelivery,
    },
};
use async_trait::async_trait;

use crate::support::fixture::{Fixture, NOON, UNKNOWN, at, block_on, external, name, refused, run};

/// Writes the type of a message, how often it was asked, and whom it is about: another body each time.
#[derive(Default)]
pub(crate) struct Types(std::sync::atomic::AtomicUsize);

#[async_trait]
impl PayloadRenderer for Types {
    async fn render(
        &self,
        _: &Account,
        message: &Message,
        style: PayloadStyle,
    ) -> Result<String, Error> {
        let asked = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let about = message.customer.as_ref().map(|of| of.id.to_string()).unwrap_or_default();
        Ok(format!("{} {style:?} {asked} {about}", message.message_type()))
    }
}

/// What a receiver has been sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) url: String,
    pub(crate) id: MessageId,
    pub(crate) body: String,
    pub(crate) number: u64,
}

pub(crate) fn status(code: u16) -> Answer {
    Answer::Status { code, elapsed_ms: 3, body: "thanks".to_owned() }
}

pub(crate) fn url(host: &str) -> EndpointUrl {
    EndpointUrl::parse(&format!("https://{host}.example.com"), &Reach::public()).unwrap()
}

impl Fixture {
    pub(crate) fn endpoint(&self, host: &str) -> Endpoint {
        run(self.account.create_webhook_endpoint(NewEndpoint::new(url(host)))).unwrap()
    }

    pub(crate) fn strict_endpoint(&self, host: &str) -> Endpoint {
        let mut new = NewEndpoint::new(url(host));
        new.order = DeliveryOrder::Strict;
        run(self.account.create_webhook_endpoint(new)).unwrap()
    }

    /// Tells something of a customer.
    pub(crate) fn tell_of(&self, customer: &str) {
        let mut update = CustomerUpdate::default();
        let count = self.waiting(1_000).len();
        update.name = Some(name(&format!("{customer} {count} {}", self.billing.now())));
        run(self.account.update_customer(external(customer), update)).unwrap();
    }

    pub(crate) fn fan_out(&self) {
        while block_on(self.billing.fan_out_messages(&Types::default(), 7)).unwrap().more {}
    }

    /// Sends all that waits to be sent now to one endpoint after the other.
    pub(crate) fn deliver(&self, mut receive: impl FnMut(&Request) -> Answer) -> Vec<Request> {
        self.deliver_with(|request| (receive(request), None))
    }

    fn deliver_with(
        &self,
        receive: impl FnMut(&Request) -> (Answer, Option<Duration>),
    ) -> Vec<Request> {
        self.fan_out();
        self.deliver_next(receive)
    }

    /// Sends what was fanned out.
    pub(crate) fn deliver_next(
        &self,
        mut receive: impl FnMut(&Request) -> (Answer, Option<Duration>),
    ) -> Vec<Request> {
        let mut log = Vec::new();
        while let Some(lease) = block_on(self.billing.take_endpoint()).unwrap() {
            loop {
                let requests = self.send_some(&lease, 3, &mut receive);
                if requests.is_empty() {
                    break;
                }
                log.extend(requests);
            }
            block_on(self.billing.leave_endpoint(&lease)).unwrap();
        }
        log
    }

    fn send_some(
        &self,
        lease: &EndpointLease,
        limit: usize,
        receive: &mut impl FnMut(&Request) -> (Answer, Option<Duration>),
    ) -> Vec<Request> {
        let mut waiting = block_on(self.billing.waiting_deliveries(lease, limit)).unwrap();
        let Some(endpoint) = waiting.endpoint else { return Vec::new() };
        if waiting.is_probed {
            waiting.deliveries.truncate(1);
        }
        let outgoing = self.billing.outgoing(lease, &waiting.deliveries);
        let (mut log, mut reports) = (Vec::new(), Vec::new());
        for of in block_on(outgoing).unwrap() {
            let request = Request {
                url: endpoint.url.to_string(),
                id: of.delivery.message_id(),
                body: of.body.to_string(),
                number: of.delivery.number(),
            };
            let (answer, retry_after) = receive(&request);
            let (delivery, url, at) = (of.delivery, endpoint.url.clone(), self.billing.now());
            reports.push(AttemptReport { delivery, url, at, answer, retry_after });
            log.push(request);
        }
        let schedule = Schedule::default();
        block_on(self.billing.report_deliveries(lease, reports, &schedule)).unwrap();
        log
    }

    /// Reports what an endpoint has answered to a message now.
    pub(crate) fn answer(
        &self,
        lease: &EndpointLease,
        delivery: WaitingDelivery,
        answer: Answer,
    ) -> Option<Endpoint> {
        let (url, at) = (url("one"), self.billing.now());
        let report = AttemptReport { delivery, url, at, answer, retry_after: None };
        let schedule = Schedule::default();
        block_on(self.billing.report_deliveries(lease, vec![report], &schedule)).unwrap()
    }

    pub(crate) fn sent(&self) -> Vec<SentMessage> {
        self.sent_by(&SentMessageFilter::default())
    }

    pub(crate) fn sent_by(&self, filter: &SentMessageFilter) -> Vec<SentMessage> {
        let page = PageRequest::first(100).unwrap();
        block_on(self.account.list_sent_messages(filter, &page)).unwrap().data
    }

    pub(crate) fn only_delivery(&self) -> Delivery {
        self.sent().remove(0).deliveries.remove(0)
    }

    pub(crate) fn after(&self, since: Timestamp) -> u64 {
        let due = block_on(self.billing.next_endpoint_turn()).unwrap().unwrap();
        u64::try_from((due.micros() - since.micros()) / 1_000_000).unwrap()
    }
}

#[test]
fn wire_6_8_every_attempt_sends_the_same_bytes() {
    let fixture = Fixture::new();
    fixture.endpoint("one");
    fixture.customer("ada");
    let mut log = fixture.deliver(|_| status(500));
    for _ in 0..7 {
        let next = block_on(fixture.billing.next_endpoint_turn()).unwrap().unwrap();
        fixture.clock.set(next);
        log.extend(fixture.deliver(|_| status(500)));
    }
    assert_eq!(log.len(), 8);
    assert!(log.iter().all(|of| *of == log[0]), "{log:?}");
    assert!(log[0].body.starts_with("customer.created Expanded 0 "));
    assert_eq!(fixture.waiting(10), [], "the outbox has it no longer");
}

#[test]
fn subscriptions_10_2_attempts_follow_the_schedule_and_end() {
    let fixture = Fixture::new();
    fixture.endpoint("one");
    fixture.customer("ada");
    let mut delays = Vec::new();
    for _ in 0..8 {
        let now = fixture.billing.now();
        assert_eq!(fixture.deliver(|_| status(503)).len(), 1);
        let Some(next) = block_on(fixture.billing.next_endpoint_turn()).unwrap() else { break };
        assert_eq!(fixture.deliver(|_| panic!("it is not due")), []);
        delays.push(fixture.after(now));
        fixture.clock.set(next);
    }
    let expected = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
    assert_eq!(delays.len(), expected.len());
    for (found, expected) in delays.iter().zip(expected) {
        assert!((expected * 95 / 100 - 1..=expected * 105 / 100).contains(found), "{delays:?}");
    }
    let delivery = fixture.only_delivery();
    assert_eq!((delivery.status, delivery.attempts.len()), (DeliveryStatus::GivenUp, 8));
    assert!(!fixture.sent()[0].is_delivered);
    assert_eq!(block_on(fixture.billing.next_endpoint_turn()).unwrap(), None);
}

#[test]
fn subscriptions_10_2_3_a_message_is_delivered_once_every_endpoint_has_taken_it() {
    let fixture = Fixture::new();
    let one = fixture.endpoint("one");
    fixture.endpoint("other");
    fixture.customer("ada");
    let log =
        fixture.deliver(|request| status(if request.url.contains("one") { 302 } else { 204 }));
    assert_eq!(log.len(), 2);
    let by = |is_delivered| {
        let filter =
            SentMessageFilter { is_delivered: Some(is_delivered), ..SentMessageFilter::default() };
        fixture.sent_by(&filter).len()
    };
    assert_eq!((by(true), by(false)), (0, 1), "a redirection is no success");
    let of = fixture.sent().remove(0);
    assert!(of.payload.unwrap().starts_with("customer.created Expanded 0 "));
    let failed = of.deliveries.iter().find(|of| of.endpoint_id == one.id).unwrap();
    assert_eq!(failed.attempts[0].answer, status(302));
    assert_eq!(failed.attempts[0].url, one.url);
    assert_eq!(failed.attempts[0].at, at(NOON));
    fixture.clock.advance(Duration::from_secs(6));
    fixture.deliver(|_| status(200));
    assert_eq!((by(true), by(false)), (1, 0));
    assert!(fixture.sent()[0].is_delivered);
}

#[test]
fn subscriptions_10_2_messages_are_listed_by_type_and_time() {
    let fixture = Fixture::new();
    fixture.customer("ada");
    fixture.clock.advance(Duration::from_secs(60));
    fixture.tell_of("ada");
    fixture.fan_out();
    let types = |filter: &SentMessageFilter| -> Vec<_> {
        fixture.sent_by(filter).into_iter().map(|of| of.message_type).collect()
    };
    let all = SentMessageFilter::default();
    assert_eq!(types(&all), ["customer.edited", "customer.created"], "the newest first");
    let edited = EventType::parse("customer.edited").unwrap();
    let of_type = SentMessageFilter { message_type: Some(edited), ..all.clone() };
    assert_eq!(types(&of_type), ["customer.edited"]);
    let both = SentMessageFilter { is_delivered: Some(false), ..of_type };
    assert_eq!(types(&both), [""; 0], "nobody wants it: it is delivered");
    let later = accrue::InstantRange::default().after(at(NOON));
    let later = SentMessageFilter { created: later, ..all.clone() };
    assert_eq!(types(&later), ["customer.edited"]);
    let without = SentMessageFilter { without_payload: true, ..all.clone() };
    assert!(fixture.sent_by(&without).iter().all(|of| of.payload.is_none()));
    let first = fixture.sent().pop().unwrap();
    assert_eq!(block_on(fixture.account.fetch_sent_message(first.id)).unwrap(), first);
    let unknown = block_on(fixture.account.fetch_sent_message(UNKNOWN.parse().unwrap()));
    assert_eq!(unknown.unwrap_err().kind(), ErrorKind::ResourceNotFound);
}

#[test]
fn subscriptions_10_2_5_messages_are_kept_for_30_days() {
    let fixture = Fixture::new();
    fixture.endpoint("one");
    fixture.strict_endpoint("strict");
    let empty = fixture.dump().len();
    fixture.customer("ada");
    let customer = fixture.dump().len() - 1;
    fixture.deliver(|request| status(if request.url.contains("one") { 200 } else { 500 }));
    let id = fixture.sent()[0].id;
    let collect = || while block_on(fixture.billing.collect_garbage(10)).unwrap().more {};
    let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
    fixture.clock.set(at(NOON).saturating_add(days(30)).saturating_sub(Duration::from_micros(1)));
    collect();
    block_on(fixture.account.fetch_sent_message(id)).unwrap();
    fixture.clock.advance(Duration::from_micros(1));
    let gone = block_on(fixture.account.fetch_sent_message(id)).unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::ResourceNotFound);
    collect();
    assert_eq!(fixture.sent(), []);
    assert_eq!(fixture.deliver(|_| status(200)), []);
    // Two queues that are empty, and nothing else.
    assert!(empty < customer);
    assert_eq!(fixture.dump().len(), customer + 2, "{:?}", fixture.dump());
}

/// It may be enabled before a worker has seen that it was not.
#[test]
fn what_an_endpoint_asks_for_is_obeyed_for_an_hour() {
    for (asked, after) in [(60, 60), (2, 5), (7_200, 3_600)] {
        let fixture = Fixture::new();
        fixture.endpoint("one");
        fixture.customer("ada");
        fixture.deliver_with(|_| (status(429), Some(Duration::from_secs(asked))));
        let found = fixture.after(at(NOON));
        assert!((after * 95 / 100 - 1..=after * 105 / 100).contains(&found), "{asked}: {found}");
    }
}

#[test]
fn first_attempts_of_a_customer_are_in_order_and_a_failure_holds_up_nobody() {
    let fixture = Fixture::new();
    fixture.endpoint("one");
    fixture.customer("ada");
    fixture.customer("bob");
    for _ in 0..20 {
        fixture.tell_of("ada");
        fixture.tell_of("bob");
    }
    let log = fixture.deliver(|request| status(if request.number == 3 { 500 } else { 200 }));
    assert_eq!(log.len(), 42);
    let sent = fixture.sent();
    let mut last = BTreeMap::new();
    for request in &log {
        let of = sent.iter().position(|of| of.id == request.id).unwrap();
        let of_ada = of % 2;
        let before = last.insert(of_ada, request.number).unwrap_or_default();
        assert!(before <= 21 && request.number <= 21);
    }
    let numbers = |log: &[Request]| -> Vec<_> { log.iter().map(|of| of.number).collect() };
    fixture.clock.advance(Duration::from_secs(6));
    assert_eq!(numbers(&fixture.deliver(|_| status(200))), [3, 3]);
}

#[test]
fn a_strict_endpoint_is_sent_a_customers_messages_one_after_the_other() {
    let fixture = Fixture::new();
    fixture.strict_endpoint("one");
    fixture.customer("ada");
    fixture.customer("bob");
    for _ in 0..5 {
        fixture.tell_of("ada");
        fixture.tell_of("bob");
    }
    // The second one of ada fails: hers wait, those of bob do not.
    let second = fixture.waiting(100).iter().filter(|of| of.place == of.place).nth(1).unwrap().id;
    let log = fixture.deliver(|request| status(if request.id == second { 500 } else { 200 }));
    assert_eq!(log.len(), 8, "{log:?}");
    fixture.clock.advance(Duration::from_secs(6));
    let log = fixture.deliver(|_| status(200));
    let numbers: Vec<_> = log.iter().map(|of| of.number).collect();
    assert_eq!(numbers, [2, 3, 4, 5, 6]);
    // What is given up is followed by the next one too.
    fixture.tell_of("ada");
    fixture.tell_of("ada");
    let mut log = Vec::new();
    for _ in 0..9 {
        log.extend(fixture.deliver(|request| status(if request.number == 7 { 500 } else { 200 })));
        fixture.clock.advance(Duration::from_secs(11 * 60 * 60));
    }
    let numbers: Vec<_> = log.iter().map(|of| of.number).collect();
    assert_eq!(numbers, [7, 7, 7, 7, 7, 7, 7, 7, 8]);
}

#[test]
fn a_message_is_sent_again() {
    let fixture = Fixture::new();
    let one = fixture.endpoint("one");
    fixture.customer("ada");
    fixture.deliver(|_| status(200));
    let before = fixture.sent().remove(0);
    run(fixture.account.send_message_again(before.id, None)).unwrap();
    assert!(!fixture.sent()[0].is_delivered);
    let log = fixture.deliver(|_| status(500));
    assert_eq!(log[0].body, before.payload.unwrap());
    // While it waits for another attempt, it is sent at once, and once only.
    run(fixture.account.send_message_again(before.id, Some(one.id))).unwrap();
    run(fixture.account.send_message_again(before.id, Some(one.id))).unwrap();
    assert_eq!(fixture.deliver(|_| status(200)).len(), 1);
    assert!(fixture.sent()[0].is_delivered);
    assert_eq!(fixture.only_delivery().attempts.len(), 3);
    // An endpoint that was not there gets it too.
    let late = fixture.endpoint("late");
    run(fixture.account.send_message_again(before.id, Some(late.id))).unwrap();
    let log = fixture.deliver(|_| status(200));
    assert_eq!((log.len(), log[0].url.as_str()), (1, "https://late.example.com"));
    run(fixture.account.disable_webhook_endpoint(one.id)).unwrap();
    let call = fixture.account.send_message_again(before.id, None);
    assert_eq!(refused(&fixture, call).0, ErrorKind::ConstraintViolation);
    for (message, endpoint) in
        [(UNKNOWN.parse().unwrap(), None), (before.id, Some(UNKNOWN.parse().unwrap()))]
    {
        let call = fixture.account.send_message_again(message, endpoint);
        assert_eq!(refused(&fixture, call).0, ErrorKind::ResourceNotFound);
    }
}

#[test]
fn one_worker_at_a_time_has_an_endpoint() {
    let fixture = Fixture::new();
    fixture.endpoint("one");
    fixture.customer("ada");
    fixture.fan_out();
    let take = || block_on(fixture.billing.take_endpoint()).unwrap();
    let first = take().unwrap();
    assert_eq!(take(), None);
    // What comes up meanwhile is found by whoever has it, before it is left.
    fixture.customer("bob");
    fixture.fan_out();
    assert_eq!(take(), None);
    let all = block_on(fixture.billing.waiting_deliveries(&first, 10)).unwrap();
    assert_eq!(all.deliveries.len(), 2);
    fixture.clock.advance(limits::LEASE / 2);
    let kept = block_on(fixture.billing.keep_endpoint(&first)).unwrap().unwrap();
    assert_eq!(kept.until(), fixture.billing.now().saturating_add(limits::LEASE));
    fixture.clock.advance(limits::LEASE - Duration::from_micros(1));
    assert_eq!(take(), None);
    // It is gone: another takes over, and the first has it no longer.
    fixture.clock.advance(Duration::from_micros(1));
    let second = take().unwrap();
    assert_eq!(block_on(fixture.billing.keep_endpoint(&first)).unwrap(), None);
    block_on(fixture.billing.leave_endpoint(&first)).unwrap();
    assert_eq!(take(), None);
    block_on(fixture.billing.leave_endpoint(&second)).unwrap();
    assert!(take().is_some());
}

#[test]
fn what_two_workers_report_of_one_message_counts_once() {
    let fixture = Fixture::new();
    fixture.endpoint("one");
    fixture.customer("ada");
    fixture.fan_out();
    let lease = block_on(fixture.billing.take_endpoint()).unwrap().unwrap();
    let waiting = block_on(fixture.billing.waiting_deliveries(&lease, 1)).unwrap();
    for code in [200, 500] {
        assert_eq!(fixture.answer(&lease, waiting.deliveries[0], status(code)), None);
    }
    assert_eq!(fixture.only_delivery().status, DeliveryStatus::Delivered);
    assert_eq!(fixture.only_delivery().attempts.len(), 1);
}

#[test]
fn what_an_endpoint_answers_is_cut() {
    let fixture = Fixture::new();
    fixture.endpoint("one");
    fixture.customer("ada");
    let long = "é".repeat(limits::KEPT_ANSWER_BYTES);
    fixture.deliver(|_| Answer::Status { code: 500, elapsed_ms: 1, body: long.clone() });
    let Answer::Status { body, .. } = &fixture.only_delivery().attempts[0].answer else { panic!() };
    assert_eq!(body.len(), limits::KEPT_ANSWER_BYTES);
}

/// A body of any length is sent whole; one that is longer than an endpoint would like in the short style.
#[test]
fn bodies_of_any_length_are_sent() {
    struct Long(usize);

    #[async_trait]
    impl PayloadRenderer for Long {
        async fn render(
            &self,
            _: &Account,
            _: &Message,
            style: PayloadStyle,
        ) -> Result<String, Error> {
            Ok(match style {
                PayloadStyle::Expanded => "\"é".repeat(self.0 / 3),
                PayloadStyle::Standard => "short".to_owned(),
            })
        }
    }

    for (bytes, sent) in [(300_000, 300_000), (limits::PAYLOAD_BYTES + 6, 5)] {
        let fixture = Fixture::new();
        fixture.endpoint("one");
        fixture.customer("ada");
        block_on(fixture.billing.fan_out_messages(&Long(bytes), 10)).unwrap();
        assert_eq!(fixture.deliver(|_| status(200))[0].body.len(), sent);
    }
}
