//! Each model against a slow, obvious one: a loop over tenths of a unit, in thousandths of an amount.

use proptest::prelude::*;

use super::*;
use crate::PropertyName;

/// Tenths of a unit of whole units.
const UNIT: u32 = 10;

/// A quantity in tenths.
pub(super) fn tenths(n: u32) -> Decimal {
    Decimal::parse(&format!("{n}e-1")).unwrap()
}

/// What a unit costs in hundredths: so much is each tenth of it in thousandths.
pub(super) fn hundredths(n: i64) -> Decimal {
    Decimal::parse(&format!("{n}e-2")).unwrap()
}

pub(super) fn thousandths(n: i64) -> Decimal {
    Decimal::parse(&format!("{n}e-3")).unwrap()
}

#[derive(Debug)]
struct Tiers {
    /// The ends of all tiers but the last, in tenths.
    ends: Vec<u32>,
    /// The unit amounts of all tiers.
    amounts: Vec<i64>,
    /// What is rated, in tenths: often exactly an end.
    quantity: u32,
}

impl Tiers {
    fn tiered(&self) -> Model {
        let ends = self.ends.iter().copied().map(tenths);
        let first_units = [Decimal::zero()].into_iter().chain(ends.clone());
        let bounds = first_units.zip(ends.map(Some).chain([None]));
        let tiers = bounds.zip(&self.amounts).map(|((first_unit, last_unit), amount)| {
            Tier::new(first_unit, last_unit, hundredths(*amount))
        });
        Model::Tiered(Tiered::new(tiers))
    }

    fn bulk(&self) -> Model {
        let ends = self.ends.iter().copied().map(tenths).map(Some).chain([None]);
        let tiers = ends.zip(&self.amounts);
        Model::Bulk(Bulk::new(tiers.map(|(end, amount)| BulkTier::new(end, hundredths(*amount)))))
    }

    /// Returns the place of the tier that a number of tenths lies in.
    fn tier_of(&self, tenths: u32) -> usize {
        self.ends.iter().filter(|end| tenths > **end).count()
    }
}

fn tiers() -> impl Strategy<Value = Tiers> {
    let widths = prop::collection::vec(1_u32..150, 0..6);
    widths.prop_flat_map(|widths| {
        let ends: Vec<u32> = (1..=widths.len()).map(|n| widths[..n].iter().sum()).collect();
        let amounts = prop::collection::vec(-50_i64..1_000, ends.len() + 1);
        let exact = prop::sample::select([ends.as_slice(), &[0]].concat());
        let quantity = prop_oneof![0_u32..1_000, exact];
        (amounts, quantity).prop_map(move |(amounts, quantity)| Tiers {
            ends: ends.clone(),
            amounts,
            quantity,
        })
    })
}

fn agrees(model: &Model, quantity: &Quantity, expect: i64) {
    comes_to(model, quantity, &thousandths(expect));
    for part in &model.rate(quantity).parts {
        assert_eq!(part.amount, &part.quantity * &part.unit_amount);
        assert!(!part.quantity.is_negative());
    }
}

/// Checks the amount of a quantity, and all that is said beside it: of its parts, of its cells, and of more units.
pub(super) fn comes_to(model: &Model, quantity: &Quantity, expect: &Decimal) {
    model.check().unwrap();
    let rating = model.rate(quantity);
    assert_eq!(rating.amount, *expect, "{model:?} of {quantity:?}");
    assert_eq!(rating.amount, rating.parts.iter().map(|part| part.amount.clone()).sum());
    let total = quantity.total();
    assert_eq!(model.amount(quantity), model.rate_so_far(quantity).amount);
    if let Quantity::Groups(groups) = quantity {
        return groups_rise(model, groups);
    }
    let cells = match (model.cells(), quantity) {
        (Some(_), Quantity::Cells(cells)) => cells.clone(),
        (Some(cells), Quantity::One(_)) => {
            let none = vec![Decimal::zero(); cells.values.len()];
            [none, vec![total]].concat()
        }
        _ => vec![total],
    };
    let amounts = cells.iter().enumerate().map(|(cell, units)| model.cell_amount(cell, units));
    if let Some(amounts) = amounts.collect::<Option<Vec<_>>>() {
        assert_eq!(amounts.iter().sum::<Decimal>(), model.amount(quantity));
    }
    for cell in (0..cells.len()).filter(|_| model.only_rises()) {
        for units in [1, 7, 250] {
            let mut more = cells.clone();
            more[cell] += tenths(units);
            let [less, more] = [&cells, &more].map(|of| Quantity::of(of.iter().cloned()));
            let rated = [&less, &more].map(|of| model.rate(of).amount);
            assert!(rated[0] <= rated[1], "{model:?} falls behind {less:?}");
        }
    }
}

/// Checks that more units of a group never cost less, where a model says so.
fn groups_rise(model: &Model, groups: &[GroupQuantity]) {
    for place in (0..groups.len()).filter(|_| model.only_rises()) {
        let cells = groups[place].quantity.clone().figures_mut().len();
        for (cell, units) in (0..cells).flat_map(|cell| [1, 7, 250].map(|units| (cell, units))) {
            let mut more = groups.to_vec();
            more[place].quantity.figures_mut()[cell] += tenths(units);
            let [less, more] = [groups.to_vec(), more].map(Quantity::Groups);
            let rated = [&less, &more].map(|of| model.rate(of).amount);
            assert!(rated[0] <= rated[1], "{model:?} falls behind {less:?}");
        }
    }
}

