DROP SCHEMA IF EXISTS accrue_rates CASCADE;
CREATE SCHEMA accrue_rates;
SET search_path TO accrue_rates;

CREATE TABLE customers (
  id text PRIMARY KEY,
  external_id text NOT NULL UNIQUE,
  created_at timestamptz NOT NULL,
  document jsonb NOT NULL
);
CREATE INDEX ON customers (created_at, id);

CREATE TABLE requests (
  key text PRIMARY KEY,
  answer jsonb NOT NULL,
  completed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE events (
  key text PRIMARY KEY,
  customer text NOT NULL,
  name text NOT NULL,
  at timestamptz NOT NULL,
  properties jsonb NOT NULL
);
CREATE INDEX ON events (customer, at);

CREATE TABLE totals (
  customer text,
  metric text,
  period timestamp,
  value numeric NOT NULL,
  PRIMARY KEY (customer, metric, period)
);

CREATE TABLE thresholds (
  customer text,
  metric text,
  threshold numeric,
  PRIMARY KEY (customer, metric, threshold)
);

CREATE TABLE outbox (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer text NOT NULL,
  metric text NOT NULL,
  period timestamp NOT NULL,
  threshold numeric NOT NULL,
  value numeric NOT NULL
);
