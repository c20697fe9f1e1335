//! The document that guards what an account configures.

use serde::{Deserialize, Serialize};

use super::{Guards, Slot};
use crate::AccountId;

/// What guards everything that an account configures: it says nothing itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AccountHead {}

impl Guards for AccountHead {
    type Of = ();

    fn slot(account: &AccountId, (): ()) -> Slot<Self> {
        super::account_head(account)
    }

    fn owner((): ()) -> [u8; 16] {
        [0; 16]
    }
}
