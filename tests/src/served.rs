//! Every operation that the API serves, with a request for each on a scene where it has something to
//! do, and a store that fails at one of its calls: whoever sends again has one effect.

mod check;
mod damage;
mod door;
mod evaluations;
mod families;
mod phases;
mod reads;
mod scene;
mod state;
mod store;
mod writes;

pub use self::{
    check::{Bench, Report, Run},
    damage::Damaged,
    door::Door,
    reads::reads,
    scene::Scene,
    store::{Call, Fault, Flaw, Way},
    writes::writes,
};

/// A request for an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The method and the path of the operation, with parameters in braces, below the base path.
    pub operation: &'static str,
    pub path: String,
    /// Nothing where it has none.
    pub body: String,
    /// What is answered.
    pub status: u16,
    /// Whether it is to wait until it is applied (subscriptions 4.1).
    pub is_staged: bool,
}

/// What only reads, although it is a POST: it is computed again under its key.
const ONLY_READ: [&str; 4] = [
    "POST /events/search",
    "POST /prices/evaluate",
    "POST /prices/evaluate_preview_events",
    "POST /prices/{price_id}/evaluate",
];

impl Case {
    /// Lets the change of a subscription wait.
    #[must_use]
    pub fn staged(self) -> Self {
        Self { is_staged: true, ..self }
    }

    #[must_use]
    pub fn method(&self) -> &'static str {
        self.operation.split_once(' ').unwrap().0
    }

    /// Whether there is an effect.
    #[must_use]
    pub fn has_effect(&self) -> bool {
        self.method() != "GET" && !ONLY_READ.contains(&self.operation)
    }

    /// Whether its answer is kept under the key, which counts for no other method (§4.5.3).
    #[must_use]
    pub fn is_replayed(&self) -> bool {
        self.method() == "POST" && self.has_effect()
    }
}
