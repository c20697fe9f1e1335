//! Ledger of a customer in a currency or pricing unit: its balance over time, its blocks and its entries.

use accrue::{
    Account, CustomerId, PageRequest, PricingUnit,
    alert::Alert,
    credit::{CreditBlock, CreditBlockFilter, EntryStatus, LedgerEntry, LedgerFilter},
    customer::Customer,
};
use maud::{Markup, html};

use super::{alerts::marks, invoice::words};
use crate::{
    answer::{Answer, Failure},
    view::{
        layout::{self, Head, Section},
        number::money,
        part::{
            Column::{Number, Text},
            Standing, chip, empty, figure, next, table,
        },
        plot::{Plot, Point, Room, Shape},
        time,
    },
    visit::Visit,
};

/// Entries of a plot, and of a page.
const PLOTTED: usize = 200;
const ENTRIES: usize = 50;
/// Blocks that are shown.
const BLOCKS: usize = 100;

/// Shows a ledger.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let customer = account.fetch_customer(visit.id::<CustomerId>("customer")?).await?;
    let unit: PricingUnit = visit.id("unit")?;
    let balance = account.credit_balance(customer.id, &unit).await?;
    let filter = CreditBlockFilter { include_all_blocks: true, ..CreditBlockFilter::default() };
    let page = PageRequest::first(BLOCKS)?;
    let blocks = account.list_credit_blocks(customer.id, &unit, &filter, &page).await?;
    let any = LedgerFilter::default();
    let page = visit.page_of(ENTRIES)?;
    let entries = account.list_ledger_entries(customer.id, &unit, &any, &page).await?;
    let alerts = super::customer::alerts(&account, customer.id).await?;
    let customer_id = customer.id.to_string();
    let path = visit.in_account(&["customers", &customer_id, "credits", &unit]);
    let content = html! {
        @if let Some(left) = &balance.balance {
            dl.figures {
                (figure("Balance", &money(left, &unit), ""))
                (figure("Available", &money(&balance.available, &unit), ""))
                (figure("Overdraft", &money(&balance.overdraft, &unit), ""))
            }
        }
        section aria-label="Balance over time" { (plot(&account, &customer, &unit, &alerts, Room::All).await?) }
        @if !blocks.data.is_empty() { (block_table(&blocks.data, &unit)) }
        @if blocks.has_more() { p.note { "The newest " (BLOCKS) " blocks are shown." } }
        @if entries.data.is_empty() {
            (empty("No entries", "Credits are given by subscriptions and over the API, or bought with an invoice; usage draws them down."))
        } @else {
            (entry_table(visit, &entries.data, &unit))
        }
        (next(&path, &[], entries.next_cursor.as_ref()))
    };
    let above = vec![
        ("Customers".to_owned(), visit.in_account(&["customers"])),
        (customer.name.to_string(), visit.in_account(&["customers", &customer_id])),
    ];
    let title = format!("Credits in {unit}");
    let head = Head { title: &title, section: Section::Customers, above };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Draws a balance after each of the last entries of its ledger, with what watches it.
pub(super) async fn plot(
    account: &Account,
    customer: &Customer,
    unit: &PricingUnit,
    alerts: &[Alert],
    room: Room,
) -> Result<Markup, Failure> {
    let page = PageRequest::first_of_ledger(PLOTTED)?;
    let any = LedgerFilter::default();
    let mut entries = account.list_ledger_entries(customer.id, unit, &any, &page).await?.data;
    entries.reverse();
    let points = entries.iter().map(|entry| Point {
        label: time::hour(entry.created_at),
        value: Some(entry.ending_balance.clone()),
    });
    let watches = |of: &&Alert| of.condition.ledger() == Some(unit);
    let digits: String = unit.as_str().bytes().map(|byte| format!("{byte:02x}")).collect();
    let plot = Plot {
        id: &format!("plot-balance-{digits}"),
        title: format!("Balance of {unit} after each entry"),
        unit: unit.to_string(),
        over: "Entry (UTC)",
        shape: Shape::Line,
        room,
        points: points.collect(),
        marks: marks(alerts.iter().filter(watches)),
    };
    Ok(plot.draw())
}

fn block_table(blocks: &[CreditBlock], unit: &PricingUnit) -> Markup {
    let rows = html! {
        @for of in blocks {
            tr {
                th.id scope="row" { (of.id) }
                td {
                    @if of.is_overdraft() { (chip(Standing::Bad, "Overdraft")) }
                    @else if of.is_pending() { (chip(Standing::Wait, "Waits for its payment")) }
                    @else if of.balance.is_zero() { (chip(Standing::Off, "Nothing left")) }
                    @else { (chip(Standing::Good, "Has credits")) }
                }
                td.number { (money(&of.balance, unit)) }
                td.number { @match &of.maximum_initial_balance { Some(of) => (money(of, unit)), None => "–" } }
                td { (time::maybe(of.effective_date)) }
                td { (time::maybe(of.expiry_date)) }
                td.number { @match &of.per_unit_cost_basis { Some(of) => (of), None => "–" } }
            }
        }
    };
    table(
        "Blocks, newest first",
        &[
            Text("Block"),
            Text("Status"),
            Number("Left"),
            Number("Of"),
            Text("From (UTC)"),
            Text("Expires (UTC)"),
            Number("Cost of a unit"),
        ],
        &rows,
    )
}

fn entry_table(visit: &Visit, entries: &[LedgerEntry], unit: &PricingUnit) -> Markup {
    let rows = html! {
        @for of in entries {
            tr {
                th.number scope="row" { (of.ledger_sequence_number) }
                td { (time::instant(of.created_at)) }
                td { (words(of.entry_type.kind().name())) }
                td {
                    @match of.entry_status {
                        EntryStatus::Committed => (chip(Standing::Good, "Committed")),
                        _ => (chip(Standing::Wait, "Pending")),
                    }
                }
                td.number { (money(of.moved(), unit)) }
                td.number { (money(&of.ending_balance, unit)) }
                td.id { (of.credit_block.id) }
                td {
                    (of.description.as_deref().unwrap_or_default())
                    @for id in &of.created_invoices {
                        " " a href=(visit.in_account(&["invoices", &id.to_string()])) { "Invoice" }
                    }
                }
            }
        }
    };
    table(
        "Entries, newest first",
        &[
            Number("Number"),
            Text("At (UTC)"),
            Text("Type"),
            Text("Status"),
            Number("Amount"),
            Number("Balance after"),
            Text("Block"),
            Text("Description"),
        ],
        &rows,
    )
}
