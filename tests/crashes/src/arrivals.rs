//! What arrives at an endpoint, and what must hold of it.

use std::collections::{BTreeMap, BTreeSet};

use accrue::webhook::DeliveryOrder;
use accrue_tests::receiver::Received;
use serde_json::Value;

/// A message: its customer, and which of the customer's messages it is, from 1 on.
pub(crate) type Numbered = (String, usize);

/// What has arrived at an endpoint.
#[derive(Debug)]
pub(crate) struct Arrivals {
    order: DeliveryOrder,
    /// In the order in which they came.
    pub(crate) requests: Vec<Received>,
    /// Which of the requests each message came with.
    messages: BTreeMap<Numbered, Vec<usize>>,
    /// Which messages of each customer came, in that order.
    customers: BTreeMap<String, Vec<usize>>,
}

impl Arrivals {
    pub(crate) const fn new(order: DeliveryOrder) -> Self {
        Self { order, requests: Vec::new(), messages: BTreeMap::new(), customers: BTreeMap::new() }
    }

    pub(crate) fn note(&mut self, request: Received) {
        let (customer, number) = numbered(&request.body);
        let sequence = request.header("webhook-sequence").and_then(|text| text.parse().ok());
        assert_eq!(sequence, Some(number), "of {customer}");
        self.customers.entry(customer.clone()).or_default().push(number);
        self.messages.entry((customer, number)).or_default().push(self.requests.len());
        self.requests.push(request);
    }

    /// Checks all of it, against the messages that were acknowledged.
    pub(crate) fn check(&self, made: &BTreeSet<Numbered>) {
        let order = self.order;
        let lost: Vec<_> = made.iter().filter(|of| !self.messages.contains_key(of)).collect();
        assert!(lost.is_empty(), "{order:?}: {lost:?} were acknowledged, and did not come");
        for (message, requests) in &self.messages {
            let came = requests.len();
            assert!(came <= 2, "{order:?}: {message:?} came {came} times");
            let [first, last] = [0, came - 1].map(|at| &self.requests[requests[at]]);
            let id = |of: &Received| of.header("webhook-id").expect("it has an id").to_owned();
            assert_eq!(id(first), id(last), "{order:?}: {message:?}");
            assert_eq!(first.body, last.body, "{order:?}: {message:?}");
        }
        for (customer, numbers) in &self.customers {
            let is_in_order = match order {
                // None comes again after a later one has: that waits until it is reported.
                DeliveryOrder::Strict => numbers.is_sorted(),
                _ => true,
            };
            let mut known = 0;
            let comes_in_order = numbers.iter().all(|number| {
                let is_next = *number <= known + 1;
                known = known.max(*number);
                is_next
            });
            assert!(is_in_order && comes_in_order, "{order:?}: of {customer} came {numbers:?}");
        }
    }

    pub(crate) fn messages(&self) -> usize {
        self.messages.len()
    }

    /// Number of messages that came twice.
    pub(crate) fn twice(&self) -> usize {
        self.requests.len() - self.messages.len()
    }
}

/// Reads which message it is: a customer's first is of its creation, and each further one of an edit, which has the name
/// before.
fn numbered(body: &str) -> Numbered {
    let body: Value = serde_json::from_str(body).expect("a message");
    let customer = body["customer"]["id"].as_str().expect("it is of a customer");
    let before = body["properties"]["previous_attributes"]["name"].as_str();
    let before = before.map_or(0, |name| {
        let number = name.strip_prefix("Ada ").and_then(|number| number.parse().ok());
        number.expect("names have a number")
    });
    (customer.to_owned(), before + 1)
}
