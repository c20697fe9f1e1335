// Verifies webhook requests as receivers do, with the published client. Each line of a file is a request: an object of
// `headers`, with their names in lower case, `body` and `secret`.

import { readFile } from 'node:fs/promises';

import Orb from 'orb-billing';

const { webhooks } = new Orb({ baseURL: 'http://localhost', apiKey: 'unused' });

let count = 0;
for (const file of process.argv.slice(2)) {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
  for (const { headers, body, secret } of lines.map((line) => JSON.parse(line))) {
    // The client takes the instant of the server's clock for the present.
    const at = headers['x-orb-timestamp'];
    const now = Date.parse(/Z|\+/.test(at) ? at : `${at}Z`);
    Date.now = () => now;
    webhooks.unwrap(body, headers, secret);
    count += 1;
  }
}
if (count === 0) throw new Error('there is nothing to verify');
console.log(`${count} requests are verified by the client of npm`);
