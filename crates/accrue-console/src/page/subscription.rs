//! One subscription: what it is, what it costs and uses in a billing period, price by price and group by group, and its
//! alerts.

use accrue::{
    Account, Decimal, ListFilter, PageRequest, PropertyName, SubscriptionId, Timeframe, Timestamp,
    alert::{Alert, Condition},
    cost::{Cost, CostLine, CostQuery},
    person::Role,
    plan::Plan,
    related::Related,
    subscription::Subscription,
    usage::{UsageMetrics, UsageQuery, UsageSeries, View},
};
use maud::{Markup, html};

use super::{
    alerts::{alert_table, known, marks},
    customer::{customer_links, standing},
    invoice::part_text,
    period::{Period, kept, last_instant},
};
use crate::{
    answer::{Answer, Failure},
    view::{
        form::{Control, Faults, Field, Form},
        layout::{self, Head, Section},
        number::{grouped, money},
        part::{
            Column::{Number, Text},
            empty, facts, table,
        },
        plot::{Plot, Point, Room, Shape},
        time,
    },
    visit::Visit,
};

/// Alerts of the page.
const ROWS: usize = 50;
/// Plots of usage: of metrics, or of their groups.
const PLOTS: usize = 24;
/// Parts of a line that are shown.
const PARTS: usize = 20;

/// Shows a subscription.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let id: SubscriptionId = visit.id("subscription")?;
    let subscription = account.fetch_subscription(id).await?;
    let related = account.related(&subscription).await?;
    let customer = account.fetch_customer(subscription.customer_id).await?;
    let (all, rows) = (ListFilter::default(), PageRequest::first(ROWS)?);
    let alerts = account.list_subscription_alerts(id, &all, &rows).await;
    let alerts = known(alerts.map(|page| page.data))?;
    let path = visit.in_account(&["subscriptions", &id.to_string()]);
    let now = account.billing().now();
    let period = Period::chosen(visit, &subscription, now);
    let content = html! {
        (facts_of(visit, &subscription, &related, now))
        (period.form(visit))
        (cost_section(&account, id, &period, &alerts).await?)
        (usage_section(visit, &account, id, &period, &alerts).await?)
        section aria-labelledby="alerts-title" {
            h2 id="alerts-title" { "Alerts" }
            @if visit.may(Role::Operate) { p { a.button href=(format!("{path}/alerts/new")) { "New alert" } } }
            (alert_table(visit, &alerts, Some(id)))
        }
    };
    let above = vec![
        ("Customers".to_owned(), visit.in_account(&["customers"])),
        (customer.name.to_string(), visit.in_account(&["customers", &customer.id.to_string()])),
    ];
    let head = Head { title: &title(&subscription, &related), section: Section::Customers, above };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Names a subscription: by its plan, where it has no name of its own.
pub(super) fn title(of: &Subscription, related: &Related) -> String {
    match (&of.name, of.plan_id.and_then(|id| related.plan(id))) {
        (Some(name), _) => format!("Subscription {name}"),
        (None, Some(plan)) => format!("Subscription to {}", plan.name),
        (None, None) => "Subscription".to_owned(),
    }
}

fn facts_of(visit: &Visit, of: &Subscription, related: &Related, now: Timestamp) -> Markup {
    let plan = of.plan_id.and_then(|id| related.plan(id));
    let span = |of: Option<Timeframe>| {
        html! {
            @match of {
                Some(of) => { (time::instant(of.start())) " to " (time::instant(of.end())) }
                None => { span.none { "–" } }
            }
        }
    };
    let mut all = vec![
        ("Status", standing(of, now)),
        ("Customer", customer_links(visit, [&of.customer_id], related)),
        (
            "Plan",
            match plan {
                Some(plan) => plan_link(visit, plan, of.plan_version.number()),
                None => html! { "None: a contract" },
            },
        ),
        ("Currency", html! { (of.currency.code()) }),
        ("From (UTC)", time::instant(of.start_date)),
        ("To (UTC)", time::maybe(of.end_date)),
        (
            "Billed every",
            html! { (of.billing_cycle()) ", from day " (of.billing_cycle_day()) " on" },
        ),
        ("This billing period (UTC)", span(of.periods().containing(now))),
        ("This term (UTC)", span(of.terms().containing(now))),
        ("Time zone", html! { (of.timezone) }),
        ("Id", html! { span.id { (of.id) } }),
    ];
    if let Some(customers) = &of.usage_customers {
        all.push(("Counts the usage of", customer_links(visit, customers.ids(), related)));
    }
    facts(&all)
}

fn plan_link(visit: &Visit, plan: &Plan, version: u32) -> Markup {
    let path = visit.in_account(&["plans", &plan.id.to_string()]);
    html! { a href=(format!("{path}?version={version}")) { (plan.name) ", version " (version) } }
}

async fn cost_section(
    account: &Account,
    id: SubscriptionId,
    period: &Period,
    alerts: &[Alert],
) -> Result<Markup, Failure> {
    let timeframe = period.timeframe();
    let query = CostQuery { timeframe, view: View::Cumulative, ..CostQuery::default() };
    let costs = known(account.subscription_costs(id, &query).await)?;
    Ok(html! {
        section aria-labelledby="cost-title" {
            h2 id="cost-title" { "Cost of " (period.title()) }
            @match costs.last() {
                None => (empty("No cost yet", "The billing period has just begun, or the subscription is not active.")),
                Some(last) => {
                    (cost_plot("plot-cost", "Cost so far".to_owned(), Room::All, &costs, alerts).draw())
                    (price_plots(&costs, last))
                    (table("Cost by price", &[Text("Price"), Number("Quantity"), Number("Before adjustments"), Number("Cost")], &cost_rows(last)))
                }
            }
        }
    })
}

