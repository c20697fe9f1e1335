import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import { all, ids, newCustomer, newSubscription, unique } from './fixtures.mjs';

const values = ({ thresholds }) => thresholds.map(({ value }) => value);

test('alerts of a customer, by both ids', async () => {
  const external = unique('external');
  const customer = await newCustomer({ external_customer_id: external });
  const dropped = await client.alerts.createForCustomer(customer.id, {
    type: 'credit_balance_dropped', currency: 'USD', thresholds: [{ value: 100 }, { value: 20.5 }],
  });
  assert.equal(dropped.type, 'credit_balance_dropped');
  assert.deepEqual(values(dropped).sort(), [100, 20.5]);
  assert.deepEqual(dropped.customer, { id: customer.id, external_customer_id: external });
  const depleted = await client.alerts.createForExternalCustomer(external, {
    type: 'credit_balance_depleted', currency: 'USD',
  });
  assert.equal(depleted.enabled, true);
  assert.deepEqual(await client.alerts.retrieve(depleted.id), depleted);

  const changed = await client.alerts.update(dropped.id, { thresholds: [{ value: 5 }] });
  assert.deepEqual(values(changed), [5]);
  assert.equal((await client.alerts.disable(dropped.id)).enabled, false);
  assert.equal((await client.alerts.enable(dropped.id)).enabled, true);

  const expected = [dropped.id, depleted.id].sort();
  const own = ids(await all(client.alerts.list({ customer_id: customer.id, limit: 1 })));
  assert.deepEqual(own.sort(), expected);
  const same = client.alerts.list({
    external_customer_id: external, 'created_at[gte]': dropped.created_at, limit: 1,
  });
  assert.deepEqual(ids(await all(same)).sort(), expected);

  await client.alerts.delete(depleted.id);
  await assert.rejects(client.alerts.retrieve(depleted.id), Orb.ResourceNotFound);
});

test('alerts on the cost of groups', async () => {
  const { subscription } = await newSubscription();
  const grouped = await client.alerts.createForSubscription(subscription.id, {
    type: 'cost_exceeded', currency: 'USD', thresholds: [{ value: 50 }], grouping_keys: ['team', 'region'],
    threshold_overrides: [{ group_keys: ['team'], group_values: ['ml'], thresholds: [{ value: 200 }] }],
  });
  assert.deepEqual(grouped.grouping_keys, ['team', 'region']);
  assert.deepEqual(grouped.threshold_overrides, [
    { group_keys: ['team'], group_values: ['ml'], thresholds: [{ value: 200 }] },
  ]);
  const thresholds = [{ value: 60 }];
  const kept = await client.alerts.update(grouped.id, { thresholds });
  assert.deepEqual(kept.threshold_overrides, grouped.threshold_overrides);
  const cleared = await client.alerts.update(grouped.id, { thresholds, threshold_overrides: [] });
  assert.equal(cleared.threshold_overrides, null);
});

test('alerts of a subscription and of its plan', async () => {
  const { plan, metric, subscription } = await newSubscription();
  const cost = await client.alerts.createForSubscription(subscription.id, {
    type: 'cost_exceeded', thresholds: [{ value: 100 }],
  });
  assert.deepEqual(cost.subscription, { id: subscription.id });
  // The client of npm has no method for this.
  const usage = await client.post(`/alerts/plan_id/${plan.id}`, {
    body: { type: 'usage_exceeded', metric_id: metric.id, thresholds: [{ value: 1000 }] },
  });
  assert.equal(usage.plan.id, plan.id);
  assert.deepEqual(usage.metric, { id: metric.id });
  const reached = ids(await all(client.alerts.list({ subscription_id: subscription.id, limit: 1 })));
  assert.deepEqual(reached.sort(), [cost.id, usage.id].sort());
  const query = { subscription_id: subscription.id };
  assert.equal((await client.alerts.disable(usage.id, query)).enabled, false);
  assert.equal((await client.alerts.retrieve(usage.id)).enabled, true);
  assert.equal((await client.alerts.enable(usage.id, query)).enabled, true);
});
