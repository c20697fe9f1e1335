use accrue::{
    AccountId, BackfillId, CustomerId, Error, ErrorKind, ExternalId, IdOr, PageRequest, Timeframe,
    Timestamp,
    backfill::{Backfill, BackfillFilter, BackfillStatus, NewBackfill},
    expression::Expression,
    limits,
    usage::EventSearch,
};

use crate::support::fixture::{
    COUNT, Fixture, UNKNOWN, at, block_on, event, external, refused, run,
};

pub(crate) fn frame(start: &str, end: &str) -> Timeframe {
    Timeframe::new(at(start), at(end)).unwrap()
}

/// A backfill of all customers from 8 to 9 o'clock of the 1st of March 2026.
pub(crate) fn hour() -> NewBackfill {
    NewBackfill::new(frame("2026-03-01T08:00:00Z", "2026-03-01T09:00:00Z"))
}

pub(crate) fn of(customer: impl Into<IdOr<CustomerId>>, new: NewBackfill) -> NewBackfill {
    NewBackfill { customer: Some(customer.into()), ..new }
}

impl Fixture {
    pub(crate) fn backfill(&self, new: NewBackfill) -> Backfill {
        run(self.account.create_backfill(new)).unwrap()
    }

    pub(crate) fn fill(&self, backfill: &Backfill, key: &str, at: &str) -> Result<(), Error> {
        let event = event("ada", key, Timestamp::parse(at).unwrap(), "1");
        run(self.account.ingest_backfill(backfill.id, [event])).map(|_| ())
    }

    pub(crate) fn fetched(&self, backfill: &Backfill) -> Backfill {
        block_on(self.account.fetch_backfill(backfill.id)).unwrap()
    }

    fn ids(&self, filter: BackfillFilter) -> Vec<BackfillId> {
        let page = PageRequest::default();
        let page = block_on(self.account.list_backfills(&filter, &page)).unwrap();
        page.data.into_iter().map(|backfill| backfill.id).collect()
    }
}

#[test]
fn wire_3_3_what_is_left_out_has_a_default() {
    let fixture = Fixture::new();
    let backfill = fixture.backfill(hour());
    assert_eq!(backfill.status, BackfillStatus::Pending);
    assert_eq!(backfill.timeframe, hour().timeframe);
    assert_eq!(backfill.created_at, at("2026-03-10T12:00:00Z"));
    assert_eq!(backfill.close_time, Some(at("2026-03-11T12:00:00Z")));
    assert_eq!((backfill.events_ingested, backfill.reverted_at), (0, None));
    assert_eq!((backfill.customer_id, &backfill.deprecation_filter), (None, &None));
    assert!(backfill.replace_existing_events);
    assert_eq!(fixture.fetched(&backfill), backfill);
}

#[test]
fn wire_3_2_it_answers_with_the_id_of_the_service_whatever_its_customer_is_named_by() {
    let fixture = Fixture::new();
    let ada = fixture.customer("ada");
    let filter = Expression::parse("n > 100 AND event_name = 'call'").unwrap();
    let close_time = Some(at("2026-03-10T12:00:00.000001Z"));
    let new = NewBackfill { close_time, deprecation_filter: Some(filter.clone()), ..hour() };
    let backfill = fixture.backfill(of(external("ada"), new));
    assert_eq!((backfill.customer_id, backfill.close_time), (Some(ada.id), close_time));
    assert_eq!(backfill.deprecation_filter, Some(filter));
    assert_eq!(fixture.fetched(&backfill), backfill);
}

#[test]
fn wire_3_3_what_cannot_be_created_is_refused_with_its_field() {
    let fixture = Fixture::new();
    let check = |new: NewBackfill, pointer: &str| {
        let before = fixture.dump();
        let error = run(fixture.account.create_backfill(new)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::RequestValidation, "{error}");
        assert_eq!(error.violations()[0].field, pointer);
        assert_eq!(fixture.dump(), before);
    };
    let start = "2026-03-01T08:00:00Z";
    check(NewBackfill::new(frame(start, start)), "timeframe.end");
    for close_time in ["2026-03-10T12:00:00Z", "2026-03-10T11:59:59.999999Z"] {
        check(NewBackfill { close_time: Some(at(close_time)), ..hour() }, "close_time");
    }
    let filter = Some(Expression::parse("n > 1").unwrap());
    let added = NewBackfill { replace_existing_events: false, ..hour() };
    check(NewBackfill { deprecation_filter: filter, ..added.clone() }, "deprecation_filter");
    fixture.backfill(added);
}

