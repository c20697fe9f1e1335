use accrue::{
    MetadataUpdate, Patch,
    metric::Metric,
    plan::{
        DefaultVersion, MigrationTiming, NewMigration, NewPlan, NewPlanVersion, PlanStatus,
        PlanUpdate,
    },
    price::{
        Adjustment, FilterOperator, FilterValues, NewAdjustment, PriceClass, PriceFilter,
        PriceUpdate,
    },
    subscription::{
        BillingCycleAlignment, IntervalChanges, NewAdjustmentInterval, NewSubscription, PlanChange,
        PlanChangeTiming, PriceOverride, ReplacedPrice,
    },
};

use crate::support::fixture::{Fixture, name, number, run, usd};

/// A subscription whose plan has changed, another whose plan will, with an adjustment of its own, a third that is
/// on another version of its plan, and a fourth that a migration is to move to it.
pub(super) fn change(fixture: &Fixture, sum: &Metric) {
    let [one, other] = ["1", "2"].map(|amount| {
        let prices = [fixture.usage_at(amount, sum), fixture.advance_fee(amount)];
        fixture.priced_plan(prices.map(Into::into))
    });
    let version = NewPlanVersion::new([fixture.usage_at("3", sum).into()]);
    let version = run(fixture.account.create_plan_version(one.id, version)).unwrap().version;
    let subscribe = |external: &str| {
        fixture.create(NewSubscription::new(fixture.customer(external).id, one.id)).id
    };
    let change = PlanChange {
        alignment: BillingCycleAlignment::PlanChangeDate,
        ..PlanChange::immediate(other.id)
    };
    run(fixture.account.schedule_plan_change(subscribe("changed"), change.clone())).unwrap();
    let changing = subscribe("changing");
    let later = PlanChange { when: PlanChangeTiming::EndOfSubscriptionTerm, ..change };
    run(fixture.account.schedule_plan_change(changing, later)).unwrap();
    let most = NewAdjustment::new(Adjustment::Maximum(number("7")));
    let now = accrue::Clock::now(&fixture.clock);
    let add_adjustments = vec![NewAdjustmentInterval::new(
        NewAdjustment {
            filters: vec![PriceFilter {
                operator: FilterOperator::Includes,
                values: FilterValues::PriceType([PriceClass::Usage].into()),
            }],
            ..most
        },
        now,
    )];
    let changes = IntervalChanges { add_adjustments, ..IntervalChanges::default() };
    run(fixture.account.change_intervals(changing, changes)).unwrap();
    let versioned = PlanChange { plan_version: Some(version), ..PlanChange::immediate(one.id) };
    run(fixture.account.schedule_plan_change(subscribe("versioned"), versioned)).unwrap();
    let migrated = subscribe("migrated");
    let migration = NewMigration {
        when: MigrationTiming::EndOfTerm,
        subscriptions: Some(vec![migrated]),
        ..NewMigration::to(version)
    };
    run(fixture.account.migrate_plan(one.id, migration)).unwrap();
}

/// A plan that is a draft, and one that is archived, whose default version is its second.
pub(super) fn edit(fixture: &Fixture) {
    let draft = NewPlan { is_draft: true, ..NewPlan::new(name("Soon"), usd()) };
    run(fixture.account.create_plan(draft)).unwrap();
    let plan = fixture.priced_plan([fixture.advance_fee("1").into()]);
    let default = DefaultVersion::Replace;
    let version = NewPlanVersion { default, ..NewPlanVersion::new([]) };
    run(fixture.account.create_plan_version(plan.id, version)).unwrap();
    let update = PlanUpdate { status: Some(PlanStatus::Archived), ..PlanUpdate::default() };
    run(fixture.account.update_plan(plan.id, update)).unwrap();
    let metadata = MetadataUpdate::Merge([("a".to_owned(), Some("1".to_owned()))].into());
    let price = fixture.prices_of(&plan)[0];
    run(fixture.account.update_price(price, PriceUpdate { metadata })).unwrap();
}

/// A subscription to a plan with other numbers.
pub(super) fn override_price(fixture: &Fixture) {
    let plan = fixture.priced_plan([fixture.arrear_fee("1").into()]);
    let fee = fixture.prices_of(&plan)[0];
    let (conversion_rate, minimum) = (Some(number("2")), Patch::Set(number("3")));
    let by = PriceOverride { conversion_rate, minimum, ..PriceOverride::default() };
    let mut new = NewSubscription::new(fixture.customer("overriding").id, plan.id);
    new.prices.replace = vec![ReplacedPrice::overridden(fee, by)];
    fixture.create(new);
}
