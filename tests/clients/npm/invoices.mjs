import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import {
  DAY, all, ids, instant, newCustomer, newItem, newPlan, newSubscription, use, wait,
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
  // It has usage.
  await assert.rejects(invoices.issueSummary(later.id, { synchronous: true }), { status: 400 });
  const summary = await invoices.issueSummary(later.id);
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

/** Tokens for the cards of the gateway that moves no money. */
const PAYS = 'tok_4242424242424242';
const ASKS = 'tok_4000000000003220';
const DECLINES = 'tok_4000000000000002';

test('an invoice is paid by the gateway', async () => {
  const { subscription } = await subscribed();
  const [invoice] = await listed(subscription, 'issued');
  const pay = (token) => invoices.pay(invoice.id, { shared_payment_token_id: token });
  const declined = await pay(DECLINES);
  assert.deepEqual([declined.status, declined.payment_attempts.length], ['issued', 1]);
  assert.equal(declined.payment_attempts[0].succeeded, false);
  const begun = await pay(ASKS);
  assert.deepEqual([begun.status, begun.payment_attempts.length], ['issued', 1]);
  await assert.rejects(pay(PAYS), Orb.ConstraintViolation);
  await wait(2 * 3600);
  const paid = await invoices.fetch(invoice.id);
  assert.deepEqual([paid.status, paid.payment_attempts.length], ['paid', 2]);
  const started = Date.parse(begun.payment_started_at);
  assert.equal(Date.parse(paid.payment_received_at), started + 3600 * 1000);
  await assert.rejects(pay(PAYS), Orb.ConstraintViolation);

  const receipt = paid.payment_attempts[1].receipt_pdf;
  for (const link of [paid.invoice_pdf, paid.hosted_invoice_url, receipt]) {
    assert.ok(link.startsWith('https://billing.example.com/documents/'), link);
  }
  const renewed = await invoices.regenerateInvoicePdf(invoice.id);
  assert.notEqual(renewed.invoice_pdf, paid.invoice_pdf);
  await wait(3600);
  const again = await invoices.regenerateReceiptPdf(invoice.id);
  assert.notEqual(again.payment_attempts[1].receipt_pdf, receipt);
});

test('a customer of a payment provider is collected from when an invoice is due', async () => {
  const { plan } = await newPlan();
  const customer = await newCustomer({
    payment_provider: 'stripe_charge', payment_provider_id: 'cus_4242424242424242',
  });
  await client.subscriptions.create({
    plan_id: plan.id, customer_id: customer.id, net_terms: 14,
    align_billing_with_subscription_start_date: true,
  });
  const [first] = await all(invoices.list({ customer_id: customer.id, status: ['issued'] }));
  const now = await invoices.pay(first.id, {});
  assert.deepEqual([now.status, now.amount_due], ['paid', '20.00']);
  await wait(100 * DAY);
  const paid = await all(invoices.list({ customer_id: customer.id, status: ['paid'] }));
  const succeeded = paid.flatMap((of) => of.payment_attempts.map((attempt) => attempt.succeeded));
  assert.deepEqual(succeeded, paid.map(() => true));
  assert.ok(paid.length >= 3, 'those of the next months are paid too');
});

test('the invoices of a customer of NetSuite are synced', async () => {
  const { plan } = await newPlan();
  const provider = { payment_provider: 'netsuite', payment_provider_id: 'ns_1' };
  const customer = await newCustomer(provider);
  await client.subscriptions.create({
    plan_id: plan.id, customer_id: customer.id, align_billing_with_subscription_start_date: true,
  });
  await wait(1);
  const [first] = await all(invoices.list({ customer_id: customer.id, status: ['synced'] }));
  assert.deepEqual([first.amount_due, first.sync_failed_at], ['20.00', null]);
  await assert.rejects(invoices.void(first.id), Orb.ConstraintViolation);
  const paid = await invoices.markPaid(first.id, { payment_received_date: instant().slice(0, 10) });
  assert.equal(paid.status, 'paid');
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
