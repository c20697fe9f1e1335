//! Why an alert has fired, as its message says it: figures to the last digit, and nothing else.
//!
//! A message that waits has what was before and after. The body that is sent says what was after, since its wire
//! has no place for the other.

use accrue::{
    Decimal, PricingUnit, SubscriptionId, Timeframe, Timestamp,
    alert::{
        Alert, AlertDisabled, BalanceCrossed, Cause, Condition, Exceeded, GroupsExceeded,
        LicensesReached,
    },
    webhook::{Body, Message},
};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::alerts::group;
use crate::{
    site::query,
    view::{
        number::{grouped, money},
        part::{
            Column::{Number, Text},
            facts, table,
        },
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
    grouping_keys: Option<Vec<String>>,
    groups: Option<Vec<ToldGroup>>,
    licenses: Option<Vec<ToldLicense>>,
    cardinality: Option<u64>,
    cardinality_limit: Option<u64>,
    timeframe_start: Option<String>,
    timeframe_end: Option<String>,
}

#[derive(Deserialize)]
struct ToldGroup {
    group_values: Vec<String>,
    amount_threshold: String,
    evaluated_amount: String,
}

#[derive(Deserialize)]
struct ToldLicense {
    external_license_id: String,
    threshold_percentage: String,
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
    if let (Some(count), Some(most)) = (of.cardinality, of.cardinality_limit) {
        rows.extend(too_many(count, most));
        return section("Why it is disabled", &rows, &html! {});
    }
    let keys = of.grouping_keys.unwrap_or_default();
    let row = |of: ToldGroup| {
        let figures = [&of.evaluated_amount, &of.amount_threshold].map(|text| figure(text, unit));
        group_row(&group(&keys, &of.group_values), &figures)
    };
    let groups: Vec<_> = of.groups.unwrap_or_default().into_iter().map(row).collect();
    let licenses =
        of.licenses.unwrap_or_default().into_iter().map(|of| {
            group_row(&of.external_license_id, &[format!("{} %", of.threshold_percentage)])
        });
    let licenses: Vec<_> = licenses.collect();
    let more = html! {
        (group_table(&groups, &["Cost", "Threshold"]))
        (license_table(&licenses, &["Threshold"]))
    };
    section("Why it fired", &rows, &more)
}

fn section(title: &str, rows: &[(&str, Markup)], more: &Markup) -> Markup {
    html! {
        section aria-labelledby="why-title" {
            h2 id="why-title" { (title) }
            (facts(rows))
            (more)
        }
    }
}

fn group_row(name: &str, figures: &[String]) -> Markup {
    html! { tr { th scope="row" { (name) } @for figure in figures { td.number { (figure) } } } }
}

/// Shows groups that fired, with some figures of each; nothing where there are none.
fn group_table(rows: &[Markup], figures: &[&'static str]) -> Markup {
    fired("Groups that fired", "Group", rows, figures)
}

/// Shows licenses that have reached a threshold, with some figures of each; nothing where there are none.
fn license_table(rows: &[Markup], figures: &[&'static str]) -> Markup {
    fired("Licenses that reached it", "License", rows, figures)
}

fn fired(title: &str, each: &'static str, rows: &[Markup], figures: &[&'static str]) -> Markup {
    if rows.is_empty() {
        return html! {};
    }
    let figures = figures.iter().copied().map(Number);
    let head: Vec<_> = [Text(each)].into_iter().chain(figures).collect();
    table(title, &head, &html! { @for row in rows { (row) } })
}

fn too_many(count: u64, most: u64) -> [(&'static str, Markup); 2] {
    [("Groups", html! { (count) }), ("Groups at most", html! { (most) })]
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
        Body::GroupedCostExceeded(of) => return groups_exceeded(visit, of, customer),
        Body::LicenseBalanceThresholdReached(of) => {
            return licenses_reached(visit, of, customer);
        }
        Body::AlertDisabled(of) => return disabled(visit, of, customer),
        Body::CreditBalanceDepleted(of)
        | Body::CreditBalanceDropped(of)
        | Body::CreditBalanceRecovered(of) => crossed(visit, of),
        _ => return html! {},
    };
    section("Why it fired", &rows, &html! {})
}

fn groups_exceeded(visit: &Visit, of: &GroupsExceeded, customer: Option<String>) -> Markup {
    let rows = counted(visit, (&of.alert, of.subscription_id), (of.timeframe, &of.cause), customer);
    let keys = of.alert.condition.grouping_keys();
    let write = |number: &Decimal| written(&of.alert, number);
    let groups = of.groups.iter().map(|of| {
        let before = of.value_before.as_ref().map_or_else(|| "Nothing yet".to_owned(), write);
        let figures = [before, write(&of.value_after), write(&of.threshold)];
        group_row(&group(keys, &of.group_values), &figures)
    });
    let table = group_table(&groups.collect::<Vec<_>>(), &["Before", "Cost", "Threshold"]);
    section("Why it fired", &rows, &table)
}

fn licenses_reached(visit: &Visit, of: &LicensesReached, customer: Option<String>) -> Markup {
    let rows = counted(visit, (&of.alert, of.subscription_id), (of.timeframe, &of.cause), customer);
    let percent = |number: &Decimal| format!("{} %", grouped(number));
    let licenses = of.licenses.iter().map(|of| {
        let before = of.value_before.as_ref().map_or_else(|| "Nothing yet".to_owned(), percent);
        let figures = [before, percent(&of.value_after), percent(&of.threshold)];
        group_row(of.external_license_id.as_str(), &figures)
    });
    let table = license_table(&licenses.collect::<Vec<_>>(), &["Before", "Drawn", "Threshold"]);
    section("Why it fired", &rows, &table)
}

/// Returns what an alert watched, when, and for whom.
fn counted(
    visit: &Visit,
    (alert, subscription): (&Alert, SubscriptionId),
    (timeframe, why): (Timeframe, &Cause),
    customer: Option<String>,
) -> Vec<(&'static str, Markup)> {
    let path = visit.in_account(&["subscriptions", &subscription.to_string()]);
    let mut rows = vec![watches(alert, &path)];
    rows.push(("Counted from (UTC)", time::instant(timeframe.start())));
    rows.push(("Counted to (UTC)", time::instant(timeframe.end())));
    rows.push(("Caused by", cause(visit, why)));
    rows.extend(whose(visit, customer, &path));
    rows
}

fn disabled(visit: &Visit, of: &AlertDisabled, customer: Option<String>) -> Markup {
    let path = visit.in_account(&["subscriptions", &of.subscription_id.to_string()]);
    let mut rows = vec![watches(&of.alert, &path)];
    rows.extend(too_many(of.cardinality, of.cardinality_limit));
    rows.extend(whose(visit, customer, &path));
    section("Why it is disabled", &rows, &html! {})
}

fn exceeded(visit: &Visit, of: &Exceeded, customer: Option<String>) -> Vec<(&'static str, Markup)> {
    let path = visit.in_account(&["subscriptions", &of.subscription_id.to_string()]);
    let mut rows =
        figures(&of.alert, &path, (of.value_before.as_ref(), &of.value_after), Some(&of.threshold));
    rows.push(("Counted from (UTC)", time::instant(of.timeframe.start())));
    rows.push(("Counted to (UTC)", time::instant(of.timeframe.end())));
    rows.push(("Caused by", cause(visit, &of.cause)));
    rows.extend(whose(visit, customer, &path));
    rows
}

/// Returns the ways to a subscription, and to its customer where that is known.
fn whose(visit: &Visit, customer: Option<String>, path: &str) -> Vec<(&'static str, Markup)> {
    let customer = customer.map(|id| {
        let path = visit.in_account(&["customers", &id]);
        ("Customer", html! { a href=(path) { "Show the customer" } })
    });
    let subscription = ("Subscription", html! { a href=(path) { "Show the subscription" } });
    customer.into_iter().chain([subscription]).collect()
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
    let write = |number: &Decimal| written(alert, number);
    let mut rows = vec![
        watches(alert, path),
        ("Before", html! { (before.map_or_else(|| "Nothing yet".to_owned(), write)) }),
        ("After", html! { (write(after)) }),
    ];
    if let Some(threshold) = threshold {
        rows.push(("Threshold", html! { (write(threshold)) }));
    }
    rows
}

fn watches(alert: &Alert, path: &str) -> (&'static str, Markup) {
    let link = format!("{path}#alert-{}", alert.id);
    ("Watches", html! { a href=(link) { code { (alert.condition.alert_type()) } } })
}

/// Writes a figure of an alert, with its unit.
fn written(alert: &Alert, number: &Decimal) -> String {
    let unit = match &alert.condition {
        Condition::CostExceeded { currency }
        | Condition::SpendExceeded { currency, .. }
        | Condition::GroupedCostExceeded { currency, .. } => Some(currency),
        other => other.ledger(),
    };
    match unit {
        Some(unit) => money(number, unit),
        None => grouped(number),
    }
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
