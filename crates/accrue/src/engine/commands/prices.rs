//! Prices: operations, lists, and the rate card of a subscription.

use crate::{
    Currency, Error, IdOr, ListFilter, Page, PageRequest, PriceId,
    customer::AttributeValue,
    engine::{
        Account, Call,
        commands::credits,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, outbox},
        time::metering,
    },
    price::{
        CreditAllocation, DimensionalPriceGroup, NewAllocationPrice, NewPrice, Price, PriceOrigin,
        PriceUpdate,
    },
    schema::{self, Index, Nothing, PriceAlias},
    subscription::SubscriptionEntry,
    webhook::Body,
};

impl Account {
    /// Creates a price (wire 5.2). It bills nobody until a version of a plan has it.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such item, metric,
    /// dimensional price group or license type; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the item
    /// or the metric is archived, a matrix or a price of a group rates a metric of the latest value, or the
    /// group has another metric or another number of dimensions, or the price is a fee;
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where the external id is used;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the price itself is wrong.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Name, item::NewItem, store::MemoryStore};
    /// # use accrue::price::{Cadence, NewPrice};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// let fee = NewPrice::builder(Name::parse("seat")?, item.id)
    ///     .billed(Cadence::Monthly, Currency::parse("USD")?)
    ///     .fee_in_advance(Decimal::from(10));
    /// let fee = account.create_price(fee).await?;
    /// assert_eq!(account.fetch_price(fee.id).await?, fee);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_price(&self, new: NewPrice) -> Call<Price> {
        Call::new(
            self,
            Op::new("create_price", new, |tx, new| {
                Box::pin(async { Ok(create_price(tx, new, PriceOrigin::Account).await?) })
            }),
        )
    }

    /// Changes the metadata of a price: its charge never changes (wire 5.1).
    pub fn update_price(&self, id: impl Into<IdOr<PriceId>>, update: PriceUpdate) -> Call<Price> {
        Call::new(
            self,
            Op::new("update_price", (id.into(), update), |tx, (id, update)| {
                update_price(tx, id, update)
            }),
        )
    }

    /// Returns a price by its id or its external id.
    pub async fn fetch_price(&self, id: impl Into<IdOr<PriceId>>) -> Result<Price, Error> {
        let id = id.into();
        rows::prices::price(&mut self.reading(), &id).await
    }

    /// Lists the prices, newest first.
    pub async fn list_prices(
        &self,
        filter: &ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Price>, Error> {
        let slot = |id| schema::price(self.id(), PriceId::from_bytes(id));
        self.list("prices", Index::prices(self.id()), filter, page, slot, Some).await
    }
}

/// What prices are made with: a version of a plan or a subscription, which is invoiced in a currency.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Made {
    pub(in crate::engine) origin: PriceOrigin,
    pub(in crate::engine) currency: Currency,
}

impl Made {
    /// Makes prices with a version of a plan.
    pub(in crate::engine) const fn with_plan(currency: Currency) -> Self {
        Self { origin: PriceOrigin::Plan, currency }
    }

    /// Makes prices for one subscription.
    pub(in crate::engine) const fn for_subscription(currency: Currency) -> Self {
        Self { origin: PriceOrigin::Subscription, currency }
    }
}

/// Creates a price that gives credits, with a version of a plan or for one subscription (subscriptions 9.3).
pub(in crate::engine) async fn create_allocation_price(
    tx: &mut Transaction<'_>,
    new: &NewAllocationPrice,
    of: Made,
) -> Result<Price, Error> {
    new.check()?;
    credits::require_credits(tx).await?;
    rows::prices::check_filters(tx, &new.filters).await?;
    let item = match new.item_id {
        Some(id) => rows::items::item(tx, id).await?,
        None => rows::items::item_named(tx, &new.item_name()?).await?,
    };
    if let Some(license_type) = new.license_type_id {
        rows::licenses::license_type(tx, license_type).await?;
    }
    let (new, allocation) = new.clone().into_price(&item, of.currency);
    create(tx, &new, Some(allocation), of.origin).await
}

/// Creates a price, alone, with a version of a plan or for one subscription.
pub(in crate::engine) async fn create_price(
    tx: &mut Transaction<'_>,
    new: &NewPrice,
    origin: PriceOrigin,
) -> Result<Price, Error> {
    create(tx, new, None, origin).await
}

