//! Prints what an event costs with price models of each family, beside the unit model and in one run: where nobody
//! asks what usage costs, and where an alert watches it: `models [BACKEND] [--rounds N] [--only TEXT]`.

#![expect(clippy::float_arithmetic, reason = "a bench prints ratios")]

use std::{sync::Arc, time::Duration};

use accrue::{
    AccountId, Billing, Decimal, ManualClock, Name, PropertyName, SeededEntropy, Timestamp,
    WrittenDecimal,
    alert::{NewAlert, Thresholds},
    price::{
        Cadence, CumulativeGroupedAllocation, GroupedTiered, LowerBoundTier, Matrix, MatrixCell,
        MatrixWithAllocation, MaxGroupTieredPackage, MinimumComposite, MinimumTier, Model, Package,
        Percent, Tier, Tiered, TieredWithMinimum, Unit,
    },
    store::Store,
};
use accrue_benches::{Backend, Outcome, Priced, SIDE_BATCH, Side, subscribe};
use clap::Parser as _;
use pollster::block_on;

/// Customers whose events come in turn.
const CUSTOMERS: usize = 8;

/// Batches that are ingested before it counts, so that all groups are there.
const BEFORE: usize = 20;

#[expect(clippy::print_stdout, reason = "this prints a table")]
fn main() -> Outcome<()> {
    let Arguments { backend, rounds, only } = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let rows = rows()?.into_iter();
    let rows: Vec<_> = rows.filter(|row| row.name == "unit" || row.name.contains(&only)).collect();
    let mut sides = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        for is_watched in [false, true] {
            let store = backend.open(&folder.path().join(format!("{number} {is_watched}")))?;
            sides.push(block_on(row.side(store, is_watched))?);
        }
    }
    block_on(Side::measure(&mut sides, BEFORE))?;
    for (sides, row) in sides.chunks_mut(2).zip(&rows) {
        for side in sides {
            side.regions.truncate(row.regions_of_batch * CUSTOMERS);
            side.clock.advance(row.later);
        }
    }
    let took = block_on(Side::measure(&mut sides, rounds))?;
    println!("{backend}, batches of {SIDE_BATCH} events of {CUSTOMERS} customers");
    let heads = ["µs an event", "ratio", "with an alert", "ratio"];
    let heads = heads.map(|head| format!("{head:>13}"));
    println!("{:<44} {}", "", heads.join(" "));
    let events = f64::from(u32::try_from(SIDE_BATCH * rounds)?);
    let each = |of: &Duration| of.as_secs_f64() * 1e6 / events;
    let unit: Vec<_> = took.iter().take(2).map(each).collect();
    for (sides, took) in sides.chunks(2).zip(took.chunks(2)) {
        let name = sides.first().map(|side| side.name.as_str()).unwrap_or_default();
        let costs = took
            .iter()
            .zip(&unit)
            .map(|(took, unit)| format!("{:>13.2} {:>13.2}", each(took), each(took) / unit));
        println!("{name:<44} {}", costs.collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

/// Prices that are measured: one of usage, and others that see it.
struct Row {
    name: &'static str,
    model: Model,
    composites: Vec<Model>,
    /// Number of regions that the events of a customer were in before.
    regions: usize,
    /// Number of those that the events are in that are measured.
    regions_of_batch: usize,
    /// How much later it is when it counts.
    later: Duration,
}

fn rows() -> Outcome<Vec<Row>> {
    let unit = || Ok::<_, accrue::DecimalError>(Model::Unit(Unit::new(Decimal::parse("0.01")?)));
    let of = |name, model| {
        let composites = Vec::new();
        let later = Duration::from_secs(3_600);
        Row { name, model, composites, regions: 10, regions_of_batch: 10, later }
    };
    let written = |text: &str| WrittenDecimal::parse(text);
    let region = || PropertyName::parse("region");
    let tiers = || {
        let tiers = [("0", "0.02"), ("1000", "0.01")].map(|(bound, amount)| {
            Ok(LowerBoundTier { tier_lower_bound: written(bound)?, unit_amount: written(amount)? })
        });
        tiers.into_iter().collect::<Outcome<Vec<_>>>()
    };
    let minimums = [("0", "0.02", "5"), ("1000", "0.01", "20")].map(|(bound, amount, least)| {
        Ok(MinimumTier {
            tier_lower_bound: written(bound)?,
            unit_amount: written(amount)?,
            minimum_amount: written(least)?,
        })
    });
    let tiered = Tiered::new([
        Tier::new(Decimal::zero(), Some(Decimal::from(1_000)), Decimal::parse("0.02")?),
        Tier::new(Decimal::from(1_000), None, Decimal::parse("0.01")?),
    ]);
    let cell =
        |number: usize| MatrixCell::new([Some(format!("region {number}"))], Decimal::from(1));
    let matrix =
        || Ok::<_, accrue::TextError>(Matrix::new([region()?], Decimal::from(2), (0..9).map(cell)));
    let grouped = || {
        Outcome::Ok(Model::GroupedTiered(GroupedTiered {
            grouping_key: region()?,
            tiers: tiers()?,
        }))
    };
    let largest =
        MaxGroupTieredPackage { grouping_key: region()?, package_size: 10, tiers: tiers()? };
    let in_order = CumulativeGroupedAllocation {
        grouping_key: region()?,
        group_allocation: written("100")?,
        cumulative_allocation: written("5000")?,
        unit_amount: written("0.01")?,
    };
    let percent =
        || Ok::<_, accrue::DecimalError>(Model::Percent(Percent::new(Decimal::parse("0.1")?)));
    let least = Model::MinimumComposite(MinimumComposite::new(Decimal::from(100)));
    Ok(vec![
        of("unit", unit()?),
        of("package", Model::Package(Package::new(Decimal::from(1), 100))),
        of("tiered", Model::Tiered(tiered)),
        of(
            "tiered_with_minimum",
            Model::TieredWithMinimum(TieredWithMinimum {
                tiers: minimums.into_iter().collect::<Outcome<_>>()?,
                hide_zero_amount_tiers: false,
                prorate: false,
            }),
        ),
        of("matrix, ten cells", Model::Matrix(matrix()?)),
        of(
            "matrix_with_allocation, ten cells",
            Model::MatrixWithAllocation(MatrixWithAllocation {
                matrix: matrix()?,
                allocation: written("1000")?,
            }),
        ),
        of("grouped_tiered, ten groups", grouped()?),
        Row { regions: 1_000, ..of("grouped_tiered, ten of 1,000 groups", grouped()?) },
        Row {
            regions: 1_000,
            later: Duration::ZERO,
            ..of("grouped_tiered, ten of 1,000, all at once", grouped()?)
        },
        Row {
            regions: 1_000,
            regions_of_batch: 1_000,
            ..of("grouped_tiered, each event in one of 1,000", grouped()?)
        },
        of("max_group_tiered_package, ten groups", Model::MaxGroupTieredPackage(largest.clone())),
        Row {
            regions: 1_000,
            ..of("max_group_tiered_package, ten of 1,000", Model::MaxGroupTieredPackage(largest))
        },
        of(
            "cumulative_grouped_allocation, ten groups",
            Model::CumulativeGroupedAllocation(in_order),
        ),
        Row { composites: vec![percent()?], ..of("unit and percent", unit()?) },
        Row {
            composites: vec![percent()?, least],
            ..of("unit, percent and minimum_composite", unit()?)
        },
    ])
}

impl Row {
    async fn side(&self, store: Arc<dyn Store>, is_watched: bool) -> Outcome<Side> {
        let clock = ManualClock::at(Timestamp::parse("2026-03-01T00:00:00Z")?);
        let billing = Billing::new(store, clock.clone(), SeededEntropy::new(1));
        let account = billing.account(AccountId::parse("bench")?);
        let priced = Priced::new(&account).await?;
        let usage = priced.price("usage", Cadence::Monthly)?;
        let mut prices = vec![usage.usage(priced.metric(), self.model.clone())];
        for (number, model) in self.composites.iter().enumerate() {
            let price = priced.price(&format!("composite {number}"), Cadence::Monthly)?;
            prices.push(price.composite(model.clone()));
        }
        let plan = priced.plan(&account, prices).await?;
        if is_watched {
            // So far away that it is judged with each event.
            let far = Thresholds::new([Decimal::parse("1e20")?])?;
            account.create_plan_alert(plan, NewAlert::cost_exceeded(far)).await?;
        }
        let mut customers = Vec::new();
        for _ in 0..CUSTOMERS {
            customers.push(subscribe(&account, plan).await?);
        }
        // Each customer comes to every region of its own.
        let regions = (0..self.regions).flat_map(|number| (0..CUSTOMERS).map(move |_| number));
        let regions = regions.map(|number| format!("region {number}")).collect();
        let name = Name::parse(self.name)?.to_string();
        Ok(Side { name, billing, account, clock, customers, regions, events: 0 })
    }
}

/// Prints what an event costs with price models of each family, beside the unit model and in one run: where nobody
/// asks what usage costs, and where an alert watches it.
#[derive(clap::Parser)]
#[command(name = "models", verbatim_doc_comment)]
struct Arguments {
    /// The backend
    #[arg(default_value = "memory")]
    backend: Backend,
    /// How many batches each ingests
    #[arg(long, value_name = "N", default_value_t = 200)]
    rounds: usize,
    /// Only those models whose names contain this, beside the unit model
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}
