import type { ClientAuth } from '../auth/client-auth.ts';
import { compactText, messageOf } from '../compact-message.ts';
import type { SipResponse } from '../message.ts';
import type { Flow } from '../transport/flow.ts';
import type { DestinationGuard, LegId, UserAgentOutput } from '../user-agent-types.ts';
import type { ClientUser, UserAgentCore } from './core.ts';
import { type Asked, Dialog } from './dialog.ts';
import { Session, type SessionUser } from './session.ts';
import { DEFAULT_SESSION_TIMER, SessionTimer } from './session-timer.ts';

type SentAck = Extract<UserAgentOutput, { kind: 'send' }>;

/** Maximum number of dialogs that one INVITE creates. A 2xx of a further fork gets no ACK, so its peer ends it. */
const MAX_ACCEPTED = 16;

interface AcceptedInviteOptions {
  readonly requested: Asked;
  readonly leg: LegId;
  readonly auth: ClientAuth | undefined;
  readonly viaFlow: boolean;
  readonly guard: DestinationGuard | undefined;
  readonly largeOverTcp: boolean;
}

/**
 * State of an accepted INVITE, kept until 64*T1 after its leg has ended. It repeats the ACK for each repeated 2xx and
 * answers a 2xx from a fork.
 */
export class AcceptedInvite implements ClientUser {
  readonly #core: UserAgentCore;
  readonly #options: AcceptedInviteOptions;
  /** ACKs by To tag; undefined if the 2xx has arrived but its ACK has not been sent. */
  readonly #acks = new Map<string, { readonly text: string; readonly flow: Flow } | undefined>();

  constructor(core: UserAgentCore, options: AcceptedInviteOptions) {
    this.#core = core;
    this.#options = options;
  }

  /** Returns false for a repeated 2xx of that tag, after repeating its ACK, and beyond the limit. */
  takes(tag: string): boolean {
    if (!this.#acks.has(tag)) {
      if (this.#acks.size >= MAX_ACCEPTED) return false;
      this.#acks.set(tag, undefined);
      return true;
    }
    const ack = this.#acks.get(tag);
    const retained = ack && messageOf(ack.text);
    if (ack !== undefined && retained !== undefined)
      this.#core.emit({ kind: 'send', ...retained, flow: ack.flow, transaction: undefined });
    return false;
  }

  acknowledged(tag: string, { bytes, flow }: SentAck): void {
    this.#acks.set(tag, { text: compactText(bytes), flow });
  }

  /** Handles a 2xx from a fork: acknowledges and ends that session immediately (RFC 3261 §13.2.2.4). */
  response(response: SipResponse, flow: Flow): void {
    const tag = response.to.tag ?? '';
    if (!this.takes(tag)) return;
    const { requested, leg, ...way } = this.#options;
    const session = new Session(this.#core, {
      ...way,
      dialog: Dialog.fromResponse(requested, response),
      user: nobody(leg),
      flow,
      isCaller: true,
      timer: new SessionTimer(this.#core.options.sessionTimer ?? DEFAULT_SESSION_TIMER),
    });
    session.confirm(response, undefined);
    const { sequence } = response.cseq;
    session.route.acknowledge({ sequence }, (ack) => this.acknowledged(tag, ack));
    session.bye([]);
  }

  failed(): void {}
}

/** User of a session that ends immediately; it ignores all events. */
const nobody = (id: LegId): SessionUser => ({
  id,
  acknowledged: () => undefined,
  offered: () => undefined,
  answered: () => undefined,
  referred: () => undefined,
  stepped: () => undefined,
  dtmf: () => undefined,
  connectionChanged: () => undefined,
  ended: () => undefined,
});
