//! What a year comes to adds up, and is the same every time.

use accrue::{Decimal, credit::EntryKind};
use embedded::{CustomerYear, Month, Year, year};

fn lived(seed: u64) -> Year {
    year(seed).expect("a year without an error")
}

fn customer<'a>(year: &'a Year, name: &str) -> &'a CustomerYear {
    let mut customers = year.customers.iter();
    customers.find(|of| of.external_customer_id.as_str() == name).expect("it is one of them")
}

fn fired(month: &Month, alert_type: &str) -> bool {
    month.alerts.iter().any(|alert| alert.alert_type == alert_type)
}

#[test]
fn the_same_seed_gives_the_same_year_and_another_one_another() {
    let first = lived(1);
    assert_eq!(first, lived(1));
    let other = lived(2);
    assert_ne!(first.to_string(), other.to_string());
    assert!(first.to_string().lines().all(|line| line.chars().count() <= 100), "{first}");
}

#[test]
fn every_month_adds_up() {
    for seed in [1, 2, 2026] {
        let year = lived(seed);
        assert!(year.applied > 0);
        let mut requests = Decimal::zero();
        for customer in &year.customers {
            let mut balance = Decimal::zero();
            for month in &customer.months {
                let Month { credits_cost, granted, drawn, expired, .. } = month;
                assert_eq!(drawn, credits_cost, "{month:?}");
                balance += granted.clone() - drawn.clone() - expired.clone();
                assert_eq!(month.balance, balance, "{month:?}");
                requests += month.requests.clone();
            }
            assert_eq!(customer.months.len(), 12);
        }
        assert_eq!(requests, Decimal::from(u64::try_from(year.events).unwrap()));
    }
}

#[test]
fn every_balance_is_the_sum_of_its_entries() {
    for customer in lived(1).customers {
        let mut balance = Decimal::zero();
        for line in &customer.credits.ledger {
            balance += line.amount.clone();
            assert_eq!(line.ending_balance, balance);
        }
        assert_eq!(customer.credits.balance, balance);
    }
}

#[test]
fn the_revenue_of_every_month_is_its_cost_in_cents() {
    for seed in [1, 2, 2026] {
        for customer in lived(seed).customers {
            for month in customer.months {
                assert_eq!(month.books.revenue, month.cost.round(2), "{month:?}");
            }
        }
    }
}

#[test]
fn what_was_invoiced_is_paid_or_open() {
    for seed in [1, 2, 2026] {
        let year = lived(seed);
        for customer in &year.customers {
            let mut open = Decimal::zero();
            for Month { books, .. } in &customer.months {
                open += &books.invoiced;
                open -= &books.taken_off;
                open -= &books.paid;
                assert_eq!(books.open, open, "{books:?}");
            }
        }
        let books = year.books();
        let invoices: usize = books.iter().map(|of| of.invoices).sum();
        let payments: usize = books.iter().map(|of| of.payments).sum();
        assert_eq!((invoices, payments), (58, 54));
        let notes: Vec<_> = books.iter().map(|of| of.credit_notes).collect();
        assert_eq!(notes, [0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]);
        let of_all = year.customers.iter().filter_map(|of| of.months.last());
        let open: Decimal = of_all.map(|month| &month.books.open).sum();
        assert_eq!(books.last().unwrap().open, open);
    }
}

#[test]
fn who_pays_within_the_month_owes_nothing_at_its_end_and_who_left_still_does() {
    let year = lived(1);
    let pacific = &customer(&year, "pacific").months;
    assert!(pacific.iter().all(|month| month.books.open.is_zero() && month.books.payments == 1));
    let ganga = &customer(&year, "ganga").months;
    assert!(ganga.windows(2).all(|pair| pair[1].books.paid == pair[0].books.invoiced));
    let moana = &customer(&year, "moana").months;
    assert!(moana[6].books.open.is_zero());
    let unpaid = &moana[7].books.invoiced + &moana[8].books.invoiced;
    assert_eq!((moana[7].books.invoices, moana[8].books.invoices), (1, 2));
    assert!(moana[8..].iter().all(|month| month.books.open == unpaid));
}

#[test]
fn what_was_paid_is_credited_with_the_next_invoice_and_what_was_not_is_less_to_pay() {
    let year = lived(1);
    let months = |name| &customer(&year, name).months;
    let (spree, moana) = (&months("spree")[4..6], &months("moana")[6]);
    let five = Decimal::from(5);
    assert_eq!((&spree[0].books.credited, &spree[0].books.taken_off), (&five, &Decimal::zero()));
    // The invoice of June has the usage of May and a fee, which come to what May has cost.
    assert_eq!(spree[1].books.invoiced, spree[0].cost.round(2) - five.clone());
    assert_eq!(spree[1].books.paid, spree[1].books.invoiced);
    assert_eq!((&moana.books.credited, &moana.books.taken_off), (&five, &five));
    assert_eq!(moana.books.paid, &moana.books.invoiced - &five);
}

#[test]
fn a_month_that_begins_with_new_credits_loses_what_the_one_before_had_left() {
    let year = lived(1);
    for pair in customer(&year, "pacific").months.windows(2) {
        assert_eq!(pair[1].granted, Decimal::from(100));
        let left = pair[0].balance.clone();
        assert_eq!(pair[1].expired, left.max(Decimal::zero()));
    }
}

#[test]
fn credits_are_bought_when_they_run_low() {
    let year = lived(1);
    let spree = customer(&year, "spree");
    let bought = spree.months.iter().filter(|month| month.granted > Decimal::from(200)).count()
        + spree.months.iter().filter(|month| month.granted == Decimal::from(50)).count();
    assert!(bought > 0);
    let low = spree.months.iter().filter(|month| fired(month, "credit_balance_dropped")).count();
    assert!(low >= bought, "{low} months with an alert, {bought} with credits that were bought");
}

#[test]
fn who_left_costs_nothing_more_and_the_fee_of_the_last_month_is_a_part() {
    let year = lived(1);
    let months = &customer(&year, "moana").months;
    let cost: Vec<_> = months.iter().map(|month| month.cost.clone()).collect();
    assert!(cost[..8].iter().all(|cost| *cost >= Decimal::from(50)));
    assert!(cost[8] > Decimal::zero() && cost[8] < Decimal::from(50));
    assert!(months[9..].iter().all(|month| month.cost.is_zero() && month.granted.is_zero()));
}

#[test]
fn what_expires_is_applied_though_nobody_touches_the_customer() {
    let year = lived(1);
    let thames = customer(&year, "thames");
    let quiet = &thames.months[2..10];
    assert!(quiet.iter().all(|month| month.requests.is_zero() && month.granted.is_zero()));
    let july = &thames.months[6];
    assert_eq!(july.expired, thames.months[5].balance);
    assert!(july.expired > Decimal::zero() && july.balance.is_zero());
    assert!(fired(july, "credit_balance_depleted"));
    let expiries = thames.credits.ledger.iter();
    let expiries = expiries.filter(|line| line.entry_type == EntryKind::CreditBlockExpiry);
    assert_eq!(expiries.count(), 1);
}
