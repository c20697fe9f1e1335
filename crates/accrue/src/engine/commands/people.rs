//! People: invitations, roles and passwords.

use async_trait::async_trait;

use crate::{
    Email, Error, InvitationId, ListFilter, Page, PageRequest, PersonId,
    engine::{
        Billing,
        kernel::{Command, Stop, Transaction, apply_open},
        rows,
    },
    person::{
        Acceptance, Invitation, InvitationEntry, InvitationToken, Invitee, NewPerson, PasswordHash,
        Person, PersonAlias, PersonEntry, Role, SentInvitation, email_digest,
    },
    schema::{self, Index, Nothing},
};

/// People. Their operations take no idempotency key: a stored answer would keep a secret.
impl Billing {
    /// Tells whether anybody has accepted an invitation yet.
    pub async fn has_people(&self) -> Result<bool, Error> {
        let slot = schema::people_head();
        Ok(self.host().reading().get(&slot).await?.is_some())
    }

    /// Invites the first person, who is an admin and says who it is: for 24 hours. Of several such invitations
    /// one is accepted, and the others are good for nothing then.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where there are people already.
    ///
    /// ```
    /// # use accrue::{Billing, Email, Name, store::MemoryStore};
    /// use accrue::person::{Acceptance, PasswordHash};
    ///
    /// # pollster::block_on(async {
    /// let billing = Billing::with_system(MemoryStore::new());
    /// let link = billing.invite_first_person().await?.token.reveal();
    /// let password = PasswordHash::parse("$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaA")?;
    /// let ada = Acceptance::of(Name::parse("Ada")?, Email::parse("ada@example.com")?, password);
    /// let ada = billing.accept_invitation(&link, ada).await?.expect("the token is good");
    /// assert!(billing.invite_first_person().await.is_err());
    /// let session = billing.open_session(ada.id).await?.token.reveal();
    /// let (person, _) = billing.session(&session).await?.expect("it is open");
    /// assert_eq!(person, ada);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub async fn invite_first_person(&self) -> Result<SentInvitation, Error> {
        apply_open(&self.host(), &Invite::First).await
    }

    /// Invites a person: for 72 hours.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where there is a person with this e-mail
    /// address.
    pub async fn invite_person(&self, person: NewPerson) -> Result<SentInvitation, Error> {
        apply_open(&self.host(), &Invite::New(person)).await
    }

    /// Invites a person that has lost its password to choose another one: for 24 hours. The present password is good
    /// until it has, and its sessions go on until then.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is none;
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where it is disabled.
    pub async fn reset_password(&self, id: PersonId) -> Result<SentInvitation, Error> {
        apply_open(&self.host(), &Invite::Known(id)).await
    }

    /// Returns the invitation that a token is for; none where it is no token, for none, or not good any more.
    pub async fn invitation(&self, token: &str) -> Result<Option<Invitation>, Error> {
        let Some(token) = InvitationToken::parse(token) else { return Ok(None) };
        let host = self.host();
        let mut tx = host.reading();
        let found = good(&mut tx, &token).await?;
        Ok(found.map(|entry| entry.invitation))
    }

    /// Accepts an invitation, which is used up then: the person is there from now on. One who was there has another
    /// password, and its sessions are over; its name and e-mail address stay. None where the token is good for
    /// nothing; of several who accept one invitation at once, one does.
    ///
    /// # Errors
    ///
    /// [`RequestValidation`](crate::ErrorKind::RequestValidation) where neither the invitation nor the acceptance
    /// says who it is; [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where there is a person with
    /// this e-mail address.
    pub async fn accept_invitation(
        &self,
        token: &str,
        acceptance: Acceptance,
    ) -> Result<Option<Person>, Error> {
        let Some(token) = InvitationToken::parse(token) else { return Ok(None) };
        apply_open(&self.host(), &Accept { token, acceptance }).await
    }

    /// Lists the invitations that nobody has accepted, also those that are not good any more.
    pub async fn list_invitations(&self, page: &PageRequest) -> Result<Page<Invitation>, Error> {
        let slot = |id| schema::invitation(InvitationId::from_bytes(id));
        let show = |entry: InvitationEntry| Some(entry.invitation);
        let all = ListFilter::default();
        self.host().list("invitations", Index::invitations(), &all, page, slot, show).await
    }

    /// Withdraws an invitation: nobody can accept it any more.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is none, or it was accepted.
    pub async fn withdraw_invitation(&self, id: InvitationId) -> Result<(), Error> {
        apply_open(&self.host(), &Withdraw { id }).await
    }

    /// Returns a person, also a disabled one.
    ///
    /// # Errors
    ///
    /// [`ResourceNotFound`](crate::ErrorKind::ResourceNotFound) where there is none.
    pub async fn fetch_person(&self, id: PersonId) -> Result<Person, Error> {
        Ok(rows::people::person(&mut self.host().reading(), id).await?.person)
    }

    /// Lists the people, newest first, disabled ones too.
    pub async fn list_people(&self, page: &PageRequest) -> Result<Page<Person>, Error> {
        let slot = |id| schema::person(PersonId::from_bytes(id));
        let show = |entry: PersonEntry| Some(entry.person);
        let all = ListFilter::default();
        self.host().list("people", Index::people(), &all, page, slot, show).await
    }

    /// Changes what a person may do.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where no admin would be left.
    pub async fn change_role(&self, id: PersonId, role: Role) -> Result<Person, Error> {
        apply_open(&self.host(), &Change { id, what: PersonChange::Role(role) }).await
    }

    /// Disables a person: it is let in no more, and its sessions are over. A second time changes nothing.
    ///
    /// # Errors
    ///
    /// [`ConstraintViolation`](crate::ErrorKind::ConstraintViolation) where no admin would be left.
    pub async fn disable_person(&self, id: PersonId) -> Result<Person, Error> {
        apply_open(&self.host(), &Change { id, what: PersonChange::Disabled }).await
    }

    /// Lets a person in again that was disabled: it has to sign in.
    pub async fn enable_person(&self, id: PersonId) -> Result<Person, Error> {
        apply_open(&self.host(), &Change { id, what: PersonChange::Enabled }).await
    }

    /// Gives a person another password. Its sessions go on: [close](Self::close_sessions_of) them where they
    /// are not to.
    pub async fn set_password(&self, id: PersonId, password: PasswordHash) -> Result<(), Error> {
        apply_open(&self.host(), &SetPassword { id, password }).await
    }

    /// Returns the person with an e-mail address, in whichever case, and the hash of its password; none where
    /// there is none, or it is disabled.
    pub async fn password_of(
        &self,
        email: &Email,
    ) -> Result<Option<(Person, PasswordHash)>, Error> {
        let host = self.host();
        let mut tx = host.reading();
        let Some(PersonAlias { person }) = alias(&mut tx, email).await? else { return Ok(None) };
        let found = rows::people::person(&mut tx, person).await?;
        Ok(found.person.is_enabled().then_some((found.person, found.password)))
    }
}

