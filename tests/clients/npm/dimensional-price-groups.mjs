import assert from 'node:assert/strict';
import { test } from 'node:test';

import { client } from './client.mjs';
import { all, ids, newMetric, unique, usagePrice } from './fixtures.mjs';

async function newGroup(more = {}) {
  const metric = await newMetric();
  const group = await client.dimensionalPriceGroups.create({
    name: unique('group'),
    billable_metric_id: metric.id,
    dimensions: ['region', 'tier'],
    ...more,
  });
  return { group, metric };
}

test('a dimensional price group is created, read, changed and listed, by both ids', async () => {
  const external = `${unique('group')}/a b`;
  const more = { external_dimensional_price_group_id: external, metadata: { a: '1' } };
  const { group, metric } = await newGroup(more);
  assert.deepEqual([group.billable_metric_id, group.dimensions], [metric.id, ['region', 'tier']]);
  const { dimensionalPriceGroups: groups } = client;
  assert.deepEqual(await groups.retrieve(group.id), group);
  const byExternalID = groups.externalDimensionalPriceGroupID;
  assert.deepEqual(await byExternalID.retrieve(external), group);
  const changed = await groups.update(group.id, { metadata: { b: '2' } });
  assert.deepEqual(changed.metadata, { a: '1', b: '2' });
  const again = await byExternalID.update(external, { metadata: { a: null } });
  assert.deepEqual(again.metadata, { b: '2' });
  assert.ok(ids(await all(groups.list({ limit: 1 }))).includes(group.id));
});

test('prices are of a dimensional price group', async () => {
  const { group, metric } = await newGroup();
  const configuration = { dimensional_price_group_id: group.id, dimension_values: ['eu', 'gold'] };
  const { billable_metric_id, ...rest } = usagePrice(metric, { currency: 'USD' });
  const price = await client.prices.create({ ...rest, dimensional_price_configuration: configuration });
  assert.deepEqual(price.dimensional_price_configuration, configuration);
  assert.equal(price.billable_metric.id, metric.id);

  // The client of npm has no methods for the prices of a group.
  const path = `/dimensional_price_groups/${group.id}/prices`;
  const body = {
    model_type: 'unit',
    cadence: 'monthly',
    currency: 'USD',
    item_id: metric.item.id,
    prices: [
      { dimension_values: ['us', 'gold'], amounts: [0.03] },
      { dimension_values: ['us', 'silver'], amounts: [0.04], name: 'American silver' },
    ],
  };
  const { data: created } = await client.post(path, { body });
  assert.deepEqual(created.map(({ name }) => name), ['us, gold', 'American silver']);
  const { data: listed } = await client.get(path, { query: { status: 'active' } });
  assert.deepEqual(ids(listed).sort(), ids([price, ...created]).sort());
  assert.equal((await client.dimensionalPriceGroups.retrieve(group.id)).price_count, 3);
});
