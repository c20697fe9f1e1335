//! Messages arrive, whatever becomes of those who send them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use accrue::{
    MessageId, WebhookEndpointId,
    webhook::{AttemptReport, EndpointLease, Schedule, WaitingDelivery},
};
use proptest::{collection::vec, prelude::*};

use crate::{
    deliveries::status,
    support::fixture::{Fixture, block_on},
};

const CUSTOMERS: usize = 3;
const WORKERS: usize = 3;

#[derive(Clone, Debug)]
enum Happens {
    Tell(usize),
    FanOut,
    Take(usize),
    Send(usize, usize),
    /// What is under way is answered, by turns with these.
    Report(usize, Vec<bool>),
    Leave(usize),
    Crash(usize),
    Wait(u64),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        3 => (0..CUSTOMERS).prop_map(Happens::Tell),
        2 => Just(Happens::FanOut),
        3 => (0..WORKERS).prop_map(Happens::Take),
        4 => (0..WORKERS, 1_usize..5).prop_map(|(worker, n)| Happens::Send(worker, n)),
        3 => (0..WORKERS, vec(any::<bool>(), 1..4)).prop_map(|(w, answers)| Happens::Report(w, answers)),
        2 => (0..WORKERS).prop_map(Happens::Leave),
        1 => (0..WORKERS).prop_map(Happens::Crash),
        2 => (1_u64..90).prop_map(Happens::Wait),
    ]
}

/// A message to an endpoint.
type To = (WebhookEndpointId, MessageId);

#[derive(Default)]
struct Worker {
    lease: Option<EndpointLease>,
    under_way: Vec<WaitingDelivery>,
}

#[derive(Default)]
struct Story {
    fixture: Option<Fixture>,
    workers: [Worker; WORKERS],
    /// What endpoints have received, in order, with the number in the queue.
    received: Vec<(To, u64)>,
    /// What may have been received more than once.
    in_doubt: BTreeSet<To>,
    failed: BTreeMap<To, usize>,
}

impl Story {
    fn fixture(&self) -> &Fixture {
        self.fixture.as_ref().unwrap()
    }

    fn send(&mut self, worker: usize, limit: usize) {
        let billing = self.fixture().billing.clone();
        let Worker { lease: Some(lease), under_way } = &mut self.workers[worker] else { return };
        let mut waiting = block_on(billing.waiting_deliveries(lease, limit)).unwrap();
        if waiting.endpoint.is_none() {
            return;
        }
        waiting.deliveries.retain(|of| !under_way.contains(of));
        if waiting.is_probed {
            waiting.deliveries.truncate(usize::from(under_way.is_empty()));
        }
        let outgoing = billing.outgoing(lease, &waiting.deliveries);
        for of in block_on(outgoing).unwrap() {
            let to = (lease.endpoint_id(), of.delivery.message_id());
            self.received.push((to, of.delivery.number()));
            if lease.until() <= billing.now() {
                self.in_doubt.insert(to);
            }
            under_way.push(of.delivery);
        }
    }

    fn report(&mut self, worker: usize, answers: &[bool]) {
        let billing = self.fixture().billing.clone();
        let Worker { lease: Some(lease), under_way } = &mut self.workers[worker] else { return };
        if under_way.is_empty() {
            return;
        }
        let mut reports = Vec::new();
        let url = crate::deliveries::url("one");
        for (delivery, is_taken) in under_way.drain(..).zip(answers.iter().cycle()) {
            let to = (lease.endpoint_id(), delivery.message_id());
            if !is_taken {
                *self.failed.entry(to).or_default() += 1;
            }
            let answer = status(if *is_taken { 200 } else { 500 });
            let (url, at) = (url.clone(), billing.now());
            reports.push(AttemptReport { delivery, url, at, answer, retry_after: None });
        }
        block_on(billing.report_deliveries(lease, reports, &Schedule::default())).unwrap();
    }

    fn let_go(&mut self, worker: usize, is_crash: bool) {
        if !is_crash {
            self.report(worker, &[true]);
        }
        let Worker { lease, under_way } = std::mem::take(&mut self.workers[worker]);
        let Some(lease) = lease else { return };
        self.in_doubt.extend(under_way.iter().map(|of| (lease.endpoint_id(), of.message_id())));
        if !is_crash {
            block_on(self.fixture().billing.leave_endpoint(&lease)).unwrap();
        }
    }

