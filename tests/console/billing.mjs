// Invoices, ledgers, plans, and backfills of what was lost.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { open, sound, soundEverywhere } from './browser.mjs';
import {
  backfill, cells, count, create, day, enter, look, made, page, path, pictures, remember, shown, until,
} from './setting.mjs';

test('an invoice is issued, and made void', async () => {
  const today = day(new Date());
  const work = pictures ? 'Consulting' : 'Work <b>';
  const draft = (quantity) => {
    const line = {
      name: work, item_id: made.item, start_date: today, end_date: today, quantity, model_type: 'unit',
      unit_config: { unit_amount: '4.25' },
    };
    const invoice_date = new Date(Date.now() - 60_000).toISOString();
    return create('/invoices', {
      currency: 'USD', external_customer_id: 'ada', invoice_date, will_auto_issue: false, net_terms: 0, line_items: [line],
    });
  };
  await draft(3);
  await draft(5);
  await enter('Invoices');
  await sound(page);
  await page.getByLabel('Status').selectOption('draft');
  await page.getByRole('button', { name: 'Show' }).click();
  const list = page.getByRole('region', { name: 'Invoices, newest date first' });
  const follow = (amount) => list.getByRole('row').filter({ hasText: amount }).getByRole('link').first().click();
  await follow('12.75');
  await page.getByText(work).waitFor();
  await sound(page);
  await page.getByRole('button', { name: 'Issue the invoice' }).click();
  await page.getByText('The invoice was issued').waitFor();
  await sound(page);
  remember('invoice');
  await enter('Invoices');
  await sound(page);
  remember('invoices');
  await follow('21.25');
  await page.getByRole('button', { name: 'Issue the invoice' }).click();
  await page.getByText('The invoice was issued').waitFor();
  await page.getByRole('button', { name: 'Make it void' }).click();
  await page.getByText('nobody owes it').waitFor();
  await sound(page);
});

test('a ledger and a plan are looked at', async () => {
  const credits = { entry_type: 'increment', amount: 20, currency: 'USD', expiry_date: new Date(Date.now() + 9e9).toISOString() };
  await create('/customers/external_customer_id/ada/credits/ledger_entry', credits);
  await create('/customers/external_customer_id/ada/credits/ledger_entry', { entry_type: 'decrement', amount: 7.5, currency: 'USD' });
  await open(page, shown.get('customer'));
  await sound(page);
  await page.getByRole('region', { name: /^Balances/ }).getByRole('link', { name: 'USD' }).click();
  await page.getByText('12.50').first().waitFor();
  await sound(page);
  remember('ledger');
  await enter('Plans');
  await sound(page);
  remember('plans');
  await page.getByRole('main').getByRole('link', { name: 'Pro' }).click();
  await page.getByText('How Tokens is computed').waitFor();
  await sound(page);
  remember('plan');
  await enter('Plans');
  await page.getByRole('link', { name: 'Metrics that usage is counted by' }).click();
  await page.getByText('SELECT sum(tokens) FROM events').waitFor();
  await sound(page);
  remember('metrics');
});

const figure = (text) => Number(text.replace(/[,\s]|USD/g, ''));

/** What the subscription costs in a billing period, as the API says it. */
async function cost(period) {
  const [start, end] = period.split(' to ').map((day) => `${day}T00:00:00Z`);
  const query = `timeframe_start=${start}&timeframe_end=${end}&view_mode=cumulative`;
  const { data } = await look(`/subscriptions/${made.subscription}/costs?${query}`);
  return Number(data.at(-1).total);
}

/** What the page of the subscription shows as the cost of the present period. */
async function total() {
  await open(page, path('subscriptions', made.subscription));
  return figure((await cells('Cost by price')).at(-1).at(-1));
}

/** Reads what a change comes to: billing periods, each with its cost now and then, which the API has as well. */
async function preview(title) {
  await page.getByRole('heading', { name: title }).waitFor();
  const rows = (await cells('Billing periods')).map(([, period, now, then]) => [period, figure(now), figure(then)]);
  assert.ok(rows.length > 0, 'something changes');
  for (const [period, now, then] of rows) {
    assert.equal(await cost(period), now);
    assert.notEqual(now, then);
  }
  return rows;
}

/** Waits until what was said has come about. */
const comesAbout = (rows) => until(`${rows}`, async () => {
  const costs = await Promise.all(rows.map(([period]) => cost(period)));
  return rows.every(([, , then], n) => then === costs[n]);
});

test('a backfill is made, and closed after a look at what that changes', async () => {
  await enter('Backfills');
  await sound(page);
  const length = 86_400_000;
  const at = (days) => new Date(Date.now() - days * length).toISOString().slice(0, 19);
  const make = async (start, end) => {
    await page.getByLabel('From', { exact: true }).fill(start);
    await page.getByLabel('To', { exact: true }).fill(end);
    await page.getByRole('button', { name: 'Create the backfill' }).click();
  };
  await make(at(1), at(20));
  await page.getByText('One field is to be changed.').waitFor();
  await soundEverywhere(page);
  await make(at(20), at(1));
  await page.getByText('The backfill is open').waitFor();
  await page.getByText('No billing period comes to something else.').waitFor();
  const { data } = await look('/events/backfills');
  const late = Array.from({ length: 18 }, (_, days) => ({
    ...count(20 + ((days * 13) % 17), new Date(Date.now() - (days + 2) * length)), idempotency_key: `day-${days}`,
  }));
  await create(`/ingest?backfill_id=${data[0].id}`, { events: late });
  await page.reload();
  await sound(page);
  remember('backfill');
  const rows = await preview('What closing it changes');
  const before = await total();
  await open(page, shown.get('backfill'));
  await page.getByRole('button', { name: 'Close the backfill' }).click();
  await page.getByText('The backfill is closed').waitFor();
  await sound(page);
  await comesAbout(rows);
  const present = rows.find(([period]) => period.startsWith(day(new Date()).slice(0, 7)));
  assert.equal(await total(), present ? present[2] : before);
  await enter('Backfills');
  await page.getByText('Closed').first().waitFor();
  await sound(page);
  remember('backfills');
});

test('a backfill is reverted after a look at what that changes', async () => {
  const [start, end] = [new Date(Date.now() - 3_600_000), new Date()];
  const id = await backfill(start, end, [count(1_000, start)]);
  await open(page, path('backfills', id));
  await sound(page);
  const rows = await preview('What reverting it changes');
  assert.deepEqual(rows.map(([, now, then]) => now - then), [500]);
  await page.getByRole('button', { name: 'Revert the backfill' }).click();
  await page.getByText('The backfill is reverted').waitFor();
  await comesAbout(rows);
  await sound(page);
});
