//! Usage of licenses: what the events of each have cost, and what is left of its allocations (subscriptions 7.5).

mod tally;
mod walks;

use std::collections::{BTreeMap, BTreeSet};

use self::{
    tally::{Tally, Used},
    walks::Walks,
};

use crate::{
    CustomerId, Error, LicenseId, LicenseTypeId, Page, PageRequest, PricingUnit, PropertyName,
    SubscriptionId, Timeframe, Timestamp,
    engine::{
        Account,
        commands::{costs, price_evaluation::check_events},
        kernel::{Transaction, boxed},
        rows::{
            self,
            comparisons::Comparisons,
            licenses,
            lists::page_of,
            visible::{self, SourcedEvent, WalkedSlot},
        },
    },
    expression::Fields,
    license::{
        License, LicenseGrouping, LicenseName, LicenseRows, LicenseUsage, LicenseUsageQuery, Pool,
    },
    limits,
    meter::KnownIds,
    page::Listing,
    price::{Price, last_in_force},
    schema,
    subscription::{Subscription, SubscriptionEntry},
    usage::EventPlace,
};

impl Account {
    /// Computes the usage of the licenses of a type that a subscription has (subscriptions 7.5): what the events
    /// cost whose property names them, by the prices of usage that are of the type. Rows are in the order of the
    /// external ids, then by day; one for each currency or pricing unit of these prices and of allocations.
    /// What counts is what counts for the price: the usage of the same customers, by the same condition.
    ///
    /// An event belongs to the license of its external id that is active at its instant, else to the one that
    /// ended last before, else to the next one; of those that are active at a time of the range. The cost of a
    /// row is that of its events alone, before adjustments. It costs the events of the range, one by one.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such subscription or license
    /// type; [`RequestValidation`](crate::ErrorKind::RequestValidation) where the range has no day, or more than
    /// [366](limits::LICENSE_USAGE_DAYS), or the cursor is none of this list;
    /// [`TooManyResults`](crate::ErrorKind::TooManyResults) where there would be more than
    /// [10,000](limits::RESULT_ROWS) rows, [100,000](limits::LICENSE_FIGURES) figures of a license on a day, or
    /// as many events to read, or so many that all comparisons are more than ten million.
    ///
    /// ```
    /// # use accrue::{Account, CivilDate, Error, LicenseTypeId, PageRequest, SubscriptionId};
    /// use accrue::license::{LicenseGrouping, LicenseUsageQuery};
    ///
    /// # async fn usage(account: Account, pro: SubscriptionId, seat: LicenseTypeId) -> Result<(), Error> {
    /// let query = LicenseUsageQuery { grouping: LicenseGrouping::Day, ..Default::default() };
    /// let page = account.license_usage(pro, seat, &query, &PageRequest::default()).await?;
    /// for day in page.data {
    ///     println!("{}: {} {}", day.consumed_credits, day.pricing_unit, day.remaining_credits);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn license_usage(
        &self,
        subscription: SubscriptionId,
        license_type: LicenseTypeId,
        query: &LicenseUsageQuery,
        page: &PageRequest,
    ) -> Result<Page<LicenseUsage>, Error> {
        self.usage_of_licenses(&Sought::All(subscription, license_type), query, page).await
    }

    /// Computes the usage of one license, as [`license_usage`](Self::license_usage) does: nothing where it is
    /// active at no time of the range.
    ///
    /// # Errors
    ///
    /// Those of [`license_usage`](Self::license_usage);
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such license.
    pub async fn usage_of_license(
        &self,
        id: LicenseId,
        query: &LicenseUsageQuery,
        page: &PageRequest,
    ) -> Result<Page<LicenseUsage>, Error> {
        self.usage_of_licenses(&Sought::One(id), query, page).await
    }

    /// Computes the usage of the license of an external id that is active now, as
    /// [`license_usage`](Self::license_usage) does.
    ///
    /// # Errors
    ///
    /// Those of [`license_usage`](Self::license_usage);
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where none is active (subscriptions 7.3.7).
    pub async fn usage_of_active_license(
        &self,
        name: &LicenseName,
        query: &LicenseUsageQuery,
        page: &PageRequest,
    ) -> Result<Page<LicenseUsage>, Error> {
        self.usage_of_licenses(&Sought::Active(name), query, page).await
    }

    async fn usage_of_licenses(
        &self,
        sought: &Sought<'_>,
        query: &LicenseUsageQuery,
        page: &PageRequest,
    ) -> Result<Page<LicenseUsage>, Error> {
        let filter = format!("{sought:?} {query:?}");
        let listing = Listing { name: "license_usage", account: self.id(), filter };
        let (limit, behind) = (page.rows()?, listing.position(page)?);
        let mut held = self.shared().stripes.hold_none();
        for _ in 0..limits::RUNS {
            let mut tx = self.reading();
            let found = usage(&mut tx, sought, query).await;
            let holds = tx.holds().await?;
            match found {
                Ok((_, rows)) if holds => {
                    let rows = (0_u128..).zip(rows).map(|(place, row)| {
                        (schema::position_of(Timestamp::MIN, &place.to_be_bytes()), row)
                    });
                    let rows = rows.filter(|(at, _)| behind.is_none_or(|behind| behind < *at));
                    return Ok(page_of(&listing, limit, rows.collect()));
                }
                Ok((customer_id, _)) => held.keep_out_writers(self.id(), customer_id).await,
                Err(error) if holds => return Err(error),
                Err(_) => {}
            }
        }
        Err(Error::contended())
    }
}

