//! One customer: what it is, what it uses and costs over time, what it has left, and its alerts.

use accrue::{
    Account, CustomerId, Decimal, ErrorKind, ListFilter, PageRequest, PricingUnit, SubscriptionId,
    alert::{Alert, Condition, Scope},
    cost::{Cost, CostQuery},
    credit::{CreditBalance, LedgerFilter},
    customer::Customer,
    person::Role,
    subscription::{Subscription, SubscriptionFilter, SubscriptionStatus},
    usage::{UsageMetrics, UsageQuery, UsageSeries, View},
};
use maud::{Markup, html};

use crate::{
    answer::{Answer, Failure},
    view::{
        form,
        layout::{self, Head, Section},
        number::grouped,
        part::{
            Column::{Number, Text},
            Standing, chip, empty, facts, table,
        },
        plot::{Mark, Plot, Point, Room, Shape},
        time,
    },
    visit::Visit,
};

/// Subscriptions and alerts of the page.
const ROWS: usize = 50;
/// Plots of usage: of metrics, or of their groups.
const PLOTS: usize = 24;
/// Ledgers whose balance is drawn, and entries of each.
const LEDGERS: usize = 4;
const ENTRIES: usize = 60;

/// Shows a customer.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let id: CustomerId = visit.id("customer")?;
    let customer = account.fetch_customer(id).await?;
    let filter = SubscriptionFilter { customers: vec![id.into()], ..SubscriptionFilter::default() };
    let subscriptions = account.list_subscriptions(&filter, &PageRequest::first(ROWS)?).await?.data;
    let now = account.billing().now();
    let is_active = |of: &&Subscription| of.status(now) == SubscriptionStatus::Active;
    let active: Vec<_> = subscriptions.iter().filter(is_active).collect();
    // The one that the query chooses, else the newest.
    let chosen = visit.query.get("subscription").and_then(|id| id.parse().ok());
    let shown = active.iter().find(|of| Some(of.id) == chosen).or(active.first());
    let all = ListFilter::default();
    let rows = PageRequest::first(ROWS)?;
    let mut alerts = account.list_customer_alerts(id, &all, &rows).await?.data;
    if let Some(subscription) = shown {
        alerts.extend(account.list_subscription_alerts(subscription.id, &all, &rows).await?.data);
    }
    let figures = match shown {
        Some(subscription) => of_subscription(visit, &account, subscription, &alerts).await?,
        None => empty(
            "No active subscription",
            "Usage and cost are those of a subscription: a program of the account creates it over the API.",
        ),
    };
    let balances = account.credit_balances(id).await?;
    let content = html! {
        (facts_of(&customer))
        (subscription_table(&subscriptions, shown.map(|of| of.id), now))
        (figures)
        (balance_section(&account, &customer, &balances, &alerts).await?)
        (alert_section(visit, &alerts, shown.map(|of| of.id)))
    };
    let above = vec![("Customers".to_owned(), visit.in_account(&["customers"]))];
    let head = Head { title: &customer.name, section: Section::Customers, above };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

fn facts_of(customer: &Customer) -> Markup {
    let alias = customer.external_customer_id.as_deref().unwrap_or("–");
    facts(&[
        ("External id", html! { span.id { (alias) } }),
        ("E-mail address", html! { (customer.email) }),
        ("Currency", html! { (customer.currency.map_or("–", accrue::Currency::code)) }),
        ("Time zone", html! { (customer.timezone) }),
        ("Balance of invoices", html! { (grouped(&customer.balance)) }),
        ("Created (UTC)", time::instant(customer.created_at)),
        ("Id", html! { span.id { (customer.id) } }),
    ])
}

fn subscription_table(
    subscriptions: &[Subscription],
    shown: Option<accrue::SubscriptionId>,
    now: accrue::Timestamp,
) -> Markup {
    if subscriptions.is_empty() {
        return html! {};
    }
    let rows = html! {
        @for of in subscriptions {
            @let id = of.id.to_string();
            tr {
                th scope="row" {
                    a href=(format!("?subscription={id}")) aria-current=[(shown == Some(of.id)).then_some("true")] {
                        (of.name.as_deref().unwrap_or(&id))
                    }
                }
                td {
                    @match of.status(now) {
                        SubscriptionStatus::Active => (chip(Standing::Good, "Active")),
                        SubscriptionStatus::Upcoming => (chip(Standing::Wait, "Upcoming")),
                        _ => (chip(Standing::Off, "Ended")),
                    }
                }
                td { (of.currency.code()) }
                td { (time::instant(of.start_date)) }
                td { (time::maybe(of.end_date)) }
            }
        }
    };
    table(
        "Subscriptions",
        &[
            Text("Subscription"),
            Text("Status"),
            Text("Currency"),
            Text("From (UTC)"),
            Text("To (UTC)"),
        ],
        &rows,
    )
}

