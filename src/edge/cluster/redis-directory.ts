/**
 * Maps calls to nodes: `carillon:call:<uuid>` → node, renewed by that node while the call is active. The map is only a shortcut:
 * a call missing here is requested from all nodes, so a lost entry hides no call.
 */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { Directory } from '../../domain/cluster/needs.ts';
import { keyOf, receivedKey } from './keys.ts';
import type { RedisLink } from './redis-link.ts';

const ENTRY_S = 90;
const RENEW_MS = 30_000;
/** Lifetime of a heartbeat, ms. */
const RECEIVED_MS = 3000;
const BEAT_MS = 1000;

export interface RedisDirectoryNeeds {
  readonly redis: Pick<RedisLink, 'send' | 'onConnected'>;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when Redis has confirmed a heartbeat. `sentMs` is its send time, monotonic ms. */
  readonly onBeat?: (sentMs: number) => void;
}

export class RedisDirectory implements Directory {
  readonly #needs: RedisDirectoryNeeds;
  readonly #own = new Set<string>();
  #connectedMs: number;
  readonly #rounds: readonly RepeatedTask[];

  constructor(needs: RedisDirectoryNeeds) {
    this.#needs = needs;
    const { clock } = needs;
    this.#connectedMs = clock.monotonicMs();
    needs.redis.onConnected(() => {
      this.#connectedMs = clock.monotonicMs();
      this.#beat();
      this.#renew();
    });
    this.#rounds = [
      new RepeatedTask({ clock, everyMs: BEAT_MS, round: () => this.#beat() }),
      new RepeatedTask({ clock, everyMs: RENEW_MS, round: () => this.#renew() }),
    ];
    for (const rounds of this.#rounds) rounds.start();
  }

  put(key: string): void {
    this.#own.add(key);
    this.#quietly(this.#entry(key));
  }

  drop(key: string): void {
    if (this.#own.delete(key)) this.#quietly(['DEL', keyOf(key)]);
  }

  async find(key: string): Promise<string | undefined> {
    const found = await this.#needs.redis.send('GET', keyOf(key));
    return typeof found === 'string' ? found : undefined;
  }

  /** Returns undefined if Redis is unavailable, or reconnected too recently for all nodes to have sent a heartbeat. */
  async isHeard(nodeId: string): Promise<boolean | undefined> {
    const { redis, clock } = this.#needs;
    try {
      if (Number(await redis.send('EXISTS', receivedKey(nodeId))) === 1) return true;
      return clock.monotonicMs() - this.#connectedMs < RECEIVED_MS ? undefined : false;
    } catch {
      return undefined;
    }
  }

  stop(): void {
    for (const rounds of this.#rounds) void rounds.stop();
    this.#quietly(['DEL', receivedKey(this.#needs.nodeId)]);
  }

  #entry(key: string): readonly string[] {
    return ['SET', keyOf(key), this.#needs.nodeId, 'EX', String(ENTRY_S)];
  }

  #beat(): void {
    const { redis, nodeId, clock, onBeat } = this.#needs;
    const sentMs = clock.monotonicMs();
    void redis.send('SET', receivedKey(nodeId), '1', 'PX', String(RECEIVED_MS)).then(
      () => onBeat?.(sentMs),
      () => undefined, // the next heartbeat retries
    );
  }

  #renew(): void {
    for (const key of this.#own) this.#quietly(this.#entry(key));
  }

  /** Ignores failures: an entry that is missing is found by a request to all nodes. */
  #quietly(command: readonly string[]): void {
    void this.#needs.redis.send(...command).catch(() => undefined);
  }
}
