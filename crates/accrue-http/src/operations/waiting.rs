use crate::operation::Method::{self, Get, Post};

/// Operations of the API that are not served, and what they wait for.
pub(crate) struct Waiting {
    pub(crate) what: &'static str,
    pub(crate) operations: &'static [Unserved],
}

/// An operation that is not served: its method, path, and name in the client libraries.
pub(crate) type Unserved = (Method, &'static str, &'static str);

/// Every operation that is not served.
pub(crate) const WAITING: &[Waiting] = &[
    Waiting {
        what: "licenses",
        operations: &[
            (Get, "/license_types", "license_types.list"),
            (Post, "/license_types", "license_types.create"),
            (Get, "/license_types/{license_type_id}", "license_types.retrieve"),
            (Get, "/licenses", "licenses.list"),
            (Post, "/licenses", "licenses.create"),
            (
                Get,
                "/licenses/external_license_id/{external_license_id}",
                "licenses.retrieve_by_external_id",
            ),
            (
                Get,
                "/licenses/external_licenses/{external_license_id}/usage",
                "licenses.external_licenses.get_usage",
            ),
            (Get, "/licenses/usage", "licenses.usage.get_all_usage"),
            (Get, "/licenses/{license_id}", "licenses.retrieve"),
            (Post, "/licenses/{license_id}/deactivate", "licenses.deactivate"),
            (Get, "/licenses/{license_id}/usage", "licenses.usage.get_usage"),
        ],
    },
    Waiting {
        what: "migrations from a plan version to another",
        operations: &[
            (Get, "/plans/{plan_id}/migrations", "plans.migrations.list"),
            (Get, "/plans/{plan_id}/migrations/{migration_id}", "plans.migrations.retrieve"),
            (Post, "/plans/{plan_id}/migrations/{migration_id}/cancel", "plans.migrations.cancel"),
        ],
    },
    Waiting {
        what: "subscriptions that change their phase or trial",
        operations: &[
            (Post, "/subscriptions/{subscription_id}/trigger_phase", "subscriptions.trigger_phase"),
            (Post, "/subscriptions/{subscription_id}/update_trial", "subscriptions.update_trial"),
        ],
    },
];
