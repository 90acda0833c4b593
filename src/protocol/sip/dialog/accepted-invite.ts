import type { ClientAuth } from '../auth/client-auth.ts';
import { compactText, messageOf } from '../compact-message.ts';
import type { SipResponse } from '../message.ts';
import type { Flow } from '../transport/flow.ts';
import type { DestinationGuard, LegId } from '../user-agent-types.ts';
import type { ClientUser, UserAgentCore } from './core.ts';
import { type Asked, Dialog } from './dialog.ts';
import type { PeerRoute } from './peer-route.ts';
import { Session, type SessionUser } from './session.ts';
import { DEFAULT_SESSION_TIMER, SessionTimer } from './session-timer.ts';

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

/** ACK to a 2xx. */
interface AckPlan {
  readonly sequence: number;
  readonly sdp: string | undefined;
  /** To tag of the 2xx. */
  readonly tag: string;
}

/** Repeats an ACK, or tries again to send it if there was no flow to the peer. */
type RepeatAck = () => void;

/**
 * State of an accepted INVITE, kept until 64*T1 after its leg has ended. It repeats the ACK for each repeated 2xx and
 * answers a 2xx from a fork.
 */
export class AcceptedInvite implements ClientUser {
  readonly #core: UserAgentCore;
  readonly #options: AcceptedInviteOptions;
  /** By To tag; undefined if the 2xx has arrived but its ACK has no answer or its flow is not known yet. */
  readonly #acks = new Map<string, RepeatAck | undefined>();

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
    this.#acks.get(tag)?.();
    return false;
  }

  /** Sends the ACK to the 2xx of that tag. */
  acknowledge(route: PeerRoute, ack: AckPlan): void {
    this.#acks.set(ack.tag, undefined);
    route.acknowledge(ack, (sent) => {
      const repeat =
        sent === undefined
          ? () => this.acknowledge(route, ack)
          : this.#repeatOf(compactText(sent.bytes), sent.flow);
      this.#acks.set(ack.tag, repeat);
    });
  }

  #repeatOf(text: string, flow: Flow): RepeatAck {
    return () => {
      const retained = messageOf(text);
      if (retained !== undefined)
        this.#core.emit({ kind: 'send', ...retained, flow, transaction: undefined });
    };
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
    this.acknowledge(session.route, { sequence, sdp: undefined, tag });
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
