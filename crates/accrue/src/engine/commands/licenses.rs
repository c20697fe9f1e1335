//! Licenses: operations and lists.

use crate::{
    Error, LicenseId, LicenseTypeId, Page, PageRequest, SubscriptionId, Timeframe, Timestamp,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::{self, licenses, lists::Walk},
        time::{current, recount},
    },
    license::{
        Deactivation, License, LicenseFees, LicenseFilter, LicenseName, NewLicense, check_seats,
    },
    limits,
    page::{InstantRange, Listing},
    price::Price,
    schema::{self, Index},
    subscription::{Subscription, SubscriptionEntry},
};

impl Account {
    /// Gives a license of a subscription out (subscriptions 7.3): from a day on, also one that has passed.
    ///
    /// Where it has allocations, what was used since then draws from these (subscriptions 7.4), and gives back what it
    /// has drawn from the customer's credits. Drafts follow; what was issued stays.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such subscription or license
    /// type; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where no price of the subscription is
    /// of the type, the license would end before it starts, the subscription has ended or ends before that, more
    /// licenses would be active at once than the license fee has quantity, there are [5,000](limits::LICENSES) of the
    /// type, or of the external id, already, or usage of more than [100](limits::REWOUND) billing periods would be
    /// charged otherwise;
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where another license of the subscription and
    /// the type has the external id at the same time.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Currency, Decimal, Email, ExternalId, Name, PropertyName};
    /// # use accrue::{customer::NewCustomer, item::NewItem, plan::NewPlan, store::MemoryStore};
    /// # use accrue::{price::{Cadence, NewPrice}, subscription::NewSubscription};
    /// use accrue::license::{Deactivation, LicenseName, NewLicense, NewLicenseType};
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// # let item = account.create_item(NewItem::new(Name::parse("seats")?)).await?;
    /// # let usd = Currency::parse("USD")?;
    /// # let seat = NewLicenseType {
    /// #     name: Name::parse("Seat")?,
    /// #     grouping_key: PropertyName::parse("user")?,
    /// # };
    /// # let seat = account.create_license_type(seat).await?;
    /// # let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// # let ada = account.create_customer(ada).await?;
    /// let fee = NewPrice::builder(Name::parse("Seat")?, item.id).billed(Cadence::Monthly, usd);
    /// let mut fee = fee.fee_in_advance(Decimal::from(10));
    /// fee.license_type_id = Some(seat.id);
    /// let mut plan = NewPlan::new(Name::parse("Pro")?, usd);
    /// plan.prices = vec![fee.into()];
    /// let plan = account.create_plan(plan).await?;
    /// let pro = account.create_subscription(NewSubscription::new(ada.id, plan.id)).await?;
    ///
    /// let new = NewLicense::new(pro.id, seat.id, ExternalId::parse("alice")?);
    /// let alice = account.create_license(new).await?;
    /// let alice = account.deactivate_license(alice.id, Deactivation::default()).await?;
    /// assert!(alice.end_date.is_some(), "the end of today");
    /// let name = LicenseName {
    ///     subscription_id: pro.id,
    ///     license_type_id: seat.id,
    ///     external_license_id: ExternalId::parse("alice")?,
    /// };
    /// assert_eq!(account.find_license(&name).await?, alice);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_license(&self, new: NewLicense) -> Call<License> {
        Call::new(self, Op::new("create_license", new, |tx, new| create_license(tx, new)))
    }

    /// Gives a license an end (subscriptions 7.3.2): that of today, or the begin of a day. A later end takes the
    /// place of one that is still to come. What was used behind it is charged as if there were no license.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such license;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it has ended, would end before it
    /// starts, or more licenses would be active at once than the license fee has quantity;
    /// [`DuplicateResource`](crate::ErrorKind::DuplicateResource) where another license would have the external
    /// id at the same time.
    pub fn deactivate_license(&self, id: LicenseId, deactivation: Deactivation) -> Call<License> {
        Call::new(
            self,
            Op::new("deactivate_license", (id, deactivation), |tx, (id, deactivation)| {
                deactivate_license(tx, *id, *deactivation)
            }),
        )
    }

    /// Returns a license.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such license.
    pub async fn fetch_license(&self, id: LicenseId) -> Result<License, Error> {
        let find = |mut tx| async move {
            let found = licenses::license(&mut tx, id).await;
            (tx, found.map(|(license, entry)| license.within(&entry.subscription)))
        };
        self.at_one_instant(find).await
    }

    /// Returns the license of an external id (subscriptions 7.3.6): the active one, else the one that ended last,
    /// else the next one.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such subscription, or it has no
    /// such license.
    pub async fn find_license(&self, name: &LicenseName) -> Result<License, Error> {
        let find = |mut tx| async move {
            let found = find_license(&mut tx, name).await;
            (tx, found)
        };
        self.at_one_instant(find).await
    }

    /// Lists the licenses of a subscription, newest first. The status of each is that of now.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such subscription;
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn list_licenses(
        &self,
        subscription: SubscriptionId,
        filter: &LicenseFilter,
        page: &PageRequest,
    ) -> Result<Page<License>, Error> {
        let mut tx = self.reading();
        let entry = rows::subscriptions::subscription_entry(&mut tx, subscription).await?;
        let filtered = format!("{subscription} {filter:?}");
        let listing = Listing { name: "licenses", account: self.id(), filter: filtered };
        let index = Index::licenses(self.id(), subscription);
        let mut walk = Walk::new(listing, &index, InstantRange::default(), page)?;
        let slot = |at: &_| schema::license(self.id(), LicenseId::from_bytes(schema::id_at(at)));
        let now = tx.now;
        let show = |license: License| {
            Some(license.within(&entry.subscription)).filter(|of| filter.passes(of, now))
        };
        walk.run(&mut tx, slot, show).await
    }
}

