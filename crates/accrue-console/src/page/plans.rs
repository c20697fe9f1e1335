//! Plans of an account, with the prices of each version, and its metrics.

mod model;

use std::collections::BTreeMap;

use accrue::{
    Account, Decimal, ItemId, MetricId, Name, PlanId, PricingUnit, WrittenDecimal,
    metric::{MetricFilter, MetricStatus},
    plan::{Plan, PlanFilter, PlanVersion, PricedVersion},
    price::{
        Adjustments, AllocationExpiry, BillingMode, Bulk, Cadence, Charge, ConversionRate,
        CreditAllocation, Discount, Matrix, Model, Price, Tiered,
    },
};
use maud::{Markup, html};

use self::model::words;
use crate::{
    answer::{Answer, Failure},
    view::{
        layout::{self, Head, Section},
        number::{count, grouped, money},
        part::{
            Column::{Number, Text},
            Standing, chip, empty, facts, next, table,
        },
        time,
    },
    visit::Visit,
};

/// Versions that are looked for behind the one that is shown, and that are linked.
const VERSIONS: u32 = 20;
/// Cells of a matrix, and tiers, that are shown.
const ROWS: usize = 100;

/// Lists the plans.
pub(crate) async fn show(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let page = account.list_plans(&PlanFilter::default(), &visit.page_of(50)?).await?;
    let rows = html! {
        @for plan in &page.data {
            tr {
                th scope="row" { a href=(visit.in_account(&["plans", &plan.id.to_string()])) { (plan.name) } }
                td.id { (plan.external_plan_id.as_deref().unwrap_or("–")) }
                td { (plan.currency.code()) }
                td.number { (plan.version.number()) }
                td { (time::instant(plan.created_at)) }
            }
        }
    };
    let path = visit.in_account(&["plans"]);
    let content = html! {
        p { a href=(visit.in_account(&["metrics"])) { "Metrics that usage is counted by" } }
        @if page.data.is_empty() {
            (empty("No plans yet", "A program creates them over the API: a plan has versions, and each has prices."))
        } @else {
            (table("Plans, newest first", &[Text("Name"), Text("External id"), Text("Currency"), Number("Version by default"), Text("Created (UTC)")], &rows))
        }
        (next(&path, &[], page.next_cursor.as_ref()))
    };
    let head = Head { title: "Plans", section: Section::Plans, above: Vec::new() };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Lists the metrics.
pub(crate) async fn metrics(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let page = account.list_metrics(&MetricFilter::default(), &visit.page_of(50)?).await?;
    let rows = html! {
        @for of in &page.data {
            tr {
                th scope="row" { (of.name) }
                td {
                    @match of.status {
                        MetricStatus::Active => (chip(Standing::Good, "Active")),
                        MetricStatus::Archived => (chip(Standing::Off, "Archived")),
                        _ => (chip(Standing::Wait, "Draft")),
                    }
                }
                td { code { (of.sql) } }
                td { (time::instant(of.created_at)) }
                td.id { (of.id) }
            }
        }
    };
    let path = visit.in_account(&["metrics"]);
    let content = html! {
        @if page.data.is_empty() {
            (empty("No metrics yet", "A program creates them over the API: each is a query over events."))
        } @else {
            (table("Metrics, newest first", &[Text("Name"), Text("Status"), Text("Query"), Text("Created (UTC)"), Text("Id")], &rows))
        }
        (next(&path, &[], page.next_cursor.as_ref()))
    };
    let above = vec![("Plans".to_owned(), visit.in_account(&["plans"]))];
    let head = Head { title: "Metrics", section: Section::Plans, above };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Shows a plan with the prices of a version: the one by default, or the one that the query names.
pub(crate) async fn one(visit: &Visit) -> Result<Answer, Failure> {
    let account = visit.account()?;
    let plan = account.fetch_plan(visit.id::<PlanId>("plan")?).await?;
    let asked = visit.query.get("version").map(|text| text.parse().map(PlanVersion::new));
    let version = match asked {
        Some(Ok(version)) => version,
        Some(Err(_)) => return Err(Failure::NotFound),
        None => plan.version,
    };
    let shown = account.fetch_plan_version(plan.id, version).await?;
    let latest = latest(&account, plan.id, version.max(plan.version)).await?;
    let mut names = Names::default();
    for price in &shown.prices {
        names.read(&account, price).await?;
    }
    let content = html! {
        (facts(&[
            ("External id", html! { span.id { (plan.external_plan_id.as_deref().unwrap_or("–")) } }),
            ("Currency", html! { (plan.currency.code()) }),
            ("Version by default", html! { (plan.version.number()) }),
            ("Description", html! { (plan.description.as_deref().unwrap_or("–")) }),
            ("Created (UTC)", time::instant(plan.created_at)),
            ("Id", html! { span.id { (plan.id) } }),
        ]))
        (version_links(visit, &plan, version, latest))
        section aria-labelledby="version-title" {
            h2 id="version-title" { "Version " (version.number()) }
            (price_table(&shown, &names))
            p.note { "Created " (time::instant(shown.created_at)) " (UTC)." }
        }
        @for price in &shown.prices { (configuration(price)) }
    };
    let above = vec![("Plans".to_owned(), visit.in_account(&["plans"]))];
    let head = Head { title: &plan.name, section: Section::Plans, above };
    Ok(Answer::page(layout::page(visit, head, content).await?))
}

/// Returns the last version of a plan that there is, as far as it is looked for.
async fn latest(account: &Account, plan: PlanId, from: PlanVersion) -> Result<u32, Failure> {
    let mut latest = from.number();
    for _ in 0..VERSIONS {
        let next = latest.saturating_add(1);
        match account.fetch_plan_version(plan, PlanVersion::new(next)).await {
            Ok(_) => latest = next,
            Err(error) if error.is_not_found() => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(latest)
}

fn version_links(visit: &Visit, plan: &Plan, shown: PlanVersion, latest: u32) -> Markup {
    let path = visit.in_account(&["plans", &plan.id.to_string()]);
    let first = latest.saturating_sub(VERSIONS.saturating_mul(2)).max(1);
    html! {
        @if latest > 1 {
            nav.versions aria-label="Versions" {
                @for number in (first..=latest).rev() {
                    @let current = (number == shown.number()).then_some("page");
                    a.button href=(format!("{path}?version={number}")) aria-current=[current] { "Version " (number) }
                }
            }
        }
    }
}

/// Names of the items and metrics of prices.
#[derive(Default)]
struct Names {
    items: BTreeMap<ItemId, Name>,
    metrics: BTreeMap<MetricId, Name>,
}

impl Names {
    async fn read(&mut self, account: &Account, price: &Price) -> Result<(), Failure> {
        if !self.items.contains_key(&price.item_id) {
            let item = account.fetch_item(price.item_id).await?;
            self.items.insert(item.id, item.name);
        }
        if let Charge::Usage { metric_id, .. } = &price.charge
            && !self.metrics.contains_key(metric_id)
        {
            let metric = account.fetch_metric(*metric_id).await?;
            self.metrics.insert(metric.id, metric.name);
        }
        Ok(())
    }
}

fn price_table(of: &PricedVersion, names: &Names) -> Markup {
    if of.prices.is_empty() {
        return empty("No prices", "Whoever subscribes to this version pays nothing.");
    }
    let rows = html! {
        @for price in &of.prices {
            tr {
                th scope="row" { (price.name) }
                td { (model(price.charge.model())) }
                td { (cadence(price.cadence)) }
                td { (names.items.get(&price.item_id).map_or("–", |name| name.as_str())) }
                td {
                    @match &price.charge {
                        Charge::Usage { metric_id, .. } => { "Usage: " (names.metrics.get(metric_id).map_or("–", |name| name.as_str())) }
                        Charge::Fixed { quantity, billing_mode, .. } => {
                            (grouped(quantity)) " "
                            @match billing_mode { BillingMode::InAdvance => "in advance", _ => "in arrears" }
                        }
                        Charge::Composite { .. } => "All other prices",
                        _ => "–",
                    }
                }
                td { (price.currency) }
            }
        }
    };
    let head = [
        Text("Price"),
        Text("Model"),
        Text("Billed"),
        Text("Item"),
        Text("Quantity"),
        Text("Currency"),
    ];
    table("Prices", &head, &rows)
}

fn model(of: &Model) -> String {
    let name = match of {
        Model::Unit(_) => "Amount for each unit",
        Model::Package(_) => "Amount for each package",
        Model::Tiered(_) => "Tiers, each for the units in it",
        Model::Bulk(_) => "Volume: one tier for all units",
        Model::Matrix(_) => "Matrix of amounts by property",
        Model::Percent(_) => "Percentage of all other prices",
        Model::MinimumComposite(_) => "What all other prices lack of an amount",
        other => return words(other.model_type()),
    };
    name.to_owned()
}

fn cadence(of: Cadence) -> String {
    match of {
        Cadence::OneTime => "once".to_owned(),
        Cadence::Monthly => "every month".to_owned(),
        Cadence::Quarterly => "every quarter".to_owned(),
        Cadence::SemiAnnual => "every half year".to_owned(),
        Cadence::Annual => "every year".to_owned(),
        Cadence::Custom(cycle) => format!("every {cycle}"),
        _ => "–".to_owned(),
    }
}

/// Shows how a price comes to its amount.
fn configuration(price: &Price) -> Markup {
    let unit = &price.currency;
    let caption = format!("How {} is computed", price.name);
    let amount = |of: &WrittenDecimal| html! { td.number { (written(of, unit)) } };
    let mut rows = match price.charge.model() {
        Model::Unit(of) => html! {
            tr { th scope="row" { "Each unit" } (amount(&of.unit_amount)) }
            @if let Some(factor) = &of.scaling_factor { tr { th scope="row" { "Units are multiplied by" } td.number { (grouped(factor)) } } }
        },
        Model::Package(of) => html! {
            tr { th scope="row" { "Each package of " (count(of.package_size)) ", begun ones too" } (amount(&of.package_amount)) }
        },
        Model::Tiered(of) => tiers(of, unit),
        Model::Bulk(of) => volumes(of, unit),
        Model::Matrix(of) => cells(of, unit),
        other => model::rows(other, unit),
    };
    rows = html! {
        (rows)
        @if let Some(rate) = &price.conversion_rate { (conversion(rate, unit)) }
        @if let Some(of) = &price.credit_allocation { (gives(price, of)) }
        @if let Some(key) = &price.invoice_grouping_key { tr { th scope="row" { "Lines of invoices are broken down by" } td { code { (key) } } } }
        @if let Some(of) = &price.dimensional_price_configuration { tr { th scope="row" { "Only events with the values" } td { (of.dimension_values.join(", ")) } } }
        (adjustments(&price.adjustments))
    };
    table(&caption, &[Text("Of"), Number("Amount")], &rows)
}

/// Shows what amounts are invoiced as.
fn conversion(rate: &ConversionRate, unit: &PricingUnit) -> Markup {
    match rate {
        ConversionRate::Unit(rate) => html! {
            tr { th scope="row" { "One " (unit) " is invoiced as" } td.number { (grouped(rate)) } }
        },
        ConversionRate::Tiered(tiers) => html! {
            @for tier in tiers.iter().take(ROWS) {
                tr {
                    th scope="row" {
                        "One " (unit) " above " (grouped(&tier.first_unit))
                        @if let Some(last) = &tier.last_unit { " up to " (grouped(last)) }
                        " is invoiced as"
                    }
                    td.number { (grouped(tier.unit_amount.number())) }
                }
            }
            (more(tiers.len()))
        },
        _ => html! {},
    }
}

/// Shows the credits that a price gives with each of its periods.
fn gives(price: &Price, of: &CreditAllocation) -> Markup {
    let Charge::Fixed { quantity, .. } = &price.charge else { return html! {} };
    let rest = match of.expiry {
        AllocationExpiry::Never => "whose rest is there in the next one".to_owned(),
        AllocationExpiry::EndOfCadence => "whose rest is lost with it".to_owned(),
        AllocationExpiry::After(time) => format!("whose rest is lost after {time}"),
        _ => String::new(),
    };
    html! { tr { th scope="row" { "Each period gives " (of.currency) ", " (rest) } td.number { (grouped(quantity)) } } }
}

fn tiers(of: &Tiered, unit: &PricingUnit) -> Markup {
    html! {
        @for tier in of.tiers.iter().take(ROWS) {
            tr {
                th scope="row" {
                    "Each unit above " (grouped(&tier.first_unit))
                    @if let Some(last) = &tier.last_unit { " up to " (grouped(last)) }
                }
                td.number { (written(&tier.unit_amount, unit)) }
            }
        }
        (more(of.tiers.len()))
    }
}

fn volumes(of: &Bulk, unit: &PricingUnit) -> Markup {
    html! {
        @for tier in of.tiers.iter().take(ROWS) {
            tr {
                th scope="row" {
                    @match &tier.maximum_units { Some(most) => { "Each unit of up to " (grouped(most)) }, None => { "Each unit of more" } }
                }
                td.number { (written(&tier.unit_amount, unit)) }
            }
        }
        (more(of.tiers.len()))
    }
}

fn cells(of: &Matrix, unit: &PricingUnit) -> Markup {
    let names: Vec<_> = of.properties().map(|name| name.as_str()).collect();
    let values = |values: &[Option<String>]| {
        let values = values.iter().map(|of| of.as_deref().unwrap_or("(any)"));
        values.collect::<Vec<_>>().join(", ")
    };
    html! {
        @for cell in of.matrix_values.iter().take(ROWS) {
            tr {
                th scope="row" {
                    (names.join(", ")) ": " (values(&cell.dimension_values))
                    @if let Some(factor) = &cell.scaling_factor { ", units times " (grouped(factor)) }
                }
                td.number { (written(&cell.unit_amount, unit)) }
            }
        }
        tr { th scope="row" { "All others" } td.number { (written(&of.default_unit_amount, unit)) } }
        (more(of.matrix_values.len()))
    }
}

fn written(amount: &WrittenDecimal, unit: &PricingUnit) -> String {
    money(&Decimal::from(amount.clone()), unit)
}

fn more(found: usize) -> Markup {
    let left = found.saturating_sub(ROWS);
    html! { @if left > 0 { tr { th scope="row" { (left) " more are not shown" } td {} } } }
}

fn adjustments(of: &Adjustments) -> Markup {
    html! {
        @for discount in &of.discounts {
            tr {
                th scope="row" { "Discount" }
                td.number {
                    @match discount {
                        Discount::Percentage(off) => { (grouped(&(off.as_decimal() * &Decimal::from(100)))) " %" }
                        Discount::Amount(off) => (grouped(off)),
                        Discount::Usage(off) => { (grouped(off)) " units" }
                        _ => "by tiers",
                    }
                }
            }
        }
        @if let Some(least) = &of.minimum { tr { th scope="row" { "At least" } td.number { (grouped(least)) } } }
        @if let Some(most) = &of.maximum { tr { th scope="row" { "At most" } td.number { (grouped(most)) } } }
    }
}
