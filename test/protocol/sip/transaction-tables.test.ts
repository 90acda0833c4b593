/**
 * Checks every (state, event) cell of the four transactions against a second, hand-written copy of the figures. Cells
 * not listed here must be ignored.
 */
import { describe, expect, test } from 'vitest';
import {
  INVITE_CLIENT,
  InviteClient,
} from '../../../src/protocol/sip/transaction/invite-client.ts';
import {
  INVITE_SERVER,
  InviteServer,
} from '../../../src/protocol/sip/transaction/invite-server.ts';
import {
  NON_INVITE_CLIENT,
  NonInviteClient,
} from '../../../src/protocol/sip/transaction/non-invite-client.ts';
import {
  NON_INVITE_SERVER,
  NonInviteServer,
} from '../../../src/protocol/sip/transaction/non-invite-server.ts';
import { RFC3261_TIMERS } from '../../../src/protocol/sip/transaction/timer-values.ts';
import type { TransactionOutput } from '../../../src/protocol/sip/transaction/types.ts';
import { sketch, UDP } from './support.ts';

const options = (method: string) => ({
  id: 1,
  request: sketch({ method }),
  flow: UDP,
  timers: RFC3261_TIMERS,
});

/** Access to the protected state of a transaction. */
interface Opened {
  readonly state: string;
  fire(event: string, nowMs: number): void;
  takeOutputs(): readonly TransactionOutput[];
}

interface Figure {
  readonly title: string;
  readonly table: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly make: () => unknown;
  readonly events: readonly string[];
  /** Events that lead to each state. */
  readonly paths: Readonly<Record<string, readonly string[]>>;
  /** Cells as `state event -> next`. */
  readonly cells: readonly string[];
}

const FIGURES: readonly Figure[] = [
  {
    title: 'INVITE client: RFC 3261 figure 5, RFC 6026 figure 2',
    table: INVITE_CLIENT,
    make: () => new InviteClient(options('INVITE')),
    events: [
      ...['1xx', '2xx', '3xx-6xx', 'cancelled', 'transportError', 'connectionLost'],
      ...['timerA', 'timerB', 'timerD', 'timerM', 'giveUp'],
    ],
    paths: {
      calling: [],
      proceeding: ['1xx'],
      completed: ['3xx-6xx'],
      accepted: ['2xx'],
      terminated: ['transportError'],
    },
    cells: [
      'calling 1xx -> proceeding',
      'calling 2xx -> accepted',
      'calling 3xx-6xx -> completed',
      'calling timerA -> calling',
      'calling timerB -> terminated',
      'calling transportError -> terminated',
      'calling connectionLost -> terminated',
      'proceeding 1xx -> proceeding',
      'proceeding 2xx -> accepted',
      'proceeding 3xx-6xx -> completed',
      'proceeding cancelled -> proceeding',
      'proceeding giveUp -> terminated',
      'proceeding connectionLost -> terminated',
      'completed 3xx-6xx -> completed',
      'completed timerD -> terminated',
      'completed transportError -> terminated',
      'accepted 2xx -> accepted',
      'accepted timerM -> terminated',
    ],
  },
  {
    title: 'non-INVITE client: RFC 3261 figure 6',
    table: NON_INVITE_CLIENT,
    make: () => new NonInviteClient(options('OPTIONS')),
    events: [
      ...['1xx', '2xx-6xx', 'transportError', 'connectionLost'],
      ...['timerE', 'timerF', 'timerK'],
    ],
    paths: {
      trying: [],
      proceeding: ['1xx'],
      completed: ['2xx-6xx'],
      terminated: ['transportError'],
    },
    cells: [
      'trying 1xx -> proceeding',
      'trying 2xx-6xx -> completed',
      'trying timerE -> trying',
      'trying timerF -> terminated',
      'trying transportError -> terminated',
      'trying connectionLost -> terminated',
      'proceeding 1xx -> proceeding',
      'proceeding 2xx-6xx -> completed',
      'proceeding timerE -> proceeding',
      'proceeding timerF -> terminated',
      'proceeding transportError -> terminated',
      'proceeding connectionLost -> terminated',
      'completed timerK -> terminated',
    ],
  },
  {
    title: 'INVITE server: RFC 3261 figure 7, RFC 6026 figure 1',
    table: INVITE_SERVER,
    make: () => new InviteServer(options('INVITE')),
    events: [
      ...['INVITE', 'ACK', '1xx', '2xx', '3xx-6xx', 'transportError'],
      ...['timerG', 'timerH', 'timerI', 'timerL'],
    ],
    paths: {
      proceeding: [],
      completed: ['3xx-6xx'],
      confirmed: ['3xx-6xx', 'ACK'],
      accepted: ['2xx'],
      terminated: ['2xx', 'timerL'],
    },
    cells: [
      'proceeding INVITE -> proceeding',
      'proceeding 1xx -> proceeding',
      'proceeding 2xx -> accepted',
      'proceeding 3xx-6xx -> completed',
      'proceeding transportError -> proceeding',
      'completed INVITE -> completed',
      'completed ACK -> confirmed',
      'completed timerG -> completed',
      'completed timerH -> terminated',
      'completed transportError -> completed',
      'confirmed timerI -> terminated',
      'accepted 2xx -> accepted',
      'accepted ACK -> accepted',
      'accepted timerL -> terminated',
      'accepted transportError -> accepted',
    ],
  },
  {
    title: 'non-INVITE server: RFC 3261 figure 8, RFC 4320',
    table: NON_INVITE_SERVER,
    make: () => new NonInviteServer(options('OPTIONS')),
    events: [
      ...['request', '2xx-6xx', '408', 'transportError'],
      ...['timerTrying', 'timerJ', 'timerAbandon'],
    ],
    paths: {
      trying: [],
      proceeding: ['timerTrying'],
      completed: ['2xx-6xx'],
      terminated: ['408'],
    },
    cells: [
      'trying timerTrying -> proceeding',
      'trying 2xx-6xx -> completed',
      'trying 408 -> terminated',
      'trying timerAbandon -> terminated',
      'proceeding request -> proceeding',
      'proceeding 2xx-6xx -> completed',
      'proceeding 408 -> terminated',
      'proceeding timerAbandon -> terminated',
      'proceeding transportError -> terminated',
      'completed request -> completed',
      'completed timerJ -> terminated',
      'completed transportError -> terminated',
    ],
  },
];

describe.each(FIGURES)('$title', ({ table, make, events, paths, cells }) => {
  const expected = new Map(
    cells.map((cell) => {
      const [from = '', to = ''] = cell.split(' -> ');
      return [from, to];
    }),
  );

  test('the table contains exactly these states and events', () => {
    expect(Object.keys(table)).toEqual(Object.keys(paths));
    const used = new Set(Object.values(table).flatMap((row) => Object.keys(row)));
    expect([...used].filter((event) => !events.includes(event))).toEqual([]);
  });

  const walk = Object.keys(paths).flatMap((state) => events.map((event) => ({ state, event })));

  test.each(walk)('$state × $event', ({ state, event }) => {
    const machine = make() as Opened;
    for (const step of paths[state] ?? []) machine.fire(step, 0);
    machine.takeOutputs();
    expect(machine.state).toBe(state);
    machine.fire(event, 1);
    const next = expected.get(`${state} ${event}`);
    expect(machine.state).toBe(next ?? state);
    const outputs = machine.takeOutputs();
    if (next === undefined) expect(outputs).toEqual([]);
    expect(outputs.some(({ kind }) => kind === 'terminated')).toBe(next === 'terminated');
  });
});
