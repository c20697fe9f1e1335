//! Migrations of the subscriptions of a plan to one of its versions (`docs/decisions/migrations-are-planned.md`).

mod step;

pub(in crate::engine) use self::step::migrate_some;
use crate::{
    Error, IdOr, ListFilter, MigrationId, Page, PageRequest, PlanId,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, migrations},
    },
    plan::{Migration, NewMigration},
    schema::{self, Index},
};

impl Account {
    /// Moves subscriptions of a plan to one of its versions (subscriptions 5.5, 5.6): now, at an instant, or each at the
    /// end of its term. Prices that both versions have go on, and what was agreed on for one subscription stays.
    ///
    /// [`tick`](crate::Billing::tick) does it, some subscriptions at a time and each in a commit of its own: as soon
    /// as one was looked at, its next version is known, and it takes effect at its instant.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such plan or version;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where more than
    /// [1,000](crate::limits::MIGRATED) subscriptions are named.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Email, Name, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, plan::NewPlan, subscription::NewSubscription};
    /// use accrue::plan::{MigrationStatus, NewMigration, PlanVersionChange};
    ///
    /// # pollster::block_on(async {
    /// # let billing = Billing::with_system(MemoryStore::new());
    /// # let account = billing.account(AccountId::parse("acme")?);
    /// # let usd = Currency::parse("USD")?;
    /// # let pro = account.create_plan(NewPlan::new(Name::parse("Pro")?, usd)).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let subscription = account.create_subscription(NewSubscription::new(ada.id, pro.id)).await?;
    /// let second = account.change_plan_version(pro.id, PlanVersionChange::default()).await?.version;
    /// let migration = account.migrate_plan(pro.id, NewMigration::to(second)).await?;
    /// while billing.tick(100).await?.more {}
    /// let migration = account.fetch_migration(pro.id, migration.id).await?;
    /// assert_eq!((migration.moved, migration.refused), (1, 0));
    /// assert_eq!(migration.status(billing.now()), MigrationStatus::Completed);
    /// assert_eq!(account.fetch_subscription(subscription.id).await?.plan_version, second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn migrate_plan(
        &self,
        plan: impl Into<IdOr<PlanId>>,
        new: NewMigration,
    ) -> Call<Migration> {
        Call::new(
            self,
            Op::new("migrate_plan", (plan.into(), new), |tx, (plan, new)| {
                migrate_plan(tx, plan, new)
            }),
        )
    }

    /// Returns a migration of a plan.
    pub async fn fetch_migration(&self, plan: PlanId, id: MigrationId) -> Result<Migration, Error> {
        migrations::migration(&mut self.reading(), plan, id).await
    }

    /// Lists the migrations of a plan, newest first.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such plan;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn list_migrations(
        &self,
        plan: PlanId,
        page: &PageRequest,
    ) -> Result<Page<Migration>, Error> {
        let plan = rows::plans::plan(&mut self.reading(), &plan.into()).await?.id;
        let slot = |id| schema::migration(self.id(), MigrationId::from_bytes(id));
        let index = Index::migrations_of_plan(self.id(), plan);
        self.list("migrations", index, &ListFilter::default(), page, slot, Some).await
    }

    /// Cancels a migration: subscriptions that are still to move stay, and those that have moved stay moved
    /// (subscriptions 5.6). [`tick`](crate::Billing::tick) takes the moves back: one whose instant comes before has
    /// happened.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where the plan has no such migration;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is completed or canceled.
    pub fn cancel_migration(&self, plan: PlanId, id: MigrationId) -> Call<Migration> {
        Call::new(
            self,
            Op::new("cancel_migration", (plan, id), |tx, (plan, id)| {
                cancel_migration(tx, *plan, *id)
            }),
        )
    }
}

#[boxed]
async fn migrate_plan(
    tx: &mut Transaction<'_>,
    plan: &IdOr<PlanId>,
    new: &NewMigration,
) -> Result<Migration, Stop> {
    let plan = rows::plans::plan(tx, plan).await?;
    rows::plans::plan_version(tx, plan.id, new.version).await?;
    let id = MigrationId::generate(tx.now, tx.entropy());
    let migration = new.clone().decide(id, plan.id, tx.now)?;
    migrations::save_new(tx, &migration)?;
    Ok(migration)
}

#[boxed]
async fn cancel_migration(
    tx: &mut Transaction<'_>,
    plan: PlanId,
    id: MigrationId,
) -> Result<Migration, Stop> {
    let mut migration = migrations::migration(tx, plan, id).await?;
    migration.cancel(tx.now)?;
    // Whoever plans the rest finds that it is canceled, and takes back what it has planned.
    migrations::save_due(tx, &migration, tx.now)?;
    Ok(migration)
}
