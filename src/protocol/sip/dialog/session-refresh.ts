import type { HeaderInit, SipRequest, SipResponse } from '../message.ts';
import type { UserAgentOutput } from '../user-agent-types.ts';
import type { UserAgentCore } from './core.ts';
import type { Dialog } from './dialog.ts';
import type { OutgoingRequest } from './outgoing-request.ts';
import type { PeerRoute } from './peer-route.ts';
import { SDP_TYPE, sdpOf } from './sdp-body.ts';
import type { SessionTimer } from './session-timer.ts';

/** Session to be refreshed. */
interface RefreshedSession {
  readonly dialog: Dialog;
  readonly timer: SessionTimer;
  readonly route: PeerRoute;
  readonly isCaller: boolean;
  readonly isOver: boolean;
  answered(sdp: string): void;
  expire(status: number): void;
  afterFailure(status: number): void;
  armTimer(): void;
  inviteHeaders(): HeaderInit;
}

/** Delay in milliseconds before a refresh is retried after a temporary failure. */
const RETRY_MS = 10_000;

/** Sends session refreshes (RFC 4028 §7.4): UPDATE if the peer allows it, otherwise a re-INVITE with the same SDP. */
export class SessionRefresh {
  readonly #core: UserAgentCore;
  readonly #session: RefreshedSession;
  #localSdp: string | undefined;
  #remoteSdp: string | undefined;
  #peerUpdates = false;
  #reinvite: OutgoingRequest | undefined;
  #ack: Extract<UserAgentOutput, { kind: 'send' }> | undefined;

  constructor(core: UserAgentCore, session: RefreshedSession) {
    this.#core = core;
    this.#session = session;
  }

  /** True while a local re-INVITE has no final response. */
  get isOpen(): boolean {
    return this.#reinvite !== undefined;
  }

  noteLocal(sdp: string | undefined): void {
    this.#localSdp = sdp ?? this.#localSdp;
  }

  notePeer(message: SipRequest | SipResponse): void {
    if (message.header('allow') !== undefined) {
      this.#peerUpdates = message.tokens('allow').includes('update');
    }
    this.#remoteSdp = sdpOf(message) ?? this.#remoteSdp;
  }

  start(): void {
    if (this.isOpen) return;
    if (this.#peerUpdates) this.#update();
    else this.#invite();
  }

  #update(): void {
    const session = this.#session;
    session.route.send(
      'UPDATE',
      { headers: [...session.inviteHeaders(), ...session.timer.requestHeaders()] },
      {
        response: (response) => {
          if (response.status === 405 || response.status === 501) this.#peerUpdates = false;
          this.#finished(response);
        },
        failed: () => session.expire(408),
      },
    );
  }

  #invite(): void {
    const session = this.#session;
    if (this.#localSdp === undefined) return;
    const headers = [
      ...session.inviteHeaders(),
      ...session.timer.requestHeaders(),
      ['Content-Type', SDP_TYPE] as const,
    ];
    this.#ack = undefined;
    const outgoing = session.route.send(
      'INVITE',
      { headers, body: this.#localSdp },
      {
        response: (response) => this.#reinviteAnswered(outgoing, response),
        failed: () => {
          this.#reinvite = undefined;
          session.expire(408);
        },
      },
    );
    this.#reinvite = outgoing;
  }

  #reinviteAnswered(outgoing: OutgoingRequest, response: SipResponse): void {
    if (response.status < 200) return;
    if (response.status >= 300) {
      this.#reinvite = undefined;
      this.#finished(response);
      return;
    }
    if (this.#ack !== undefined) {
      this.#core.emit(this.#ack);
      return;
    }
    const { sequence } = outgoing.request.cseq;
    this.#session.route.acknowledge({ sequence }, (ack) => {
      this.#ack = ack;
    });
    if (this.#reinvite === undefined) return;
    this.#reinvite = undefined;
    const answer = sdpOf(response);
    const changed = answer !== undefined && answer !== this.#remoteSdp;
    this.notePeer(response);
    if (changed) this.#session.answered(answer);
    this.#finished(response);
  }

  #finished(response: SipResponse): void {
    const session = this.#session;
    const { status } = response;
    if (status < 200 || session.isOver) return;
    if (status < 300) {
      session.dialog.refreshTarget(response);
      session.timer.accepted(response, this.#core.nowMs);
    } else if (status === 422 && session.timer.raise(response)) this.start();
    else session.timer.retryRefresh(this.#core.nowMs + this.#retryDelayMs(status));
    session.armTimer();
    session.afterFailure(status);
  }

  /** Delay after glare (§14.1) in milliseconds: 2.1 to 4 s for the owner of the Call-ID, up to 2 s for the other side. */
  #retryDelayMs(status: number): number {
    if (status !== 491) return RETRY_MS;
    const { random } = this.#core.options;
    return this.#session.isCaller ? 2_100 + 10 * random.integer(191) : 10 * random.integer(201);
  }
}
