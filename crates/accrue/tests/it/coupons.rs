//! Coupons: what they are, where they are found, and what subscriptions redeem them (invoicing 11).

use accrue::{
    Account, CouponId, ErrorKind, Fraction, Page, PageRequest, RedemptionCode, TextError, Zone,
    coupon::{Coupon, CouponDiscount, CouponFilter, NewCoupon, Redemption, RedemptionTiming},
    customer::{AttributeValue, NewCustomer},
    price::{Adjustment, Discount},
    subscription::{
        AdjustmentInterval, Cancellation, NewSubscription, Subscription, SubscriptionFilter,
    },
    webhook::Body,
};

use crate::{
    races::{at_every_call, handles},
    support::{
        fixture::{Fixture, UNKNOWN, at, block_on, name, number, refused, run},
        priced::{NOTHING, Priced, priced},
    },
};

pub(crate) fn code(text: &str) -> RedemptionCode {
    RedemptionCode::parse(text).unwrap()
}

pub(crate) fn percentage(fraction: &str) -> CouponDiscount {
    CouponDiscount::Percentage(Fraction::parse(fraction).unwrap())
}

pub(crate) fn amount(text: &str) -> CouponDiscount {
    CouponDiscount::Amount(number(text))
}

impl Fixture {
    /// A coupon without bounds.
    pub(crate) fn coupon(&self, text: &str, discount: CouponDiscount) -> Coupon {
        run(self.account.create_coupon(NewCoupon::new(code(text), discount))).unwrap()
    }

    /// A coupon that lasts so many months.
    pub(crate) fn coupon_for(&self, text: &str, discount: CouponDiscount, months: u32) -> Coupon {
        let mut new = NewCoupon::new(code(text), discount);
        new.duration_in_months = Some(months);
        run(self.account.create_coupon(new)).unwrap()
    }

    fn times_redeemed(&self, id: CouponId) -> u32 {
        block_on(self.account.fetch_coupon(id)).unwrap().times_redeemed
    }

    fn codes(&self, filter: &CouponFilter) -> Vec<String> {
        let page = block_on(self.account.list_coupons(filter, &PageRequest::default())).unwrap();
        page.data.iter().map(|coupon| coupon.redemption_code.to_string()).collect()
    }
}

impl Priced {
    fn redeem(&self, redemption: Redemption) -> accrue::Call<Subscription> {
        self.fixture.account.redeem_coupon(self.subscription.id, redemption)
    }

    fn redeem_at(&self, coupon: &Coupon, when: RedemptionTiming) -> accrue::Call<Subscription> {
        self.redeem(Redemption { coupon: coupon.id.into(), when })
    }
}

/// From when until when a coupon is in force for a subscription.
fn in_force(of: &Subscription) -> String {
    let redeemed = of.redeemed_coupon().unwrap();
    let end = redeemed.end_date.map_or("on".to_owned(), |end| end.to_string());
    format!("{} to {end}", redeemed.start_date).replace(":00.000000Z", "")
}

fn metered() -> Priced {
    priced(|fixture, metric| [fixture.usage_at("1", metric), fixture.arrear_fee("10")])
}

#[test]
fn invoicing_11_1_a_code_is_of_one_coupon_that_is_not_archived() {
    let fixture = Fixture::new();
    let first = fixture.coupon("SPRING", percentage("0.25"));
    let again = || fixture.account.create_coupon(NewCoupon::new(code("SPRING"), amount("5")));
    assert_eq!(refused(&fixture, again()).0, ErrorKind::DuplicateResource);
    fixture.coupon("spring", amount("5"));
    run(fixture.account.archive_coupon(first.id)).unwrap();
    let second = run(again()).unwrap();
    assert_ne!(first.id, second.id);
    assert_eq!(refused(&fixture, again()).0, ErrorKind::DuplicateResource);
}

#[test]
fn invoicing_11_1_a_code_has_1_to_256_bytes() {
    let check = |text: &str, expect: bool| {
        assert_eq!(RedemptionCode::parse(text).is_ok(), expect, "{text:?}");
    };
    check("", false);
    check("x", true);
    check(&"é".repeat(128), true);
    check(&"x".repeat(257), false);
    let error = RedemptionCode::parse("a\0").unwrap_err();
    assert!(matches!(error, TextError::ControlCharacter { .. }));
}

