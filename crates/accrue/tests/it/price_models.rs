//! Price models through a subscription: events, costs and the invoice.

use accrue::{
    PropertyName, WrittenDecimal,
    cost::CostQuery,
    price::{
        BulkFilter, BulkWithFilters, Charge, Matrix, MatrixCell, MatrixWithAllocation,
        MeteredAllowance, MinimumTier, Model, NewPrice, ThresholdStep, ThresholdTotalAmount,
        TieredWithMinimum, UnitWithProration, VolumeTier,
    },
    subscription::Subscription,
    usage::Event,
};

use crate::{
    invoices::{DRAFT, Invoiced, SETTLED, invoiced_with},
    support::fixture::{at, event, run},
};

const JUNE: &str = "2026-06-01T00:00:00Z";

fn written(text: &str) -> WrittenDecimal {
    WrittenDecimal::parse(text).unwrap()
}

/// A customer on a plan whose prices are of some models, from an instant on.
fn subscribed(start: &str, models: Vec<Model>) -> (Invoiced, Subscription) {
    let invoiced = invoiced_with(|fixture, metric| {
        let rated = |model| {
            let charge = Charge::Usage { metric_id: metric.id, model }.into();
            NewPrice { charge, ..fixture.usage_at("1", metric) }
        };
        models.into_iter().map(rated).collect()
    });
    invoiced.fixture.set(start);
    let subscription = invoiced.subscribe(start);
    (invoiced, subscription)
}

fn kind() -> PropertyName {
    PropertyName::parse("kind").unwrap()
}

/// An event of `ada` with a kind.
fn of_kind(key: &str, timestamp: &str, n: &str, value: &str) -> Event {
    let mut event = event("ada", key, at(timestamp), n);
    let known = event.properties.iter().map(|(name, value)| (name.clone(), value.clone()));
    event.properties = known.chain([(kind(), value.into())]).collect();
    event
}

impl Invoiced {
    fn ingest(&self, events: &[Event]) {
        run(self.fixture.account.ingest(events.to_vec())).unwrap();
    }

    /// Subtotals of what a subscription costs in the period, price by price.
    fn costs(&self, of: &Subscription) -> Vec<String> {
        let cost = self.fixture.cost(of, &CostQuery::default());
        cost.lines.iter().map(|line| line.subtotal.to_string()).collect()
    }

    fn drafted(&self) -> Vec<String> {
        let draft = self.fixture.invoices(DRAFT).remove(0);
        draft.lines.iter().map(|line| line.subtotal.to_string()).collect()
    }

    /// Quantities and subtotals of the lines of the invoice of June.
    fn issued_in_july(&self) -> Vec<(String, String)> {
        self.fixture.tick_at("2026-07-02T00:00:00Z");
        let invoices = self.fixture.invoices(SETTLED);
        let issued = invoices.into_iter().find(|of| of.issued_at.is_some()).unwrap();
        for line in &issued.lines {
            let parts: accrue::Decimal = line.parts.iter().map(|part| part.amount.clone()).sum();
            assert_eq!(parts, line.subtotal, "{line:?}");
        }
        let lines = issued.lines.iter();
        lines.map(|line| (line.quantity.to_string(), line.subtotal.to_string())).collect()
    }
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect()
}