/// Draws usage and cost of the current billing period, each day from its start, with the thresholds that
/// watch them.
async fn of_subscription(
    visit: &Visit,
    account: &Account,
    subscription: &Subscription,
    alerts: &[Alert],
) -> Result<Markup, Failure> {
    let property = visit.query.get("group").map(accrue::PropertyName::parse).and_then(Result::ok);
    let query = UsageQuery {
        view: View::Cumulative,
        metrics: UsageMetrics::Priced,
        group_by: property.clone(),
        with_missing: true,
        ..UsageQuery::default()
    };
    let usage = known(account.subscription_usage_over(subscription.id, &query).await)?;
    let query = CostQuery { view: View::Cumulative, ..CostQuery::default() };
    let costs = known(account.subscription_costs(subscription.id, &query).await)?;
    let price_rows = costs.last().map(cost_rows);
    Ok(html! {
        section aria-labelledby="cost-title" {
            h2 id="cost-title" { "Cost of this billing period" }
            @if costs.is_empty() {
                (empty("No cost yet", "The billing period has just begun."))
            } @else {
                (cost_plot(&costs, alerts).draw())
            }
            @if let Some(rows) = price_rows { (table("Cost by price", &[Text("Price"), Number("Quantity"), Number("Cost")], &rows)) }
        }
        section aria-labelledby="usage-title" {
            h2 id="usage-title" { "Usage of this billing period" }
            form.row method="get" {
                @if let Some(of) = visit.query.get("subscription") { input type="hidden" name="subscription" value=(of); }
                div.field {
                    label for="group" { "Group by a property" }
                    input id="group" name="group" type="text" value=[property.as_deref()] autocomplete="off";
                }
                button type="submit" { "Group" }
            }
            @if usage.is_empty() {
                (empty("No usage yet", "The prices of the subscription measure nothing, or no event came yet."))
            }
            div.plots { @for (at, series) in usage.iter().enumerate().take(PLOTS) { (usage_plot(&format!("plot-usage-{at}"), series, alerts).draw()) } }
        }
    })
}

/// Takes what cannot be said now for nothing.
fn known<T>(result: Result<Vec<T>, accrue::Error>) -> Result<Vec<T>, Failure> {
    match result {
        Ok(found) => Ok(found),
        Err(error) if error.kind() == ErrorKind::Internal => Err(error.into()),
        Err(_) => Ok(Vec::new()),
    }
}

fn cost_plot(costs: &[Cost], alerts: &[Alert]) -> Plot<'static> {
    let unit = costs.last().map_or("", |cost| cost.currency.as_str());
    let is_on_cost = |of: &&Alert| match &of.condition {
        Condition::CostExceeded { currency } => currency.as_str() == unit,
        _ => false,
    };
    let points = costs.iter().map(|cost| Point {
        label: time::day(last_instant(cost.timeframe)),
        value: Some(cost.total.clone()),
    });
    Plot {
        id: "plot-cost",
        title: "Cost so far".to_owned(),
        unit: unit.to_owned(),
        over: "Up to",
        shape: Shape::Line,
        room: Room::All,
        points: points.collect(),
        marks: marks(alerts.iter().filter(is_on_cost)),
    }
}

fn usage_plot<'a>(id: &'a str, series: &UsageSeries, alerts: &[Alert]) -> Plot<'a> {
    let watches = |of: &&Alert| of.condition.metric_id() == Some(series.metric_id);
    let watching = alerts.iter().filter(watches).filter(|_| series.group.is_none());
    let points = series.usage.iter().map(|slot| Point {
        label: time::day(last_instant(slot.timeframe)),
        value: slot.quantity.clone(),
    });
    let of = series.group.as_ref();
    let group = of.map(|of| (&of.property, of.value.as_deref().unwrap_or("(none)")));
    Plot {
        id,
        title: match group {
            Some((property, value)) => format!("{}, {property} {value}", series.name),
            None => series.name.to_string(),
        },
        unit: "usage".to_owned(),
        over: "Up to",
        shape: Shape::Line,
        room: Room::Half,
        points: points.collect(),
        marks: marks(watching),
    }
}

/// Returns the last instant of a timeframe, whose day is the one that it ends with.
fn last_instant(timeframe: accrue::Timeframe) -> accrue::Timestamp {
    timeframe.end().saturating_sub(std::time::Duration::from_micros(1)).max(timeframe.start())
}

fn marks<'a>(alerts: impl Iterator<Item = &'a Alert>) -> Vec<Mark> {
    let marks = alerts.filter(|alert| alert.enabled).flat_map(|alert| {
        let values = alert.threshold_values().iter();
        values.map(|value| Mark { value: value.clone(), label: "Alert at".to_owned() })
    });
    marks.collect()
}

