/** What calls cost the processes of one service, and how long their set-up takes: phones call an application, say nothing and hang up. */
import { makeUser, type SipUser, startCall } from '../../test/e2e/phone.ts';
import type { Service } from '../../test/e2e/service.ts';
import { cpuOf } from '../calls/accounting.ts';
import { isQuick } from '../row.ts';
import { percentile, rounded } from './figures.ts';

const RATE = 10;
const SECONDS = isQuick ? 4 : 10;
const TALK_S = 0.1;
/** At each node, so many at once: until then a call costs what compiling costs. */
const WARM_UP = isQuick ? 40 : 150;
const AT_ONCE = 2;
const ONE_BY_ONE = isQuick ? 40 : 150;

/** What a phone calls. */
type Called = Pick<Service, 'sipPort'>;

export interface CallsMeasured {
  /** CPU of all processes of the service. */
  readonly cpuMsPerCall: number;
  /** All that were made, those for the warm-up too. */
  readonly calls: number;
  /** INVITE to 200, one call at a time. */
  readonly setUpMs: { readonly p50: number; readonly p99: number };
}

/** The nodes take calls in turns; or whoever stands before them. */
export async function measureCalls(
  nodes: readonly Service[],
  answerUrl: string,
  called: readonly Called[] = nodes,
): Promise<CallsMeasured> {
  const [first] = nodes;
  if (first === undefined) throw new Error('there is no node');
  const user = await makeUser(first, `bench${Math.trunc(performance.now())}`, {
    answer_url: answerUrl,
  });
  const nodeOf = (at: number): Called => called[at % called.length] ?? first;
  const warmUp = WARM_UP * called.length;
  for (let done = 0; done < warmUp; done += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => talk(nodeOf(done + at), user)));
  const setUps: number[] = [];
  for (let at = 0; at < ONE_BY_ONE; at += 1) {
    const tookMs = await talk(nodeOf(at), user);
    if (tookMs !== undefined) setUps.push(tookMs);
  }
  const before = cpuOfAll(nodes);
  const began = performance.now();
  const calls: Promise<number | undefined>[] = [];
  for (let at = 0; at < RATE * SECONDS; at += 1) {
    const dueMs = began + (at * 1000) / RATE - performance.now();
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
    calls.push(talk(nodeOf(at), user));
  }
  const answered = (await Promise.all(calls)).filter((tookMs) => tookMs !== undefined).length;
  return {
    cpuMsPerCall: rounded((cpuOfAll(nodes) - before) / answered),
    calls: warmUp + setUps.length + calls.length,
    setUpMs: { p50: percentile(setUps, 50), p99: percentile(setUps, 99) },
  };
}

/** Milliseconds to the answer; undefined: refused, by a node whose machine has too much other work. */
async function talk(called: Called, user: SipUser): Promise<number | undefined> {
  const { report } = await startCall(called as Service, user, { seconds: TALK_S });
  const { setupMs, end } = await report;
  if (setupMs === undefined && end.status !== 503)
    throw new Error(`a call was not answered: ${JSON.stringify(end)}`);
  return setupMs;
}

const cpuOfAll = (nodes: readonly Service[]): number =>
  nodes.reduce((sum, { program }) => sum + cpuOf(program.child.pid ?? 0).ms, 0);
