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
        what: "migrations from a plan version to another",
        operations: &[
            (Get, "/plans/{plan_id}/migrations", "plans.migrations.list"),
            (Get, "/plans/{plan_id}/migrations/{migration_id}", "plans.migrations.retrieve"),
            (Post, "/plans/{plan_id}/migrations/{migration_id}/cancel", "plans.migrations.cancel"),
        ],
    },
    Waiting {
        what: "subscriptions that change their plan, phase, trial or prices",
        operations: &[
            (
                Post,
                "/subscriptions/{subscription_id}/price_intervals",
                "subscriptions.price_intervals",
            ),
            (Get, "/subscriptions/{subscription_id}/schedule", "subscriptions.fetch_schedule"),
            (
                Post,
                "/subscriptions/{subscription_id}/schedule_plan_change",
                "subscriptions.schedule_plan_change",
            ),
            (Post, "/subscriptions/{subscription_id}/trigger_phase", "subscriptions.trigger_phase"),
            (
                Post,
                "/subscriptions/{subscription_id}/unschedule_pending_plan_changes",
                "subscriptions.unschedule_pending_plan_changes",
            ),
            (Post, "/subscriptions/{subscription_id}/update_trial", "subscriptions.update_trial"),
        ],
    },
    Waiting {
        what: "changes of subscriptions that wait to be applied",
        operations: &[
            (Get, "/subscription_changes", "subscription_changes.list"),
            (
                Get,
                "/subscription_changes/{subscription_change_id}",
                "subscription_changes.retrieve",
            ),
            (
                Post,
                "/subscription_changes/{subscription_change_id}/apply",
                "subscription_changes.apply",
            ),
            (
                Post,
                "/subscription_changes/{subscription_change_id}/cancel",
                "subscription_changes.cancel",
            ),
        ],
    },
];