/// Refuses what the prices of a subscription cannot have to do with its licenses, once they have changed: two
/// license fees at once, one of a quantity below the number of licenses, or usage that cannot draw from their
/// allocations, or not beside other usage (subscriptions 7.3.9, 7.4.2).
pub(super) async fn check_prices(tx: &mut Transaction<'_>, of: &Subscription) -> Result<(), Error> {
    let prices = rows::prices::prices_of(tx, of).await?;
    let fees = LicenseFees::of(of, &prices);
    fees.check_one()?;
    fees.check_draws(&prices)?;
    for license_type in fees.types() {
        check_seats_since(tx, of, &fees, license_type, tx.now).await?;
    }
    Ok(())
}

/// Counts usage anew where a license that has pools is active at other times since an instant.
async fn count_anew(
    tx: &mut Transaction<'_>,
    entry: &SubscriptionEntry,
    license: &License,
    since: Option<Timestamp>,
) -> Result<(), Error> {
    let Some(since) = since.filter(|_| entry.subscription.has_license_pools()) else {
        return Ok(());
    };
    let prices = rows::prices::prices_of(tx, &entry.subscription).await?;
    let mut own =
        prices.iter().filter(|price| price.license_type_id == Some(license.license_type_id));
    match own.any(|price| price.license_key(&prices).is_some()) {
        true => recount::judge_licenses(tx, entry, since).await,
        false => Ok(()),
    }
}

async fn find_license(tx: &mut Transaction<'_>, name: &LicenseName) -> Result<License, Error> {
    let entry = rows::subscriptions::subscription_entry(tx, name.subscription_id).await?;
    let LicenseName { license_type_id, external_license_id, .. } = name;
    let of = &entry.subscription;
    let found = licenses::of_external_id(tx, of, *license_type_id, external_license_id).await?;
    let found: Vec<_> = found.into_iter().map(|license| license.within(of)).collect();
    let license = License::at(found.iter(), tx.now).cloned();
    license.ok_or_else(|| Error::not_found("license", external_license_id))
}

/// Refuses more licenses than there are seats, from an instant on.
async fn check_seats_since(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    fees: &LicenseFees<'_>,
    license_type: LicenseTypeId,
    since: Timestamp,
) -> Result<(), Error> {
    let found = licenses::not_ended(tx, of, license_type, since).await?;
    let found: Vec<_> = found.into_iter().map(|license| license.within(of)).collect();
    check_seats(&fees.quantities(license_type), &found, since)
}

/// Refuses a license that was written, and is one too many, or has the external id of another one.
async fn check_license(
    tx: &mut Transaction<'_>,
    of: &Subscription,
    prices: &[Price],
    license: &License,
) -> Result<(), Error> {
    let license_type = license.license_type_id;
    let external = &license.external_license_id;
    let same = licenses::of_external_id(tx, of, license_type, external).await?;
    check_count(same.len(), "of the external id")?;
    license.check_alone(&same)?;
    let all = licenses::not_ended(tx, of, license_type, tx.now).await?;
    check_count(all.len(), "of the type")?;
    let fees = LicenseFees::of(of, prices);
    check_seats_since(tx, of, &fees, license_type, license.start_date).await
}

fn check_count(found: usize, what: &str) -> Result<(), Error> {
    let most = limits::LICENSES;
    match found <= most {
        true => Ok(()),
        false => {
            let detail = format!("the subscription has {most} licenses {what} already");
            Err(Error::constraint(detail))
        }
    }
}

#[boxed]
async fn create_license(tx: &mut Transaction<'_>, new: &NewLicense) -> Result<License, Stop> {
    let license_type = licenses::license_type(tx, new.license_type_id).await?;
    let entry = current::current_subscription(tx, new.subscription_id).await?;
    let of = &entry.subscription;
    let id = LicenseId::generate(tx.now, tx.entropy());
    let license = new.clone().decide(id, of, tx.now)?;
    let prices = rows::prices::prices_of(tx, of).await?;
    if !prices.iter().any(|price| price.license_type_id == Some(license_type.id)) {
        let detail =
            format!("no price of the subscription is of the license type {}", license_type.id);
        return Err(Error::constraint(detail).into());
    }
    licenses::put_new(tx, of, &license).await?;
    check_license(tx, of, &prices, &license).await?;
    let since = license.window().map(Timeframe::start);
    count_anew(tx, &entry, &license, since).await?;
    Ok(license.within(of))
}

#[boxed]
async fn deactivate_license(
    tx: &mut Transaction<'_>,
    id: LicenseId,
    deactivation: Deactivation,
) -> Result<License, Stop> {
    let (found, _) = licenses::license(tx, id).await?;
    let entry = current::current_subscription(tx, found.subscription_id).await?;
    let of = &entry.subscription;
    let license = deactivation.decide(found.clone(), of, tx.now)?;
    licenses::save(tx, of, &found, &license).await?;
    if found.ends_at() < license.ends_at() {
        let prices = rows::prices::prices_of(tx, of).await?;
        check_license(tx, of, &prices, &license).await?;
    }
    let since = Some(found.ends_at().min(license.ends_at()));
    count_anew(tx, &entry, &license, since).await?;
    Ok(license.within(of))
}
