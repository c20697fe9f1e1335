//! Versions of plans, with their prices.

use crate::{
    Error, IdOr, PlanId,
    engine::{
        Account, Call,
        commands::prices::{self, Made},
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, outbox},
        time::metering,
    },
    plan::{
        Agreed, DefaultVersion, NewPlanVersion, Placed, Plan, PlanPrice, PlanVersion,
        PlanVersionChange, PricedVersion,
    },
    price::{Price, PricedUsage},
    schema::{self, PlanVersionEntry},
    store::Key,
    webhook::Body,
};

impl Account {
    /// Creates a version of a plan, numbered one above the highest. Subscriptions stay on the
    /// version that they are on.
    ///
    /// # Errors
    ///
    /// Those of [`create_price`](Self::create_price) for a new price, and
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) for the plan and the prices that it
    /// keeps; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where a price is there
    /// twice, its prices have more than 200 cells together, or an adjustment is over prices that it
    /// cannot be over: in a pricing unit, of fees where it is of units, or that do not fall due together.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Name, item::NewItem, store::MemoryStore};
    /// # use accrue::{plan::{NewPlan, NewPlanVersion}, price::{Cadence, NewPrice}};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let fee = |name, amount: u64| Ok::<_, accrue::TextError>(
    /// #     NewPrice::builder(Name::parse(name)?, item.id)
    /// #         .billed(Cadence::Monthly, usd)
    /// #         .fee_in_advance(amount.into()),
    /// # );
    /// let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    /// plan.prices = vec![fee("seat", 10)?.into()];
    /// let plan = account.create_plan(plan).await?;
    ///
    /// let seat = account.fetch_plan_version(plan.id, plan.version).await?.prices[0].id;
    /// let more = NewPlanVersion::new([seat.into(), fee("support", 50)?.into()]);
    /// let more = account.create_plan_version(plan.id, more).await?;
    /// assert_eq!((more.version.number(), more.prices.len()), (2, 2));
    ///
    /// let plan = account.set_default_plan_version(plan.id, more.version).await?;
    /// assert_eq!(plan.version, more.version);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_plan_version(
        &self,
        plan: impl Into<IdOr<PlanId>>,
        new: NewPlanVersion,
    ) -> Call<PricedVersion> {
        Call::new(
            self,
            Op::new("create_plan_version", (plan.into(), new), |tx, (plan, new)| {
                create_plan_version(tx, plan, new)
            }),
        )
    }

    /// Creates a version of a plan from its latest one, numbered one above: prices are added to
    /// those of that, removed or replaced (wire 5.1). Subscriptions stay on the version that they are on.
    ///
    /// # Errors
    ///
    /// Those of [`create_plan_version`](Self::create_plan_version);
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where another number is asked
    /// for, or a price is to go that the latest version does not have;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) for an adjustment to go that it does not
    /// have.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Name, item::NewItem, store::MemoryStore};
    /// # use accrue::{plan::{NewPlan, PlanVersionChange}, price::{Cadence, NewPrice}};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let fee = |name, amount: u64| Ok::<_, accrue::TextError>(
    /// #     NewPrice::builder(Name::parse(name)?, item.id)
    /// #         .billed(Cadence::Monthly, usd)
    /// #         .fee_in_advance(amount.into()),
    /// # );
    /// let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    /// plan.prices = vec![fee("seat", 10)?.into()];
    /// let plan = account.create_plan(plan).await?;
    ///
    /// let mut change = PlanVersionChange::default();
    /// change.add = vec![fee("support", 50)?.into()];
    /// let more = account.change_plan_version(plan.id, change).await?;
    /// assert_eq!((more.version.number(), more.prices.len()), (2, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn change_plan_version(
        &self,
        plan: impl Into<IdOr<PlanId>>,
        change: PlanVersionChange,
    ) -> Call<PricedVersion> {
        Call::new(
            self,
            Op::new("change_plan_version", (plan.into(), change), |tx, (plan, change)| {
                change_plan_version(tx, plan, change)
            }),
        )
    }

    /// Chooses the version that subscriptions are created on from now on, unless they choose
    /// another.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such plan or
    /// version.
    pub fn set_default_plan_version(
        &self,
        plan: impl Into<IdOr<PlanId>>,
        version: PlanVersion,
    ) -> Call<Plan> {
        Call::new(
            self,
            Op::new("set_default_plan_version", (plan.into(), version), |tx, (plan, version)| {
                set_default_plan_version(tx, plan, *version)
            }),
        )
    }

    /// Returns a version of a plan, with its prices.
    pub async fn fetch_plan_version(
        &self,
        plan: impl Into<IdOr<PlanId>>,
        version: PlanVersion,
    ) -> Result<PricedVersion, Error> {
        let plan = plan.into();
        let mut tx = self.reading();
        let plan_id = rows::plans::plan(&mut tx, &plan).await?.id;
        priced_version(&mut tx, plan_id, version).await
    }
}

