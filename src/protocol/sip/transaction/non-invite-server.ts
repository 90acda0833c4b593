/** Non-INVITE server transaction: RFC 3261 §17.2.2, figure 8, with the amendments of RFC 4320. */
import type { SipResponse } from '../message.ts';
import { ServerMachine, type ServerTransaction, type ServerTransactionOptions } from './server.ts';
import type { Table } from './table-machine.ts';
import { timeout, timerEReachesT2 } from './timer-values.ts';
import type { TransactionOutput } from './types.ts';

export type NonInviteServerState = 'trying' | 'proceeding' | 'completed';
type Timer = 'timerTrying' | 'timerJ' | 'timerAbandon';
export type NonInviteServerEvent = Timer | 'request' | '2xx-6xx' | '408' | 'transportError';
type Action = 'send' | 'sendTrying' | 'resend' | 'armJ';

/**
 * Provisional responses of the user have no column. Only 100 is allowed, and only after the client's Timer E has
 * reached T2 (RFC 4320 §4.1); the transaction sends it. 408 is never sent (§4.2), because the client has timed out.
 * `timerAbandon` ends an unanswered transaction when the client's Timer F fires.
 */
export const NON_INVITE_SERVER: Table<
  NonInviteServerState | 'terminated',
  NonInviteServerEvent,
  Action
> = {
  trying: {
    timerTrying: ['proceeding', 'sendTrying'],
    '2xx-6xx': ['completed', 'armJ', 'send'],
    '408': ['terminated'],
    timerAbandon: ['terminated'],
  },
  proceeding: {
    request: ['proceeding', 'resend'],
    '2xx-6xx': ['completed', 'armJ', 'send'],
    '408': ['terminated'],
    timerAbandon: ['terminated'],
    transportError: ['terminated', 'reportTransportError'],
  },
  completed: {
    request: ['completed', 'resend'],
    timerJ: ['terminated'],
    transportError: ['terminated', 'reportTransportError'],
  },
  terminated: {},
};

const SHAPE = { table: NON_INVITE_SERVER, initial: 'trying' } as const;

export class NonInviteServer
  extends ServerMachine<NonInviteServerState, NonInviteServerEvent, Timer, Action>
  implements ServerTransaction
{
  constructor(options: ServerTransactionOptions) {
    super(options, SHAPE);
  }

  start(nowMs: number): readonly TransactionOutput[] {
    this.arm('timerTrying', nowMs + timerEReachesT2(this.timers));
    this.arm('timerAbandon', nowMs + timeout(this.timers));
    return this.takeOutputs();
  }

  retransmitted(nowMs: number): readonly TransactionOutput[] {
    this.fire('request', nowMs);
    return this.takeOutputs();
  }

  /** No effect: ACK belongs only to INVITE. */
  acknowledged(): readonly TransactionOutput[] {
    return [];
  }

  respond(response: SipResponse, nowMs: number): readonly TransactionOutput[] {
    if (response.status < 200) return [];
    return this.respondAs(response.status === 408 ? '408' : '2xx-6xx', response, nowMs);
  }

  protected override get resendsFinal(): boolean {
    return this.state === 'completed';
  }

  protected override perform(action: Action, nowMs: number): void {
    switch (action) {
      case 'send':
        this.sendNext();
        break;
      case 'sendTrying':
        this.sendNext(this.trying());
        break;
      case 'resend':
        this.resend();
        break;
      case 'armJ':
        this.armEnd('timerJ', this.reliable ? 0 : timeout(this.timers), nowMs);
        break;
    }
  }
}