fn cost_rows(cost: &Cost) -> Markup {
    html! {
        @for line in &cost.lines {
            tr {
                th scope="row" { (line.name) }
                td.number { (grouped(&line.quantity)) }
                td.number { (grouped(&line.total)) " " (line.currency) }
            }
        }
        tr.total {
            th scope="row" { "Total" }
            td {}
            td.number { (grouped(&cost.total)) " " (cost.currency) }
        }
    }
}

async fn balance_section(
    account: &Account,
    customer: &Customer,
    balances: &[CreditBalance],
    alerts: &[Alert],
) -> Result<Markup, Failure> {
    let known: Vec<_> = balances.iter().filter(|of| of.balance.is_some()).collect();
    let mut plots = Vec::new();
    for of in known.iter().take(LEDGERS) {
        plots.push(balance_plot(account, customer, &of.currency, alerts).await?);
    }
    let rows = html! {
        @for of in &known {
            tr {
                th scope="row" { (of.currency) }
                td.number { (of.balance.as_ref().map(grouped).unwrap_or_default()) }
                td.number { (grouped(&of.available)) }
                td.number { (grouped(&of.overdraft)) }
            }
        }
    };
    Ok(html! {
        section aria-labelledby="balance-title" {
            h2 id="balance-title" { "Credits" }
            @if known.is_empty() {
                (empty("No credits", "They are given over the API, or bought with an invoice; usage draws them down."))
            } @else {
                (table("Balances", &[Text("Unit"), Number("Balance"), Number("Available"), Number("Overdraft")], &rows))
                div.plots { @for plot in plots { (plot) } }
            }
        }
    })
}

/// Draws a balance after each of the last entries of its ledger.
async fn balance_plot(
    account: &Account,
    customer: &Customer,
    unit: &PricingUnit,
    alerts: &[Alert],
) -> Result<Markup, Failure> {
    let page = PageRequest::first_of_ledger(ENTRIES)?;
    let any = LedgerFilter::default();
    let mut entries = account.list_ledger_entries(customer.id, unit, &any, &page).await?.data;
    entries.reverse();
    let points = entries.iter().map(|entry| Point {
        label: time::hour(entry.created_at),
        value: Some(entry.ending_balance.clone()),
    });
    let watches = |of: &&Alert| of.condition.ledger() == Some(unit);
    let id = format!(
        "plot-balance-{}",
        unit.as_str().bytes().map(|byte| format!("{byte:02x}")).collect::<String>()
    );
    let plot = Plot {
        id: &id,
        title: format!("Balance of {unit} after each entry"),
        unit: unit.to_string(),
        over: "Entry (UTC)",
        shape: Shape::Line,
        room: Room::Half,
        points: points.collect::<Vec<_>>(),
        marks: marks(alerts.iter().filter(watches)),
    };
    Ok(plot.draw())
}

fn alert_section(visit: &Visit, alerts: &[Alert], shown: Option<SubscriptionId>) -> Markup {
    let own = shown.filter(|_| visit.may(Role::Operate)).map(|id| id.to_string());
    let to = |parts: &[&str]| {
        let subscription = own.as_deref().unwrap_or_default();
        visit.in_account(&[&["subscriptions", subscription, "alerts"], parts].concat())
    };
    let is_own = |alert: &Alert| matches!(alert.scope, Scope::Subscription { .. }) && own.is_some();
    let rows = html! {
        @for alert in alerts {
            tr {
                th scope="row" { code { (alert.condition.alert_type()) } }
                td { @if alert.enabled { (chip(Standing::Good, "Enabled")) } @else { (chip(Standing::Off, "Disabled")) } }
                td.number { (values(alert.threshold_values())) }
                td { (time::instant(alert.created_at)) }
                td {
                    @if is_own(alert) {
                        (form::button(visit, &to(&[&alert.id.to_string(), "delete"]), "Delete", "quiet"))
                    } @else { "–" }
                }
            }
        }
    };
    html! {
        section aria-labelledby="alerts-title" {
            h2 id="alerts-title" { "Alerts" }
            @if own.is_some() { p { a.button href=(to(&["new"])) { "New alert" } } }
            @if alerts.is_empty() {
                (empty("No alerts", "An alert fires in the commit that moves a value over its threshold."))
            } @else {
                (table("Alerts of the customer, and of the subscription shown", &[Text("Watches"), Text("Status"), Number("Thresholds"), Text("Created (UTC)"), Text("Actions")], &rows))
            }
        }
    }
}

fn values(values: &[Decimal]) -> String {
    if values.is_empty() {
        return "–".to_owned();
    }
    values.iter().map(grouped).collect::<Vec<_>>().join(", ")
}
