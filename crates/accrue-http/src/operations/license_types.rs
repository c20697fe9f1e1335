use accrue::LicenseTypeId;

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::Request,
    wire::{
        licenses::{LicenseType, NewLicenseType},
        pages::{ListQuery, Rows},
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/license_types", "license_types.list", "list-license-types")
        .summary("Lists the license types, oldest first.")
        .query::<ListQuery>()
        .answers::<Rows<LicenseType>>()
        .run(|request| Box::pin(list(request))),
    Operation::post("/license_types", "license_types.create", "create-license-type")
        .creates()
        .summary("Creates a license type.")
        .body::<NewLicenseType>()
        .answers::<LicenseType>()
        .run(|request| Box::pin(create(request))),
    Operation::get(
        "/license_types/{license_type_id}",
        "license_types.retrieve",
        "fetch-license-type",
    )
    .summary("Returns a license type.")
    .answers::<LicenseType>()
    .run(|request| Box::pin(fetch(request))),
];

async fn list(request: Request) -> Result<Reply, Problem> {
    let query: ListQuery = request.query()?;
    let page = request.page(query.limit, query.cursor)?;
    let found = request.account.list_license_types(&page).await?;
    request.answer_page(found, |of| LicenseType::from(&of)).await
}

async fn create(request: Request) -> Result<Reply, Problem> {
    let new: NewLicenseType = request.body()?;
    let call = request.account.create_license_type(new.into());
    request.write(call, |of| LicenseType::from(of)).await
}

async fn fetch(request: Request) -> Result<Reply, Problem> {
    let id: LicenseTypeId = request.path()?;
    let found = request.account.fetch_license_type(id).await?;
    request.answer(&LicenseType::from(&found)).await
}
