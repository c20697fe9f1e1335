// Alerts: made with a view of the period before, fired, and deleted.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sound, soundEverywhere } from './browser.mjs';
import { PRICE, cells, count, create, day, enter, made, name, page, past, receiver, remember } from './setting.mjs';

/** Tries thresholds out. */
async function tryOut(thresholds) {
  await page.getByLabel('Thresholds').fill(thresholds);
  await page.getByRole('button', { name: 'See when it would have fired' }).click();
  await page.waitForURL((url) => url.searchParams.get('thresholds') === thresholds);
}

/** Drags the line in the plot from one part of its height to another, and returns the thresholds then. */
async function drag(from, to) {
  const plot = await page.locator('[data-drag] svg[data-ends]').first().boundingBox();
  const at = (part) => [plot.x + plot.width / 2, plot.y + plot.height * part];
  await page.mouse.move(...at(from));
  await page.mouse.down();
  await page.mouse.move(...at(to), { steps: 5 });
  const dragged = await page.getByLabel('Thresholds').inputValue();
  await page.mouse.up();
  await page.waitForURL((url) => url.searchParams.get('thresholds') === dragged);
  assert.equal(await page.getByLabel('Thresholds').inputValue(), dragged);
  return dragged;
}

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
  await page.getByRole('heading', { name: `The billing period from ${day(past.start)} to ${day(new Date(past.end - 1))}` }).waitFor();
  const dragged = await drag(0.8, 0.5);
  assert.ok(Number(dragged) > 0, 'dragging says a value');
  await sound(page);
  await tryOut('5, 7');
  const [first, last] = (await drag(0.8, 0.5)).split(', ');
  assert.deepEqual([first, Number(last) > 7], ['5', true], 'the others stay');
  await tryOut('nothing');
  await page.getByText('One field is to be changed.').waitFor();
  await soundEverywhere(page);
  await tryOut('10');
  await sound(page);
  // By the time of the picture there is an alert on the cost, so that it is of the usage.
  remember('alert', { watch: made.metric, thresholds: '400' });
  await page.getByText('It would not fire now').waitFor();
  await page.getByRole('button', { name: 'Create the alert' }).click();
  await page.getByText('The alert is created.').waitFor();
  await sound(page);
  remember('subscription');
  await page.getByRole('link', { name: 'New alert' }).first().click();
  await tryOut('20');
  await page.getByText('An alert watches this already').waitFor();
  await sound(page);
  await page.getByRole('link', { name: 'look at it' }).click();
  await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Ada' }).click();
  await page.getByRole('heading', { name: 'Invoices' }).waitFor();
  await sound(page);
  remember('customer');
  const hours = Array.from({ length: 20 }, (_, hour) => hour + 1);
  const earlier = hours.map((hour) => ({
    ...count(1 + ((hour * 7) % 11), new Date(Date.now() - hour * 3_600_000)), idempotency_key: `hour-${hour}`,
  }));
  await create('/ingest', { events: [count(20), ...earlier] });
  const fired = await receiver.next('subscription.cost_exceeded');
  assert.ok(fired.properties);
  await enter('Webhooks');
  await page.getByRole('main').getByRole('link', { name: fired.type }).first().click();
  await page.getByText('204').first().waitFor();
  await page.getByRole('heading', { name: 'Why it fired' }).waitFor();
  await page.getByRole('link', { name: 'event-20', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Show the subscription' }).waitFor();
  await sound(page);
  remember('message');
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('The message will be sent again.').waitFor();
  await enter('Webhooks');
  await sound(page);
  remember('webhooks');
});

test('a threshold would have fired on the day that the period before had come to it', async () => {
  await page.getByRole('main').getByRole('link', { name: 'subscription.cost_exceeded' }).first().click();
  await page.getByRole('link', { name: 'Show the subscription' }).click();
  await page.getByRole('link', { name: 'New alert' }).first().click();
  await tryOut('10, 100, 1000000');
  /** The day by whose end a cost was reached. */
  const reached = (cost) => {
    let sum = 0;
    return day(past.days.find(([, amount]) => (sum += amount * PRICE) >= cost)[0]);
  };
  assert.notEqual(reached(10), reached(100));
  assert.deepEqual(await cells('When it would have fired'), [
    ['10', '▲ Would have fired', reached(10)],
    ['100', '▲ Would have fired', reached(100)],
    ['1,000,000', '● Would not have fired', '–'],
  ]);
  await sound(page);
});

test('an alert is deleted', async () => {
  await page.getByLabel('Watch', { exact: true }).selectOption(made.metric);
  await tryOut('1000000');
  await page.getByText('It would not fire now').waitFor();
  await page.getByRole('button', { name: 'Create the alert' }).click();
  await page.getByText('The alert is created.').waitFor();
  const alerts = page.getByRole('region', { name: 'Alerts, newest first' });
  const own = alerts.getByRole('row').filter({ hasText: '1,000,000' });
  await own.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('The alert is deleted.').waitFor();
  assert.equal(await own.count(), 0);
  assert.equal(await alerts.getByText('cost_exceeded').count(), 1, 'the other one stays');
  await sound(page);
});
