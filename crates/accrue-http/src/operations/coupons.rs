use accrue::{CouponId, Page};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, Request},
    wire::{
        coupons::{Coupon, CouponListQuery, NewCoupon},
        pages::{ListQuery, Rows},
        subscriptions::Subscription,
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post("/coupons", "coupons.create", "create-coupon")
        .creates()
        .summary("Creates a coupon.")
        .body::<NewCoupon>()
        .answers::<Coupon>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/coupons", "coupons.list", "list-coupons")
        .summary("Lists the coupons, newest first.")
        .query::<CouponListQuery>()
        .answers::<Rows<Coupon>>()
        .run(|request| Box::pin(list(request))),
    Operation::get("/coupons/{coupon_id}", "coupons.fetch", "fetch-coupon")
        .summary("Returns a coupon.")
        .answers::<Coupon>()
        .run(|request| Box::pin(fetch(request))),
    Operation::post("/coupons/{coupon_id}/archive", "coupons.archive", "archive-coupon")
        .summary("Archives a coupon: its code is free again.")
        .answers::<Coupon>()
        .run(|request| Box::pin(archive(request))),
    Operation::get(
        "/coupons/{coupon_id}/subscriptions",
        "coupons.subscriptions.list",
        "list-coupon-subscriptions",
    )
    .summary("Lists the subscriptions that have redeemed a coupon, newest first.")
    .query::<ListQuery>()
    .answers::<Rows<Subscription>>()
    .run(|request| Box::pin(list_subscriptions(request))),
];

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewCoupon = request.body()?;
    let call = request.account.create_coupon(new.try_into()?);
    request.write(call, Coupon::of).await
}

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: CouponListQuery = request.query()?;
    let filter = query.filter();
    let page = request.page(query.limit, query.cursor)?;
    let found = match filter {
        Some(filter) => request.account.list_coupons(&filter, &page).await?,
        None => Page::default(),
    };
    request.answer_page(found, |coupon| Coupon::of(&coupon)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: CouponId = request.path()?;
    let coupon = request.account.fetch_coupon(id).await?;
    request.answer(&Coupon::of(&coupon)).await
}

async fn archive(request: Request) -> Result<Reply, Problem> {
    let id: CouponId = request.path()?;
    let call = request.account.archive_coupon(id);
    request.write(call, Coupon::of).await
}

async fn list_subscriptions(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<CouponId, ListQuery, NoBody>()?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_coupon_subscriptions(id, &page).await?;
    let related = request.account.related(&found).await?;
    let now = request.account.billing().now();
    let row = |subscription| Subscription::of(&subscription, &related, now);
    request.answer_page(found, row).await
}
