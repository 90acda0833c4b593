/** Non-INVITE client transaction: RFC 3261 §17.1.2, figure 6. */
import type { SipResponse } from '../message.ts';
import {
  type ClientAction,
  ClientMachine,
  type ClientTransaction,
  type ClientTransactionOptions,
} from './client.ts';
import type { Table } from './table-machine.ts';
import type { TransactionOutput } from './types.ts';

export type NonInviteClientState = 'trying' | 'proceeding' | 'completed';
type Timer = 'timerE' | 'timerF' | 'timerK';
const TIMERS = { resends: 'timerE', givesUp: 'timerF' } as const;
export type NonInviteClientEvent = Timer | '1xx' | '2xx-6xx' | 'transportError' | 'connectionLost';
type Action = 'armE' | 'armEAtT2' | 'armK';

export const NON_INVITE_CLIENT: Table<
  NonInviteClientState | 'terminated',
  NonInviteClientEvent,
  Action | ClientAction
> = {
  trying: {
    '1xx': ['proceeding', 'passUp'],
    '2xx-6xx': ['completed', 'armK', 'passUp'],
    timerE: ['trying', 'send', 'armE'],
    timerF: ['terminated', 'reportTimeout'],
    transportError: ['terminated', 'reportTransportError'],
    connectionLost: ['terminated', 'reportTransportError'],
  },
  proceeding: {
    '1xx': ['proceeding', 'passUp'],
    '2xx-6xx': ['completed', 'armK', 'passUp'],
    timerE: ['proceeding', 'send', 'armEAtT2'],
    timerF: ['terminated', 'reportTimeout'],
    transportError: ['terminated', 'reportTransportError'],
    connectionLost: ['terminated', 'reportTransportError'],
  },
  completed: {
    timerK: ['terminated'],
  },
  terminated: {},
};

const SHAPE = { table: NON_INVITE_CLIENT, initial: 'trying', ...TIMERS } as const;

export class NonInviteClient
  extends ClientMachine<NonInviteClientState, NonInviteClientEvent, Timer, Action>
  implements ClientTransaction
{
  constructor(options: ClientTransactionOptions) {
    super(options, SHAPE);
  }

  receive(response: SipResponse, nowMs: number): readonly TransactionOutput[] {
    return this.receiveAs(response.status < 200 ? '1xx' : '2xx-6xx', response, nowMs);
  }

  /** No effect: only an INVITE can be cancelled (§9.1). */
  cancelled(): readonly TransactionOutput[] {
    return [];
  }

  protected override act(action: Action, nowMs: number): void {
    const { t2, t4 } = this.timers;
    switch (action) {
      case 'armE':
        this.armResend(nowMs, t2);
        break;
      case 'armEAtT2':
        this.arm('timerE', nowMs + t2);
        break;
      case 'armK':
        this.armEnd('timerK', this.reliable ? 0 : t4, nowMs);
        break;
    }
  }
}