#[test]
fn invoicing_11_1_bounds_of_a_coupon() {
    let fixture = Fixture::new();
    let check = |text: &str, change: &dyn Fn(&mut NewCoupon), expect: Option<&str>| {
        let mut new = NewCoupon::new(code(text), percentage("1"));
        change(&mut new);
        match expect {
            None => drop(run(fixture.account.create_coupon(new)).unwrap()),
            Some(field) => {
                let error = run(fixture.account.create_coupon(new)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::RequestValidation);
                assert_eq!(error.violations()[0].field, field);
            }
        }
    };
    check("a", &|new| new.duration_in_months = Some(0), Some("duration_in_months"));
    check("a", &|new| new.duration_in_months = Some(1), None);
    check("b", &|new| new.duration_in_months = Some(120), None);
    check("c", &|new| new.duration_in_months = Some(121), Some("duration_in_months"));
    check("c", &|new| new.max_redemptions = Some(0), Some("max_redemptions"));
    check("c", &|new| new.max_redemptions = Some(1), None);
    check("d", &|new| new.max_redemptions = Some(1_000_000_000), None);
    check("e", &|new| new.max_redemptions = Some(1_000_000_001), Some("max_redemptions"));
    check("e", &|new| new.discount = amount("0"), Some("discount.amount"));
    check("e", &|new| new.discount = amount("-1"), Some("discount.amount"));
    check("e", &|new| new.discount = amount("0.01"), None);
    check("f", &|new| new.discount = percentage("0"), None);
    assert!(Fraction::parse("1.01").is_err(), "a percentage is of 0 to 1");
}

#[test]
fn invoicing_11_1_lists_show_active_coupons_newest_first() {
    let fixture = Fixture::new();
    let old = fixture.coupon("SAME", percentage("0.1"));
    fixture.advance_days(1);
    run(fixture.account.archive_coupon(old.id)).unwrap();
    for text in ["A", "SAME", "B"] {
        fixture.advance_days(1);
        fixture.coupon(text, percentage("0.1"));
    }
    let check = |of: Option<&str>, show_archived, expect: &[&str]| {
        let filter = CouponFilter { redemption_code: of.map(code), show_archived };
        assert_eq!(fixture.codes(&filter), expect);
    };
    check(None, false, &["B", "SAME", "A"]);
    check(None, true, &["B", "SAME", "A", "SAME"]);
    check(Some("SAME"), false, &["SAME"]);
    check(Some("SAME"), true, &["SAME", "SAME"]);
    check(Some("SAM"), true, &[]);
    check(Some("same"), true, &[]);

    let filter = CouponFilter { show_archived: true, ..CouponFilter::default() };
    let mut page = PageRequest::first(3).unwrap();
    let list = |page: &PageRequest| block_on(fixture.account.list_coupons(&filter, page)).unwrap();
    let first: Page<Coupon> = list(&page);
    page = page.after(first.next_cursor.unwrap());
    assert_eq!(list(&page).data, [block_on(fixture.account.fetch_coupon(old.id)).unwrap()]);
    let other = CouponFilter::default();
    let error = block_on(fixture.account.list_coupons(&other, &page)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RequestValidation, "a cursor is of its filter");
}

#[test]
fn invoicing_11_1_a_coupon_is_archived_once() {
    let fixture = Fixture::new();
    let coupon = fixture.coupon("SPRING", percentage("0.25"));
    let archived = run(fixture.account.archive_coupon(coupon.id)).unwrap();
    assert_eq!(archived.archived_at, Some(accrue::Clock::now(&fixture.clock)));
    assert_eq!(block_on(fixture.account.fetch_coupon(coupon.id)).unwrap(), archived);
    let (kind, _) = refused(&fixture, fixture.account.archive_coupon(coupon.id));
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    let nobody = UNKNOWN.parse().unwrap();
    let (kind, _) = refused(&fixture, fixture.account.archive_coupon(nobody));
    assert_eq!(kind, ErrorKind::ResourceNotFound);
    assert!(block_on(fixture.account.fetch_coupon(nobody)).unwrap_err().is_not_found());
}

