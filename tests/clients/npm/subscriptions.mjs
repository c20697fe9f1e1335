import assert from 'node:assert/strict';
import { test } from 'node:test';

import { client } from './client.mjs';
import { DAY, all, ids, instant, newCustomer, newMetric, newPlan, newSubscription, unique, usagePrice, use } from './fixtures.mjs';

test('a subscription is created, read and changed', async () => {
  const { plan, customer, subscription } = await newSubscription({ metadata: { a: '1' } });
  assert.equal(subscription.status, 'active');
  assert.equal(subscription.customer.id, customer.id);
  assert.equal(subscription.plan.id, plan.id);
  assert.ok(subscription.price_intervals.length >= 2);
  const fetched = await client.subscriptions.fetch(subscription.id);
  assert.equal(fetched.id, subscription.id);
  const changed = await client.subscriptions.update(subscription.id, { metadata: { b: '2' } });
  assert.deepEqual(changed.metadata, { a: '1', b: '2' });
});

test('a subscription names customer and plan by their external ids', async () => {
  const external = unique('plan');
  await newPlan({ external_plan_id: external });
  const customer = await newCustomer({ external_customer_id: unique('customer') });
  const subscription = await client.subscriptions.create({
    external_plan_id: external,
    external_customer_id: customer.external_customer_id,
    align_billing_with_subscription_start_date: true,
  });
  assert.equal(subscription.plan.external_plan_id, external);
});

test('subscriptions are listed to the end, whole and in summary', async () => {
  const { subscription, customer } = await newSubscription();
  await newSubscription();
  const walked = ids(await all(client.subscriptions.list({ limit: 1 })));
  assert.ok(walked.includes(subscription.id));
  const own = client.subscriptions.list({ customer_id: [customer.id], status: 'active' });
  assert.deepEqual(ids(await all(own)), [subscription.id]);
  const external = [customer.external_customer_id, 'nobody'];
  const same = client.subscriptions.list({ external_customer_id: external });
  assert.deepEqual(ids(await all(same)), [subscription.id]);
  // The client of npm has no method for this.
  const summary = await client.get('/subscriptions/summary', { query: { limit: 1 } });
  assert.equal(summary.data.length, 1);
  assert.equal(summary.pagination_metadata.has_more, true);
});

test('a subscription is cancelled, and goes on', async () => {
  const { subscription } = await newSubscription();
  const ending = await client.subscriptions.cancel(subscription.id, {
    cancel_option: 'end_of_subscription_term',
  });
  assert.notEqual(ending.end_date, null);
  const back = await client.subscriptions.unscheduleCancellation(subscription.id);
  assert.equal(back.end_date, null);
  const ended = await client.subscriptions.cancel(subscription.id, { cancel_option: 'immediate' });
  assert.equal(ended.status, 'ended');
});

test('an end may lie in the past', async () => {
  const { subscription } = await newSubscription();
  const ended = await client.subscriptions.cancel(
    subscription.id,
    { cancel_option: 'requested_date', cancellation_date: subscription.start_date },
    { headers: { 'Include-Changed-Resources': 'true' } },
  );
  assert.equal(ended.end_date, subscription.start_date);
  assert.ok(ended.changed_resources.voided_invoices.every(({ status }) => status === 'void'));
});

test('the quantity of a fee changes', async () => {
  const { subscription } = await newSubscription();
  const fixed = subscription.price_intervals.find(({ price }) => price.fixed_price_quantity !== null);
  const changed = await client.subscriptions.updateFixedFeeQuantity(subscription.id, {
    price_id: fixed.price.id,
    quantity: 3,
  });
  assert.equal(changed.id, subscription.id);
});

test('changes of quantity that are still to come are taken back', async () => {
  const { subscription } = await newSubscription();
  const { price } = subscription.price_intervals.find((it) => it.price.fixed_price_quantity !== null);
  await client.subscriptions.updateFixedFeeQuantity(subscription.id, {
    price_id: price.id, quantity: 4, change_option: 'upcoming_invoice',
  });
  const back = await client.subscriptions.unscheduleFixedFeeQuantityUpdates(subscription.id, {
    price_id: price.id,
  });
  assert.equal(back.fixed_fee_quantity_schedule.length, 1);
});

