import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import { all, ids, newSubscription } from './fixtures.mjs';

const { creditNotes, invoices } = client;

test('a credit note lowers what is due of an invoice', async () => {
  const { subscription } = await newSubscription({
    align_billing_with_subscription_start_date: true, net_terms: 14,
  });
  const found = await all(invoices.list({ subscription_id: subscription.id, status: ['issued'] }));
  const [invoice] = found;
  const line = invoice.line_items.at(-1).id;
  const credit = (amount) =>
    creditNotes.create({
      line_items: [{ invoice_line_item_id: line, amount }], reason: 'duplicate',
    });
  const made = await credit('5.00');
  assert.deepEqual([made.type, made.total, made.reason], ['adjustment', '5.00', 'Duplicate']);
  assert.deepEqual(await creditNotes.fetch(made.id), made);
  assert.ok(ids(await all(creditNotes.list({ limit: 2 }))).includes(made.id));
  const credited = await invoices.fetch(invoice.id);
  assert.equal(credited.amount_due, '15.00');
  assert.deepEqual(ids(credited.credit_notes), [made.id]);
  await assert.rejects(credit('15.01'), Orb.ConstraintViolation);
});
