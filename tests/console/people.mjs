// People: invited, given roles, refused what theirs does not allow, and disabled. What each has done is in the audit log.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answered, open, sound, soundEverywhere, watched } from './browser.mjs';
import { PASSWORD, browser, enter, faults, made, origin, page, path, remember, shown, signIn } from './setting.mjs';

const rowOf = (person) => page.getByRole('region', { name: 'People' }).getByRole('row').filter({ hasText: person });

/** Reads the link that is shown once. */
async function handedOver() {
  const at = await page.getByLabel('Link', { exact: true }).inputValue();
  return new URL(at, origin).href;
}

test('somebody who is invited comes in, does what the role allows, and is out once disabled', async () => {
  await enter('People');
  await sound(page);
  remember('people');
  const invite = async (email) => {
    await page.getByLabel('Name', { exact: true }).fill('Barbara');
    await page.getByLabel('E-mail address', { exact: true }).fill(email);
    await page.getByLabel('Role', { exact: true }).selectOption('read');
    await page.getByRole('button', { name: 'Make the link' }).click();
  };
  await invite('grace@example.com');
  await page.getByRole('alert').waitFor();
  await soundEverywhere(page);
  await invite('barbara@example.com');
  const invitation = await handedOver();
  await soundEverywhere(page);

  const other = await browser.newContext();
  const tab = await watched(other, origin, faults);
  const accept = async (password, button) => {
    await tab.getByLabel('Password', { exact: true }).fill(password);
    await tab.getByLabel('Password, once more').fill(password);
    await tab.getByRole('button', { name: button }).click();
    await tab.getByRole('heading', { name: 'Accounts' }).waitFor();
  };
  await open(tab, invitation);
  await tab.getByText('barbara@example.com').waitFor();
  await soundEverywhere(tab);
  await accept(`${PASSWORD} of Barbara`, 'Accept and sign in');
  await tab.getByRole('link', { name: 'Barbara read' }).waitFor();
  await soundEverywhere(tab);

  // What somebody else does is looked at, and neither offered nor done.
  await open(tab, path('subscriptions', made.subscription));
  await sound(tab);
  assert.equal(await tab.getByRole('link', { name: 'New alert' }).count(), 0);
  assert.equal(await tab.getByRole('link', { name: 'People' }).count(), 0);
  const foreign = [shown.get('alert'), shown.get('key'), shown.get('people')];
  for (const url of foreign) {
    await open(tab, url, 403);
    await tab.getByRole('heading', { name: 'Not for your role' }).waitFor();
    await soundEverywhere(tab);
  }
  await open(tab, path('keys'));
  await sound(tab);
  assert.equal(await tab.getByRole('button', { name: 'Issue the key' }).count(), 0);
  // A form that is there for all, sent elsewhere: its token is of this session.
  await open(tab, path());
  const button = tab.getByRole('button', { name: 'Sign out' });
  await button.evaluate(({ form }, to) => form.setAttribute('action', to), path('keys'));
  await answered(tab, 403, async () => {
    await button.click();
    await tab.getByRole('heading', { name: 'Not for your role' }).waitFor();
  });
  assert.equal(new URL(tab.url()).pathname, new URL(path('keys')).pathname);
  await sound(tab);

  const choose = async (role) => {
    await page.getByLabel('Role of Barbara').selectOption(role);
    await rowOf('Barbara').getByRole('button', { name: 'Change' }).click();
    await page.getByText('The role is changed.').waitFor();
    await sound(page);
  };
  await enter('People');
  await choose('operate');
  await open(tab, shown.get('alert'));
  await sound(tab);
  await open(tab, shown.get('people'), 403);
  await choose('read');
  await open(tab, shown.get('alert'), 403);

  await rowOf('Barbara').getByRole('button', { name: 'Reset password' }).click();
  const reset = await handedOver();
  await soundEverywhere(page);
  await open(tab, reset);
  await tab.getByText('Choose another password').waitFor();
  await soundEverywhere(tab);
  await accept(`${PASSWORD} of hers`, 'Change it and sign in');

  await rowOf('Barbara').getByRole('button', { name: 'Disable' }).click();
  await page.getByText('The person is disabled, and signed out everywhere.').waitFor();
  await rowOf('Barbara').getByText('Disabled').waitFor();
  await sound(page);
  await open(tab, path());
  await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(tab, 'barbara@example.com', `${PASSWORD} of hers`);
  await tab.getByText('The e-mail address or the password is wrong.').waitFor();
  await soundEverywhere(tab);
  await rowOf('Barbara').getByRole('button', { name: 'Enable' }).click();
  await page.getByText('The person can sign in again.').waitFor();
  await signIn(tab, 'barbara@example.com', `${PASSWORD} of hers`);
  await tab.getByRole('heading', { name: 'Overview' }).waitFor();
  await sound(tab);
  await other.close();
});

test('what was done is in the audit log', async () => {
  await enter('Audit log');
  await page.getByText('issue_api_key').first().waitFor();
  await page.getByText('Grace').first().waitFor();
  await page.getByText('disable_person').first().waitFor();
  await sound(page);
  remember('audit');
});
