/** A Redis whose host vanished: its connections stay open, and new ones reach another host. Skipped without redis-server. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { systemClock } from '../../../src/edge/clock/system-clock.ts';
import { openRedis } from '../../../src/edge/cluster/redis-link.ts';
import { eventually } from '../../eventually.ts';
import { HAS_REDIS, type PrivateRedis, startRedis } from './redis.ts';

const WAIT_MS = 20_000;

/** Forwards connections to Redis, and answers the question of a client for the primary as a Sentinel. */
class Forwarder {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections that are forwarded. */
  #forwarded = new Set<Socket>();
  /** Number of next connections that are not forwarded. */
  #swallowed = 0;

  constructor(server: Server, redisPort: number) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (client) => {
      if (this.#swallowed > 0) this.#swallowed -= 1;
      else this.#forwarded.add(client);
      const redis = connect(redisPort, '127.0.0.1');
      for (const socket of [client, redis]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
      }
      client.on('close', () => redis.destroy());
      client.on('data', (data) => {
        if (!this.#forwarded.has(client)) return;
        if (String(data).includes('get-master-addr-by-name')) {
          const port = String(this.port);
          client.write(`*2\r\n$9\r\n127.0.0.1\r\n$${port.length}\r\n${port}\r\n`);
        } else redis.write(data);
      });
      redis.on('data', (data) => {
        if (this.#forwarded.has(client)) client.write(data);
      });
    });
  }

  static async to(redis: PrivateRedis): Promise<Forwarder> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Forwarder(server, Number(new URL(redis.url).port));
  }

  /** Swallows all packets of the existing connections, and of the `next` ones. */
  vanish(next: number): void {
    this.#forwarded = new Set();
    this.#swallowed = next;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

describe.skipIf(!HAS_REDIS)('a Redis that no longer answers (needs redis-server)', () => {
  let redis: PrivateRedis;
  const closing: (() => void)[] = [];
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    for (const close of closing) close();
    await redis.kill();
  });

  it.concurrent.each([
    ['redis', (port: number) => `redis://127.0.0.1:${port}`, 0],
    ['redis, after two attempts', (port: number) => `redis://127.0.0.1:${port}`, 2],
    ['Sentinel', (port: number) => `redis+sentinel://127.0.0.1:${port}/main`, 0],
    [
      'Sentinel, after two attempts',
      (port: number) => `redis+sentinel://127.0.0.1:${port}/main`,
      2,
    ],
  ])(
    'is left for its successor: %s',
    async (name, urlOf, swallowed) => {
      const forwarder = await Forwarder.to(redis);
      closing.push(() => forwarder.close());
      const link = await openRedis(urlOf(forwarder.port), {
        clock: systemClock,
        logger: silentLogger,
      });
      closing.push(() => link.close());
      let heard = '';
      await link.subscribe(`channel ${name}`, (message) => {
        heard = message;
      });
      forwarder.vanish(swallowed);
      await expect(link.send('PING')).rejects.toMatchObject({ code: 'CLUSTER_UNAVAILABLE' });
      const answers = async () => {
        await link.send('PUBLISH', `channel ${name}`, 'again').catch(() => undefined);
        return heard === 'again' ? true : undefined;
      };
      expect(await eventually('an answer and a message', answers, WAIT_MS)).toBe(true);
      expect(link.isConnected).toBe(true);
    },
    40_000,
  );
});
