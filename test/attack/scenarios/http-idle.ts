import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Field, Figure, Scenario } from '../scenario.ts';

const CONNECTIONS = 10_000;
const QUICK_CONNECTIONS = 4000;
/** Connections opened per batch, so that the listener's backlog does not limit the test. */
const AT_ONCE = 100;
const ASK_EVERY_MS = 100;
const ASK_LIMIT_MS = 5000;

export const scenario: Scenario = {
  about: '10,000 idle HTTP connections from one address, some with half a request',
  async attack(field) {
    const port = Number(new URL(field.service.baseUrl).port);
    const sockets: Socket[] = [];
    const requested = askAll(field, port);
    try {
      const count = field.quick ? QUICK_CONNECTIONS : CONNECTIONS;
      while (sockets.length < count && !field.over.aborted) {
        for (let n = 0; n < AT_ONCE; n += 1) sockets.push(idle(port, sockets.length));
        await pause(20);
      }
      return [
        { name: 'connections opened', value: sockets.length, unit: '' },
        ...(await requested),
      ];
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  },
};

function idle(port: number, n: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.resume();
  if (n % 3 === 1) socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n');
  if (n % 3 === 2) socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  return socket;
}

async function askAll(field: Field, port: number): Promise<readonly Figure[]> {
  const answered = { same: [0, 0], other: [0, 0] };
  while (!field.over.aborted) {
    for (const [whose, from] of [
      ['same', '127.0.0.1'],
      ['other', '127.0.0.5'],
    ] as const) {
      answered[whose][0] = (answered[whose][0] ?? 0) + 1;
      if (await ask(port, from)) answered[whose][1] = (answered[whose][1] ?? 0) + 1;
    }
    await pause(ASK_EVERY_MS);
  }
  return Object.entries(answered).map(([whose, [requested = 0, served = 0]]) => ({
    name: `requests served to the ${whose} address`,
    value: (100 * served) / requested,
    unit: '%',
    atLeast: 99,
  }));
}

const ask = (port: number, localAddress: string): Promise<boolean> =>
  new Promise((resolve) => {
    const agent = new Agent({ maxSockets: 1 });
    const timeout = ASK_LIMIT_MS;
    const options = { port, host: '127.0.0.1', localAddress, path: '/healthz', agent, timeout };
    const request = get(options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
