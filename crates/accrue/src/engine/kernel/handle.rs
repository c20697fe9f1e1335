//! Handles that a host embeds.

use std::{fmt, sync::Arc, time::Duration};

use super::{Shared, Transaction};
use crate::{AccountId, Error, Timestamp, audit::Actor, limits, store::Turns};

/// Handle on a store, which a host embeds. Cheap to clone; all clones are one.
///
/// ```
/// use accrue::{AccountId, Billing, ManualClock, SeededEntropy, Timestamp, store::MemoryStore};
///
/// let clock = ManualClock::at(Timestamp::parse("2026-03-01T00:00:00Z")?);
/// let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1));
/// let account = billing.account(AccountId::parse("acme")?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Billing {
    shared: Arc<Shared>,
    /// Whoever its operations are done by, where they are to be audited.
    actor: Option<Arc<Actor>>,
}

impl Billing {
    pub(in crate::engine) fn of(shared: Shared) -> Self {
        Self { shared: Arc::new(shared), actor: None }
    }

    /// Returns the same handle for somebody: what its operations write, and those of its accounts, is in the
    /// [audit log](Self::list_audit), each in the commit of its effect.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Name, store::MemoryStore};
    /// use accrue::audit::{Actor, AuditFilter};
    ///
    /// # pollster::block_on(async {
    /// let billing = Billing::with_system(MemoryStore::new());
    /// let import = billing.acting(Actor::host(Name::parse("import")?));
    /// import.account(AccountId::parse("acme")?).issue_api_key(Name::parse("ci")?).await?;
    /// let log = billing.list_audit(&AuditFilter::default(), &Default::default()).await?;
    /// assert_eq!(log.data[0].who.name().as_str(), "import");
    /// assert_eq!(log.data[0].operation, "issue_api_key");
    /// assert_eq!(log.data[0].subject.as_deref(), Some("ci"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn acting(&self, actor: Actor) -> Self {
        Self { shared: Arc::clone(&self.shared), actor: Some(Arc::new(actor)) }
    }

    /// Has those who lose races to other processes wait there for their turns, and [`tick`](Self::tick) share its work
    /// with them: for a store that several processes write at once. All clones of the handle do so from now on; the first
    /// turns that are handed in count.
    #[must_use]
    pub fn taking_turns(self, turns: impl Turns) -> Self {
        self.shared.stripes.take_turns(Arc::new(turns));
        self
    }

    /// Returns the handle on an account. It need not be configured first.
    #[must_use]
    pub fn account(&self, id: AccountId) -> Account {
        Account { billing: self.clone(), id }
    }

    /// Returns the present instant by the clock that was handed in; it never goes back.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.now()
    }

    /// Returns the time by which [`now`](Self::now) is ahead of the clock, where that was set back:
    /// none where it was not, or has caught up since.
    ///
    /// Until it has, the present instant stands still, and the age of events is judged by it. A host
    /// logs it: only a restart, or that much time, ends it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use accrue::{Billing, ManualClock, SeededEntropy, Timestamp, store::MemoryStore};
    ///
    /// let clock = ManualClock::at(Timestamp::parse("2026-03-03T00:00:00Z")?);
    /// let billing = Billing::new(MemoryStore::new(), clock.clone(), SeededEntropy::new(1));
    /// let ahead = billing.now();
    /// assert_eq!(billing.clock_lag(), None);
    ///
    /// clock.set(Timestamp::parse("2026-03-01T00:00:00Z")?);
    /// assert_eq!(billing.clock_lag(), Some(Duration::from_secs(2 * 86_400)));
    /// assert_eq!(billing.now(), ahead);
    ///
    /// clock.advance(Duration::from_secs(2 * 86_400));
    /// assert_eq!(billing.clock_lag(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn clock_lag(&self) -> Option<Duration> {
        self.shared.clock_lag()
    }

    pub(in crate::engine) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Returns the handle for what is the host's and of no account: its rows are in tables whose keys begin
    /// with none.
    pub(in crate::engine) fn host(&self) -> Account {
        self.account(self.shared.host.clone())
    }
}

impl fmt::Debug for Billing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Billing").field("store", &self.shared.store).finish_non_exhaustive()
    }
}

/// Handle on one account (tenant), with its operations. Cheap to clone.
///
/// Resources of another account do not exist here.
#[derive(Clone, Debug)]
pub struct Account {
    billing: Billing,
    id: AccountId,
}

impl Account {
    /// Returns its id.
    #[must_use]
    pub const fn id(&self) -> &AccountId {
        &self.id
    }

    /// Returns the handle that it belongs to.
    #[must_use]
    pub const fn billing(&self) -> &Billing {
        &self.billing
    }

    /// Returns the same handle for somebody: what its operations write is in the
    /// [audit log](Billing::list_audit), each in the commit of its effect. Steps that time brings are nobody's.
    ///
    /// ```
    /// # use accrue::{AccountId, Billing, Email, Name, customer::NewCustomer, store::MemoryStore};
    /// use accrue::audit::{Actor, AuditFilter};
    ///
    /// # pollster::block_on(async {
    /// let billing = Billing::with_system(MemoryStore::new());
    /// let account = billing.account(AccountId::parse("acme")?);
    /// let account = account.acting(Actor::host(Name::parse("import")?));
    /// let ada = NewCustomer::new(Name::parse("Ada")?, Email::parse("ada@example.com")?);
    /// account.create_customer(ada).await?;
    /// let log = billing.list_audit(&AuditFilter::default(), &Default::default()).await?;
    /// assert_eq!(log.data[0].account.as_ref(), Some(account.id()));
    /// assert_eq!(log.data[0].subject.as_deref(), Some("Ada"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn acting(&self, actor: Actor) -> Self {
        Self { billing: self.billing.acting(actor), id: self.id.clone() }
    }

    pub(in crate::engine) fn shared(&self) -> &Shared {
        self.billing.shared()
    }

    /// Returns whoever its operations are done by, where they are to be audited.
    pub(in crate::engine::kernel) fn actor(&self) -> Option<&Actor> {
        self.billing.actor.as_deref()
    }

    /// Reads as of one instant: whatever is found, an error too, is so where all rows that were read still
    /// are as they were. Else it is looked for again.
    ///
    /// `find` takes the transaction and gives it back: of a closure that borrows it nobody could tell that
    /// its future can be sent.
    pub(in crate::engine) async fn at_one_instant<'a, T, F>(
        &'a self,
        find: impl Fn(Transaction<'a>) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = (Transaction<'a>, Result<T, Error>)>,
    {
        for _ in 0..limits::RUNS {
            let (tx, found) = find(self.reading().using_copies()).await;
            if tx.holds().await? {
                return found;
            }
        }
        Err(Error::contended())
    }

    /// Begins a transaction for an operation that only reads.
    pub(in crate::engine) fn reading(&self) -> Transaction<'_> {
        Transaction::dry(self.shared(), &self.id)
    }
}
