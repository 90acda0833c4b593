import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import type { RedisLink } from '../edge/cluster/redis-link.ts';

/** Pause between two probes, in milliseconds. */
const PROBE_MS = 400;
/** Redis counts as unavailable after this time without an answer, in milliseconds. */
const SILENT_MS = 1000;

export interface RedisWatchNeeds {
  readonly redis: Pick<RedisLink, 'send' | 'onConnected'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with the cause when Redis becomes unavailable, and with undefined when it answers again. */
  readonly onChange: (problem: string | undefined) => void;
}

const PROBLEM = 'Redis does not answer, so the limits shared with other nodes are unknown';

/** Probes Redis, because a node without it cannot count the calls of all nodes. */
export class RedisWatch {
  readonly #needs: RedisWatchNeeds;
  readonly #rounds: RepeatedTask;
  #cancelLate: () => void = () => undefined;
  #isLost = false;

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
      await this.#needs.redis.send('PING');
    } catch {
      return;
    }
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
      logger.error({ silentMs: SILENT_MS }, 'Redis does not answer, new calls are refused');
      onChange(PROBLEM);
    });
  }
}
