/**
 * Capacity slots of limits shared by all nodes. A slot is a lease that its node renews; leases of a dead node expire.
 * Call starts within the last second are counted exactly, as in a single process. Each call runs one script.
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
/** Number of renewals per lease lifetime. */
const RENEWALS = 3;
/** Maximum number of leases per renewal command. */
const RENEWED_AT_ONCE = 500;
const RETRY_AFTER_MS = 1000;

/**
 * KEYS: leases, starts. ARGV: lease, concurrent calls, calls per second, lease lifetime in ms. Uses the Redis server's clock,
 * because node clocks may differ. Returns 0, or 1 (concurrency) or 2 (calls per second), and the wait in ms.
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

/** KEYS: leases. ARGV: lifetime in ms, then leases. Restores expired leases, because their calls are active. */
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
  /** Limits while Redis is unavailable: this node's share, or undefined to refuse calls. */
  readonly alone: ((limits: CapacityLimits) => CapacityLimits) | undefined;
  /** Counts slots that this node grants while Redis is unavailable. */
  readonly own: Slots;
  /** Lifetime of a lease without renewal, ms. Default 15 s. */
  readonly leaseMs?: number;
}

export class RedisSlots implements Slots {
  readonly isShared = true;
  readonly #needs: RedisSlotsNeeds;
  readonly #leaseMs: number;
  /** Leases held by this node, by key. */
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
      // The lease may exist in Redis despite the error. It is never renewed, so it expires.
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

  /** Stops renewals. Remaining leases expire. */
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
      // A lease that cannot be released expires.
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

  /** Renews all leases. Never rejects. */
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
      logger.warn({ error }, 'could not renew the leases of calls');
    }
  }
}

/** The hash tag places both keys on one node of a Redis Cluster. */
const leasesOf = (key: string): string => `carillon:{slots:${key}}:leases`;
const startsOf = (key: string): string => `carillon:{slots:${key}}:starts`;
