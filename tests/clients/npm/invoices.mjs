import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import {
  DAY, all, ids, instant, newCustomer, newItem, newSubscription, use, wait,
} from './fixtures.mjs';

const { invoices } = client;

/** A subscription whose fee of 20 is due at once, and each month from then on. */
const subscribed = (more = {}) =>
  newSubscription({ align_billing_with_subscription_start_date: true, net_terms: 14, ...more });

const listed = (subscription, ...status) =>
  all(invoices.list({ subscription_id: subscription.id, status, limit: 1 }));

test('an invoice follows what is used until it is issued, and is paid', async () => {
  const { subscription, customer } = await subscribed();
  const [first] = await listed(subscription, 'issued');
  assert.equal(first.total, '20.00');
  assert.equal(first.customer.id, customer.id);
  const before = await invoices.fetchUpcoming({ subscription_id: subscription.id });
  await use(customer, 10);
  const upcoming = await invoices.fetchUpcoming({ subscription_id: subscription.id });
  assert.equal(upcoming.id, before.id);
  assert.deepEqual([before.total, upcoming.total], ['20.00', '25.00']);
  const draft = await invoices.fetch(upcoming.id);
  assert.equal(draft.status, 'draft');
  assert.equal(draft.invoice_date, upcoming.target_date);

  await wait(40 * DAY);
  assert.deepEqual(ids(await listed(subscription, 'issued')), [draft.id, first.id]);
  const second = await invoices.fetch(draft.id);
  assert.deepEqual([second.status, second.total], ['issued', '25.00']);
  assert.deepEqual(ids(second.line_items), ids(draft.line_items));
  const paid = await invoices.markPaid(second.id, { payment_received_date: instant().slice(0, 10) });
  assert.equal(paid.status, 'paid');
  const summaries = await all(invoices.listSummary({ subscription_id: subscription.id, limit: 1 }));
  assert.deepEqual(summaries.map(({ status }) => status), ['paid', 'issued']);
});

test('a draft is changed and issued by hand', async () => {
  const { subscription } = await subscribed({ auto_issuance: false });
  const [later, draft] = await listed(subscription, 'draft');
  const changed = await invoices.update(draft.id, { metadata: { a: '1' }, net_terms: 3 });
  assert.deepEqual(changed.metadata, { a: '1' });
  const issued = await invoices.issue(draft.id);
  assert.equal(Date.parse(issued.due_date), Date.parse(issued.invoice_date) + 3 * DAY * 1000);
  await assert.rejects(invoices.issue(draft.id), Orb.ConstraintViolation);
  await assert.rejects(invoices.issue(later.id), Orb.ConstraintViolation);
  await wait(40 * DAY);
  const summary = await invoices.issueSummary(later.id, { synchronous: true });
  assert.equal(summary.status, 'issued');
});

test('the balance of a customer pays, and is given back by what becomes void', async () => {
  const { subscription, customer } = await subscribed({ auto_issuance: false });
  const { balanceTransactions } = client.customers;
  const given = await balanceTransactions.create(customer.id, {
    amount: '5.00', type: 'increment', description: 'goodwill',
  });
  assert.equal(given.ending_balance, '5.00');
  const draft = (await listed(subscription, 'draft')).at(-1);
  const issued = await invoices.issue(draft.id);
  assert.deepEqual([issued.total, issued.amount_due], ['20.00', '15.00']);
  const nothing = await invoices.void(issued.id);
  assert.equal(nothing.status, 'void');
  const moves = await all(balanceTransactions.list(customer.id, { limit: 1 }));
  const actions = moves.map(({ action }) => action);
  assert.deepEqual(actions, ['return_from_voiding', 'applied_to_invoice', 'manual_adjustment']);
  assert.equal((await client.customers.fetch(customer.id)).balance, '5.00');
});

test('an invoice is made by hand, with lines of its own', async () => {
  const customer = await newCustomer();
  const item = await newItem();
  const day = instant().slice(0, 10);
  const line = {
    name: 'work', item_id: item.id, start_date: day, end_date: day, quantity: 3,
    model_type: 'unit', unit_config: { unit_amount: '19.99' },
  };
  const draft = await invoices.create({
    customer_id: customer.id, currency: 'USD', invoice_date: day, line_items: [line],
    memo: 'thank you', discount: { discount_type: 'percentage', percentage_discount: 0.1 },
  });
  assert.deepEqual([draft.status, draft.invoice_source], ['draft', 'one_off']);
  assert.deepEqual([draft.subtotal, draft.total], ['59.97', '53.97']);
  assert.equal(draft.discounts[0].percentage_discount, 0.1);
  assert.equal(draft.line_items[0].price.item.id, item.id);
  const added = await client.invoiceLineItems.create({
    invoice_id: draft.id, start_date: day, end_date: day, quantity: 2, amount: '10.00', name: 'more',
  });
  assert.deepEqual([added.name, added.amount, added.price.unit_config.unit_amount], ['more', '10.00', '5']);
  assert.equal((await invoices.fetch(draft.id)).total, '62.97');
  await invoices.deleteLineItem(added.id, { invoice_id: draft.id });
  await assert.rejects(invoices.deleteLineItem(added.id, { invoice_id: draft.id }), Orb.ResourceNotFound);
  const issued = await invoices.issue(draft.id);
  assert.deepEqual([issued.status, issued.total], ['issued', '53.97']);
  const found = await all(invoices.list({ customer_id: customer.id, is_recurring: false }));
  assert.deepEqual(ids(found), [draft.id]);
  const ahead = new Date(Date.parse(instant()) + 3 * DAY * 1000).toISOString().slice(0, 10);
  const later = await invoices.create({
    customer_id: customer.id, currency: 'USD', invoice_date: ahead, line_items: [line],
    will_auto_issue: true,
  });
  assert.deepEqual([later.status, later.will_auto_issue], ['draft', true]);
  await wait(4 * DAY);
  assert.equal((await invoices.fetch(later.id)).status, 'issued');
});