test('a subscription has prices of its own', async () => {
  const { plan, metric } = await newSubscription();
  const customer = await newCustomer();
  const fee = plan.prices.find((price) => price.fixed_price_quantity !== null);
  const usage = plan.prices.find((price) => price.fixed_price_quantity === null);
  const own = {
    remove_prices: [{ price_id: usage.id }],
    replace_prices: [{ replaces_price_id: fee.id, fixed_price_quantity: 3 }],
    add_prices: [{ price: { ...usagePrice(metric), reference_id: 'cheap' } }],
    add_adjustments: [{
      adjustment: { adjustment_type: 'percentage_discount', percentage_discount: 0.5, applies_to_price_ids: ['cheap'] },
    }],
  };
  const subscription = await client.subscriptions.create({ customer_id: customer.id, plan_id: plan.id, ...own });
  assert.equal(subscription.fixed_fee_quantity_schedule[0].quantity, 3);
  const [adjustment] = subscription.adjustment_intervals;
  assert.deepEqual(adjustment.adjustment.applies_to_price_ids, [subscription.price_intervals.at(-1).price.id]);
  const again = await client.subscriptions.schedulePlanChange(subscription.id, {
    change_option: 'immediate', plan_id: plan.id, ...own,
  });
  assert.equal(again.price_intervals.filter(({ end_date }) => end_date === null).length, plan.prices.length);
});

test('intervals of prices and adjustments are added and ended', async () => {
  const { subscription, metric } = await newSubscription();
  const added = await client.subscriptions.priceIntervals(subscription.id, {
    add: [{
      start_date: 'start_of_term',
      price: { ...usagePrice(metric), currency: 'USD' },
      discounts: [{ discount_type: 'percentage', percentage_discount: 0.5 }],
    }],
    add_adjustments: [{
      start_date: subscription.start_date,
      adjustment: { adjustment_type: 'amount_discount', amount_discount: '1', applies_to_all: true, price_type: 'usage' },
    }],
  });
  assert.equal(added.price_intervals.length, subscription.price_intervals.length + 1);
  assert.equal(added.adjustment_intervals.length, 2);
  const last = added.price_intervals.at(-1);
  const ended = await client.subscriptions.priceIntervals(subscription.id, {
    edit: [{ price_interval_id: last.id, end_date: last.start_date }],
  });
  assert.equal(ended.price_intervals.length, subscription.price_intervals.length);
});

test('the plan of a subscription changes, now or later', async () => {
  const { plan, subscription } = await newSubscription();
  const { plan: other } = await newPlan();
  const later = await client.subscriptions.schedulePlanChange(subscription.id, {
    change_option: 'end_of_subscription_term', plan_id: other.id,
  });
  assert.equal(later.plan.id, plan.id);
  const schedule = await all(client.subscriptions.fetchSchedule(subscription.id, { limit: 1 }));
  assert.deepEqual(schedule.map((it) => it.plan.id), [other.id, plan.id]);
  await client.subscriptions.unschedulePendingPlanChanges(subscription.id);
  const now = await client.subscriptions.schedulePlanChange(subscription.id, {
    change_option: 'immediate', plan_id: other.id, billing_cycle_alignment: 'plan_change_date',
  });
  assert.equal(now.plan.id, other.id);
});

test('the next phase of a plan is triggered', async () => {
  const { metric } = await newPlan();
  const price = usagePrice(metric);
  const plan = await client.plans.create({
    name: unique('ramp'),
    currency: 'USD',
    prices: [{ price, plan_phase_order: 1 }, { price, plan_phase_order: 2 }],
    plan_phases: [{ order: 1, duration: 2, duration_unit: 'monthly' }, { order: 2 }],
  });
  assert.deepEqual(plan.plan_phases.map((phase) => phase.order), [1, 2]);
  const customer = await newCustomer();
  const created = await client.subscriptions.create({
    plan_id: plan.id, customer_id: customer.id, start_date: instant(-5 * DAY),
  });
  assert.equal(created.active_plan_phase_order, 1);
  const triggered = await client.subscriptions.triggerPhase(created.id, {});
  assert.equal(triggered.active_plan_phase_order, 2);
});

