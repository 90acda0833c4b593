import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import type { RedisLink } from '../edge/cluster/redis-link.ts';

/** Pause between two probes, in milliseconds. */
const PROBE_MS = 400;
/** Redis counts as unavailable after this time without a successful write, in milliseconds. */
const SILENT_MS = 1000;

export interface RedisWatchNeeds {
  readonly redis: Pick<RedisLink, 'send' | 'onConnected'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with the cause when Redis becomes unavailable, and with undefined when it answers again. */
  readonly onChange: (problem: string | undefined) => void;
}

/** A write, because a server without memory or disk, or a replica, still answers reads. */
const PROBE = ['SET', 'carillon:probe', '1', 'PX', '10000'] as const;

/** Probes Redis with a write, because a node that cannot write to it cannot count the calls of all nodes. */
export class RedisWatch {
  readonly #needs: RedisWatchNeeds;
  readonly #rounds: RepeatedTask;
  #cancelLate: () => void = () => undefined;
  #isLost = false;
  /** Error with which Redis answered the latest probe; undefined without an answer. */
  #refusal: string | undefined;

  constructor(needs: RedisWatchNeeds) {
    this.#needs = needs;
    this.#rounds = new RepeatedTask({
      clock: needs.clock,
      everyMs: PROBE_MS,
      round: () => this.#probe(),
    });
    needs.redis.onConnected(() => void this.#probe());
  }

  start(): void {
    this.#expect();
    this.#rounds.start();
  }

  stop(): Promise<void> {
    this.#cancelLate();
    return this.#rounds.stop();
  }

  /** Probes Redis once. Never rejects. */
  async #probe(): Promise<void> {
    try {
      await this.#needs.redis.send(...PROBE);
    } catch (error) {
      this.#refusal = refusalIn(error);
      return;
    }
    this.#refusal = undefined;
    if (this.#rounds.stopping.aborted) return;
    this.#expect();
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#needs.logger.warn({}, 'Redis answers again, new calls are accepted');
    this.#needs.onChange(undefined);
  }

  #expect(): void {
    const { clock, logger, onChange } = this.#needs;
    this.#cancelLate();
    this.#cancelLate = clock.at(clock.monotonicMs() + SILENT_MS, () => {
      this.#isLost = true;
      const problem = this.#refusal
        ? `Redis refuses writes (${this.#refusal})`
        : 'Redis does not answer';
      logger.error({ problem, sinceMs: SILENT_MS }, 'Redis is unavailable, new calls are refused');
      onChange(`${problem}, so the limits shared with other nodes are unknown`);
    });
  }
}

/** Returns the error with which the server answered; undefined for other failures. */
function refusalIn(error: unknown): string | undefined {
  const { cause } = error as { readonly cause?: unknown };
  // The answer of a server begins with a code: https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
  return cause instanceof Error && /^[A-Z]+ /.test(cause.message) ? cause.message : undefined;
}