#[test]
fn invoicing_11_1_a_coupon_lists_whoever_ever_redeemed_it() {
    let of = metered();
    let fixture = &of.fixture;
    let coupon = fixture.coupon_for("SPRING", percentage("0.25"), 1);
    let other = fixture.coupon("SUMMER", percentage("0.25"));
    let ended = of.subscription.id;
    run(of.redeem(Redemption::immediate(coupon.id))).unwrap();
    fixture.set("2026-04-20T12:00:00Z");
    run(of.redeem(Redemption::immediate(other.id))).unwrap();
    run(fixture.account.cancel_subscription(ended, Cancellation::Immediate)).unwrap();
    let second = fixture.subscribe(of.customer, &of.plan).id;
    run(fixture.account.redeem_coupon(second, Redemption::immediate(coupon.id))).unwrap();
    run(fixture.account.archive_coupon(coupon.id)).unwrap();
    fixture.subscribe(of.customer, &of.plan);

    let list = |id, page: &PageRequest| {
        let page = block_on(fixture.account.list_coupon_subscriptions(id, page))?;
        let ids: Vec<_> = page.data.iter().map(|of| of.id).collect();
        Ok::<_, accrue::Error>((ids, page.next_cursor))
    };
    let first = PageRequest::first(1).unwrap();
    let (found, next) = list(coupon.id, &first).unwrap();
    assert_eq!(found, [second]);
    assert_eq!(list(coupon.id, &first.after(next.unwrap())).unwrap().0, [ended]);
    assert_eq!(list(other.id, &PageRequest::default()).unwrap().0, [ended]);
    let nobody = list(UNKNOWN.parse().unwrap(), &PageRequest::default());
    assert!(nobody.unwrap_err().is_not_found());
}

#[test]
fn invoicing_11_1_no_message_is_about_coupons() {
    let fixture = Fixture::new();
    let coupon = fixture.coupon("SPRING", percentage("0.25"));
    run(fixture.account.archive_coupon(coupon.id)).unwrap();
    assert_eq!(fixture.message_types(), NOTHING);
}

#[test]
fn invoicing_11_2_a_redemption_is_one_commit() {
    let of = metered();
    let fixture = &of.fixture;
    fixture.set("2026-03-20T12:00:00Z");
    let coupon = fixture.coupon_for("SPRING", percentage("0.25"), 2);
    let after = run(of.redeem(Redemption::immediate(code("SPRING")))).unwrap();
    assert_eq!(block_on(fixture.account.fetch_subscription(after.id)).unwrap(), after);
    assert_eq!(fixture.times_redeemed(coupon.id), 1);
    let of_coupon = |of: &&AdjustmentInterval| of.coupon_id == Some(coupon.id);
    let interval = after.adjustment_intervals.iter().find(of_coupon).unwrap();
    let quarter = Fraction::parse("0.25").unwrap();
    assert_eq!(interval.adjustment, Adjustment::Discount(Discount::Percentage(quarter)));
    assert!(interval.is_invoice_level());
    assert_eq!(interval.price_ids, of.prices().into_iter().collect());
    assert_eq!(in_force(&after), "2026-03-20T12:00 to 2026-05-20T12:00");
    assert_eq!(after.redeemed_coupon().unwrap().coupon_id, coupon.id);

    let messages = fixture.messages();
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    let Body::SubscriptionEdited { subscription_id, previous_attributes } = &message.body else {
        panic!("{message:?}")
    };
    assert_eq!(*subscription_id, after.id);
    let before = [("redeemed_coupon".to_owned(), AttributeValue::Json(None))];
    assert_eq!(*previous_attributes, before.into());
}

