//! How many cells the prices of a subscription may have at one time: those of its plan, and of its own.

use accrue::{
    Call, ErrorKind, Patch,
    plan::{MigrationTiming, PlanVersionChange},
    price::NewPrice,
    subscription::{
        AddedPrice, IntervalChanges, NewPriceInterval, NewSubscription, PlanChange, PriceChanges,
        PriceIntervalEdit, ReplacedPrice, Subscription,
    },
};

use crate::{
    changed_plans::on,
    price_intervals::{Changed, JANUARY, adding, changed},
    support::fixture::{at, external, refused, run},
};

const FEBRUARY: &str = "2027-02-01T00:00:00Z";
const MARCH: &str = "2027-03-01T00:00:00Z";

/// A plan whose prices have 200 cells, as many as a version may.
fn full() -> Changed {
    changed(|fixture, metric| vec![fixture.by_region(metric, 99), fixture.by_region(metric, 99)])
}

impl Changed {
    /// A price with so many cells, the default one among them.
    fn divided(&self, cells: usize) -> NewPrice {
        self.fixture().by_region(&self.metric, cells - 1)
    }

    fn adding(&self, cells: &[usize]) -> PriceChanges {
        let add = cells.iter().map(|cells| AddedPrice::new(self.divided(*cells)));
        PriceChanges { add: add.collect(), ..PriceChanges::default() }
    }

    fn subscribed(&self, prices: PriceChanges) -> Call<Subscription> {
        let mut new = NewSubscription::new(external("ada"), self.invoiced.plan.id);
        (new.start_date, new.prices) = (Some(at(JANUARY)), prices);
        self.fixture().account.create_subscription(new)
    }

    #[track_caller]
    fn too_many<T: std::fmt::Debug + Send + 'static>(&self, call: Call<T>, expect: &str) {
        let (kind, detail) = refused(self.fixture(), call);
        assert_eq!(kind, ErrorKind::RequestValidation);
        assert_eq!(detail, expect);
    }
}

fn found(at: &str, cells: usize) -> String {
    format!("{at}: with it the prices of the subscription have {cells} cells, expected at most 400")
}

#[test]
fn price_models_9_2_a_new_subscription_has_at_most_400_cells() {
    let full = full();
    run(full.subscribed(full.adding(&[100, 100]))).unwrap();
    let one_more = full.subscribed(full.adding(&[100, 100, 2]));
    full.too_many(one_more, &found("add_prices[2]", 402));
    // What takes the place of a price counts in its place.
    let replaced = full.subscription.price_intervals[0].price_id;
    let mut prices = full.adding(&[100, 100]);
    prices.replace = vec![ReplacedPrice::by(replaced, full.divided(99))];
    run(full.subscribed(prices.clone())).unwrap();
    prices.replace = vec![ReplacedPrice::by(replaced, full.divided(101))];
    full.too_many(full.subscribed(prices), &found("add_prices[1]", 401));
}

#[test]
fn price_models_9_2_price_intervals_bring_no_more_than_400_cells_at_a_time() {
    let full = full();
    let interval = |cells, start: &str| NewPriceInterval::new(full.divided(cells), at(start));
    let mut first = interval(100, FEBRUARY);
    first.end_date = Some(at(MARCH).into());
    let ends = full.add(first);
    full.add(interval(100, FEBRUARY));
    full.too_many(full.call(adding(interval(2, FEBRUARY))), &found("add[0].price", 402));
    // Behind the end of the first one there is room again.
    full.add(interval(100, MARCH));
    let mut edit = PriceIntervalEdit::new(ends);
    edit.end_date = Patch::Clear;
    let longer = IntervalChanges { edit: vec![edit], ..IntervalChanges::default() };
    full.too_many(full.call(longer), &found("edit[0]", 500));
}

#[test]
fn price_models_9_2_a_change_of_the_plan_brings_no_more_than_400_cells() {
    let full = full();
    let change = |prices| PlanChange { prices, ..on(&full.invoiced.plan, FEBRUARY) };
    let schedule =
        |prices| full.fixture().account.schedule_plan_change(full.subscription.id, change(prices));
    full.too_many(schedule(full.adding(&[100, 101])), &found("add_prices[1]", 401));
    run(schedule(full.adding(&[100, 100]))).unwrap();
}

#[test]
fn price_models_9_2_a_migration_that_would_bring_more_than_400_cells_leaves_the_subscription() {
    let changed = changed(|fixture, _| vec![fixture.advance_fee("31")]);
    let many = changed.subscription.id;
    for _ in 0..3 {
        changed.add(NewPriceInterval::new(changed.divided(100), at(JANUARY)));
    }
    let other = changed.subscribe_with(|_| {}).id;
    let add = |cells: &[usize]| {
        let add = cells.iter().map(|cells| changed.divided(*cells).into());
        PlanVersionChange { add: add.collect(), ..PlanVersionChange::default() }
    };
    changed.second(add(&[100, 2]));
    let before = changed.of(many);
    let made = changed.migrate(MigrationTiming::Immediate);
    assert_eq!((made.moved, made.refused), (1, 1), "of 402 cells, and of 102");
    assert_eq!(changed.of(many), before, "nothing is written");
    assert_eq!((changed.version(many), changed.version(other)), (1, 2));
}
