//! Cost: what the usage and the fees of a subscription come to, as it is asked for.

mod evaluation;
mod query;

pub use self::{
    evaluation::{EvaluatedGroup, PriceEvaluation},
    query::{Cost, CostLine, CostQuery},
};
