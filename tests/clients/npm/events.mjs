import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import { DAY, ids, instant, newCustomer, search, unique } from './fixtures.mjs';

const event = (more = {}) => ({
  idempotency_key: unique('event'),
  event_name: 'request',
  timestamp: instant(),
  properties: { tokens: 12.5, model: 'small', cached: false },
  external_customer_id: 'somebody',
  ...more,
});

test('events are ingested, and again, and found', async () => {
  const events = [event(), event({ idempotency_key: 'with/slash and space' })];
  for (let n = 0; n < 2; n += 1) {
    assert.deepEqual((await client.events.ingest({ events })).validation_failed, []);
  }
  const event_ids = events.map(({ idempotency_key }) => idempotency_key);
  const found = await search(...event_ids);
  assert.deepEqual(ids(found).sort(), [...event_ids].sort());
  const [first] = found;
  assert.equal(first.external_customer_id, 'somebody');
  assert.deepEqual(first.properties, { tokens: 12.5, model: 'small', cached: false });
  assert.equal(first.deprecated, false);
  assert.deepEqual(await search('nothing'), []);
});

test('an event that is refused names its key', async () => {
  const good = event();
  const bad = event({ properties: { nested: { a: 1 } } });
  const refused = client.events.ingest({ events: [good, bad] });
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof Orb.RequestValidationError);
    assert.ok(JSON.stringify(error.error).includes(bad.idempotency_key), error.message);
    return true;
  });
  assert.deepEqual(await search(good.idempotency_key), []);
});

test('events are counted by the hour', async () => {
  await client.events.ingest({ events: [event(), event()] });
  const volume = await client.events.volume.list({ timeframe_start: instant(-DAY) });
  const count = volume.data.reduce((sum, row) => sum + row.count, 0);
  assert.ok(count >= 2);
});

test('an event is amended, deprecated and found, and its key does not come again', async () => {
  const customer = await newCustomer({ external_customer_id: unique('external') });
  const external_customer_id = customer.external_customer_id;
  const sent = event({ idempotency_key: unique('with/slash?#% and space'), external_customer_id });
  const id = sent.idempotency_key;
  await client.events.ingest({ events: [sent] });
  const found = async () => (await search(id))[0];

  const { event_name, timestamp } = sent;
  const said = { event_name, timestamp, properties: { tokens: 20 }, customer_id: customer.id };
  assert.deepEqual(await client.events.update(id, said), { amended: id });
  assert.deepEqual((await found()).properties, { tokens: 20 });
  assert.equal((await found()).deprecated, false);

  assert.deepEqual(await client.events.deprecate(id), { deprecated: id });
  assert.equal((await found()).deprecated, true);
  const again = client.events.ingest({ events: [sent] });
  await assert.rejects(again, Orb.RequestValidationError);
  await assert.rejects(client.events.deprecate('nothing'), Orb.ResourceNotFound);
});
