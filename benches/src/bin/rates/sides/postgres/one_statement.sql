-- A request with all of its events. Answers how many were new; none where the request was here before.
WITH request AS (
  INSERT INTO requests (key, answer) VALUES ($1, $2::text::jsonb)
  ON CONFLICT DO NOTHING
  RETURNING key
), fresh AS (
  INSERT INTO events (key, customer, name, at, properties)
  SELECT event.key, event.customer, event.name, event.at, event.properties::jsonb
  FROM request, unnest($3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[])
    AS event (key, customer, name, at, properties)
  ON CONFLICT DO NOTHING
  RETURNING customer, date_trunc('month', at AT TIME ZONE 'UTC') AS period,
    (properties ->> 'output_tokens')::bigint AS output_tokens,
    (properties ->> 'input_tokens')::bigint AS input_tokens
), change AS (
  SELECT customer, period, figure.metric, figure.value
  FROM (
    SELECT customer, period, count(*)::numeric AS requests, sum(output_tokens) AS output_tokens,
      max(input_tokens)::numeric AS largest_request
    FROM fresh GROUP BY customer, period
  ) AS of_customer
  CROSS JOIN LATERAL (VALUES
    ('requests', requests),
    ('output tokens', output_tokens),
    ('largest request', largest_request)
  ) AS figure (metric, value)
), grown AS (
  INSERT INTO totals AS total (customer, metric, period, value)
  SELECT customer, metric, period, value FROM change
  ON CONFLICT (customer, metric, period) DO UPDATE SET value =
    CASE WHEN total.metric = 'largest request' THEN greatest(total.value, excluded.value)
    ELSE total.value + excluded.value END
  RETURNING customer, metric, period, value
), crossed AS (
  INSERT INTO outbox (customer, metric, period, threshold, value)
  SELECT customer, metric, period, threshold, grown.value
  FROM grown JOIN change USING (customer, metric, period) JOIN thresholds USING (customer, metric)
  WHERE grown.value >= threshold AND grown.value - change.value < threshold
)
SELECT count(*) FROM fresh
