//! Models of groups against slow, obvious ones: a loop over tenths of a unit, in thousandths of an amount.

use proptest::prelude::*;

use super::super::{
    oracle::{comes_to, hundredths, tenths, thousandths},
    *,
};
use crate::{PropertyName, WrittenDecimal};

/// Numbers that a model is made of, and the groups that it rates.
#[derive(Clone, Debug)]
struct Story {
    /// Where the second tier begins, in units: a multiple of the size of a package.
    packages: u32,
    size: u32,
    /// Amounts of two tiers, or cells.
    amounts: [i64; 2],
    /// A least amount, and what a greatest one is above it.
    least: i64,
    more: i64,
    allocation: u32,
    cumulative: u32,
    /// Quantities of the groups in tenths, each of two cells and of all others.
    groups: Vec<[i32; 3]>,
}

fn story() -> impl Strategy<Value = Story> {
    let cell = || prop_oneof![3 => -20_i32..300, 1 => (0_i32..30).prop_map(|units| units * 10)];
    let numbers = (1_u32..6, 1_u32..6, [-50_i64..500, -50_i64..500], 0_i64..3_000, 0_i64..3_000);
    let groups = prop::collection::vec([cell(), cell(), cell()], 0..6);
    (numbers, 0_u32..30, 0_u32..60, groups).prop_map(
        |((packages, size, amounts, least, more), allocation, cumulative, groups)| Story {
            packages,
            size,
            amounts,
            least,
            more,
            allocation,
            cumulative,
            groups,
        },
    )
}

fn whole(units: u32) -> WrittenDecimal {
    Decimal::from(u64::from(units)).into()
}

fn property(name: &str) -> PropertyName {
    PropertyName::parse(name).unwrap()
}

fn amount(hundredth: i64) -> WrittenDecimal {
    hundredths(hundredth).into()
}

fn signed(n: i32) -> Decimal {
    if n < 0 { -tenths(n.unsigned_abs()) } else { tenths(n.unsigned_abs()) }
}

/// The value of a group: the first one has none.
fn value(place: usize) -> Option<String> {
    (place > 0).then(|| format!("user-{place}"))
}

impl Story {
    fn lower_bound_tiers(&self) -> Vec<LowerBoundTier> {
        let tier = |bound, of| LowerBoundTier { tier_lower_bound: bound, unit_amount: amount(of) };
        let [first, second] = self.amounts;
        vec![tier(whole(0), first), tier(whole(self.packages * self.size), second)]
    }

    /// Returns what some tenths cost, each in its tier.
    fn graduated(&self, units: i32) -> i64 {
        let bound = i32::try_from(self.packages * self.size * 10).unwrap();
        (1..=units).map(|tenth| self.amounts[usize::from(tenth > bound)]).sum()
    }

    /// Returns what the packages of some tenths cost, each in the tier that it begins in.
    fn packaged(&self, units: i32) -> i64 {
        let size = i32::try_from(self.size * 10).unwrap();
        let starts = (0..units.max(0)).filter(|tenth| tenth % size == 0);
        let of = |tenth: i32| usize::from(tenth / size >= i32::try_from(self.packages).unwrap());
        starts.map(|tenth| self.amounts[of(tenth)] * 10).sum()
    }

    fn firsts(&self) -> impl Iterator<Item = i32> {
        self.groups.iter().map(|[first, ..]| *first)
    }

    /// Returns the first quantity of each group.
    fn one(&self) -> Quantity {
        let groups = self.firsts().enumerate();
        let group = |(place, n)| GroupQuantity::new(vec![value(place)], Quantity::One(signed(n)));
        Quantity::Groups(groups.map(group).collect())
    }

    /// Returns all cells of each group.
    fn cells(&self) -> Quantity {
        let groups = self.groups.iter().enumerate().map(|(place, cells)| {
            let cells = Quantity::Cells(cells.map(signed).into());
            GroupQuantity::new(vec![value(place)], cells)
        });
        Quantity::Groups(groups.collect())
    }
}

/// Checks what groups come to while their period runs, and when it has ended, in thousandths.
fn agrees(model: &Model, quantity: &Quantity, running: i64, ended: i64) {
    comes_to(model, quantity, &thousandths(ended));
    let rating = model.rate_so_far(quantity);
    assert_eq!(rating.amount, thousandths(running), "{model:?} of {quantity:?}");
    assert_eq!(rating.amount, rating.parts.iter().map(|part| part.amount.clone()).sum());
    let top_up = model.top_up(quantity, &rating.amount, Share::ALL);
    assert_eq!(top_up, thousandths(ended - running));
}

