use serde::{Deserialize, Serialize};

use crate::Decimal;

/// Which thresholds of an alert on a balance are in alert: they have fired, and the balance has not
/// come back since.
///
/// By value, so that it survives disabling and edits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct InAlert(Vec<Decimal>);