fn cost_rows(cost: &Cost) -> Markup {
    html! {
        @for line in &cost.lines {
            tr {
                th scope="row" { (line.name) }
                td.number { (grouped(&line.quantity)) }
                td.number { (money(&line.subtotal, &line.currency)) }
                td.number { (money(&line.total, &line.currency)) }
            }
            (part_rows(line))
        }
        tr.total {
            th scope="row" { "Total" }
            td {}
            td.number { (money(&cost.subtotal, &cost.currency)) }
            td.number { (money(&cost.total, &cost.currency)) }
        }
    }
}

/// Shows the parts of a line, where it has several.
fn part_rows(line: &CostLine) -> Markup {
    let parts: Vec<_> = line.parts.iter().filter(|part| !part.quantity.is_zero()).collect();
    html! {
        @if parts.len() > 1 {
            @for part in parts.iter().take(PARTS) {
                tr.sub {
                    th scope="row" { (part_text(part)) ", " (money(&part.unit_amount, &line.currency)) " each" }
                    td.number { (grouped(&part.quantity)) }
                    td.number { (money(&part.amount, &line.currency)) }
                    td {}
                }
            }
        }
        @if parts.len() > PARTS { tr.sub { th scope="row" { (parts.len() - PARTS) " parts more" } td {} td {} td {} } }
    }
}

/// Plots what there is to pay so far, with the thresholds of alerts on it.
pub(super) fn cost_plot<'a>(
    id: &'a str,
    title: String,
    room: Room,
    costs: &[Cost],
    alerts: &[Alert],
) -> Plot<'a> {
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
        id,
        title,
        unit: unit.to_owned(),
        over: "Up to",
        shape: Shape::Line,
        room,
        points: points.collect(),
        marks: marks(alerts.iter().filter(is_on_cost)),
    }
}

/// Draws the cost of each price, where there are several.
fn price_plots(costs: &[Cost], last: &Cost) -> Markup {
    let points = |at: usize| {
        costs.iter().map(move |cost| Point {
            label: time::day(last_instant(cost.timeframe)),
            value: cost.lines.get(at).map(|line| line.total.clone()),
        })
    };
    let plot = |at: usize, line: &CostLine| {
        let plot = Plot {
            id: &format!("plot-price-{at}"),
            title: format!("Cost of {} so far", line.name),
            unit: line.currency.to_string(),
            over: "Up to",
            shape: Shape::Line,
            room: Room::Half,
            points: points(at).collect(),
            marks: Vec::new(),
        };
        plot.draw()
    };
    html! {
        @if last.lines.len() > 1 {
            div.plots { @for (at, line) in last.lines.iter().enumerate().take(PLOTS) { (plot(at, line)) } }
        }
        @if last.lines.len() > PLOTS { p.note { (last.lines.len() - PLOTS) " prices more are not drawn." } }
    }
}

async fn usage_section(
    visit: &Visit,
    account: &Account,
    id: SubscriptionId,
    period: &Period,
    alerts: &[Alert],
) -> Result<Markup, Failure> {
    let mut faults = Faults::default();
    let property = visit.query.get("group").map(PropertyName::parse);
    let property = property.and_then(|property| faults.take("group", property));
    let query = UsageQuery {
        timeframe: period.timeframe(),
        view: View::Cumulative,
        metrics: UsageMetrics::Priced,
        group_by: property.clone(),
        with_missing: true,
        ..UsageQuery::default()
    };
    let usage = known(account.subscription_usage_over(id, &query).await)?;
    let form = Form { name: "usage", typed: &visit.query, faults: &faults };
    let field = Field {
        name: "group",
        label: "Group by a property",
        hint: "",
        control: Control::Text("text", "off"),
    };
    let plots = usage.iter().enumerate().take(PLOTS);
    Ok(html! {
        section aria-labelledby="usage-title" {
            h2 id="usage-title" { "Usage of " (period.title()) }
            form.row method="get" {
                (form.field(&field))
                (kept(visit, "period"))
                button type="submit" { "Group" }
            }
            @if usage.is_empty() {
                (empty("No usage yet", "The prices of the subscription measure nothing, or no event came yet."))
            }
            div.plots { @for (at, series) in plots { (usage_plot(&format!("plot-usage-{at}"), series, alerts).draw()) } }
            @if usage.len() > PLOTS { p.note { (usage.len() - PLOTS) " groups more are not shown." } }
        }
    })
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
    let last: Option<&Decimal> = series.usage.iter().rev().find_map(|slot| slot.quantity.as_ref());
    Plot {
        id,
        title: match group {
            Some((property, value)) => format!("{}, {property} {value}", series.name),
            None => series.name.to_string(),
        },
        unit: last.map_or_else(|| "usage".to_owned(), |last| format!("{} so far", grouped(last))),
        over: "Up to",
        shape: Shape::Line,
        room: Room::Half,
        points: points.collect(),
        marks: marks(watching),
    }
}
