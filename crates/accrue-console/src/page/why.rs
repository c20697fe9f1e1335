//! Why an alert has fired, as the body of its message says it: figures to the last digit, and nothing else.

use accrue::Decimal;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    view::{number::grouped, part::facts},
    visit::Visit,
};

/// Body of a message of an alert; whatever else it says is passed over.
#[derive(Deserialize)]
struct Told {
    subscription: Option<Named>,
    customer: Option<Named>,
    properties: Properties,
}

#[derive(Deserialize)]
struct Named {
    id: String,
    customer: Option<Box<Named>>,
}

#[derive(Deserialize)]
struct Properties {
    alert_configuration: Configuration,
    billable_metric_id: Option<String>,
    // Numbers as they were written: a float would lose digits.
    evaluated_quantity: Option<Box<RawValue>>,
    quantity_threshold: Option<Box<RawValue>>,
    evaluated_amount: Option<String>,
    amount_threshold: Option<String>,
    balance_threshold: Option<String>,
    timeframe_start: Option<String>,
    timeframe_end: Option<String>,
}

#[derive(Deserialize)]
struct Configuration {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    currency: Option<String>,
}

/// Shows why an alert has fired; nothing where the body is not that of an alert.
pub(super) fn why(visit: &Visit, payload: &str) -> Markup {
    let Ok(told) = serde_json::from_str::<Told>(payload) else { return html! {} };
    let Told { subscription, customer, properties: of } = told;
    let unit = of.alert_configuration.currency.as_deref().unwrap_or_default();
    let value = of.evaluated_amount.or(of.evaluated_quantity.map(|of| of.get().to_owned()));
    let threshold = of.amount_threshold.or(of.balance_threshold);
    let threshold = threshold.or(of.quantity_threshold.map(|of| of.get().to_owned()));
    let customer =
        subscription.as_ref().and_then(|of| of.customer.as_deref()).or(customer.as_ref());
    let customer = customer.map(|of| visit.in_account(&["customers", &of.id]));
    let subscription = subscription.as_ref().map(|of| visit.in_account(&["subscriptions", &of.id]));
    let alert = subscription.as_ref().or(customer.as_ref());
    let alert = alert.map(|path| format!("{path}#alert-{}", of.alert_configuration.id));
    let mut rows = vec![(
        "Watches",
        html! {
            @match &alert {
                Some(path) => { a href=(path) { code { (of.alert_configuration.kind) } } }
                None => { code { (of.alert_configuration.kind) } }
            }
        },
    )];
    if let Some(value) = value {
        rows.push(("Value", html! { (figure(&value)) " " (unit) }));
    }
    if let Some(threshold) = threshold {
        rows.push(("Threshold", html! { (figure(&threshold)) " " (unit) }));
    }
    if let Some(metric) = of.billable_metric_id {
        rows.push(("Metric", html! { span.id { (metric) } }));
    }
    if let (Some(start), Some(end)) = (of.timeframe_start, of.timeframe_end) {
        rows.push(("Counted from", html! { (start) }));
        rows.push(("Counted to", html! { (end) }));
    }
    if let Some(path) = customer {
        rows.push(("Customer", html! { a href=(path) { "Show the customer" } }));
    }
    if let Some(path) = subscription {
        rows.push(("Subscription", html! { a href=(path) { "Show the subscription" } }));
    }
    html! {
        section aria-labelledby="why-title" {
            h2 id="why-title" { "Why it fired" }
            (facts(&rows))
        }
    }
}

/// Writes a figure as people read it; as it is where it is no number.
fn figure(text: &str) -> String {
    Decimal::parse(text).map_or_else(|_| text.to_owned(), |number| grouped(&number))
}
