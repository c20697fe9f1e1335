//! Each model against a slow, obvious one: a loop over tenths of a unit, in thousandths of an amount.

use proptest::prelude::*;

use super::*;
use crate::PropertyName;

/// Tenths of a unit of whole units.
const UNIT: u32 = 10;

/// A quantity in tenths.
fn tenths(n: u32) -> Decimal {
    Decimal::parse(&format!("{n}e-1")).unwrap()
}

/// What a unit costs in hundredths: so much is each tenth of it in thousandths.
fn hundredths(n: i64) -> Decimal {
    Decimal::parse(&format!("{n}e-2")).unwrap()
}

fn thousandths(n: i64) -> Decimal {
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
    model.check().unwrap();
    let rating = model.rate(quantity);
    assert_eq!(rating.amount, thousandths(expect), "{model:?} of {quantity:?}");
    assert_eq!(rating.amount, rating.parts.iter().map(|part| part.amount.clone()).sum());
    for part in &rating.parts {
        assert_eq!(part.amount, &part.quantity * &part.unit_amount);
        assert!(!part.quantity.is_negative());
    }
    let total = quantity.total();
    let cells = match (model, quantity) {
        (Model::Matrix(_), Quantity::Cells(cells)) => cells.iter().enumerate().collect(),
        (Model::Matrix(matrix), Quantity::One(_)) => vec![(matrix.matrix_values.len(), &total)],
        _ => vec![(0, &total)],
    };
    let amounts = cells.into_iter().map(|(cell, quantity)| model.amount(cell, quantity));
    assert_eq!(amounts.sum::<Decimal>(), model.rate(quantity).amount);
}

proptest! {
    #[test]
    fn unit(quantity in 0_u32..1_000, amount in -50_i64..1_000) {
        let expect = (0..quantity).map(|_| amount).sum();
        let model = Model::Unit(Unit::new(hundredths(amount)));
        agrees(&model, &Quantity::One(tenths(quantity)), expect);
    }

    #[test]
    fn package(quantity in 0_u32..1_000, size in 1_u32..30, amount in -50_i64..1_000) {
        let (mut left, mut expect) = (0, 0);
        for _ in 0..quantity {
            if left == 0 {
                left = size * UNIT;
                expect += amount * 10;
            }
            left -= 1;
        }
        let package_amount = hundredths(amount);
        let model = Model::Package(Package::new(package_amount, size.into()));
        agrees(&model, &Quantity::One(tenths(quantity)), expect);
    }

    #[test]
    fn tiered(Tiers { ends, amounts, quantity } in tiers()) {
        let tier_of = |tenth: u32| ends.iter().filter(|end| tenth > **end).count();
        let expect = (1..=quantity).map(|tenth| amounts[tier_of(tenth)]).sum();
        let tiers = amounts.iter().enumerate().map(|(index, amount)| Tier::new(index.checked_sub(1).map_or(Decimal::zero(), |before| tenths(ends[before])), ends.get(index).copied().map(tenths), hundredths(*amount)));
        let model = Model::Tiered(Tiered::new(tiers));
        agrees(&model, &Quantity::One(tenths(quantity)), expect);
        for part in model.rate(&Quantity::One(tenths(quantity))).parts {
            let PartOf::Tier { first_unit, last_unit } = part.of else { panic!("{:?}", part.of) };
            let room = last_unit.map(|last| last - first_unit);
            prop_assert!(room.is_none_or(|room| part.quantity <= room));
        }
    }

    #[test]
    fn bulk(Tiers { ends, amounts, quantity } in tiers()) {
        let tier = ends.iter().filter(|end| quantity > **end).count();
        let expect = (0..quantity).map(|_| amounts[tier]).sum();
        let tiers = amounts.iter().enumerate().map(|(index, amount)| BulkTier::new(ends.get(index).copied().map(tenths), hundredths(*amount)));
        let model = Model::Bulk(Bulk::new(tiers));
        agrees(&model, &Quantity::One(tenths(quantity)), expect);
        let exact = tenths(quantity);
        let of = model.rate(&Quantity::One(exact.clone())).parts.remove(0).of;
        let PartOf::Tier { first_unit, last_unit } = of else { panic!("{of:?}") };
        prop_assert!(first_unit < exact || quantity == 0);
        prop_assert!(last_unit.is_none_or(|last| exact <= last));
    }

    #[test]
    fn matrix(
        amounts in prop::collection::vec(-50_i64..1_000, 1..8),
        events in prop::collection::vec((0_usize..8, 0_u32..50), 0..30),
    ) {
        // The last amount is the default cell's. An event of no other cell is in it.
        let default = amounts.len() - 1;
        let (mut cells, mut expect) = (vec![0; amounts.len()], 0);
        for (cell, quantity) in events {
            let cell = cell.min(default);
            cells[cell] += quantity;
            expect += i64::from(quantity) * amounts[cell];
        }
        let matrix_values = amounts[..default].iter().enumerate().map(|(index, amount)| MatrixCell::new(vec![Some(index.to_string())], hundredths(*amount)));
        let model = Model::Matrix(Matrix::new(vec![PropertyName::parse("cell").unwrap()], hundredths(amounts[default]), matrix_values));
        let all = cells.iter().sum::<u32>();
        agrees(&model, &Quantity::Cells(cells.into_iter().map(tenths).collect()), expect);
        let expect = i64::from(all) * amounts[default];
        agrees(&model, &Quantity::One(tenths(all)), expect);
    }

    #[test]
    fn below_zero_costs_nothing(Tiers { ends, amounts, quantity } in tiers()) {
        let tiers = amounts.iter().enumerate().map(|(index, amount)| BulkTier::new(ends.get(index).copied().map(tenths), hundredths(*amount)));
        let unit_amount = hundredths(amounts[0]);
        let models = [
            Model::Unit(Unit::new(unit_amount.clone())),
            Model::Package(Package::new(unit_amount, 3)),
            Model::Bulk(Bulk::new(tiers)),
        ];
        for model in models {
            agrees(&model, &Quantity::One(-tenths(quantity)), 0);
            let cells = vec![tenths(5), -tenths(quantity + 5)];
            agrees(&model, &Quantity::Cells(cells), 0);
        }
    }
}
