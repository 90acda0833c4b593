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
import { COMPLETE_KEY, SlotRegistrations } from './slot-registrations.ts';

const LEASE_MS = 15_000;
/** Number of renewals per lease lifetime. */
const RENEWALS = 3;
/** Number of attempts per lease lifetime after a failed renewal. */
const ATTEMPTS = 15;
/** Maximum number of leases per renewal command. */
const RENEWED_AT_ONCE = 500;
const RETRY_AFTER_MS = 1000;
/** Longest wait of a new call in ms until Redis knows all leases. It usually takes a little more than a second. */
const MISSING_WAIT_MS = 2000;
/** Refusal of the script: the server may lack leases of other nodes. */
const LEASES_MISSING = 3;

/**
 * KEYS: leases, starts, run ID of the server that knows all leases. ARGV: lease, concurrent calls, calls per second, lease
 * lifetime in ms, run ID of this server. Uses the Redis server's clock, because node clocks may differ. Returns 0, or
 * 1 (concurrency), 2 (calls per second) or 3 (leases are missing), and the wait in ms.
 */
const TAKE = new RedisScript(`
if redis.call('GET', KEYS[3]) ~= ARGV[5] then return {3, 1000} end
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
  /** Longest wait of a new call until Redis knows all leases, ms. Default 2 s. */
  readonly missingWaitMs?: number;
  readonly nodeId: string;
  /** Reads the IDs of all nodes that are not declared dead. */
  readonly listNodes: () => Promise<readonly string[]>;
}

export class RedisSlots implements Slots {
  readonly isShared = true;
  readonly #needs: RedisSlotsNeeds;
  readonly #leaseMs: number;
  /** Leases held by this node, by key. */
  readonly #held = new Map<string, Set<string>>();
  readonly #rounds: RepeatedTask;
  readonly #registrations: SlotRegistrations;
  /** Begin of the last renewal (monotonic ms). Undefined if it failed, or if a lease could not be written since. */
  #renewedMs: number | undefined;
  #hasFailed = false;

  constructor(needs: RedisSlotsNeeds) {
    this.#needs = needs;
    this.#leaseMs = needs.leaseMs ?? LEASE_MS;
    this.#registrations = new SlotRegistrations({
      ...needs,
      leaseMs: this.#leaseMs,
      renew: () => this.#renewAll(),
    });
    needs.redis.onConnected(() => void this.#renew());
    const everyMs = this.#leaseMs / ATTEMPTS;
    this.#rounds = new RepeatedTask({ clock: needs.clock, everyMs, round: () => this.#round() });
    this.#rounds.start();
  }

  async take(key: string, limits: CapacityLimits): Promise<Result<CapacitySlot, CapacityRefusal>> {
    const lease = uuid(this.#needs.random);
    let answer = await this.#ask(key, lease, limits);
    if (answer?.[0] === LEASES_MISSING && this.#needs.alone === undefined) {
      await this.#registrations.completeWithin(this.#needs.missingWaitMs ?? MISSING_WAIT_MS);
      answer = await this.#ask(key, lease, limits);
    }
    if (answer === undefined || answer[0] === LEASES_MISSING)
      return this.#takeAlone(key, lease, limits);
    const [refused, waitMs] = answer;
    if (refused === 1) return err({ kind: 'concurrency', retryAfterMs: waitMs });
    if (refused === 2) return err({ kind: 'cps', retryAfterMs: waitMs });
    return ok(this.#slot(key, lease));
  }

  async running(key: string): Promise<number> {
    return Number(await COUNT.run(this.#needs.redis, [leasesOf(key)], []));
  }

  /** Resolves when slots can be granted: Redis knows the leases of all nodes. */
  ready(): Promise<void> {
    return this.#registrations.complete();
  }

  /** Stops renewals. Remaining leases expire. */
  stop(): void {
    void this.#rounds.stop();
    this.#registrations.stop();
  }

  /** Runs `TAKE`. Undefined if Redis is unavailable. */
  async #ask(
    key: string,
    lease: string,
    { concurrentCalls, cps }: CapacityLimits,
  ): Promise<readonly [refused: number, waitMs: number] | undefined> {
    const keys = [leasesOf(key), startsOf(key), COMPLETE_KEY];
    const limited = [concurrentCalls, cps, this.#leaseMs].map(String);
    const given = [lease, ...limited, this.#registrations.run];
    try {
      const answer = await TAKE.run(this.#needs.redis, keys, given);
      const [refused, waitMs] = answer as readonly [number, number];
      if (refused === LEASES_MISSING) this.#registrations.missing();
      return [refused, waitMs];
    } catch {
      // The lease may exist in Redis despite the error. It is never renewed, so it expires.
      return undefined;
    }
  }

  async #takeAlone(
    key: string,
    lease: string,
    limits: CapacityLimits,
  ): Promise<Result<CapacitySlot, CapacityRefusal>> {
    const { alone, own, redis } = this.#needs;
    if (alone === undefined) return err({ kind: 'away', retryAfterMs: RETRY_AFTER_MS });
    const taken = await own.take(key, alone(limits));
    if (!taken.ok) return taken;
    const slot = this.#slot(key, lease, taken.value);
    // Fails while Redis is unavailable; renewed after the reconnect, or with the next attempt.
    RENEW.run(redis, [leasesOf(key)], [String(this.#leaseMs), lease]).catch(() => {
      this.#renewedMs = undefined;
    });
    return ok(slot);
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

  async #round(): Promise<void> {
    const atMs = this.#renewedMs;
    const isFresh =
      atMs !== undefined && this.#needs.clock.monotonicMs() - atMs < this.#leaseMs / RENEWALS;
    if (!isFresh) await this.#renew();
  }

  /** Renews all leases. Never rejects. */
  async #renew(): Promise<void> {
    const { clock, logger } = this.#needs;
    this.#renewedMs = clock.monotonicMs();
    try {
      await this.#renewAll();
      // Data that Redis lost is noticed without a new call.
      await this.#registrations.renewed();
      this.#hasFailed = false;
    } catch (error) {
      this.#renewedMs = undefined;
      if (!this.#hasFailed) logger.warn({ error }, 'could not renew the leases of calls');
      this.#hasFailed = true;
    }
  }

  async #renewAll(): Promise<void> {
    const { redis } = this.#needs;
    for (const [key, leases] of [...this.#held]) {
      const all = [...leases];
      for (let at = 0; at < all.length; at += RENEWED_AT_ONCE) {
        const some = all.slice(at, at + RENEWED_AT_ONCE).filter((lease) => leases.has(lease));
        if (some.length > 0)
          await RENEW.run(redis, [leasesOf(key)], [String(this.#leaseMs), ...some]);
      }
    }
  }
}

/** The hash tag places both keys on one node of a Redis Cluster. */
const leasesOf = (key: string): string => `carillon:{slots:${key}}:leases`;
const startsOf = (key: string): string => `carillon:{slots:${key}}:starts`;