/// Licenses whose usage is sought.
#[derive(Debug)]
enum Sought<'a> {
    All(SubscriptionId, LicenseTypeId),
    One(LicenseId),
    Active(&'a LicenseName),
}

#[boxed]
async fn usage<'a>(
    tx: &mut Transaction<'_>,
    sought: &'a Sought<'a>,
    query: &'a LicenseUsageQuery,
) -> Result<(CustomerId, Vec<LicenseUsage>), Error> {
    let (entry, license_type, only) = find(tx, sought).await?;
    let of = &entry.subscription;
    let slots = query.slots(costs::current_period(tx, &entry), &of.timezone)?;
    let range = match (slots.first(), slots.last()) {
        (Some(first), Some(last)) => first.timeframe.until(last.timeframe.end()),
        _ => return Ok((of.customer_id, Vec::new())),
    };
    let mut all = licenses::not_ended(tx, of, license_type, range.start()).await?;
    all = all.into_iter().map(|license| license.within(of)).collect();
    all.retain(|license| license.is_active_within(range));
    all.sort_by(|one, other| {
        let key = |of: &License| (of.start_date, of.id);
        let by_name = one.external_license_id.cmp(&other.external_license_id);
        by_name.then_with(|| key(one).cmp(&key(other)))
    });
    let prices = rows::prices::prices_of(tx, of).await?;
    let pools = pools(of, &prices, license_type, range);
    let card = rows::prices::card(tx, &entry).await?;
    let used = Used::all(tx, &card, license_type).await?;
    let units = units(of, &used, &pools);
    let shown: Vec<_> =
        all.iter().filter(|of| only.is_none_or(|id| id == of.id)).cloned().collect();
    check_size(query.grouping, shown.len(), slots.len(), units.len())?;
    let mut rows = LicenseRows {
        subscription_id: of.id,
        license_type_id: license_type,
        grouping: query.grouping,
        slots: &slots,
        licenses: &shown,
        units: &units,
        pools: &pools,
        consumed: BTreeMap::new(),
        eligible: BTreeMap::new(),
        drawn: BTreeMap::new(),
    };
    let key = licenses::license_type(tx, license_type).await?.grouping_key;
    let mut tally = Tally::new(&used, &rows);
    if let Some(timeframe) = tally.timeframe() {
        read(tx, &mut tally, &Named::new(&key, &all), timeframe).await?;
    }
    tally.finish(&mut rows);
    Ok((of.customer_id, rows.rows()))
}

/// Licenses by the values of the property that names them.
struct Named<'a> {
    key: &'a PropertyName,
    licenses: BTreeMap<&'a str, Vec<&'a License>>,
}

impl<'a> Named<'a> {
    fn new(key: &'a PropertyName, all: &'a [License]) -> Self {
        let mut licenses: BTreeMap<&str, Vec<&License>> = BTreeMap::new();
        all.iter().for_each(|of| licenses.entry(&of.external_license_id).or_default().push(of));
        Self { key, licenses }
    }

