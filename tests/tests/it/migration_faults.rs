//! What a migration does to subscriptions: each of its calls of the store fails in each way. Whoever asks again, in a new
//! process, has one effect (subscriptions 5.6).

use std::{collections::BTreeMap, sync::Arc};

use accrue::{
    Currency, Error, MigrationId, PageRequest, PlanId,
    item::NewItem,
    plan::{MigrationTiming, NewMigration, NewPlan, PlanVersion, PlanVersionChange},
    price::{Cadence, NewPrice},
    store::MemoryStore,
    subscription::{NewSubscription, SubscriptionFilter},
};
use accrue_conformance::{Calls, Fault, FaultyStore};
use accrue_tests::{
    host::{Host, customer, instant, key, name, number},
    stores::dump,
};
use pollster::block_on;

const FAULTS: [Fault; 4] = [Fault::Refused, Fault::Lost, Fault::Dropped, Fault::Corrupt];
const SECOND: PlanVersion = PlanVersion::new(2);
/// After the end of the first billing period.
const NEXT_PERIOD: &str = "2026-04-11T09:00:00Z";

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    /// All move at the end of their billing period.
    Plan,
    /// All move at once.
    Move,
    /// That end comes.
    Come,
    /// It is taken back before.
    Cancel,
    /// A later one is back to where they are.
    GoBack,
}

const ASKS: [Ask; 5] = [Ask::Plan, Ask::Move, Ask::Come, Ask::Cancel, Ask::GoBack];

/// Two customers on the first of two versions of a plan.
struct Scene {
    store: Arc<FaultyStore<MemoryStore>>,
    host: Host,
    ask: Ask,
    plan: PlanId,
    migration: Option<MigrationId>,
}

impl Scene {
    fn set(ask: Ask) -> Self {
        let store = Arc::new(FaultyStore::new(MemoryStore::new()));
        let host = Host::on(Arc::clone(&store));
        let account = &host.account;
        let item = block_on(account.create_item(NewItem::new(name("work"))).into_future()).unwrap();
        let usd = Currency::parse("USD").unwrap();
        let fee = |amount: &str| {
            let fee = NewPrice::builder(name("fee"), item.id).billed(Cadence::Monthly, usd);
            fee.fee_in_advance(number(amount))
        };
        let mut plan = NewPlan::new(name("plan"), usd);
        plan.prices.push(fee("31").into());
        let plan = block_on(account.create_plan(plan).into_future()).unwrap();
        let first = block_on(account.fetch_plan_version(plan.id, plan.version)).unwrap();
        let replace = vec![(first.prices[0].id, fee("62").into())];
        let second = PlanVersionChange { replace, ..PlanVersionChange::default() };
        block_on(account.change_plan_version(plan.id, second).into_future()).unwrap();
        for who in ["ada", "bob"] {
            let who = block_on(account.create_customer(customer(who)).into_future()).unwrap();
            let new = NewSubscription::new(who.id, plan.id);
            block_on(account.create_subscription(new).into_future()).unwrap();
        }
        let mut scene = Self { store, host, ask, plan: plan.id, migration: None };
        if matches!(ask, Ask::Come | Ask::Cancel | Ask::GoBack) {
            let made =
                block_on(scene.migrate(&scene.host, SECOND, MigrationTiming::EndOfTerm, "p"));
            scene.migration = Some(made.unwrap());
        }
        if ask == Ask::Come {
            scene.host.clock.set(instant(NEXT_PERIOD));
        }
        scene
    }

    /// Asks for a migration, and has it planned.
    async fn migrate(
        &self,
        host: &Host,
        version: PlanVersion,
        when: MigrationTiming,
        under: &str,
    ) -> Result<MigrationId, Error> {
        let new = NewMigration { when, ..NewMigration::to(version) };
        let made = host.account.migrate_plan(self.plan, new).keyed(key(under)).await?;
        while host.billing.tick(10).await?.more {}
        Ok(made.outcome.id)
    }

    /// Asks once, in one process.
    async fn ask(&self, host: &Host) -> Result<(), Error> {
        match self.ask {
            Ask::Plan => {
                self.migrate(host, SECOND, MigrationTiming::EndOfTerm, "k").await.map(drop)
            }
            Ask::Move => {
                self.migrate(host, SECOND, MigrationTiming::Immediate, "k").await.map(drop)
            }
            Ask::GoBack => {
                let first = PlanVersion::new(1);
                self.migrate(host, first, MigrationTiming::EndOfTerm, "k").await.map(drop)
            }
            Ask::Come => {
                while host.billing.tick(10).await?.more {}
                Ok(())
            }
            Ask::Cancel => {
                let id = self.migration.unwrap();
                host.account.cancel_migration(self.plan, id).keyed(key("k")).await?;
                while host.billing.tick(10).await?.more {}
                Ok(())
            }
        }
    }

    /// What there is afterwards: how many rows, what subscriptions are charged when, what migrations say, and what was
    /// told.
    fn shape(&self) -> String {
        let account = &self.host.account;
        let mut counts = BTreeMap::<String, usize>::new();
        for row in dump(&*self.host.store).into_keys() {
            *counts.entry(row.split(':').next().unwrap().to_owned()).or_default() += 1;
        }
        let (page, filter) = (PageRequest::default(), SubscriptionFilter::default());
        let subscriptions = block_on(account.list_subscriptions(&filter, &page)).unwrap().data;
        let shown = subscriptions.iter().map(|of| {
            let plans = of.plans();
            let plans = plans.iter().map(|of| (of.plan_version.number(), of.start_date));
            let prices = of.price_intervals.iter().map(|of| (of.start_date, of.end_date));
            (plans.collect::<Vec<_>>(), prices.collect::<Vec<_>>())
        });
        let shown: Vec<_> = shown.collect();
        let migrations = block_on(account.list_migrations(self.plan, &page)).unwrap().data;
        let now = self.host.billing.now();
        let migrations = migrations.iter().map(|of| (of.status(now), of.moved, of.refused));
        let migrations: Vec<_> = migrations.collect();
        let mut told: Vec<_> =
            self.host.waiting().iter().map(|message| message.message_type()).collect();
        told.sort_unstable();
        format!("{counts:#?}\n{shown:#?}\n{migrations:?}\n{told:#?}")
    }
}

#[test]
fn a_migration_has_one_effect_whatever_call_fails() {
    let mut tried = 0;
    for ask in ASKS {
        let smooth = Scene::set(ask);
        let (untouched, before) = (smooth.shape(), smooth.store.calls(Calls::All));
        block_on(smooth.ask(&smooth.host)).unwrap();
        let calls = smooth.store.calls(Calls::All) - before;
        let expected = smooth.shape();
        assert_ne!(untouched, expected, "{ask:?} does nothing");
        for nth in 0..calls {
            for fault in FAULTS {
                let scene = Scene::set(ask);
                scene.store.fail_nth(Calls::All, scene.store.calls(Calls::All) + nth, fault);
                // Whatever it answers: the process ends, and others go on.
                let _ = block_on(scene.ask(&scene.host));
                block_on(scene.ask(&scene.host.another(2))).unwrap();
                assert_eq!(scene.shape(), expected, "{ask:?}, call {nth} of {calls}, {fault:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 200, "only {tried} were tried");
}
