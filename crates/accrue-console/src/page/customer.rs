//! One customer: what it is, its subscriptions, its invoices, what credits it has left, and its alerts.

use accrue::{
    Account, CustomerId, ListFilter, PageRequest, PricingUnit, Timestamp,
    alert::Alert,
    cost::{Cost, CostQuery},
    credit::CreditBalance,
    customer::Customer,
    related::Related,
    subscription::{Subscription, SubscriptionFilter, SubscriptionStatus},
    usage::View,
};
use maud::{Markup, html};

use super::{
    alerts::{alert_table, known},
    ledger, subscription,
};
use crate::{
    answer::{Answer, Failure},
    view::{
        layout::{self, Head, Section},
        number::money,
        part::{
            Column::{Number, Text},
            Standing, chip, empty, facts, table,
        },
        plot::Room,
        time,
    },
    visit::Visit,
};

/// Subscriptions and alerts of the page.
const ROWS: usize = 50;
/// Subscriptions whose cost is computed.
const COSTS: usize = 10;
/// Subscriptions whose cost is drawn.
const PLOTS: usize = 4;
/// Ledgers whose balance is drawn.
const LEDGERS: usize = 4;

/// Shows a customer.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let id: CustomerId = visit.id("customer")?;
    let customer = account.fetch_customer(id).await?;
    let all = ListFilter::default();
    let so_far = CostQuery { view: View::Cumulative, ..CostQuery::default() };
    let filter = SubscriptionFilter { customers: vec![id.into()], ..SubscriptionFilter::default() };
    let subscriptions = account.list_subscriptions(&filter, &PageRequest::first(ROWS)?).await?.data;
    let now = account.billing().now();
    let related = account.related(&subscriptions).await?;
    let (mut rows, mut plots) = (Vec::new(), Vec::new());
    for (at, of) in subscriptions.iter().enumerate() {
        let costs = match of.status(now) == SubscriptionStatus::Active && rows.len() < COSTS {
            true => known(account.subscription_costs(of.id, &so_far).await)?,
            false => Vec::new(),
        };
        let title = subscription::title(of, &related);
        rows.push(subscription_row(visit, of, &title, costs.last(), now));
        if !costs.is_empty() && plots.len() < PLOTS {
            let (id, title) = (format!("plot-cost-{at}"), format!("{title}: cost so far"));
            let page = PageRequest::first(ROWS)?;
            let alerts = account.list_subscription_alerts(of.id, &all, &page).await;
            let alerts = known(alerts.map(|page| page.data))?;
            plots.push(subscription::cost_plot(&id, title, Room::Half, &costs, &alerts).draw());
        }
    }
    let alerts = alerts(&account, id).await?;
    let balances = known(account.credit_balances(id).await)?;
    let content = html! {
        (facts_of(visit, &customer, &account.related(&customer).await?))
        section aria-labelledby="subscriptions-title" {
            h2 id="subscriptions-title" { "Subscriptions" }
            @if rows.is_empty() {
                (empty("No subscription", "Usage and cost are those of a subscription: a program of the account creates it over the API."))
            } @else {
                (table(
                    "Subscriptions, newest first",
                    &[Text("Subscription"), Text("Status"), Text("From (UTC)"), Text("To (UTC)"), Number("Cost of this billing period")],
                    &html! { @for row in &rows { (row) } },
                ))
                div.plots { @for plot in &plots { (plot) } }
            }
        }
        (super::invoices::of_customer(visit, id).await?)
        (balance_section(visit, &account, &customer, &balances, &alerts).await?)
        section aria-labelledby="alerts-title" {
            h2 id="alerts-title" { "Alerts on credits" }
            (alert_table(visit, &alerts, None))
        }
    };
    let above = vec![("Customers".to_owned(), visit.in_account(&["customers"]))];
    let head = Head { title: &customer.name, section: Section::Customers, above };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Reads the alerts on the credits of a customer.
pub(super) async fn alerts(account: &Account, id: CustomerId) -> Result<Vec<Alert>, Failure> {
    let page = PageRequest::first(ROWS)?;
    let found = account.list_customer_alerts(id, &ListFilter::default(), &page).await;
    known(found.map(|page| page.data))
}

