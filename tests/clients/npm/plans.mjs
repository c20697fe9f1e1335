import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import { all, fee, ids, newPlan, unique, usagePrice } from './fixtures.mjs';

test('a plan is created, read and changed, by both ids', async () => {
  const external = `${unique('plan')}/a b`;
  const { plan } = await newPlan({ external_plan_id: external, description: 'd', metadata: { a: '1' } });
  assert.equal(plan.external_plan_id, external);
  assert.equal(plan.status, 'active');
  assert.equal(plan.version, 1);
  assert.equal(plan.prices.length, 2);
  assert.deepEqual(await client.plans.fetch(plan.id), plan);
  assert.deepEqual(await client.plans.externalPlanID.fetch(external), plan);

  const changed = await client.plans.update(plan.id, { metadata: { b: '2' } });
  assert.deepEqual(changed.metadata, { a: '1', b: '2' });
  const again = await client.plans.externalPlanID.update(external, { metadata: { a: null } });
  assert.deepEqual(again.metadata, { b: '2' });
});

test('plans are listed to the end', async () => {
  const created = [(await newPlan()).plan.id, (await newPlan()).plan.id];
  const walked = ids(await all(client.plans.list({ limit: 1, status: 'active' })));
  for (const id of created) assert.ok(walked.includes(id));
});

test('a plan has versions, and one that is the default, by both ids', async () => {
  const external = unique('plan');
  const { plan, metric } = await newPlan({ external_plan_id: external });
  const second = await client.beta.createPlanVersion(plan.id, {
    version: 2,
    add_prices: [{ price: fee(metric.item) }],
  });
  assert.equal(second.version, 2);
  assert.equal(second.prices.length, 3);
  const third = await client.beta.externalPlanID.createPlanVersion(external, {
    version: 3,
    replace_prices: [{ replaces_price_id: second.prices[0].id, price: usagePrice(metric) }],
  });
  assert.equal(third.version, 3);
  assert.deepEqual(await client.beta.fetchPlanVersion('2', { plan_id: plan.id }), second);
  assert.deepEqual(
    await client.beta.externalPlanID.fetchPlanVersion('3', { external_plan_id: external }),
    third,
  );
  const two = await client.beta.setDefaultPlanVersion(plan.id, { version: 2 });
  assert.equal(two.version, 2);
  const three = await client.beta.externalPlanID.setDefaultPlanVersion(external, { version: 3 });
  assert.equal(three.version, 3);
});

test('a plan has no migrations yet', async () => {
  const { plan } = await newPlan();
  // No operation makes one: hosts do, through the library.
  assert.deepEqual(await all(client.plans.migrations.list(plan.id)), []);
  const unknown = { plan_id: plan.id };
  for (const call of ['retrieve', 'cancel']) {
    await assert.rejects(client.plans.migrations[call](plan.id, unknown), Orb.ResourceNotFound);
  }
});