#[test]
fn invoicing_11_2_a_coupon_is_named_by_its_id_or_its_code() {
    let of = metered();
    let coupon = of.fixture.coupon("SPRING", percentage("0.25"));
    let check = |redemption, expect| {
        assert_eq!(refused(&of.fixture, of.redeem(redemption)).0, expect);
    };
    check(Redemption::immediate(code("AUTUMN")), ErrorKind::ResourceNotFound);
    check(Redemption::immediate(code("spring")), ErrorKind::ResourceNotFound);
    let nobody: CouponId = UNKNOWN.parse().unwrap();
    check(Redemption::immediate(nobody), ErrorKind::ResourceNotFound);
    run(of.fixture.account.archive_coupon(coupon.id)).unwrap();
    check(Redemption::immediate(code("SPRING")), ErrorKind::ResourceNotFound);
    check(Redemption::immediate(coupon.id), ErrorKind::ConstraintViolation);
    let (kind, _) = refused(
        &of.fixture,
        of.fixture
            .account
            .redeem_coupon(UNKNOWN.parse().unwrap(), Redemption::immediate(coupon.id)),
    );
    assert_eq!(kind, ErrorKind::ResourceNotFound);
}

#[test]
fn invoicing_11_2_a_discount_begins_now_with_the_next_term_or_at_a_date() {
    let check = |when, expect: &str| {
        let of = metered();
        of.fixture.set("2026-03-20T12:00:00Z");
        let coupon = of.fixture.coupon("SPRING", percentage("0.25"));
        assert_eq!(in_force(&run(of.redeem_at(&coupon, when)).unwrap()), expect);
    };
    let requested = |date| RedemptionTiming::RequestedDate(at(date));
    check(RedemptionTiming::Immediate, "2026-03-20T12:00 to on");
    check(RedemptionTiming::EndOfSubscriptionTerm, "2026-04-10T12:00 to on");
    check(requested("2026-03-10T12:00:00Z"), "2026-03-10T12:00 to on");
    check(requested("2027-01-01T00:00:00Z"), "2027-01-01T00:00 to on");
}

#[test]
fn invoicing_11_2_a_coupon_of_what_has_not_begun_begins_with_it() {
    let of = metered();
    let coupon = of.fixture.coupon("SPRING", percentage("0.25"));
    let check = |when, expect: &str| {
        let upcoming = Some("2026-05-01T00:00:00Z");
        let later = of.fixture.subscribe_from(of.customer, &of.plan, upcoming);
        let redemption = Redemption { coupon: coupon.id.into(), when };
        let after = run(of.fixture.account.redeem_coupon(later.id, redemption)).unwrap();
        assert_eq!(in_force(&after), expect);
    };
    check(RedemptionTiming::Immediate, "2026-05-01T00:00 to on");
    check(RedemptionTiming::EndOfSubscriptionTerm, "2026-06-01T00:00 to on");
}

#[test]
fn invoicing_11_2_months_are_those_of_the_customers_zone() {
    let check = |months, expect: &str| {
        let fixture = Fixture::new();
        fixture.set("2026-01-31T12:00:00Z");
        let email = accrue::Email::parse("eve@example.com").unwrap();
        let mut eve = NewCustomer::new(name("Eve"), email);
        eve.timezone = Some(Zone::parse("America/New_York").unwrap());
        let eve = run(fixture.account.create_customer(eve)).unwrap();
        let of = fixture.subscribe(eve.id, &fixture.plan());
        let coupon = fixture.coupon_for("SPRING", percentage("0.25"), months);
        let redemption = Redemption::immediate(coupon.id);
        let after = run(fixture.account.redeem_coupon(of.id, redemption)).unwrap();
        assert_eq!(in_force(&after), expect);
    };
    check(1, "2026-01-31T12:00 to 2026-02-28T12:00");
    // Daylight saving has begun.
    check(3, "2026-01-31T12:00 to 2026-04-30T11:00");
    check(12, "2026-01-31T12:00 to 2027-01-31T12:00");
    check(120, "2026-01-31T12:00 to 2036-01-31T12:00");
}

#[test]
fn invoicing_11_2_a_coupon_is_redeemed_so_often_at_most() {
    let of = metered();
    let mut new = NewCoupon::new(code("SPRING"), percentage("0.25"));
    new.max_redemptions = Some(1);
    let coupon = run(of.fixture.account.create_coupon(new)).unwrap();
    run(of.redeem(Redemption::immediate(coupon.id))).unwrap();
    let other = of.fixture.subscribe(of.customer, &of.plan);
    let again = of.fixture.account.redeem_coupon(other.id, Redemption::immediate(coupon.id));
    let (kind, text) = refused(&of.fixture, again);
    assert_eq!(kind, ErrorKind::ConstraintViolation);
    assert_eq!(text, "the coupon was redeemed 1 times already, its maximum");
}

