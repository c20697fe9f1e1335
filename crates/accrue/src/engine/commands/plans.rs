//! Plans: operations and lists.

use crate::{
    Error, ExternalId, IdOr, Page, PageRequest, PlanId,
    engine::{
        Account, Call,
        commands::plan_versions,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, lists::Walk, outbox},
    },
    page::Listing,
    plan::{Agreed, NewPlan, Placed, Plan, PlanFilter, PlanUpdate, previous_attributes},
    schema::{self, Index, Nothing, PlanAlias},
    webhook::Body,
};

impl Account {
    /// Creates a plan, with its first version and the prices of that.
    ///
    /// # Errors
    ///
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where the external id is used, and
    /// those of [`create_plan_version`](Self::create_plan_version) for its prices and adjustments.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Name, plan::NewPlan, store::MemoryStore};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let plan = NewPlan::new(Name::parse("Pro")?, Currency::parse("USD")?);
    /// let plan = account.create_plan(plan).await?;
    /// assert_eq!(plan.version.number(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_plan(&self, new: NewPlan) -> Call<Plan> {
        Call::new(self, Op::new("create_plan", new, |tx, new| create_plan(tx, new)))
    }

    /// Changes a plan, found by its id or its external id. Its prices never change, but by [another
    /// version](Self::create_plan_version). A draft is made active so, and a plan archived: subscriptions come to those
    /// that are active alone (subscriptions 5.2).
    ///
    /// # Errors
    ///
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where another plan has the external
    /// id; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where what is no draft is to become one.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, ExternalId, Name, Patch, store::MemoryStore};
    /// # use accrue::plan::{NewPlan, PlanUpdate};
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let plan = NewPlan::new(Name::parse("Pro")?, Currency::parse("USD")?);
    /// # let plan = account.create_plan(plan).await?;
    /// let pro = ExternalId::parse("pro")?;
    /// let update = PlanUpdate { external_plan_id: Patch::Set(pro.clone()), ..Default::default() };
    /// let plan = account.update_plan(plan.id, update).await?;
    /// assert_eq!(account.fetch_plan(pro).await?, plan);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn update_plan(&self, id: impl Into<IdOr<PlanId>>, update: PlanUpdate) -> Call<Plan> {
        Call::new(
            self,
            Op::new("update_plan", (id.into(), update), |tx, (id, update)| {
                update_plan(tx, id, update)
            }),
        )
    }

    /// Returns a plan by its id or its external id.
    pub async fn fetch_plan(&self, id: impl Into<IdOr<PlanId>>) -> Result<Plan, Error> {
        let id = id.into();
        rows::plans::plan(&mut self.reading(), &id).await
    }

    /// Lists the plans, newest first.
    pub async fn list_plans(
        &self,
        filter: &PlanFilter,
        page: &PageRequest,
    ) -> Result<Page<Plan>, Error> {
        let filtered = format!("{filter:?}");
        let listing = Listing { name: "plans", account: self.id(), filter: filtered };
        let mut walk = Walk::new(listing, &Index::plans(self.id()), filter.created, page)?;
        let slot = |id| schema::plan(self.id(), PlanId::from_bytes(id));
        let is_listed = |plan: &Plan| filter.status.is_none_or(|status| plan.status == status);
        let show = |plan| Some(plan).filter(is_listed);
        walk.run(&mut self.reading(), |at| slot(schema::id_at(at)), show).await
    }
}

/// Makes an external id that of a plan, where no plan has it.
async fn name_plan(
    tx: &mut Transaction<'_>,
    external: &ExternalId,
    plan_id: PlanId,
) -> Result<(), Error> {
    let alias = schema::plan_external(tx.account, external);
    if tx.get(&alias).await?.is_some() {
        let detail = format!("a plan with external id {external} exists already");
        return Err(Error::duplicate(detail));
    }
    tx.put(&alias, &PlanAlias { plan_id })
}

#[boxed]
async fn create_plan(tx: &mut Transaction<'_>, new: &NewPlan) -> Result<Plan, Stop> {
    let id = PlanId::generate(tx.now, tx.entropy());
    let plan = new.clone().decide(id, tx.now)?;
    if let Some(external) = &plan.external_plan_id {
        name_plan(tx, external, id).await?;
    }
    tx.put(&schema::plan(tx.account, id), &plan)?;
    tx.put(&schema::plan_by_time(tx.account, &plan), &Nothing {})?;
    let (prices, agreed) = (Placed::all(&new.prices), Agreed::new(&new.adjustments));
    let version = plan_versions::create_version(tx, &plan, plan.version, &prices, agreed).await?;
    version.check_phases(&plan)?;
    outbox::tell_of_catalogue(tx, [Body::PlanCreated { plan_id: id }]).await?;
    Ok(plan)
}

#[boxed]
async fn update_plan(
    tx: &mut Transaction<'_>,
    id: &IdOr<PlanId>,
    update: &PlanUpdate,
) -> Result<Plan, Stop> {
    let before = rows::plans::plan(tx, id).await?;
    let after = update.clone().decide(before.clone())?;
    if before.external_plan_id != after.external_plan_id {
        if let Some(external) = &before.external_plan_id {
            let alias = schema::plan_external(tx.account, external);
            tx.get(&alias).await?;
            tx.delete(&alias);
        }
        if let Some(external) = &after.external_plan_id {
            name_plan(tx, external, after.id).await?;
        }
    }
    if after == before {
        return Ok(after);
    }
    tx.put(&schema::plan(tx.account, after.id), &after)?;
    let previous_attributes = previous_attributes(&before, &after);
    let edited = Body::PlanEdited { plan_id: after.id, previous_attributes };
    outbox::tell_of_catalogue(tx, [edited]).await?;
    Ok(after)
}
