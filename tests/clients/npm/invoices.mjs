import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import { DAY, all, ids, instant, newSubscription, use, wait } from './fixtures.mjs';

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