fn tiers_agree(story: &Story) {
    let (quantity, user) = (story.one(), property("user"));
    let tiers = story.lower_bound_tiers();
    let size = u64::from(story.size);
    let model =
        Model::GroupedTiered(GroupedTiered { grouping_key: user.clone(), tiers: tiers.clone() });
    let expect = story.firsts().map(|units| story.graduated(units)).sum();
    agrees(&model, &quantity, expect, expect);
    let package = |of: &LowerBoundTier| PackageTier {
        tier_lower_bound: of.tier_lower_bound.clone(),
        per_unit: of.unit_amount.clone(),
    };
    let model = Model::GroupedTieredPackage(GroupedTieredPackage {
        grouping_key: user.clone(),
        package_size: size,
        tiers: tiers.iter().map(package).collect(),
    });
    let expect = story.firsts().map(|units| story.packaged(units)).sum();
    agrees(&model, &quantity, expect, expect);
    let model = Model::MaxGroupTieredPackage(MaxGroupTieredPackage {
        grouping_key: user,
        package_size: size,
        tiers,
    });
    let most = story.firsts().max().unwrap_or(0);
    agrees(&model, &quantity, story.packaged(most), story.packaged(most));
    assert_eq!(model.line_quantity(&quantity), signed(most.max(0)));
}

fn allocations_agree(story: &Story) {
    let (quantity, [each, _]) = (story.one(), story.amounts);
    let free = i32::try_from(story.allocation * 10).unwrap();
    let model = Model::GroupedAllocation(GroupedAllocation {
        grouping_key: property("user"),
        allocation: whole(story.allocation),
        overage_unit_rate: amount(each),
    });
    let over = |units: i32| i64::from((units - free).max(0));
    let expect = story.firsts().map(over).sum::<i64>() * each;
    agrees(&model, &quantity, expect, expect);
    let model = Model::CumulativeGroupedAllocation(CumulativeGroupedAllocation {
        grouping_key: property("user"),
        group_allocation: whole(story.allocation),
        cumulative_allocation: whole(story.cumulative),
        unit_amount: amount(each),
    });
    let (mut pool, mut billed) = (story.cumulative * 10, 0);
    for units in story.firsts() {
        let mut unpaid = 0;
        for _ in 0..units.max(0) {
            if pool > 0 { pool -= 1 } else { unpaid += 1 }
        }
        billed += over(units).max(unpaid);
    }
    agrees(&model, &quantity, billed * each, billed * each);
}

fn minimums_agree(story: &Story) {
    let (quantity, [each, _]) = (story.one(), story.amounts);
    let (least, most) = (story.least * 10, (story.least + story.more) * 10);
    let used: Vec<_> = story.firsts().map(|units| i64::from(units.max(0)) * each).collect();
    let model = Model::GroupedWithMinMaxThresholds(GroupedWithMinMaxThresholds {
        grouping_key: property("order"),
        per_unit_rate: amount(each),
        minimum_charge: amount(story.least),
        maximum_charge: amount(story.least + story.more),
    });
    let running = used.iter().map(|of| *of.min(&most)).sum();
    let ended = used.iter().map(|of| *of.min(&most).max(&least)).sum();
    agrees(&model, &quantity, running, ended);
    let model = Model::GroupedWithProratedMinimum(GroupedWithProratedMinimum {
        grouping_key: property("cluster"),
        unit_rate: amount(each),
        minimum: amount(story.least),
    });
    agrees(&model, &quantity, used.iter().sum(), used.iter().map(|of| *of.max(&least)).sum());
    // Half of the days: in whole hundredths, half away from zero.
    let half = (story.least + 1) / 2 * 10;
    let served = Share { part: 1, whole: 2, places: 2 };
    let expect = used.iter().map(|of| *of.max(&half)).sum();
    assert_eq!(model.rate_ended(&quantity, served).amount, thousandths(expect));
}

fn cells_agree(story: &Story) {
    let (quantity, [each, other]) = (story.cells(), story.amounts);
    let costs = |rates: [i64; 3]| {
        let of = move |cells: &[i32; 3]| {
            let parts = cells.iter().zip(rates);
            parts.map(|(units, rate)| i64::from((*units).max(0)) * rate).sum::<i64>()
        };
        story.groups.iter().map(of).collect::<Vec<_>>()
    };
    // A rate with the factor 3, the same with none, and no rate.
    let model = Model::GroupedWithMeteredMinimum(GroupedWithMeteredMinimum {
        grouping_key: property("cluster"),
        pricing_key: property("gpu"),
        scaling_key: property("region"),
        minimum_unit_amount: amount(story.least),
        unit_amounts: vec![PricingAmount {
            pricing_value: "a100".to_owned(),
            unit_amount: amount(each),
        }],
        scaling_factors: vec![ScalingFactor {
            scaling_value: "eu".to_owned(),
            scaling_factor: whole(3),
        }],
    });
    let used = costs([each * 3, each, story.least]);
    let least = costs([story.least; 3]);
    let ended = used.iter().zip(&least).map(|(of, least)| *of.max(least)).sum();
    agrees(&model, &quantity, used.iter().sum(), ended);
    let cell = |value: &str, of| DailyAmount {
        dimension_values: vec![Some(value.to_owned())],
        unit_amount: amount(of),
    };
    let model = Model::DailyCreditAllowance(DailyCreditAllowance {
        event_day_property: property("day"),
        dimensions: vec![Some(property("model"))],
        default_unit_amount: amount(story.least),
        daily_allowance: amount(story.more),
        matrix_values: vec![cell("big", each), cell("small", other)],
    });
    let used = costs([each, other, story.least]);
    let expect = used.iter().map(|of| (of - story.more * 10).max(0)).sum();
    agrees(&model, &quantity, expect, expect);
}

