//! Expensive requests, by kind.

mod backfills;
mod bodies;
mod condition;
mod conditions;
mod evaluations;
mod packed;
mod reads;

use accrue_load_tests::{Answer, Catalogue, Client, Outcome, Request};
use clap::ValueEnum;

use crate::options::Options;

/// A kind of expensive requests, in the order in which they are prepared: what makes every ingest
/// dearer is last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Evaluations of a price, with a long filter over many events
    Evaluations,
    /// Figures and lists over long timeframes and many rows
    Reads,
    /// Backfills that are filled and closed, and an ingest for the same customer
    Backfills,
    /// Batches of events with large properties
    LargeBatches,
    /// The same, each event a little larger than is allowed
    RefusedBatches,
    /// Packed bodies that expand to the most that is allowed
    Expansions,
    /// Packed bodies of very many empty members
    Members,
    /// Batches of events under many metrics with long conditions
    Conditions,
}

/// What kinds are prepared with.
pub(crate) struct Setting<'a> {
    pub(crate) options: &'a Options,
    pub(crate) client: Client,
    pub(crate) catalogue: Catalogue,
    /// How large requests are, where the server has a say in it.
    pub(crate) notes: Vec<String>,
}

/// Makes the requests of one connection: the next one, knowing the answer to the one before.
pub(crate) type Attack = Box<dyn FnMut(Option<&Answer>) -> Request + Send>;

/// Makes the attacks of connections, by their numbers.
pub(crate) type Attacks = Box<dyn Fn(usize) -> Attack>;

impl Kind {
    /// Prepares the account for requests of this kind.
    pub(crate) async fn prepare(self, setting: &mut Setting<'_>) -> Outcome<Attacks> {
        match self {
            Self::Evaluations => evaluations::prepare(setting).await,
            Self::Reads => reads::prepare(setting).await,
            Self::Backfills => backfills::prepare(setting).await,
            Self::LargeBatches => Ok(bodies::large(setting.options)),
            Self::RefusedBatches => Ok(bodies::refused(setting.options)),
            Self::Expansions => packed::expansions(setting.options),
            Self::Members => packed::members(setting.options),
            Self::Conditions => conditions::prepare(setting).await,
        }
    }

    pub(crate) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// The same request again and again, on every connection.
fn same(request: Request) -> Attacks {
    Box::new(move |_| {
        let request = request.clone();
        Box::new(move |_| request.clone())
    })
}

/// Another request each time, by the number of the connection and that of the request.
fn numbered(make: impl Fn(usize, usize) -> Request + Clone + Send + 'static) -> Attacks {
    Box::new(move |connection| {
        let (make, mut nth) = (make.clone(), 0);
        Box::new(move |_| {
            nth += 1;
            make(connection, nth)
        })
    })
}
