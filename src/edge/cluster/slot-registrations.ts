/**
 * Decides whether Redis knows the leases of all nodes. A Redis that restarted without data, a promoted replica, or one that
 * refused writes until leases expired may lack some. No slot is granted until each live node has renewed its leases
 * there. A node that is stopped or cut off cannot, so that the others wait until it resumes or is declared dead.
 */
import type { Clock } from '../../base/clock.ts';
import { SECOND_MS } from '../../base/duration.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import { receivedKey } from './keys.ts';
import type { RedisLink } from './redis-link.ts';
import { RedisScript } from './redis-script.ts';

/**
 * Run ID of the server that knows all leases. It expires when no node could renew its leases for half of their lifetime, as
 * do the registrations: before the first lease expires because the server refused writes.
 */
export const COMPLETE_KEY = 'carillon:slots:complete';
const registeredKey = (run: string, nodeId: string): string =>
  `carillon:slots:registered:${run}:${nodeId}`;
/** Lifetime of both keys as a share of the lifetime of a lease. */
const VALID_SHARE = 0.5;
const ROUND_MS = 200;
/** Time in ms for which call starts count. A new server counts from zero, so that no slot is granted before. */
const STARTS_MS = SECOND_MS;
/**
 * Time in ms after which a node with heartbeats in Redis counts as registered. Nodes of earlier versions do not register,
 * but renew their leases at this interval.
 */
const UNREGISTERED_MS = 6 * SECOND_MS;

/**
 * KEYS: run ID of the server that knows all leases, registration of this node. ARGV: run ID of this server, lifetime of
 * both keys in ms. Returns 0 if the server lacks leases.
 */
const REGISTER = new RedisScript(`
redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1`);

export interface SlotRegistrationsNeeds {
  readonly redis: Pick<RedisLink, 'send' | 'onConnected'>;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Lifetime of a lease without renewal, ms. */
  readonly leaseMs: number;
  /** Reads the IDs of all nodes that are not declared dead from the store, including this one. */
  readonly listNodes: () => Promise<readonly string[]>;
  /** Writes all leases of this node to Redis. Rejects if one could not be written. */
  readonly renew: () => Promise<void>;
}

export class SlotRegistrations {
  readonly #needs: SlotRegistrationsNeeds;
  readonly #rounds: RepeatedTask;
  /** Run ID of the connected server; empty while unknown. */
  #run = '';
  #isComplete = false;
  /** Time at which this node connected to a server with missing leases (monotonic). */
  #sinceMs: number;
  /** True while this node never saw another one, so that no slot can be missing. */
  #isAlone = true;
  /** Number of connections and losses of data so far. */
  #connections = 0;
  #completed: Array<() => void> = [];

  constructor(needs: SlotRegistrationsNeeds) {
    this.#needs = needs;
    const { clock, logger, redis } = needs;
    this.#sinceMs = clock.monotonicMs();
    redis.onConnected(() => {
      this.#isAlone = false;
      this.#begin();
    });
    this.#rounds = new RepeatedTask({
      clock,
      everyMs: ROUND_MS,
      longestPauseMs: SECOND_MS,
      round: () => this.#round(),
      failed: (error) => logger.debug({ error }, 'could not register the leases of this node'),
    });
    this.#rounds.start();
  }

  /** Argument of scripts that grant slots: they compare it with the value of `COMPLETE_KEY`. */
  get run(): string {
    return this.#run;
  }

  /** Call it after each renewal of all leases of this node. Rejects if Redis does not confirm it. */
  async renewed(): Promise<void> {
    if (this.#isComplete && !(await this.#register(this.#run))) this.missing();
  }

  /** Call it when a script found that leases are missing. */
  missing(): void {
    if (this.#isComplete) this.#begin();
  }

  /** Resolves when the server knows all leases. */
  complete(): Promise<void> {
    if (this.#isComplete) return Promise.resolve();
    return new Promise((resolve) => this.#completed.push(resolve));
  }

  /**
   * Resolves when the server knows all leases, or `ms` after this node noticed that it does not. Calls that arrive later do
   * not wait, so that the number of waiting calls has a limit.
   */
  completeWithin(ms: number): Promise<void> {
    const { clock } = this.#needs;
    const untilMs = this.#sinceMs + ms;
    if (clock.monotonicMs() >= untilMs) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = clock.at(untilMs, resolve);
      void this.complete().then(() => {
        cancel();
        resolve();
      });
    });
  }

  stop(): void {
    void this.#rounds.stop();
  }

  /** Lifetime of both keys, in ms, as an argument of Redis. */
  get #validMs(): string {
    return String(Math.floor(this.#needs.leaseMs * VALID_SHARE));
  }

  #begin(): void {
    this.#isComplete = false;
    this.#run = '';
    this.#connections += 1;
    this.#sinceMs = this.#needs.clock.monotonicMs();
  }

  async #round(): Promise<void> {
    if (this.#isComplete) return;
    const connection = this.#connections;
    const { redis, renew, logger } = this.#needs;
    const run = runOf(String(await redis.send('INFO', 'server')));
    await renew();
    // A server that restarts in between has another run ID, so that this registration has no effect there.
    if (!(await this.#register(run))) {
      if (!(await this.#areAllRegistered(run))) return;
      if (connection !== this.#connections) return;
      await redis.send('SET', COMPLETE_KEY, run, 'PX', this.#validMs);
      logger.info({ run }, 'redis knows the slots of all nodes');
    }
    if (connection !== this.#connections) return;
    this.#run = run;
    this.#isComplete = true;
    for (const completed of this.#completed.splice(0)) completed();
  }

  /** Registers the renewed leases of this node. Returns whether the server knows those of all nodes. */
  async #register(run: string): Promise<boolean> {
    const { redis, nodeId } = this.#needs;
    const keys = [COMPLETE_KEY, registeredKey(run, nodeId)];
    return (await REGISTER.run(redis, keys, [run, this.#validMs])) === 1;
  }

  async #areAllRegistered(run: string): Promise<boolean> {
    const { redis, clock, nodeId, leaseMs, listNodes } = this.#needs;
    const ageMs = clock.monotonicMs() - this.#sinceMs;
    // Read after the server had lost its data: nodes that took slots before are in it, unless they are dead.
    const nodes = await listNodes();
    const others = nodes.filter((id) => id !== nodeId);
    if (others.length > 0 || !this.#isAlone) {
      this.#isAlone = false;
      if (ageMs < STARTS_MS) return false;
    }
    for (const id of others) {
      if (Number(await redis.send('EXISTS', registeredKey(run, id))) === 1) continue;
      if (ageMs < UNREGISTERED_MS) return false;
      // A lease that is not renewed expires, also if its node lives.
      if (ageMs >= leaseMs) continue;
      if (Number(await redis.send('EXISTS', receivedKey(id))) !== 1) return false;
    }
    return true;
  }
}

function runOf(info: string): string {
  const run = /^run_id:(\w+)/m.exec(info)?.[1];
  if (run === undefined) throw new Error('Redis does not report its run ID');
  return run;
}
