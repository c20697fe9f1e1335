import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client, newClient, recordingFetch } from './client.mjs';
import { all, unique } from './fixtures.mjs';

const named = async (name) => (await all(client.items.list())).filter((item) => item.name === name);

test('a key has one effect, and the same answer again', async () => {
  const name = unique('item');
  const idempotencyKey = unique('key');
  const create = (body) => client.items.create(body, { idempotencyKey }).withResponse();
  const first = await create({ name });
  const again = await create({ name });
  assert.deepEqual(again.data, first.data);
  assert.equal(first.response.headers.get('idempotent-replayed'), null);
  assert.equal(again.response.headers.get('idempotent-replayed'), 'true');
  for (const { response } of [first, again]) {
    assert.equal(response.status, 201);
    assert.equal(response.headers.get('idempotency-key'), idempotencyKey);
  }
  assert.equal((await named(name)).length, 1);
});

/** A client whose first answers get lost: the server sees every request. */
function unlucky(...losses) {
  const keys = [];
  const fetch = async (url, init) => {
    const response = await recordingFetch(url, init);
    keys.push(new Headers(init.headers).get('idempotency-key'));
    const loss = losses.shift();
    return loss ? loss(response) : response;
  };
  return { keys, client: newClient({ fetch, maxRetries: 3 }) };
}

const lost = (status) => () =>
  new Response('{}', { status, headers: { 'retry-after-ms': '1' } });

for (const status of [408, 409, 429, 500, 503]) {
  test(`an answer that was lost to a ${status} is asked for again under its key`, async () => {
    const name = unique('item');
    const { keys, client: retrying } = unlucky(lost(status), lost(status));
    const { data, response } = await retrying.items.create({ name }).withResponse();
    assert.equal(data.name, name);
    assert.equal(response.headers.get('idempotent-replayed'), 'true');
    assert.equal(keys.length, 3);
    assert.equal(new Set(keys).size, 1);
    assert.ok(keys[0]);
    assert.equal((await named(name)).length, 1);
  });
}

test('a connection that broke is tried again under the same key', async () => {
  const name = unique('item');
  const broken = () => {
    throw new TypeError('the connection broke');
  };
  const { keys, client: retrying } = unlucky(broken);
  await retrying.items.create({ name });
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
  assert.equal((await named(name)).length, 1);
});

test('a key with another payload is a conflict that is not tried again', async () => {
  const idempotencyKey = unique('key');
  const { keys, client: retrying } = unlucky();
  await retrying.items.create({ name: unique('item') }, { idempotencyKey });
  const other = retrying.items.create({ name: unique('item') }, { idempotencyKey });
  await assert.rejects(other, Orb.ResourceConflict);
  assert.equal(keys.length, 2);
});
