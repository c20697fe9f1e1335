// What most tests need first.

import { client } from './client.mjs';

let count = 0;

/** A name that nothing else has. */
export const unique = (word) => `${word}-${(count += 1)}`;

/** What the clock of the server shows, which stands still until it is moved. */
let clock = Date.parse((await client.get('/clock')).now);

/** An instant, so many seconds from now. */
export const instant = (seconds = 0) => new Date(clock + seconds * 1000).toISOString();

export const DAY = 86_400;

/** Moves the clock of the server by so many seconds: it does what is due by then. */
export async function wait(seconds) {
  const { now } = await client.put('/clock', { body: { now: instant(seconds) } });
  clock = Date.parse(now);
}

export const newItem = () => client.items.create({ name: unique('item') });

export async function newMetric(sql = 'SELECT sum(amount) FROM events', item) {
  const { id } = item ?? (await newItem());
  return client.metrics.create({ name: unique('metric'), description: null, item_id: id, sql });
}

export const newCustomer = (more = {}) =>
  client.customers.create({ name: unique('customer'), email: 'billing@example.com', ...more });

/** The parameters of a price in arrears on a metric. */
export const usagePrice = (metric, more = {}) => ({
  name: unique('price'),
  model_type: 'unit',
  cadence: 'monthly',
  item_id: metric.item.id,
  billable_metric_id: metric.id,
  unit_config: { unit_amount: '0.50' },
  ...more,
});

/** The parameters of a fixed fee in advance. */
export const fee = (item, more = {}) => ({
  name: unique('fee'),
  model_type: 'unit',
  cadence: 'monthly',
  item_id: item.id,
  unit_config: { unit_amount: '20.00' },
  fixed_price_quantity: 1,
  billed_in_advance: true,
  ...more,
});

/** A plan of a fee and of a price on usage. */
export async function newPlan(more = {}) {
  const metric = await newMetric();
  const prices = [{ price: usagePrice(metric) }, { price: fee(metric.item) }];
  const plan = await client.plans.create({ name: unique('plan'), currency: 'USD', prices, ...more });
  return { plan, metric };
}

/** A customer that is subscribed to a plan of its own. */
export async function newSubscription(more = {}) {
  const { plan, metric } = await newPlan();
  const customer = await newCustomer({ external_customer_id: unique('external') });
  const subscription = await client.subscriptions.create({
    plan_id: plan.id,
    customer_id: customer.id,
    ...more,
  });
  return { plan, metric, customer, subscription };
}

/** Sends an event of a customer. */
export const use = (customer, amount, more = {}) =>
  client.events.ingest({
    events: [
      {
        idempotency_key: unique('event'),
        event_name: 'usage',
        timestamp: instant(),
        properties: { amount },
        customer_id: customer.id,
        ...more,
      },
    ],
  });

/** Finds events by their ids: also those of this instant, at which the clock stands. */
export async function search(...event_ids) {
  const { data } = await client.events.search({ event_ids, timeframe_end: instant(1) });
  return data;
}

/** Walks a list to its end. */
export async function all(list) {
  const rows = [];
  for await (const row of list) rows.push(row);
  return rows;
}

export const ids = (rows) => rows.map(({ id }) => id);