#[test]
fn wire_3_3_an_unknown_customer_is_not_found() {
    let fixture = Fixture::new();
    let nobody = UNKNOWN.parse::<CustomerId>().unwrap();
    fixture.use_now("waiting", "a", "1");
    for customer in [IdOr::from(nobody), external("nobody").into(), external("waiting").into()] {
        let (kind, _) = refused(&fixture, fixture.account.create_backfill(of(customer, hour())));
        assert_eq!(kind, ErrorKind::ResourceNotFound);
    }
}

#[test]
fn wire_3_3_a_timeframe_has_31_days_at_most_or_what_the_account_configures() {
    let fixture = Fixture::new();
    let check = |end: &str, expect: bool| {
        let new = NewBackfill::new(frame("2026-01-01T00:00:00Z", end));
        match run(fixture.account.create_backfill(new)) {
            Ok(backfill) => {
                run(fixture.account.revert_backfill(backfill.id)).unwrap();
                assert!(expect, "{end}");
            }
            Err(error) => {
                assert_eq!(error.violations()[0].field, "timeframe.end");
                assert!(!expect, "{end}: {error}");
            }
        }
    };
    check("2026-01-31T23:59:59.999999Z", true);
    check("2026-02-01T00:00:00Z", true);
    check("2026-02-01T00:00:00.000001Z", false);
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.backfill_days = 366;
    run(fixture.account.configure(configuration.clone())).unwrap();
    check("2027-01-02T00:00:00Z", true);
    check("2027-01-02T00:00:00.000001Z", false);
    configuration.backfill_days = 1;
    run(fixture.account.configure(configuration.clone())).unwrap();
    check("2026-01-02T00:00:00Z", true);
    check("2026-01-02T00:00:00.000001Z", false);
    for days in [0, 367, u32::MAX] {
        configuration.backfill_days = days;
        let before = fixture.dump();
        let error = run(fixture.account.configure(configuration.clone())).unwrap_err();
        assert_eq!(error.violations()[0].field, "backfill_days");
        assert_eq!(fixture.dump(), before);
    }
}

#[test]
fn wire_3_3_none_overlaps_another_that_has_a_customer_in_common() {
    let check = |first: Option<&str>, second: Option<&str>, expect: bool| {
        let fixture = Fixture::new();
        for name in ["ada", "bob"] {
            fixture.customer(name);
        }
        let with = |customer: Option<&str>, start: &str, end: &str| NewBackfill {
            customer: customer.map(|name| ExternalId::parse(name).unwrap().into()),
            ..NewBackfill::new(frame(start, end))
        };
        let open = fixture.backfill(with(first, "2026-03-01T08:00:00Z", "2026-03-01T09:00:00Z"));
        let inside = with(second, "2026-03-01T08:59:59.999999Z", "2026-03-01T10:00:00Z");
        if expect {
            fixture.backfill(inside);
        } else {
            let (kind, text) = refused(&fixture, fixture.account.create_backfill(inside));
            assert_eq!(kind, ErrorKind::ConstraintViolation);
            assert!(text.contains(&open.id.to_string()), "it names the other: {text}");
        }
        fixture.backfill(with(second, "2026-03-01T07:00:00Z", "2026-03-01T08:00:00Z"));
        fixture.backfill(with(second, "2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"));
    };
    check(Some("ada"), Some("ada"), false);
    check(Some("ada"), Some("bob"), true);
    check(Some("ada"), None, false);
    check(None, Some("ada"), false);
    check(None, None, false);
}

#[test]
fn wire_3_3_one_that_was_reverted_keeps_none_out() {
    let fixture = Fixture::new();
    let first = fixture.backfill(hour());
    run(fixture.account.revert_backfill(first.id)).unwrap();
    fixture.backfill(hour());
}

