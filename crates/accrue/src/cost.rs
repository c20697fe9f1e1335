//! Cost: what the usage and the fees of a subscription come to.

mod accrual;
mod evaluation;
mod fee;
mod query;
mod statement;
mod tariff;

pub(crate) use self::{
    accrual::{Accrual, Amounts, Moved},
    fee::fees,
    statement::Statement,
    tariff::{Priced, Tariff},
};
pub use self::{
    evaluation::{EvaluatedGroup, PriceEvaluation},
    query::{Cost, CostLine, CostQuery},
};
