use async_trait::async_trait;

use super::{
    Account, Call, ListFilter,
    apply::{Command, Request, fingerprint},
    unit::{Stop, Unit},
};
use crate::{
    Error, IdOr, Page, PageRequest, PlanId,
    idempotency::Fingerprint,
    plan::{NewPlan, Plan},
    schema::{self, Index, Nothing, PlanAlias},
};

impl Account {
    /// Creates a plan, with its first version and the prices of that.
    ///
    /// # Errors
    ///
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where the external id is used, and
    /// those of [`create_plan_version`](Self::create_plan_version) for its prices.
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
        Call::new(self, CreatePlan { new })
    }

    /// Returns a plan by its id or its external id.
    pub async fn fetch_plan(&self, id: impl Into<IdOr<PlanId>>) -> Result<Plan, Error> {
        let id = id.into();
        self.reading().plan(&id).await
    }

    /// Lists the plans, newest first.
    pub async fn list_plans(
        &self,
        filter: ListFilter,
        page: &PageRequest,
    ) -> Result<Page<Plan>, Error> {
        let slot = |id| schema::plan(self.id(), PlanId::from_bytes(id));
        self.list("plans", Index::plans(self.id()), filter, page, slot, Some).await
    }
}

struct CreatePlan {
    new: NewPlan,
}

#[async_trait]
impl Command for CreatePlan {
    type Outcome = Plan;

    async fn run(&self, unit: &mut Unit<'_>) -> Result<Plan, Stop> {
        let id = PlanId::generate(unit.now, unit.entropy());
        let plan = self.new.clone().decide(id, unit.now)?;
        if let Some(external) = &plan.external_plan_id {
            let alias = schema::plan_external(unit.account, external);
            if unit.get(&alias).await?.is_some() {
                let detail = format!("a plan with external id {external} exists already");
                return Err(Error::duplicate(detail).into());
            }
            unit.put(&alias, &PlanAlias { plan_id: id })?;
        }
        unit.put(&schema::plan(unit.account, id), &plan)?;
        unit.put(&schema::plan_by_time(unit.account, &plan), &Nothing {})?;
        unit.create_version(id, plan.version, &self.new.prices).await?;
        Ok(plan)
    }
}

impl Request for CreatePlan {
    fn fingerprint(&self) -> Result<Fingerprint, Error> {
        fingerprint("create_plan", &self.new)
    }
}
