/**
 * Slots that all nodes take of the same limits. A slot is a lease that its node renews: those of a dead node lapse. Who starts
 * within the last second is counted exactly, as one process does. One script a call.
 */
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';
import { uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type {
  CapacityLimits,
  CapacityRefusal,
  CapacitySlot,
  Slots,
} from '../../domain/capacity/capacity.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisScript } from './redis-script.ts';

const LEASE_MS = 15_000;
/** Renewed so often within its life. */
const RENEWALS = 3;
/** Leases of one command. */
const RENEWED_AT_ONCE = 500;
const RETRY_AFTER_MS = 1000;

/**
 * KEYS: leases, starts. ARGV: lease, concurrent calls, calls per second, life of a lease in ms. The clock is the server's: those
 * of the nodes may differ. Returns 0, or 1 (concurrency), or 2 (calls per second) and the wait in ms.
 */
const TAKE = new RedisScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return {1, 1000} end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 1000)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
  local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  return {2, math.max(1, (tonumber(first[2]) or now) + 1000 - now)}
end
redis.call('ZADD', KEYS[1], now + ARGV[4], ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('PEXPIRE', KEYS[2], 2000)
return {0, 0}`);

/** KEYS: leases. ARGV: life in ms, then leases. Those that had lapsed are there again: their calls run. */
const RENEW = new RedisScript(`
local t = redis.call('TIME')
local ends = t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[1]
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], ends, ARGV[i]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0`);

/** KEYS: leases. */
const COUNT = new RedisScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
return redis.call('ZCOUNT', KEYS[1], '(' .. now, '+inf')`);

export interface RedisSlotsNeeds {
  readonly redis: Pick<RedisLink, 'send' | 'onConnected'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Of the slots while Redis is away: this node's share of the limits, or none. */
  readonly alone: ((limits: CapacityLimits) => CapacityLimits) | undefined;
  /** Counts what this node takes while Redis is away. */
  readonly own: Slots;
  /** A lease that is not renewed ends so much later; absent: 15 s. */
  readonly leaseMs?: number;
}

export class RedisSlots implements Slots {
  readonly isShared = true;
  readonly #needs: RedisSlotsNeeds;
  readonly #leaseMs: number;
  /** Leases that this node holds, by key. */
  readonly #held = new Map<string, Set<string>>();
  readonly #rounds: RepeatedTask;

  constructor(needs: RedisSlotsNeeds) {
    this.#needs = needs;
    this.#leaseMs = needs.leaseMs ?? LEASE_MS;
    needs.redis.onConnected(() => void this.#renew());
    const everyMs = this.#leaseMs / RENEWALS;
    this.#rounds = new RepeatedTask({ clock: needs.clock, everyMs, round: () => this.#renew() });
    this.#rounds.start();
  }

  async take(key: string, limits: CapacityLimits): Promise<Result<CapacitySlot, CapacityRefusal>> {
    const { redis, random, alone, own } = this.#needs;
    const lease = uuid(random);
    const { concurrentCalls, cps } = limits;
    let answer: unknown;
    try {
      const limited = [concurrentCalls, cps, this.#leaseMs].map(String);
      answer = await TAKE.run(redis, [leasesOf(key), startsOf(key)], [lease, ...limited]);
    } catch {
      // It may have been taken all the same: nobody renews it, so it lapses.
      if (alone === undefined) return err({ kind: 'away', retryAfterMs: RETRY_AFTER_MS });
      const taken = await own.take(key, alone(limits));
      return taken.ok ? ok(this.#slot(key, lease, taken.value)) : taken;
    }
    const [refused, waitMs] = answer as readonly [number, number];
    if (refused === 1) return err({ kind: 'concurrency', retryAfterMs: waitMs });
    if (refused === 2) return err({ kind: 'cps', retryAfterMs: waitMs });
    return ok(this.#slot(key, lease));
  }

  async running(key: string): Promise<number> {
    return Number(await COUNT.run(this.#needs.redis, [leasesOf(key)], []));
  }

  /** Leases are left to lapse, or were given back. */
  stop(): void {
    void this.#rounds.stop();
  }

  #slot(key: string, lease: string, own?: CapacitySlot): CapacitySlot {
    const leases = this.#held.get(key) ?? new Set();
    leases.add(lease);
    this.#held.set(key, leases);
    const giveBack = (...commands: readonly (readonly string[])[]): void => {
      if (!leases.delete(lease)) return;
      if (leases.size === 0) this.#held.delete(key);
      // What cannot be given back lapses.
      for (const command of commands)
        void this.#needs.redis.send(...command).catch(() => undefined);
    };
    return {
      release: () => {
        own?.release();
        giveBack(['ZREM', leasesOf(key), lease]);
      },
      undo: () => {
        own?.undo();
        giveBack(['ZREM', leasesOf(key), lease], ['ZREM', startsOf(key), lease]);
      },
    };
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    const { redis, logger } = this.#needs;
    try {
      for (const [key, leases] of [...this.#held]) {
        const all = [...leases];
        for (let at = 0; at < all.length; at += RENEWED_AT_ONCE) {
          const some = all.slice(at, at + RENEWED_AT_ONCE).filter((lease) => leases.has(lease));
          if (some.length > 0)
            await RENEW.run(redis, [leasesOf(key)], [String(this.#leaseMs), ...some]);
        }
      }
    } catch (error) {
      logger.warn({ error }, 'leases of calls not renewed');
    }
  }
}

/** One hash tag: both keys are on one node of a Redis Cluster. */
const leasesOf = (key: string): string => `carillon:{slots:${key}}:leases`;
const startsOf = (key: string): string => `carillon:{slots:${key}}:starts`;
