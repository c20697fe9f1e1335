// A browser, and what is held against every page: no error in its console, nothing from elsewhere, and no violation that axe-core finds.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { chromium } from 'playwright-core';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };

/** Starts a browser. */
export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });

/** Opens a tab whose pages are watched: `faults` has what is wrong with any of them. */
export async function watched(context, origin, faults) {
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected(message)) faults.push(`${page.url()}: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) faults.push(`${page.url()} asks ${request.url()}`);
  });
  return page;
}

/** A page that says by its status that a form was refused is an error to the browser's console. */
const expected = (message) => /status of (401|403|404|409|422|429)/.test(message.text());

/** Holds a page against axe-core, and against the width of the window. */
export async function sound(page) {
  // The policy of the page lets no script in: the debugger does.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  const told = violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' ')}`);
  assert.deepEqual(told, [], page.url());
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${page.url()} is wider than the window by ${wide}`);
}
