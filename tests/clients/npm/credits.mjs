import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';

import { client } from './client.mjs';
import { DAY, all, ids, instant, newCustomer, unique } from './fixtures.mjs';

const day = (days) => instant(days * DAY).slice(0, 10);

test('a ledger has entries of every kind, by both ids', async () => {
  const external = unique('external');
  const customer = await newCustomer({ external_customer_id: external });
  const { credits } = client.customers;
  const enter = (body) => credits.ledger.createEntry(customer.id, { currency: 'USD', ...body });
  const increment = await enter({
    entry_type: 'increment', amount: 100, expiry_date: instant(30 * DAY), description: 'd',
    metadata: { a: '1' },
  });
  assert.equal(increment.entry_type, 'increment');
  assert.equal(increment.starting_balance, 0);
  assert.equal(increment.ending_balance, 100);
  assert.equal(increment.customer.external_customer_id, external);
  const block = increment.credit_block.id;
  const decrement = await credits.ledger.createEntryByExternalID(external, {
    entry_type: 'decrement', amount: 12.5, currency: 'USD',
  });
  assert.equal(decrement.amount, -12.5);
  assert.equal(decrement.ending_balance, 87.5);
  const amendment = await enter({ entry_type: 'amendment', amount: 2.5, block_id: block });
  assert.equal(amendment.ending_balance, 90);
  const moved = await enter({
    entry_type: 'expiration_change', amount: 10, block_id: block, target_expiry_date: day(60),
  });
  assert.equal(moved.entry_type, 'expiration_change');
  const voided = await enter({ entry_type: 'void', amount: 5, block_id: block, void_reason: 'refund' });
  assert.match(voided.entry_type, /^void/);

  const entries = await all(credits.ledger.list(customer.id, { currency: 'USD', limit: 2 }));
  const kinds = new Set(entries.map(({ entry_type }) => entry_type));
  for (const kind of ['increment', 'decrement', 'amendment', 'expiration_change']) {
    assert.ok(kinds.has(kind), kind);
  }
  const increments = { currency: 'USD', entry_type: 'increment', limit: 1 };
  const some = await all(credits.ledger.listByExternalID(external, increments));
  assert.ok(some.every(({ entry_type }) => entry_type === 'increment'));

  const blocks = await all(credits.list(customer.id, { currency: 'USD', limit: 1 }));
  assert.equal(blocks.reduce((sum, { balance }) => sum + balance, 0), 85);
  const same = await all(credits.listByExternalID(external, { currency: 'USD', include_all_blocks: true }));
  assert.ok(ids(same).includes(block));
});

test('a credit block is read, changed and deleted', async () => {
  const customer = await newCustomer();
  const entry = await client.customers.credits.ledger.createEntry(customer.id, {
    entry_type: 'increment', amount: 7, currency: 'USD',
  });
  const { id } = entry.credit_block;
  const block = await client.creditBlocks.retrieve(id);
  assert.equal(block.balance, 7);
  assert.equal(block.credit_block_source, 'manual');
  // The client of npm has no method for this.
  const changed = await client.put(`/credit_blocks/${id}`, { body: { metadata: { a: '1' } } });
  assert.deepEqual(changed.metadata, { a: '1' });
  await client.creditBlocks.delete(id);
  await assert.rejects(client.creditBlocks.retrieve(id), Orb.ResourceNotFound);
});

test('credits are bought, and topped up by both ids', async () => {
  const external = unique('external');
  const customer = await newCustomer({ currency: 'USD', external_customer_id: external });
  const { ledger, topUps } = client.customers.credits;
  const entry = await ledger.createEntry(customer.id, {
    entry_type: 'increment', amount: 20, per_unit_cost_basis: '1.50',
    invoice_settings: { auto_collection: false, net_terms: 14, require_successful_payment: true },
  });
  assert.equal(entry.entry_status, 'pending');
  const [invoice] = entry.created_invoices;
  assert.equal(invoice.total, '30.00');
  const found = await client.creditBlocks.listInvoices(entry.credit_block.id);
  assert.equal(found.block.status, 'pending_payment');
  assert.deepEqual(ids(found.invoices), [invoice.id]);
  await client.invoices.markPaid(invoice.id, { payment_received_date: day(0) });
  const [block] = await all(client.customers.credits.list(customer.id));
  assert.equal(block.status, 'active');

  const terms = {
    currency: 'credits', threshold: '5', amount: '50', per_unit_cost_basis: '1.00',
    invoice_settings: { auto_collection: false, net_terms: 30 },
    expires_after: 1, expires_after_unit: 'month',
  };
  const first = await topUps.create(customer.id, terms);
  assert.equal(first.threshold, '5.00');
  const second = await topUps.createByExternalID(external, { ...terms, threshold: '6' });
  assert.deepEqual(ids(await all(topUps.list(customer.id, { limit: 1 }))), [second.id]);
  assert.deepEqual(ids(await all(topUps.listByExternalID(external))), [second.id]);
  await ledger.createEntry(customer.id, { entry_type: 'decrement', amount: 15 });
  const blocks = await all(client.customers.credits.list(customer.id));
  assert.equal(blocks.find(({ credit_block_source }) => credit_block_source === 'top_up').balance, 50);
  await topUps.delete(second.id, { customer_id: customer.id });
  const third = await topUps.create(customer.id, terms);
  await topUps.deleteByExternalID(third.id, { external_customer_id: external });
  assert.deepEqual(await all(topUps.list(customer.id)), []);
});
