// A browser, and what is held against every page: no error in its console, nothing from elsewhere, nothing that is refused
// unasked, and no violation that axe-core finds.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { chromium } from 'playwright-core';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };
export const LIGHTS = ['light', 'dark'];

/** What answers a form that was refused. */
const REFUSED = [409, 422, 429];

/** Statuses that tabs are to be answered with next. */
const meant = new WeakMap();

/** Tabs that show a page that was asked for, not what a form was answered with. */
const asked = new WeakSet();

/** Paths of the pages that were held, and of the forms that did something. */
export const driven = { GET: new Set(), POST: new Set() };

/** Starts a browser. */
export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** Opens a tab whose pages are watched: `faults` has what is wrong with any of them. */
export async function watched(context, origin, faults) {
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error}`));
  page.on('console', (message) => {
    // Answers are looked at below, where it is known what asked.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) faults.push(`${page.url()}: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) faults.push(`${page.url()} asks ${request.url()}`);
  });
  page.on('response', (response) => {
    const [request, status] = [response.request(), response.status()];
    const isPage = request.isNavigationRequest();
    const isForm = request.method() === 'POST';
    if (isPage && !isForm && status === 200) asked.add(page);
    else if (isPage) asked.delete(page);
    if (isForm && status < 400) driven.POST.add(new URL(request.url()).pathname);
    const isMeant = meant.get(page) === status || (isForm && REFUSED.includes(status));
    if (status < 400 || (isPage && isMeant)) return;
    faults.push(`${page.url()}: ${request.method()} ${response.url()} is answered ${status}`);
  });
  page.on('requestfailed', (request) => {
    const { errorText } = request.failure();
    // Whoever goes on does not wait for the page before.
    if (errorText !== 'net::ERR_ABORTED') faults.push(`${page.url()}: ${request.url()}: ${errorText}`);
  });
  return page;
}

/** Opens a page, which is answered with a status. */
export async function open(page, url, status = 200) {
  await answered(page, status, async () => {
    const response = await page.goto(url);
    assert.equal(response.status(), status, url);
  });
}

/** Does something that a page is answered with a status for. */
export async function answered(page, status, does) {
  meant.set(page, status);
  await does();
  meant.delete(page);
}

/** Holds a page against axe-core, and against the width of the window. */
export async function sound(page) {
  // The policy of the page lets no script in: the debugger does.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const told = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
  assert.deepEqual(told, [], page.url());
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${page.url()} is wider than the window by ${wide}`);
  if (asked.has(page)) driven.GET.add(new URL(page.url()).pathname);
}

/** Holds a page in all sizes and lights as it stands there: what answers a form cannot be asked for again. */
export async function soundEverywhere(page) {
  for (const viewport of Object.values(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of LIGHTS) {
      await page.emulateMedia({ colorScheme });
      await sound(page);
    }
  }
  await page.setViewportSize(SIZES.desktop);
  await page.emulateMedia({ colorScheme: 'light' });
}
