// The console in a real browser: what a person does there, and what every page looks like.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { SIZES, launch, sound, watched } from './browser.mjs';
import { isSigned, receive } from './receiver.mjs';

/** Where the API and the console are, the link of the first person, and where pictures go, if anywhere. */
const { ACCRUE_URL: api, ACCRUE_CONSOLE: link, ACCRUE_PICTURES: pictures } = process.env;
const origin = new URL(link).origin;
const PASSWORD = 'correct horse battery staple';

/** Nobody who has such a name does harm by it; in pictures she has her own. */
const name = pictures ? 'Ada Lovelace' : 'Ada <script>alert(1)</script> "&';
/** What an endpoint answers at first. */
const later = pictures ? 'try again later' : 'try again later <b>';

const faults = [];
let browser, context, page, receiver, fickle, token, item, metric;
/** Paths of pages that there are pictures of, by their names. */
const shown = new Map();

before(async () => {
  browser = await launch();
  context = await browser.newContext({ viewport: SIZES.desktop, colorScheme: 'light' });
  page = await watched(context, origin, faults);
  receiver = await receive();
  fickle = await receive((nth) => (nth === 0 ? [500, later] : [200, 'thank you']));
});

after(async () => {
  receiver.close();
  fickle.close();
  await browser.close();
});

/** Asks the API by curl, and returns the status and the body. */
async function curl(path, body) {
  const args = ['-sS', '-w', '\n%{http_code}', `${api}${path}`, '-H', `Authorization: Bearer ${token}`];
  if (body) args.push('-d', JSON.stringify(body));
  const { stdout } = await promisify(execFile)('curl', args);
  const [text, status] = stdout.split(/\n(?=\d+$)/);
  return { status: Number(status), body: text && JSON.parse(text) };
}

