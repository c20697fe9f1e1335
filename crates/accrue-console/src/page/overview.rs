//! Overview of an account: events by the hour, what waits, the newest customers with what they cost.

use std::time::Duration;

use accrue::{
    Account, Decimal, ListFilter, Page, PageRequest, PricingUnit, Timeframe, Timestamp,
    cost::CostQuery,
    customer::Customer,
    usage::{EventVolume, EventVolumeQuery},
    webhook::{Message, SentMessage, SentMessageFilter},
};
use maud::{Markup, html};

use crate::{
    answer::{Answer, Failure},
    view::{
        layout::{self, Head, Section},
        number::{count, money},
        part::{
            Column::{Number, Text},
            empty, figure, table,
        },
        plot::{Plot, Point, Room, Shape},
        time,
    },
    visit::Visit,
};

/// Hours of the plot of events.
const HOURS: u64 = 48;
/// Customers whose costs are shown.
const CUSTOMERS: usize = 8;
/// Messages that are shown.
const MESSAGES: usize = 8;
/// Messages that are counted: those that nobody has taken yet, and those that an endpoint has not.
const WAITING: usize = 100;
const UNDELIVERED: usize = 20;

/// Shows the overview.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let now = account.billing().now();
    let volumes = volumes(&account, now).await?;
    let waiting = account.list_messages(&PageRequest::first_of_messages(WAITING)?).await?;
    let customers =
        account.list_customers(&ListFilter::default(), &PageRequest::first(CUSTOMERS)?).await?;
    let costs = costs(&account, &customers.data, now).await?;
    let filter = SentMessageFilter { without_payload: true, ..SentMessageFilter::default() };
    let sent = account.list_sent_messages(&filter, &PageRequest::first(MESSAGES)?).await?.data;
    let (undelivered, is_more) = undelivered(&account, &waiting).await?;
    let day: u64 = volumes.iter().rev().take(24).map(|of| of.count).sum();
    let seconds = now.micros().rem_euclid(3_600_000_000) / 1_000_000;
    let last = volumes.last().map_or(0, |of| of.count);
    let points = volumes.iter().map(|of| Point {
        label: time::hour(of.timeframe.start()),
        value: Some(Decimal::from(of.count)),
    });
    let plot = Plot {
        id: "plot-events",
        title: "Events by the hour".to_owned(),
        unit: "events".to_owned(),
        over: "Hour (UTC)",
        shape: Shape::Bars,
        room: Room::All,
        points: points.collect(),
        marks: Vec::new(),
    };
    let content = html! {
        dl.figures {
            (figure("Events in this hour", &count(last), &format!("{} of 60 minutes", seconds / 60)))
            (figure("Events in 24 hours", &count(day), &rate(day)))
            (figure("Messages not delivered", &count(undelivered), if is_more { "or more" } else { "of 30 days" }))
        }
        section aria-label="Events" { (plot.draw()) }
        section aria-labelledby="costs-title" {
            h2 id="costs-title" { "Cost today of the newest customers" }
            p.note { "Only the newest " (CUSTOMERS) " customers: the engine keeps no cost of the whole account." }
            (cost_table(visit, &costs))
        }
        section aria-labelledby="fires-title" {
            h2 id="fires-title" { "Messages" }
            (message_table(visit, &sent, &waiting.data))
        }
    };
    let head = Head { title: "Overview", section: Section::Overview, above: Vec::new() };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Counts the messages that wait, those that some endpoint has not taken among them, and tells whether there are more.
async fn undelivered(account: &Account, waiting: &Page<Message>) -> Result<(u64, bool), Failure> {
    let filter = SentMessageFilter {
        is_delivered: Some(false),
        without_payload: true,
        ..SentMessageFilter::default()
    };
    // Each is read with all of its attempts.
    let sent = account.list_sent_messages(&filter, &PageRequest::first(UNDELIVERED)?).await?;
    let count = waiting.data.len().saturating_add(sent.data.len());
    Ok((count.try_into().unwrap_or(u64::MAX), waiting.has_more() || sent.has_more()))
}