#[test]
fn invoicing_11_2_a_subscription_has_one_coupon_at_a_time() {
    let of = metered();
    let requested = |date| RedemptionTiming::RequestedDate(at(date));
    let spring = of.fixture.coupon_for("SPRING", percentage("0.25"), 1);
    let summer = of.fixture.coupon("SUMMER", percentage("0.5"));
    run(of.redeem_at(&spring, requested("2026-04-01T00:00:00Z"))).unwrap();
    let check = |now, when| {
        of.fixture.set(now);
        of.fixture.tick();
        let (kind, text) = refused(&of.fixture, of.redeem_at(&summer, when));
        assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    };
    // It is scheduled, then it is active.
    check("2026-03-11T12:00:00Z", RedemptionTiming::Immediate);
    check("2026-03-11T12:00:00Z", requested("2026-07-01T00:00:00Z"));
    check("2026-04-20T12:00:00Z", RedemptionTiming::Immediate);
    check("2026-05-01T00:00:00Z", requested("2026-04-30T00:00:00Z"));
    let after = run(of.redeem_at(&summer, RedemptionTiming::Immediate)).unwrap();
    assert_eq!(after.redeemed_coupon().unwrap().coupon_id, summer.id, "the last one is shown");
    assert_eq!(of.fixture.times_redeemed(summer.id), 1);
    let edited = of.fixture.messages().pop().unwrap();
    let Body::SubscriptionEdited { previous_attributes, .. } = edited.body else {
        panic!("{edited:?}")
    };
    let json = format!(
        r#"{{"coupon_id":"{}","start_date":"2026-04-01T00:00:00.000000Z","end_date":"2026-05-01T00:00:00.000000Z"}}"#,
        spring.id
    );
    assert_eq!(previous_attributes["redeemed_coupon"], AttributeValue::Json(Some(json)));
}

#[test]
fn invoicing_11_2_a_discount_begins_within_the_life_of_the_subscription() {
    let of = metered();
    let coupon = of.fixture.coupon("SPRING", percentage("0.25"));
    let account = &of.fixture.account;
    let end = at("2026-04-20T00:00:00Z");
    let cancel = |when| run(account.cancel_subscription(of.subscription.id, when)).unwrap();
    cancel(Cancellation::RequestedDate(end));
    let check = |when| {
        let (kind, text) = refused(&of.fixture, of.redeem_at(&coupon, when));
        assert_eq!(kind, ErrorKind::ConstraintViolation, "{text}");
    };
    check(RedemptionTiming::RequestedDate(at("2026-03-10T11:59:59Z")));
    check(RedemptionTiming::RequestedDate(end));
    of.fixture.set("2026-04-19T00:00:00Z");
    of.fixture.tick();
    check(RedemptionTiming::EndOfSubscriptionTerm);
    of.fixture.set("2026-04-20T00:00:00Z");
    of.fixture.tick();
    check(RedemptionTiming::Immediate);
    check(RedemptionTiming::RequestedDate(at("2026-04-19T00:00:00Z")));
}

