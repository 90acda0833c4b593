/** Active legs and the receivers of their events. */
import { asLegId } from '../../base/ids.ts';
import type { InboundLeg, LegEvents } from '../../domain/call/needs.ts';
import {
  type IncomingCall,
  type LegId,
  peerOf,
  type UserAgentInput,
  type UserAgentOutput,
} from '../../protocol/sip/sip.ts';
import { EdgeInboundLeg, type LegSink } from './edge-legs.ts';
import { edgeRefer } from './edge-refer.ts';
import type { SignallingOptions } from './signalling.ts';

/** Outbound legs have even IDs; inbound legs have the odd IDs of the user agent. */
const ID_STEP = 2;

export class LegTable {
  readonly #options: Pick<SignallingOptions, 'traces' | 'logger'>;
  readonly #dispatch: (input: UserAgentInput) => void;
  readonly #legs = new Map<LegId, LegSink>();
  #handler: ((leg: InboundLeg) => void) | undefined;
  #lastOutbound = 0;

  constructor(
    options: Pick<SignallingOptions, 'traces' | 'logger'>,
    dispatch: (input: UserAgentInput) => void,
  ) {
    this.#options = options;
    this.#dispatch = dispatch;
  }

  onInbound(handler: (leg: InboundLeg) => void): void {
    this.#handler = handler;
  }

  /** ID for a new outbound leg. */
  nextId(): LegId {
    this.#lastOutbound += ID_STEP;
    return asLegId(this.#lastOutbound);
  }

  add(id: LegId, leg: LegSink): void {
    this.#legs.set(id, leg);
  }

  act(output: Extract<UserAgentOutput, { kind: 'incoming' } | { readonly leg: LegId }>): void {
    if (output.kind === 'incoming') {
      this.#incoming(output.call);
      return;
    }
    const sink = this.#legs.get(output.leg);
    switch (output.kind) {
      case 'acknowledged':
        sink?.acknowledged();
        break;
      case 'heardFrom':
        sink?.heardFrom(output.peer);
        break;
      case 'progress':
        sink?.progress(output.status, output.sdp);
        break;
      case 'connected':
        sink?.connected(output.callId, output.sdp);
        break;
      case 'moved':
        sink?.events?.movedTo?.(peerOf(output.flow));
        break;
      case 'offered':
        this.#offered(output.leg, output.sdp, sink?.events);
        break;
      case 'answered':
        sink?.events?.answered(output.sdp);
        break;
      case 'referred':
        edgeRefer(output, sink?.events, (input) => this.#dispatch(input));
        break;
      case 'referStep':
        sink?.referStep(output.step);
        break;
      case 'dtmf':
        sink?.events?.dtmf(output.digit, output.durationMs);
        break;
      case 'connection':
        sink?.events?.connection?.(output.connected);
        break;
      case 'ended':
        this.endLater(output.leg, output.end);
        break;
    }
  }

  #incoming(call: IncomingCall): void {
    // These closures exist as long as the call, so they must not reference the request.
    const { callId } = call.request;
    const leg = new EdgeInboundLeg(call, this.#dispatch, (owner) =>
      this.#options.traces?.belongs(callId, owner),
    );
    this.#legs.set(call.leg, leg);
    try {
      this.#handler?.(leg);
    } finally {
      // No handler accepted the call, or it failed before attaching.
      if (leg.events === undefined) leg.hangup('internalError');
    }
  }

  /** Passes an offer to the leg. If the handler fails, the offer is refused and the session stays unchanged. */
  #offered(leg: LegId, sdp: string | undefined, events: LegEvents | undefined): void {
    let answer: string | undefined;
    try {
      answer = events?.offered(sdp);
    } finally {
      this.#dispatch({ kind: 'answerOffer', leg, sdp: answer });
    }
  }

  /** Ends calls whose peers are unreachable, regardless of the user agent's pending attempts. */
  cutOff(callIds: readonly string[], reason: string): void {
    const gone = new Set(callIds);
    for (const [leg, sink] of [...this.#legs]) {
      if (!gone.has(sink.sipCallId)) continue;
      this.endLater(leg, { by: 'local', how: 'transport', status: undefined, reason });
      sink.hangup('networkError');
    }
  }

  /** Reports the end in a later turn, after the command that caused it (hangup, dial) has returned. */
  endLater(leg: LegId, end: Parameters<LegSink['ended']>[0]): void {
    queueMicrotask(() => {
      const sink = this.#legs.get(leg);
      this.#legs.delete(leg);
      try {
        sink?.ended(end);
      } catch (error) {
        this.#options.logger.error({ error, leg }, 'end of a leg failed');
      }
    });
  }
}