    /// Returns the license that an event belongs to (subscriptions 7.4.5).
    fn of(&self, fields: &Fields<'_>) -> Option<&'a License> {
        let own = self.licenses.get(&*fields.text(self.key)?)?;
        License::at(own.iter().copied(), fields.timestamp())
    }
}

/// Adds up the events of a timeframe, of whoever's usage the prices are of.
async fn read(
    tx: &mut Transaction<'_>,
    tally: &mut Tally<'_>,
    named: &Named<'_>,
    timeframe: Timeframe,
) -> Result<(), Error> {
    let mut comparisons = Comparisons::of(tally.used.iter().map(|of| &of.meters));
    let customers = tally.used.iter().flat_map(Used::customers).copied().collect();
    let mut walks = Walks::begin(tx, &customers, timeframe).await?;
    let (mut events, known) = (0_usize, &mut KnownIds::default());
    while let Some((customer, slot)) = walks.next(tx).await? {
        let WalkedSlot { place: EventPlace { at, key }, event } = slot;
        let Some(SourcedEvent { event, .. }) = event else { continue };
        events = events.saturating_add(1);
        check_events(events)?;
        comparisons.add_event()?;
        let fields = Fields::new(&event.event_name, at, &event.properties);
        let Some(license) = named.of(&fields) else { continue };
        for (place, used) in tally.used.iter().enumerate() {
            if used.counts(customer, at) {
                let readings = visible::readings(tx, &used.meters, known, &fields, &key).await;
                tally.add(license, place, at, readings);
            }
        }
    }
    Ok(())
}

/// Finds the subscription, the type, and the one license where there is one.
async fn find(
    tx: &mut Transaction<'_>,
    sought: &Sought<'_>,
) -> Result<(SubscriptionEntry, LicenseTypeId, Option<LicenseId>), Error> {
    match sought {
        Sought::All(subscription, license_type) => {
            licenses::license_type(tx, *license_type).await?;
            let entry = rows::subscriptions::subscription_entry(tx, *subscription).await?;
            Ok((entry, *license_type, None))
        }
        Sought::One(id) => {
            let (license, entry) = licenses::license(tx, *id).await?;
            Ok((entry, license.license_type_id, Some(license.id)))
        }
        Sought::Active(name) => {
            let LicenseName { subscription_id, license_type_id, external_license_id } = name;
            let entry = rows::subscriptions::subscription_entry(tx, *subscription_id).await?;
            let of = &entry.subscription;
            let found = licenses::of_external_id(tx, of, *license_type_id, external_license_id);
            let mut found = found.await?.into_iter().map(|license| license.within(of));
            let active = found.find(|license| license.is_active(tx.now)).map(|license| license.id);
            let unknown = || Error::not_found("active license", external_license_id);
            let active = active.ok_or_else(unknown)?;
            Ok((entry, *license_type_id, Some(active)))
        }
    }
}

/// Returns the pools of periods that a range touches: those of the usage that draws from them, and where none does
/// those of the fee.
fn pools(
    of: &Subscription,
    prices: &[Price],
    license_type: LicenseTypeId,
    range: Timeframe,
) -> Vec<Pool> {
    let priced = of.price_intervals.iter().filter_map(|interval| {
        Some((interval, prices.iter().find(|price| price.id == interval.price_id)?))
    });
    let (fees, usage): (Vec<_>, Vec<_>) = priced
        .filter(|(_, price)| price.license_type_id == Some(license_type))
        .partition(|(_, price)| price.license_fee().is_some());
    let allocations = fees.iter().flat_map(|(_, fee)| &fee.license_allocations);
    let units: BTreeSet<_> = allocations.map(|of| &of.currency).collect();
    let mut pools = Vec::new();
    for unit in units {
        let drawing = usage.iter().filter(|(_, price)| price.currency == *unit);
        let drawing: Vec<_> = drawing.copied().collect();
        let given = if drawing.is_empty() { &fees } else { &drawing };
        let periods = given.iter().flat_map(|(interval, _)| {
            of.periods_of_interval(interval).overlapping(range).collect::<Vec<_>>()
        });
        for period in periods {
            let lives = fees.iter().map(|(of_fee, fee)| {
                (of_fee.start_date, of.end_of(of_fee), &fee.license_allocations)
            });
            let own = last_in_force(lives, period)
                .and_then(|all| all.iter().find(|allocation| allocation.currency == *unit));
            let amount = own.map(|allocation| allocation.amount.clone());
            pools.extend(amount.map(|amount| Pool { period, unit: unit.clone(), amount }));
        }
    }
    pools
}

/// Returns the currencies and pricing units that there are figures in: that of the invoices where there are none.
fn units(of: &Subscription, used: &[Used], pools: &[Pool]) -> BTreeSet<PricingUnit> {
    let of_usage = used.iter().map(|of| of.price.currency.clone());
    let mut units: BTreeSet<_> = of_usage.chain(pools.iter().map(|of| of.unit.clone())).collect();
    if units.is_empty() {
        units.insert(of.currency.into());
    }
    units
}

fn check_size(
    grouping: LicenseGrouping,
    licenses: usize,
    slots: usize,
    units: usize,
) -> Result<(), Error> {
    let figures = licenses.saturating_mul(slots).saturating_mul(units);
    let rows = match grouping {
        LicenseGrouping::Day => slots.saturating_mul(units),
        LicenseGrouping::License | LicenseGrouping::LicenseAndDay => figures,
    };
    for (found, most, what) in
        [(rows, limits::RESULT_ROWS, "rows"), (figures, limits::LICENSE_FIGURES, "figures")]
    {
        if found > most {
            let detail = format!("there are {found} {what}, expected at most {most}");
            return Err(Error::too_many(detail));
        }
    }
    Ok(())
}
