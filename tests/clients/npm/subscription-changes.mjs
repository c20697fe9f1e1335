import assert from 'node:assert/strict';
import { test } from 'node:test';

import { client } from './client.mjs';
import { all, ids, newCustomer, newPlan, newSubscription } from './fixtures.mjs';

const { subscriptionChanges: changes } = client;
const waits = { headers: { 'Create-Pending-Subscription-Change': 'true' } };

test('a subscription is staged, and created when that is applied', async () => {
  const { plan } = await newPlan();
  const customer = await newCustomer();
  const create = { plan_id: plan.id, customer_id: customer.id };
  const staged = await client.subscriptions.create(create, waits);
  const { id } = staged.pending_subscription_change;
  assert.ok(staged.changed_resources);
  await assert.rejects(client.subscriptions.fetch(staged.id), { status: 404 });
  const shown = await changes.retrieve(id);
  assert.deepEqual([shown.status, shown.change_type], ['pending', 'create_subscription']);
  assert.equal(shown.subscription.id, staged.id);
  const pending = changes.list({ customer_id: customer.id, status: 'pending', limit: 1 });
  assert.deepEqual(ids(await all(pending)), [id]);
  const applied = await changes.apply(id, {
    previously_collected_amount: '25.00',
    mark_as_paid: true,
    payment_notes: 'cash',
  });
  assert.deepEqual([applied.status, applied.subscription.id], ['applied', staged.id]);
  assert.equal((await client.subscriptions.fetch(staged.id)).id, staged.id);
  await assert.rejects(changes.cancel(id), { status: 400 });
});

test('another quantity is staged and cancelled, and the subscription goes on', async () => {
  const { subscription } = await newSubscription();
  const fixed = subscription.price_intervals.find(({ price }) => price.price_type === 'fixed_price');
  const more = { price_id: fixed.price.id, quantity: 5 };
  const staged = await client.subscriptions.updateFixedFeeQuantity(subscription.id, more, waits);
  const { id } = staged.pending_subscription_change;
  const now = await client.subscriptions.fetch(subscription.id);
  assert.equal(now.pending_subscription_change.id, id);
  await assert.rejects(client.subscriptions.updateFixedFeeQuantity(subscription.id, more), { status: 400 });
  const cancelled = await changes.cancel(id);
  assert.deepEqual([cancelled.status, cancelled.subscription.id], ['cancelled', subscription.id]);
  await client.subscriptions.updateFixedFeeQuantity(subscription.id, more);
});
