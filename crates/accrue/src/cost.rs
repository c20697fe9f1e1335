//! Cost: what the usage and the fees of a subscription come to.

mod accrual;
mod evaluation;
mod fee;
mod query;
mod rate_card;
mod statement;

pub(crate) use self::{
    accrual::{Accrual, Amounts, Moved},
    fee::fees,
    rate_card::{Priced, RateCard},
    statement::Statement,
};
pub use self::{
    evaluation::{EvaluatedGroup, PriceEvaluation},
    query::{Cost, CostLine, CostQuery},
};
