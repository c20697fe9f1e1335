//! What is asked for.

use std::{any::Any, rc::Rc, sync::Arc, time::Duration};

use accrue::{
    Account, Currency, ExternalId, ListFilter, PageRequest, PriceId, PricingUnit,
    cost::{CostQuery, PriceEvaluation},
    expression::Expression,
    store::Store,
};
use accrue_benches::{BATCH, Outcome, Shape, Watch, Workload};
use pollster::block_on;

use super::{Call, Prepared, expect};

/// How many rows a page has.
const PAGE: usize = 20;
/// How many customers there are of whom a page is asked for.
const LISTED: u64 = 24;
/// How many calls are measured.
const CALLS: usize = 32;
/// How many calls come before them.
const WARM: usize = 8;

/// What a subscription costs in its current period.
pub(super) fn cost(store: Arc<dyn Store>) -> Outcome<Prepared> {
    let workload = Rc::new(used(store, Shape::new(Watch::Usage))?);
    let one = Rc::clone(&workload);
    let query = CostQuery::default();
    repeated(workload, move || {
        let costs = one.costs(&query)?;
        expect("periods", costs.len(), 1)
    })
}

/// What is left of the credits of a customer.
pub(super) fn balance(store: Arc<dyn Store>) -> Outcome<Prepared> {
    let workload = used(store, Shape::new(Watch::UsageAndCredits))?;
    let account = workload.account().clone();
    let customer = *workload.customers().first().ok_or("found no customer")?;
    let usd = PricingUnit::from(Currency::parse("USD")?);
    repeated(workload, move || {
        block_on(account.credit_balance(customer, &usd))?;
        Ok(())
    })
}

/// What 125 events of a customer cost by a price, each judged by a filter.
pub(super) fn evaluation(store: Arc<dyn Store>) -> Outcome<Prepared> {
    let workload = used(store, Shape::new(Watch::Usage))?;
    let account = workload.account().clone();
    let prices = list_prices(&account)?;
    let timeframe = Workload::timeframe(Duration::ZERO, Duration::from_secs(60))?;
    let mut evaluation = PriceEvaluation::new(ExternalId::parse("customer-0")?, timeframe);
    evaluation.filter = Some(Expression::parse("input_tokens >= 0")?);
    repeated(workload, move || {
        let groups = block_on(account.evaluate_price(prices, &evaluation))?;
        expect("groups", groups.len(), 1)
    })
}

/// The newest 20 customers.
pub(super) fn list(store: Arc<dyn Store>) -> Outcome<Prepared> {
    let workload = listed(store)?;
    let account = workload.account().clone();
    let page = PageRequest::first(PAGE)?;
    repeated(workload, move || {
        let page = block_on(account.list_customers(&ListFilter::default(), &page))?;
        expect("customers", page.data.len(), PAGE)
    })
}

/// An account with more customers than a page has.
pub(super) fn listed(store: Arc<dyn Store>) -> Outcome<Workload> {
    Workload::new(store, Shape { customers: LISTED, ..Shape::new(Watch::Usage) })
}

/// The same call again and again, warm.
pub(super) fn repeated(
    engine: impl Any,
    call: impl Fn() -> Outcome<()> + 'static,
) -> Outcome<Prepared> {
    requested(engine, || Ok(()), move |()| call())
}

/// The same request again and again, warm, each made before the calls.
pub(super) fn requested<R: 'static>(
    engine: impl Any,
    request: impl Fn() -> Outcome<R>,
    call: impl Fn(R) -> Outcome<()> + 'static,
) -> Outcome<Prepared> {
    let call = Rc::new(call);
    let calls = (0..WARM + CALLS).map(|_| {
        let (request, call) = (request()?, Rc::clone(&call));
        let call: Call = Box::new(move || call(request));
        Ok(call)
    });
    let calls = calls.collect::<Outcome<_>>()?;
    // What the calls hold is let go of by none of them.
    Prepared::warm((engine, call), calls, WARM)
}

/// An account with two batches of usage.
fn used(store: Arc<dyn Store>, shape: Shape) -> Outcome<Workload> {
    let mut workload = Workload::new(store, shape)?;
    workload.ingest_until(BATCH * 2)?;
    Ok(workload)
}

/// The price of output tokens.
fn list_prices(account: &Account) -> Outcome<PriceId> {
    let prices = block_on(account.list_prices(&ListFilter::default(), &PageRequest::first(PAGE)?))?;
    let price = prices.data.iter().find(|price| price.name.as_str() == "output tokens");
    Ok(price.ok_or("found no price")?.id)
}