    fn happens(&mut self, what: Happens) {
        match what {
            Happens::Tell(customer) => self.fixture().tell_of(&format!("customer {customer}")),
            Happens::FanOut => self.fixture().fan_out(),
            Happens::Take(worker) => {
                if self.workers[worker].lease.is_none() {
                    let taken = block_on(self.fixture().billing.take_endpoint()).unwrap();
                    self.workers[worker].lease = taken;
                }
            }
            Happens::Send(worker, limit) => self.send(worker, limit),
            Happens::Report(worker, answers) => self.report(worker, &answers),
            Happens::Leave(worker) => self.let_go(worker, false),
            Happens::Crash(worker) => self.let_go(worker, true),
            Happens::Wait(seconds) => {
                let now = self.fixture().billing.now();
                let then = now.saturating_add(Duration::from_secs(seconds));
                // Whoever has an endpoint for longer than it may is not alone with it.
                for Worker { lease, under_way } in &self.workers {
                    if let Some(lease) = lease.as_ref().filter(|of| of.until() <= then) {
                        let to = under_way.iter().map(|of| (lease.endpoint_id(), of.message_id()));
                        self.in_doubt.extend(to);
                    }
                }
                self.fixture().clock.advance(Duration::from_secs(seconds));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_message_arrives_once_unless_a_worker_is_gone_or_an_attempt_fails(
        story in vec(happens(), 1..60),
        is_strict in any::<bool>(),
    ) {
        let fixture = Fixture::new();
        fixture.endpoint("one");
        let strict = is_strict.then(|| fixture.strict_endpoint("strict").id);
        for customer in 0..CUSTOMERS {
            fixture.customer(&format!("customer {customer}"));
        }
        let mut told = Story { fixture: Some(fixture), ..Story::default() };
        for what in story {
            told.happens(what);
        }
        for worker in 0..WORKERS {
            told.let_go(worker, true);
        }
        told.fixture().fan_out();
        while let Some(next) = block_on(told.fixture().billing.next_endpoint_turn()).unwrap() {
            told.fixture().clock.set(next);
            told.happens(Happens::Take(0));
            for _ in 0..50 {
                told.happens(Happens::Send(0, 4));
                told.happens(Happens::Report(0, vec![true]));
            }
            told.happens(Happens::Leave(0));
        }
        let sent = told.fixture().sent();
        prop_assert!(!sent.is_empty());
        for of in &sent {
            prop_assert!(of.is_delivered, "{of:?}");
            prop_assert_eq!(of.deliveries.len(), 1 + usize::from(is_strict));
            for delivery in &of.deliveries {
                let to = (delivery.endpoint_id, of.id);
                let times = told.received.iter().filter(|(found, _)| *found == to).count();
                let failed = told.failed.get(&to).copied().unwrap_or_default();
                prop_assert!(times >= 1);
                if !told.in_doubt.contains(&to) {
                    prop_assert_eq!(times, 1 + failed);
                }
            }
        }
        // A strict endpoint is sent nothing of a queue before what came earlier there was taken.
        let mut latest = BTreeMap::new();
        let queues: BTreeMap<_, _> = sent.iter().map(|of| (of.id, queue_of(of))).collect();
        for (to, number) in told.received.iter().filter(|(to, _)| Some(to.0) == strict) {
            let last = latest.entry(queues[&to.1].clone()).or_insert(*number);
            prop_assert!(*last <= *number || told.in_doubt.contains(to), "{last} before {number}");
            *last = (*last).max(*number);
        }
        // First attempts are in the order of each queue: a number is followed by greater ones.
        let mut seen = BTreeSet::new();
        let mut last = BTreeMap::new();
        for (to, number) in &told.received {
            if seen.insert(*to) {
                let before = last.insert((to.0, queues[&to.1].clone()), *number);
                prop_assert!(before < Some(*number), "{before:?} {number}");
            }
        }
    }
}

/// Bodies of these tests name the customer that they are of.
fn queue_of(of: &accrue::webhook::SentMessage) -> String {
    of.payload.as_deref().unwrap().split(' ').next_back().unwrap().to_owned()
}
