use std::{pin::Pin, sync::Arc};

use accrue::{
    Account, Attempt, Call, Cursor, Error, ErrorKind, ExternalId, Pace, Page, PageRequest, limits,
};
use http::StatusCode;
use serde::Serialize;

use crate::{
    batch::Batch,
    json::Json,
    links::Links,
    problem::{Problem, Violations},
    reply::Reply,
    settings::Settings,
    shape::{Maybe, Read, Reader, Source},
    wire::{
        pages::{Limit, Listed, Rows},
        subscriptions::ChangedWanted,
    },
};

/// A request that has passed the door, as an operation sees it.
pub(crate) struct Request {
    pub(crate) account: Account,
    /// The status of a success.
    pub(crate) status: StatusCode,
    pub(crate) settings: Arc<Settings>,
    pub(crate) input: Input,
    pub(crate) pace: Pace,
    /// The idempotency key that it runs under.
    pub(crate) attempt: Option<Arc<Attempt>>,
}

/// What a request brings.
pub(crate) struct Input {
    /// The parameters of the path in their order, decoded.
    pub(crate) path: Vec<Json>,
    pub(crate) query: Result<Json, Violations>,
    /// Events of the body, where the operation takes a batch and the body is in its usual form: then it
    /// was not read as anything else.
    pub(crate) batch: Option<Batch>,
    /// The body. An empty one is none.
    pub(crate) body: Result<Option<Json>, Violations>,
    /// Whether a change of a subscription is to wait until it is applied (wire 5.3).
    pub(crate) is_pending_change: bool,
    /// Whether nothing is to be written (subscriptions 0.4): it runs under no key then.
    pub(crate) is_dry_run: bool,
    /// Other resources that the answer of a changed subscription has (invoicing 14.5).
    pub(crate) changed_resources: ChangedWanted,
}

/// An operation under way, with its reply.
pub(crate) type Running = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;

/// How far an operation has come that takes two steps.
pub(crate) enum Step {
    /// It goes on from this stored answer.
    Open(String),
    Done(Reply),
}

impl Request {
    /// Reads the parameter of the path.
    pub(crate) fn path<P: Read>(&self) -> Result<P, Problem> {
        self.read::<P, NoQuery, NoBody>().map(|(path, _, _)| path)
    }

    /// Reads the query.
    pub(crate) fn query<Q: Read>(&self) -> Result<Q, Problem> {
        self.read::<(), Q, NoBody>().map(|(_, query, _)| query)
    }

    /// Reads the body.
    pub(crate) fn body<B: Read>(&self) -> Result<B, Problem> {
        self.read::<(), NoQuery, B>().map(|(_, _, body)| body)
    }

    /// Reads all of it, and lists everything that is wrong.
    pub(crate) fn read<P: Read, Q: Read, B: Read>(&self) -> Result<(P, Q, B), Problem> {
        let mut reader = Reader::new();
        let path = self.read_path(&mut reader);
        reader.source = Source::Query;
        let query = match &self.input.query {
            Ok(query) => Q::read(query, "", &mut reader),
            Err(violations) => {
                reader.extend(violations);
                None
            }
        };
        reader.source = Source::Body;
        let body = match &self.input.body {
            Ok(Some(body)) => B::read(body, "", &mut reader),
            Ok(None) => match B::absent() {
                crate::shape::Absent::Is(body) => Some(body),
                crate::shape::Absent::Refused => reader.wrong("", "is empty, expected an object"),
            },
            Err(violations) => {
                reader.extend(violations);
                None
            }
        };
        let read = path.zip(query).zip(body).map(|((path, query), body)| (path, query, body));
        reader.finish(read)
    }

    /// Returns the addresses of documents, for an answer to show.
    pub(crate) fn links(&self) -> Links {
        Links::of(self.account.id(), &self.settings)
    }

    fn read_path<P: Read>(&self, reader: &mut Reader) -> Option<P> {
        match self.input.path.as_slice() {
            [] => P::read(&Json::Null, "", reader),
            [one] => P::read(one, "", reader),
            several => P::read(&Json::Array(several.to_vec()), "", reader),
        }
    }

