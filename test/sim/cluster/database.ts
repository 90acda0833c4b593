/** Database of a simulated cluster, shared by all nodes. Each node reaches it over a separate connection. */
import type { Clock } from '../../../src/base/clock.ts';
import { ServiceError } from '../../../src/base/errors.ts';
import type { CallUuid } from '../../../src/base/ids.ts';
import type { Logger } from '../../../src/base/logger.ts';
import type { OpenCall } from '../../../src/domain/cdr/needs.ts';
import type { NodeRef } from '../../../src/domain/cluster/types.ts';
import { Engine } from '../../../src/edge/store/engine.ts';
import { Executor, InlineRunner } from '../../../src/edge/store/executor.ts';
import { atOnce } from '../../../src/edge/store/pace.ts';
import type { Access } from '../../../src/edge/store/repositories.ts';
import type { Spool } from '../../../src/edge/store/spool.ts';
import { Spooling, type Submit } from '../../../src/edge/store/spooling.ts';
import { SPOOLED_WRITE, storedWrite, writeUnit } from '../../../src/edge/store/sql/stored-write.ts';
import { createRepositories, type Store, withNodes } from '../../../src/edge/store/store-parts.ts';
import type { Unit } from '../../../src/edge/store/unit.ts';
import type { UnreadableRow } from '../../../src/edge/store/unreadable.ts';
import { ephemeralKey } from '../../../src/edge/store/vault.ts';
import type { SimRandom } from '../random.ts';
import { Way } from './link.ts';
import type { NodeClock } from './node-clock.ts';

const TIMEOUT_MS = 1000;
/** Share of calls whose transaction commits late, after it has checked that its node is alive, and the longest delay. */
const LATE = { share: 0.1, mostMs: 12_000 } as const;

/** Duration of a write to the local disk. */
const WRITE_MS = [0, 30] as const;

/** Spooled writes of a node for the database, which outlive its process. */
export class NodeDisk
  implements Pick<Spool, 'size' | 'add' | 'batchWritten' | 'next' | 'setAside' | 'done' | 'close'>
{
  readonly #clock: Clock;
  readonly #random: SimRandom;
  readonly #lines: string[] = [];
  #underWay = 0;
  #batch: Promise<void> = Promise.resolve();

  constructor(clock: Clock, random: SimRandom) {
    this.#clock = clock;
    this.#random = random;
  }

  get size(): number {
    return this.#lines.length + this.#underWay;
  }

  add(unit: Unit): Promise<void> {
    this.#underWay += 1;
    this.#batch = this.#append(this.#batch, SPOOLED_WRITE.write(storedWrite(unit)));
    return this.#batch;
  }

  async #append(previous: Promise<void>, line: string): Promise<void> {
    await previous;
    await this.#clock.sleep(this.#random.between(...WRITE_MS));
    this.#lines.push(line);
    this.#underWay -= 1;
  }

  batchWritten(): Promise<void> {
    return this.#batch;
  }

  next(limit: number): readonly Unit[] {
    return this.#lines.slice(0, limit).map((line) => writeUnit(SPOOLED_WRITE.read(line)));
  }

  setAside(failed: ReadonlyMap<number, unknown>): readonly UnreadableRow[] {
    return [...failed].map(([index, error]) => ({
      table: 'spool',
      key: String(index),
      reason: String(error),
      original: this.#lines[index] ?? '',
    }));
  }

  done(count: number): void {
    this.#lines.splice(0, count);
  }

  async close(): Promise<void> {}
}

export interface DatabaseLink {
  readonly store: Store;
  readonly way: Way;
  /** Writes the spool that an earlier process of the node left. */
  drain(): Promise<void>;
}

export class SimDatabase {
  isUp = true;
  /** Actions of nodes after they were declared dead. */
  readonly faults: string[] = [];
  /** Node epochs that another node has ended: `id epoch`. */
  readonly #fenced = new Set<string>();
  readonly #random: SimRandom;
  readonly #clock: Clock;
  readonly #executor: Executor;
  /** Times before which other nodes do not see a call. */
  readonly #seenMs = new Map<string, number>();
  /** Direct access without a simulated connection. */
  readonly store: Store;

