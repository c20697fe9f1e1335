import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client, newClient } from './client.mjs';
import { instant, newCustomer, newItem, newMetric, newPlan, unique, usagePrice } from './fixtures.mjs';

const TYPES = 'https://docs.withorb.com/reference/error-responses';

/** Expects an error of a class of the client, with a type and a status in its body. */
async function fails(promise, kind, anchor, status) {
  const error = await promise.then(
    () => assert.fail(`expected ${anchor}`),
    (error) => error,
  );
  assert.ok(error instanceof kind, `${error.constructor.name}: ${error.message}`);
  assert.equal(error.error.type, `${TYPES}#${anchor}`);
  assert.equal(error.error.status, status);
  assert.equal(typeof error.error.title, 'string');
  return error;
}

test('a key that is not known', async () => {
  const stranger = newClient({ apiKey: 'wrong' });
  const kind = Orb.OrbAuthenticationError;
  await fails(stranger.topLevel.ping(), kind, '401-authentication-error', 401);
  await fails(stranger.items.create({ name: 'x' }), kind, '401-authentication-error', 401);
});

test('a body that is malformed: everything that is wrong is listed', async () => {
  const wrong = client.items.create({ name: 7, metadata: { a: 1 }, colour: 'red' });
  const kind = Orb.RequestValidationError;
  const error = await fails(wrong, kind, '400-request-validation-errors', 400);
  assert.ok(error.error.validation_errors.length >= 3, error.message);
});

test('a query that is malformed', async () => {
  const kind = Orb.RequestValidationError;
  for (const query of [{ limit: 0 }, { cursor: 'x' }]) {
    await fails(client.items.list(query), kind, '400-request-validation-errors', 400);
  }
});

test('a rule that is broken', async () => {
  const { id } = await newItem();
  await client.items.archive(id);
  await fails(client.items.archive(id), Orb.ConstraintViolation, '400-constraint-violation', 400);
});

test('an external id that is taken', async () => {
  const external_customer_id = unique('external');
  await newCustomer({ external_customer_id });
  const again = newCustomer({ external_customer_id });
  const kind = Orb.DuplicateResourceCreation;
  await fails(again, kind, '400-duplicate-resource-creation', 400);
});

test('what is not there', async () => {
  const kind = Orb.ResourceNotFound;
  for (const id of ['nothing', '../x', 'a/b c?d#e']) {
    await fails(client.items.fetch(id), kind, '404-resource-not-found', 404);
    await fails(client.customers.fetchByExternalID(id), kind, '404-resource-not-found', 404);
  }
});

test('a path that is not served', async () => {
  await fails(client.get('/nothing'), Orb.URLNotFound, '404-url-not-found', 404);
  await fails(client.patch('/items'), Orb.URLNotFound, '404-url-not-found', 404);
});

// Status 404 with 400 in the body: the client of npm knows its own class by status 400 only.
test('a feature that is not there', async () => {
  const ahead = { price: usagePrice(await newMetric(), { billed_in_advance: true }) };
  await fails(newPlan({ prices: [ahead] }), Orb.NotFoundError, '404-feature-not-available', 400);
});

test('a request that is too large', async () => {
  const name = 'x'.repeat(21 * 1024 * 1024);
  await fails(client.items.create({ name }), Orb.RequestTooLarge, '413-request-too-large', 413);
});

test('a batch that is too large', async () => {
  const event = (n) => ({
    idempotency_key: unique(`event-${n}`), event_name: 'usage', timestamp: instant(),
    properties: {}, external_customer_id: 'many',
  });
  const events = Array.from({ length: 1001 }, (_, n) => event(n));
  const refused = client.events.ingest({ events });
  await fails(refused, Orb.ResourceTooLarge, '413-resource-too-large', 413);
});