fn rates_of_events_agree(story: &Story) {
    let [each, default] = story.amounts;
    let said = [Some(hundredths(each).to_string()), Some("1".to_owned()), None];
    let groups = story.groups.iter().enumerate().flat_map(|(place, cells)| {
        let rates = cells.iter().zip(&said);
        rates.map(move |(units, rate)| {
            GroupQuantity::new(vec![value(place), rate.clone()], Quantity::One(signed(*units)))
        })
    });
    let quantity = Quantity::Groups(groups.collect());
    for has_default in [false, true] {
        let model = Model::EventOutput(EventOutput {
            unit_rating_key: property("rate"),
            grouping_key: Some(property("user")),
            default_unit_rate: has_default.then(|| amount(default)),
        });
        let rates = [each, 100, if has_default { default } else { 0 }];
        let (mut expect, mut counted) = (0, 0);
        for cells in &story.groups {
            for (place, units) in cells.iter().enumerate() {
                expect += i64::from((*units).max(0)) * rates[place];
                counted += if place < 2 || has_default { (*units).max(0) } else { 0 };
            }
        }
        agrees(&model, &quantity, expect, expect);
        assert_eq!(model.line_quantity(&quantity), signed(counted));
    }
}

// rustfmt leaves what is in here as it is: no more than the calls.
proptest! {
    #[test]
    fn tiers(story in story()) {
        tiers_agree(&story);
    }

    #[test]
    fn allocations(story in story()) {
        allocations_agree(&story);
    }

    #[test]
    fn minimums(story in story()) {
        minimums_agree(&story);
    }

    #[test]
    fn cells(story in story()) {
        cells_agree(&story);
    }

    #[test]
    fn rates_of_events(story in story()) {
        rates_of_events_agree(&story);
    }
}

/// The parts of some groups: value, units and amount.
fn parts(model: &Model, groups: &[(Option<&str>, &str)]) -> Vec<(String, String, String)> {
    let groups = groups.iter().map(|(value, units)| {
        let units = Quantity::One(Decimal::parse(units).unwrap());
        GroupQuantity::new(vec![value.map(str::to_owned)], units)
    });
    let rating = model.rate(&Quantity::Groups(groups.collect()));
    let shown = rating.parts.into_iter().map(|part| {
        let value = part.grouping.and_then(|of| of.value).unwrap_or_default();
        (value, part.quantity.to_string(), part.amount.to_string())
    });
    shown.collect()
}

#[test]
fn price_models_5_3_of_several_greatest_groups_the_first_is_shown() {
    let tier =
        |bound, of| LowerBoundTier { tier_lower_bound: whole(bound), unit_amount: amount(of) };
    let model = Model::MaxGroupTieredPackage(MaxGroupTieredPackage {
        grouping_key: property("user"),
        package_size: 10,
        tiers: vec![tier(0, 200), tier(20, 100)],
    });
    let found = parts(&model, &[(None, "3"), (Some("a"), "25"), (Some("b"), "25")]);
    let owned = |(of, n, amount): (&str, &str, &str)| (of.into(), n.into(), amount.into());
    assert_eq!(found, [("a", "2", "4"), ("a", "1", "1")].map(owned));
    assert_eq!(parts(&model, &[]), []);
}

#[test]
fn price_models_5_6_what_a_group_lacks_is_on_its_own_line() {
    let model = Model::GroupedWithMinMaxThresholds(GroupedWithMinMaxThresholds {
        grouping_key: property("order"),
        per_unit_rate: amount(1),
        minimum_charge: amount(100),
        maximum_charge: amount(10_000),
    });
    let found = parts(&model, &[(Some("a"), "0"), (Some("b"), "5000"), (Some("c"), "20000")]);
    let owned = |(of, n, amount): (&str, &str, &str)| (of.into(), n.into(), amount.into());
    assert_eq!(found, [("a", "0", "1"), ("b", "5000", "50"), ("c", "20000", "100")].map(owned));
}
