use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Event, Properties};
use crate::{CustomerId, Error, EventKey, EventName, IdOr, Timestamp, limits};

/// Content that an event has from now on (wire 3.5). Its id stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amendment {
    /// Name of the event.
    pub event_name: EventName,
    /// Instant at which it happened, the same as that of the event.
    pub timestamp: Timestamp,
    /// Properties that are measured.
    pub properties: Properties,
    /// Customer whose usage it is, the same as that of the event.
    pub customer: IdOr<CustomerId>,
}

impl Amendment {
    /// Refuses content that no event may have.
    pub(crate) fn check(&self, id: &EventKey) -> Result<(), Error> {
        let event = Event {
            idempotency_key: id.clone(),
            event_name: self.event_name.clone(),
            timestamp: self.timestamp,
            properties: self.properties.clone(),
            customer: self.customer.clone(),
        };
        match event.problems(event.bytes()) {
            problems if problems.is_empty() => Ok(()),
            problems => Err(Error::invalid("properties", problems.join("; "))),
        }
    }
}

/// Counts one more amendment or deprecation of a customer, unless there were too many. Those that
/// are too long ago are forgotten.
pub(crate) fn count_amendment(
    instants: &mut Vec<Timestamp>,
    now: Timestamp,
    what: &str,
) -> Result<(), Error> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let (most, days) = (limits::AMENDMENTS, limits::AMENDMENT_DAYS);
    let span = DAY.saturating_mul(u32::try_from(days).unwrap_or(u32::MAX));
    instants.retain(|at| now < at.saturating_add(span));
    if instants.len() >= most {
        return Err(Error::constraint(format!(
            "{most} events of the customer were {what} within {days} days, which is the most"
        )));
    }
    instants.push(now);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_3_5_a_hundred_in_a_hundred_days() {
        const DAY: u64 = 24 * 60 * 60;
        let start = Timestamp::parse("2026-03-01T00:00:00Z").unwrap();
        let after = |seconds| start.saturating_add(Duration::from_secs(seconds));
        let mut instants = Vec::new();
        for second in 0..100 {
            count_amendment(&mut instants, after(second), "amended").unwrap();
        }
        let mut refused = |now| count_amendment(&mut instants, now, "amended").is_err();
        assert!(refused(after(100)));
        assert!(refused(after(100 * DAY - 1)));
        assert!(!refused(after(100 * DAY)), "the first one is forgotten");
        assert!(refused(after(100 * DAY)));
        assert!(!refused(after(200 * DAY)));
        assert_eq!(instants, [after(100 * DAY), after(200 * DAY)][1..]);
    }
}
