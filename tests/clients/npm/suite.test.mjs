// Every operation that the server serves, driven by the published client.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { driven, served } from './client.mjs';

import './webhooks.mjs';
import './items.mjs';
import './metrics.mjs';
import './prices.mjs';
import './dimensional-price-groups.mjs';
import './plans.mjs';
import './customers.mjs';
import './credits.mjs';
import './subscriptions.mjs';
import './subscription-changes.mjs';
import './licenses.mjs';
import './coupons.mjs';
import './events.mjs';
import './backfills.mjs';
import './alerts.mjs';
import './credit-notes.mjs';
import './invoices.mjs';
import './idempotency.mjs';
import './errors.mjs';

// Of what no operation makes, so that the server has none: hosts migrate plans through the library.
const UNMADE = ['/plans/{plan_id}/migrations/{migration_id}', '/plans/{plan_id}/migrations/{migration_id}/cancel'];

// The last test: those of a file run one after another.
test('every operation that is served was driven', () => {
  const missing = served.map(({ name }) => name).filter((name) => !driven.has(name));
  assert.deepEqual(missing.sort(), [`GET ${UNMADE[0]}`, `POST ${UNMADE[1]}`]);
  assert.ok(served.length > 0);
});