async fn alias(tx: &mut Transaction<'_>, email: &Email) -> Result<Option<PersonAlias>, Error> {
    tx.get(&schema::person_by_email(&email_digest(email))).await
}

async fn refuse_taken(tx: &mut Transaction<'_>, email: &Email) -> Result<(), Error> {
    match alias(tx, email).await? {
        None => Ok(()),
        Some(_) => Err(Error::constraint("there is a person with this e-mail address")),
    }
}

/// Returns the invitation that a token is good for.
async fn good(
    tx: &mut Transaction<'_>,
    token: &InvitationToken,
) -> Result<Option<InvitationEntry>, Error> {
    let now = tx.now;
    let entry = tx.get(&schema::invitation(token.id())).await?;
    let Some(entry) = entry.filter(|entry| entry.admits(token, now)) else { return Ok(None) };
    let is_late = match (entry.invitation.resets, &entry.invitation.person) {
        // Who is disabled is not let in by another password.
        (Some(person), _) => !rows::people::person(tx, person).await?.person.is_enabled(),
        (None, Some(_)) => false,
        // There is one first person.
        (None, None) => tx.get(&schema::people_head()).await?.is_some(),
    };
    Ok((!is_late).then_some(entry))
}

fn remove(tx: &mut Transaction<'_>, invitation: &Invitation) {
    tx.delete(&schema::invitation(invitation.id));
    tx.delete(&schema::invitation_by_expiry(invitation.expires_at, invitation.id));
}

enum Invite {
    First,
    New(NewPerson),
    Known(PersonId),
}

#[async_trait]
impl Command for Invite {
    type Outcome = SentInvitation;

    fn name(&self) -> &'static str {
        match self {
            Self::First => "invite_first_person",
            Self::New(_) => "invite_person",
            Self::Known(_) => "reset_password",
        }
    }

    fn subject(&self) -> Option<String> {
        match self {
            Self::First => None,
            Self::New(person) => Some(person.email.to_string()),
            Self::Known(id) => Some(id.to_string()),
        }
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<SentInvitation, Stop> {
        let invitee = self.invitee(tx).await?;
        let id = InvitationId::generate(tx.now, tx.entropy());
        let token = InvitationToken::draw(id, tx.entropy());
        let entry = InvitationEntry::new(invitee, &token, tx.now);
        tx.put(&schema::invitation(id), &entry)?;
        let by_expiry = schema::invitation_by_expiry(entry.invitation.expires_at, id);
        tx.put(&by_expiry, &Nothing {})?;
        Ok(SentInvitation { invitation: entry.invitation, token })
    }
}

