use accrue::{LicenseId, Page};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request, external_id},
    wire::{
        licenses::{
            DeactivateLicense, License, LicenseByExternalIdQuery, LicenseListQuery, LicenseUsage,
            LicensesUsageQuery, NewLicense, OneLicenseUsageQuery,
        },
        pages::Rows,
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/licenses", "licenses.list", "list-licenses")
        .summary("Lists the licenses of a subscription, newest first.")
        .query::<LicenseListQuery>()
        .answers::<Rows<License>>()
        .run(|request| Box::pin(list(request))),
    Operation::post("/licenses", "licenses.create", "create-license")
        .creates()
        .summary("Gives a license of a subscription out.")
        .body::<NewLicense>()
        .answers::<License>()
        .run(|request| Box::pin(create(request))),
    Operation::get("/licenses/{license_id}", "licenses.retrieve", "fetch-license")
        .summary("Returns a license.")
        .answers::<License>()
        .run(|request| Box::pin(fetch(request))),
    Operation::post("/licenses/{license_id}/deactivate", "licenses.deactivate", "deactivate-license")
        .summary("Gives a license an end: that of today, or the begin of a day.")
        .body::<DeactivateLicense>()
        .answers::<License>()
        .run(|request| Box::pin(deactivate(request))),
    Operation::get(
        "/licenses/external_license_id/{external_license_id}",
        "licenses.retrieve_by_external_id",
        "fetch-license-external-id",
    )
    .summary(
        "Returns the license of an external id: the active one, else the one that ended last, else the next.",
    )
    .query::<LicenseByExternalIdQuery>()
    .answers::<License>()
    .run(|request| Box::pin(fetch_by_external_id(request))),
    Operation::get("/licenses/usage", "licenses.usage.get_all_usage", "get-license-usage-by-type")
        .summary("Returns the usage of the licenses of a type that a subscription has.")
        .query::<LicensesUsageQuery>()
        .answers::<Rows<LicenseUsage>>()
        .run(|request| Box::pin(usage(request))),
    Operation::get(
        "/licenses/{license_id}/usage",
        "licenses.usage.get_usage",
        "get-license-usage-by-id",
    )
    .summary("Returns the usage of a license.")
    .query::<OneLicenseUsageQuery>()
    .answers::<Rows<LicenseUsage>>()
    .run(|request| Box::pin(usage_of_one(request))),
    Operation::get(
        "/licenses/external_licenses/{external_license_id}/usage",
        "licenses.external_licenses.get_usage",
        "get-license-usage-by-external-id",
    )
    .summary("Returns the usage of the license of an external id that is active.")
    .query::<LicensesUsageQuery>()
    .answers::<Rows<LicenseUsage>>()
    .run(|request| Box::pin(usage_of_active(request))),
];

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: LicenseListQuery = request.query()?;
    let filter = query.filter();
    let page = request.page(query.limit, query.cursor)?;
    let found = match filter {
        Some(filter) => {
            request.account.list_licenses(query.subscription_id, &filter, &page).await?
        }
        None => Page::default(),
    };
    let now = request.account.billing().now();
    request.answer_page(found, |license| License::at(&license, now)).await
}

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewLicense = request.body()?;
    let billing = request.account.billing().clone();
    let call = request.account.create_license(new.into());
    request.write(call, move |license| License::at(license, billing.now())).await
}

async fn deactivate(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, end) = request.read::<LicenseId, NoQuery, DeactivateLicense>()?;
    let billing = request.account.billing().clone();
    let call = request.account.deactivate_license(id, end.into());
    request.write(call, move |license| License::at(license, billing.now())).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: LicenseId = request.path()?;
    let license = request.account.fetch_license(id).await?;
    let now = request.account.billing().now();
    request.answer(&License::at(&license, now)).await
}

async fn fetch_by_external_id(request: Request) -> Result<Reply, Problem> {
    let (external, query, _) = request.read::<String, LicenseByExternalIdQuery, NoBody>()?;
    let name = query.name(external_id(&external, "license")?);
    let license = request.account.find_license(&name).await?;
    let now = request.account.billing().now();
    request.answer(&License::at(&license, now)).await
}

async fn usage(request: Request) -> Result<Reply, Problem> {
    let query: LicensesUsageQuery = request.query()?;
    let usage = query.query();
    let page = request.page(query.limit, query.cursor)?;
    let (of, license_type) = (query.subscription_id, query.license_type_id);
    let found = request.account.license_usage(of, license_type, &usage, &page).await?;
    request.answer_page(found, LicenseUsage::from).await
}

async fn usage_of_one(request: Request) -> Result<Reply, Problem> {
    let (id, query, _) = request.read::<LicenseId, OneLicenseUsageQuery, NoBody>()?;
    let usage = query.query();
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.usage_of_license(id, &usage, &page).await?;
    request.answer_page(found, LicenseUsage::from).await
}

async fn usage_of_active(request: Request) -> Result<Reply, Problem> {
    let (external, query, _) = request.read::<String, LicensesUsageQuery, NoBody>()?;
    let name = query.name(external_id(&external, "active license")?);
    let usage = query.query();
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.usage_of_active_license(&name, &usage, &page).await?;
    request.answer_page(found, LicenseUsage::from).await
}
