//! What there is before anything happens.

use bigdecimal::BigDecimal;
use proptest::{prelude::*, sample::select};

use crate::bill::{self, Charge, Model, Opening};

/// Offsets of whole, of half and of quarter hours.
const ZONES: &[&str] = &["UTC", "Asia/Kolkata", "America/St_Johns", "Asia/Kathmandu"];

/// Metrics, and plans whose prices never give anything back.
pub fn opening() -> impl Strategy<Value = Opening> {
    (bill::opening(), [select(ZONES), select(ZONES), select(ZONES)]).prop_map(|(opening, zones)| {
        let mut opening = Opening { zones: zones.into(), ..opening };
        for price in opening.plans.iter_mut().flatten() {
            let (Charge::Usage { model, .. } | Charge::Fee { model, .. }) = &mut price.charge;
            amounts(model).into_iter().for_each(|amount| *amount = amount.abs());
        }
        opening
    })
}

fn amounts(model: &mut Model) -> Vec<&mut BigDecimal> {
    match model {
        Model::Unit(each) | Model::Package(each, _) => vec![each],
        Model::Tiered(tiers) | Model::Bulk(tiers) => {
            tiers.iter_mut().map(|tier| &mut tier.each).collect()
        }
        Model::Matrix { others, cells, .. } => {
            cells.iter_mut().map(|(_, each)| each).chain([others]).collect()
        }
    }
}
