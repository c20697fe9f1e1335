import assert from 'node:assert/strict';
import { test } from 'node:test';

import { client } from './client.mjs';
import { all, ids, newCustomer, newPlan, newSubscription, unique, wait } from './fixtures.mjs';

function quarter(more) {
  const discount = { discount_type: 'percentage', percentage_discount: 0.25 };
  return client.coupons.create({ redemption_code: unique('SPRING'), discount, ...more });
}

test('a coupon is created, read, listed and archived', async () => {
  const discount = { discount_type: 'amount', amount_discount: '5.00' };
  const coupon = await client.coupons.create({ redemption_code: unique('FIVE'), discount });
  assert.equal(coupon.discount.amount_discount, '5.00');
  assert.equal(coupon.times_redeemed, 0);
  assert.deepEqual(await client.coupons.fetch(coupon.id), coupon);
  const { redemption_code: code } = coupon;
  assert.deepEqual(ids(await all(client.coupons.list({ redemption_code: code }))), [coupon.id]);
  const archived = await client.coupons.archive(coupon.id);
  assert.ok(Date.parse(archived.archived_at) > 0);
  assert.deepEqual(await all(client.coupons.list({ redemption_code: code })), []);
  const shown = client.coupons.list({ redemption_code: code, show_archived: true });
  assert.deepEqual(ids(await all(shown)), [coupon.id]);
});

test('subscriptions redeem a coupon', async () => {
  const coupon = await quarter({ duration_in_months: 2 });
  const { plan, subscription } = await newSubscription();
  const redeemed = await client.subscriptions.redeemCoupon(subscription.id, {
    change_option: 'immediate',
    coupon_id: coupon.id,
  });
  assert.equal(redeemed.redeemed_coupon.coupon_id, coupon.id);
  assert.equal(redeemed.adjustment_intervals[0].adjustment.percentage_discount, 0.25);
  assert.equal(redeemed.discount_intervals[0].discount_type, 'percentage');
  // The clock stands still otherwise, and the newest comes first.
  await wait(1);
  const other = await client.subscriptions.create({
    customer_id: (await newCustomer()).id,
    plan_id: plan.id,
    coupon_redemption_code: coupon.redemption_code,
  });
  const rows = await all(client.coupons.subscriptions.list(coupon.id, { limit: 1 }));
  assert.deepEqual(ids(rows), [other.id, subscription.id]);
  assert.equal((await client.coupons.fetch(coupon.id)).times_redeemed, 2);
  const again = { change_option: 'immediate', coupon_redemption_code: coupon.redemption_code };
  await assert.rejects(client.subscriptions.redeemCoupon(other.id, again), { status: 400 });
});

test('plans and subscriptions have adjustments', async () => {
  const half = { adjustment_type: 'percentage_discount', percentage_discount: 0.5 };
  const { plan } = await newPlan({ adjustments: [{ adjustment: { ...half, applies_to_all: true } }] });
  const [shown] = plan.adjustments;
  assert.equal(shown.percentage_discount, 0.5);
  assert.deepEqual(shown.applies_to_price_ids, ids(plan.prices));
  assert.equal(plan.discount.percentage_discount, 0.5);
  const most = { adjustment_type: 'maximum', maximum_amount: '90', price_type: 'usage' };
  const customer = await newCustomer();
  const subscription = await client.subscriptions.create(
    {
      customer_id: customer.id,
      plan_id: plan.id,
      invoicing_threshold: '50.00',
      replace_adjustments: [{ replaces_adjustment_id: shown.id, adjustment: most }],
    },
    { headers: { 'Include-Changed-Resources': 'true' } },
  );
  assert.equal(subscription.invoicing_threshold, '50.00');
  const [interval] = subscription.adjustment_intervals;
  assert.equal(interval.adjustment.replaces_adjustment_id, shown.id);
  assert.equal(subscription.maximum_intervals[0].maximum_amount, '90.00');
  for (const invoice of subscription.changed_resources.created_invoices) {
    assert.equal(invoice.subscription.id, subscription.id);
  }
});
