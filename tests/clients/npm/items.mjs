import assert from 'node:assert/strict';
import { test } from 'node:test';

import { client } from './client.mjs';
import { all, ids, newItem, unique, wait } from './fixtures.mjs';

test('ping answers', async () => {
  assert.deepEqual(await client.topLevel.ping(), { response: 'pong' });
});

test('an item is created, read, changed and archived', async () => {
  const name = unique('item');
  const created = await client.items.create({ name, metadata: { team: 'billing', old: 'yes' } });
  assert.equal(created.name, name);
  assert.deepEqual(created.external_connections, []);
  assert.deepEqual(created.metadata, { team: 'billing', old: 'yes' });
  assert.deepEqual(await client.items.fetch(created.id), created);

  const connection = { external_connection_name: 'bill.com', external_entity_id: 'e1' };
  const changed = await client.items.update(created.id, {
    external_connections: [connection],
    metadata: { old: null, new: 'yes' },
  });
  assert.deepEqual(changed.external_connections, [connection]);
  assert.deepEqual(changed.metadata, { team: 'billing', new: 'yes' });
  assert.deepEqual(await client.items.update(created.id, {}), changed);

  const archived = await client.items.archive(created.id);
  assert.ok(Date.parse(archived.archived_at) > 0);
});

test('items are listed to the end, newest first', async () => {
  // Later than those of the other tests.
  await wait(1);
  const created = [];
  for (let n = 0; n < 5; n += 1) created.push((await newItem()).id);
  const walked = ids(await all(client.items.list({ limit: 2 })));
  assert.deepEqual(walked.slice(0, 5).sort(), created.sort());
  assert.equal(new Set(walked).size, walked.length);

  const page = await client.items.list({ limit: 1 });
  assert.equal(page.data.length, 1);
  assert.equal(page.pagination_metadata.has_more, true);
  assert.equal(typeof page.pagination_metadata.next_cursor, 'string');
  assert.equal((await page.getNextPage()).data.length, 1);
});
