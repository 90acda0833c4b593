/**
 * Exclusive claims of nodes: `carillon:<key>` → node, renewed while held. A script decides atomically, so only one of several
 * simultaneous claims succeeds. A claim of a node without heartbeats (see RedisDirectory) passes to the next claimant.
 */
import type { Clock } from '../../base/clock.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { Claims } from '../../domain/cluster/needs.ts';
import { keyOf, receivedKey } from './keys.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisScript } from './redis-script.ts';

const ENTRY_S = '90';
const RENEW_MS = 30_000;

/** KEYS: claim. ARGV: node, lifetime in seconds, dead node whose claim may be replaced. Returns the owner. */
const CLAIM = new RedisScript(`
local has = redis.call('GET', KEYS[1])
if has and has ~= ARGV[1] and has ~= ARGV[3] then return has end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]`);

/** KEYS: claim. ARGV: node. */
const RELEASE = new RedisScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0`);

const NOBODY = '';

export interface RedisClaimsNeeds {
  readonly redis: Pick<RedisLink, 'send' | 'onConnected'>;
  readonly nodeId: string;
  readonly clock: Clock;
}

export class RedisClaims implements Claims {
  readonly #needs: RedisClaimsNeeds;
  /** Number of holders of each claim, including pending claims. */
  readonly #held = new Map<string, number>();
  readonly #rounds: RepeatedTask;
  #lost: (key: string) => void = () => undefined;

  constructor(needs: RedisClaimsNeeds) {
    this.#needs = needs;
    needs.redis.onConnected(() => this.#renew());
    this.#rounds = new RepeatedTask({
      clock: needs.clock,
      everyMs: RENEW_MS,
      round: () => this.#renew(),
    });
    this.#rounds.start();
  }

  async claim(key: string): Promise<string> {
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    const { nodeId } = this.#needs;
    const owner = await this.#take(key).catch(() => nodeId); // while Redis is unavailable; renewed after the reconnect
    if (owner === nodeId) return owner;
    if (this.#drop(key) > 0) this.#lost(key);
    return owner;
  }

  release(key: string): void {
    if (this.#drop(key) > 0) return;
    const { redis, nodeId } = this.#needs;
    void RELEASE.run(redis, [keyOf(key)], [nodeId]).catch(() => undefined); // the entry expires
  }

  onLost(hear: (key: string) => void): void {
    this.#lost = hear;
  }

  stop(): void {
    void this.#rounds.stop();
  }

  /** Removes one holder. Returns the number of remaining holders. */
  #drop(key: string): number {
    const left = (this.#held.get(key) ?? 0) - 1;
    if (left > 0) this.#held.set(key, left);
    else this.#held.delete(key);
    return left;
  }

  async #take(key: string): Promise<string> {
    const { redis, nodeId } = this.#needs;
    const owner = await this.#run(key, NOBODY);
    if (owner === nodeId) return owner;
    const isHeard = Number(await redis.send('EXISTS', receivedKey(owner))) === 1;
    if (isHeard) return owner;
    // A release during EXISTS found the claim of the dead node and changed nothing.
    if (!this.#held.has(key)) return owner;
    return this.#run(key, owner);
  }

  async #run(key: string, gone: string): Promise<string> {
    const { redis, nodeId } = this.#needs;
    return String(await CLAIM.run(redis, [keyOf(key)], [nodeId, ENTRY_S, gone]));
  }

  #renew(): void {
    for (const key of this.#held.keys()) {
      this.#take(key).then(
        (owner) => {
          if (owner !== this.#needs.nodeId && this.#held.has(key)) this.#lost(key);
        },
        () => undefined, // renewed after the reconnect
      );
    }
  }
}
