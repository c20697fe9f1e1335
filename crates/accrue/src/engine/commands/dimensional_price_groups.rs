//! Dimensional price groups: operations, lists, and several of their prices at once.

use crate::{
    DimensionalPriceGroupId, Error, IdOr, Page, PageRequest, PriceId,
    engine::{
        Account, Call,
        commands::prices,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{
            self,
            lists::{Walk, page_in_order},
            price_groups,
        },
    },
    metric::MetricStatus,
    page::{InstantRange, Listing},
    price::{
        DimensionalPriceFilter, DimensionalPriceGroup, DimensionalPriceGroupFilter,
        DimensionalPriceGroupUpdate, NewDimensionalPriceGroup, NewDimensionalPrices, Price,
        PriceOrigin, PriceStatus,
    },
    schema::{self, Index},
};

impl Account {
    /// Creates a dimensional price group (subscriptions 6.2). Prices name it when they are created, alone, with a
    /// version of a plan, or [several at once](Self::create_dimensional_prices).
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such metric;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is archived;
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where another group has the external id;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where there are no dimensions, more than
    /// [10](crate::limits::DIMENSIONS), or one of them twice.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Name, PropertyName, store::MemoryStore};
    /// # use accrue::{item::NewItem, metric::{MetricQuery, NewMetric}};
    /// use accrue::price::{Cadence, DimensionalPriceRow, NewDimensionalPriceGroup, NewDimensionalPrices};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("Tokens")?)).await?;
    /// # let sql = MetricQuery::parse("SELECT sum(tokens) FROM events")?;
    /// # let new = NewMetric::new(Name::parse("Tokens")?, item.id, sql);
    /// # let metric = account.create_metric(new).await?;
    /// let dimensions = [PropertyName::parse("region")?, PropertyName::parse("tier")?];
    /// let new = NewDimensionalPriceGroup::new(Name::parse("By region")?, metric.id, dimensions);
    /// let group = account.create_dimensional_price_group(new).await?;
    ///
    /// let row = |region: &str, amount: &str| Ok::<_, accrue::DecimalError>(DimensionalPriceRow {
    ///     name: None,
    ///     dimension_values: vec![region.to_owned(), "gold".to_owned()],
    ///     amounts: vec![Decimal::parse(amount)?],
    /// });
    /// let rows = [row("eu", "0.02")?, row("us", "0.03")?];
    /// let new = NewDimensionalPrices::new(item.id, Cadence::Monthly, Currency::parse("USD")?, rows);
    /// let prices = account.create_dimensional_prices(group.id, new).await?;
    /// assert_eq!(prices[0].name.as_str(), "eu, gold");
    /// assert_eq!(account.fetch_dimensional_price_group(group.id).await?.price_count, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_dimensional_price_group(
        &self,
        new: NewDimensionalPriceGroup,
    ) -> Call<DimensionalPriceGroup> {
        Call::new(
            self,
            Op::new("create_dimensional_price_group", new, |tx, new| create_group(tx, new)),
        )
    }

    /// Changes the external id and the metadata of a dimensional price group, found by its id or its external id.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such group;
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where another group has the external id.
    pub fn update_dimensional_price_group(
        &self,
        id: impl Into<IdOr<DimensionalPriceGroupId>>,
        update: DimensionalPriceGroupUpdate,
    ) -> Call<DimensionalPriceGroup> {
        Call::new(
            self,
            Op::new("update_dimensional_price_group", (id.into(), update), |tx, (id, update)| {
                update_group(tx, id, update)
            }),
        )
    }

    /// Returns a dimensional price group by its id or its external id.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such group.
    pub async fn fetch_dimensional_price_group(
        &self,
        id: impl Into<IdOr<DimensionalPriceGroupId>>,
    ) -> Result<DimensionalPriceGroup, Error> {
        let id = id.into();
        price_groups::group(&mut self.reading(), &id).await
    }

    /// Lists the dimensional price groups, newest first.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn list_dimensional_price_groups(
        &self,
        filter: &DimensionalPriceGroupFilter,
        page: &PageRequest,
    ) -> Result<Page<DimensionalPriceGroup>, Error> {
        let filtered = format!("{filter:?}");
        let name = "dimensional_price_groups";
        let listing = Listing { name, account: self.id(), filter: filtered };
        let index = match filter.metric_id {
            Some(metric) => Index::dimensional_price_groups_of_metric(self.id(), metric),
            None => Index::dimensional_price_groups(self.id()),
        };
        let mut walk = Walk::new(listing, &index, InstantRange::default(), page)?;
        let id = DimensionalPriceGroupId::from_bytes;
        let slot = |at: &_| schema::price_group(self.id(), id(schema::id_at(at)));
        walk.run(&mut self.reading(), slot, Some).await
    }

    /// Creates several prices of a dimensional price group in one commit, all of one model, cadence and currency
    /// (subscriptions 6.2). Returns them in the order of their rows.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such group or item;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the item is not that of the group's
    /// metric, the cadence is `one_time`, or a row has not one value for each dimension;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where there are no rows or more than
    /// [100](crate::limits::DIMENSIONAL_PRICES), tiers do not join, or a row has not one amount for each of them;
    /// and those of [`create_price`](Self::create_price).
    pub fn create_dimensional_prices(
        &self,
        group: impl Into<IdOr<DimensionalPriceGroupId>>,
        new: NewDimensionalPrices,
    ) -> Call<Vec<Price>> {
        Call::new(
            self,
            Op::new("create_dimensional_prices", (group.into(), new), |tx, (group, new)| {
                create_prices(tx, group, new)
            }),
        )
    }

    /// Lists the prices of a dimensional price group, newest first.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such group;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn list_dimensional_prices(
        &self,
        group: impl Into<IdOr<DimensionalPriceGroupId>>,
        filter: &DimensionalPriceFilter,
        page: &PageRequest,
    ) -> Result<Page<Price>, Error> {
        let group = group.into();
        let mut tx = self.reading();
        let group = price_groups::group(&mut tx, &group).await?.id;
        let filtered = format!("{group} {filter:?}");
        let listing = Listing { name: "dimensional_prices", account: self.id(), filter: filtered };
        if filter.status == Some(PriceStatus::Archived) {
            return page_in_order(&listing, page, page.rows()?, std::iter::empty());
        }
        let index = Index::prices_of_group(self.id(), group);
        let mut walk = Walk::new(listing, &index, InstantRange::default(), page)?;
        let slot = |at: &_| schema::price(self.id(), PriceId::from_bytes(schema::id_at(at)));
        walk.run(&mut tx, slot, Some).await
    }
}

