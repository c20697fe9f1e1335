use crate::{
    operation::Operation,
    problem::Problem,
    reply::Reply,
    request::{NoBody, NoQuery, Request},
    shape::response,
};

pub(super) const OPERATIONS: &[Operation] = &[Operation::get("/ping", "top_level.ping", "ping")
    .summary("Answers that the service is reachable and the API key valid.")
    .answers::<Pong>()
    .run(|request| Box::pin(ping(request)))];

response! {
    /// That the service is there.
    struct Pong {
        /// A word.
        response: &'static str,
    }
}

async fn ping(request: Request) -> Result<Reply, Problem> {
    request.read::<(), NoQuery, NoBody>()?;
    request.answer(&Pong { response: "pong" }).await
}
