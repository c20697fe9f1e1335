//! Cost: what the usage and the fees of a subscription come to.

mod accrual;
mod fee;
mod query;
mod statement;
mod tariff;

pub use self::query::{Cost, CostLine, CostQuery};
pub(crate) use self::{
    accrual::{Accrual, Amounts, Moved},
    fee::fees,
    statement::Statement,
    tariff::Tariff,
};
