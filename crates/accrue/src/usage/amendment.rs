use serde::{Deserialize, Serialize};

use super::Properties;
use crate::{CustomerId, EventName, IdOr, Timestamp};

/// What an event is to say from now on (wire 3.5). Its id stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amendment {
    /// What happened.
    pub event_name: EventName,
    /// When it happened: what the event said first.
    pub timestamp: Timestamp,
    /// What is measured of it.
    pub properties: Properties,
    /// Whose usage it is: whose the event was first.
    pub customer: IdOr<CustomerId>,
}
