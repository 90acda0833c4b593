/** CPU time per call of all processes of one service, and set-up time. Phones call an application, send silence and hang up. */
import { makeUser, type SipUser, startCall } from '../../test/e2e/phone.ts';
import type { Service } from '../../test/e2e/service.ts';
import { cpuOf } from '../calls/accounting.ts';
import { isQuick } from '../row.ts';
import { percentile, rounded } from './figures.ts';

/** Calls per second of each node. */
const RATE = 10;
const SECONDS = isQuick ? 4 : 8;
const TALK_S = 0.1;
/** Warm-up calls per node for the JIT compiler. */
const WARM_UP = isQuick ? 40 : 200;
const AT_ONCE = 2;
const ROUNDS = isQuick ? 40 : 200;
/** Duration of a call of which only the setup is measured. */
const SHORT_S = 0.02;

/** A service, and a phone that it knows. */
export interface Called {
  /** Nodes of one store; the first has the phone's account. */
  readonly nodes: readonly Service[];
  /** Addresses that the phone calls alternately: the nodes, or the edge proxy before them. */
  readonly ports: readonly Pick<Service, 'sipPort'>[];
  readonly user: SipUser;
}

export async function calledAt(
  nodes: readonly Service[],
  answerUrl: string,
  ports: Called['ports'] = nodes,
): Promise<Called> {
  const [first] = nodes;
  if (first === undefined) throw new Error('there is no node');
  const name = `bench${Math.trunc(performance.now())}`;
  return { nodes, ports, user: await makeUser(first, name, { answer_url: answerUrl }) };
}

/** Answers how many calls that were. */
export async function warmUp(all: readonly Called[]): Promise<number> {
  let calls = 0;
  for (let done = 0; done < WARM_UP; done += AT_ONCE) {
    const some = all.flatMap(({ ports, user }) =>
      ports.flatMap((port) => Array.from({ length: AT_ONCE }, () => talk(port, user))),
    );
    calls += some.length;
    await Promise.all(some);
  }
  return calls;
}

export interface SetUps {
  readonly p50: number;
  readonly p99: number;
}

/**
 * Measures the time from INVITE to 200 in milliseconds. Calls one node of each service alternately, so that other load on
 * the machine affects all equally and each node has processed the same number of calls.
 */
export async function setUpsOf(all: readonly Called[]): Promise<readonly SetUps[]> {
  const took = all.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { ports, user }] of all.entries()) {
      for (const port of ports) {
        const tookMs = await talk(port, user, SHORT_S);
        if (tookMs !== undefined) took[index]?.push(tookMs);
      }
    }
  }
  return took.map((times) => ({ p50: percentile(times, 50), p99: percentile(times, 99) }));
}

export interface CallsMeasured {
  /** CPU of all processes of the service. */
  readonly cpuMsPerCall: number;
  readonly calls: number;
}

/** Measures calls at the same rate per node, independent of the number of nodes. */
export async function measureCalls(called: Called): Promise<CallsMeasured> {
  const { nodes, ports, user } = called;
  const before = cpuOfAll(nodes);
  const began = performance.now();
  const calls: Promise<number | undefined>[] = [];
  const rate = RATE * ports.length;
  for (let at = 0; at < rate * SECONDS; at += 1) {
    const dueMs = began + (at * 1000) / rate - performance.now();
    if (dueMs > 0) await new Promise((resolve) => setTimeout(resolve, dueMs));
    calls.push(talk(portOf(called, at), user));
  }
  const answered = (await Promise.all(calls)).filter((tookMs) => tookMs !== undefined).length;
  return {
    cpuMsPerCall: rounded((cpuOfAll(nodes) - before) / answered),
    calls: calls.length,
  };
}

function portOf({ ports }: Called, at: number): Pick<Service, 'sipPort'> {
  const port = ports[at % ports.length];
  if (port === undefined) throw new Error('there is no node to call');
  return port;
}

/** Milliseconds to the answer; undefined: refused, by a node whose machine has too much other work. */
async function talk(
  called: Pick<Service, 'sipPort'>,
  user: SipUser,
  seconds = TALK_S,
): Promise<number | undefined> {
  const { report } = await startCall(called as Service, user, { seconds });
  const { setupMs, end } = await report;
  if (setupMs === undefined && end.status !== 503)
    throw new Error(`a call was not answered: ${JSON.stringify(end)}`);
  return setupMs;
}

const cpuOfAll = (nodes: readonly Service[]): number =>
  nodes.reduce((sum, { program }) => sum + cpuOf(program.child.pid ?? 0).ms, 0);
