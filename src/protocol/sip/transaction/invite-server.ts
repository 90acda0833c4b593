/** INVITE server transaction: RFC 3261 §17.2.1, figure 7, with the Accepted state of RFC 6026 §8.5 and §8.7. */
import type { SipRequest, SipResponse } from '../message.ts';
import { ServerMachine, type ServerTransaction, type ServerTransactionOptions } from './server.ts';
import type { Table } from './table-machine.ts';
import { timeout } from './timer-values.ts';
import type { TransactionOutput } from './types.ts';

export type InviteServerState = 'proceeding' | 'completed' | 'confirmed' | 'accepted';
type Timer = 'timerG' | 'timerH' | 'timerI' | 'timerL';
export type InviteServerEvent =
  | Timer
  | 'INVITE'
  | 'ACK'
  | '1xx'
  | '2xx'
  | '3xx-6xx'
  | 'transportError';
type Action = 'send' | 'resend' | 'passAck' | 'armG' | 'armH' | 'armI' | 'armL';

export const INVITE_SERVER: Table<InviteServerState | 'terminated', InviteServerEvent, Action> = {
  proceeding: {
    INVITE: ['proceeding', 'resend'],
    '1xx': ['proceeding', 'send'],
    '2xx': ['accepted', 'armL', 'send'],
    '3xx-6xx': ['completed', 'armG', 'armH', 'send'],
    transportError: ['proceeding', 'reportTransportError'],
  },
  completed: {
    INVITE: ['completed', 'resend'],
    ACK: ['confirmed', 'armI'],
    timerG: ['completed', 'resend', 'armG'],
    timerH: ['terminated', 'reportTimeout'],
    transportError: ['completed', 'reportTransportError'],
  },
  confirmed: {
    timerI: ['terminated'],
  },
  // Absorbs retransmitted INVITEs. The transaction user repeats the 2xx until its ACK (§13.3.1.4).
  accepted: {
    '2xx': ['accepted', 'send'],
    ACK: ['accepted', 'passAck'],
    timerL: ['terminated'],
    transportError: ['accepted', 'reportTransportError'],
  },
  terminated: {},
};

const SHAPE = { table: INVITE_SERVER, initial: 'proceeding' } as const;

export class InviteServer
  extends ServerMachine<InviteServerState, InviteServerEvent, Timer, Action>
  implements ServerTransaction
{
  #intervalMs: number;
  #ack: SipRequest | undefined;

  constructor(options: ServerTransactionOptions) {
    super(options, SHAPE);
    this.#intervalMs = options.timers.t1;
  }

  /** Sends 100 immediately: §17.2.1 requires it within 200 ms, and it stops the client's retransmissions. */
  start(nowMs: number): readonly TransactionOutput[] {
    const trying = this.trying();
    return trying === undefined ? [] : this.respondAs('1xx', trying, nowMs);
  }

  retransmitted(nowMs: number): readonly TransactionOutput[] {
    this.fire('INVITE', nowMs);
    return this.takeOutputs();
  }

  acknowledged(ack: SipRequest, nowMs: number): readonly TransactionOutput[] {
    this.#ack = ack;
    this.fire('ACK', nowMs);
    this.#ack = undefined;
    return this.takeOutputs();
  }

  respond(response: SipResponse, nowMs: number): readonly TransactionOutput[] {
    const event = response.status < 200 ? '1xx' : response.status < 300 ? '2xx' : '3xx-6xx';
    return this.respondAs(event, response, nowMs);
  }

  /** False for a 2xx, which the transaction user repeats. */
  protected override get resendsFinal(): boolean {
    return this.state === 'completed';
  }

  protected override perform(action: Action, nowMs: number): void {
    switch (action) {
      case 'send':
        this.sendNext();
        break;
      case 'resend':
        this.resend();
        break;
      case 'passAck':
        if (this.#ack !== undefined) {
          this.emit({ kind: 'ack', request: this.#ack, flow: this.flow });
        }
        break;
      case 'armG':
        this.#armG(nowMs);
        break;
      case 'armH':
        this.arm('timerH', nowMs + timeout(this.timers));
        break;
      case 'armI':
        this.armEnd('timerI', this.reliable ? 0 : this.timers.t4, nowMs);
        break;
      case 'armL':
        this.armEnd('timerL', timeout(this.timers), nowMs);
        break;
    }
  }

  /** Arms T1, then doubles it up to T2; not over reliable transports. */
  #armG(nowMs: number): void {
    if (this.reliable) return;
    this.arm('timerG', nowMs + this.#intervalMs);
    this.#intervalMs = Math.min(2 * this.#intervalMs, this.timers.t2);
  }
}
