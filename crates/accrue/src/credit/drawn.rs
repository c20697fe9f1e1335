use serde::{Deserialize, Serialize};

use crate::{CreditBlockId, Decimal};

/// What the usage of one billing period of a subscription has drawn from one ledger, block by block:
/// the one that was drawn last stands last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Drawn(Vec<(CreditBlockId, Decimal)>);