  constructor(clock: Clock, random: SimRandom) {
    this.#clock = clock;
    this.#random = random;
    const options = { synchronous: 'normal', checkpoints: 'here', random: random.fork() } as const;
    const engine = new Engine({
      ...options,
      file: ':memory:',
      role: 'writer',
      key: ephemeralKey(),
    });
    this.#executor = new Executor(new InlineRunner(engine), atOnce);
    this.store = storeOver(clock, (unit, access) => this.#executor.submit(unit, access));
  }

  connect(clock: NodeClock, disk: NodeDisk, logger: Logger): DatabaseLink {
    const weather = { delayMs: [0, 3], unanswered: 0.005 } as const;
    const way = new Way(clock, this.#random.fork(), weather);
    const lost = (): Error => new ServiceError('STORE_BUSY', 'database unavailable');
    const direct: Submit = (unit, access) => {
      const act = async (): Promise<unknown> => {
        if (!this.isUp) throw lost();
        if (isOpening(unit)) return this.#open(unit, access, clock);
        const answer = await this.#executor.submit(unit, access);
        if (answer === true && isFencing(unit)) this.#fenced.add(lifetimeOf(unit.given[0]));
        return isLookingForOpen(unit) ? this.#seen(answer as readonly OpenCall[]) : answer;
      };
      return way.ask(act, { lost, timeoutMs: TIMEOUT_MS });
    };
    const spooling = new Spooling({
      spool: disk,
      clock,
      logger,
      inOrder: direct,
      onUnreadable: (rows) => logger.error({ rows }, 'queued writes failed permanently'),
    });
    const submit: Submit = (unit, access) =>
      access === 'point' || access === 'report'
        ? direct(unit, access)
        : spooling.submit(unit, access, direct);
    const inDatabase = (callUuid: CallUuid) => spooling.inDatabase(callUuid);
    return { way, store: storeOver(clock, submit, inDatabase), drain: () => spooling.drainNow() };
  }

  /** Returns whether another node has declared this epoch of the node dead. */
  isFenced(node: NodeRef): boolean {
    return this.#fenced.has(lifetimeOf(node));
  }

  /** Time at which other nodes began to see the call. */
  seenSinceMs(callUuid: string): number {
    return this.#seenMs.get(callUuid) ?? 0;
  }

  /** Simulates a transaction that commits late: until then its node waits, and other nodes do not see the call. */
  async #open(unit: OpeningUnit, access: Access, clock: NodeClock): Promise<unknown> {
    const answer = await this.#executor.submit(unit, access);
    if (!this.#random.chance(LATE.share)) return answer;
    const lateMs = this.#random.between(0, LATE.mostMs);
    this.#seenMs.set(unit.given[0].cdr.callUuid, this.#clock.monotonicMs() + lateMs);
    await clock.sleep(lateMs);
    return answer;
  }

  #seen(calls: readonly OpenCall[]): readonly OpenCall[] {
    const nowMs = this.#clock.monotonicMs();
    return calls.filter(({ cdr }) => this.seenSinceMs(cdr.callUuid) <= nowMs);
  }

  async close(): Promise<void> {
    await this.#executor.close();
  }
}

type OpeningUnit = Unit & { readonly given: readonly [call: OpenCall, ...unknown[]] };

const isOpening = (unit: Unit): unit is OpeningUnit =>
  unit.repository === 'calls' && ['open', 'openAhead'].includes(unit.operation);
type FencingUnit = Unit & { readonly given: readonly [node: NodeRef] };

const isFencing = (unit: Unit): unit is FencingUnit =>
  unit.repository === 'nodes' && unit.operation === 'fence';
const lifetimeOf = ({ id, epoch }: NodeRef): string => `${id} ${epoch}`;
const isLookingForOpen = ({ repository, operation }: Unit): boolean =>
  repository === 'calls' && operation === 'listOpen';

function storeOver(
  clock: Clock,
  submit: Submit,
  inDatabase: NonNullable<Store['inDatabase']> = () => Promise.resolve(true),
): Store {
  const repositories = createRepositories(clock, submit);
  const nothing = (): void => undefined;
  const store: Omit<Store, 'as'> = {
    ...repositories,
    file: ':memory:',
    backup: () => Promise.reject(new Error('not in a simulation')),
    verify: () => repositories.ledger.verify(),
    onLowBalance: nothing,
    onUnknownOutcome: nothing,
    onChange: nothing,
    outdated: nothing,
    check: () => Promise.resolve(),
    renew: () => Promise.resolve(),
    finishErasure: () => Promise.resolve(),
    waiting: () => 0,
    spooled: () => 0,
    inDatabase,
    close: () => Promise.resolve(),
  };
  return withNodes(store, clock, submit);
}
