// Endpoints of webhooks: what they are sent and have answered, changes, secrets.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import Orb from 'orb-billing';
import { Webhook } from 'standardwebhooks';

import { sound, soundEverywhere } from './browser.mjs';
import { create, enter, fickle, later, page, receiver, remember } from './setting.mjs';

const { webhooks } = new Orb({ baseURL: 'http://localhost', apiKey: 'unused' });

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
  await soundEverywhere(page);
  await change('customer.created, customer.edited');
  await page.getByText('The endpoint is changed.').waitFor();
  assert.equal(await page.getByLabel('Order of a customer’s messages').inputValue(), 'strict');
  assert.equal(await page.getByLabel('Types of messages').inputValue(), 'customer.created, customer.edited');
  await sound(page);
});

/** Tells whether a receiver takes a request; whatever else is wrong with it is thrown. */
function isTaken(take) {
  try {
    return take().type === 'customer.created';
  } catch (error) {
    if (!/signatures match|matching signature/.test(error.message)) throw error;
    return false;
  }
}

test('a secret is rotated, and for a while receivers of both kinds take requests by the older one, and one kind by either', async () => {
  const [before, after] = [await add(`${fickle.url}/gone`), await add(`${fickle.url}/too`)];
  assert.notEqual(before, after);
  await endpointPage(`${fickle.url}/too`);
  await page.getByLabel('Requests are signed with the present secret too for').selectOption('24');
  await page.getByRole('button', { name: 'Rotate the secret' }).click();
  const rotated = await page.getByLabel('Signing secret').inputValue();
  await page.getByText('Two').first().waitFor();
  await soundEverywhere(page);
  await customer('Katherine Johnson');
  const at = (path) => (request) => about('Katherine Johnson')(request) && request.path === path;
  const { headers, text } = await fickle.first(at('/hook/too'));
  // Some of the published clients read one signature of their header: it is that of the older secret alone.
  const takes = {
    'x-orb-signature': (secret) => webhooks.unwrap(text, headers, secret),
    'webhook-signature': (secret) => new Webhook(secret).verify(text, headers),
  };
  const are = { 'x-orb-signature': [false, true, false], 'webhook-signature': [false, true, true] };
  for (const [header, take] of Object.entries(takes)) {
    const secrets = [before, after, rotated];
    assert.deepEqual(secrets.map((secret) => isTaken(() => take(secret))), are[header], header);
  }
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
