//! Coupons by the names that callers give, and where they are found.

use crate::{
    Error,
    coupon::{Coupon, CouponName},
    engine::kernel::Transaction,
    schema::{self, CouponAlias, Nothing},
    subscription::Subscription,
};

/// Returns a coupon that exists; by its code, one that is not archived.
pub(in crate::engine) async fn coupon(
    tx: &mut Transaction<'_>,
    name: &CouponName,
) -> Result<Coupon, Error> {
    let unknown = || Error::not_found("coupon", name);
    let id = match name {
        CouponName::Id(id) => *id,
        CouponName::Code(code) => {
            let alias = tx.get(&schema::coupon_code(tx.account, code)).await?;
            alias.ok_or_else(unknown)?.coupon_id
        }
    };
    tx.get(&schema::coupon(tx.account, id)).await?.ok_or_else(unknown)
}

/// Writes a coupon that is new, and where it is found, where no other has its code.
pub(in crate::engine) async fn save_new(
    tx: &mut Transaction<'_>,
    new: &Coupon,
) -> Result<(), Error> {
    let code = schema::coupon_code(tx.account, &new.redemption_code);
    if tx.get(&code).await?.is_some() {
        let detail = format!("a coupon with the code {} exists already", new.redemption_code);
        return Err(Error::duplicate(detail));
    }
    tx.put(&code, &CouponAlias { coupon_id: new.id })?;
    tx.put(&schema::coupon_by_code(tx.account, new), &Nothing {})?;
    tx.put(&schema::coupon_by_status(tx.account, new), &Nothing {})?;
    tx.put(&schema::coupon(tx.account, new.id), new)
}

/// Writes a coupon that was read and is archived since: its code is free again.
pub(in crate::engine) async fn save_archived(
    tx: &mut Transaction<'_>,
    before: &Coupon,
    after: &Coupon,
) -> Result<(), Error> {
    let code = schema::coupon_code(tx.account, &before.redemption_code);
    tx.get(&code).await?;
    tx.delete(&code);
    tx.delete(&schema::coupon_by_status(tx.account, before));
    tx.put(&schema::coupon_by_status(tx.account, after), &Nothing {})?;
    tx.put(&schema::coupon(tx.account, after.id), after)
}

/// Writes a coupon that was read and that a subscription has redeemed since.
pub(in crate::engine) fn save_redeemed(
    tx: &mut Transaction<'_>,
    coupon: &Coupon,
    by: &Subscription,
) -> Result<(), Error> {
    tx.put(&schema::coupon_subscription(tx.account, coupon.id, by), &Nothing {})?;
    tx.put(&schema::coupon(tx.account, coupon.id), coupon)
}

/// Gives back the redemptions that a subscription had and that are dropped before they began: the coupons can be redeemed
/// again (subscriptions 3.3.4).
pub(in crate::engine) async fn give_back(
    tx: &mut Transaction<'_>,
    before: &Subscription,
    after: &Subscription,
) -> Result<(), Error> {
    let mut left: Vec<_> = after.redeemed().collect();
    for id in before.redeemed() {
        if let Some(same) = left.iter().position(|of| *of == id) {
            left.swap_remove(same);
            continue;
        }
        let mut coupon = coupon(tx, &id.into()).await?;
        coupon.give_back();
        if !after.redeemed().any(|of| of == id) {
            tx.delete(&schema::coupon_subscription(tx.account, id, after));
        }
        tx.put(&schema::coupon(tx.account, id), &coupon)?;
    }
    Ok(())
}