/// Says how often that is, over the shortest time in which there is one.
fn rate(events_of_a_day: u64) -> String {
    let over = [("a second", 86_400), ("a minute", 1_440), ("an hour", 24)];
    let shown = over.into_iter().find(|(_, times)| events_of_a_day >= *times);
    let Some((name, times)) = shown else { return String::new() };
    // Half of the last digit is rounded up.
    let tenths = events_of_a_day.saturating_mul(10).saturating_add(times / 2) / times;
    format!("{}.{} {name}", count(tenths / 10), tenths % 10)
}

/// Reads the events of each hour, oldest first, those without any too.
async fn volumes(account: &Account, now: Timestamp) -> Result<Vec<EventVolume>, Failure> {
    let since = now.saturating_sub(Duration::from_secs((HOURS - 1) * 60 * 60));
    let query = EventVolumeQuery::since(since);
    let mut page = PageRequest::first(100)?;
    let mut found = Vec::new();
    loop {
        let next = account.event_volume(query, &page).await?;
        found.extend(next.data);
        let Some(cursor) = next.next_cursor else { break };
        page = page.after(cursor);
    }
    found.sort_by_key(|of| of.timeframe.start());
    Ok(found)
}

/// Reads what customers cost since midnight, in UTC.
async fn costs(
    account: &Account,
    customers: &[Customer],
    now: Timestamp,
) -> Result<Vec<(Customer, Option<(Decimal, PricingUnit)>)>, Failure> {
    let day = now.micros().rem_euclid(86_400_000_000).try_into().unwrap_or(0);
    let today = Timeframe::new(now.saturating_sub(Duration::from_micros(day)), now).ok();
    let mut found = Vec::new();
    for customer in customers {
        let cost = match today.filter(|today| today.start() < today.end()) {
            Some(today) => {
                let query = CostQuery { timeframe: today.into(), ..CostQuery::default() };
                match account.customer_costs(customer.id, &query).await {
                    Ok(costs) => costs.into_iter().next(),
                    // What cannot be said now is left out: the others can.
                    Err(error) if error.kind() != accrue::ErrorKind::Internal => None,
                    Err(error) => return Err(error.into()),
                }
            }
            None => None,
        };
        let cost = cost.map(|cost| (cost.total, cost.currency));
        found.push((customer.clone(), cost));
    }
    Ok(found)
}

fn cost_table(visit: &Visit, costs: &[(Customer, Option<(Decimal, PricingUnit)>)]) -> Markup {
    if costs.is_empty() {
        return empty("No customers yet", "A program creates them over the API, with an API key.");
    }
    let rows = html! {
        @for (customer, cost) in costs {
            tr {
                th scope="row" { a href=(visit.in_account(&["customers", &customer.id.to_string()])) { (customer.name) } }
                td.number {
                    @match cost { Some((total, unit)) => (money(total, unit)), None => "–" }
                }
            }
        }
    };
    table("Cost since midnight (UTC)", &[Text("Customer"), Number("Cost")], &rows)
}

fn message_table(visit: &Visit, sent: &[SentMessage], waiting: &[Message]) -> Markup {
    if sent.is_empty() && waiting.is_empty() {
        return empty(
            "Nothing has fired yet",
            "Alerts that fire, and what happens to customers and invoices, are messages: add a webhook endpoint, or take them in the host's program.",
        );
    }
    let rows = html! {
        @for message in waiting.iter().rev().take(MESSAGES) {
            tr {
                td { (time::instant(message.created_at)) }
                th scope="row" {
                    a href=(visit.in_account(&["messages", &message.id.to_string()])) { code { (message.message_type()) } }
                }
                td { (crate::view::part::chip(crate::view::part::Standing::Wait, "Waits")) }
            }
        }
        @for message in sent {
            tr {
                td { (time::instant(message.created_at)) }
                th scope="row" {
                    a href=(visit.in_account(&["messages", &message.id.to_string()])) { code { (message.message_type) } }
                }
                td { (super::webhooks::standing(message)) }
            }
        }
    };
    table("Newest messages", &[Text("At (UTC)"), Text("Type"), Text("Status")], &rows)
}

#[cfg(test)]
mod tests {
    use super::rate;

    #[test]
    fn a_rate_says_something() {
        assert_eq!(rate(0), "");
        assert_eq!(rate(23), "");
        assert_eq!(rate(60), "2.5 an hour");
        assert_eq!(rate(1_440), "1.0 a minute");
        assert_eq!(rate(86_400_000), "1,000.0 a second");
    }
}