#[test]
fn an_account_has_so_many_open_backfills() {
    let fixture = Fixture::new();
    let nth = |n: usize| {
        let start = at("2026-01-01T00:00:00Z")
            .saturating_add(std::time::Duration::from_secs(u64::try_from(n).unwrap() * 60));
        let end = start.saturating_add(std::time::Duration::from_secs(60));
        NewBackfill::new(Timeframe::new(start, end).unwrap())
    };
    let first = fixture.backfill(nth(0));
    for n in 1..limits::OPEN_BACKFILLS {
        fixture.backfill(nth(n));
    }
    let one_more = || fixture.account.create_backfill(nth(limits::OPEN_BACKFILLS));
    assert_eq!(refused(&fixture, one_more()).0, ErrorKind::ConstraintViolation);
    run(fixture.account.revert_backfill(first.id)).unwrap();
    run(one_more()).unwrap();
}

#[test]
fn wire_3_3_one_that_is_not_closed_is_reverted_at_once() {
    let fixture = Fixture::new();
    let backfill = fixture.backfill(hour());
    fixture.fill(&backfill, "a", "2026-03-01T08:00:00Z").unwrap();
    fixture.set("2026-03-10T13:00:00Z");
    let reverted = run(fixture.account.revert_backfill(backfill.id)).unwrap();
    let mut expect = backfill.clone();
    (expect.status, expect.events_ingested) = (BackfillStatus::Reverted, 1);
    (expect.close_time, expect.reverted_at) = (None, Some(at("2026-03-10T13:00:00Z")));
    assert_eq!(reverted, expect);
    assert_eq!(fixture.fetched(&backfill), expect);
    assert_eq!(fixture.message_types(), Vec::<&str>::new(), "nobody is told: it never counted");
    let again = fixture.account.revert_backfill(backfill.id);
    assert_eq!(refused(&fixture, again).0, ErrorKind::ConstraintViolation);
    let close = fixture.account.close_backfill(backfill.id);
    assert_eq!(refused(&fixture, close).0, ErrorKind::ConstraintViolation);
    let late = event("ada", "b", at("2026-03-01T08:00:00Z"), "1");
    let late = fixture.account.ingest_backfill(backfill.id, [late]);
    assert_eq!(refused(&fixture, late).0, ErrorKind::ConstraintViolation);
}

#[test]
fn wire_3_3_closing_answers_the_moment_and_a_second_time_is_refused() {
    let fixture = Fixture::new();
    let backfill = fixture.backfill(hour());
    fixture.fill(&backfill, "a", "2026-03-01T08:00:00Z").unwrap();
    fixture.set("2026-03-10T13:00:00Z");
    let closed = run(fixture.account.close_backfill(backfill.id)).unwrap();
    let mut expect = backfill.clone();
    (expect.close_time, expect.events_ingested) = (Some(at("2026-03-10T13:00:00Z")), 1);
    assert_eq!(closed, expect, "it is reflected next");
    let again = fixture.account.close_backfill(backfill.id);
    assert_eq!(refused(&fixture, again).0, ErrorKind::ConstraintViolation);
    let late = event("ada", "b", at("2026-03-01T08:00:00Z"), "1");
    let late = fixture.account.ingest_backfill(backfill.id, [late]);
    assert_eq!(refused(&fixture, late).0, ErrorKind::ConstraintViolation);
}

#[test]
fn wire_3_3_its_close_time_closes_it() {
    let fixture = Fixture::new();
    let close_time = Some(at("2026-03-10T13:00:00Z"));
    let backfill = fixture.backfill(NewBackfill { close_time, ..hour() });
    fixture.set("2026-03-10T12:59:59.999999Z");
    fixture.fill(&backfill, "a", "2026-03-01T08:00:00Z").unwrap();
    fixture.set("2026-03-10T13:00:00Z");
    let late = event("ada", "b", at("2026-03-01T08:00:00Z"), "1");
    let late = fixture.account.ingest_backfill(backfill.id, [late]);
    assert_eq!(refused(&fixture, late).0, ErrorKind::ConstraintViolation);
    let error = run(fixture.account.close_backfill(backfill.id)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConstraintViolation);
}

