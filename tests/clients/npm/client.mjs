// The client under test, and a record of what it drove.

import Orb from 'orb-billing';

/** Where the server is, with the base path, and the key that it lets in. */
export const baseURL = process.env.ACCRUE_URL;
export const apiKey = process.env.ACCRUE_API_KEY;
if (!baseURL || !apiKey) throw new Error('ACCRUE_URL and ACCRUE_API_KEY say what to test');

/** The operations that the server says it serves: `GET /items/{item_id}` and the like. */
export const served = await readServed();

/** Those that were answered with a success. */
export const driven = new Set();

async function readServed() {
  const answer = await fetch(new URL('/openapi.json', baseURL));
  if (!answer.ok) throw new Error(`the server does not say what it serves: ${answer.status}`);
  const { paths } = await answer.json();
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map((method) => `${method.toUpperCase()} ${belowBase(path)}`),
  );
  return operations.map((name) => ({ name, pattern: patternOf(name) }));
}

function belowBase(path) {
  const { pathname } = new URL(baseURL);
  return path.startsWith(`${pathname}/`) ? path.slice(pathname.length) : path;
}

function patternOf(name) {
  const escaped = name.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{[^}]*\}/g, '[^/]+')}$`);
}

/** Finds the operation of a request: of those that match, the one with the most fixed words. */
function operationOf(method, url) {
  const path = new URL(url).pathname.slice(new URL(baseURL).pathname.length);
  const parameters = ({ name }) => name.split('{').length;
  const matching = served.filter(({ pattern }) => pattern.test(`${method} ${path}`));
  return matching.sort((one, other) => parameters(one) - parameters(other))[0];
}

/** Fetches, and remembers the operation where it succeeded. */
export async function recordingFetch(url, init) {
  const response = await fetch(url, init);
  const operation = operationOf((init?.method ?? 'GET').toUpperCase(), url);
  if (response.ok && operation) driven.add(operation.name);
  return response;
}

/** Makes a client, with more options. */
export function newClient(options = {}) {
  return new Orb({ baseURL, apiKey, maxRetries: 0, fetch: recordingFetch, ...options });
}

/** The client of most tests: it tries nothing twice. */
export const client = newClient();