#[boxed]
async fn create_group(
    tx: &mut Transaction<'_>,
    new: &NewDimensionalPriceGroup,
) -> Result<DimensionalPriceGroup, Stop> {
    let id = DimensionalPriceGroupId::generate(tx.now, tx.entropy());
    let group = new.clone().decide(id, tx.now)?;
    let metric = rows::metrics::metric(tx, group.metric_id).await?;
    if metric.status == MetricStatus::Archived {
        return Err(Error::constraint(format!("the metric {} is archived", metric.id)).into());
    }
    price_groups::put_new(tx, &group).await?;
    Ok(group)
}

#[boxed]
async fn update_group(
    tx: &mut Transaction<'_>,
    id: &IdOr<DimensionalPriceGroupId>,
    update: &DimensionalPriceGroupUpdate,
) -> Result<DimensionalPriceGroup, Stop> {
    let before = price_groups::group(tx, id).await?;
    let after = update.clone().decide(before.clone())?;
    price_groups::save(tx, &before, &after).await?;
    Ok(after)
}

#[boxed]
async fn create_prices(
    tx: &mut Transaction<'_>,
    group: &IdOr<DimensionalPriceGroupId>,
    new: &NewDimensionalPrices,
) -> Result<Vec<Price>, Stop> {
    let group = price_groups::group(tx, group).await?;
    let new_prices = new.clone().decide(&group)?;
    let item = rows::items::item(tx, new.item_id).await?;
    let metric = rows::metrics::metric(tx, group.metric_id).await?;
    if item.id != metric.item_id {
        let detail = format!(
            "the prices of the group sell the item {} of its metric, and not {}",
            metric.item_id, item.id
        );
        return Err(Error::constraint(detail).into());
    }
    let mut created = Vec::with_capacity(new_prices.len());
    for (index, price) in new_prices.iter().enumerate() {
        let price = prices::create_price(tx, price, PriceOrigin::Account).await;
        created.push(price.map_err(|error| error.within(&format!("prices[{index}]")))?);
    }
    Ok(created)
}