#[test]
fn wire_3_4_a_pending_backfill_is_seen_nowhere_else() {
    let fixture = Fixture::new();
    let metric = fixture.metric(COUNT);
    let ada = fixture.customer("ada");
    let plan =
        fixture.priced_plan([fixture.per_unit(&metric, accrue::price::Cadence::Monthly).into()]);
    let subscription = fixture.subscribe_from(ada.id, &plan, Some("2026-03-01T00:00:00Z"));
    fixture.use_now("ada", "a", "1");
    fixture.messages();
    let seen = || {
        let whole = frame("2026-03-01T00:00:00Z", "2026-03-11T00:00:00Z");
        let search = EventSearch {
            timeframe_start: Some(whole.start()),
            timeframe_end: Some(whole.end()),
            ..EventSearch::new([accrue::EventKey::parse("a").unwrap()])
        };
        let volume = whole;
        let page = PageRequest::default();
        (
            fixture.usage(&subscription, &metric),
            block_on(fixture.account.usage_between(ada.id, metric.id, whole)).unwrap(),
            block_on(fixture.account.search_events(search)).unwrap(),
            block_on(fixture.account.event_volume(volume, &page)).unwrap(),
            fixture.message_types(),
        )
    };
    let before = seen();
    let day = frame("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    for new in [hour(), of(ada.id, NewBackfill::new(day))] {
        let start = new.timeframe.start();
        let backfill = fixture.backfill(new);
        let batch = ["one", "two"].map(|key| event("ada", &format!("{key}-{start}"), start, "5"));
        run(fixture.account.ingest_backfill(backfill.id, batch)).unwrap();
        assert_eq!(seen(), before);
        assert_eq!(fixture.fetched(&backfill).events_ingested, 2);
    }
}

#[test]
fn wire_3_3_the_list_is_newest_first_and_filtered() {
    let fixture = Fixture::new();
    let (ada, bob) = (fixture.customer("ada"), fixture.customer("bob"));
    let mut made = Vec::new();
    for customer in [Some(ada.id), Some(bob.id), Some(ada.id)] {
        let start = at("2026-03-01T00:00:00Z");
        let nth = std::time::Duration::from_secs(60 * u64::try_from(made.len()).unwrap());
        let start = start.saturating_add(nth);
        let end = start.saturating_add(std::time::Duration::from_secs(60));
        let new = NewBackfill::new(Timeframe::new(start, end).unwrap());
        let customer = customer.map(IdOr::from);
        made.push(fixture.backfill(NewBackfill { customer, ..new }));
        fixture.clock.advance(std::time::Duration::from_secs(1));
    }
    made.push(fixture.backfill(hour()));
    run(fixture.account.revert_backfill(made[0].id)).unwrap();
    fixture.fill(&made[2], "a", "2026-03-01T00:02:00Z").unwrap();
    let ids = |indexes: &[usize]| indexes.iter().map(|n| made[*n].id).collect::<Vec<_>>();
    let check = |customer_id: Option<CustomerId>, status, expect: &[usize]| {
        let customer = customer_id.map(IdOr::from);
        let filter = BackfillFilter { customer, status };
        assert_eq!(fixture.ids(filter.clone()), ids(expect), "{filter:?}");
        let (mut walked, mut page) = (Vec::new(), PageRequest::first(1).unwrap());
        loop {
            let found = block_on(fixture.account.list_backfills(&filter, &page)).unwrap();
            walked.extend(found.data.iter().map(|backfill| backfill.id));
            let Some(cursor) = found.next_cursor else { break };
            assert_eq!(found.data.len(), 1);
            page = PageRequest::first(1).unwrap().after(cursor);
        }
        assert_eq!(walked, ids(expect), "{filter:?} row by row");
    };
    let (pending, reverted) = (Some(BackfillStatus::Pending), Some(BackfillStatus::Reverted));
    check(None, None, &[3, 2, 1, 0]);
    check(Some(ada.id), None, &[2, 0]);
    check(Some(bob.id), None, &[1]);
    check(None, pending, &[3, 2, 1]);
    check(None, reverted, &[0]);
    check(None, Some(BackfillStatus::Reflected), &[]);
    check(Some(ada.id), pending, &[2]);
    check(Some(ada.id), reverted, &[0]);
    check(Some(bob.id), reverted, &[]);
    check(Some(UNKNOWN.parse::<CustomerId>().unwrap()), None, &[]);
    let by_alias = |alias| {
        let customer = Some(external(alias).into());
        fixture.ids(BackfillFilter { customer, status: None })
    };
    assert_eq!(by_alias("ada"), ids(&[2, 0]));
    assert_eq!(by_alias("nobody"), []);
    let filter = BackfillFilter { customer: Some(ada.id.into()), status: pending };
    let page = PageRequest::default();
    let found = block_on(fixture.account.list_backfills(&filter, &page)).unwrap();
    assert_eq!(found.data, [fixture.fetched(&made[2])], "with how many events it has");
    assert_eq!(found.data[0].events_ingested, 1);
    let cursor = PageRequest::default().after(accrue::Cursor::from_text("00"));
    let error = block_on(fixture.account.list_backfills(&filter, &cursor)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RequestValidation);
}

