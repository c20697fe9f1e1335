//! Cost of the usage and the fees of subscriptions, computed on request.

mod evaluation;
mod query;

pub use self::{
    evaluation::{EvaluatedGroup, PriceEvaluation},
    query::{Cost, CostLine, CostQuery},
};
