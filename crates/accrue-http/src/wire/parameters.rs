//! Parameters of metrics, of which no metric has any (subscriptions 1.2).

use std::collections::BTreeMap;

use crate::{
    json::Json,
    shape::{Anything, Describe, Read, Reader, Schema},
};

/// Values of the parameters of a metric by name: there is no name that a metric has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoParameters;

impl Read for NoParameters {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let given = BTreeMap::<String, Anything>::read(json, at, reader)?;
        match given.into_keys().next() {
            None => Some(Self),
            Some(name) => {
                reader.conflict(format!("{at} names {name}, and the metric has no parameters"))
            }
        }
    }
}

impl Describe for NoParameters {
    fn schema() -> Schema {
        BTreeMap::<String, Anything>::schema()
    }
}
