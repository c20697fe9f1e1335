import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import { ids, newCustomer, unique } from './fixtures.mjs';

/** An endpoint that keeps what it receives, and waits for messages that are of a customer. */
async function receiver() {
  const received = [];
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    received.push({ headers: request.headers, body: Buffer.concat(pieces).toString() });
    response.writeHead(204).end();
    server.emit('received');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/hook`;
  const next = async ({ id }) => {
    for (;;) {
      const found = received.find(({ body }) => JSON.parse(body).customer?.id === id);
      if (found) return found;
      await once(server, 'received', { signal: AbortSignal.timeout(30_000) });
    }
  };
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url, next, close };
}

// The client of npm has methods for signatures, and none for endpoints.
const path = ({ id }) => `/webhook_endpoints/${id}`;

// The first test: the clock of the server still shows about the time of the machine, which signatures are held against.
test('a message arrives, signed for both kinds of receivers', async () => {
  const { url, next, close } = await receiver();
  const endpoint = await client.post('/webhook_endpoints', { body: { url } });
  const { secret, ...rest } = endpoint;
  assert.deepEqual(await client.get(path(endpoint)), rest);

  const customer = await newCustomer();
  const { headers, body } = await next(customer);
  const event = client.webhooks.unwrap(body, headers, secret);
  assert.deepEqual([event.type, event.customer.name], ['customer.created', customer.name]);
  for (const wrong of [secret.slice(1), unique('secret')]) {
    assert.throws(() => client.webhooks.unwrap(body, headers, wrong), /signatures match/);
  }
  assert.throws(() => client.webhooks.unwrap(`${body} `, headers, secret), /signatures match/);

  const found = await client.get(`/webhook_events/${event.id}`);
  assert.deepEqual([found.type, found.payload.customer.id], [event.type, customer.id]);
  const query = { event_type: 'customer.created' };
  const { data } = await client.get('/webhook_events', { query });
  assert.ok(ids(data).includes(event.id));

  await client.delete(path(endpoint));
  await assert.rejects(client.get(path(endpoint)), Orb.ResourceNotFound);
  close();
});

test('an endpoint is changed, disabled, enabled and listed', async () => {
  const url = 'https://hooks.example.com/billing';
  const endpoint = await client.post('/webhook_endpoints', {
    body: { url, enabled_event_types: ['invoice.issued'], payload_style: 'standard' },
  });
  assert.deepEqual(endpoint.enabled_event_types, ['invoice.issued']);
  const changed = await client.put(path(endpoint), { body: { enabled_event_types: null } });
  assert.deepEqual([changed.enabled_event_types, changed.url], [null, url]);
  assert.equal((await client.post(`${path(endpoint)}/disable`)).enabled, false);
  assert.equal((await client.post(`${path(endpoint)}/enable`)).enabled, true);
  const { data } = await client.get('/webhook_endpoints', { query: { limit: 1 } });
  assert.deepEqual(ids(data), [endpoint.id]);
  await client.delete(path(endpoint));
});
