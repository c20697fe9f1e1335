//! Alerts of a subscription: made with a view of the billing period before, and deleted.

use std::fmt::Display;

use accrue::{
    Account, AlertId, Decimal, Error, ErrorKind, ListFilter, PageRequest, SubscriptionId,
    Timeframe, Timestamp,
    alert::{Alert, Condition, NewAlert, Scope, Thresholds},
    cost::CostQuery,
    person::Role,
    subscription::Subscription,
    usage::{UsageMetrics, UsageQuery, View},
};
use http::StatusCode;
use maud::{Markup, html};

use super::period::{last_instant, newest_periods, span};
use crate::{
    answer::{Answer, Failure},
    request::Fields,
    site::query,
    view::{
        form::{self, Control, Faults, Field, Form},
        layout::{self, Head, Section},
        number::grouped,
        part::{
            Column::{Number, Text},
            Standing, chip, empty, table,
        },
        plot::{Mark, Plot, Point, Room, Shape},
        time,
    },
    visit::Visit,
};

/// Something that an alert can watch, over a billing period.
struct Watched {
    /// `cost`, or the id of a metric.
    key: String,
    name: String,
    unit: String,
    /// What it had come to by the end of each day.
    days: Vec<(Timestamp, Option<Decimal>)>,
}

/// Shows what can be watched, and when a threshold would have fired.
pub(crate) async fn new(visit: &Visit) -> Result<Answer, Failure> {
    let page = draft(visit, &visit.query, Faults::default()).await?;
    Ok(Answer::page(page))
}

