//! Changes to the intervals of subscriptions.

use crate::{
    AdjustmentId, AdjustmentIntervalId, Error, PriceIntervalId, SubscriptionId,
    engine::{
        Account, Call,
        commands::{
            hierarchies, plan_versions,
            prices::{self, Made},
            subscription_changes,
        },
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, outbox},
        time::current,
    },
    plan::PlanPrice,
    price::{Price, References, ScopedAdjustment},
    subscription::{IntervalAdjustment, IntervalChanges, Subscription, SubscriptionEntry},
    webhook::Body,
};

impl Account {
    /// Changes what a subscription is charged, and from when until when: its price and adjustment intervals
    /// (subscriptions 2). All of it is done, or nothing.
    ///
    /// Usage counts from the start of an interval, also of one that lies in the past; a fee in advance falls due at
    /// once, for its days in the current period. What is ended is billed at its end, and the unused days of a fee in
    /// advance are credited. Where invoices were issued for what would now be billed otherwise, those that nobody has
    /// paid for become void and are issued anew; of what was paid, all is credited and billed anew.
    /// [`leaving_invoices`](Call::leaving_invoices) refuses that.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where nothing is to change, or a quantity is negative;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) for an interval that the subscription does not have, a
    /// price, and a customer whose usage is to count;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where the subscription has ended, an interval
    /// would end before its start or lie outside of the subscription, two of one price would charge the same usage, or
    /// overlapping ones begin their periods on different days, a price is in another currency, or was made with another
    /// plan or subscription, an adjustment would be over prices that it cannot be over, or a customer whose usage is to
    /// count is neither the subscriber nor one of its children; where more than [100](crate::limits::REWOUND) billing
    /// periods would be billed anew, and where one of their invoices is synced or about to be.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, Name, store::MemoryStore};
    /// # use accrue::{customer::NewCustomer, item::NewItem, plan::NewPlan};
    /// # use accrue::{price::{Cadence, NewPrice}, subscription::NewSubscription};
    /// use accrue::subscription::{IntervalChanges, IntervalDate, NewPriceInterval};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("support")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let plan = account.create_plan(NewPlan::new(Name::parse("Pro")?, usd)).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// # let pro = account.create_subscription(NewSubscription::new(ada.id, plan.id)).await?;
    /// let support = NewPrice::builder(Name::parse("support")?, item.id).billed(Cadence::Monthly, usd);
    /// let support = account.create_price(support.fee_in_advance(Decimal::from(31))).await?;
    /// let add = vec![NewPriceInterval::new(support.id, IntervalDate::EndOfTerm)];
    /// let changes = IntervalChanges { add, ..IntervalChanges::default() };
    /// let pro = account.change_intervals(pro.id, changes).await?;
    /// assert_eq!(pro.price_intervals[0].price_id, support.id);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn change_intervals(
        &self,
        id: SubscriptionId,
        changes: IntervalChanges,
    ) -> Call<Subscription> {
        Call::new(
            self,
            Op::new("change_intervals", (id, changes), |tx, (id, changes)| {
                change_intervals(tx, *id, changes)
            }),
        )
    }
}

#[boxed]
pub(super) async fn change_intervals(
    tx: &mut Transaction<'_>,
    id: SubscriptionId,
    changes: &IntervalChanges,
) -> Result<Subscription, Stop> {
    changes.check()?;
    rows::prices::check_adjusted(tx, &changes.added_adjustments()).await?;
    let before = current::subscription_to_change(tx, id).await?;
    before.subscription.check_not_ended(tx.now)?;
    let mut entry = before.clone();
    decide(tx, &mut entry, changes).await?;
    let Some(since) = entry.subscription.terms_differ_since(&before.subscription) else {
        return Ok(before.subscription);
    };
    hierarchies::note_usage_customers(tx, Some(&before.subscription), &entry.subscription).await?;
    tell_quantities(tx, &before.subscription, &entry.subscription).await?;
    subscription_changes::save_terms(tx, &before, &mut entry, since).await?;
    Ok(entry.subscription)
}

