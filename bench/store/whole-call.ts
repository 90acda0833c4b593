/** The units of work of one whole call, grouped into transactions as a service at 50 calls a second groups them. */
import { newCallUuid, uuid } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import { systemRandom } from '../../src/base/system-random.ts';
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
/** Between two calls. */
export const CALL_US = 10_000;
export const timeOf = (index: number): number => START_US + index * CALL_US;
const CALLERS = 5_000_000;
const LINES = 12;
const timeline = Array.from({ length: LINES }, (_, index) => ({
  ...{ atUs: START_US + index, kind: 'sip', text: 'INVITE to 14155602000' },
  facts: { method: 'INVITE', status: 200, from: '14155550100' },
}));

type Work = readonly [repository: string, operation: string, ...given: readonly unknown[]];

function together(engine: Engine, nowUs: number, ...work: readonly Work[]): void {
  const units = work.map(([repository, operation, ...given]) => ({
    ...{ repository, operation, given, nowUs, node: NODE },
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
    ...{ type: 'debit' as const, amount: cost, description: 'Call to 14155602000' },
    ...{ reference: `cdr:${callUuid}`, referenceType: 'cdr' },
  });

/** Both legs opened, answered, settled, told, and their timelines kept. */
export function wholeCall(engine: Engine, index: number): void {
  const nowUs = timeOf(index);
  const from = String(14_150_000_000 + systemRandom.integer(CALLERS));
  const [inbound, outbound] = (['inbound', 'outbound'] as const).map((direction) =>
    aCdr({
      ...{ callUuid: newCallUuid(systemRandom, nowUs / 1000), direction, from },
      ...{ to: '14155602000', startUs: nowUs, answerUs: nowUs, endUs: nowUs + 1_000_000 },
      ...{ sipCallId: uuid(systemRandom), carrier: 'caller' },
    }),
  ) as [Cdr, Cdr];
  const [a, b] = [anOpenCall({ cdr: inbound }), anOpenCall({ cdr: outbound })];
  const told = aNotification({ id: uuid(systemRandom), subject: inbound.callUuid });
  const end = (cdr: Cdr) => ({ cdr, entries: [chargeOf(cdr)], notification: undefined });
  together(engine, nowUs, ['calls', 'open', a, undefined]);
  together(engine, nowUs, ['calls', 'open', b, undefined]);
  together(engine, nowUs, ['calls', 'update', b], ['calls', 'update', a]);
  together(
    engine,
    nowUs + 1_000_000,
    ['calls', 'settle', end(outbound)],
    ['calls', 'settle', { ...end(inbound), notification: told }],
  );
  together(
    engine,
    nowUs + 1_020_000,
    ['callLogs', 'put', inbound.callUuid, timeline],
    ['callLogs', 'put', outbound.callUuid, timeline],
    ['notifications', 'remove', told.id],
  );
}