    /// Runs an operation that writes, and answers with what it came to: in one commit with its
    /// idempotency key, where it has one.
    pub(crate) async fn write<T: Send + 'static, A: Serialize>(
        self,
        call: Call<T>,
        answer: impl Fn(&T) -> A + Send + Sync + 'static,
    ) -> Result<Reply, Problem> {
        let status = self.status;
        let reply = move |outcome| match status {
            StatusCode::NO_CONTENT => Reply::empty(status),
            _ => Reply::json(status, &answer(&outcome)),
        };
        self.reply(call.map(reply)).await
    }

    /// Runs an operation whose outcome is the reply, whatever its own outcome was: so it is compiled once.
    fn reply(self, call: Call<Reply>) -> Running {
        Box::pin(async move {
            let Self { settings, attempt, input, .. } = self;
            let Some(attempt) = attempt else {
                return Ok(match input.is_dry_run {
                    true => call.dry_run().await?,
                    false => call.await?,
                });
            };
            let keep = move |result: Result<&Reply, &Error>| match result {
                Ok(reply) => reply.to_stored(),
                Err(error) => Problem::from(error).reply(&settings.error_docs).to_stored(),
            };
            Ok(Reply::from_kept(&attempt.run(call, keep).await?)?)
        })
    }

    /// Runs the first step of an operation that then waits for something outside the store. Under an
    /// idempotency key its answer is kept as one that is open: whoever sends again goes on from there. A dry run
    /// goes no further.
    pub(crate) async fn begin<T: Send + 'static, A: Serialize>(
        &self,
        call: Call<T>,
        answer: impl Fn(&T) -> A + Send + Sync + 'static,
    ) -> Result<Step, Problem> {
        let (status, settings) = (self.status, Arc::clone(&self.settings));
        if self.input.is_dry_run {
            return Ok(Step::Done(Reply::json(status, &answer(&call.dry_run().await?))));
        }
        let open = move |outcome: &T| Reply::json(status, &answer(outcome)).to_open();
        let Some(attempt) = &self.attempt else { return Ok(Step::Open(open(&call.await?))) };
        let keep = move |result: Result<&T, &Error>| match result {
            Ok(outcome) => open(outcome),
            Err(error) => Problem::from(error).reply(&settings.error_docs).to_stored(),
        };
        let kept = attempt.run(call, keep).await?;
        Ok(match Reply::is_open(&kept.outcome) {
            true => Step::Open(kept.outcome),
            false => Step::Done(Reply::from_kept(&kept)?),
        })
    }

    /// Runs the last step of an operation, and replies to what it came to. Where it is refused, that is
    /// no fault of the request.
    pub(crate) async fn go_on<T: Send + 'static>(
        &self,
        open: &str,
        call: Call<T>,
        reply: impl Fn(&T) -> Reply + Send + Sync,
    ) -> Result<Reply, Problem> {
        let Some(attempt) = &self.attempt else {
            return Ok(reply(&call.await.map_err(of_host)?));
        };
        let kept = attempt.go_on(open, call, |outcome| reply(outcome).to_stored()).await;
        let kept = kept.map_err(of_host)?;
        Ok(Reply::from_kept(&kept)?)
    }

    /// Answers an operation whose last step there is nothing to do for.
    pub(crate) async fn conclude(&self, open: &str, reply: Reply) -> Result<Reply, Problem> {
        let Some(attempt) = &self.attempt else { return Ok(reply) };
        let kept = attempt.conclude(open, &reply.to_stored()).await?;
        Ok(Reply::from_kept(&kept)?)
    }

    /// Answers with what was read. Under an idempotency key, the key is taken.
    pub(crate) async fn answer(self, answer: &impl Serialize) -> Result<Reply, Problem> {
        // What cannot be written is a page beyond its bound.
        let too_large = |_| {
            let detail = "the answer has too many bytes: fewer rows, or a shorter timeframe, help"
                .to_owned();
            Problem::resource_too_large(detail)
        };
        let reply = Reply::try_json(self.status, answer).map_err(too_large)?;
        self.complete(reply).await
    }

    fn complete(self, reply: Reply) -> Running {
        Box::pin(async move {
            if let Some(attempt) = self.attempt {
                attempt.complete("").await?;
            }
            Ok(reply)
        })
    }

    /// Answers with a page of what was read.
    pub(crate) async fn answer_page<R, T: Serialize>(
        self,
        page: Page<R>,
        row: impl FnMut(R) -> T,
    ) -> Result<Reply, Problem> {
        let rows = Rows::of(page, &self.pace, row).await;
        self.answer(&rows).await
    }

    /// Answers with a list of what was read, without pages.
    pub(crate) async fn answer_list<R, T: Serialize>(
        self,
        data: Vec<R>,
        row: impl FnMut(R) -> T,
    ) -> Result<Reply, Problem> {
        let list = Listed::of(data, &self.pace, row).await;
        self.answer(&list).await
    }

    /// Returns the answer that is kept under the idempotency key, for an operation that asks something
    /// outside the store before it runs.
    pub(crate) async fn known(&self) -> Result<Option<Reply>, Problem> {
        let Some(attempt) = &self.attempt else { return Ok(None) };
        let Some(kept) = attempt.look().await? else { return Ok(None) };
        Ok(Some(Reply::from_stored(&kept)?.replayed()))
    }

    /// Answers with the error of a read that comes before an operation which writes. That something
    /// is not there, or against a rule, is an answer: it is kept under the idempotency key, as the operation
    /// would.
    pub(crate) async fn refuse(self, error: &Error) -> Result<Reply, Problem> {
        let problem = Problem::from(error);
        let is_answer =
            matches!(error.kind(), ErrorKind::ResourceNotFound | ErrorKind::ConstraintViolation);
        let Some(attempt) = self.attempt.filter(|_| is_answer) else {
            return Err(problem);
        };
        let reply = problem.reply(&self.settings.error_docs);
        Ok(Reply::from_kept(&attempt.complete(&reply.to_stored()).await?)?)
    }

    /// Makes the page that a query asks for.
    pub(crate) fn page(
        &self,
        limit: Option<Limit>,
        cursor: Option<String>,
    ) -> Result<PageRequest, Problem> {
        let limit = rows(limit, self.settings.bounds.page_rows.min(limits::PAGE_ROWS));
        Ok(after(PageRequest::first(limit)?, cursor))
    }

    /// Makes the page of a ledger that a query asks for (wire 6.2).
    pub(crate) fn ledger_page(
        &self,
        limit: Option<Limit>,
        cursor: Option<String>,
    ) -> Result<PageRequest, Problem> {
        let limit =
            rows(limit, self.settings.bounds.ledger_page_rows.min(limits::LEDGER_PAGE_ROWS));
        Ok(after(PageRequest::first_of_ledger(limit)?, cursor))
    }
}