async fn priced_version(
    tx: &mut Transaction<'_>,
    plan_id: PlanId,
    version: PlanVersion,
) -> Result<PricedVersion, Error> {
    let PlanVersionEntry { prices, adjustments, replaces, cycle, created_at, .. } =
        rows::plans::plan_version(tx, plan_id, version).await?;
    let prices = rows::prices::prices(tx, &prices).await?;
    Ok(PricedVersion { plan_id, version, prices, adjustments, replaces, cycle, created_at })
}

/// Creates a version of a plan, and those of its prices that are new.
pub(in crate::engine) async fn create_version(
    tx: &mut Transaction<'_>,
    plan: &Plan,
    version: PlanVersion,
    prices: &[Placed],
    agreed: Agreed<'_>,
) -> Result<PricedVersion, Error> {
    let (placed, plan_id) = (prices, plan.id);
    let prices = placed_prices(tx, placed, Made::with_plan(plan.currency)).await?;
    rows::prices::check_adjusted(tx, &agreed.added()).await?;
    let priced = PricedVersion::decide(plan_id, version, (prices, placed), agreed, tx.now)?;
    let all: Vec<_> = priced.prices.iter().map(|price| (price, None)).collect();
    metering::keep_licensed(tx, &all).await?;
    rows::prices::save_adjustments(tx, &priced.adjustments, agreed.latest())?;
    let entry = PlanVersionEntry {
        priced: PricedUsage::of(priced.prices.iter().map(|price| (price, None))),
        prices: priced.prices.iter().map(|price| price.id).collect(),
        adjustments: priced.adjustments.clone(),
        replaces: priced.replaces.clone(),
        cycle: priced.cycle,
        created_at: priced.created_at,
        ..PlanVersionEntry::default()
    };
    let guard = rows::account::guard(tx).await?;
    guard.put(tx, &schema::plan_version(tx.account, plan_id, version), &entry)?;
    Ok(priced)
}

/// Returns prices, in the order in which they are placed: those that exist, and those that are made.
pub(super) async fn placed_prices(
    tx: &mut Transaction<'_>,
    prices: &[Placed],
    made: Made,
) -> Result<Vec<Price>, Error> {
    for Placed { at, price, .. } in prices {
        let checked = match price {
            PlanPrice::New(new) => new.check(),
            PlanPrice::Allocation(new) => new.check(),
            PlanPrice::Existing(_) => Ok(()),
        };
        checked.map_err(|error| error.within(at))?;
    }
    let keys: Vec<_> = prices.iter().flat_map(|placed| keys_of(tx, &placed.price)).collect();
    tx.fetch(&keys).await?;
    let mut all = Vec::with_capacity(prices.len());
    for Placed { at, price, .. } in prices {
        let price = price_to_use(tx, price, made).await;
        all.push(price.map_err(|error| error.within(at))?);
    }
    Ok(all)
}

/// Returns a price that exists, or creates it.
pub(super) async fn price_to_use(
    tx: &mut Transaction<'_>,
    price: &PlanPrice,
    made: Made,
) -> Result<Price, Error> {
    match price {
        PlanPrice::New(new) => prices::create_price(tx, new, made.origin).await,
        PlanPrice::Allocation(new) => prices::create_allocation_price(tx, new, made).await,
        PlanPrice::Existing(id) => rows::prices::price(tx, id).await,
    }
}

