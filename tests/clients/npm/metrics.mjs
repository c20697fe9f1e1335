import assert from 'node:assert/strict';
import { test } from 'node:test';

import { client } from './client.mjs';
import { DAY, all, ids, instant, newItem, newMetric, unique } from './fixtures.mjs';

test('a metric is created, read, changed, archived and brought back', async () => {
  const item = await newItem();
  const created = await client.metrics.create({
    name: unique('metric'),
    description: 'what was used',
    item_id: item.id,
    sql: "SELECT sum(amount) FROM events WHERE event_name = 'usage'",
    metadata: { a: '1' },
  });
  assert.equal(created.status, 'active');
  assert.equal(created.description, 'what was used');
  assert.equal(created.item.id, item.id);
  assert.deepEqual(await client.metrics.fetch(created.id), created);

  const changed = await client.metrics.update(created.id, { metadata: { a: null, b: '2' } });
  assert.deepEqual(changed.metadata, { b: '2' });

  // The client of npm has no methods for these two.
  const archived = await client.post(`/metrics/${created.id}/archive`);
  assert.equal(archived.status, 'archived');
  const back = await client.post(`/metrics/${created.id}/unarchive`);
  assert.equal(back.status, 'active');
});

test('metrics are listed to the end, and by their time', async () => {
  const item = await newItem();
  const created = [];
  for (let n = 0; n < 3; n += 1) created.push(await newMetric(undefined, item));
  const walked = ids(await all(client.metrics.list({ limit: 1 })));
  for (const { id } of created) assert.ok(walked.includes(id));
  const since = await all(client.metrics.list({ 'created_at[gte]': instant(-DAY) }));
  assert.deepEqual(ids(since), walked);
  assert.deepEqual(await all(client.metrics.list({ 'created_at[gt]': instant(DAY) })), []);
});
