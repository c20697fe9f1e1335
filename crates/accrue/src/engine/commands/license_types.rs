//! License types: operations and lists.

use crate::{
    Error, LicenseTypeId, Page, PageRequest,
    engine::{
        Account, Call,
        kernel::{Op, Stop, Transaction, boxed},
        rows::licenses,
    },
    license::{LicenseType, NewLicenseType},
    schema::{self, Index},
};

impl Account {
    /// Creates a license type (subscriptions 7.2). Prices name it when they are created, and
    /// [licenses](Self::create_license) when they are given out.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Name, PropertyName, store::MemoryStore};
    /// use accrue::license::NewLicenseType;
    ///
    /// # pollster::block_on(async {
    /// # let account = Billing::with_system(MemoryStore::new()).account(AccountId::parse("acme")?);
    /// let seat = NewLicenseType {
    ///     name: Name::parse("Seat")?,
    ///     grouping_key: PropertyName::parse("user")?,
    /// };
    /// let seat = account.create_license_type(seat).await?;
    /// assert_eq!(account.fetch_license_type(seat.id).await?, seat);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn create_license_type(&self, new: NewLicenseType) -> Call<LicenseType> {
        Call::new(self, Op::new("create_license_type", new, |tx, new| create_license_type(tx, new)))
    }

    /// Returns a license type.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is no such license type.
    pub async fn fetch_license_type(&self, id: LicenseTypeId) -> Result<LicenseType, Error> {
        licenses::license_type(&mut self.reading(), id).await
    }

    /// Lists the license types, oldest first (subscriptions 7.1).
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where the cursor is none of this list.
    pub async fn list_license_types(&self, page: &PageRequest) -> Result<Page<LicenseType>, Error> {
        let slot = |id| schema::license_type(self.id(), LicenseTypeId::from_bytes(id));
        self.list_oldest_first("license_types", Index::license_types(self.id()), page, slot).await
    }
}

#[boxed]
async fn create_license_type(
    tx: &mut Transaction<'_>,
    new: &NewLicenseType,
) -> Result<LicenseType, Stop> {
    let id = LicenseTypeId::generate(tx.now, tx.entropy());
    let license_type = new.clone().decide(id, tx.now);
    licenses::put_new_type(tx, &license_type)?;
    Ok(license_type)
}
