//! Redemptions: subscriptions that redeem coupons.

use crate::{
    Error, SubscriptionId, Timestamp,
    coupon::Redemption,
    engine::{
        Account, Call,
        commands::subscription_changes::save_change,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, outbox},
        time::current,
    },
    invoice::InvoiceStatus,
    subscription::{Subscription, SubscriptionEntry, previous_attributes},
    time::INSTANT,
    webhook::Body,
};

impl Account {
    /// Redeems a coupon for a subscription (invoicing 11.2): now, when its term ends, or at a date.
    ///
    /// Its discount is over all prices that the subscription has then, but for those in a pricing unit, and
    /// not over those that come later. It applies to charges that fall due from then on, for as many
    /// calendar months of the customer as the coupon says: in advance from its start on and before its
    /// end, in arrears behind its start and up to its end. So a discount of the month of May is of the fee
    /// in advance of the first of May, and of the usage of May, which falls due on the first of June.
    ///
    /// An amount is taken off once in each billing period. So the prices must fall due together: with one
    /// cadence, all in advance or all in arrears.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such subscription or
    /// coupon, or no coupon has the code that is not archived;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the coupon is archived or was
    /// redeemed as often as it can be, a coupon of the subscription is in force or is to be, the
    /// subscription has ended or is not in force at the date, an invoice was issued that it would
    /// change, or the prices do not fall due together that an amount is to be taken off, or have fewer
    /// digits than it.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, Fraction, Name, RedemptionCode};
    /// # use accrue::{coupon::{CouponDiscount, NewCoupon}, customer::NewCustomer, item::NewItem};
    /// # use accrue::{plan::NewPlan, price::{Cadence, NewPrice}, store::MemoryStore};
    /// # use accrue::subscription::NewSubscription;
    /// use accrue::coupon::Redemption;
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    /// # let seat = NewPrice::builder(Name::parse("seat")?, item.id).billed(Cadence::Monthly, usd);
    /// # plan.prices = vec![seat.fee_in_advance(Decimal::from(10)).into()];
    /// # let plan = account.create_plan(plan).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let pro = account.create_subscription(NewSubscription::new(ada.id, plan.id)).await?;
    /// # let code = RedemptionCode::parse("SPRING")?;
    /// # let discount = CouponDiscount::Percentage(Fraction::parse("0.25")?);
    /// let coupon = account.create_coupon(NewCoupon::new(code.clone(), discount)).await?;
    /// let pro = account.redeem_coupon(pro.id, Redemption::immediate(code)).await?;
    /// assert_eq!(pro.redeemed_coupon().map(|of| of.coupon_id), Some(coupon.id));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn redeem_coupon(&self, id: SubscriptionId, redemption: Redemption) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("redeem_coupon", (id, redemption), |tx, (id, redemption)| {
                redeem_coupon(tx, *id, redemption)
            }),
        )
    }
}

#[boxed]
async fn redeem_coupon(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    redemption: &Redemption,
) -> Result<Subscription, Stop> {
    let before = current::subscription_to_change(tx, id).await?;
    let mut coupon = rows::coupons::coupon(tx, &redemption.coupon).await?;
    let at = redemption.when.decide(&before.subscription, tx.now)?;
    let mut entry = before.clone();
    let of = &mut entry.subscription;
    let prices = rows::prices::prices_of(tx, of).await?;
    coupon.redeem(of, &prices, at, tx.now)?;
    check_invoiced(tx, &before, &entry, at).await?;
    rows::coupons::save_redeemed(tx, &coupon, &entry.subscription)?;

    let previous_attributes = previous_attributes(&before.subscription, &entry.subscription);
    let body = Body::SubscriptionEdited { subscription_id: id, previous_attributes };
    outbox::tell(tx, entry.subscription.customer_id, tx.now, body).await?;
    // What is charged comes to less, or to the same: no alert fires.
    save_change(tx, &mut entry).await?;
    Ok(entry.subscription)
}

/// Refuses a discount from an instant on that would change what was issued: it begins before the oldest
/// period that is not invoiced yet (invoicing 11.2), or with fees that were invoiced at that very instant.
async fn check_invoiced(
    tx: &mut Transaction<'_>,
    before: &SubscriptionEntry,
    after: &SubscriptionEntry,
    at: Timestamp,
) -> Result<(), Error> {
    let of = &before.subscription;
    let invoices = rows::invoices::heads_from(tx, of.customer_id, at).await?;
    let issued = invoices.iter().filter(|invoice| {
        invoice.subscription_id == Some(of.id) && invoice.status != InvoiceStatus::Draft
    });
    let Some(issued) = issued.map(|of| of.invoice_date).max() else { return Ok(()) };
    let through = at.saturating_add(INSTANT);
    let fees = rows::prices::card(tx, before).await?.in_advance_until(through);
    let discounted = rows::prices::card(tx, after).await?.in_advance_until(through);
    if at < issued || fees != discounted {
        let detail = format!("the discount would begin at {at}, and {issued} was invoiced already");
        return Err(Error::constraint(detail));
    }
    Ok(())
}