/// Creates an alert.
pub(crate) async fn create(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let subscription = account.fetch_subscription(visit.id("subscription")?).await?;
    let mut faults = Faults::default();
    if let Some(new) = read(&visit.form, &mut faults) {
        match account.create_subscription_alert(subscription.id, new).await {
            Ok(_) => return Ok(back(visit, &subscription, "alert-created")),
            Err(error) => faults = Faults::of(error)?,
        }
    }
    let page = draft(visit, &visit.form, faults).await?;
    Ok(Answer::page_with(StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// Deletes an alert.
pub(crate) async fn delete(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let subscription = account.fetch_subscription(visit.id("subscription")?).await?;
    account.delete_alert(visit.id::<AlertId>("alert")?).await?;
    Ok(back(visit, &subscription, "alert-deleted"))
}

fn back(visit: &Visit, subscription: &Subscription, done: &str) -> Answer {
    let path = visit.in_account(&["subscriptions", &subscription.id.to_string()]);
    Answer::see_other(&format!("{path}{}", query(&[("done", done)])))
}

/// Reads the alert that a form is for; none where something is wrong, or nothing was typed yet.
fn read(typed: &Fields, faults: &mut Faults) -> Option<NewAlert> {
    let text = typed.get("thresholds")?;
    let numbers = text.split([',', ' ', ';']).filter(|number| !number.is_empty());
    let numbers =
        faults.take("thresholds", numbers.map(Decimal::parse).collect::<Result<Vec<_>, _>>());
    let thresholds = match Thresholds::new(numbers?) {
        Ok(thresholds) => thresholds,
        Err(error) => {
            let text = error.violations().first().map_or("It cannot be one.", |of| &of.message);
            faults.add("thresholds", text);
            return None;
        }
    };
    match typed.get("watch").unwrap_or("cost") {
        "cost" => Some(NewAlert::cost_exceeded(thresholds)),
        metric => {
            let metric = faults.take("watch", metric.parse().map_err(|_| "choose one"))?;
            Some(NewAlert::usage_exceeded(metric, thresholds))
        }
    }
}

async fn draft(visit: &Visit, typed: &Fields, mut faults: Faults) -> Result<Markup, Failure> {
    let account = visit.account()?;
    let id: SubscriptionId = visit.id("subscription")?;
    let subscription = account.fetch_subscription(id).await?;
    let customer = account.fetch_customer(subscription.customer_id).await?;
    let now = account.billing().now();
    let period = period_before(&subscription, now);
    let watched = watched(&account, &subscription, period).await?;
    let new = if faults.is_empty() { read(typed, &mut faults) } else { None };
    let chosen = typed.get("watch").unwrap_or("cost");
    let taken = taken(&account, &subscription, chosen).await?;
    // What there is already cannot be created: it is said, and nothing is tried.
    let fires_now = match new.clone().filter(|_| taken.is_none()) {
        Some(new) => match account.create_subscription_alert(id, new).preview().await {
            Ok(preview) => Some(preview.messages.len()),
            Err(error) => {
                faults = Faults::of(error)?;
                None
            }
        },
        None => None,
    };
    let shown = watched.iter().find(|of| of.key == chosen).or(watched.first());
    let thresholds = new.as_ref().map_or(&[][..], |new| new.thresholds.values());
    let choices: Vec<_> = watched.iter().map(|of| (of.key.as_str(), of.name.as_str())).collect();
    let form = Form { name: "alert", typed, faults: &faults };
    let action = visit.in_account(&["subscriptions", &id.to_string(), "alerts"]);
    let content = html! {
        section.card aria-labelledby="draft-title" {
            h2 id="draft-title" { "What to watch" }
            // To look changes nothing: the same fields are asked for, and sent.
            form method="get" action=(format!("{action}/new")) {
                (form.summary())
                (form.field(&Field { name: "watch", label: "Watch", hint: "", control: Control::Choice(&choices) }))
                (form.field(&Field {
                    name: "thresholds",
                    label: "Thresholds",
                    hint: "One or several, with commas between them. The line in the plot can be dragged too, and is the last of them.",
                    control: Control::Text("text", "off"),
                }))
                button type="submit" { "See when it would have fired" }
            }
        }
        @if let Some(id) = taken {
            @let path = visit.in_account(&["subscriptions", &subscription.id.to_string()]);
            p.alert.wait { span { "An alert watches this already: " a href=(format!("{path}#alert-{id}")) { "look at it" } ". Delete it to create another one." } }
        }
        @if let Some(of) = shown { (past(of, thresholds, period)) }
        @if let Some(count) = fires_now {
            section.card aria-labelledby="create-title" {
                h2 id="create-title" { "Create it" }
                p { (effect(count)) }
                form method="post" action=(action) {
                    (form::token(visit))
                    input type="hidden" name="watch" value=(chosen);
                    input type="hidden" name="thresholds" value=(typed.get("thresholds").unwrap_or_default());
                    button.primary type="submit" { "Create the alert" }
                }
            }
        }
    };
    let customer_path = visit.in_account(&["customers", &customer.id.to_string()]);
    let above = vec![
        ("Customers".to_owned(), visit.in_account(&["customers"])),
        (customer.name.to_string(), customer_path),
        ("Subscription".to_owned(), visit.in_account(&["subscriptions", &id.to_string()])),
    ];
    let head = Head { title: "New alert", section: Section::Customers, above };
    layout::page(visit, head, content).await
}

/// Returns the alert of the subscription's own that watches the same already.
async fn taken(
    account: &Account,
    subscription: &Subscription,
    chosen: &str,
) -> Result<Option<AlertId>, Failure> {
    let page = PageRequest::first(100)?;
    let all = ListFilter::default();
    let alerts = account.list_subscription_alerts(subscription.id, &all, &page).await?.data;
    let watches = |of: &&Alert| match &of.condition {
        Condition::CostExceeded { currency } => {
            chosen == "cost" && currency.currency() == Some(subscription.currency)
        }
        Condition::UsageExceeded { metric_id } => metric_id.to_string() == chosen,
        _ => false,
    };
    let own = alerts.iter().filter(|of| matches!(of.scope, Scope::Subscription { .. }));
    Ok(own.clone().find(watches).map(|of| of.id))
}

fn effect(messages: usize) -> String {
    match messages {
        0 => "It would not fire now: the value of this billing period is below.".to_owned(),
        1 => "It would fire at once: one message would be sent.".to_owned(),
        more => format!("It would fire at once: {more} messages would be sent."),
    }
}

/// Returns the billing period before the present one; that one, where it is the first.
fn period_before(subscription: &Subscription, now: Timestamp) -> Option<Timeframe> {
    let periods = newest_periods(subscription, now);
    periods.get(1).or(periods.first()).copied()
}

/// Reads what can be watched, as it was over a billing period.
async fn watched(
    account: &Account,
    subscription: &Subscription,
    period: Option<Timeframe>,
) -> Result<Vec<Watched>, Failure> {
    let Some(period) = period else { return Ok(Vec::new()) };
    let until = period.end().min(account.billing().now());
    let Some(period) =
        Timeframe::new(period.start(), until).ok().filter(|of| of.start() < of.end())
    else {
        return Ok(Vec::new());
    };
    let query = CostQuery { timeframe: period.into(), view: View::Cumulative, currency: None };
    let costs = account.subscription_costs(subscription.id, &query).await?;
    let mut found = vec![Watched {
        key: "cost".to_owned(),
        name: "Cost of the billing period".to_owned(),
        unit: subscription.currency.code().to_owned(),
        days: costs
            .into_iter()
            .map(|cost| (last_instant(cost.timeframe), Some(cost.total)))
            .collect(),
    }];
    let query = UsageQuery {
        timeframe: period.into(),
        view: View::Cumulative,
        metrics: UsageMetrics::Priced,
        ..UsageQuery::default()
    };
    for series in account.subscription_usage_over(subscription.id, &query).await? {
        let days =
            series.usage.into_iter().map(|slot| (last_instant(slot.timeframe), slot.quantity));
        found.push(Watched {
            key: series.metric_id.to_string(),
            name: format!("Usage of {}", series.name),
            unit: "usage".to_owned(),
            days: days.collect(),
        });
    }
    Ok(found)
}

/// Shows the billing period before, and on which day each threshold would have fired.
fn past(of: &Watched, thresholds: &[Decimal], period: Option<Timeframe>) -> Markup {
    let marks =
        thresholds.iter().map(|value| Mark { value: value.clone(), label: "Threshold".to_owned() });
    let points =
        of.days.iter().map(|(at, value)| Point { label: time::day(*at), value: value.clone() });
    let plot = Plot {
        id: "plot-draft",
        title: of.name.clone(),
        unit: of.unit.clone(),
        over: "Up to",
        shape: Shape::Line,
        room: Room::All,
        points: points.collect(),
        marks: marks.collect(),
    };
    let fired = |threshold: &Decimal| {
        let mut days = of.days.iter();
        days.find(|(_, value)| value.as_ref().is_some_and(|value| value >= threshold))
            .map(|(at, _)| *at)
    };
    let rows = html! {
        @for threshold in thresholds {
            tr {
                th.number scope="row" { (grouped(threshold)) }
                @match fired(threshold) {
                    Some(at) => { td { (chip(Standing::Bad, "Would have fired")) } td { (time::date(at)) } }
                    None => { td { (chip(Standing::Good, "Would not have fired")) } td { "–" } }
                }
            }
        }
    };
    let when = period.map(span);
    html! {
        section aria-labelledby="past-title" {
            h2 id="past-title" { "The billing period " (when.unwrap_or_default()) }
            div data-drag="alert-thresholds" { (plot.draw()) }
            @if thresholds.is_empty() {
                (empty("No threshold yet", "Type one, or drag the line into the plot."))
            } @else {
                (table("When it would have fired", &[Number("Threshold"), Text("In that period"), Text("By the end of (UTC)")], &rows))
            }
        }
    }
}

/// Returns the thresholds of alerts as lines across a plot.
pub(super) fn marks<'a>(alerts: impl Iterator<Item = &'a Alert>) -> Vec<Mark> {
    let marks = alerts.filter(|alert| alert.enabled).flat_map(|alert| {
        let values = alert.threshold_values().iter();
        values.map(|value| Mark { value: value.clone(), label: "Alert at".to_owned() })
    });
    marks.collect()
}

/// Takes what cannot be said now for nothing.
pub(super) fn known<T>(result: Result<Vec<T>, Error>) -> Result<Vec<T>, Failure> {
    match result {
        Ok(found) => Ok(found),
        Err(error) if error.kind() == ErrorKind::Internal => Err(error.into()),
        Err(_) => Ok(Vec::new()),
    }
}

/// Shows alerts, those of a subscription's own with a way to delete them.
pub(super) fn alert_table(
    visit: &Visit,
    alerts: &[Alert],
    subscription: Option<SubscriptionId>,
) -> Markup {
    let own = subscription.filter(|_| visit.may(Role::Operate)).map(|id| id.to_string());
    let delete = |id: &str| {
        let subscription = own.as_deref().unwrap_or_default();
        visit.in_account(&["subscriptions", subscription, "alerts", id, "delete"])
    };
    let is_own = |alert: &Alert| matches!(alert.scope, Scope::Subscription { .. }) && own.is_some();
    let rows = html! {
        @for alert in alerts {
            @let id = alert.id.to_string();
            tr id=(format!("alert-{id}")) {
                th scope="row" { code { (alert.condition.alert_type()) } (by(alert)) }
                td { @if alert.enabled { (chip(Standing::Good, "Enabled")) } @else { (chip(Standing::Off, "Disabled")) } }
                td.number { (values(alert.threshold_values())) (overrides(alert)) }
                td { (time::instant(alert.created_at)) }
                td { @if is_own(alert) { (form::button(visit, &delete(&id), "Delete", "quiet")) } @else { "–" } }
            }
        }
    };
    if alerts.is_empty() {
        return empty(
            "No alerts",
            "An alert fires in the commit that moves a value over its threshold.",
        );
    }
    let head = [
        Text("Watches"),
        Text("Status"),
        Number("Thresholds"),
        Text("Created (UTC)"),
        Text("Actions"),
    ];
    table("Alerts, newest first", &head, &rows)
}

/// Shows what an alert groups usage by: properties, or licenses.
fn by(alert: &Alert) -> Markup {
    let keys: Vec<_> = alert.condition.grouping_keys().iter().map(ToString::to_string).collect();
    html! {
        @if !keys.is_empty() { " by " (keys.join(", ")) }
        @if let Condition::LicenseBalanceThresholdReached { license_type_id } = &alert.condition {
            " by license, of "
            @match license_type_id { Some(id) => { "the type " span.id { (id) } } None => { "all types" } }
            ", in percent"
        }
    }
}

/// Shows the thresholds that some groups have in place of those of their alert.
fn overrides(alert: &Alert) -> Markup {
    html! {
        @for of in &alert.threshold_overrides {
            @let keys = of.group_keys.as_deref().unwrap_or(alert.condition.grouping_keys());
            br;
            (group(keys, &of.group_values)) ": "
            @if of.threshold_values().is_empty() { "never" } @else { (values(of.threshold_values())) }
        }
    }
}

/// Names a group by its keys and their values.
pub(super) fn group(keys: &[impl Display], values: &[String]) -> String {
    let pairs = keys.iter().zip(values);
    let pairs = pairs.map(|(key, value)| match value.as_str() {
        "" => format!("{key} empty"),
        value => format!("{key} {value}"),
    });
    pairs.collect::<Vec<_>>().join(", ")
}

fn values(values: &[Decimal]) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
    values.iter().map(grouped).collect::<Vec<_>>().join(", ")
}
