//! Pools of licenses that usage draws from, by the fees that give them.

use std::sync::Arc;

use crate::{
    price::{LicensePools, Price},
    subscription::{PriceInterval, Subscription},
};

/// Returns the pools that the usage of a price draws from, of a subscription whose intervals are given with their
/// prices; none where none of its fees has any.
pub(super) fn drawn_by(
    usage: &Price,
    of: &Subscription,
    intervals: &[(&PriceInterval, &Arc<Price>)],
) -> Option<LicensePools> {
    usage.license_type_id.filter(|_| usage.charge.is_usage())?;
    let pools = intervals.iter().filter_map(|(interval, fee)| {
        Some((interval.start_date, of.end_of(interval), fee.pool_for(usage)?))
    });
    LicensePools::new(pools)
}
