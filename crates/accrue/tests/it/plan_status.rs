//! Drafts of plans and archived ones, and what is told of plans and prices (subscriptions 5.2, 11).

use accrue::{
    Description, ErrorKind, MetadataUpdate, PageRequest, Patch,
    customer::AttributeValue,
    plan::{DefaultVersion, NewPlan, NewPlanVersion, Plan, PlanFilter, PlanStatus, PlanUpdate},
    price::PriceUpdate,
    subscription::{NewSubscription, PlanChange},
    webhook::{Body, Message},
};

use crate::support::fixture::{COUNT, Fixture, block_on, external, name, refused, run, usd};

impl Fixture {
    fn draft(&self) -> Plan {
        let new = NewPlan { is_draft: true, ..NewPlan::new(name("Soon"), usd()) };
        run(self.account.create_plan(new)).unwrap()
    }

    fn set_status(&self, plan: &Plan, status: PlanStatus) -> Plan {
        let update = PlanUpdate { status: Some(status), ..PlanUpdate::default() };
        run(self.account.update_plan(plan.id, update)).unwrap()
    }

    fn plans_of(&self, status: PlanStatus) -> Vec<Plan> {
        let filter = PlanFilter { status: Some(status), ..PlanFilter::default() };
        let mut page = PageRequest::first(1).unwrap();
        let mut all = Vec::new();
        loop {
            let found = block_on(self.account.list_plans(&filter, &page)).unwrap();
            all.extend(found.data);
            let Some(cursor) = found.next_cursor else { return all };
            page = page.after(cursor);
        }
    }
}

fn types(messages: &[Message]) -> Vec<&'static str> {
    messages.iter().map(Message::message_type).collect()
}

#[test]
fn subscriptions_5_2_7_a_draft_or_archived_plan_takes_no_subscription() {
    let fixture = Fixture::new();
    let (ada, bob) = (fixture.customer("ada"), fixture.customer("bob"));
    let draft = fixture.draft();
    assert_eq!(draft.status, PlanStatus::Draft);
    let check = |status: &str| {
        let call = fixture.account.create_subscription(NewSubscription::new(ada.id, draft.id));
        let (kind, text) = refused(&fixture, call);
        assert_eq!(kind, ErrorKind::ConstraintViolation);
        assert!(text.contains(&format!("takes no subscriptions: it is {status}")), "{text}");
    };
    check("draft");
    let active = fixture.set_status(&draft, PlanStatus::Active);
    let subscription = fixture.subscribe(bob.id, &active);
    let archived = fixture.set_status(&active, PlanStatus::Archived);
    check("archived");
    // Who is on it stays, also where another version of it comes.
    fixture.tick_at("2026-07-01T00:00:00Z");
    let found = block_on(fixture.account.fetch_subscription(subscription.id)).unwrap();
    assert_eq!((found.plan_id, found.end_date), (Some(draft.id), None));
    run(fixture.account.create_plan_version(archived.id, NewPlanVersion::new([]))).unwrap();
    let mut same = PlanChange::immediate(archived.id);
    same.plan_version = Some(accrue::plan::PlanVersion::new(2));
    run(fixture.account.schedule_plan_change(subscription.id, same)).unwrap();

    // Nobody comes from another plan.
    let other = fixture.plan();
    let subscription = fixture.subscribe(ada.id, &other);
    let change = PlanChange::immediate(archived.id);
    let call = fixture.account.schedule_plan_change(subscription.id, change);
    assert_eq!(refused(&fixture, call).0, ErrorKind::ConstraintViolation);
    fixture.set_status(&archived, PlanStatus::Active);
    fixture.subscribe(ada.id, &active);
}

#[test]
fn subscriptions_5_2_7_what_was_ready_is_no_draft_any_more() {
    let fixture = Fixture::new();
    let draft = fixture.draft();
    assert_eq!(fixture.set_status(&draft, PlanStatus::Draft), draft, "it is one");
    for status in [PlanStatus::Active, PlanStatus::Archived] {
        let plan = fixture.set_status(&draft, status);
        assert_eq!(plan.status, status);
        let update = PlanUpdate { status: Some(PlanStatus::Draft), ..PlanUpdate::default() };
        let (kind, _) = refused(&fixture, fixture.account.update_plan(draft.id, update));
        assert_eq!(kind, ErrorKind::ConstraintViolation);
    }
}

