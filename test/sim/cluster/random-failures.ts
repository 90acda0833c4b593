/** One seed of a cluster: calls and random failures. */
import type { CallUuid } from '../../../src/base/ids.ts';
import type { NodeRef } from '../../../src/domain/cluster/types.ts';
import type { CallControl } from '../../../src/domain/dispatch/types.ts';
import { type Asked, type Reply, SITE, xml } from '../customer.ts';
import type { SimLeg } from '../leg.ts';
import type { Coverage } from './coverage.ts';
import { Troubles } from './failures.ts';
import type { Process, SimNode } from './node.ts';
import { Rules } from './rules.ts';
import { ClusterWorld, FAR, OWN_NUMBER } from './world.ts';

const STORM_MS = 22_000;
/**
 * Recovery time in milliseconds: all failures are repaired, except that one node may stay dead. Then all calls are hung
 * up.
 */
const CALM_MS = 12_000;
/** Time in milliseconds longer than a slot lease and all retries of a callback. */
const AFTERMATH_MS = 20_000;
/** Failure rates of the customer's server: share of requests, and maximum for one request. */
const FAILURES = 0.3;
const MOST_FAILURES = 2;
const DEEP_CHECK_MS = 2500;
const STORY_LINES = 80;
/** Time in milliseconds after which a started node knows the others. */
const KNOWS_MS = 4000;

type Serving = SimNode & { readonly process: Process };

export interface StormOptions {
  /** Number of faults that begin at the same time. Default 1. */
  readonly together?: number;
  /** One node is of a version that does not register its slots in an emptied Redis. */
  readonly mixed?: boolean;
  readonly coverage?: Coverage;
}

/** Runs the storm and returns its story, line by line. Throws the broken invariant with the end of the story. */
export async function storm(seed: number, options: StormOptions = {}): Promise<readonly string[]> {
  const world = await ClusterWorld.open(seed, options.mixed);
  try {
    await new Storm(world, options).play();
    return world.story;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const story = world.story.slice(-STORY_LINES).join('\n');
    const { together = 1, mixed = false } = options;
    const more = `${together > 1 ? ` --together ${together}` : ''}${mixed ? ' --mixed' : ''}`;
    const again = `npm run sim -- --cluster --from ${seed} --seeds 1${more}`;
    throw new Error(`seed ${seed}: ${message}\n${story}\nagain: ${again}`, { cause: error });
  } finally {
    await world.close();
  }
}

class Storm {
  readonly #world: ClusterWorld;
  readonly #troubles: Troubles;
  readonly #rules: Rules;
  readonly #callers: SimLeg[] = [];
  readonly #faults: string[] = [];
  #checkedMs = 0;

  readonly #together: number;

  constructor(world: ClusterWorld, { together = 1, coverage }: StormOptions) {
    this.#world = world;
    this.#together = together;
    this.#troubles = new Troubles(world, coverage);
    this.#rules = new Rules(world, this.#troubles);
  }

  async play(): Promise<void> {
    const { clock, random } = this.#world;
    this.#serve();
    while (clock.monotonicMs() < STORM_MS) {
      await this.#pass(random.between(100, 1500));
      this.#happen();
    }
    await this.#calm();
    for (const { leg } of this.#world.legs()) leg.phoneHangsUp();
    await this.#pass(AFTERMATH_MS);
    await this.#rules.afterAll();
  }

  async #calm(): Promise<void> {
    this.#troubles.heal();
    await this.#world.until('all nodes serve', () => this.#world.serving.length === 3);
    const { random, nodes } = this.#world;
    if (random.chance(0.5)) this.#troubles.killForGood(random.pick(nodes));
    await this.#pass(CALM_MS);
    await this.#rules.acceptsCalls();
  }

