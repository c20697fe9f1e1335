//! Why an alert has fired, as it was told: what was before and after, to the last digit, and what caused it.

use accrue::{
    CustomerId, Decimal, Timeframe,
    alert::{
        Alert, AlertDisabled, BalanceCrossed, Cause, Condition, Exceeded, GroupsExceeded,
        LicensesReached,
    },
    webhook::Body,
};
use maud::{Markup, html};

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

/// Shows why an alert has fired; nothing where it is no alert that tells it.
pub(super) fn why(visit: &Visit, body: &Body, customer: Option<CustomerId>) -> Markup {
    let customer = customer.map(|id| id.to_string());
    let rows = match body {
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

/// Shows what fired of what an alert watches one by one, with some figures of each.
fn fired(title: &str, each: &'static str, rows: &[Markup], figures: [&'static str; 3]) -> Markup {
    let head: Vec<_> = [Text(each)].into_iter().chain(figures.map(Number)).collect();
    table(title, &head, &html! { @for row in rows { (row) } })
}

fn groups_exceeded(visit: &Visit, of: &GroupsExceeded, customer: Option<String>) -> Markup {
    let path = visit.in_account(&["subscriptions", &of.subscription_id.to_string()]);
    let mut rows = vec![watches(&of.alert, &path)];
    rows.extend(counted(visit, &path, (of.timeframe, &of.cause), customer));
    let keys = of.alert.condition.grouping_keys();
    let write = |number: &Decimal| written(&of.alert, number);
    let groups = of.groups.iter().map(|of| {
        let before = of.value_before.as_ref().map_or_else(|| "Nothing yet".to_owned(), write);
        let figures = [before, write(&of.value_after), write(&of.threshold)];
        group_row(&group(keys, &of.group_values), &figures)
    });
    let table = fired(
        "Groups that fired",
        "Group",
        &groups.collect::<Vec<_>>(),
        ["Before", "Cost", "Threshold"],
    );
    section("Why it fired", &rows, &table)
}

fn licenses_reached(visit: &Visit, of: &LicensesReached, customer: Option<String>) -> Markup {
    let path = visit.in_account(&["subscriptions", &of.subscription_id.to_string()]);
    let mut rows = vec![watches(&of.alert, &path)];
    rows.extend(counted(visit, &path, (of.timeframe, &of.cause), customer));
    let percent = |number: &Decimal| format!("{} %", grouped(number));
    let licenses = of.licenses.iter().map(|of| {
        let before = of.value_before.as_ref().map_or_else(|| "Nothing yet".to_owned(), percent);
        let figures = [before, percent(&of.value_after), percent(&of.threshold)];
        group_row(of.external_license_id.as_str(), &figures)
    });
    let table = fired(
        "Licenses that reached it",
        "License",
        &licenses.collect::<Vec<_>>(),
        ["Before", "Drawn", "Threshold"],
    );
    section("Why it fired", &rows, &table)
}

/// Returns over which time something was counted, what caused it, and whose it is.
fn counted(
    visit: &Visit,
    path: &str,
    (timeframe, why): (Timeframe, &Cause),
    customer: Option<String>,
) -> Vec<(&'static str, Markup)> {
    let mut rows = vec![
        ("Counted from (UTC)", time::instant(timeframe.start())),
        ("Counted to (UTC)", time::instant(timeframe.end())),
        ("Caused by", cause(visit, why)),
    ];
    rows.extend(whose(visit, customer, path));
    rows
}

fn disabled(visit: &Visit, of: &AlertDisabled, customer: Option<String>) -> Markup {
    let path = visit.in_account(&["subscriptions", &of.subscription_id.to_string()]);
    let mut rows = vec![watches(&of.alert, &path)];
    rows.push(("Groups", html! { (of.cardinality) }));
    rows.push(("Groups at most", html! { (of.cardinality_limit) }));
    rows.extend(whose(visit, customer, &path));
    section("Why it is disabled", &rows, &html! {})
}

fn exceeded(visit: &Visit, of: &Exceeded, customer: Option<String>) -> Vec<(&'static str, Markup)> {
    let path = visit.in_account(&["subscriptions", &of.subscription_id.to_string()]);
    let mut rows =
        figures(&of.alert, &path, (of.value_before.as_ref(), &of.value_after), Some(&of.threshold));
    if let Some(metric) = of.alert.condition.metric_id() {
        rows.push(("Metric", html! { span.id { (metric) } }));
    }
    rows.extend(counted(visit, &path, (of.timeframe, &of.cause), customer));
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
