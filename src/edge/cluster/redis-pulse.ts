/**
 * Leaves connections on which Redis no longer answers. A host that lost power, or a network that drops packets, closes no
 * connection: TCP reports that after 15 minutes, in which a promoted replica would not be used.
 */
import type { Clock } from '../../base/clock.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { RedisConnection } from './sentinel-client.ts';

/** Time without an answer, in ms. Longer than a pause of Redis that is not a failure, for example a fork. */
const SILENT_MS = 6000;
const CHECK_MS = 1000;

export interface RedisPulseNeeds {
  /** Emits `connect` for each new connection, and `ready` and `ping-interval` for each answer. */
  readonly connection: Pick<RedisConnection, 'on' | 'leave'>;
  readonly clock: Clock;
  /** Called before the connection is left. */
  readonly onSilent?: () => void;
}

export class RedisPulse {
  readonly #needs: RedisPulseNeeds;
  readonly #checks: RepeatedTask;
  /** Time of the last answer (monotonic). Undefined without a connection. */
  #heardMs: number | undefined;
  #checkedMs: number;

  constructor(needs: RedisPulseNeeds) {
    this.#needs = needs;
    const { connection, clock } = needs;
    this.#checkedMs = clock.monotonicMs();
    for (const event of ['connect', 'ready', 'ping-interval'])
      connection.on(event, () => {
        this.#heardMs = clock.monotonicMs();
      });
    for (const event of ['error', 'end'])
      connection.on(event, () => {
        this.#heardMs = undefined;
      });
    this.#checks = new RepeatedTask({ clock, everyMs: CHECK_MS, round: () => this.#check() });
    this.#checks.start();
  }

  stop(): void {
    void this.#checks.stop();
  }

  #check(): void {
    const nowMs = this.#needs.clock.monotonicMs();
    // While this process was stopped, answers could not be read.
    const wasStopped = nowMs - this.#checkedMs > 2 * CHECK_MS;
    this.#checkedMs = nowMs;
    if (this.#heardMs === undefined) return;
    if (wasStopped) this.#heardMs = nowMs;
    if (nowMs - this.#heardMs < SILENT_MS) return;
    this.#heardMs = undefined;
    this.#needs.onSilent?.();
    this.#needs.connection.leave();
  }
}