/// Returns the rows that a price of a version rests on, to be read in one call of the store.
fn keys_of(tx: &Transaction<'_>, price: &PlanPrice) -> Vec<Key> {
    let account = tx.account;
    let alias = |external| schema::price_external(account, external).key().clone();
    match price {
        PlanPrice::Existing(IdOr::Id(id)) => vec![schema::price(account, *id).key().clone()],
        PlanPrice::Existing(IdOr::External(external)) => vec![alias(external)],
        PlanPrice::Allocation(new) => {
            new.item_id.iter().map(|id| schema::item(account, *id).key().clone()).collect()
        }
        PlanPrice::New(new) => {
            let item = schema::item(account, new.item_id).key().clone();
            let metric = new.charge.metric_id().map(|id| schema::metric(account, id).key().clone());
            let alias = new.external_price_id.as_ref().map(alias);
            let group = new.dimensional_price_configuration.as_ref();
            let group = group.map(|own| match &own.dimensional_price_group {
                IdOr::Id(id) => schema::price_group(account, *id).key().clone(),
                IdOr::External(external) => {
                    schema::price_group_external(account, external).key().clone()
                }
            });
            [item].into_iter().chain(metric).chain(alias).chain(group).collect()
        }
    }
}

#[boxed]
async fn create_plan_version(
    tx: &mut Transaction<'_>,
    plan: &IdOr<PlanId>,
    new: &NewPlanVersion,
) -> Result<PricedVersion, Stop> {
    new.check()?;
    let plan = rows::plans::plan(tx, plan).await?;
    let version = plan.latest_version.next()?;
    let (prices, agreed) = (Placed::all(&new.prices), Agreed::new(&new.adjustments));
    let priced = create_version(tx, &plan, version, &prices, agreed).await?;
    priced.check_phases(&plan)?;
    // Who creates a version at the same time reads this row, so that only one gets the number.
    save_with_version(tx, plan, version, new.default).await?;
    Ok(priced)
}

#[boxed]
async fn change_plan_version(
    tx: &mut Transaction<'_>,
    plan: &IdOr<PlanId>,
    change: &PlanVersionChange,
) -> Result<PricedVersion, Stop> {
    let plan = rows::plans::plan(tx, plan).await?;
    let latest = rows::plans::plan_version(tx, plan.id, plan.latest_version).await?;
    let version = plan.latest_version.next()?;
    let prices = rows::prices::prices(tx, &latest.prices).await?;
    let prices = change.decide(version, (&prices, &latest.replaces))?;
    let agreed = Agreed::changed(&latest.adjustments, change)?;
    let priced = create_version(tx, &plan, version, &prices, agreed).await?;
    priced.check_phases(&plan)?;
    // Who creates a version at the same time reads this row, so that only one gets the number.
    save_with_version(tx, plan, version, change.default).await?;
    Ok(priced)
}

/// Notes a version that was created, and tells of it.
async fn save_with_version(
    tx: &mut Transaction<'_>,
    before: Plan,
    version: PlanVersion,
    default: DefaultVersion,
) -> Result<(), Error> {
    let (plan_id, previous) = (before.id, before.version);
    let plan = before.with_version(version, default);
    tx.put(&schema::plan(tx.account, plan_id), &plan)?;
    let created = Body::PlanVersionCreated { plan_id, version };
    outbox::tell_of_catalogue(tx, [created].into_iter().chain(default_set(&plan, previous))).await
}

/// Tells that a plan has another default version, where it has.
fn default_set(plan: &Plan, previous_default: PlanVersion) -> Option<Body> {
    let (plan_id, new_default) = (plan.id, plan.version);
    let set = Body::PlanDefaultVersionSet { plan_id, new_default, previous_default };
    (new_default != previous_default).then_some(set)
}

#[boxed]
async fn set_default_plan_version(
    tx: &mut Transaction<'_>,
    plan: &IdOr<PlanId>,
    version: PlanVersion,
) -> Result<Plan, Stop> {
    let plan = rows::plans::plan(tx, plan).await?;
    rows::plans::plan_version(tx, plan.id, version).await?;
    let previous = plan.version;
    let plan = plan.with_default(version);
    tx.put(&schema::plan(tx.account, plan.id), &plan)?;
    outbox::tell_of_catalogue(tx, default_set(&plan, previous)).await?;
    Ok(plan)
}
