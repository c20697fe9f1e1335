use super::{
    aggregate::{Aggregate, Latest},
    meter::{MeterId, SplitId},
};
use crate::{
    EventKey, MetricId, Timestamp,
    metric::{Contribution, Function},
};

/// What one event adds to one meter.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) meter: MeterId,
    /// The split that the meter is a cell of.
    pub(crate) split: Option<SplitId>,
    pub(crate) amount: Amount,
}

/// What an event adds, ready to be added.
#[derive(Clone, Debug)]
pub(crate) enum Amount {
    /// To an aggregate that only needs to be added to.
    Plain(Aggregate),
    /// One value, of which it must be known whether it is new.
    Distinct(Digest),
}

/// What a distinct value is recognized by.
pub(crate) type Digest = [u8; 32];

impl Reading {
    /// Reads what an event contributes to a metric.
    pub(crate) fn new(
        metric_id: MetricId,
        function: &Function,
        contribution: Contribution,
        at: Timestamp,
        key: &EventKey,
    ) -> Self {
        let amount = match contribution {
            Contribution::Occurrence => Amount::Plain(Aggregate::Count(1)),
            Contribution::Distinct(value) => Amount::Distinct(value.digest()),
            Contribution::Number(value) => Amount::Plain(match function {
                Function::Min(_) => Aggregate::Min(value),
                Function::Max(_) => Aggregate::Max(value),
                Function::Latest(_) => Aggregate::Latest(Latest { at, key: key.clone(), value }),
                _ => Aggregate::Sum(value),
            }),
        };
        Self { meter: metric_id.into(), split: None, amount }
    }
}
