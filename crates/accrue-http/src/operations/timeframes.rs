use accrue::{Error, Timestamp, cost::Cost};

use crate::{problem::Problem, shape::Moment};

/// Completes a timeframe of which one end is given: it begins with the current billing period, and
/// ends now (wire 4.1).
///
/// `current` is what the current billing period costs, which tells when that begins.
pub(super) async fn complete(
    start: &mut Option<Moment>,
    end: &mut Option<Moment>,
    now: Timestamp,
    current: impl Future<Output = Result<Vec<Cost>, Error>>,
) -> Result<(), Problem> {
    match (&start, &end) {
        (Some(_), None) => *end = Some(Moment(now)),
        (None, Some(_)) => {
            let begins = current.await?.iter().map(|cost| cost.timeframe.start()).min();
            // Without a billing period, nothing is there to be cut.
            *start = begins.map(Moment).or(*end);
        }
        (None, None) | (Some(_), Some(_)) => {}
    }
    Ok(())
}
