//! What a customer has of credits: in which units, and the alerts on them.

use crate::{
    CustomerId, Error,
    engine::kernel::Transaction,
    limits,
    schema::{self, Credits},
};

/// Writes what a customer has of credits, which was read.
pub(in crate::engine) fn put_credits(
    tx: &mut Transaction<'_>,
    customer: CustomerId,
    credits: &Credits,
) -> Result<(), Error> {
    let (found, most) = (credits.units.len(), limits::LEDGERS);
    if found > most {
        let detail = format!(
            "the customer would have credits and alerts on them in {found} currencies and \
             pricing units, expected at most {most}"
        );
        return Err(Error::constraint(detail));
    }
    tx.put(&schema::credits(tx.account, customer), credits)
}
