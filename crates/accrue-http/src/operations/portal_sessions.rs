use accrue::{
    CustomerId, IdOr,
    portal::{self, NewPortalSession},
};

use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoQuery, Request},
    shape::{Maybe, Read},
    wire::{
        customers::ExternalCustomerId,
        portal_sessions::{CreatePortalSession, PortalSession},
    },
};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::post(
        "/customers/{customer_id}/portal_sessions",
        "customers.create_portal_session",
        "create-portal-session",
    )
    .creates()
    .summary("Makes a session of a customer in the portal of the host.")
    .body::<Maybe<CreatePortalSession>>()
    .answers::<PortalSession>()
    .run(|request| Box::pin(create::<CustomerId>(request))),
    Operation::post(
        "/customers/external_customer_id/{external_customer_id}/portal_sessions",
        "customers.create_portal_session_by_external_id",
        "create-portal-session-by-external-id",
    )
    .creates()
    .summary("Makes a session in the portal of the host of a customer, found by its external id.")
    .body::<Maybe<CreatePortalSession>>()
    .answers::<PortalSession>()
    .run(|request| Box::pin(create::<ExternalCustomerId>(request))),
];

async fn create<Id: Read + Into<IdOr<CustomerId>>>(request: Request) -> Result<Reply, Problem> {
    let (id, NoQuery {}, body) = request.read::<Id, NoQuery, Maybe<CreatePortalSession>>()?;
    let Some(portal) = request.settings.portal.clone() else {
        return Err(Problem::feature_not_available("there is no portal for customers"));
    };
    let new = match body {
        Maybe::Value(body) => body.into_new(),
        Maybe::Absent | Maybe::Null => NewPortalSession::default(),
    };
    let account = request.account.id().clone();
    let call = request.account.create_portal_session(id, new);
    // What is kept under an idempotency key has no secret: the address is computed for each answer.
    let reply = request.write(call, Clone::clone).await?;
    let show = |session: portal::PortalSession| {
        PortalSession::of(&session, portal.url(&account, &session))
    };
    Ok(reply.showing(show)?)
}