/// Links customers that were not deleted, by their names.
pub(super) fn customer_links<'c>(
    visit: &Visit,
    customers: impl IntoIterator<Item = &'c CustomerId>,
    related: &Related,
) -> Markup {
    let found = customers.into_iter().filter_map(|id| related.customer(*id));
    html! {
        @for (place, of) in found.enumerate() {
            @if place > 0 { ", " }
            a href=(visit.in_account(&["customers", &of.id.to_string()])) { (of.name) }
        }
    }
}

fn facts_of(visit: &Visit, customer: &Customer, related: &Related) -> Markup {
    let alias = customer.external_customer_id.as_deref().unwrap_or("–");
    let balance = match customer.currency {
        Some(currency) => money(&customer.balance, &currency.into()),
        None => customer.balance.to_string(),
    };
    let family = &customer.hierarchy;
    let mut all = vec![
        ("External id", html! { span.id { (alias) } }),
        ("E-mail address", html! { (customer.email) }),
        ("Currency", html! { (customer.currency.map_or("–", accrue::Currency::code)) }),
        ("Time zone", html! { (customer.timezone) }),
        ("Balance of invoices", html! { (balance) }),
        ("Created (UTC)", time::instant(customer.created_at)),
        ("Id", html! { span.id { (customer.id) } }),
    ];
    if family.parent.is_some() {
        all.push(("Child of", customer_links(visit, &family.parent, related)));
    }
    if !family.children.is_empty() {
        all.push(("Parent of", customer_links(visit, &family.children, related)));
    }
    facts(&all)
}

fn subscription_row(
    visit: &Visit,
    of: &Subscription,
    title: &str,
    cost: Option<&Cost>,
    now: Timestamp,
) -> Markup {
    let id = of.id.to_string();
    html! {
        tr {
            th scope="row" {
                a href=(visit.in_account(&["subscriptions", &id])) { (title) }
            }
            td { (standing(of, now)) }
            td { (time::instant(of.start_date)) }
            td { (time::maybe(of.end_date)) }
            td.number { @match cost { Some(cost) => (money(&cost.total, &cost.currency)), None => "–" } }
        }
    }
}

/// Shows how a subscription stands.
pub(super) fn standing(of: &Subscription, now: Timestamp) -> Markup {
    match of.status(now) {
        SubscriptionStatus::Active => chip(Standing::Good, "Active"),
        SubscriptionStatus::Upcoming => chip(Standing::Wait, "Upcoming"),
        _ => chip(Standing::Off, "Ended"),
    }
}

async fn balance_section(
    visit: &Visit,
    account: &Account,
    customer: &Customer,
    balances: &[CreditBalance],
    alerts: &[Alert],
) -> Result<Markup, Failure> {
    let known: Vec<_> = balances.iter().filter(|of| of.balance.is_some()).collect();
    let mut plots = Vec::new();
    for of in known.iter().take(LEDGERS) {
        plots.push(ledger::plot(account, customer, &of.currency, alerts, Room::Half).await?);
    }
    let id = customer.id.to_string();
    let to = |unit: &PricingUnit| visit.in_account(&["customers", &id, "credits", unit]);
    let rows = html! {
        @for of in &known {
            tr {
                th scope="row" { a href=(to(&of.currency)) { (of.currency) } }
                td.number { (of.balance.as_ref().map(|left| money(left, &of.currency)).unwrap_or_default()) }
                td.number { (money(&of.available, &of.currency)) }
                td.number { (money(&of.overdraft, &of.currency)) }
            }
        }
    };
    Ok(html! {
        section aria-labelledby="balance-title" {
            h2 id="balance-title" { "Credits" }
            @if known.is_empty() {
                (empty("No credits", "They are given by subscriptions and over the API, or bought with an invoice; usage draws them down."))
            } @else {
                (table("Balances: each leads to its blocks and entries", &[Text("Unit"), Number("Balance"), Number("Available"), Number("Overdraft")], &rows))
                div.plots { @for plot in plots { (plot) } }
            }
        }
    })
}