#[test]
fn wire_6_3_plans_are_listed_by_their_status() {
    let fixture = Fixture::new();
    let next = |plan: Plan| {
        fixture.clock.advance(std::time::Duration::from_secs(1));
        plan
    };
    let plans: Vec<_> = (0..3).map(|_| next(fixture.plan())).collect();
    let drafts: Vec<_> = (0..2).map(|_| next(fixture.draft())).collect();
    let archived = fixture.set_status(&plans[1], PlanStatus::Archived);
    let active = [plans[2].clone(), plans[0].clone()];
    assert_eq!(fixture.plans_of(PlanStatus::Active), active);
    assert_eq!(fixture.plans_of(PlanStatus::Archived), [archived]);
    assert_eq!(fixture.plans_of(PlanStatus::Draft), [drafts[1].clone(), drafts[0].clone()]);
}

#[test]
fn subscriptions_11_1_what_becomes_of_plans_is_told() {
    let fixture = Fixture::new();
    let (plan, told) = (fixture.draft(), || fixture.messages_of_catalogue());
    let created = told();
    assert_eq!(types(&created), ["plan.created"]);
    assert_eq!(created[0].plan.as_ref(), Some(&plan));
    assert_eq!((&created[0].customer, &created[0].price), (&None, &None));

    let update = PlanUpdate {
        name: Some(name("Now")),
        external_plan_id: Patch::Set(external("now")),
        description: Patch::Set(Description::parse("For all").unwrap()),
        status: Some(PlanStatus::Active),
        metadata: MetadataUpdate::Merge([("a".to_owned(), Some("1".to_owned()))].into()),
        ..PlanUpdate::default()
    };
    let edited = run(fixture.account.update_plan(plan.id, update.clone())).unwrap();
    let [message] = told().try_into().unwrap();
    assert_eq!(message.plan, Some(edited));
    let Body::PlanEdited { plan_id, previous_attributes } = message.body else { panic!() };
    assert_eq!(plan_id, plan.id);
    let text = |text: Option<&str>| AttributeValue::Text(text.map(str::to_owned));
    let before = [
        ("name", text(Some("Soon"))),
        ("external_plan_id", text(None)),
        ("description", text(None)),
        ("status", text(Some("draft"))),
        ("metadata", AttributeValue::Metadata(accrue::Metadata::new())),
    ];
    let before = before.map(|(name, value)| (name.to_owned(), value));
    assert_eq!(previous_attributes, before.into());
    run(fixture.account.update_plan(plan.id, update)).unwrap();
    assert_eq!(types(&told()), [""; 0], "nothing has changed");

    let version = |default| {
        let new = NewPlanVersion { default, ..NewPlanVersion::new([]) };
        run(fixture.account.create_plan_version(plan.id, new)).unwrap();
    };
    version(DefaultVersion::Keep);
    assert_eq!(types(&told()), ["plan.version_created"]);
    version(DefaultVersion::Replace);
    let messages = told();
    assert_eq!(types(&messages), ["plan.version_created", "plan.default_version_set"]);
    let number = accrue::plan::PlanVersion::new;
    let (plan_id, first, third) = (plan.id, number(1), number(3));
    let set = Body::PlanDefaultVersionSet { plan_id, new_default: third, previous_default: first };
    let bodies: Vec<_> = messages.into_iter().map(|message| message.body).collect();
    assert_eq!(bodies, [Body::PlanVersionCreated { plan_id, version: third }, set]);
    run(fixture.account.set_default_plan_version(plan.id, first)).unwrap();
    assert_eq!(types(&told()), ["plan.default_version_set"]);
    run(fixture.account.set_default_plan_version(plan.id, first)).unwrap();
    assert_eq!(types(&told()), [""; 0], "it is that one");
}

#[test]
fn subscriptions_11_1_another_metadata_of_a_price_is_told() {
    let fixture = Fixture::new();
    let new = fixture.usage_at("1", &fixture.metric(COUNT));
    let price = run(fixture.account.create_price(new)).unwrap();
    assert_eq!(types(&fixture.messages_of_catalogue()), [""; 0]);
    let metadata = MetadataUpdate::Merge([("a".to_owned(), Some("1".to_owned()))].into());
    let update = PriceUpdate { metadata };
    let edited = run(fixture.account.update_price(price.id, update.clone())).unwrap();
    let [message] = fixture.messages_of_catalogue().try_into().unwrap();
    assert_eq!((message.message_type(), &message.price), ("price.edited", &Some(edited)));
    let Body::PriceEdited { previous_attributes, .. } = message.body else { panic!() };
    let none = AttributeValue::Metadata(accrue::Metadata::new());
    assert_eq!(previous_attributes, [("metadata".to_owned(), none)].into());
    run(fixture.account.update_price(price.id, update)).unwrap();
    assert_eq!(types(&fixture.messages_of_catalogue()), [""; 0], "nothing has changed");
}
