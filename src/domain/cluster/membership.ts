/**
 * Keeps this node alive in the store and monitors the others. A node whose beats stop is declared dead: its epoch is
 * incremented and its work is adopted. Each node measures silence by its own clock; clocks are never compared.
 */
import type { Clock } from '../../base/clock.ts';
import { SECOND_MS } from '../../base/duration.ts';
import { ServiceError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { NodeLease } from './lease.ts';
import type { NodeStore } from './needs.ts';
import type { SelfNode } from './self-node.ts';
import type { NodeRecord } from './types.ts';

/** Interval between beats, and between checks of the other nodes' beats. */
const BEAT_MS = SECOND_MS;
/** Silence after which a node is declared dead. Counts only while this node could read the store. */
const SILENT_MS = 6 * SECOND_MS;
/** Maximum time between two checks that counts as silence of the other nodes. */
const LONG_ROUND_MS = 2 * BEAT_MS;
/** Time for which the list of live nodes stays valid after a check. */
const KNOWN_MS = 3 * SECOND_MS;
/**
 * A dead node's last writes may reach the store after it was declared dead. Orphaned work is checked again at this
 * interval and for this time.
 */
const LOOK_AGAIN_MS = 3 * SECOND_MS;
const LATE_MS = 20 * SECOND_MS;
/** Interval of checks for orphaned work without a known cause. */
const LOOK_ANYWAY_MS = 60 * SECOND_MS;

export interface MembershipNeeds {
  readonly nodes: NodeStore;
  readonly self: SelfNode;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Lease that each beat confirmed by the store renews. */
  readonly lease: Pick<NodeLease, 'confirmedByStore'>;
  /** Returns whether the node is reachable through another channel than the store, and thus alive. Undefined if unknown. */
  readonly isHeard: (nodeId: string) => Promise<boolean | undefined>;
  /** Adopts all orphaned work. Called again if it rejects. */
  readonly adopt: () => Promise<void>;
  /**
   * Called when this node was declared dead and its calls belong to another node. Resolves when they have ended; a
   * new epoch then begins.
   */
  readonly fenced: () => Promise<void>;
}

interface Watched {
  readonly record: NodeRecord;
  readonly sinceMs: number;
}

/** Says what an operator must do about two processes with one node ID. */
export const sameId = (id: string): string =>
  `another running process has the node ID ${id}: give each node its own data folder, or its own cluster.node`;

export class Membership {
  readonly #needs: MembershipNeeds;
  #watched = new Map<string, Watched>();
  #living: readonly string[] = [];
  #checkedMs = Number.NEGATIVE_INFINITY;
  /** True if a round failed since the last check. The time until the next check does not count as silence of others. */
  #hasGap = false;
  /** Last time at which reachability of nodes was known (monotonic). */
  #hearingMs = Number.NEGATIVE_INFINITY;
  #isDue = false;
  /** True between the loss of this node's epoch and the begin of the next. */
  #isFenced = false;
  /** Until this time, a dead node's late writes may still arrive (monotonic). */
  #lateUntilMs = Number.NEGATIVE_INFINITY;
  #lastMs: number;
  readonly #rounds: RepeatedTask;

  constructor(needs: MembershipNeeds) {
    this.#needs = needs;
    this.#lastMs = needs.clock.monotonicMs();
    this.#rounds = new RepeatedTask({
      clock: needs.clock,
      everyMs: BEAT_MS,
      round: () => this.round(),
      failed: (error) => {
        this.#hasGap = true;
        needs.logger.warn({ error }, 'the store refused a heartbeat of this node');
      },
    });
  }

  /**
   * IDs of the live nodes, including this one. Undefined if this node could not read the store recently, so that new
   * nodes may be missing.
   */
  get living(): readonly string[] | undefined {
    const ageMs = this.#needs.clock.monotonicMs() - this.#checkedMs;
    return ageMs > KNOWN_MS ? undefined : this.#living;
  }

  start(): void {
    const { self, clock } = this.#needs;
    // Late writes of an earlier epoch may arrive after this one began, and no other node may have noticed its end.
    if (self.epoch > 1) this.#lateUntilMs = clock.monotonicMs() + LATE_MS;
    this.#rounds.start();
  }

  /** Leaves the cluster, so that other nodes need not wait for the silence timeout. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
    const { nodes, self, logger } = this.#needs;
    await nodes
      .leave(self)
      .catch((error: unknown) =>
        logger.warn({ error }, 'failed to remove this node from the cluster'),
      );
  }

  /** Sends one beat and checks the other nodes once. */
  async round(): Promise<void> {
    const { nodes, self, clock, isHeard, lease } = this.#needs;
    if ((await isHeard(self.id)) !== undefined) this.#hearingMs = clock.monotonicMs();
    const sentMs = clock.monotonicMs();
    // A single late response does not count: other nodes would stop waiting for this node's judgement.
    const hears = sentMs - this.#hearingMs < KNOWN_MS;
    if (await nodes.beat(self, hears)) lease.confirmedByStore(sentMs);
    else await this.#beginAnew();
    const found = await nodes.list();
    const hasLeft = [...this.#watched].some(
      ([id, { record }]) => !found.some((one) => one.id === id && one.epoch === record.epoch),
    );
    const nowMs = clock.monotonicMs();
    // A node that has just started does not know whether another epoch, perhaps its own, has ended.
    const witness = found.find(
      ({ id, epoch }) => id === self.id || this.#watched.get(id)?.record.epoch === epoch,
    );
    const sinceCheckMs = nowMs - this.#checkedMs;
    // A round that took long was paused, or waited for the store, which the others could not reach either.
    const gapMs = this.#hasGap ? sinceCheckMs : Math.max(0, sinceCheckMs - LONG_ROUND_MS);
    this.#hasGap = false;
    const watched = found.map((record): Watched => {
      const known = this.#watched.get(record.id);
      const stands = known?.record.epoch === record.epoch && known.record.beats === record.beats;
      return stands ? { record, sinceMs: known.sinceMs + gapMs } : { record, sinceMs: nowMs };
    });
    this.#watched = new Map(watched.map((one) => [one.record.id, one]));
    this.#living = found.map(({ id }) => id);
    this.#checkedMs = nowMs;
    const isFirst = found[0]?.id === self.id;
    if (hasLeft) {
      this.#lateUntilMs = nowMs + LATE_MS;
      // The other nodes check later: the first node may have been cut off without noticing.
      if (witness?.id === self.id) this.#isDue = true;
      else this.#lastMs = nowMs;
    }
    const againMs = nowMs < this.#lateUntilMs ? LOOK_AGAIN_MS : LOOK_ANYWAY_MS;
    const looks = isFirst || nowMs < this.#lateUntilMs;
    if (looks && nowMs - this.#lastMs >= againMs) this.#isDue = true;
    for (const one of watched) await this.#judge(one, nowMs);
    if (this.#isDue) await this.#adopt();
  }

  async #judge({ record, sinceMs }: Watched, nowMs: number): Promise<void> {
    const { nodes, self, isHeard, logger } = this.#needs;
    if (record.id === self.id || nowMs - sinceMs < SILENT_MS) return;
    const received = await isHeard(record.id);
    if (received === true || (received === undefined && this.#isLeftToOthers(record, nowMs)))
      return;
    // Due even if the answer is lost, because then no other node knows that there is work to adopt.
    const wasDue = this.#isDue;
    this.#isDead(nowMs);
    if (!(await nodes.fence(record))) {
      this.#isDue = wasDue;
      return;
    }
    this.#watched.delete(record.id);
    this.#living = this.#living.filter((id) => id !== record.id);
    logger.error(
      { node: record.id, epoch: record.epoch },
      'node sends no heartbeats: declared dead',
    );
  }

  #isDead(nowMs: number): void {
    this.#isDue = true;
    this.#lateUntilMs = nowMs + LATE_MS;
  }

  /**
   * Returns whether another live node should decide. A node that cannot check reachability leaves the decision to one
   * that can.
   */
  #isLeftToOthers(silent: NodeRecord, nowMs: number): boolean {
    if (nowMs - this.#hearingMs < SILENT_MS) return true;
    return [...this.#watched.values()].some(
      ({ record: { id, hears }, sinceMs }) =>
        hears && id !== silent.id && id !== this.#needs.self.id && nowMs - sinceMs < SILENT_MS,
    );
  }

  async #adopt(): Promise<void> {
    await this.#needs.adopt();
    this.#isDue = false;
    this.#lastMs = this.#needs.clock.monotonicMs();
  }

  async #beginAnew(): Promise<void> {
    const { nodes, self, clock, fenced, logger } = this.#needs;
    if (!this.#isFenced)
      logger.error(
        { node: self.id, epoch: self.epoch },
        'this node was declared dead: ending its calls',
      );
    this.#isFenced = true;
    await fenced();
    // Otherwise both processes would end each other's calls again and again.
    if (await self.isRunElsewhere(nodes, clock))
      throw new ServiceError('CONFIG_INVALID', sameId(self.id));
    await self.begin(nodes, false);
    this.#isFenced = false;
    this.#isDue = true;
    logger.warn({ node: self.id, epoch: self.epoch }, 'this node rejoined with a new epoch');
  }
}
