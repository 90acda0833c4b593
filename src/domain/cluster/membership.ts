/**
 * Keeps this node among the living, and watches the others. A node whose beats stand still is declared dead (its epoch grows), and
 * what it left is taken up. No two clocks are compared: how long a beat stands still, each node measures by its own.
 */
import type { Clock } from '../../base/clock.ts';
import { SECOND_MS } from '../../base/duration.ts';
import type { Logger } from '../../base/logger.ts';
import { RepeatedTask } from '../../base/repeated-task.ts';
import type { NodeLease } from './lease.ts';
import type { NodeStore } from './needs.ts';
import type { SelfNode } from './self-node.ts';
import type { NodeRecord } from './types.ts';

/** Between two beats, and two looks at those of the others. */
export const BEAT_MS = SECOND_MS;
/** A node whose beats stand still for so long, while this one could look, is dead. */
const SILENT_MS = 6 * SECOND_MS;
/** So long after a look at the others it is known who they are. */
const KNOWN_MS = 3 * SECOND_MS;
/** What was begun before a node was declared dead may be written after it: it is found by looking again, so often and so long. */
const LOOK_AGAIN_MS = 3 * SECOND_MS;
const LATE_MS = 20 * SECOND_MS;
/** For what nobody has seen coming. */
const LOOK_ANYWAY_MS = 60 * SECOND_MS;

export interface MembershipNeeds {
  readonly nodes: NodeStore;
  readonly self: SelfNode;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Renewed by each beat that the store confirms. */
  readonly lease: Pick<NodeLease, 'confirmedByStore'>;
  /** Whether the node is heard of in another way than by the store: then it lives. Undefined: that cannot be said. */
  readonly isHeard: (nodeId: string) => Promise<boolean | undefined>;
  /** Takes up everything that is nobody's; is called again when it rejects. */
  readonly takeUp: () => Promise<void>;
  /** This node was declared dead: its calls are another's by now. Resolves when they are ended; then it begins a new life. */
  readonly fenced: () => Promise<void>;
}

interface Watched {
  readonly record: NodeRecord;
  readonly sinceMs: number;
}

export class Membership {
  readonly #needs: MembershipNeeds;
  #watched = new Map<string, Watched>();
  #living: readonly string[] = [];
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** A round failed since the last look: the time until the next one does not count as silence of others. */
  #hasGap = false;
  /** When it could last be said whether a node is heard. */
  #hearingMs = Number.NEGATIVE_INFINITY;
  #isDue = false;
  /** Until then a node that is dead may be the last to write. */
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
        needs.logger.warn({ error }, 'the store did not take a beat of this node');
      },
    });
  }

  /** Nodes that live, this one among them; undefined: this one could not look for a while, and others may have begun meanwhile. */
  get living(): readonly string[] | undefined {
    const ageMs = this.#needs.clock.monotonicMs() - this.#lookedMs;
    return ageMs > KNOWN_MS ? undefined : this.#living;
  }

  start(): void {
    const { self, clock } = this.#needs;
    // What its earlier life began may be written after this one has begun, and nobody else may have seen that one end.
    if (self.epoch > 1) this.#lateUntilMs = clock.monotonicMs() + LATE_MS;
    this.#rounds.start();
  }

  /** The others need not wait until its beats stand still. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
    const { nodes, self, logger } = this.#needs;
    await nodes.leave(self).catch((error: unknown) => logger.warn({ error }, 'node has not left'));
  }

  /** One beat, and one look at the others. */
  async round(): Promise<void> {
    const { nodes, self, clock, isHeard, lease } = this.#needs;
    const hears = (await isHeard(self.id)) !== undefined;
    if (hears) this.#hearingMs = clock.monotonicMs();
    const sentMs = clock.monotonicMs();
    if (await nodes.beat(self, hears)) lease.confirmedByStore(sentMs);
    else await this.#beginAnew();
    const found = await nodes.list();
    const hasLeft = [...this.#watched].some(
      ([id, { record }]) => !found.some((one) => one.id === id && one.epoch === record.epoch),
    );
    const nowMs = clock.monotonicMs();
    // Who has just begun does not know that another life, perhaps its own, has ended.
    const witness = found.find(
      ({ id, epoch }) => id === self.id || this.#watched.get(id)?.record.epoch === epoch,
    );
    const gapMs = this.#hasGap ? nowMs - this.#lookedMs : 0;
    this.#hasGap = false;
    const watched = found.map((record): Watched => {
      const known = this.#watched.get(record.id);
      const stands = known?.record.epoch === record.epoch && known.record.beats === record.beats;
      return stands ? { record, sinceMs: known.sinceMs + gapMs } : { record, sinceMs: nowMs };
    });
    this.#watched = new Map(watched.map((one) => [one.record.id, one]));
    this.#living = found.map(({ id }) => id);
    this.#lookedMs = nowMs;
    const isFirst = found[0]?.id === self.id;
    if (hasLeft) {
      this.#lateUntilMs = nowMs + LATE_MS;
      // The others look later: the first may have been cut off, and not know of it.
      if (witness?.id === self.id) this.#isDue = true;
      else this.#lastMs = nowMs;
    }
    const againMs = nowMs < this.#lateUntilMs ? LOOK_AGAIN_MS : LOOK_ANYWAY_MS;
    const looks = isFirst || nowMs < this.#lateUntilMs;
    if (looks && nowMs - this.#lastMs >= againMs) this.#isDue = true;
    for (const one of watched) await this.#judge(one, nowMs);
    if (this.#isDue) await this.#takeUp();
  }

  async #judge({ record, sinceMs }: Watched, nowMs: number): Promise<void> {
    const { nodes, self, isHeard, logger } = this.#needs;
    if (record.id === self.id || nowMs - sinceMs < SILENT_MS) return;
    const heard = await isHeard(record.id);
    if (heard === true || (heard === undefined && this.#isLeftToOthers(record, nowMs))) return;
    // Due also when the answer is lost: then nobody else knows that there is something to be taken up.
    const wasDue = this.#isDue;
    this.#isDead(nowMs);
    if (!(await nodes.fence(record))) {
      this.#isDue = wasDue;
      return;
    }
    this.#watched.delete(record.id);
    this.#living = this.#living.filter((id) => id !== record.id);
    logger.error({ node: record.id, epoch: record.epoch }, 'node is silent: declared dead');
  }

  #isDead(nowMs: number): void {
    this.#isDue = true;
    this.#lateUntilMs = nowMs + LATE_MS;
  }

  /** Who cannot hear of it leaves it to one that lives and can; one answer that was lost is no deafness. */
  #isLeftToOthers(silent: NodeRecord, nowMs: number): boolean {
    if (nowMs - this.#hearingMs < SILENT_MS) return true;
    return [...this.#watched.values()].some(
      ({ record: { id, hears }, sinceMs }) =>
        hears && id !== silent.id && id !== this.#needs.self.id && nowMs - sinceMs < SILENT_MS,
    );
  }

  async #takeUp(): Promise<void> {
    await this.#needs.takeUp();
    this.#isDue = false;
    this.#lastMs = this.#needs.clock.monotonicMs();
  }

  async #beginAnew(): Promise<void> {
    const { nodes, self, fenced, logger } = this.#needs;
    logger.error(
      { node: self.id, epoch: self.epoch },
      'this node was declared dead: its calls end',
    );
    await fenced();
    await self.begin(nodes, false);
    this.#isDue = true;
    logger.warn({ node: self.id, epoch: self.epoch }, 'this node has begun anew');
  }
}
