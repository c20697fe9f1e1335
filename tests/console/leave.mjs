// The first person goes, comes back, and changes the password. The key of the others is revoked.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { open, sound, soundEverywhere } from './browser.mjs';
import { PASSWORD, curl, name, page, shown, signIn } from './setting.mjs';

test('a key that is revoked is good for nothing', async () => {
  await open(page, shown.get('keys'));
  await page.getByRole('main').getByRole('link', { name: 'curl' }).first().click();
  await page.getByRole('button', { name: 'Revoke the key' }).click();
  await page.getByText('The key is revoked').waitFor();
  assert.equal((await curl('/ping')).status, 401);
});

test('whoever has signed out is asked who they are', async () => {
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.getByText('You are signed out.').waitFor();
  await soundEverywhere(page);
  await open(page, shown.get('customer'));
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(page, 'grace@example.com', 'wrong wrong wrong');
  await page.getByText('The e-mail address or the password is wrong.').waitFor();
  await soundEverywhere(page);
  await signIn(page, 'grace@example.com', PASSWORD);
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
  await soundEverywhere(page);
  await change(PASSWORD);
  await page.getByText('The password is changed').waitFor();
  await sound(page);
});
