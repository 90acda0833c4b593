import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import {
  type Attacker,
  acceptance,
  attacker,
  pem,
  readPem,
  secureAttacker,
  text,
} from './attack-server.ts';

const CHILD = fileURLToPath(new URL('environment-child.ts', import.meta.url));
const SECURE = {
  key: readPem('leaf-key'),
  cert: `${readPem('leaf')}${readPem('intermediate')}`,
};
const servers: Attacker[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

/** Servers that send a message every millisecond to each client. */
async function talkers(): Promise<string[]> {
  const greet = (socket: import('node:net').Socket, request: string): void => {
    socket.write(acceptance(request));
    const timer = setInterval(() => {
      if (socket.writableLength === 0) socket.write(text({ event: 'checkpoint', name: 'x' }));
    }, 1);
    socket.resume().once('close', () => clearInterval(timer));
  };
  servers.push(await attacker(greet), await secureAttacker(SECURE, greet));
  return servers.map(({ url }) => url);
}

const run = (mode: string, urls: readonly string[]) =>
  promisify(execFile)(process.execPath, [CHILD, mode, ...urls], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: pem('root') },
  });

it.each(['exit', 'worker'])(
  'active sockets survive the end of their environment: %s',
  async (mode) => {
    await expect(run(mode, await talkers())).resolves.toBeDefined();
  },
);

it('trusts additional authorities of Node', async () => {
  const server = await secureAttacker(SECURE, (socket, request) => {
    socket.write(Buffer.concat([Buffer.from(acceptance(request)), text({ event: 'stop' })]));
  });
  servers.push(server);
  const { stdout } = await run('wait', [server.url]);
  expect(JSON.parse(stdout)).toEqual({ kind: 'stopRequested' });
});