#[test]
fn models_of_which_more_units_never_cost_less_say_so() {
    let tiers = |amounts: [i64; 2]| Tiers { ends: vec![10], amounts: amounts.into(), quantity: 0 };
    let property = PropertyName::parse("region").unwrap();
    let matrix = |amount, default| {
        let cell = MatrixCell {
            dimension_values: vec![Some("eu".to_owned())],
            unit_amount: hundredths(amount).into(),
            scaling_factor: None,
        };
        Model::Matrix(Matrix::new([property.clone()], hundredths(default), [cell]))
    };
    let check = |model: Model, expect: bool| assert_eq!(model.only_rises(), expect, "{model:?}");
    for (amount, expect) in [(1, true), (0, true), (-1, false)] {
        check(Model::Unit(Unit::new(hundredths(amount))), expect);
        check(Model::Package(Package::new(hundredths(amount), 10)), expect);
        check(tiers([5, amount]).tiered(), expect);
        check(tiers([amount, 5]).tiered(), expect);
        check(matrix(amount, 1), expect);
        check(matrix(1, amount), expect);
    }
    check(tiers([1, 2]).bulk(), false);
}

fn unit_agrees(quantity: u32, amount: i64) {
    let expect = (0..quantity).map(|_| amount).sum();
    let model = Model::Unit(Unit::new(hundredths(amount)));
    agrees(&model, &Quantity::One(tenths(quantity)), expect);
}

fn package_agrees(quantity: u32, size: u32, amount: i64) {
    let (mut left, mut expect) = (0, 0);
    for _ in 0..quantity {
        if left == 0 {
            left = size * UNIT;
            expect += amount * 10;
        }
        left -= 1;
    }
    let model = Model::Package(Package::new(hundredths(amount), size.into()));
    agrees(&model, &Quantity::One(tenths(quantity)), expect);
}

fn tiered_agrees(tiers: &Tiers) {
    let expect = (1..=tiers.quantity).map(|tenth| tiers.amounts[tiers.tier_of(tenth)]).sum();
    let (model, quantity) = (tiers.tiered(), Quantity::One(tenths(tiers.quantity)));
    agrees(&model, &quantity, expect);
    for part in model.rate(&quantity).parts {
        let PartOf::Tier { first_unit, last_unit } = part.of else { panic!("{:?}", part.of) };
        let room = last_unit.map(|last| last - first_unit);
        assert!(room.is_none_or(|room| part.quantity <= room));
    }
}

fn bulk_agrees(tiers: &Tiers) {
    let tier = tiers.tier_of(tiers.quantity);
    let expect = (0..tiers.quantity).map(|_| tiers.amounts[tier]).sum();
    let (model, exact) = (tiers.bulk(), tenths(tiers.quantity));
    let quantity = Quantity::One(exact.clone());
    agrees(&model, &quantity, expect);
    let of = model.rate(&quantity).parts.remove(0).of;
    let PartOf::Tier { first_unit, last_unit } = of else { panic!("{of:?}") };
    assert!(first_unit < exact || exact.is_zero());
    assert!(last_unit.is_none_or(|last| exact <= last));
}

/// Rates events, each of a cell and of some tenths. The last amount is the default cell's.
fn matrix_agrees(amounts: &[i64], events: &[(usize, u32)]) {
    let default = amounts.len() - 1;
    let (mut cells, mut expect) = (vec![0; amounts.len()], 0);
    for (cell, quantity) in events {
        // An event of no other cell is in the default one.
        let cell = *cell.min(&default);
        cells[cell] += quantity;
        expect += i64::from(*quantity) * amounts[cell];
    }
    let matrix_values = amounts[..default]
        .iter()
        .enumerate()
        .map(|(index, amount)| MatrixCell::new([Some(index.to_string())], hundredths(*amount)));
    let dimension = PropertyName::parse("cell").unwrap();
    let default_amount = hundredths(amounts[default]);
    let model = Model::Matrix(Matrix::new([dimension], default_amount, matrix_values));
    let all = cells.iter().sum::<u32>();
    agrees(&model, &Quantity::Cells(cells.into_iter().map(tenths).collect()), expect);
    agrees(&model, &Quantity::One(tenths(all)), i64::from(all) * amounts[default]);
}

fn none_costs_below_zero(tiers: &Tiers) {
    let (unit_amount, quantity) = (hundredths(tiers.amounts[0]), tiers.quantity);
    let models = [
        Model::Unit(Unit::new(unit_amount.clone())),
        Model::Package(Package::new(unit_amount, 3)),
        tiers.tiered(),
        tiers.bulk(),
    ];
    for model in models {
        agrees(&model, &Quantity::One(-tenths(quantity)), 0);
        let cells = vec![tenths(5), -tenths(quantity + 5)];
        agrees(&model, &Quantity::Cells(cells), 0);
    }
}

// rustfmt leaves what is in here as it is: no more than the calls.
proptest! {
    #[test]
    fn unit(quantity in 0_u32..1_000, amount in -50_i64..1_000) {
        unit_agrees(quantity, amount);
    }

    #[test]
    fn package(quantity in 0_u32..1_000, size in 1_u32..30, amount in -50_i64..1_000) {
        package_agrees(quantity, size, amount);
    }

    #[test]
    fn tiered(tiers in tiers()) {
        tiered_agrees(&tiers);
    }

    #[test]
    fn bulk(tiers in tiers()) {
        bulk_agrees(&tiers);
    }

    #[test]
    fn matrix(
        amounts in prop::collection::vec(-50_i64..1_000, 2..8),
        events in prop::collection::vec((0_usize..8, 0_u32..50), 0..30),
    ) {
        matrix_agrees(&amounts, &events);
    }

    #[test]
    fn below_zero_costs_nothing(tiers in tiers()) {
        none_costs_below_zero(&tiers);
    }
}
