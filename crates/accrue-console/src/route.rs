//! The table of all pages: their paths, who may ask for them, and what answers.

use std::pin::Pin;

use accrue::person::Role;
use http::Method;
use matchit::Router;

use crate::{
    answer::{Answer, Failure},
    page::{
        accounts, alerts, audit, backfills, customer, customers, endpoints, entrance, events,
        invoice, invoices, keys, ledger, overview, password, people, plans, subscription, webhooks,
    },
    visit::Visit,
};

/// Function that answers a visit.
pub(crate) type Handler = for<'a> fn(&'a Visit) -> Running<'a>;

type Running<'a> = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send + 'a>>;

/// Who may ask for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Anybody: they are to sign in.
    Nobody,
    /// Somebody whose role is this, or above it.
    Role(Role),
}

/// A page, or what its form does.
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) needs: Needs,
    pub(crate) handler: Handler,
}

/// Writes the table: who, how and where, and the function.
macro_rules! routes {
    ($($needs:expr, $method:ident $path:literal => $handler:path;)*) => {
        /// Every page.
        pub(crate) static ROUTES: &[Route] = &[$(Route {
            method: Method::$method,
            path: $path,
            needs: $needs,
            handler: |visit| Box::pin($handler(visit)),
        },)*];
    };
}

const ALL: Needs = Needs::Nobody;
const READ: Needs = Needs::Role(Role::Read);
const OPERATE: Needs = Needs::Role(Role::Operate);
const ADMIN: Needs = Needs::Role(Role::Admin);

routes! {
    ALL, GET "/sign-in" => entrance::show;
    ALL, POST "/sign-in" => entrance::sign_in;
    ALL, GET "/invitation" => entrance::invitation;
    ALL, POST "/invitation" => entrance::accept;
    READ, POST "/sign-out" => entrance::sign_out;
    READ, GET "/password" => password::show;
    READ, POST "/password" => password::change;

    READ, GET "/" => accounts::enter;
    READ, GET "/accounts" => accounts::show;
    READ, GET "/open" => accounts::open;
    READ, GET "/audit" => audit::show;
    ADMIN, GET "/people" => people::show;
    ADMIN, POST "/people" => people::invite;
    ADMIN, POST "/people/{person}/role" => people::change_role;
    ADMIN, POST "/people/{person}/password" => people::reset_password;
    ADMIN, POST "/people/{person}/disable" => people::disable;
    ADMIN, POST "/people/{person}/enable" => people::enable;
    ADMIN, POST "/invitations/{invitation}/withdraw" => people::withdraw;

    READ, GET "/a/{account}" => overview::show;
    READ, GET "/a/{account}/customers" => customers::show;
    READ, GET "/a/{account}/customers/{customer}" => customer::show;
    READ, GET "/a/{account}/customers/{customer}/credits/{unit}" => ledger::show;
    READ, GET "/a/{account}/subscriptions/{subscription}" => subscription::show;
    OPERATE, GET "/a/{account}/subscriptions/{subscription}/alerts/new" => alerts::new;
    OPERATE, POST "/a/{account}/subscriptions/{subscription}/alerts" => alerts::create;
    OPERATE, POST "/a/{account}/subscriptions/{subscription}/alerts/{alert}/delete" => alerts::delete;
    READ, GET "/a/{account}/invoices" => invoices::show;
    READ, GET "/a/{account}/invoices/{invoice}" => invoice::show;
    OPERATE, POST "/a/{account}/invoices/{invoice}/issue" => invoice::issue;
    OPERATE, POST "/a/{account}/invoices/{invoice}/void" => invoice::void;
    READ, GET "/a/{account}/plans" => plans::show;
    READ, GET "/a/{account}/plans/{plan}" => plans::one;
    READ, GET "/a/{account}/metrics" => plans::metrics;
    READ, GET "/a/{account}/events" => events::show;
    READ, GET "/a/{account}/backfills" => backfills::show;
    OPERATE, POST "/a/{account}/backfills" => backfills::create;
    READ, GET "/a/{account}/backfills/{backfill}" => backfills::one;
    OPERATE, POST "/a/{account}/backfills/{backfill}/close" => backfills::close;
    OPERATE, POST "/a/{account}/backfills/{backfill}/revert" => backfills::revert;
    READ, GET "/a/{account}/webhooks" => webhooks::show;
    ADMIN, POST "/a/{account}/webhooks" => endpoints::create;
    READ, GET "/a/{account}/webhooks/{endpoint}" => endpoints::show;
    ADMIN, POST "/a/{account}/webhooks/{endpoint}" => endpoints::update;
    ADMIN, POST "/a/{account}/webhooks/{endpoint}/rotate" => endpoints::rotate;
    ADMIN, POST "/a/{account}/webhooks/{endpoint}/delete" => endpoints::delete;
    OPERATE, POST "/a/{account}/webhooks/{endpoint}/enable" => endpoints::enable;
    OPERATE, POST "/a/{account}/webhooks/{endpoint}/disable" => endpoints::disable;
    READ, GET "/a/{account}/messages/{message}" => webhooks::message;
    OPERATE, POST "/a/{account}/messages/{message}/send-again" => webhooks::send_again;
    READ, GET "/a/{account}/keys" => keys::show;
    ADMIN, POST "/a/{account}/keys" => keys::issue;
    ADMIN, GET "/a/{account}/keys/{key}" => keys::key;
    ADMIN, POST "/a/{account}/keys/{key}/rotate" => keys::rotate;
    ADMIN, POST "/a/{account}/keys/{key}/revoke" => keys::revoke;
}

