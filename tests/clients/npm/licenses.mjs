import assert from 'node:assert/strict';
import { test } from 'node:test';

import { client } from './client.mjs';
import {
  all, fee, ids, instant, newCustomer, newMetric, unique, usagePrice, use,
} from './fixtures.mjs';

/** The day of an instant, so many seconds from now. */
const day = (seconds = 0) => instant(seconds).slice(0, 10);

/** A subscription to a plan of two seats, and of their usage. */
async function licensed() {
  const metric = await newMetric();
  const type = await client.licenseTypes.create({ name: unique('type'), grouping_key: 'user' });
  const of = { license_type_id: type.id };
  const prices = [
    { price: fee(metric.item, { fixed_price_quantity: 2, ...of }) },
    { price: usagePrice(metric, of) },
  ];
  const plan = await client.plans.create({ name: unique('plan'), currency: 'USD', prices });
  const customer = await newCustomer();
  const subscription = await client.subscriptions.create({
    plan_id: plan.id,
    customer_id: customer.id,
  });
  return { type, plan, customer, subscription };
}

test('license types are created, read and listed', async () => {
  const { type, plan } = await licensed();
  assert.deepEqual(await client.licenseTypes.retrieve(type.id), type);
  const later = await client.licenseTypes.create({ name: unique('type'), grouping_key: 'seat' });
  const listed = ids(await all(client.licenseTypes.list({ limit: 1 })));
  assert.deepEqual(listed.filter((id) => [type.id, later.id].includes(id)).sort(), [type.id, later.id].sort());
  assert.deepEqual(plan.prices.map(({ license_type }) => license_type), [type, type]);
});

test('licenses are given out, found, listed and taken back', async () => {
  const { type, subscription } = await licensed();
  const of = { subscription_id: subscription.id, license_type_id: type.id };
  const external = `${unique('user')}/a b`;
  const license = await client.licenses.create({ ...of, external_license_id: external });
  assert.deepEqual([license.status, license.end_date], ['active', null]);
  assert.deepEqual(await client.licenses.retrieve(license.id), license);
  assert.deepEqual(await client.licenses.retrieveByExternalID(external, of), license);
  const { subscription_id } = of;
  const page = client.licenses.list({ subscription_id, status: 'active', limit: 1 });
  assert.deepEqual(ids(await all(page)), [license.id]);
  const ended = await client.licenses.deactivate(license.id, { end_date: day() });
  assert.equal(ended.status, 'inactive');
});

test('usage of licenses is by license and by day', async () => {
  const { type, customer, subscription } = await licensed();
  const of = { subscription_id: subscription.id, license_type_id: type.id };
  const external_license_id = unique('user');
  const license = await client.licenses.create({ ...of, external_license_id });
  await use(customer, 4, { properties: { amount: 4, user: external_license_id } });
  const { data } = await client.licenses.usage.getAllUsage(of);
  const [row] = data;
  assert.deepEqual([row.license_id, row.consumed_credits, row.pricing_unit], [license.id, 2, 'USD']);
  const one = await client.licenses.usage.getUsage(license.id);
  const active = await client.licenses.externalLicenses.getUsage(external_license_id, of);
  assert.deepEqual([one.data, active.data], [data, data]);
  const range = { start_date: day(), end_date: day(86_400), group_by: 'day' };
  const days = await client.licenses.usage.getAllUsage({ ...of, ...range });
  assert.deepEqual(days.data.map((of) => [of.license_id, of.consumed_credits]), [[null, 2]]);
});

test('licenses draw from their allocations', async () => {
  const metric = await newMetric();
  const type = await client.licenseTypes.create({ name: unique('type'), grouping_key: 'user' });
  const of = { license_type_id: type.id };
  const license_allocation_price = {
    ...fee(metric.item, { fixed_price_quantity: 2, ...of }),
    license_allocations: [{ currency: 'USD', amount: '100', write_off_overage: true }],
  };
  const plan = await client.plans.create({
    name: unique('plan'),
    currency: 'USD',
    prices: [{ license_allocation_price }, { price: usagePrice(metric, of) }],
  });
  assert.deepEqual(plan.prices.map(({ license_type }) => license_type), [type, type]);
  const customer = await newCustomer();
  const subscription = await client.subscriptions.create({
    plan_id: plan.id,
    customer_id: customer.id,
  });
  const named = { subscription_id: subscription.id, license_type_id: type.id };
  const external_license_id = unique('user');
  await client.licenses.create({ ...named, external_license_id });
  await use(customer, 4, { properties: { amount: 4, user: external_license_id } });
  const { data: [row] } = await client.licenses.usage.getAllUsage(named);
  const { allocated_credits, consumed_credits, remaining_credits } = row;
  assert.deepEqual([allocated_credits, consumed_credits, remaining_credits], [100, 2, 98]);
});
