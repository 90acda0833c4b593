/**
 * A connection to the primary that Redis Sentinel names. Each connect asks the Sentinels again, so that it follows a
 * failover. A server that is no longer the primary is left.
 */
import { EventEmitter } from 'node:events';
import type { createClient } from '@redis/client';
import type { Clock } from '../../base/clock.ts';

type Client = ReturnType<typeof createClient>;
type Options = NonNullable<Parameters<typeof createClient>[0]>;

/** What the link uses of a connection. */
export type RedisConnection = {
  on(event: string, act: (given: unknown) => void): unknown;
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  sendCommand(command: string[]): Promise<unknown>;
  subscribe(channel: string, hear: (message: string) => void): Promise<unknown>;
  /** Ends a connection without answers and makes another one. */
  leave(): void;
  destroy(): void;
};

export interface SentinelUrl {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** Name of the monitored primary. */
  readonly name: string;
  readonly username: string;
  readonly password: string;
  readonly tls: boolean;
}

const SENTINEL_PORT = 26_379;
/** Time limit for an attempt until the first answers, as a multiple of the limit for the connection. */
const ATTEMPT_FACTOR = 2;
const URL_FORM = /^(rediss?)\+sentinel:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^/@]+)\/([\w.-]+)$/;

/** Reads `redis[s]+sentinel://[user:password@]host[:port][,host…]/name`. Returns undefined for other URLs. */
export function readSentinelUrl(url: string): SentinelUrl | undefined {
  const [, scheme, username = '', password = '', hosts = '', name = ''] = URL_FORM.exec(url) ?? [];
  if (scheme === undefined) return undefined;
  const sentinels = hosts.split(',').map((one) => {
    const { hostname, port } = new URL(`redis://${one}`);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || SENTINEL_PORT) };
  });
  const [user, secret] = [username, password].map(decodeURIComponent);
  return {
    sentinels,
    name,
    username: user ?? '',
    password: secret ?? '',
    tls: scheme === 'rediss',
  };
}

export interface SentinelNeeds {
  readonly create: (options: Options) => Client;
  readonly url: SentinelUrl;
  /** Options of connections, without address, credentials and reconnects. */
  readonly options: Options;
  readonly connectMs: number;
  readonly reconnectMs: number;
  readonly clock: Pick<Clock, 'sleep' | 'at' | 'monotonicMs'>;
}

export class SentinelClient extends EventEmitter implements RedisConnection {
  readonly #needs: SentinelNeeds;
  readonly #subscriptions = new Map<string, (message: string) => void>();
  #client: Client | undefined;
  readonly #over = new AbortController();

  constructor(needs: SentinelNeeds) {
    super();
    this.#needs = needs;
  }

  get isReady(): boolean {
    return this.#client?.isReady === true;
  }

  /** Rejects if no Sentinel names a primary that can be reached. Later connections are retried. */
  async connect(): Promise<void> {
    const address = await this.#primary();
    const { url, create, options, connectMs } = this.#needs;
    const client = create({
      ...options,
      ...(url.username !== '' && { username: url.username }),
      ...(url.password !== '' && { password: url.password }),
      socket: socketTo(address, url.tls, connectMs),
    });
    client.on('error', (error: unknown) => this.emit('error', error));
    client.on('ping-interval', () => this.emit('ping-interval'));
    const cancel = this.#limit(client);
    try {
      await client.connect();
      const [role] = (await client.sendCommand(['ROLE'])) as unknown as readonly string[];
      if (role !== 'master') throw new Error(`${address.host}:${address.port} is not a primary`);
      for (const [channel, hear] of this.#subscriptions) await client.subscribe(channel, hear);
    } catch (error) {
      if (client.isOpen) client.destroy();
      throw error;
    } finally {
      cancel();
    }
    if (this.#over.signal.aborted) return client.destroy();
    this.#client = client;
    // `end` of a connection that was destroyed, `terminated` of one that failed.
    for (const event of ['end', 'terminated']) client.once(event, () => this.#lost(client));
    this.emit('ready');
  }

  /** Ends a client that does not become usable in time: a host may accept connections and never answer. */
  #limit(client: Client): () => void {
    const { clock, connectMs } = this.#needs;
    return clock.at(clock.monotonicMs() + ATTEMPT_FACTOR * connectMs, () => {
      if (client.isOpen) client.destroy();
    });
  }

  sendCommand(command: string[]): Promise<unknown> {
    const client = this.#client;
    if (client === undefined) return Promise.reject(new Error('not connected'));
    return client.sendCommand(command).catch((error: unknown) => {
      // A former primary: the Sentinels name another.
      if (error instanceof Error && error.message.startsWith('READONLY')) client.destroy();
      throw error;
    });
  }

  async subscribe(channel: string, hear: (message: string) => void): Promise<void> {
    this.#subscriptions.set(channel, hear);
    await this.#client?.subscribe(channel, hear);
  }

  leave(): void {
    if (this.#client?.isOpen === true) this.#client.destroy();
  }

  destroy(): void {
    this.#over.abort();
    if (this.#client?.isOpen === true) this.#client.destroy();
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.emit('end');
    void this.#again();
  }

  async #again(): Promise<void> {
    const { clock, reconnectMs } = this.#needs;
    while (!this.#over.signal.aborted) {
      await clock.sleep(reconnectMs, this.#over.signal).catch(() => undefined); // stopped
      if (this.#over.signal.aborted) return;
      try {
        return await this.connect();
      } catch (error) {
        this.emit('error', error);
      }
    }
  }

  /** Asks the Sentinels in order. */
  async #primary(): Promise<{ readonly host: string; readonly port: number }> {
    const { url, create, connectMs } = this.#needs;
    let last: unknown = new Error('no Sentinel');
    for (const sentinel of url.sentinels) {
      const client = create({ socket: socketTo(sentinel, url.tls, connectMs) });
      client.on('error', () => undefined); // `connect` rejects with it
      const cancel = this.#limit(client);
      try {
        await client.connect();
        const found = await client.sendCommand(['SENTINEL', 'get-master-addr-by-name', url.name]);
        const [host, port] = (found ?? []) as unknown as readonly (string | undefined)[];
        if (host !== undefined && port !== undefined) return { host, port: Number(port) };
        last = new Error(`the Sentinel knows no primary ${url.name}`);
      } catch (error) {
        last = error;
      } finally {
        cancel();
        if (client.isOpen) client.destroy();
      }
    }
    throw last;
  }
}

function socketTo(
  { host, port }: { readonly host: string; readonly port: number },
  tls: boolean,
  connectMs: number,
): NonNullable<Options['socket']> {
  const socket = { host, port, connectTimeout: connectMs, reconnectStrategy: false } as const;
  return tls ? { ...socket, tls: true } : socket;
}
