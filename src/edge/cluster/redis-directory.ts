/**
 * Which node has a call: `carillon:call:<uuid>` → node, renewed by that node while the call runs. Only a short way: what is not
 * found here is asked of all nodes, so that an entry that was lost hides no call.
 */
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { Directory } from '../../domain/cluster/needs.ts';
import { heardKey, keyOf } from './keys.ts';
import type { RedisLink } from './redis-link.ts';

const ENTRY_S = 90;
const RENEW_MS = 30_000;
/** Node that is heard of. */
const HEARD_MS = 3000;
const BEAT_MS = 1000;

export interface RedisDirectoryNeeds {
  readonly redis: Pick<RedisLink, 'send' | 'onConnected'>;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when Redis has confirmed a beat that was sent at `sentMs` of the monotonic clock. */
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

  /** Undefined: Redis does not say, or has come back so lately, perhaps empty, that not all have been heard of again. */
  async isHeard(nodeId: string): Promise<boolean | undefined> {
    const { redis, clock } = this.#needs;
    try {
      if (Number(await redis.send('EXISTS', heardKey(nodeId))) === 1) return true;
      return clock.monotonicMs() - this.#connectedMs < HEARD_MS ? undefined : false;
    } catch {
      return undefined;
    }
  }

  stop(): void {
    for (const rounds of this.#rounds) void rounds.stop();
    this.#quietly(['DEL', heardKey(this.#needs.nodeId)]);
  }

  #entry(key: string): readonly string[] {
    return ['SET', keyOf(key), this.#needs.nodeId, 'EX', String(ENTRY_S)];
  }

  #beat(): void {
    const { redis, nodeId, clock, onBeat } = this.#needs;
    const sentMs = clock.monotonicMs();
    void redis.send('SET', heardKey(nodeId), '1', 'PX', String(HEARD_MS)).then(
      () => onBeat?.(sentMs),
      () => undefined, // the next beat says it again
    );
  }

  #renew(): void {
    for (const key of this.#own) this.#quietly(this.#entry(key));
  }

  /** An entry that is not written is found by asking all. */
  #quietly(command: readonly string[]): void {
    void this.#needs.redis.send(...command).catch(() => undefined);
  }
}