#[test]
fn invoicing_11_2_a_subscription_is_created_with_a_coupon_or_not_at_all() {
    let of = metered();
    let fixture = &of.fixture;
    let coupon = fixture.coupon_for("SPRING", percentage("0.25"), 1);
    let create = |text: &str, start: &str| {
        let mut new = NewSubscription::new(of.customer, of.plan.id);
        (new.coupon_redemption_code, new.start_date) = (Some(code(text)), Some(at(start)));
        fixture.account.create_subscription(new)
    };
    for (start, expect) in [
        ("2026-03-01T00:00:00Z", "2026-03-01T00:00 to 2026-04-01T00:00"),
        ("2026-07-31T00:00:00Z", "2026-07-31T00:00 to 2026-08-31T00:00"),
    ] {
        let created = run(create("SPRING", start)).unwrap();
        assert_eq!(in_force(&created), expect);
    }
    assert_eq!(fixture.times_redeemed(coupon.id), 2);
    let types = ["subscription.created", "subscription.started", "subscription.created"];
    assert_eq!(fixture.message_types(), types, "nothing is edited");
    let today = "2026-03-10T00:00:00Z";
    assert_eq!(refused(fixture, create("AUTUMN", today)).0, ErrorKind::ResourceNotFound);
    let mut new = NewCoupon::new(code("ONCE"), percentage("0.25"));
    new.max_redemptions = Some(1);
    run(fixture.account.create_coupon(new)).unwrap();
    run(create("ONCE", today)).unwrap();
    assert_eq!(refused(fixture, create("ONCE", today)).0, ErrorKind::ConstraintViolation);
    run(fixture.account.archive_coupon(coupon.id)).unwrap();
    assert_eq!(refused(fixture, create("SPRING", today)).0, ErrorKind::ResourceNotFound);
}

fn subscriptions(account: &Account) -> Vec<Subscription> {
    let (filter, page) = (SubscriptionFilter::default(), PageRequest::default());
    block_on(account.list_subscriptions(&filter, &page)).unwrap().data
}

#[test]
fn invoicing_11_2_max_redemptions_hold_between_processes() {
    let set_up = |fixture: &Fixture| {
        let plan = fixture.plan();
        for external in ["ada", "eve"] {
            fixture.subscribe(fixture.customer(external).id, &plan);
        }
        let mut new = NewCoupon::new(code("ONCE"), percentage("0.25"));
        new.max_redemptions = Some(1);
        run(fixture.account.create_coupon(new)).unwrap();
    };
    let redeem = |place: usize| {
        move |account: &Account| {
            let id = subscriptions(account)[place].id;
            let _ = run(account.redeem_coupon(id, Redemption::immediate(code("ONCE"))));
        }
    };
    at_every_call(set_up, redeem(0), redeem(1), |fixture| {
        let redeemed = subscriptions(&fixture.account).into_iter();
        let redeemed: Vec<_> = redeemed.filter_map(|of| of.redeemed_coupon()).collect();
        let [by] = redeemed.as_slice() else { panic!("{redeemed:?}") };
        assert_eq!(fixture.times_redeemed(by.coupon_id), 1);
        let page = PageRequest::default();
        let listed = fixture.account.list_coupon_subscriptions(by.coupon_id, &page);
        assert_eq!(block_on(listed).unwrap().data.len(), 1);
    });
}

#[test]
fn invoicing_11_2_subscriptions_that_redeem_at_once_are_counted_each() {
    let fixture = Fixture::new();
    let plan = fixture.plan();
    let ids: Vec<_> = (0..20)
        .map(|n| fixture.subscribe(fixture.customer(&format!("customer {n}")).id, &plan).id)
        .collect();
    let mut new = NewCoupon::new(code("TWELVE"), percentage("0.25"));
    new.max_redemptions = Some(12);
    let coupon = run(fixture.account.create_coupon(new)).unwrap();
    let redeemed: usize = std::thread::scope(|scope| {
        let callers = handles(&fixture, 4).into_iter().zip(ids.chunks(5)).map(|(account, ids)| {
            scope.spawn(move || {
                let redeem = |id| account.redeem_coupon(id, Redemption::immediate(coupon.id));
                ids.iter().filter(|id| run(redeem(**id)).is_ok()).count()
            })
        });
        let callers: Vec<_> = callers.collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).sum()
    });
    assert_eq!(redeemed, 12);
    assert_eq!(fixture.times_redeemed(coupon.id), 12);
}

#[test]
fn invoicing_11_1_coupons_that_are_created_at_once_share_no_code() {
    let create = |account: &Account| {
        for text in ["SPRING", "SUMMER"] {
            let _ = run(account.create_coupon(NewCoupon::new(code(text), percentage("0.25"))));
        }
    };
    let check = |fixture: &Fixture| {
        let mut codes = fixture.codes(&CouponFilter::default());
        codes.sort();
        assert_eq!(codes, ["SPRING", "SUMMER"]);
    };
    at_every_call(|_| {}, create, create, check);
}
