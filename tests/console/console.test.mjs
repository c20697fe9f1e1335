// The console in a real browser: what a person does there, and what every page looks like. One test goes on where another has ended.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { driven } from './browser.mjs';
import { faults, link } from './setting.mjs';

import './start.mjs';
import './alerts.mjs';
import './endpoints.mjs';
import './billing.mjs';
import './people.mjs';
import './pages.mjs';
import './leave.mjs';

// Pages that are none: they lead to others.
const LEADS = ['/'];

test('every page was held, and every form was sent', async () => {
  const base = new URL(link).pathname.replace(/\/invitation$/, '');
  const table = await readFile(process.env.ACCRUE_ROUTES, 'utf8');
  const routes = [...table.matchAll(/^ {4}\w+, (GET|POST) "(.+?)" =>/gm)].map(([, method, path]) => [method, path]);
  assert.ok(routes.length > 50);
  const isDriven = ([method, path]) => {
    const of = new RegExp(`^${base}${path.replace(/\{\w+\}/g, '[^/]+')}$`);
    return [...driven[method]].some((path) => of.test(path));
  };
  const missing = routes.filter((route) => !isDriven(route)).map(([method, path]) => `${method} ${path}`);
  assert.deepEqual(missing, LEADS.map((path) => `GET ${path}`));
});

test('no page has said that something is wrong', () => assert.deepEqual(faults, []));
