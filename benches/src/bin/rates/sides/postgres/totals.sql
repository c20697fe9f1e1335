-- What an event that is new adds.
WITH change (customer, metric, period, value) AS (VALUES
  ($1, 'requests', date_trunc('month', $2::timestamptz AT TIME ZONE 'UTC'), 1::numeric),
  ($1, 'output tokens', date_trunc('month', $2 AT TIME ZONE 'UTC'), $3::bigint::numeric),
  ($1, 'largest request', date_trunc('month', $2 AT TIME ZONE 'UTC'), $4::bigint::numeric)
), grown AS (
  INSERT INTO totals AS total (customer, metric, period, value)
  SELECT customer, metric, period, value FROM change
  ON CONFLICT (customer, metric, period) DO UPDATE SET value =
    CASE WHEN total.metric = 'largest request' THEN greatest(total.value, excluded.value)
    ELSE total.value + excluded.value END
  RETURNING customer, metric, period, value
)
INSERT INTO outbox (customer, metric, period, threshold, value)
SELECT customer, metric, period, threshold, grown.value
FROM grown JOIN change USING (customer, metric, period) JOIN thresholds USING (customer, metric)
WHERE grown.value >= threshold AND grown.value - change.value < threshold
