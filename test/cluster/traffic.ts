/** Load on a fleet through an edge or load balancer: a call that one node refuses goes to the next node. */
import { startCall } from '../e2e/phone.ts';
import { eventually, type Service } from '../e2e/service.ts';
import type { Callers } from './callers.ts';
import type { Fleet } from './fleet.ts';

/** Number of phones that call repeatedly. */
const PHONES = 3;
const TALK_S = 1;
/** Number of calls that must end before the test continues. */
const SOME = 4;

export interface Brought {
  readonly calls: number;
  /** Calls that no node accepted, or that did not end with the phone's hangup. */
  readonly lost: readonly string[];
  /** Requests that no node answered. */
  readonly failed: readonly string[];
}

export class Traffic {
  readonly #fleet: Fleet;
  readonly #callers: Callers;
  readonly #lost: string[] = [];
  readonly #failed: string[] = [];
  #calls = 0;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(fleet: Fleet, callers: Callers) {
    this.#fleet = fleet;
    this.#callers = callers;
  }

  static start(fleet: Fleet, callers: Callers): Traffic {
    const traffic = new Traffic(fleet, callers);
    const phones = Array.from({ length: PHONES }, (_, at) =>
      traffic.#again(() => traffic.#call(at)),
    );
    traffic.#running = Promise.all([...phones, traffic.#again(() => traffic.#ask())]);
    return traffic;
  }

  /** Resolves when `SOME` more calls have ended. */
  async some(): Promise<void> {
    const wanted = this.#calls + SOME;
    await eventually('more calls', () => this.#calls >= wanted || undefined, 60_000);
  }

  async stop(): Promise<Brought> {
    this.#isOver = true;
    await this.#running;
    return { calls: this.#calls, lost: this.#lost, failed: this.#failed };
  }

  async #again(act: () => Promise<void>): Promise<void> {
    while (!this.#isOver) await act();
  }

  /** Ready nodes in round-robin order, starting with a different node each time. */
  async #ready(): Promise<readonly Service[]> {
    const nodes = this.#fleet.nodes.map(({ service }) => service);
    const requested = await Promise.all(
      nodes.map(async (node) => {
        const answer = await node.get('/readyz').catch(() => undefined);
        return answer?.status === 200 ? [node] : [];
      }),
    );
    const ready = requested.flat();
    const first = this.#calls % Math.max(1, ready.length);
    return [...ready.slice(first), ...ready.slice(0, first)];
  }

  async #call(phone: number): Promise<void> {
    const reasons: string[] = [];
    for (const node of await this.#ready()) {
      const call = await startCall(node, this.#callers.user, { seconds: TALK_S });
      const isTaken = await call.answered.then(
        () => true,
        (error: unknown) => {
          reasons.push(String(error));
          return false;
        },
      );
      const report = await call.report.catch(() => undefined);
      if (!isTaken) continue; // tries the next node, as the edge does
      this.#calls += 1;
      if (report?.end.by !== 'local') this.#lost.push(`phone ${phone}: ${report?.end.how}`);
      return;
    }
    this.#lost.push(`phone ${phone}: no node accepted its call: ${reasons.join(', ')}`);
  }

  async #ask(): Promise<void> {
    const reasons: string[] = [];
    for (const node of await this.#ready()) {
      const answer = await node
        .api('GET', 'Application/', undefined, this.#callers.root)
        .catch((error: unknown) => String(error));
      if (typeof answer !== 'string' && answer.status === 200) return;
      reasons.push(typeof answer === 'string' ? answer : String(answer.status));
    }
    this.#failed.push(reasons.join(', '));
  }
}