/// Makes the problem of what the host has said, and not the client.
fn of_host(error: Error) -> Problem {
    match error.kind() {
        ErrorKind::RequestValidation
        | ErrorKind::ConstraintViolation
        | ErrorKind::ResourceNotFound => Problem::failed_by(Arc::new(error)),
        _ => Problem::from(error),
    }
}

/// Reads the caller's own alias of a resource. A text that is none names no resource.
pub(crate) fn external_id(text: &str, what: &str) -> Result<ExternalId, Problem> {
    ExternalId::parse(text).map_err(|_| Problem::not_found(what))
}

/// Returns the number of rows of a page, where it has so many at most.
fn rows(asked: Option<Limit>, most: usize) -> usize {
    asked.map_or(PageRequest::default().limit().min(most), |limit| limit.within(most))
}

fn after(page: PageRequest, cursor: Option<String>) -> PageRequest {
    match cursor {
        Some(cursor) => page.after(Cursor::from_text(cursor)),
        None => page,
    }
}

crate::shape::request! {
    /// No parameters.
    pub(crate) struct NoQuery {}
}

/// A request that needs no body: an empty one, or an object without members.
pub(crate) type NoBody = Maybe<NoFields>;

crate::shape::request! {
    /// Nothing.
    pub(crate) struct NoFields {}
}

/// No parameter in the path, or one that is read elsewhere.
impl Read for () {
    fn read(_: &Json, _: &str, _: &mut Reader) -> Option<Self> {
        Some(())
    }
}

impl crate::shape::Describe for () {
    fn schema() -> crate::shape::Schema {
        crate::shape::Schema::Any
    }
}

/// Two parameters in the path.
impl<A: Read, B: Read> Read for (A, B) {
    fn read(json: &Json, at: &str, reader: &mut Reader) -> Option<Self> {
        let Json::Array(values) = json else { return None };
        let [first, second] = values.as_slice() else { return None };
        let (first, second) = (A::read(first, at, reader), B::read(second, at, reader));
        first.zip(second)
    }
}

impl<A, B> crate::shape::Describe for (A, B) {
    fn schema() -> crate::shape::Schema {
        crate::shape::Schema::Any
    }
}
