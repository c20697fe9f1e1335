use accrue::{
    Account, Call, Page, SubscriptionId, Zone,
    cost::CostQuery,
    related::Related,
    subscription::{self, SubscriptionChange, SubscriptionUpdate},
};

use super::{plans, zones};
use crate::{
    Category,
    operation::Operation,
    problem::{Problem, Violations},
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    wire::{
        costs::{AggregatedCost, CostsQuery},
        coupons::RedeemCoupon,
        dates::Date,
        pages::{Listed, Rows},
        phases::{TriggerPhase, UpdateTrial},
        subscriptions::{
            Cancel, ChangeIntervals, ChangedResources, ChangedWanted, MutatedSubscription,
            NewSubscription, SchedulePlanChange, ScheduleQuery, Subscription,
            SubscriptionListQuery, SubscriptionScheduleItem, SubscriptionSummary,
            SubscriptionUsage, UnscheduleFixedFeeQuantityUpdates, UpdateFixedFeeQuantity,
            UpdateSubscription, UsageQueryIn,
        },
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/subscriptions", "subscriptions.create", "create-subscription")
        .creates()
        .summary("Creates a subscription of a customer to a plan, or a contract without one.")
        .body::<NewSubscription>()
        .answers::<MutatedSubscription>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/subscriptions", "subscriptions.list", "list-subscriptions")
        .summary("Lists the subscriptions, newest first.")
        .query::<SubscriptionListQuery>()
        .answers::<Rows<Subscription>>()
        .run(|request| Box::pin(list(request))),
    Operation::get(
        "/subscriptions/summary",
        "subscriptions.list_summary",
        "list-subscriptions-summary",
    )
    .summary("Lists the subscriptions without their prices, newest first.")
    .query::<SubscriptionListQuery>()
    .answers::<Rows<SubscriptionSummary>>()
    .run(|request| Box::pin(list_summary(request))),
    Operation::get("/subscriptions/{subscription_id}", "subscriptions.fetch", "fetch-subscription")
        .summary("Returns a subscription.")
        .answers::<Subscription>()
        .run(|request| Box::pin(fetch(request))),
    Operation::put(
        "/subscriptions/{subscription_id}",
        "subscriptions.update",
        "update-subscription",
    )
    .summary("Changes a subscription.")
    .body::<UpdateSubscription>()
    .answers::<Subscription>()
    .run(|request| Box::pin(update(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/cancel",
        "subscriptions.cancel",
        "cancel-subscription",
    )
    .summary("Cancels a subscription.")
    .body::<Cancel>()
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(cancel(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/unschedule_cancellation",
        "subscriptions.unschedule_cancellation",
        "unschedule-cancellation",
    )
    .summary("Takes back the scheduled cancellation of a subscription.")
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(unschedule_cancellation(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/update_fixed_fee_quantity",
        "subscriptions.update_fixed_fee_quantity",
        "update-fixed-fee-quantity",
    )
    .summary("Changes the quantity of a fee.")
    .body::<UpdateFixedFeeQuantity>()
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(update_fixed_fee_quantity(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/unschedule_fixed_fee_quantity_updates",
        "subscriptions.unschedule_fixed_fee_quantity_updates",
        "unschedule-fixed-fee-quantity-updates",
    )
    .summary("Takes back the changes of the quantity of a fee that are still to come.")
    .body::<UnscheduleFixedFeeQuantityUpdates>()
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(unschedule_fixed_fee_quantity_updates(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/price_intervals",
        "subscriptions.price_intervals",
        "add-edit-price-intervals",
    )
    .summary("Changes the intervals of prices and adjustments of a subscription.")
    .body::<ChangeIntervals>()
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(change_intervals(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/trigger_phase",
        "subscriptions.trigger_phase",
        "trigger-phase",
    )
    .summary("Begins the next phase of the plan of a subscription.")
    .body::<TriggerPhase>()
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(trigger_phase(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/update_trial",
        "subscriptions.update_trial",
        "update-trial",
    )
    .summary("Moves the end of the trial of a subscription.")
    .body::<UpdateTrial>()
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(update_trial(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/redeem_coupon",
        "subscriptions.redeem_coupon",
        "redeem-coupon",
    )
    .summary("Redeems a coupon for a subscription.")
    .body::<RedeemCoupon>()
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(redeem_coupon(request))),
    Operation::get(
        "/subscriptions/{subscription_id}/costs",
        "subscriptions.fetch_costs",
        "fetch-subscription-costs",
    )
    .counted_as(Category::Analytics)
    .summary("Computes the cost of a subscription.")
    .query::<CostsQuery>()
    .answers::<Listed<AggregatedCost>>()
    .run(|request| Box::pin(fetch_costs(request))),
    Operation::get(
        "/subscriptions/{subscription_id}/schedule",
        "subscriptions.fetch_schedule",
        "fetch-subscription-schedule",
    )
    .summary(
        "Lists the plans that a subscription was on, is on and will be on, the last one first.",
    )
    .query::<ScheduleQuery>()
    .answers::<Rows<SubscriptionScheduleItem>>()
    .run(|request| Box::pin(fetch_schedule(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/schedule_plan_change",
        "subscriptions.schedule_plan_change",
        "schedule-plan-change",
    )
    .summary("Changes the plan of a subscription, now or later.")
    .body::<SchedulePlanChange>()
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(schedule_plan_change(request))),
    Operation::post(
        "/subscriptions/{subscription_id}/unschedule_pending_plan_changes",
        "subscriptions.unschedule_pending_plan_changes",
        "unschedule-pending-plan-changes",
    )
    .summary("Takes back the changes of the plan of a subscription that are still to come.")
    .answers::<MutatedSubscription>()
    .run(|request| Box::pin(unschedule_plan_changes(request))),
    Operation::get(
        "/subscriptions/{subscription_id}/usage",
        "subscriptions.fetch_usage",
        "fetch-subscription-usage",
    )
    .counted_as(Category::Analytics)
    .summary("Returns the usage of a subscription, metric by metric.")
    .query::<UsageQueryIn>()
    .answers::<SubscriptionUsage>()
    .run(|request| Box::pin(fetch_usage(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewSubscription = request.body()?;
    let found = match zones::of_customer(&request, new.customer_of_dates()).await {
        Ok(zone) => plans::currency_of(&request, new.plan_of_prices()).await.map(|of| (zone, of)),
        Err(error) => Err(error),
    };
    let (zone, currency) = match found {
        Ok(found) => found,
        Err(error) => return request.refuse(&error).await,
    };
    let call = request.account.create_subscription(new.into_new(&zone, currency)?);
    write(request, call).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: SubscriptionListQuery = request.query()?;
    let found = found(&request, query).await?;
    let related = request.account.related(&found).await?;
    let now = request.account.billing().now();
    let row = |subscription| Subscription::of(&subscription, &related, now);
    request.answer_page(found, row).await
}

/// Lists the subscriptions that a query asks for.
async fn found(
    request: &Request,
    query: SubscriptionListQuery,
) -> Result<Page<subscription::Subscription>, Problem> {
    let zone = match zones::of_customer(request, query.customer_of_dates()).await {
        // Whoever is not there has no subscription.
        Err(error) if error.is_not_found() => Zone::UTC,
        zone => zone?,
    };
    let filter = query.filter(&zone)?;
    let page = request.page(query.limit, query.cursor)?;
    match filter {
        Some(filter) => Ok(request.account.list_subscriptions(&filter, &page).await?),
        None => Ok(Page::default()),
    }
}

async fn list_summary(request: Request) -> Result<Reply, Problem> {
    let query: SubscriptionListQuery = request.query()?;
    let found = found(&request, query).await?;
    let related = request.account.related(&found).await?;
    let now = request.account.billing().now();
    let row = |subscription| SubscriptionSummary::of(&subscription, &related, now);
    request.answer_page(found, row).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: SubscriptionId = request.path()?;
    let subscription = request.account.fetch_subscription(id).await?;
    let related = request.account.related(&subscription).await?;
    let now = request.account.billing().now();
    request.answer(&Subscription::of(&subscription, &related, now)).await
}

async fn update(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, update) = request.read::<SubscriptionId, NoQuery, UpdateSubscription>()?;
    check_is_not_pending(&request)?;
    let update: SubscriptionUpdate = update.try_into()?;
    let call = request.account.update_subscription(id, update).with_related();
    let billing = request.account.billing().clone();
    let show = move |(subscription, related): &(subscription::Subscription, Related)| {
        Subscription::of(subscription, related, billing.now())
    };
    request.write(call, show).await
}

async fn cancel(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<SubscriptionId, NoQuery, Cancel>()?;
    check_is_not_pending(&request)?;
    let dated = body.has_local_date().then_some(id);
    write_dated(request, dated, |account, zone| {
        let leaves_invoices = body.leaves_invoices();
        let call = account.cancel_subscription(id, body.into_cancellation(zone)?);
        Ok(if leaves_invoices { call.leaving_invoices() } else { call })
    })
    .await
}

async fn unschedule_cancellation(request: Request) -> Result<Reply, Problem> {
    let (id, ..) = request.read::<SubscriptionId, NoQuery, NoBody>()?;
    check_is_not_pending(&request)?;
    let call = request.account.unschedule_cancellation(id);
    write(request, call).await
}

async fn update_fixed_fee_quantity(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) =
        request.read::<SubscriptionId, NoQuery, UpdateFixedFeeQuantity>()?;
    let dated = body.has_local_date().then_some(id);
    write_dated(request, dated, |account, zone| {
        let leaves_invoices = body.leaves_invoices();
        let call = account.update_fixed_fee_quantity(id, body.into_change(zone)?);
        Ok(if leaves_invoices { call.leaving_invoices() } else { call })
    })
    .await
}

async fn unschedule_fixed_fee_quantity_updates(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) =
        request.read::<SubscriptionId, NoQuery, UnscheduleFixedFeeQuantityUpdates>()?;
    check_is_not_pending(&request)?;
    let call = request.account.unschedule_fixed_fee_quantity_updates(id, body.price_id());
    write(request, call).await
}

async fn change_intervals(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<SubscriptionId, NoQuery, ChangeIntervals>()?;
    let dated = body.has_local_date().then_some(id);
    write_dated(request, dated, |account, zone| {
        let leaves_invoices = body.leaves_invoices();
        let call = account.change_intervals(id, body.into_changes(zone)?);
        Ok(if leaves_invoices { call.leaving_invoices() } else { call })
    })
    .await
}

async fn schedule_plan_change(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<SubscriptionId, NoQuery, SchedulePlanChange>()?;
    let dated = body.has_local_date().then_some(id);
    let currency = match plans::currency_of(&request, body.plan_of_prices()).await {
        Ok(currency) => currency,
        Err(error) => return request.refuse(&error).await,
    };
    write_dated(request, dated, |account, zone| {
        Ok(account.schedule_plan_change(id, body.into_change(zone, currency)?))
    })
    .await
}

async fn unschedule_plan_changes(request: Request) -> Result<Reply, Problem> {
    let (id, ..) = request.read::<SubscriptionId, NoQuery, NoBody>()?;
    check_is_not_pending(&request)?;
    let call = request.account.unschedule_plan_changes(id);
    write(request, call).await
}

async fn fetch_schedule(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<SubscriptionId, ScheduleQuery, NoBody>()?;
    let dated = query.has_local_date().then_some(id);
    let starts = query.starts(&zones::of_subscription(&request, dated).await?)?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.plan_schedule(id, starts, &page).await?;
    let related = request.account.related(&found).await?;
    request.answer_page(found, |of| SubscriptionScheduleItem::of(&of, &related)).await
}

async fn trigger_phase(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<SubscriptionId, NoQuery, TriggerPhase>()?;
    let dated = body.date().is_some_and(Date::is_local).then_some(id);
    write_dated(request, dated, |account, zone| {
        let date = body.date().map(|date| date.in_zone(zone, "/effective_date"));
        let call = account.trigger_phase(id, date.transpose()?);
        Ok(if body.leaves_invoices() { call.leaving_invoices() } else { call })
    })
    .await
}

async fn update_trial(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<SubscriptionId, NoQuery, UpdateTrial>()?;
    let dated = body.has_local_date().then_some(id);
    write_dated(request, dated, |account, zone| {
        Ok(account.update_trial(id, body.into_update(zone)?))
    })
    .await
}

async fn redeem_coupon(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<SubscriptionId, NoQuery, RedeemCoupon>()?;
    check_is_not_pending(&request)?;
    let dated = body.has_local_date().then_some(id);
    write_dated(request, dated, |account, zone| {
        Ok(account.redeem_coupon(id, body.into_redemption(zone)?))
    })
    .await
}

/// Writes a change of a subscription whose dates may be those of its zone: it names the subscription then.
async fn write_dated(
    request: Request,
    dated: Option<SubscriptionId>,
    make: impl FnOnce(&Account, &Zone) -> Result<Call<subscription::Subscription>, Problem>,
) -> Result<Reply, Problem> {
    let zone = match zones::of_subscription(&request, dated).await {
        Ok(zone) => zone,
        Err(error) => return request.refuse(&error).await,
    };
    let call = make(&request.account, &zone)?;
    write(request, call).await
}

/// Writes a change of a subscription, or stages it where it is to wait (subscriptions 4.1), and answers with the
/// subscription as it stands then.
async fn write(request: Request, call: Call<subscription::Subscription>) -> Result<Reply, Problem> {
    let billing = request.account.billing().clone();
    let wanted = request.input.changed_resources;
    if request.input.is_pending_change {
        return stage(request, call).await;
    }
    if wanted == ChangedWanted::None {
        let show = move |(subscription, related): &(subscription::Subscription, Related)| {
            MutatedSubscription::of(subscription, related, billing.now())
        };
        return request.write(call.with_related(), show).await;
    }
    let call = call.with_changed_resources().with_related();
    let links = request.links();
    let show =
        move |((subscription, changed), related): &((_, accrue::ChangedResources), Related)| {
            let changed = ChangedResources::of(changed, wanted, related, &links);
            MutatedSubscription::with_changed(subscription, changed, related, billing.now())
        };
    request.write(call, show).await
}

/// Stages a change of a subscription, and answers with the subscription as it would stand, and with its other resources.
async fn stage(request: Request, call: Call<subscription::Subscription>) -> Result<Reply, Problem> {
    type Staged =
        (((subscription::Subscription, accrue::ChangedResources), Related), SubscriptionChange);

    let call = call.with_changed_resources().with_related().staged();
    let billing = request.account.billing().clone();
    let (wanted, links) = (request.input.changed_resources.or_all(), request.links());
    let show = move |(((subscription, changed), related), change): &Staged| {
        let changed = ChangedResources::of(changed, wanted, related, &links);
        MutatedSubscription::with_changed(subscription, changed, related, billing.now())
            .pending(change.id)
    };
    request.write(call, show).await
}

/// Refuses to let an operation wait that takes effect at once (subscriptions 4.1).
fn check_is_not_pending(request: &Request) -> Result<(), Problem> {
    match request.input.is_pending_change {
        true => {
            let message = "is of no effect here: the operation cannot wait until it is applied";
            Err(Violations::one("/Create-Pending-Subscription-Change", message).into())
        }
        false => Ok(()),
    }
}

async fn fetch_costs(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<SubscriptionId, CostsQuery, NoBody>()?;
    let query: CostQuery = query.try_into()?;
    let costs = request.account.subscription_costs(id, &query).await?;
    let related = request.account.related(&costs).await?;
    request.answer_list(costs, |cost| AggregatedCost::of(cost, &related)).await
}

async fn fetch_usage(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<SubscriptionId, UsageQueryIn, NoBody>()?;
    let (query, mode) = query.into_query()?;
    let series = request.account.subscription_usage_over(id, &query).await?;
    request.answer(&SubscriptionUsage::of(series, query.group_by.is_some(), mode)).await
}
