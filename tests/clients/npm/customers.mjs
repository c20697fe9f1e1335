import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import { DAY, all, ids, instant, newCustomer, newSubscription, unique, use } from './fixtures.mjs';

test('a customer is created, read and changed, by both ids', async () => {
  const external = `${unique('customer')}/a b?c#d%25é`;
  const address = {
    line1: '1 Main Street', line2: null, city: 'Berlin', state: null, postal_code: '10115', country: 'DE',
  };
  const created = await newCustomer({
    external_customer_id: external,
    timezone: 'Europe/Berlin',
    currency: 'USD',
    billing_address: address,
    metadata: { a: '1' },
  });
  assert.equal(created.external_customer_id, external);
  assert.equal(created.timezone, 'Europe/Berlin');
  assert.deepEqual(created.billing_address, address);
  assert.deepEqual(await client.customers.fetch(created.id), created);
  assert.deepEqual(await client.customers.fetchByExternalID(external), created);

  const changed = await client.customers.update(created.id, { name: 'other', metadata: { b: '2' } });
  assert.equal(changed.name, 'other');
  assert.deepEqual(changed.metadata, { a: '1', b: '2' });
  const again = await client.customers.updateByExternalID(external, { metadata: null });
  assert.deepEqual(again.metadata, {});
});

test('a customer is deleted', async () => {
  const { id } = await newCustomer();
  await client.customers.delete(id);
  await assert.rejects(client.customers.fetch(id), Orb.ResourceNotFound);
});

test('usage of a child counts for a subscription of its parent', async () => {
  const { customer: parent, plan } = await newSubscription();
  const child = await newCustomer({
    external_customer_id: unique('child'), hierarchy: { parent_customer_id: parent.id },
  });
  assert.equal(child.hierarchy.parent.id, parent.id);
  const { hierarchy } = await client.customers.fetch(parent.id);
  assert.deepEqual(ids(hierarchy.children), [child.id]);
  const created = await client.subscriptions.create({
    customer_id: parent.id, plan_id: plan.id, usage_customer_ids: [child.id],
  });
  for (const interval of created.price_intervals) {
    assert.deepEqual(interval.usage_customer_ids, [child.id]);
  }
  await use(child, 10);
  const timeframe = { timeframe_start: instant(-DAY), timeframe_end: instant(DAY) };
  const costs = await client.subscriptions.fetchCosts(created.id, timeframe);
  const usage = costs.data.at(-1).per_price_costs.find(({ price }) => price.price_type === 'usage_price');
  assert.equal(Number(usage.total), 5);
});

test('customers are listed to the end, and by their time', async () => {
  const created = [];
  for (let n = 0; n < 3; n += 1) created.push(await newCustomer());
  const walked = ids(await all(client.customers.list({ limit: 1 })));
  for (const { id } of created) assert.ok(walked.includes(id));
  const since = client.customers.list({ 'created_at[gte]': created[1].created_at, limit: 1 });
  assert.ok(ids(await all(since)).includes(created[2].id));
});

test('what a customer costs, by both ids', async () => {
  const { customer } = await newSubscription();
  await use(customer, 10);
  const timeframe = { timeframe_start: instant(-DAY), timeframe_end: instant(DAY) };
  const costs = await client.customers.costs.list(customer.id, timeframe);
  const last = costs.data.at(-1);
  assert.ok(Number(last.total) >= 5, JSON.stringify(last));
  assert.ok(last.per_price_costs.length > 0);
  const external = customer.external_customer_id;
  const daily = { ...timeframe, view_mode: 'periodic' };
  const same = await client.customers.costs.listByExternalID(external, daily);
  assert.ok(same.data.length > 0);
});

test('a customer is given sessions in the portal, by both ids', async () => {
  const customer = await newCustomer({ external_customer_id: unique('external') });
  const { customers } = client;
  const session = await customers.createPortalSession(customer.id, { expires_in_minutes: 90 });
  assert.equal(session.customer_id, customer.id);
  assert.equal(Date.parse(session.expires_at) - Date.parse(session.created_at), 90 * 60 * 1000);
  assert.ok(session.url.startsWith('https://portal.example.com/?token='), session.url);
  const other = await customers.createPortalSessionByExternalID(customer.external_customer_id, {});
  assert.notEqual(other.url, session.url);
});

test('a customer has the payment methods of its gateway', async () => {
  const customer = await newCustomer({
    external_customer_id: unique('external'),
    payment_provider: 'stripe_charge', payment_provider_id: 'cus_4242424242424242',
  });
  assert.equal(customer.default_payment_method, null);
  const { customers } = client;
  await customers.syncPaymentMethodsFromGateway(customer.id);
  const external = customer.external_customer_id;
  const synced = await customers.fetchByExternalID(external);
  assert.equal(synced.default_payment_method.external_payment_method_id, 'pm_4242424242424242');
  assert.equal(synced.default_payment_method.default, true);
  await customers.syncPaymentMethodsFromGatewayByExternalCustomerID(external);
  assert.deepEqual(await customers.fetch(customer.id), synced);
  const cleared = await customers.update(customer.id, { default_payment_method_id: null });
  assert.equal(cleared.default_payment_method, null);
  await assert.rejects(
    customers.syncPaymentMethodsFromGateway((await newCustomer()).id),
    Orb.ConstraintViolation,
  );
});
