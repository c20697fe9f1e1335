import assert from 'node:assert/strict';
import { test } from 'node:test';

import { client } from './client.mjs';
import { DAY, all, ids, instant, newCustomer, newMetric, unique, usagePrice, use } from './fixtures.mjs';

const newPrice = async (more = {}) => {
  const metric = await newMetric();
  return client.prices.create(usagePrice(metric, { currency: 'USD', ...more }));
};

test('a price is created, read and changed, by both ids', async () => {
  const external = `${unique('price')}/a b?c#d`;
  const created = await newPrice({ external_price_id: external, metadata: { a: '1' } });
  assert.equal(created.model_type, 'unit');
  assert.equal(created.unit_config.unit_amount, '0.50');
  assert.equal(created.external_price_id, external);
  assert.equal(created.currency, 'USD');
  assert.deepEqual(await client.prices.fetch(created.id), created);
  assert.deepEqual(await client.prices.externalPriceID.fetch(external), created);

  const changed = await client.prices.update(created.id, { metadata: { b: '2' } });
  assert.deepEqual(changed.metadata, { a: '1', b: '2' });
  const again = await client.prices.externalPriceID.update(external, { metadata: { a: null } });
  assert.deepEqual(again.metadata, { b: '2' });
});

test('every model of a price comes back as it was given', async () => {
  const metric = await newMetric();
  const models = {
    unit: { unit_config: { unit_amount: '0.1' } },
    package: { package_config: { package_amount: '3', package_size: 10 } },
    tiered: {
      tiered_config: {
        tiers: [
          { first_unit: 0, last_unit: 10, unit_amount: '1' },
          { first_unit: 10, last_unit: null, unit_amount: '0.5' },
        ],
      },
    },
    bulk: {
      bulk_config: {
        tiers: [{ maximum_units: 10, unit_amount: '1' }, { unit_amount: '0.5' }],
      },
    },
    matrix: {
      matrix_config: {
        dimensions: ['region', null],
        default_unit_amount: '1',
        matrix_values: [{ dimension_values: ['eu', null], unit_amount: '2' }],
      },
    },
  };
  for (const [model, config] of Object.entries(models)) {
    const { unit_config, ...rest } = usagePrice(metric, { currency: 'USD', model_type: model });
    const created = await client.prices.create({ ...rest, ...config });
    assert.equal(created.model_type, model);
    const name = `${model}_config`;
    assert.ok(created[name], name);
    assert.deepEqual(await client.prices.fetch(created.id), created);
  }
});

test('composite prices see the others, and conversion rates have tiers', async () => {
  const metric = await newMetric();
  const usage = usagePrice(metric, { unit_config: { unit_amount: '1' } });
  const { unit_config, billable_metric_id, ...common } = usagePrice(metric);
  const share = {
    ...common, name: 'share', model_type: 'percent',
    percent_config: { percent: 0.1, minimum_amount: '5', maximum_amount: '100' },
  };
  const least = {
    ...common, name: 'least', model_type: 'minimum_composite',
    minimum_composite_config: { minimum_amount: '50', prorated: true },
  };
  const tiers = [
    { first_unit: 0, last_unit: 3, unit_amount: '2.00' },
    { first_unit: 3, last_unit: null, unit_amount: '1.50' },
  ];
  const rates = { conversion_rate_type: 'tiered', tiered_config: { tiers } };
  const credits = { ...usage, name: 'credits', currency: 'credits', conversion_rate_config: rates };
  const prices = [usage, share, least, credits].map((price) => ({ price }));
  const plan = await client.plans.create({ name: unique('plan'), currency: 'USD', prices });
  const shown = (name) => plan.prices.find((price) => price.name === name);
  assert.deepEqual(['share', 'least'].map((name) => shown(name).price_type), ['composite_price', 'composite_price']);
  assert.equal(shown('share').percent_config.percent, 0.1);
  assert.equal(shown('least').minimum_composite_config.minimum_amount, '50');
  assert.deepEqual(shown('credits').conversion_rate_config, rates);
  assert.equal(shown('credits').conversion_rate, null);
  const customer = await newCustomer();
  const subscription = await client.subscriptions.create({ plan_id: plan.id, customer_id: customer.id });
  await use(customer, 4);
  const timeframe = { timeframe_start: instant(-DAY), timeframe_end: instant(DAY) };
  const costs = await client.subscriptions.fetchCosts(subscription.id, timeframe);
  // 4, a tenth of that, and 3 credits at 2.00 with one at 1.50.
  assert.equal(Number(costs.data.at(-1).subtotal), 11.9);
});