impl Invite {
    /// Returns whom it is for, who may be invited.
    async fn invitee(&self, tx: &mut Transaction<'_>) -> Result<Invitee, Error> {
        match self {
            Self::First => {
                refuse_second(tx).await?;
                Ok(Invitee::First)
            }
            Self::New(person) => {
                refuse_taken(tx, &person.email).await?;
                Ok(Invitee::New(person.clone()))
            }
            Self::Known(id) => {
                let PersonEntry { person, .. } = rows::people::person(tx, *id).await?;
                if !person.is_enabled() {
                    return Err(Error::constraint("the person is disabled"));
                }
                Ok(Invitee::Known(person))
            }
        }
    }
}

async fn refuse_second(tx: &mut Transaction<'_>) -> Result<(), Error> {
    match tx.get(&schema::people_head()).await? {
        None => Ok(()),
        Some(_) => Err(Error::constraint("there are people already: one of them invites others")),
    }
}

struct Accept {
    token: InvitationToken,
    acceptance: Acceptance,
}

#[async_trait]
impl Command for Accept {
    type Outcome = Option<Person>;

    fn name(&self) -> &'static str {
        "accept_invitation"
    }

    fn subject(&self) -> Option<String> {
        Some(self.token.id().to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Option<Person>, Stop> {
        let Some(InvitationEntry { invitation, .. }) = good(tx, &self.token).await? else {
            return Ok(None);
        };
        remove(tx, &invitation);
        let password = self.acceptance.password.clone();
        if let Some(id) = invitation.resets {
            let mut entry = rows::people::person(tx, id).await?;
            entry.password = password;
            tx.put(&schema::person(id), &entry)?;
            rows::people::close_sessions(tx, id).await?;
            return Ok(Some(entry.person));
        }
        let NewPerson { name, email, role } = self.acceptance.person(&invitation)?;
        refuse_taken(tx, &email).await?;
        let id = PersonId::generate(tx.now, tx.entropy());
        let person = Person { id, name, email, role, created_at: tx.now, disabled_at: None };
        let head = tx.get(&schema::people_head()).await?.unwrap_or_default().add(&person)?;
        tx.put(&schema::people_head(), &head)?;
        tx.put(&schema::person_by_time(&person), &Nothing {})?;
        let by_email = schema::person_by_email(&email_digest(&person.email));
        tx.put(&by_email, &PersonAlias { person: id })?;
        let entry = PersonEntry { person, password };
        tx.put(&schema::person(id), &entry)?;
        Ok(Some(entry.person))
    }
}

struct Withdraw {
    id: InvitationId,
}

#[async_trait]
impl Command for Withdraw {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "withdraw_invitation"
    }

    fn subject(&self) -> Option<String> {
        Some(self.id.to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let found = tx.get(&schema::invitation(self.id)).await?;
        let entry = found.ok_or_else(|| Error::not_found("invitation", self.id))?;
        remove(tx, &entry.invitation);
        Ok(())
    }
}

/// Change of a person.
struct Change {
    id: PersonId,
    what: PersonChange,
}

enum PersonChange {
    Role(Role),
    Disabled,
    Enabled,
}

#[async_trait]
impl Command for Change {
    type Outcome = Person;

    fn name(&self) -> &'static str {
        match self.what {
            PersonChange::Role(_) => "change_role",
            PersonChange::Disabled => "disable_person",
            PersonChange::Enabled => "enable_person",
        }
    }

    fn subject(&self) -> Option<String> {
        Some(self.id.to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<Person, Stop> {
        let before = rows::people::person(tx, self.id).await?;
        let mut after = before.clone();
        match self.what {
            PersonChange::Role(role) => after.person.role = role,
            PersonChange::Disabled => {
                after.person.disabled_at.get_or_insert(tx.now);
            }
            PersonChange::Enabled => after.person.disabled_at = None,
        }
        if after == before {
            return Ok(after.person);
        }
        let head = tx.get(&schema::people_head()).await?.unwrap_or_default();
        let head = head.change(&before.person, &after.person)?;
        tx.put(&schema::people_head(), &head)?;
        tx.put(&schema::person(self.id), &after)?;
        if !after.person.is_enabled() {
            rows::people::close_sessions(tx, self.id).await?;
        }
        Ok(after.person)
    }
}

struct SetPassword {
    id: PersonId,
    password: PasswordHash,
}

#[async_trait]
impl Command for SetPassword {
    type Outcome = ();

    fn name(&self) -> &'static str {
        "set_password"
    }

    fn subject(&self) -> Option<String> {
        Some(self.id.to_string())
    }

    async fn run(&self, tx: &mut Transaction<'_>) -> Result<(), Stop> {
        let mut entry = rows::people::person(tx, self.id).await?;
        entry.password = self.password.clone();
        tx.put(&schema::person(self.id), &entry)?;
        Ok(())
    }
}
