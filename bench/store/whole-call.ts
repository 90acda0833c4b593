/** The units of work of whole calls, grouped into transactions as a service at 100 calls a second groups them. */
import { newCallUuid, uuid } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import type { StoredNotification } from '../../src/domain/callback/types.ts';
import type { OpenCall } from '../../src/domain/cdr/needs.ts';
import type { Cdr } from '../../src/domain/cdr/types.ts';
import type { Engine } from '../../src/edge/store/engine.ts';
import {
  aCdr,
  aNotification,
  anAccount,
  anEntry,
  anOpenCall,
  START_US,
} from '../../test/edge/store/records.ts';

export const ACCOUNT = anAccount().authId;
const NODE = { id: 'bench', epoch: 1 };
/** Time between two calls. */
export const CALL_US = 10_000;
export const timeOf = (index: number): number => START_US + index * CALL_US;
const CALLERS = 5_000_000;
/** Calls that end while ends wait to be written together (`edge/store/pace.ts`). */
const ENDS_TOGETHER = 5;
/** Calls that run at a time, each for a second, and calls that begin between two heartbeats. */
const RUNNING = 100;
const BEAT_EVERY = 200;
const LINES = 12;
const timeline = Array.from({ length: LINES }, (_, index) => ({
  atUs: START_US + index,
  kind: 'sip',
  text: 'INVITE to 14155602000',
  facts: { method: 'INVITE', status: 200, from: '14155550100' },
}));

type Work = readonly [repository: string, operation: string, ...given: readonly unknown[]];

function together(engine: Engine, nowUs: number, ...work: readonly Work[]): void {
  const units = work.map(([repository, operation, ...given]) => ({
    repository,
    operation,
    given,
    nowUs,
    node: NODE,
  }));
  for (const outcome of engine.run(units))
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure));
}

export function createAccount(engine: Engine): void {
  const paid = anEntry({ amount: micros(1_000_000_000_000) });
  together(engine, START_US, ['nodes', 'begin', NODE.id, true]);
  together(engine, START_US, ['accounts', 'create', anAccount(), 'token']);
  together(engine, START_US, ['ledger', 'post', [paid], { checked: false }]);
}

const chargeOf = ({ callUuid, cost }: Cdr) =>
  anEntry({
    type: 'debit' as const,
    amount: cost,
    description: 'Call to 14155602000',
    reference: `cdr:${callUuid}`,
    referenceType: 'cdr',
  });

/** Both legs opened, answered, marked alive, settled, told, and their timelines kept: the ends of every fifth call bring those before it. */
export class WholeCalls {
  readonly #engine: Engine;
  #running: readonly Legs[] = [];
  #ended: readonly Ended[] = [];
  /** Calls whose end is stored. */
  #settled: readonly Ended[] = [];

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  add(index: number): void {
    const nowUs = timeOf(index);
    this.#begin(nowUs);
    if (index % BEAT_EVERY === 0) this.#beat(nowUs);
    const [first, ...others] = this.#running;
    if (first === undefined || this.#running.length <= RUNNING) return;
    this.#running = others;
    this.#end(first, nowUs);
  }

  #begin(nowUs: number): void {
    const from = String(14_150_000_000 + systemRandom.integer(CALLERS));
    const [inbound, outbound] = (['inbound', 'outbound'] as const).map((direction) =>
      aCdr({
        callUuid: newCallUuid(systemRandom, nowUs / 1000),
        direction,
        from,
        to: '14155602000',
        startUs: nowUs,
        answerUs: nowUs,
        endUs: nowUs + 1_000_000,
        sipCallId: uuid(systemRandom),
        carrier: 'caller',
      }),
    ) as [Cdr, Cdr];
    const a = anOpenCall({ cdr: inbound, hangupNotification: hangupOf(inbound) });
    const b = anOpenCall({ cdr: outbound });
    for (const call of [a, b]) this.#open(unanswered(call), nowUs);
    together(this.#engine, nowUs, ['calls', 'update', b], ['calls', 'update', a]);
    this.#running = [...this.#running, { inbound, outbound }];
  }

  #open(call: OpenCall, nowUs: number): void {
    const given = [call, undefined];
    const outcome = this.#engine.runAhead({
      repository: 'calls',
      operation: 'openAhead',
      given,
      nowUs,
      node: NODE,
    });
    if (outcome?.ok !== true) throw new Error(JSON.stringify(outcome));
  }

  #beat(atUs: number): void {
    const legs = this.#running.flatMap(({ inbound, outbound }) => [inbound, outbound]);
    const beats = legs.map(({ callUuid }) => ({ callUuid, atUs }));
    together(this.#engine, atUs, ['calls', 'heartbeat', beats]);
  }

  #end(legs: Legs, nowUs: number): void {
    this.#ended = [...this.#ended, { ...legs, reported: hangupOf(legs.inbound) }];
    if (this.#ended.length < ENDS_TOGETHER) return;
    together(
      this.#engine,
      nowUs,
      ...this.#settled.flatMap(afterEnd),
      ...this.#ended.flatMap(endsOf),
    );
    this.#settled = this.#ended;
    this.#ended = [];
  }
}

const unanswered = (call: OpenCall): OpenCall => ({
  ...call,
  cdr: { ...call.cdr, answerUs: undefined, codec: undefined },
});

const PARAMETERS = 19;
/** Hangup notification with the size of a real one. */
const hangupOf = ({ callUuid, accountId, from }: Cdr): StoredNotification =>
  aNotification({
    id: uuid(systemRandom),
    subject: callUuid,
    accountId,
    parameters: Array.from({ length: PARAMETERS }, (_, index) => [`Parameter${index}`, from]),
  });

interface Legs {
  readonly inbound: Cdr;
  readonly outbound: Cdr;
}

interface Ended extends Legs {
  readonly reported: StoredNotification;
}

function endsOf({ inbound, outbound, reported }: Ended): readonly Work[] {
  const end = (cdr: Cdr) => ({ cdr, entries: [chargeOf(cdr)], notification: undefined });
  return [
    ['calls', 'settle', end(outbound)],
    ['calls', 'settle', { ...end(inbound), notification: reported }],
  ];
}

const afterEnd = ({ inbound, outbound, reported }: Ended): readonly Work[] => [
  ['callLogs', 'put', inbound.callUuid, timeline],
  ['callLogs', 'put', outbound.callUuid, timeline],
  ['notifications', 'remove', reported.id],
];