test('prices are listed to the end', async () => {
  const created = [(await newPrice()).id, (await newPrice()).id];
  const walked = ids(await all(client.prices.list({ limit: 1 })));
  for (const id of created) assert.ok(walked.includes(id));
});

test('a price is evaluated for a customer', async () => {
  const metric = await newMetric();
  const price = await client.prices.create(usagePrice(metric, { currency: 'USD' }));
  const customer = await newCustomer({ external_customer_id: unique('external') });
  await use(customer, 4, { properties: { amount: 4, region: 'eu' } });
  await use(customer, 6, { properties: { amount: 6, region: 'us' } });
  const timeframe = { timeframe_start: instant(-DAY), timeframe_end: instant(DAY) };
  const whole = await client.prices.evaluate(price.id, { ...timeframe, customer_id: customer.id });
  assert.deepEqual(whole.data.map(({ quantity }) => quantity), [10]);
  assert.equal(Number(whole.data[0].amount), 5);
  const grouped = await client.prices.evaluate(price.id, {
    ...timeframe,
    external_customer_id: customer.external_customer_id,
    filter: 'amount > 1',
    grouping_keys: ['region'],
  });
  assert.deepEqual(grouped.data.map(({ grouping_values }) => grouping_values).sort(), [['eu'], ['us']]);
});

test('several prices are evaluated at once, stored or not', async () => {
  const metric = await newMetric();
  const external = unique('price');
  const inline = usagePrice(metric, { currency: 'USD', unit_config: { unit_amount: '0.60' } });
  const price = await client.prices.create(
    usagePrice(metric, { currency: 'USD', external_price_id: external }),
  );
  const customer = await newCustomer();
  await use(customer, 4, { properties: { amount: 4, region: 'eu' } });
  await use(customer, 6, { properties: { amount: 6, region: 'us' } });
  const { data } = await client.prices.evaluateMultiple({
    timeframe_start: instant(-DAY),
    timeframe_end: instant(DAY),
    customer_id: customer.id,
    price_evaluations: [
      { price_id: price.id, grouping_keys: ['region'] },
      { external_price_id: external, filter: 'amount > 4' },
      { price: inline },
    ],
  });
  const shown = data.map(({ price_id, external_price_id, inline_price_index, currency }) =>
    [price_id, external_price_id, inline_price_index, currency]);
  assert.deepEqual(shown, [
    [price.id, external, null, 'USD'],
    [price.id, external, null, 'USD'],
    [null, null, 2, 'USD'],
  ]);
  const groups = data.map(({ price_groups }) =>
    price_groups.map(({ grouping_values, quantity, amount }) => [grouping_values, quantity, amount]));
  assert.deepEqual(groups, [
    [[['eu'], 4, '2.00'], [['us'], 6, '3.00']],
    [[[], 6, '3.00']],
    [[[], 10, '6.00']],
  ]);
});

test('events are rated that are not ingested', async () => {
  const metric = await newMetric();
  const price = await client.prices.create(usagePrice(metric, { currency: 'USD' }));
  const customer = await newCustomer({ external_customer_id: unique('external') });
  await use(customer, 4);
  const event = { event_name: 'usage', timestamp: instant(), properties: { amount: 5 } };
  const request = {
    timeframe_start: instant(-DAY),
    timeframe_end: instant(DAY),
    external_customer_id: customer.external_customer_id,
    price_evaluations: [{ price_id: price.id }],
  };
  const { data } = await client.prices.evaluatePreviewEvents({
    ...request,
    events: [event, event, { ...event, external_customer_id: unique('other') }],
  });
  assert.deepEqual(data[0].price_groups, [{ grouping_values: [], quantity: 10, amount: '5.00' }]);
  const ingested = await client.prices.evaluateMultiple(request);
  assert.equal(ingested.data[0].price_groups[0].quantity, 4);
});
