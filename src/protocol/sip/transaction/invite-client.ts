/** INVITE client transaction: RFC 3261 §17.1.1, figure 5, with the Accepted state of RFC 6026 §8.4. */
import type { SipResponse } from '../message.ts';
import { serialize } from '../serialize.ts';
import {
  type ClientAction,
  ClientMachine,
  type ClientTransaction,
  type ClientTransactionOptions,
} from './client.ts';
import { createAck } from './derived-request.ts';
import type { Table } from './table-machine.ts';
import { timeout } from './timer-values.ts';
import type { TransactionOutput } from './types.ts';

export type InviteClientState = 'calling' | 'proceeding' | 'completed' | 'accepted';
type Timer = 'timerA' | 'timerB' | 'timerD' | 'timerM' | 'giveUp';
const TIMERS = { resends: 'timerA', givesUp: 'timerB' } as const;
export type InviteClientEvent =
  | Timer
  | '1xx'
  | '2xx'
  | '3xx-6xx'
  | 'cancelled'
  | 'transportError'
  | 'connectionLost';
type Action = 'sendAck' | 'armA' | 'armD' | 'armM' | 'armGiveUp';

export const INVITE_CLIENT: Table<
  InviteClientState | 'terminated',
  InviteClientEvent,
  Action | ClientAction
> = {
  calling: {
    '1xx': ['proceeding', 'passUp'],
    '2xx': ['accepted', 'armM', 'passUp'],
    '3xx-6xx': ['completed', 'armD', 'sendAck', 'passUp'],
    timerA: ['calling', 'send', 'armA'],
    timerB: ['terminated', 'reportTimeout'],
    transportError: ['terminated', 'reportTransportError'],
    connectionLost: ['terminated', 'reportTransportError'],
  },
  proceeding: {
    '1xx': ['proceeding', 'passUp'],
    '2xx': ['accepted', 'armM', 'passUp'],
    '3xx-6xx': ['completed', 'armD', 'sendAck', 'passUp'],
    // After a CANCEL, the final response is awaited for at most 64*T1 (RFC 3261 §9.1).
    cancelled: ['proceeding', 'armGiveUp'],
    giveUp: ['terminated', 'reportTimeout'],
    connectionLost: ['terminated', 'reportTransportError'],
  },
  completed: {
    '3xx-6xx': ['completed', 'sendAck'],
    timerD: ['terminated'],
    transportError: ['terminated', 'reportTransportError'],
  },
  accepted: {
    '2xx': ['accepted', 'passUp'],
    timerM: ['terminated'],
  },
  terminated: {},
};

const SHAPE = { table: INVITE_CLIENT, initial: 'calling', ...TIMERS } as const;

export class InviteClient
  extends ClientMachine<InviteClientState, InviteClientEvent, Timer, Action>
  implements ClientTransaction
{
  constructor(options: ClientTransactionOptions) {
    super(options, SHAPE);
  }

  receive(response: SipResponse, nowMs: number): readonly TransactionOutput[] {
    const event = response.status < 200 ? '1xx' : response.status < 300 ? '2xx' : '3xx-6xx';
    return this.receiveAs(event, response, nowMs);
  }

  cancelled(nowMs: number): readonly TransactionOutput[] {
    this.fire('cancelled', nowMs);
    return this.takeOutputs();
  }

  protected override act(action: Action, nowMs: number): void {
    switch (action) {
      case 'sendAck':
        this.#sendAck();
        break;
      case 'armA':
        this.armResend(nowMs);
        break;
      case 'armD':
        this.armEnd('timerD', this.reliable ? 0 : timeout(this.timers), nowMs);
        break;
      case 'armM':
        this.armEnd('timerM', timeout(this.timers), nowMs);
        break;
      case 'armGiveUp':
        this.arm('giveUp', nowMs + timeout(this.timers));
        break;
    }
  }

  #sendAck(): void {
    const { request, response } = this;
    if (request === undefined || response === undefined) return;
    const message = createAck(request, response);
    const bytes = serialize(message);
    this.emit({ kind: 'send', bytes, message, flow: this.flow, transaction: this.id });
  }
}