test('a plan gives credits with each of its periods', async () => {
  const allocation = { currency: 'credits', amount: '500', cadence: 'monthly', custom_expiration: { duration: 45, duration_unit: 'day' } };
  const plan = await client.plans.create({
    name: unique('included'), currency: 'USD', prices: [{ allocation_price: allocation }],
  });
  const [{ credit_allocation: given }] = plan.prices;
  assert.deepEqual([given.allows_rollover, given.custom_expiration.duration], [true, 45]);
  const customer = await newCustomer();
  await client.subscriptions.create({ plan_id: plan.id, customer_id: customer.id });
  const { data: [block] } = await client.customers.credits.list(customer.id);
  assert.deepEqual([block.balance, block.credit_block_source], [500, 'allocation']);
});

test('a trial ends when it is said to', async () => {
  const { subscription } = await newSubscription({ trial_duration_days: 14 });
  const first = subscription.price_intervals.find((interval) => interval.price.discount);
  assert.equal(first.price.discount.discount_type, 'trial');
  const longer = await client.subscriptions.updateTrial(subscription.id, { trial_end_date: instant(20 * DAY), shift: true });
  assert.ok(longer.trial_info.end_date > subscription.trial_info.end_date);
  const ended = await client.subscriptions.updateTrial(subscription.id, { trial_end_date: 'immediate' });
  assert.ok(ended.trial_info.end_date < longer.trial_info.end_date);
});

test('what a subscription used and costs', async () => {
  const { subscription, metric, customer } = await newSubscription();
  await use(customer, 10);
  const timeframe = { timeframe_start: instant(-DAY), timeframe_end: instant(DAY) };
  const costs = await client.subscriptions.fetchCosts(subscription.id, timeframe);
  assert.ok(Number(costs.data.at(-1).total) >= 5);
  const usage = await client.subscriptions.fetchUsage(subscription.id, {
    ...timeframe, billable_metric_id: metric.id, granularity: 'day', view_mode: 'periodic',
  });
  const total = usage.data[0].usage.reduce((sum, { quantity }) => sum + quantity, 0);
  assert.equal(total, 10);
});

test('billing of an interval waits', async () => {
  const { subscription, metric } = await newSubscription();
  const changed = await client.subscriptions.priceIntervals(subscription.id, {
    add: [
      {
        price: usagePrice(metric, { currency: 'USD' }),
        start_date: subscription.start_date,
        end_date: instant(DAY),
        can_defer_billing: true,
      },
    ],
  });
  const waits = changed.price_intervals.filter(({ can_defer_billing }) => can_defer_billing);
  assert.equal(waits.length, 1);
  const after = await client.subscriptions.priceIntervals(subscription.id, {
    edit: [{ price_interval_id: waits[0].id, can_defer_billing: false }],
  });
  assert.ok(after.price_intervals.every(({ can_defer_billing }) => !can_defer_billing));
});

test('a contract has no plan', async () => {
  const metric = await newMetric();
  const customer = await newCustomer();
  const terms = {
    customer_id: customer.id,
    name: 'Contract',
    currency: 'USD',
    net_terms: 30,
    start_date: instant(),
    end_date: instant(365 * DAY),
    add_prices: [{ price: usagePrice(metric) }],
  };
  const contract = await client.subscriptions.create(terms);
  assert.equal(contract.plan, null);
  assert.equal(contract.name, 'Contract');
  const schedule = await all(client.subscriptions.fetchSchedule(contract.id));
  assert.deepEqual(schedule.map(({ plan }) => plan), [null]);
  await assert.rejects(client.subscriptions.create({ ...terms, add_prices: [] }), { status: 400 });
  const { plan } = await newPlan();
  const changed = await client.subscriptions.schedulePlanChange(contract.id, {
    change_option: 'immediate',
    plan_id: plan.id,
  });
  assert.equal(changed.plan.id, plan.id);
});
