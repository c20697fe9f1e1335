//! Lists of what is the host's: the audit log, and the accounts.

use crate::{
    AccountId, AuditEntryId, Error, Page, PageRequest,
    audit::{AuditEntry, AuditFilter, AuditOf},
    engine::{Billing, rows::lists::Walk},
    limits,
    page::Listing,
    schema::{self, Index},
};

impl Billing {
    /// Lists the entries of the audit log, newest first: of operations of handles that
    /// [act](Self::acting) for somebody, from the last [400 days](limits::AUDIT_DAYS).
    pub async fn list_audit(
        &self,
        filter: &AuditFilter,
        page: &PageRequest,
    ) -> Result<Page<AuditEntry>, Error> {
        let host = self.host();
        let index = match &filter.of {
            AuditOf::Everybody => Index::audit_entries(),
            AuditOf::Account(account) => Index::audit_entries_of_account(account),
            AuditOf::Person(person) => Index::audit_entries_of_person(*person),
        };
        let listing = Listing { name: "audit", account: host.id(), filter: format!("{filter:?}") };
        let mut walk = Walk::new(listing, &index, filter.at, page)?;
        let slot = |at: &_| {
            let instant = schema::instant_at(at).unwrap_or(crate::Timestamp::MIN);
            schema::audit_entry(instant, AuditEntryId::from_bytes(schema::id_at(at)))
        };
        walk.run(&mut host.reading(), slot, Some).await
    }

    /// Lists the first accounts, in the order of their ids: those that have configured something, have an API
    /// key, or a customer. At most 100.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Name, item::NewItem, store::MemoryStore};
    /// # pollster::block_on(async {
    /// let billing = Billing::with_system(MemoryStore::new());
    /// for id in ["acme", "other"] {
    ///     billing.account(AccountId::parse(id)?).issue_api_key(Name::parse("ci")?).await?;
    /// }
    /// let first = billing.list_accounts(1).await?;
    /// assert_eq!(first, [AccountId::parse("acme")?]);
    /// assert_eq!(billing.list_accounts_after(&first[0], 10).await?, [AccountId::parse("other")?]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn list_accounts(&self, limit: usize) -> Result<Vec<AccountId>, Error> {
        self.accounts(None, limit).await
    }

    /// Lists the accounts that come after one.
    pub async fn list_accounts_after(
        &self,
        account: &AccountId,
        limit: usize,
    ) -> Result<Vec<AccountId>, Error> {
        self.accounts(Some(account.clone()), limit).await
    }

    /// Goes from one account to the next, over all its rows at once.
    async fn accounts(
        &self,
        mut last: Option<AccountId>,
        limit: usize,
    ) -> Result<Vec<AccountId>, Error> {
        let mut found = Vec::new();
        while found.len() < limit.min(limits::PAGE_ROWS) {
            let mut next: Option<AccountId> = None;
            for scan in [
                schema::account_heads(1),
                schema::api_keys_by_account(1),
                schema::customer_heads_by_account(1),
            ] {
                let scan = match &last {
                    Some(last) => scan.after(&schema::behind_account(last)),
                    None => scan,
                };
                let rows = self.shared().store.scan(&scan).await?;
                let Some(row) = rows.first() else { continue };
                let account = schema::account_of(&row.key)?;
                next = Some(next.map_or_else(|| account.clone(), |next| next.min(account.clone())));
            }
            let Some(next) = next else { break };
            last = Some(next.clone());
            found.push(next);
        }
        Ok(found)
    }
}