/// Decides which intervals there are: edits first, so that an end and a new begin may meet.
async fn decide(
    tx: &mut Transaction<'_>,
    entry: &mut SubscriptionEntry,
    changes: &IntervalChanges,
) -> Result<(), Error> {
    let now = tx.now;
    let IntervalChanges { edit, add, edit_adjustments, add_adjustments } = changes;
    let mut prices = rows::prices::prices_of(tx, &entry.subscription).await?;
    let of_plan = rows::plans::plan_version_of(tx, entry).await?.prices.clone();
    let of = &mut entry.subscription;
    // One may be given a life that another has yet, which is edited too.
    let came_with: Vec<_> = edit.iter().map(|edit| of.come_with(edit.id)).collect();
    for (index, (edit, own)) in edit.iter().zip(&came_with).enumerate() {
        let interval = of.price_intervals.iter().find(|of| of.id == edit.id);
        let price = interval.and_then(|of| prices.iter().find(|price| price.id == of.price_id));
        let price = price.ok_or_else(|| Error::not_found("price interval", edit.id))?;
        let edited = of.edit_interval(edit, (price, own), now);
        let at = format!("edit[{index}]");
        edited.map_err(|error| error.within(&at))?;
        of.check_cells(&prices, &at)?;
    }
    for (index, new) in add.iter().enumerate() {
        let at = format!("add[{index}]");
        let given = format!("{at}.{}", new.price.field());
        let made = Made::for_subscription(of.currency);
        let price = plan_versions::price_to_use(tx, &new.price, made).await;
        let price = price.map_err(|error| error.within(&given))?;
        let is_known = of_plan.contains(&price.id) || prices.iter().any(|of| of.id == price.id);
        if matches!(new.price, PlanPrice::Existing(_)) && !is_known {
            price.check_is_addon().map_err(|error| error.within(&given))?;
        }
        let id = PriceIntervalId::generate(now, tx.entropy());
        let added = of.add_interval(id, new, &price, now);
        added.map_err(|error| error.within(&at))?;
        if prices.iter().all(|known| known.id != price.id) {
            prices.push(price);
        }
        of.check_cells(&prices, &given)?;
    }
    of.check_intervals()?;
    of.reach(&prices, |_| true)?;
    for (index, edit) in edit_adjustments.iter().enumerate() {
        let edited = of.edit_adjustment_interval(edit, now);
        edited.map_err(|error| error.within(&format!("edit_adjustments[{index}]")))?;
    }
    for (index, new) in add_adjustments.iter().enumerate() {
        let at = format!("add_adjustments[{index}]");
        let given = given(tx, of, &new.adjustment, &prices).await;
        let given = given.map_err(|error| error.within(&at))?;
        let id = AdjustmentIntervalId::generate(now, tx.entropy());
        let added = of.add_adjustment_interval(id, new, &given, &prices, now);
        added.map_err(|error| error.within(&at))?;
    }
    of.check_intervals()?;
    prices::note_usage(tx, entry).await
}

/// Returns the adjustment of a new interval, over some prices: that which is named, or one that is made for it.
async fn given(
    tx: &mut Transaction<'_>,
    subscription: &Subscription,
    of: &IntervalAdjustment,
    prices: &[Price],
) -> Result<ScopedAdjustment, Error> {
    match of {
        IntervalAdjustment::New(new) => {
            let id = AdjustmentId::generate(tx.now, tx.entropy());
            let given = new.decide(id, None, (prices, &References::default()))?;
            rows::prices::save_adjustments(tx, [&given], &[])?;
            Ok(given)
        }
        IntervalAdjustment::Existing(id) => {
            subscription.check_is_no_coupon(*id)?;
            let given = rows::prices::adjustment(tx, *id).await?;
            given.check_over(prices)?;
            Ok(given)
        }
    }
}

/// Tells of each change of a fee's quantity that is new, or another one (subscriptions 2.8).
async fn tell_quantities(
    tx: &mut Transaction<'_>,
    before: &Subscription,
    after: &Subscription,
) -> Result<(), Error> {
    for interval in &after.price_intervals {
        let known = before.price_intervals.iter().find(|of| of.id == interval.id);
        for (at, new) in interval.quantities.iter().skip(1) {
            if known.is_some_and(|of| of.quantities.get(at) == Some(new)) {
                continue;
            }
            let earlier = interval.quantities.range(..at).next_back().map(|(_, of)| of);
            let Some(old) = known.and_then(|of| of.quantity(*at)).or(earlier) else { continue };
            let body = Body::FixedFeeQuantityUpdated {
                subscription_id: after.id,
                price_id: interval.price_id,
                effective_date: *at,
                new_quantity: new.clone(),
                old_quantity: old.clone(),
            };
            outbox::tell(tx, after.customer_id, tx.now, body).await?;
        }
    }
    Ok(())
}
