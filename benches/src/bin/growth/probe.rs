use std::sync::Arc;

use accrue::{
    Account, Currency, Email, IdempotencyKey, ListFilter, Name, PageRequest, PricingUnit,
    cost::CostQuery, customer::NewCustomer, store::Store,
};
use accrue_benches::{Outcome, Stopwatch, Workload};
use pollster::block_on;
use serde::Serialize;

use crate::span::Span;

/// What an operation cost.
#[derive(Debug, Serialize)]
pub(crate) struct Probed {
    pub(crate) name: &'static str,
    /// The median of its calls.
    pub(crate) call: Span,
}

/// How many times each operation is measured.
const CALLS: u64 = 300;
/// How many rows a page has.
const PAGE: usize = 20;
/// How many customers or plans a tick applies at most.
const APPLIED: usize = 100;

/// Creates the customers that a page needs besides those of the workload.
pub(crate) fn set_up(account: &Account) -> Outcome<()> {
    for number in 0..PAGE {
        let name = Name::parse(format!("bystander {number}"))?;
        let customer = NewCustomer::new(name, Email::parse("bench@example.com")?);
        block_on(account.create_customer(customer).into_future())?;
    }
    Ok(())
}

/// Measures each operation that is not an ingest of batches. It ingests a few events on the way.
pub(crate) fn operations<S: Store>(
    workload: &mut Workload,
    store: &Arc<Stopwatch<S>>,
) -> Outcome<Vec<Probed>> {
    let mut probed = Vec::new();
    let mut probe = |name, call: &mut dyn FnMut(u64) -> Outcome<Span>| -> Outcome<()> {
        let spans: Vec<_> = (0..CALLS).map(call).collect::<Outcome<_>>()?;
        probed.push(Probed { name, call: Span::median(&spans) });
        Ok(())
    };
    probe("keyed ingest", &mut |_| {
        let number = workload.events();
        let events = workload.next_of(number % workload.customers().len() as u64, 1)?;
        let key = IdempotencyKey::parse(format!("call-{number}"))?;
        let call = workload.account().ingest(events).keyed(key);
        Span::of(store, || block_on(call.into_future()).map(drop).map_err(Into::into))
    })?;
    let account = workload.account();
    let customers = workload.customers();
    let customer = |number: u64| {
        let at = usize::try_from(number)? % customers.len();
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(*customers.get(at).ok_or("no customer")?)
    };
    probe("fetch", &mut |number| {
        let id = customer(number)?;
        Span::of(store, || block_on(account.fetch_customer(id)).map(drop).map_err(Into::into))
    })?;
    let page = PageRequest::first(PAGE)?;
    probe("page of 20", &mut |_| {
        let any = ListFilter::default();
        let list = account.list_customers(&any, &page);
        Span::of(store, || block_on(list).map(drop).map_err(Into::into))
    })?;
    let current = CostQuery::default();
    probe("cost", &mut |_| Span::of(store, || workload.costs(&current).map(drop)))?;
    let usd = PricingUnit::from(Currency::parse("USD")?);
    probe("balance", &mut |number| {
        let balance = account.credit_balance(customer(number)?, &usd);
        Span::of(store, || block_on(balance).map(drop).map_err(Into::into))
    })?;
    // What is due is applied first: what is measured is a look at what is due when nothing is.
    while block_on(account.billing().tick(APPLIED))?.applied > 0 {}
    probe("tick", &mut |_| {
        let tick = account.billing().tick(APPLIED);
        Span::of(store, || match block_on(tick)? {
            tick if tick.applied == 0 && tick.failed == 0 => Ok(()),
            tick => Err(format!("found {tick:?}, expected nothing due").into()),
        })
    })?;
    Ok(probed)
}