async fn create(
    tx: &mut Transaction<'_>,
    new: &NewPrice,
    credit_allocation: Option<CreditAllocation>,
    origin: PriceOrigin,
) -> Result<Price, Error> {
    let (mut price, group) = decide_price(tx, new).await?;
    price.credit_allocation = credit_allocation;
    if origin == PriceOrigin::Account && new.plan_phase_order.is_some() {
        let message = "is there for a price that is made with no plan";
        return Err(Error::invalid("plan_phase_order", message));
    }
    price.origin = origin;
    let is_listed = origin != PriceOrigin::Subscription;
    let id = price.id;
    if let Some(external) = &price.external_price_id {
        let alias = schema::price_external(tx.account, external);
        if tx.get(&alias).await?.is_some() {
            let detail = format!("a price with external id {external} exists already");
            return Err(Error::duplicate(detail));
        }
        tx.put(&alias, &PriceAlias { price_id: id })?;
    }
    if let Some(group) = group.filter(|_| is_listed) {
        rows::price_groups::add(tx, group, &price)?;
    }
    metering::keep_meters(tx, &[(&price, None)]).await?;
    rows::account::guard(tx).await?.put(tx, &schema::price(tx.account, id), &price)?;
    if is_listed {
        tx.put(&schema::price_by_time(tx.account, &price), &Nothing {})?;
    }
    Ok(price)
}

/// Decides on a price to create, of a dimensional price group where it is of one, and keeps nothing of it.
pub(in crate::engine) async fn decide_price(
    tx: &mut Transaction<'_>,
    new: &NewPrice,
) -> Result<(Price, Option<DimensionalPriceGroup>), Error> {
    let id = PriceId::generate(tx.now, tx.entropy());
    let group = match &new.dimensional_price_configuration {
        Some(own) => {
            new.check()?;
            Some(rows::price_groups::group(tx, &own.dimensional_price_group).await?)
        }
        None => None,
    };
    let price = new.clone().decide(id, group.as_ref(), tx.now)?;
    let item = rows::items::item(tx, new.item_id).await?;
    let metric = match price.charge.metric_id() {
        Some(metric_id) => Some(rows::metrics::metric(tx, metric_id).await?),
        None => None,
    };
    new.check_uses(&item, metric.as_ref())?;
    let mut price = price;
    if let Some(license_type) = new.license_type_id {
        let license_type = rows::licenses::license_type(tx, license_type).await?;
        let has_pools = !price.license_allocations.is_empty();
        price.license_grouping_key = has_pools.then_some(license_type.grouping_key);
    }
    Ok((price, group))
}

/// Notes the usage that the prices of a subscription are of, and makes sure that the meters are kept that the
/// conditions of its intervals need (subscriptions 1.5).
pub(super) async fn note_usage(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
) -> Result<(), Error> {
    let of = &entry.subscription;
    let prices = rows::prices::prices_of(tx, of).await?;
    let intervals = of.all_price_intervals().filter_map(|of| {
        let price = prices.iter().find(|price| price.id == of.price_id)?;
        Some((price, of.filter.as_ref()))
    });
    let intervals: Vec<_> = intervals.collect();
    let filtered = intervals.iter().filter(|(_, filter)| filter.is_some());
    metering::keep_meters(tx, &filtered.copied().collect::<Vec<_>>()).await?;
    metering::keep_licensed(tx, &intervals).await?;
    rows::plans::note_usage(tx, entry).await
}

#[boxed]
async fn update_price(
    tx: &mut Transaction<'_>,
    id: &IdOr<PriceId>,
    update: &PriceUpdate,
) -> Result<Price, Stop> {
    let before = rows::prices::price(tx, id).await?;
    let price = update.clone().decide(before.clone())?;
    if price == before {
        return Ok(price);
    }
    rows::account::guard(tx).await?.put(tx, &schema::price(tx.account, price.id), &price)?;
    let metadata = AttributeValue::Metadata(before.metadata);
    let previous_attributes = [("metadata".to_owned(), metadata)].into();
    let edited = Body::PriceEdited { price_id: price.id, previous_attributes };
    outbox::tell_of_catalogue(tx, [edited]).await?;
    Ok(price)
}
