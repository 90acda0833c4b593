/** A command connection and a subscriber connection to Redis. Loads the client library only if Redis is configured. */
import type { createClient } from '@redis/client';
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { RedisPulse } from './redis-pulse.ts';
import { type RedisConnection, readSentinelUrl, SentinelClient } from './sentinel-client.ts';

/** Time limit for a command, ms. */
const COMMAND_MS = 500;
const CONNECT_MS = 2000;
/** Delay between connection attempts, ms. */
const RECONNECT_MS = 200;
/** Maximum number of pending commands. */
const MAX_COMMANDS = 50_000;
const PING_MS = 2000;
/** Delay of the next connection after one without answers was left, ms: its attempt has ended then. */
const LEFT_MS = 500;
const NO_PACKAGE =
  'cluster.redis needs the package @redis/client, which is not installed: run npm install in the project folder';

export interface RedisLink {
  /** Sends a command. Rejects with CLUSTER_UNAVAILABLE without a connection, or after `COMMAND_MS` without a reply. */
  send(...command: readonly string[]): Promise<unknown>;
  /** Subscribes to a channel, and again after each reconnect. Calls `hear` for each message. */
  subscribe(channel: string, hear: (message: string) => void): Promise<void>;
  /** Calls `act` after each successful connect of the command connection. */
  onConnected(act: () => void): void;
  /** Calls `act` after each reconnect of the subscriber connection. Messages in between were lost. */
  onSubscribed(act: () => void): void;
  readonly isConnected: boolean;
  close(): void;
}

export async function openRedis(
  url: string,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<RedisLink> {
  const { createClient } = await import('@redis/client').catch((cause: unknown) => {
    throw new ServiceError('CLUSTER_UNAVAILABLE', NO_PACKAGE, { cause });
  });
  const talking = connectionTo(url, createClient, clock, true);
  const listening = connectionTo(url, createClient, clock, false);
  const said = { away: false };
  const acts: Array<() => void> = [];
  const subscribedActs: Array<() => void> = [];
  const isAway = (error: string): void => {
    if (said.away) return;
    said.away = true;
    logger.error({ error }, 'redis is unavailable');
  };
  talking.on('error', (error: unknown) => isAway(asError(error).message));
  talking.on('ready', () => {
    if (said.away) logger.warn({}, 'redis is available again');
    said.away = false;
    for (const act of acts) act();
  });
  listening.on('error', () => undefined); // the command connection logs the same failure
  listening.on('ready', () => {
    for (const act of subscribedActs) act();
  });
  const pulses = [
    new RedisPulse({ connection: talking, clock, onSilent: () => isAway('it does not answer') }),
    new RedisPulse({ connection: listening, clock }),
  ];
  const close = (): void => {
    for (const pulse of pulses) pulse.stop();
    talking.destroy();
    listening.destroy();
  };
  try {
    await Promise.all([talking.connect(), listening.connect()]);
  } catch (cause) {
    close();
    throw new ServiceError(
      'CLUSTER_UNAVAILABLE',
      `cluster.redis cannot be reached: ${asError(cause).message}`,
      { cause },
    );
  }
  return {
    get isConnected() {
      return talking.isReady && listening.isReady;
    },
    send: (...command) => withinTime(clock, () => talking.sendCommand([...command])),
    async subscribe(channel, hear) {
      await listening.subscribe(channel, hear);
    },
    onConnected: (act) => void acts.push(act),
    onSubscribed: (act) => void subscribedActs.push(act),
    close,
  };
}

function connectionTo(
  url: string,
  create: typeof createClient,
  clock: Clock,
  disableOfflineQueue: boolean,
): RedisConnection {
  const options = {
    disableOfflineQueue,
    commandsQueueMaxLength: MAX_COMMANDS,
    pingInterval: PING_MS,
  };
  const sentinel = readSentinelUrl(url);
  if (sentinel === undefined) {
    // A start without Redis, or with a wrong password, fails and says why.
    let isFirst = true;
    const reconnectStrategy = (): number | false => !isFirst && RECONNECT_MS;
    const client: ReturnType<typeof createClient> = create({
      url,
      socket: { connectTimeout: CONNECT_MS, reconnectStrategy },
      ...options,
    });
    client.once('ready', () => {
      isFirst = false;
    });
    return leavable(client, clock);
  }
  const times = { connectMs: CONNECT_MS, reconnectMs: RECONNECT_MS };
  return new SentinelClient({ create, url: sentinel, options, clock, ...times });
}

/** Subscriptions of a client survive `destroy` and `connect`. */
function leavable(client: ReturnType<typeof createClient>, clock: Clock): RedisConnection {
  let cancel = (): void => undefined;
  return {
    get isReady() {
      return client.isReady;
    },
    on: (event, act) => client.on(event, act),
    connect: () => client.connect(),
    sendCommand: (command) => client.sendCommand(command),
    subscribe: (channel, hear) => client.subscribe(channel, hear),
    leave() {
      if (client.isOpen) client.destroy();
      cancel = clock.at(clock.monotonicMs() + LEFT_MS, () => {
        client.connect().catch(() => undefined); // an error is emitted
      });
    },
    destroy() {
      cancel();
      if (client.isOpen) client.destroy();
    },
  };
}

async function withinTime(clock: Clock, send: () => Promise<unknown>): Promise<unknown> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = clock.at(clock.monotonicMs() + COMMAND_MS, () =>
    reject(new ServiceError('CLUSTER_UNAVAILABLE', 'redis does not answer')),
  );
  try {
    return await Promise.race([send(), late]);
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    throw new ServiceError('CLUSTER_UNAVAILABLE', `redis: ${asError(cause).message}`, { cause });
  } finally {
    cancel();
  }
}

const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));
