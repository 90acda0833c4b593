/**
 * What one node has at a time: `carillon:<key>` → node, renewed while it is held. One script decides who has it, so that of several who
 * ask at once one gets it; whoever is not heard of any more (see RedisDirectory) has lost it to the next.
 */
import type { Clock } from '../../base/clock.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { Claims } from '../../domain/cluster/needs.ts';
import { heardKey, keyOf } from './keys.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisScript } from './redis-script.ts';

const ENTRY_S = '90';
const RENEW_MS = 30_000;

/** KEYS: the thing. ARGV: node, life in seconds, the node that has lost it. Returns whose it is. */
const CLAIM = new RedisScript(`
local has = redis.call('GET', KEYS[1])
if has and has ~= ARGV[1] and has ~= ARGV[3] then return has end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]`);

/** KEYS: the thing. ARGV: node. */
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
  /** How often each is held; a claim that is under way counts. */
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
    const owner = await this.#take(key).catch(() => nodeId); // while Redis is away; it is told once it is back
    if (owner === nodeId) return owner;
    if (this.#drop(key) > 0) this.#lost(key);
    return owner;
  }

  release(key: string): void {
    if (this.#drop(key) > 0) return;
    const { redis, nodeId } = this.#needs;
    void RELEASE.run(redis, [keyOf(key)], [nodeId]).catch(() => undefined); // lapses
  }

  onLost(hear: (key: string) => void): void {
    this.#lost = hear;
  }

  stop(): void {
    void this.#rounds.stop();
  }

  /** How often it is held still. */
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
    const isHeard = Number(await redis.send('EXISTS', heardKey(owner))) === 1;
    return isHeard ? owner : this.#run(key, owner);
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
        () => undefined, // renewed once Redis is back
      );
    }
  }
}
