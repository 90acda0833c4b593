/** A Redis server for the test on loopback, if Debian's redis-server is installed. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

export interface PrivateRedis {
  readonly url: string;
  /** Kills the server as `kill -9` does. Its data is lost. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Closes the connections of subscribers. */
  endSubscribers(): Promise<void>;
  /** Sets whether the server refuses writes and answers reads (NOREPLICAS). A restart accepts writes. */
  refuseWrites(isRefusing: boolean): Promise<void>;
}

/** Starts the server on 127.0.0.1 and on additional loopback `addresses`. */
export async function startRedis(addresses: readonly string[] = []): Promise<PrivateRedis> {
  const port = await freePort();
  let server: ChildProcess | undefined;
  const command = async (text: string, expected: RegExp): Promise<void> => {
    const client = connect(port, '127.0.0.1');
    client.write(`${text}\r\n`);
    const [answer] = await once(client, 'data');
    client.destroy();
    if (!expected.test(String(answer))) throw new Error(`Redis: ${String(answer)}`);
  };
  const redis: PrivateRedis = {
    url: `redis://127.0.0.1:${port}`,
    async kill() {
      if (server === undefined) return;
      const { exitCode, signalCode } = server;
      if (exitCode === null && signalCode === null) {
        const ended = once(server, 'exit');
        server.kill('SIGKILL');
        await ended;
      }
      server = undefined;
    },
    async start() {
      const bind = ['--bind', '127.0.0.1', ...addresses, '--protected-mode', 'no'];
      const options = ['--port', String(port), ...bind, '--save', ''];
      const started = spawn('redis-server', [...options, '--appendonly', 'no'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      server = started;
      let said = '';
      for await (const chunk of started.stdout) {
        said += String(chunk);
        if (said.includes('Ready to accept connections')) break;
      }
      started.stdout.resume();
    },
    async endSubscribers() {
      await command('CLIENT KILL TYPE pubsub', /^:\d+\r\n$/);
    },
    async refuseWrites(isRefusing) {
      await command(`CONFIG SET min-replicas-to-write ${isRefusing ? 1 : 0}`, /^\+OK\r\n$/);
    },
  };
  await redis.start();
  return redis;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
