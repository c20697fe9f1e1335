// An endpoint that keeps what it is sent, and answers as it is told.

import { once } from 'node:events';
import { createServer } from 'node:http';

/** Starts an endpoint. `answer` gives the status and the body for the nth request, the first being 0. */
export async function receive(answer = () => [204, '']) {
  const received = [];
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    const [status, body] = answer(received.length);
    received.push({ path: request.url, headers: request.headers, text, message: JSON.parse(text) });
    response.writeHead(status).end(body);
    server.emit('received');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  /** Waits for the first request that a function says yes to. */
  const first = async (is) => {
    for (;;) {
      const found = received.find(is);
      if (found) return found;
      await once(server, 'received', { signal: AbortSignal.timeout(30_000) });
    }
  };
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    received,
    first,
    next: async (type) => (await first(({ message }) => message.type === type)).message,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