#[test]
fn price_models_1_5_days_of_service_and_a_minimum_of_the_model_are_on_the_invoice() {
    let tier = |bound, amount, least| MinimumTier {
        tier_lower_bound: written(bound),
        unit_amount: written(amount),
        minimum_amount: written(least),
    };
    let minimum = TieredWithMinimum {
        tiers: vec![tier("0", "0.50", "20"), tier("100", "0.25", "60")],
        hide_zero_amount_tiers: false,
        prorate: true,
    };
    let step = |threshold, total| ThresholdStep {
        threshold: written(threshold),
        total_amount: written(total),
    };
    let steps = ThresholdTotalAmount {
        consumption_table: vec![step("0", "50"), step("10", "200")],
        prorate: false,
    };
    // 15 of 30 days.
    let (invoiced, subscription) = subscribed(
        "2026-06-16T00:00:00Z",
        vec![
            Model::UnitWithProration(UnitWithProration { unit_amount: written("3") }),
            Model::TieredWithMinimum(minimum),
            Model::ThresholdTotalAmount(steps),
        ],
    );
    invoiced.ingest(&[of_kind("a", "2026-06-16T00:00:00Z", "7", "any")]);
    assert_eq!(invoiced.costs(&subscription), ["10.5", "1.75", "50"], "as long as the period runs");
    assert_eq!(invoiced.drafted(), ["10.5", "10", "50"], "what falls due at its end");
    let expect = pairs(&[("7", "10.5"), ("7", "10"), ("7", "50")]);
    assert_eq!(invoiced.issued_in_july(), expect, "with the minimum of 20 for 15 of 30 days");
}

#[test]
fn price_models_4_cells_and_the_whole_metric_are_rated_together() {
    let filter = BulkFilter { property_key: kind(), property_value: "a".to_owned() };
    let tier = |bound, amount| VolumeTier {
        tier_lower_bound: Some(written(bound)),
        unit_amount: written(amount),
    };
    let cell = MatrixCell::new([Some("a".to_owned())], written("1"));
    let (invoiced, subscription) = subscribed(
        JUNE,
        vec![
            Model::BulkWithFilters(BulkWithFilters {
                filters: vec![filter],
                tiers: vec![tier("0", "2"), tier("10", "1")],
            }),
            Model::MeteredAllowance(MeteredAllowance {
                grouping_key: kind(),
                consumption_grouping_value: "a".to_owned(),
                allowance_grouping_value: "b".to_owned(),
                unit_amount: written("3"),
                consumption_display_name: None,
                allowance_display_name: None,
            }),
            Model::MatrixWithAllocation(MatrixWithAllocation {
                matrix: Matrix::new([kind()], written("5"), [cell]),
                allocation: written("5"),
            }),
        ],
    );
    invoiced.ingest(&[of_kind("1", JUNE, "6", "a")]);
    assert_eq!(invoiced.costs(&subscription), ["12", "18", "1"]);
    invoiced.ingest(&[of_kind("2", JUNE, "3", "b")]);
    assert_eq!(invoiced.costs(&subscription), ["12", "9", "16"]);
    invoiced.ingest(&[of_kind("3", JUNE, "1", "c")]);
    assert_eq!(invoiced.costs(&subscription), ["6", "9", "21"]);
    assert_eq!(invoiced.drafted(), ["6", "9", "21"]);
    assert_eq!(invoiced.issued_in_july(), pairs(&[("6", "6"), ("6", "9"), ("10", "21")]));
}

#[test]
fn usage_on_trial_has_its_list_price_whatever_the_model() {
    let (tried, minimum) = (
        written("100"),
        MinimumTier {
            tier_lower_bound: written("0"),
            unit_amount: written("1"),
            minimum_amount: written("20"),
        },
    );
    let above = MinimumTier { tier_lower_bound: written("1000"), ..minimum.clone() };
    let of_minimum = TieredWithMinimum {
        tiers: vec![minimum, above],
        prorate: true,
        hide_zero_amount_tiers: false,
    };
    let (invoiced, _) = subscribed(
        JUNE,
        vec![
            Model::UnitWithProration(UnitWithProration { unit_amount: tried }),
            Model::TieredWithMinimum(of_minimum),
        ],
    );
    let on_trial = invoiced.subscribe_with(JUNE, |new| new.trial_days = Some(14));
    invoiced.ingest(&[event("ada", "a", at(JUNE), "7")]);
    let expected = ["700", "0", "7", "0"];
    assert_eq!(invoiced.costs(&on_trial), expected, "each on trial, and after it");
    assert_eq!(invoiced.fixture.cost(&on_trial, &CostQuery::default()).total, 0.into());
}
