/** Tests that one address cannot block the REST listener for others or for itself. Uses real sockets on loopback. */
import { once } from 'node:events';
import { Agent, createServer, get, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ConnectionLimits, Connections } from '../../../src/edge/rest/http/connections.ts';

const open: { destroy(): void }[] = [];
let server: Server | undefined;

afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

async function listen(limits: Partial<ConnectionLimits>): Promise<[number, Connections]> {
  const held: (() => void)[] = [];
  server = createServer((request, response) => {
    if (request.url === '/hold') held.push(() => response.end());
    else response.end('ok');
  });
  const connections = new Connections({ perAddress: 5, total: 20, proxies: [], ...limits });
  connections.watch(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return [(server.address() as AddressInfo).port, connections];
}

async function idle(port: number, from: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  socket.on('error', () => undefined);
  socket.resume();
  open.push(socket);
  await once(socket, 'connect');
  return socket;
}

const ask = (port: number, from: string, path = '/', agent = new Agent()): Promise<number> =>
  new Promise((resolve, reject) => {
    open.push(agent);
    const request = get(
      { port, host: '127.0.0.1', localAddress: from, path, agent },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    request.on('error', reject);
  });

describe('connections of the REST listener', () => {
  it('limits the connections of one address and still serves its next request', async () => {
    const [port, connections] = await listen({});
    for (let n = 0; n < 30; n += 1) await idle(port, '127.0.0.2');
    expect(await ask(port, '127.0.0.2')).toBe(200);
    expect(connections.size).toBeLessThanOrEqual(6);
    expect(await ask(port, '127.0.0.3')).toBe(200);
  });

  it('closes the longest-idle connection, not a busy one', async () => {
    const [port] = await listen({});
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await ask(port, '127.0.0.2', '/', agent)).toBe(200);
    for (let n = 0; n < 4; n += 1) await idle(port, '127.0.0.2');
    expect(await ask(port, '127.0.0.2', '/', agent)).toBe(200);
    const next = await idle(port, '127.0.0.2');
    expect(await ask(port, '127.0.0.2', '/', agent)).toBe(200);
    expect(next.destroyed).toBe(false);
  });

  it('closes a further connection when all others have requests in progress', async () => {
    const [port] = await listen({ perAddress: 3 });
    const agent = new Agent({ keepAlive: true });
    for (let n = 0; n < 3; n += 1) ask(port, '127.0.0.2', '/hold', agent).catch(() => undefined);
    await expect.poll(() => Object.values(agent.sockets).flat().length).toBe(3);
    await expect(ask(port, '127.0.0.3')).resolves.toBe(200);
    await expect(ask(port, '127.0.0.2')).rejects.toThrow();
  });

  it('limits the total number of connections', async () => {
    const [port, connections] = await listen({ total: 10 });
    for (let n = 0; n < 30; n += 1) await idle(port, `127.0.1.${n + 1}`);
    expect(await ask(port, '127.0.0.3')).toBe(200);
    expect(connections.size).toBeLessThanOrEqual(11);
  });

  it('applies only the total limit to a trusted proxy', async () => {
    const [port, connections] = await listen({ proxies: ['127.0.0.0/29'] });
    for (let n = 0; n < 12; n += 1) await idle(port, '127.0.0.2');
    await expect.poll(() => connections.size).toBe(12);
  });
});
