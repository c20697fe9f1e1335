-- Layout 1. `{schema}` is the schema of the store, quoted.

-- Numbers of tables: two bytes lead each key, so that all rows have one index.
CREATE TABLE {schema}.tables (number smallint PRIMARY KEY, name text NOT NULL UNIQUE);

-- Documents are text, since jsonb refuses \u0000.
CREATE TABLE {schema}.rows (
  key bytea PRIMARY KEY,
  version bigint NOT NULL,
  document text COLLATE "C" NOT NULL
) WITH (fillfactor = 90);

-- First halves of versions: one for each opening of the store.
CREATE TABLE {schema}.epochs (epoch bigint PRIMARY KEY);

-- Calls that were applied, or that never will be; by number, which is the version of what they wrote.
-- Of the batches in a call those in `lost` failed, each at its place in `places`.
CREATE TABLE {schema}.calls (
  number bigint PRIMARY KEY,
  applied boolean NOT NULL,
  lost integer[],
  places bigint[]
);

DO $$ BEGIN
  EXECUTE 'ALTER TABLE {schema}.rows ALTER COLUMN document SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR syntax_error OR invalid_parameter_value THEN
  NULL; -- A server that was built without it compresses as it always did.
END $$;

CREATE FUNCTION {schema}.take_epoch() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE taken bigint;
BEGIN
  LOOP
    INSERT INTO {schema}.epochs AS e VALUES (1 + floor(random() * 2147483646)::bigint)
      ON CONFLICT DO NOTHING RETURNING e.epoch INTO taken;
    IF taken IS NOT NULL THEN RETURN taken; END IF;
  END LOOP;
END $$;

CREATE FUNCTION {schema}.number_table(called text) RETURNS smallint LANGUAGE plpgsql AS $$
DECLARE found smallint;
BEGIN
  LOOP
    SELECT t.number INTO found FROM {schema}.tables t WHERE t.name = called;
    IF found IS NOT NULL THEN RETURN found; END IF;
    -- Where somebody else takes the name or the number first, it is looked for again.
    INSERT INTO {schema}.tables
      SELECT coalesce(max(o.number), 0) + 1, called FROM {schema}.tables o
      ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- Judges batches of which none touches what another writes, and applies those that hold. Each item of the arrays
-- is marked with its batch. Answers the batches that failed, each with the place of its first expectation that did.
--
-- Under READ COMMITTED each statement has a snapshot of its own: what judges sees what was committed
-- before the locks were had.
CREATE FUNCTION {schema}.apply(
  call_number bigint, answered bigint[], batches integer,
  locks bigint[], alone boolean[],
  judged_of integer[], judged_key bytea[], judged_version bigint[],
  new_of integer[], new_key bytea[], new_document text[],
  kept_of integer[], kept_key bytea[], kept_document text[],
  put_of integer[], put_key bytea[], put_document text[],
  gone_of integer[], gone_key bytea[]
) RETURNS TABLE (batch integer, place bigint) LANGUAGE plpgsql AS $$
DECLARE
  lost integer[];
  places bigint[];
  needed text := CASE WHEN cardinality(locks) > 0 THEN 'read committed' ELSE 'serializable' END;
BEGIN
  -- Something between the store and the server may have lost the settings of the session.
  IF current_setting('transaction_isolation') <> needed
    AND cardinality(judged_key || new_key || kept_key || put_key || gone_key) > 0 THEN
    RAISE EXCEPTION 'accrue: the transaction is %, expected %: is there a pooler that hands out transactions?',
      current_setting('transaction_isolation'), needed;
  END IF;
  IF cardinality(locks) > 0 THEN
    PERFORM CASE WHEN l.x THEN pg_advisory_xact_lock(l.k) ELSE pg_advisory_xact_lock_shared(l.k) END
      FROM unnest(locks, alone) AS l (k, x);
  END IF;
  IF cardinality(judged_key) > 0 THEN
    SELECT array_agg(f.b), array_agg(f.i) INTO lost, places FROM (
      SELECT j.b, min(j.i) AS i
        FROM unnest(judged_of, judged_key, judged_version) WITH ORDINALITY AS j (b, k, v, i)
        LEFT JOIN {schema}.rows r ON r.key = j.k
        WHERE r.version IS DISTINCT FROM j.v GROUP BY j.b
    ) AS f;
  END IF;
  IF coalesce(cardinality(lost), 0) < batches THEN
    INSERT INTO {schema}.calls VALUES (call_number, true, lost, places);
    IF cardinality(answered) > 0 THEN
      DELETE FROM {schema}.calls c WHERE c.number = ANY (answered);
    END IF;
    IF cardinality(new_key) > 0 THEN
      INSERT INTO {schema}.rows
        SELECT w.k, call_number, w.d FROM unnest(new_of, new_key, new_document) AS w (b, k, d)
        WHERE lost IS NULL OR w.b <> ALL (lost);
    END IF;
    IF cardinality(kept_key) > 0 THEN
      UPDATE {schema}.rows r SET version = call_number, document = w.d
        FROM unnest(kept_of, kept_key, kept_document) AS w (b, k, d)
        WHERE r.key = w.k AND (lost IS NULL OR w.b <> ALL (lost));
    END IF;
    IF cardinality(put_key) > 0 THEN
      INSERT INTO {schema}.rows
        SELECT w.k, call_number, w.d FROM unnest(put_of, put_key, put_document) AS w (b, k, d)
        WHERE lost IS NULL OR w.b <> ALL (lost)
        ON CONFLICT (key) DO UPDATE SET version = excluded.version, document = excluded.document;
    END IF;
    IF cardinality(gone_key) > 0 THEN
      DELETE FROM {schema}.rows r USING unnest(gone_of, gone_key) AS w (b, k)
        WHERE r.key = w.k AND (lost IS NULL OR w.b <> ALL (lost));
    END IF;
  END IF;
  RETURN QUERY SELECT * FROM unnest(lost, places);
END $$;

-- Tells what became of calls without an answer, and keeps those that were not applied from being so later: the
-- insert waits for a call that is under way. It always writes, so that its answer waits for a standby as well.
CREATE FUNCTION {schema}.settle(calls_in_doubt bigint[])
RETURNS TABLE (call_number bigint, was_applied boolean, lost_batches integer[], lost_places bigint[])
LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY INSERT INTO {schema}.calls AS c (number, applied)
    SELECT d.n, false FROM unnest(calls_in_doubt) AS d (n) ORDER BY d.n
    ON CONFLICT (number) DO UPDATE SET applied = c.applied
    RETURNING c.number, c.applied, c.lost, c.places;
END $$;