#[test]
fn what_is_not_there_or_another_accounts_is_not_found() {
    let fixture = Fixture::new();
    let own = fixture.backfill(hour());
    let other = fixture.billing.account(AccountId::parse("acme2").unwrap());
    let unknown = UNKNOWN.parse::<BackfillId>().unwrap();
    for (account, id) in [(&fixture.account, unknown), (&other, own.id)] {
        let event = event("ada", "a", at("2026-03-01T08:00:00Z"), "1");
        let kinds = [
            block_on(account.fetch_backfill(id)).unwrap_err().kind(),
            refused(&fixture, account.ingest_backfill(id, [event])).0,
            refused(&fixture, account.close_backfill(id)).0,
            refused(&fixture, account.revert_backfill(id)).0,
        ];
        assert_eq!(kinds, [ErrorKind::ResourceNotFound; 4]);
    }
    let page = PageRequest::default();
    let found = block_on(other.list_backfills(&BackfillFilter::default(), &page)).unwrap();
    assert_eq!(found.data, []);
}

#[test]
fn where_backfills_are_off_their_operations_are_not_available() {
    let fixture = Fixture::new();
    let open = fixture.backfill(hour());
    let mut configuration = block_on(fixture.account.configuration()).unwrap();
    configuration.features.backfills = false;
    run(fixture.account.configure(configuration)).unwrap();
    let event = event("ada", "a", at("2026-03-01T08:00:00Z"), "1");
    let page = PageRequest::default();
    let any = BackfillFilter::default();
    let listed = fixture.account.list_backfills(&any, &page);
    let kinds = [
        refused(&fixture, fixture.account.create_backfill(hour())).0,
        refused(&fixture, fixture.account.ingest_backfill(open.id, [event])).0,
        refused(&fixture, fixture.account.close_backfill(open.id)).0,
        refused(&fixture, fixture.account.revert_backfill(open.id)).0,
        block_on(fixture.account.fetch_backfill(open.id)).unwrap_err().kind(),
        block_on(listed).unwrap_err().kind(),
    ];
    assert_eq!(kinds, [ErrorKind::FeatureNotAvailable; 6]);
}

#[test]
fn s4_5_6_what_was_done_under_a_key_is_answered_again() {
    let fixture = Fixture::new();
    let key = |text: &str| accrue::IdempotencyKey::parse(text).unwrap();
    let create = || {
        let call = fixture.account.create_backfill(hour()).keyed(key("create"));
        block_on(call.into_future()).unwrap().outcome
    };
    let backfill = create();
    let fill = || {
        let event = event("ada", "a", at("2026-03-01T08:00:00Z"), "1");
        let call = fixture.account.ingest_backfill(backfill.id, [event]).keyed(key("fill"));
        block_on(call.into_future()).unwrap().outcome
    };
    let close = || {
        let call = fixture.account.close_backfill(backfill.id).keyed(key("close"));
        block_on(call.into_future()).unwrap().outcome
    };
    let (filled, closed) = (fill(), close());
    fixture.set("2026-03-10T14:00:00Z");
    let before = fixture.dump();
    assert_eq!((create(), fill(), close()), (backfill.clone(), filled, closed));
    assert_eq!(fixture.dump(), before);
    let other = fixture.account.revert_backfill(backfill.id).keyed(key("close"));
    let error = block_on(other.into_future()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourceConflict);
}