  async #pass(ms: number): Promise<void> {
    const { clock } = this.#world;
    await this.#world.advance(ms, async () => {
      this.#troubles.look();
      this.#rules.quick();
      const [fault] = this.#faults;
      if (fault !== undefined) throw new Error(`invariant broken: ${fault}`);
      if (clock.monotonicMs() - this.#checkedMs < DEEP_CHECK_MS) return;
      this.#checkedMs = clock.monotonicMs();
      await this.#rules.deep();
    });
  }

  /** Sets up a customer whose server works most of the time. */
  #serve(): void {
    const { customer, random, answers } = this.#world;
    const requested = new Map<string, number>();
    /** Limits failures so that no request is abandoned. */
    const fails = ({ parameters }: Asked): boolean => {
      const about = `${parameters['CallUUID']} ${parameters['Event']}`;
      const before = requested.get(about) ?? 0;
      requested.set(about, before + 1);
      return before < MOST_FAILURES && random.chance(FAILURES);
    };
    const often =
      (well: () => Reply) =>
      (one: Asked): Reply => {
        const reply = fails(one) ? 500 : well();
        answers.set(one.request, reply);
        return reply;
      };
    const waits = (): string => `<GetDigits timeout="${random.between(2, 40)}" retries="1"/>`;
    const dials = (): string =>
      `<Dial callerId="${OWN_NUMBER}" timeLimit="${random.between(3, 30)}"><Number>${random.pick(FAR)}</Number></Dial>`;
    const ends = (): string => '<Hangup/>';
    const again = `<Redirect>${SITE}/answer</Redirect>`;
    const document = (): Reply =>
      xml(random.pick([waits, () => waits() + again, dials, () => waits() + dials(), ends])());

    customer.on('/answer', often(document));
    customer.on(
      '/hangup',
      often(() => 200),
    );
    customer.on(
      '/ring',
      often(() => 200),
    );
  }

  #happen(): void {
    const { random } = this.#world;
    const what = random.share();
    if (what < 0.4) this.#call();
    else if (what < 0.5) this.#place();
    else if (what < 0.6) this.#callers[random.integer(this.#callers.length)]?.phoneHangsUp();
    else if (what < 0.75) this.#askElsewhere();
    else for (let count = 0; count < this.#together; count += 1) this.#troubles.strike();
  }

  #call(): void {
    const leg = this.#world.call();
    if (leg !== undefined) this.#callers.push(leg);
  }

  #place(): void {
    const { random, serving, account } = this.#world;
    if (serving.length === 0) return;
    const target = (path: string) => ({ url: `${SITE}${path}`, method: 'POST' }) as const;
    const { control } = random.pick(serving).process;
    const { accountId } = account;
    const placed = control.placeCalls({
      accountId,
      subAccount: undefined,
      from: OWN_NUMBER,
      destinations: [{ kind: 'number', number: random.pick(FAR) }],
      answer: target('/answer'),
      ring: target('/ring'),
      hangup: target('/hangup'),
      fallback: undefined,
      machineDetection: undefined,
      callerName: undefined,
      sendDigits: undefined,
      sendOnPreanswer: false,
      timeLimitMs: 60_000,
      hangupOnRingMs: undefined,
      ringTimeoutMs: undefined,
      sipHeaders: [],
      idempotencyKey: undefined,
    });
    placed.catch(() => undefined); // refused: a component is unavailable
  }

  /**
   * Checks queries about a call of another node: the result is an answer or an error, never that the call does not
   * exist.
   */
  #askElsewhere(): void {
    const { random, clock } = this.#world;
    const old = (node: Serving): boolean => clock.monotonicMs() - node.servesSinceMs > KNOWS_MS;
    const nodes = this.#world.serving.filter(old);
    const owner = nodes.length === 0 ? undefined : random.pick(nodes);
    const others = nodes.filter((node) => node !== owner);
    const call = owner?.process.calls.callBilling
      .live()
      .find(({ answerUs }) => answerUs !== undefined);
    if (owner === undefined || call === undefined || others.length === 0) return;
    const asker = random.pick(others);
    const { process } = owner;
    // The process may be killed while the query is pending.
    const lives = (): boolean =>
      owner.process === process &&
      process.calls.callBilling.get(call.uuid) === call &&
      !call.isEnded;
    void this.#watch(asker, owner, { callUuid: call.uuid, lives });
  }

  async #watch(
    asker: Serving,
    owner: Serving,
    { callUuid, lives }: { readonly callUuid: CallUuid; readonly lives: () => boolean },
  ): Promise<void> {
    const { accountId } = this.#world.account;
    const { control } = asker.process;
    const { self } = owner.process;
    const isKnown = await this.#knows(control, callUuid).catch(() => undefined);
    const isOwners = await this.#isTakenForAlive(self);
    // A node that was declared dead has lost its calls, even before it detects it.
    if (isKnown === false && lives() && isOwners)
      this.#faults.push(`${asker.id} knows nothing of ${callUuid}, which ${owner.id} has`);
    if (this.#world.random.chance(0.3))
      await control.hangup(accountId, callUuid).catch(() => undefined);
  }

  async #knows(control: CallControl, callUuid: CallUuid): Promise<boolean> {
    const { accountId } = this.#world.account;
    if (this.#world.random.chance(0.5))
      return (await control.liveCall(accountId, callUuid)) !== undefined;
    const all = await control.liveCalls(accountId, 'live');
    return all.some((one) => one.callUuid === callUuid);
  }

  async #isTakenForAlive(self: NodeRef): Promise<boolean> {
    const living = await this.#world.database.store.nodes.list();
    return living.some(({ id, epoch }) => id === self.id && epoch === self.epoch);
  }
}
