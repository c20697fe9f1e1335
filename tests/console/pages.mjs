// Every page in all sizes and lights, with the keyboard, and without script.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { test } from 'node:test';

import { LIGHTS, SIZES, open, sound, soundEverywhere, watched } from './browser.mjs';
import { browser, context, enter, faults, link, made, origin, page, path, pictures, remember, shown } from './setting.mjs';

test('every page holds on a phone and in the dark', async () => {
  await page.getByRole('link', { name: /Grace/ }).first().click();
  await page.getByRole('heading', { name: 'Your password' }).waitFor();
  remember('password');
  const state = await context.storageState();
  const looks = Object.keys(SIZES).flatMap((size) => LIGHTS.map((light) => [size, light]));
  const sweep = async (size, colorScheme, pages, storageState) => {
    const other = await browser.newContext({ viewport: SIZES[size], colorScheme, storageState, hasTouch: size === 'phone' });
    const tab = await watched(other, origin, faults);
    for (const [name, url] of pages) {
      await open(tab, url);
      await sound(tab);
      if (pictures) {
        await mkdir(pictures, { recursive: true });
        await tab.screenshot({ path: `${pictures}/${name}-${size}-${colorScheme}.png`, fullPage: true });
      }
    }
    await other.close();
  };
  const signIn = [['sign-in', link.replace(/invitation.*/, 'sign-in')]];
  await Promise.all(looks.map(async ([size, light]) => {
    await sweep(size, light, shown, state);
    await sweep(size, light, signIn);
  }));
});

test('a page that is not there says so', async () => {
  const absent = [path('nowhere'), path('customers', 'nobody'), path('messages', made.subscription)];
  for (const url of absent) {
    await open(page, url, 404);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await soundEverywhere(page);
  }
  // What is asked for without an account is the list of them.
  await open(page, `${link.replace(/invitation.*/, 'open')}?account=`);
  await page.getByRole('heading', { name: 'Accounts' }).waitFor();
  await sound(page);
  await page.getByRole('link', { name: 'accrue' }).click();
  await page.getByRole('heading', { name: 'Accounts' }).waitFor();
});

test('what a page loads is there, and nothing else is', async () => {
  await open(page, shown.get('overview'));
  const names = await page.evaluate(() =>
    [...document.querySelectorAll('link[href], script[src]')].map((of) => of.href ?? of.src));
  assert.equal(names.length, 3);
  const statuses = async (urls) => (await Promise.all(urls.map((url) => fetch(url)))).map(({ status }) => status);
  assert.deepEqual(await statuses(names), [200, 200, 200]);
  assert.deepEqual(await statuses(names.map((url) => url.replace(/-\w+/, ''))), [404, 404, 404]);
});

test('a page works with the keyboard alone', async () => {
  await open(page, shown.get('overview'));
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'content');
});

test('a page works without script', async () => {
  const storageState = await context.storageState();
  const plain = await browser.newContext({ javaScriptEnabled: false, storageState });
  const tab = await watched(plain, origin, faults);
  await open(tab, shown.get('customer'));
  assert.ok((await tab.getByRole('heading').count()) > 0);
  await enter('Events', tab);
  await tab.getByLabel('Ids of events').fill('event-7, no-such-event');
  await tab.getByRole('main').getByRole('button', { name: 'Search' }).click();
  const events = tab.getByRole('region', { name: 'Events' });
  await events.getByRole('rowheader', { name: 'event-7' }).waitFor();
  assert.equal(await events.locator('tbody tr').count(), 1);

  await enter('People', tab);
  await tab.getByLabel('Name', { exact: true }).fill('Margaret');
  await tab.getByLabel('E-mail address', { exact: true }).fill('margaret@example.com');
  await tab.getByLabel('Role', { exact: true }).selectOption('operate');
  await tab.getByRole('button', { name: 'Make the link' }).click();
  await tab.getByText('Send this link to margaret@example.com').waitFor();
  const invited = tab.getByRole('region', { name: 'Invitations' }).getByRole('row').filter({ hasText: 'Margaret' });
  const invitation = await tab.getByLabel('Link', { exact: true }).inputValue();
  assert.match(await invited.innerText(), /margaret@example\.com\s+operate/);
  await invited.getByRole('button', { name: 'Withdraw' }).click();
  await tab.getByText('The invitation is withdrawn.').waitFor();
  assert.equal(await tab.getByText('Margaret').count(), 0);
  await open(tab, new URL(invitation, origin).href, 404);
  await tab.getByText('or was withdrawn').waitFor();
  await plain.close();
});
