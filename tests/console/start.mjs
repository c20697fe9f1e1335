// The first person comes in, issues a key, and a program of the account is there.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { open, sound, soundEverywhere, watched } from './browser.mjs';
import {
  PASSWORD, PRICE, backfill, browser, count, create, curl, enter, faults, link, made, name, origin, page, past, receiver, remember,
} from './setting.mjs';

test('the first person comes in by the link, once', async () => {
  await open(page, link);
  await soundEverywhere(page);
  await page.getByLabel('Name').fill('Grace');
  await page.getByLabel('E-mail address').fill('grace@example.com');
  await page.getByLabel('Password', { exact: true }).fill('short');
  await page.getByLabel('Password, once more').fill('short');
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByText('12 characters').first().waitFor();
  await soundEverywhere(page);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Password, once more').fill(PASSWORD);
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByRole('heading', { name: 'Accounts' }).waitFor();
  await sound(page);
  remember('accounts');
  const other = await browser.newContext();
  const tab = await watched(other, origin, faults);
  await open(tab, link, 404);
  await tab.getByRole('heading', { name: 'Invitation not good any more' }).waitFor();
  await soundEverywhere(tab);
  await other.close();
});

test('a key is issued, and works with curl', async () => {
  await page.getByLabel('Id of the account').fill('acme');
  await page.getByRole('main').getByRole('button', { name: 'Open' }).click();
  await enter('API keys');
  await sound(page);
  await page.getByLabel('Name').fill('curl');
  await page.getByLabel('Your password').fill('wrong');
  await page.getByRole('button', { name: 'Issue the key' }).click();
  await page.getByText('It is not your password.').waitFor();
  await soundEverywhere(page);
  await page.getByLabel('Name').fill('curl');
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Issue the key' }).click();
  made.token = await page.getByLabel('Token').inputValue();
  await soundEverywhere(page);
  assert.equal((await curl('/ping')).status, 200);
  await enter('API keys');
  await page.getByText('curl').first().waitFor();
  assert.equal(await page.getByText(made.token).count(), 0, 'a token is shown once');
  remember('keys');
});

test('a key is rotated, so that both of its tokens are good for a while, and revoked, so that none is', async () => {
  await page.getByLabel('Name').fill('backend');
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Issue the key' }).click();
  const former = await page.getByLabel('Token').inputValue();
  await page.getByRole('main').getByRole('link', { name: 'backend' }).click();
  await page.getByRole('heading', { name: 'backend' }).waitFor();
  await sound(page);
  remember('key');
  const rotate = async (password) => {
    await page.getByLabel('The present token stays valid for').selectOption('24');
    await page.getByLabel('Your password').fill(password);
    await page.getByRole('button', { name: 'Rotate the key' }).click();
  };
  await rotate('wrong');
  await page.getByText('It is not your password.').waitFor();
  await soundEverywhere(page);
  await rotate(PASSWORD);
  await page.getByText('The token before it is valid until').waitFor();
  const present = await page.getByLabel('Token').inputValue();
  await soundEverywhere(page);
  const statuses = () => Promise.all([former, present].map(async (token) => (await curl('/ping', null, token)).status));
  assert.notEqual(present, former);
  assert.deepEqual(await statuses(), [200, 200]);
  await page.getByRole('main').getByRole('link', { name: 'backend' }).click();
  await page.getByText('Two tokens').waitFor();
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('The key is revoked').waitFor();
  await sound(page);
  assert.deepEqual(await statuses(), [401, 401]);
  assert.equal((await curl('/ping')).status, 200, 'another key stays good');
});

test('an endpoint is added, and a customer is there', async () => {
  await enter('Webhooks');
  await page.getByLabel('Address').fill(receiver.url);
  await page.getByRole('button', { name: 'Add the endpoint' }).click();
  assert.match(await page.getByLabel('Signing secret').inputValue(), /^whsec_/);
  await soundEverywhere(page);

  const { id: item_id } = await create('/items', { name: 'Model' });
  made.item = item_id;
  const tokens = { name: 'Tokens', description: null, item_id, sql: 'SELECT sum(tokens) FROM events' };
  const { id: billable_metric_id } = await create('/metrics', tokens);
  made.metric = billable_metric_id;
  const usage = {
    name: 'Tokens', item_id, cadence: 'monthly', model_type: 'unit', billable_metric_id,
    unit_config: { unit_amount: `${PRICE}` },
  };
  const plan = await create('/plans', { name: 'Pro', currency: 'USD', prices: [{ price: usage }] });
  await create('/customers', { name, email: 'ada@example.com', external_customer_id: 'ada' });
  const start_date = past.start.toISOString();
  const { id } = await create('/subscriptions', { external_customer_id: 'ada', plan_id: plan.id, start_date });
  made.subscription = id;
  const message = await receiver.next('customer.created');
  assert.equal(message.customer.name, name);
  // Programs were late: the period before is over, and its grace with it.
  const noon = (at) => new Date(at.getTime() + 43_200_000);
  const events = past.days.map(([at, amount], n) => ({ ...count(amount, noon(at)), idempotency_key: `past-${n}` }));
  await backfill(past.start, past.end, events);
});

test('an event arrives', async () => {
  await create('/ingest', { events: [count(7)] });
  await enter('Events');
  await sound(page);
  await page.getByLabel('Ids of events').fill('event-7');
  await page.getByRole('main').getByRole('button', { name: 'Search' }).click();
  await page.getByText('completion').first().waitFor();
  await sound(page);
  remember('events');
  await enter('Overview');
  await sound(page);
  remember('overview');
});
