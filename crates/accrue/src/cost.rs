//! Cost of the usage and the fees of subscriptions, computed on request.

mod evaluation;
mod query;

pub use self::{
    evaluation::{
        EvaluatedGroup, EvaluatedPrice, EvaluationEntry, EvaluationPrice, PriceEvaluation,
        PriceEvaluations,
    },
    query::{Cost, CostLine, CostQuery},
};
