import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import { all, ids, instant, newSubscription, search, unique, use } from './fixtures.mjs';

const HOUR = 3_600;

const around = (more = {}) => ({
  timeframe_start: instant(-HOUR),
  timeframe_end: instant(HOUR),
  ...more,
});

/** Reads a backfill until it has come to a status, which it does by itself. */
async function reaches(id, status) {
  for (let n = 0; n < 300; n += 1) {
    const backfill = await client.events.backfills.fetch(id);
    if (backfill.status === status) return backfill;
    await pause(100);
  }
  assert.fail(`the backfill ${id} is not ${status}`);
}

test('a backfill counts once it is reflected, and no longer once it is reverted', async () => {
  const { customer, subscription } = await newSubscription();
  const used = async () => {
    const { data } = await client.subscriptions.fetchUsage(subscription.id);
    return data[0].usage.reduce((sum, { quantity }) => sum + quantity, 0);
  };
  const key = unique('event/a b');
  await use(customer, 5, { idempotency_key: key });
  const isDeprecated = async () => (await search(key))[0].deprecated;

  const created = await client.events.backfills.create(
    around({ customer_id: customer.id, deprecation_filter: 'amount < 100' }),
  );
  assert.equal(created.status, 'pending');
  assert.equal(created.customer_id, customer.id);
  assert.equal(created.deprecation_filter, 'amount < 100');
  assert.equal(created.replace_existing_events, true);
  assert.equal(created.events_ingested, 0);
  assert.equal(created.reverted_at, null);
  assert.ok(Date.parse(created.close_time) > Date.parse(instant()));

  const event = {
    idempotency_key: unique('event'),
    event_name: 'usage',
    timestamp: instant(),
    properties: { amount: 7 },
    customer_id: customer.id,
  };
  const batch = { backfill_id: created.id, events: [event] };
  assert.deepEqual((await client.events.ingest(batch)).validation_failed, []);
  assert.equal((await client.events.backfills.fetch(created.id)).events_ingested, 1);
  assert.equal(await used(), 5);

  const closed = await client.events.backfills.close(created.id);
  assert.ok(Date.parse(closed.close_time) <= Date.parse(instant()));
  const reflected = await reaches(created.id, 'reflected');
  assert.equal(reflected.events_ingested, 1);
  assert.equal(await used(), 7);
  assert.equal(await isDeprecated(), true);
  await assert.rejects(client.events.ingest(batch), Orb.ConstraintViolation);

  const reverted = await client.events.backfills.revert(created.id);
  assert.ok(['pending_revert', 'reverted'].includes(reverted.status));
  assert.notEqual((await reaches(created.id, 'reverted')).reverted_at, null);
  assert.equal(await used(), 5);
  assert.equal(await isDeprecated(), false);
});

test('a backfill for all customers is reverted at once before it is closed', async () => {
  const created = await client.events.backfills.create(
    around({ replace_existing_events: false, close_time: instant(HOUR) }),
  );
  assert.equal(created.customer_id, null);
  assert.equal(created.deprecation_filter, null);
  await assert.rejects(client.events.backfills.create(around()), Orb.ConstraintViolation);
  const reverted = await client.events.backfills.revert(created.id);
  assert.equal(reverted.status, 'reverted');
  assert.equal(reverted.close_time, null);
});

test('backfills are listed to the end', async () => {
  const created = [];
  for (let n = 0; n < 3; n += 1) {
    const backfill = await client.events.backfills.create(around());
    created.unshift(backfill.id);
    await client.events.backfills.revert(backfill.id);
  }
  const walked = ids(await all(client.events.backfills.list({ limit: 1 })));
  for (const id of created) assert.ok(walked.includes(id));
  assert.deepEqual(ids(await all(client.events.backfills.list())), walked);
});

test('a filter that cannot be read is told with its place', async () => {
  const refused = client.events.backfills.create(around({ deprecation_filter: 'amount >' }));
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof Orb.RequestValidationError);
    assert.match(error.error.validation_errors[0], /^\/deprecation_filter: at character 9: /);
    return true;
  });
});