/// Page that was found, with the parts of its path by their names.
pub(crate) type Found = (&'static Route, Vec<(String, String)>);

/// Finds pages by their paths.
pub(crate) struct Routes(Router<Vec<&'static Route>>);

impl Routes {
    pub(crate) fn new() -> Self {
        let mut router = Router::new();
        let mut paths: Vec<_> = ROUTES.iter().map(|route| route.path).collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            let of_path = ROUTES.iter().filter(|route| route.path == path).collect();
            router.insert(path, of_path).expect("the paths of the table do not clash");
        }
        Self(router)
    }

    /// Returns what a path and a method are for, with the parts of the path, decoded.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Result<Found, Failure> {
        let found = self.0.at(path).map_err(|_| Failure::NotFound)?;
        // Who asks for the head of a page gets it without the body.
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        let route = found.value.iter().find(|route| route.method == *method);
        let decode = |text: &str| {
            let text = percent_encoding::percent_decode_str(text).decode_utf8();
            text.map(std::borrow::Cow::into_owned).map_err(|_| Failure::NotFound)
        };
        let params = found.params.iter();
        let params: Result<Vec<_>, _> = params
            .map(|(name, value)| Ok::<_, Failure>((name.to_owned(), decode(value)?)))
            .collect();
        Ok((route.ok_or(Failure::Method)?, params?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_found_once() {
        let routes = Routes::new();
        for route in ROUTES {
            let path = route.path.replace(['{', '}'], "");
            let (found, _) = routes.find(&route.method, &path).unwrap();
            assert_eq!((&found.method, found.path), (&route.method, route.path));
        }
    }

    #[test]
    fn what_changes_something_is_never_for_anybody() {
        let open = ROUTES.iter().filter(|route| route.needs == Needs::Nobody);
        let open: Vec<_> = open.map(|route| route.path).collect();
        assert_eq!(open, ["/sign-in", "/sign-in", "/invitation", "/invitation"]);
        let reads = ROUTES.iter().filter(|of| of.method == Method::POST && of.needs == READ);
        assert_eq!(reads.map(|route| route.path).collect::<Vec<_>>(), ["/sign-out", "/password"]);
    }

    #[test]
    fn parts_of_a_path_are_decoded() {
        let (_, params) = Routes::new().find(&Method::GET, "/a/a%2Fb%20c/keys").unwrap();
        assert_eq!(params, [("account".to_owned(), "a/b c".to_owned())]);
        assert!(Routes::new().find(&Method::GET, "/a/%FF/keys").is_err());
        assert!(matches!(Routes::new().find(&Method::POST, "/audit"), Err(Failure::Method)));
    }
}
