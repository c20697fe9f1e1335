// What the tests share: the tab of the first person, the endpoints, the customer, and the API.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after } from 'node:test';
import { promisify } from 'node:util';

import { SIZES, launch, watched } from './browser.mjs';
import { receive } from './receiver.mjs';

/** Where the API and the console are, the link of the first person, and where pictures go, if anywhere. */
export const { ACCRUE_URL: api, ACCRUE_CONSOLE: link, ACCRUE_PICTURES: pictures } = process.env;
export const origin = new URL(link).origin;
export const PASSWORD = 'correct horse battery staple';

/** Nobody who has such a name does harm by it; in pictures she has her own. */
export const name = pictures ? 'Ada Lovelace' : 'Ada <script>alert(1)</script> "&';
/** What an endpoint answers at first. */
export const later = pictures ? 'try again later' : 'try again later <b>';

/** What is wrong with any page. */
export const faults = [];
/** What a test has made that others need. */
export const made = {};
/** Paths of pages that there are pictures of, by their names. */
export const shown = new Map();

export const browser = await launch();
export const context = await browser.newContext({ viewport: SIZES.desktop, colorScheme: 'light' });
export const page = await watched(context, origin, faults);
export const receiver = await receive();
export const fickle = await receive((nth) => (nth === 0 ? [500, later] : [200, 'thank you']));

after(async () => {
  receiver.close();
  fickle.close();
  await browser.close();
});

/** Asks the API by curl, and returns the status and the body. */
export async function curl(path, body, token = made.token) {
  const args = ['-sS', '-w', '\n%{http_code}', `${api}${path}`, '-H', `Authorization: Bearer ${token}`];
  if (body) args.push('-d', JSON.stringify(body));
  const { stdout } = await promisify(execFile)('curl', args);
  const [text, status] = stdout.split(/\n(?=\d+$)/);
  return { status: Number(status), body: text && JSON.parse(text) };
}

/** Asks the API for what is there. */
export const look = (path) => create(path);

export async function create(path, body) {
  const answer = await curl(path, body);
  assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer)}`);
  return answer.body;
}

/** Waits until something is so, which the server does a moment later. */
export async function until(what, is) {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    if (await is()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`it has not come about: ${what}`);
}

/** Follows a link of the navigation. */
export const enter = (name, tab = page) =>
  tab.getByRole('navigation', { name: 'Console', exact: true }).getByRole('link', { name }).click();

/** Signs somebody in, or not. */
export async function signIn(tab, email, password) {
  await tab.getByLabel('E-mail address').fill(email);
  await tab.getByLabel('Password').fill(password);
  await tab.getByRole('button', { name: 'Sign in' }).click();
}

/** Has a picture made of this page, without what a form has done. */
export function remember(name, change = {}) {
  const url = new URL(page.url());
  url.searchParams.delete('done');
  for (const [key, value] of Object.entries(change)) url.searchParams.set(key, value);
  shown.set(name, url.href);
}

/** Returns the path of a page of the account. */
export const path = (...parts) => `${link.replace(/invitation.*/, 'a/acme')}${parts.map((part) => `/${part}`).join('')}`;

/** Reads the cells of a table by its caption, row by row. */
export const cells = (caption, tab = page) =>
  tab.getByRole('region', { name: caption, exact: true }).locator('tbody tr').evaluateAll((rows) =>
    rows.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));

/** An event of the customer. */
export const count = (amount, at = new Date()) => ({
  idempotency_key: `event-${amount}`, event_name: 'completion', external_customer_id: 'ada',
  timestamp: at.toISOString(), properties: { tokens: amount, region: 'eu' },
});

const DAY = 86_400_000;
const now = new Date();
const month = (back) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1);
/** The billing period before, and what is used on each of its days. */
export const past = {
  start: new Date(month(1)),
  end: new Date(month(0)),
  days: Array.from({ length: (month(0) - month(1)) / DAY }, (_, n) => [new Date(month(1) + n * DAY), 12 + ((n * 7) % 11)]),
};
/** What a token costs, in USD. */
export const PRICE = 0.5;

/** Writes the day of an instant. */
export const day = (at) => at.toISOString().slice(0, 10);

/** Ingests events of the past, which a backfill takes. */
export async function backfill(start, end, events, more = {}) {
  const body = { timeframe_start: start.toISOString(), timeframe_end: end.toISOString(), replace_existing_events: false };
  const { id } = await create('/events/backfills', { ...body, ...more });
  await create(`/ingest?backfill_id=${id}`, { events });
  await create(`/events/backfills/${id}/close`, {});
  await until('the backfill is reflected', async () => (await look(`/events/backfills/${id}`)).status === 'reflected');
  return id;
}
