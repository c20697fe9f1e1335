//! Why an alert has fired, as its message says it: figures to the last digit, and nothing else.
//!
//! A message that waits has what was before and after. The body that is sent says what was after, since its wire
//! has no place for the other.

use accrue::{
    Decimal, PricingUnit, Timestamp,
    alert::{Alert, BalanceCrossed, Cause, Condition, Exceeded},
    webhook::{Body, Message},
};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    site::query,
    view::{
        number::{grouped, money},
        part::facts,
        time,
    },
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
        rows.push(("Value", html! { (figure(&value, unit)) }));
    }
    if let Some(threshold) = threshold {
        rows.push(("Threshold", html! { (figure(&threshold, unit)) }));
    }
    if let Some(metric) = of.billable_metric_id {
        rows.push(("Metric", html! { span.id { (metric) } }));
    }
    if let (Some(start), Some(end)) = (of.timeframe_start, of.timeframe_end) {
        rows.push(("Counted from (UTC)", instant(&start)));
        rows.push(("Counted to (UTC)", instant(&end)));
    }
    if let Some(path) = customer {
        rows.push(("Customer", html! { a href=(path) { "Show the customer" } }));
    }
    if let Some(path) = subscription {
        rows.push(("Subscription", html! { a href=(path) { "Show the subscription" } }));
    }
    section(&rows)
}

fn section(rows: &[(&str, Markup)]) -> Markup {
    html! {
        section aria-labelledby="why-title" {
            h2 id="why-title" { "Why it fired" }
            (facts(rows))
        }
    }
}

/// Writes a figure as people read it, with its unit; as it is where it is no number.
fn figure(text: &str, unit: &str) -> String {
    match (Decimal::parse(text), PricingUnit::parse(unit)) {
        (Ok(number), Ok(unit)) => money(&number, &unit),
        (Ok(number), Err(_)) => grouped(&number),
        _ => format!("{text} {unit}"),
    }
}

fn instant(text: &str) -> Markup {
    Timestamp::parse(text).map_or_else(|_| html! { (text) }, time::instant)
}

/// Shows why an alert has fired whose message waits; nothing where the message is of none.
pub(super) fn of_message(visit: &Visit, message: &Message) -> Markup {
    let customer = message.customer.as_ref().map(|of| of.id.to_string());
    let rows = match &message.body {
        Body::UsageExceeded(of) | Body::CostExceeded(of) | Body::SpendExceeded(of) => {
            exceeded(visit, of, customer)
        }
        Body::CreditBalanceDepleted(of)
        | Body::CreditBalanceDropped(of)
        | Body::CreditBalanceRecovered(of) => crossed(visit, of),
        _ => return html! {},
    };
    section(&rows)
}

fn exceeded(visit: &Visit, of: &Exceeded, customer: Option<String>) -> Vec<(&'static str, Markup)> {
    let path = visit.in_account(&["subscriptions", &of.subscription_id.to_string()]);
    let mut rows =
        figures(&of.alert, &path, (of.value_before.as_ref(), &of.value_after), Some(&of.threshold));
    rows.push(("Counted from (UTC)", time::instant(of.timeframe.start())));
    rows.push(("Counted to (UTC)", time::instant(of.timeframe.end())));
    rows.push(("Caused by", cause(visit, &of.cause)));
    if let Some(id) = customer {
        let path = visit.in_account(&["customers", &id]);
        rows.push(("Customer", html! { a href=(path) { "Show the customer" } }));
    }
    rows.push(("Subscription", html! { a href=(path) { "Show the subscription" } }));
    rows
}

fn crossed(visit: &Visit, of: &BalanceCrossed) -> Vec<(&'static str, Markup)> {
    let path = visit.in_account(&["customers", &of.customer_id.to_string()]);
    let values = (of.value_before.as_ref(), &of.value_after);
    let mut rows = figures(&of.alert, &path, values, of.threshold.as_ref());
    rows.push(("Caused by", cause(visit, &of.cause)));
    rows.push(("Customer", html! { a href=(path) { "Show the customer" } }));
    rows
}

fn figures(
    alert: &Alert,
    path: &str,
    (before, after): (Option<&Decimal>, &Decimal),
    threshold: Option<&Decimal>,
) -> Vec<(&'static str, Markup)> {
    let unit = match &alert.condition {
        Condition::CostExceeded { currency } | Condition::SpendExceeded { currency, .. } => {
            Some(currency)
        }
        other => other.ledger(),
    };
    let write = |number: &Decimal| match unit {
        Some(unit) => money(number, unit),
        None => grouped(number),
    };
    let link = format!("{path}#alert-{}", alert.id);
    let mut rows = vec![
        ("Watches", html! { a href=(link) { code { (alert.condition.alert_type()) } } }),
        ("Before", html! { (before.map_or_else(|| "Nothing yet".to_owned(), write)) }),
        ("After", html! { (write(after)) }),
    ];
    if let Some(threshold) = threshold {
        rows.push(("Threshold", html! { (write(threshold)) }));
    }
    rows
}

fn cause(visit: &Visit, cause: &Cause) -> Markup {
    match cause {
        Cause::Event { idempotency_key, .. } => {
            let path = visit.in_account(&["events"]);
            let path = format!("{path}{}", query(&[("ids", idempotency_key.as_str())]));
            html! { "Event " a href=(path) { (idempotency_key) } }
        }
        Cause::Backfill { backfill_id } => {
            let path = visit.in_account(&["backfills", &backfill_id.to_string()]);
            html! { a href=(path) { "A backfill" } }
        }
        Cause::Configuration { .. } => html! { "The alert itself: it was created or changed" },
        Cause::Period { .. } => html! { "A billing period that begins" },
        Cause::Subscription { .. } => html! { "A change of the subscription" },
        Cause::Credit { entry_id } => html! { "Entry of the ledger " span.id { (entry_id) } },
        Cause::Expiry { block_id } => {
            html! { "Credits that expired, of block " span.id { (block_id) } }
        }
        _ => html! { "–" },
    }
}
