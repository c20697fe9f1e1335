//! Every operation that the API serves and that is no mere read, with a request for each on a scene
//! where it has something to do.

mod cases;
mod scene;

pub use self::{cases::cases, scene::Scene};

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
}

impl Case {
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.operation.split_once(' ').unwrap().0
    }

    /// Whether an idempotency key counts.
    #[must_use]
    pub fn takes_key(&self) -> bool {
        self.method() == "POST"
    }
}
