/// Statements of a store, in its schema.
#[derive(Debug)]
pub(crate) struct Statements {
    pub(crate) get: String,
    pub(crate) scan_up: String,
    pub(crate) scan_down: String,
    pub(crate) check: String,
    pub(crate) apply: String,
    pub(crate) settle: String,
    pub(crate) take_epoch: String,
    pub(crate) number_table: String,
    pub(crate) tables: String,
    pub(crate) layout: String,
}

impl Statements {
    pub(crate) fn of(schema: &str) -> Self {
        let scan = |order| {
            format!(
                "SELECT key, version, document FROM {schema}.rows \
                 WHERE key >= $1 AND key < $2 ORDER BY key {order} LIMIT $3"
            )
        };
        Self {
            get: format!("SELECT key, version, document FROM {schema}.rows WHERE key = ANY ($1)"),
            scan_up: scan("ASC"),
            scan_down: scan("DESC"),
            check: format!(
                "SELECT j.i FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS j (k, v, i) \
                 LEFT JOIN {schema}.rows r ON r.key = j.k \
                 WHERE r.version IS DISTINCT FROM j.v ORDER BY j.i LIMIT 1"
            ),
            apply: format!(
                "SELECT batch, place FROM {schema}.apply($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \
                 $11, $12, $13, $14, $15, $16, $17, $18, $19)"
            ),
            settle: format!(
                "SELECT call_number, was_applied, lost_batches, lost_places FROM {schema}.settle($1)"
            ),
            take_epoch: format!("SELECT {schema}.take_epoch()"),
            number_table: format!("SELECT {schema}.number_table($1)"),
            tables: format!("SELECT number, name FROM {schema}.tables"),
            layout: format!("SELECT version FROM {schema}.layout"),
        }
    }
}
