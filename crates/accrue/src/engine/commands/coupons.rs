//! Coupons: creation, look-up, lists and archiving.

use crate::{
    CouponId, Error, Page, PageRequest,
    coupon::{Coupon, CouponFilter, CouponStatus, NewCoupon},
    engine::{
        Account, Call,
        commands::subscriptions,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, lists::Walk},
    },
    page::{InstantRange, Listing},
    schema::{self, Index},
    subscription::Subscription,
};

impl Account {
    /// Creates a coupon (invoicing 11.1). Subscriptions [redeem](Self::redeem_coupon) it.
    ///
    /// # Errors
    ///
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where a coupon that is not archived has
    /// the code;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the amount is not above zero, or
    /// the months are not within 1 to [120](crate::limits::COUPON_MONTHS), or the redemptions within 1
    /// to [1,000,000,000](crate::limits::COUPON_REDEMPTIONS).
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Fraction, RedemptionCode, store::MemoryStore};
    /// use accrue::coupon::{CouponDiscount, NewCoupon};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let quarter_off = CouponDiscount::Percentage(Fraction::parse("0.25")?);
    /// let mut new = NewCoupon::new(RedemptionCode::parse("SPRING")?, quarter_off);
    /// new.duration_in_months = Some(2);
    /// let coupon = account.create_coupon(new).await?;
    /// assert_eq!(account.fetch_coupon(coupon.id).await?, coupon);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_coupon(&self, new: NewCoupon) -> Call<Coupon> {
        Call::new(self, Op::new("create_coupon", new, |tx, new| create_coupon(tx, new)))
    }

    /// Returns a coupon, also an archived one.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such coupon.
    pub async fn fetch_coupon(&self, id: CouponId) -> Result<Coupon, Error> {
        rows::coupons::coupon(&mut self.reading(), &id.into()).await
    }

    /// Lists the coupons, newest first: those that are not archived, where the filter does not ask for all.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn list_coupons(
        &self,
        filter: &CouponFilter,
        page: &PageRequest,
    ) -> Result<Page<Coupon>, Error> {
        let listing =
            Listing { name: "coupons", account: self.id(), filter: format!("{filter:?}") };
        let of_status = |status| Index::coupons_of_status(self.id(), status);
        let indexes = match (&filter.redemption_code, filter.show_archived) {
            (Some(code), _) => vec![Index::coupons_of_code(self.id(), code)],
            (None, false) => vec![of_status(CouponStatus::Active)],
            (None, true) => [CouponStatus::Active, CouponStatus::Archived].map(of_status).into(),
        };
        let mut walk = Walk::merged(listing, &indexes, InstantRange::default(), page)?;
        let slot = |id| schema::coupon(self.id(), CouponId::from_bytes(id));
        let is_shown = |of: &Coupon| filter.show_archived || of.status() == CouponStatus::Active;
        let show = |coupon| Some(coupon).filter(is_shown);
        walk.run(&mut self.reading(), |at| slot(schema::id_at(at)), show).await
    }

    /// Archives a coupon: its code is free for another one, and nobody redeems it any more. Discounts that
    /// it gave go on.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is archived already;
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such coupon.
    pub fn archive_coupon(&self, id: CouponId) -> Call<Coupon> {
        Call::new(self, Op::new("archive_coupon", id, |tx, id| archive_coupon(tx, *id)))
    }

    /// Lists the subscriptions that have ever redeemed a coupon, newest first, ended ones too.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such coupon;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn list_coupon_subscriptions(
        &self,
        id: CouponId,
        page: &PageRequest,
    ) -> Result<Page<Subscription>, Error> {
        let mut tx = self.reading();
        rows::coupons::coupon(&mut tx, &id.into()).await?;
        let listing =
            Listing { name: "coupon_subscriptions", account: self.id(), filter: id.to_string() };
        let index = Index::subscriptions_of_coupon(self.id(), id);
        let walk = Walk::new(listing, &index, InstantRange::default(), page)?;
        subscriptions::subscriptions_of(&tx, walk, |_| true).await
    }
}

#[boxed]
async fn create_coupon(tx: &mut Transaction<'_>, new: &NewCoupon) -> Result<Coupon, Stop> {
    let id = CouponId::generate(tx.now, tx.entropy());
    let coupon = new.clone().decide(id, tx.now)?;
    rows::coupons::save_new(tx, &coupon).await?;
    Ok(coupon)
}

#[boxed]
async fn archive_coupon(tx: &mut Transaction<'_>, id: CouponId) -> Result<Coupon, Stop> {
    let before = rows::coupons::coupon(tx, &id.into()).await?;
    let after = before.clone().archive(tx.now)?;
    rows::coupons::save_archived(tx, &before, &after).await?;
    Ok(after)
}