async function create(path, body) {
  const answer = await curl(path, body);
  assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer)}`);
  return answer.body;
}

/** Follows a link of the navigation. */
const enter = (name) => page.getByRole('navigation', { name: 'Console', exact: true }).getByRole('link', { name }).click();

/** Has a picture made of this page, without what a form has done. */
function remember(name, change = {}) {
  const url = new URL(page.url());
  url.searchParams.delete('done');
  for (const [key, value] of Object.entries(change)) url.searchParams.set(key, value);
  shown.set(name, url.href);
}

const count = (amount) => ({
  idempotency_key: `event-${amount}`, event_name: 'completion', external_customer_id: 'ada',
  timestamp: new Date().toISOString(), properties: { tokens: amount, region: 'eu' },
});

test('the first person comes in by the link, once', async () => {
  await page.goto(link);
  await sound(page);
  await page.getByLabel('Name').fill('Grace');
  await page.getByLabel('E-mail address').fill('grace@example.com');
  await page.getByLabel('Password', { exact: true }).fill('short');
  await page.getByLabel('Password, once more').fill('short');
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByText('12 characters').first().waitFor();
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Password, once more').fill(PASSWORD);
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByRole('heading', { name: 'Accounts' }).waitFor();
  await sound(page);
  remember('accounts');
  const again = await fetch(link);
  assert.equal(again.status, 404);
});

test('a key is issued, and works with curl', async () => {
  await page.getByLabel('Id of the account').fill('acme');
  await page.getByRole('main').getByRole('button', { name: 'Open' }).click();
  await enter('API keys');
  await sound(page);
  await page.getByLabel('Name').fill('curl');
  await page.getByLabel('Your password').fill('wrong');
  await page.getByRole('button', { name: 'Issue the key' }).click();
  await page.getByText('password').first().waitFor();
  await page.getByLabel('Name').fill('curl');
  await page.getByLabel('Your password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Issue the key' }).click();
  token = await page.getByLabel('Token').inputValue();
  await sound(page);
  assert.equal((await curl('/ping')).status, 200);
  await enter('API keys');
  await page.getByText('curl').first().waitFor();
  assert.equal(await page.getByText(token).count(), 0, 'a token is shown once');
  remember('keys');
});

test('an endpoint is added, and a customer is there', async () => {
  await enter('Webhooks');
  await page.getByLabel('Address').fill(receiver.url);
  await page.getByRole('button', { name: 'Add the endpoint' }).click();
  assert.match(await page.getByLabel('Signing secret').inputValue(), /^whsec_/);
  await sound(page);

  const { id: item_id } = await create('/items', { name: 'Model' });
  item = item_id;
  const tokens = { name: 'Tokens', description: null, item_id, sql: 'SELECT sum(tokens) FROM events' };
  const { id: billable_metric_id } = await create('/metrics', tokens);
  metric = billable_metric_id;
  const usage = {
    name: 'Tokens', item_id, cadence: 'monthly', model_type: 'unit', billable_metric_id,
    unit_config: { unit_amount: '0.5' },
  };
  const plan = await create('/plans', { name: 'Pro', currency: 'USD', prices: [{ price: usage }] });
  await create('/customers', { name, email: 'ada@example.com', external_customer_id: 'ada' });
  const now = new Date();
  // A new alert is shown over the period before, or the first one: pictures have usage there.
  const month = now.getUTCMonth() - (pictures ? 0 : 1);
  const start = new Date(Date.UTC(now.getUTCFullYear(), month, 1)).toISOString();
  await create('/subscriptions', { external_customer_id: 'ada', plan_id: plan.id, start_date: start });
  const message = await receiver.next('customer.created');
  assert.equal(message.customer.name, name);
});

test('an event arrives', async () => {
  await create('/ingest', { events: [count(7)] });
  await enter('Events');
  await page.getByLabel('Ids of events').fill('event-7');
  await page.getByRole('main').getByRole('button', { name: 'Search' }).click();
  await page.getByText('completion').first().waitFor();
  await sound(page);
  remember('events');
  await enter('Overview');
  await sound(page);
  remember('overview');
});

test('an alert is made in the plot, fires, and its message is delivered', async () => {
  await enter('Customers');
  await sound(page);
  remember('customers');
  await page.getByRole('main').getByRole('link', { name: 'Ada' }).click();
  await page.getByText(name).first().waitFor();
  await sound(page);
  await page.getByRole('region', { name: 'Subscriptions, newest first' }).getByRole('link').first().click();
  await page.getByRole('heading', { name: 'Subscription to Pro' }).waitFor();
  await sound(page);
  await page.getByLabel('Group by a property').fill('region');
  await page.getByRole('button', { name: 'Group' }).click();
  await page.getByText('Tokens, region eu').first().waitFor();
  await sound(page);
  await page.getByRole('link', { name: 'New alert' }).first().click();
  const plot = await page.locator('[data-drag] svg[data-ends]').first().boundingBox();
  const at = (part) => [plot.x + plot.width / 2, plot.y + plot.height * part];
  await page.mouse.move(...at(0.8));
  await page.mouse.down();
  await page.mouse.move(...at(0.5), { steps: 5 });
  const dragged = Number(await page.getByLabel('Thresholds').inputValue());
  assert.ok(dragged > 0, 'dragging says a value');
  await page.mouse.up();
  await page.waitForURL(/thresholds=/);
  assert.equal(Number(await page.getByLabel('Thresholds').inputValue()), dragged);
  await sound(page);
  await page.getByLabel('Thresholds').fill('10');
  await page.getByRole('button', { name: 'See when it would have fired' }).click();
  await sound(page);
  // By the time of the picture there is an alert on the cost, so that it is of the usage.
  remember('alert', { watch: metric, thresholds: '400' });
  await page.getByRole('button', { name: 'Create the alert' }).click();
  await page.getByText('The alert is created.').waitFor();
  await sound(page);
  remember('subscription');
  await page.getByRole('link', { name: 'New alert' }).first().click();
  await page.getByLabel('Thresholds').fill('20');
  await page.getByRole('button', { name: 'See when it would have fired' }).click();
  await page.getByText('An alert watches this already').waitFor();
  await sound(page);
  await page.getByRole('link', { name: 'look at it' }).click();
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Ada' }).click();
  await page.getByRole('heading', { name: 'Invoices' }).waitFor();
  await sound(page);
  remember('customer');
  const hours = Array.from({ length: 20 }, (_, hour) => hour + 1);
  const earlier = hours.map((hour) => ({
    ...count(1 + ((hour * 7) % 11)), idempotency_key: `hour-${hour}`,
    timestamp: new Date(Date.now() - hour * 3_600_000).toISOString(),
  }));
  await create('/ingest', { events: [count(20), ...earlier] });
  const fired = await receiver.next('subscription.cost_exceeded').catch(() => receiver.next('subscription.usage_exceeded'));
  assert.ok(fired.properties);
  await enter('Webhooks');
  await page.getByRole('main').getByRole('link', { name: fired.type }).first().click();
  await page.getByText('204').first().waitFor();
  await page.getByRole('heading', { name: 'Why it fired' }).waitFor();
  await page.getByRole('link', { name: 'Show the subscription' }).waitFor();
  await sound(page);
  remember('message');
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('The message will be sent again.').waitFor();
  await enter('Webhooks');
  await sound(page);
  remember('webhooks');
});

/** Adds an endpoint, and returns its secret. */
async function add(url) {
  await enter('Webhooks');
  await page.getByLabel('Address').fill(url);
  await page.getByRole('button', { name: 'Add the endpoint' }).click();
  return page.getByLabel('Signing secret').inputValue();
}

const endpointPage = async (url) => {
  await enter('Webhooks');
  await page.getByRole('region', { name: 'Endpoints' }).getByRole('link', { name: url, exact: true }).click();
  await page.getByRole('heading', { name: url, exact: true }).waitFor();
};

const customer = (name) => create('/customers', { name, email: 'hopper@example.com' });
const about = (name) => ({ message }) => message.customer?.name === name;

test('what an endpoint has answered is shown attempt by attempt, and it is sent the same again', async () => {
  await add(fickle.url);
  await customer('Grace Hopper');
  const first = await fickle.first(about('Grace Hopper'));
  const url = page.url().replace(/webhooks.*/, `messages/${first.headers['webhook-id']}`);
  await page.goto(url);
  const attempts = page.getByRole('region', { name: `Attempts to deliver to ${fickle.url}` });
  const shows = async (...texts) => {
    const row = texts.reduce((row, hasText) => row.filter({ hasText }), attempts.getByRole('row'));
    // It is there when the attempt is reported, which is a moment later.
    for (let n = 0; n < 500 && (await row.count()) === 0; n += 1) await page.reload();
    assert.ok((await row.count()) > 0, `${texts}`);
  };
  await shows('500', later);
  await sound(page);
  assert.equal(await page.getByLabel('Body of the message').textContent(), first.text);
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('The message will be sent again.').waitFor();
  await page.goto(url);
  await shows('200', 'thank you');
  await sound(page);
  remember('attempts');
  const sent = fickle.received.filter(about('Grace Hopper'));
  assert.ok(sent.length > 1);
  for (const { headers, text } of sent) {
    assert.deepEqual([headers['webhook-id'], text], [first.headers['webhook-id'], first.text]);
  }
});

test('an endpoint is changed, and what cannot be read is refused', async () => {
  await endpointPage(fickle.url);
  await sound(page);
  const change = async (types) => {
    await page.getByLabel('Types of messages').fill(types);
    await page.getByLabel('Order of a customer’s messages').selectOption('strict');
    await page.getByRole('button', { name: 'Change the endpoint' }).click();
  };
  await change('customer.created, nothing.such');
  await page.getByText('nothing.such').first().waitFor();
  await sound(page);
  await change('customer.created, customer.edited');
  await page.getByText('The endpoint is changed.').waitFor();
  assert.equal(await page.getByLabel('Order of a customer’s messages').inputValue(), 'strict');
  assert.equal(await page.getByLabel('Types of messages').inputValue(), 'customer.created, customer.edited');
  await sound(page);
});

test('a secret is rotated, and requests are signed with both for a while', async () => {
  const [before, after] = [await add(`${fickle.url}/gone`), await add(`${fickle.url}/too`)];
  assert.notEqual(before, after);
  await endpointPage(`${fickle.url}/too`);
  await page.getByLabel('Requests are signed with the present secret too for').selectOption('24');
  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  const rotated = await page.getByLabel('Signing secret').inputValue();
  await page.getByText('Two').first().waitFor();
  await sound(page);
  await customer('Katherine Johnson');
  const at = (path) => (request) => about('Katherine Johnson')(request) && request.path === path;
  const request = await fickle.first(at('/hook/too'));
  assert.deepEqual([before, after, rotated].map((secret) => isSigned(request, secret)), [false, true, true]);
  await endpointPage(`${fickle.url}/too`);
  assert.ok(!(await page.content()).includes('whsec_'), 'a secret is shown once');
  remember('endpoint');
});

test('an endpoint that is disabled is sent nothing, and one that is deleted is no more', async () => {
  const switched = async (button, status) => {
    await endpointPage(fickle.url);
    await page.getByRole('button', { name: button }).click();
    await page.getByText('The endpoint is changed.').waitFor();
    const link = page.getByRole('link', { name: fickle.url, exact: true });
    await page.getByRole('row').filter({ has: link }).filter({ hasText: status }).waitFor();
    await sound(page);
  };
  await switched('Disable', 'Disabled');
  await customer('Mary Jackson');
  await receiver.first(about('Mary Jackson'));
  await switched('Enable', 'Enabled');
  await customer('Dorothy Vaughan');
  await fickle.first((request) => about('Dorothy Vaughan')(request) && request.path === '/hook');
  assert.ok(!fickle.received.some((request) => about('Mary Jackson')(request) && request.path === '/hook'));
  await endpointPage(`${fickle.url}/gone`);
  await page.getByRole('button', { name: 'Delete the endpoint' }).click();
  await page.getByText('The endpoint is deleted').waitFor();
  assert.equal(await page.getByRole('link', { name: `${fickle.url}/gone`, exact: true }).count(), 0);
  await sound(page);
});

test('an invoice is issued, and made void', async () => {
  const day = new Date().toISOString().slice(0, 10);
  const work = pictures ? 'Consulting' : 'Work <b>';
  const draft = (quantity) => {
    const line = {
      name: work, item_id: item, start_date: day, end_date: day, quantity, model_type: 'unit', unit_config: { unit_amount: '4.25' },
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
  const open = (amount) => list.getByRole('row').filter({ hasText: amount }).getByRole('link').first().click();
  await open('12.75');
  await page.getByText(work).waitFor();
  await sound(page);
  await page.getByRole('button', { name: 'Issue the invoice' }).click();
  await page.getByText('The invoice was issued').waitFor();
  await sound(page);
  remember('invoice');
  await enter('Invoices');
  await sound(page);
  remember('invoices');
  await open('21.25');
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
  await page.goto(shown.get('customer'));
  await sound(page);
  await page.getByRole('region', { name: /^Balances/ }).getByRole('link', { name: 'USD' }).click();
  await page.getByText('12.50').first().waitFor();
  await sound(page);
  remember('ledger');
  await enter('Plans');
  await sound(page);
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

test('a backfill is made, and closed after a look at what that changes', async () => {
  await enter('Backfills');
  await sound(page);
  const day = 86_400_000;
  const at = (days) => new Date(Date.now() - days * day).toISOString().slice(0, 19);
  await page.getByLabel('From', { exact: true }).fill(at(20));
  await page.getByLabel('To', { exact: true }).fill(at(1));
  await page.getByRole('button', { name: 'Create the backfill' }).click();
  await page.getByText('The backfill is open').waitFor();
  const { data } = await create('/events/backfills');
  const late = Array.from({ length: 18 }, (_, days) => ({
    ...count(20 + ((days * 13) % 17)), idempotency_key: `day-${days}`,
    timestamp: new Date(Date.now() - (days + 2) * day).toISOString(),
  }));
  await create(`/ingest?backfill_id=${data[0].id}`, { events: late });
  await page.reload();
  await sound(page);
  remember('backfill');
  await page.getByRole('button', { name: /Close/ }).click();
  await page.getByText('The backfill is closed').waitFor();
  await sound(page);
});

test('what was done is in the audit log', async () => {
  await page.getByRole('navigation', { name: 'Console', exact: true }).getByRole('link', { name: 'Audit log' }).click();
  await page.getByText('issue_api_key').first().waitFor();
  await page.getByText('Grace').first().waitFor();
  await sound(page);
  remember('audit');
  await page.getByRole('navigation', { name: 'Console', exact: true }).getByRole('link', { name: 'People' }).click();
  await sound(page);
  remember('people');
});

test('every page holds on a phone and in the dark', async () => {
  const state = await context.storageState();
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark']) {
      const other = await browser.newContext({ viewport, colorScheme, storageState: state, hasTouch: size === 'phone' });
      const tab = await watched(other, origin, faults);
      for (const [name, url] of shown) {
        await tab.goto(url);
        await sound(tab);
        if (pictures) {
          await mkdir(pictures, { recursive: true });
          await tab.screenshot({ path: `${pictures}/${name}-${size}-${colorScheme}.png`, fullPage: false });
        }
      }
      await other.close();
    }
  }
});

test('a page works with the keyboard alone, and without script', async () => {
  await page.goto(shown.get('overview'));
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'content');
  const state = await context.storageState();
  const plain = await browser.newContext({ javaScriptEnabled: false, storageState: state });
  const tab = await plain.newPage();
  await tab.goto(shown.get('customer'));
  assert.ok((await tab.getByRole('heading').count()) > 0);
  await plain.close();
});

test('a key that is revoked is good for nothing', async () => {
  await page.goto(shown.get('keys'));
  await page.getByRole('main').getByRole('link', { name: 'curl' }).first().click();
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('The key is revoked').waitFor();
  assert.equal((await curl('/ping')).status, 401);
});

test('whoever has signed out is asked who they are', async () => {
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.getByText('You are signed out.').waitFor();
  await sound(page);
  await page.goto(shown.get('customer'));
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('E-mail address').fill('grace@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText(name).first().waitFor();
});

test('a person changes the password', async () => {
  await page.getByRole('link', { name: /Grace/ }).first().click();
  await page.getByRole('heading', { name: 'Your password' }).waitFor();
  await sound(page);
  const again = `${PASSWORD} again`;
  const change = async (present) => {
    await page.getByLabel('Present password').fill(present);
    await page.getByLabel('New password', { exact: true }).fill(again);
    await page.getByLabel('New password, once more').fill(again);
    await page.getByRole('button', { name: 'Change the password' }).click();
  };
  await change('wrong wrong wrong');
  await page.getByText('This is not your password.').waitFor();
  await sound(page);
  await change(PASSWORD);
  await page.getByText('The password is changed').waitFor();
  await sound(page);
});

test('no page has said that something is wrong', () => assert.deepEqual(faults, []));
