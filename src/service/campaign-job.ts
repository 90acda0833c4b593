/** Decides which node of a cluster dials the campaigns: the one that holds the job `campaigns`. */
import type { Clock } from '../base/clock.ts';
import { SECOND_MS } from '../base/duration.ts';
import type { Logger } from '../base/logger.ts';
import { RepeatedTask } from '../base/repeated-task.ts';
import type { Dialer } from '../domain/campaign/campaign.ts';
import type { NodeStore } from '../domain/cluster/needs.ts';
import type { Admission } from '../domain/dispatch/dispatch.ts';

export interface CampaignJobParts {
  readonly nodes: Pick<NodeStore, 'claim' | 'release'>;
  readonly dialer: Pick<Dialer, 'resumeAll' | 'idle'>;
  readonly admission: Pick<Admission, 'draining'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns the live nodes; undefined: not known now, or this node may have been declared dead. Absent without a cluster. */
  readonly living: (() => readonly string[] | undefined) | undefined;
}

/** Interval of attempts to take the job, which another node may have released. */
const EVERY_MS = 10 * SECOND_MS;

export class CampaignJob {
  readonly #parts: CampaignJobParts;
  readonly #rounds: RepeatedTask;

  constructor(parts: CampaignJobParts) {
    this.#parts = parts;
    const { clock, logger, living } = parts;
    this.#rounds = new RepeatedTask({
      clock,
      everyMs: EVERY_MS,
      firstMs: EVERY_MS,
      // A node that was declared dead and has not noticed must not claim the job of another dead node.
      round: async () => {
        if (living?.() !== undefined) await this.take();
      },
      failed: (error) => logger.warn({ error }, 'failed to take over campaigns'),
    });
  }

  start(): void {
    if (this.#parts.living !== undefined) this.#rounds.start();
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  /** Lets this node dial unless another one does or this one drains. Rejects if the store fails. */
  async take(): Promise<void> {
    const { nodes, dialer, admission } = this.#parts;
    if (admission.draining || !(await nodes.claim('campaigns'))) return;
    if (admission.draining) this.release();
    else await dialer.resumeAll();
  }

  /**
   * Lets another node dial once the calls of this one have ended. Before, the other node would take their attempts for those
   * of a dead node, and call their contacts again.
   */
  release(): void {
    const { nodes, dialer, logger } = this.#parts;
    dialer
      .idle()
      .then(() => nodes.release('campaigns'))
      .catch((error: unknown) => logger.warn({ error }, 'campaigns stay with this node'));
  }
}
