import { noOperation } from '../../base/no-operation.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type {
  Headers,
  IdentityClaims,
  InboundLeg,
  Leg,
  LegEnd,
  LegEvents,
  LegOwner,
  OutboundLegEvents,
  Party,
  ReferCommand,
  ReferEvents,
  RemoteAddress,
} from '../../domain/call/needs.ts';
import type { HangupCauseKey } from '../../domain/call/types.ts';
import { isManaged } from '../../domain/provisioning/provisioning.ts';
import {
  type Flow,
  type IncomingCall,
  type LegId,
  peerOf,
  type ReferStep,
  type RespondingPeer,
  type UserAgentInput,
} from '../../protocol/sip/sip.ts';
import { EdgeReferral } from './edge-referral.ts';
import { hangupReason, hangupWarning, MISCELLANEOUS, refusalStatus } from './hangup-status.ts';
import { claimsOf, partyOf, userOf } from './parties.ts';

export type Dispatch = (input: UserAgentInput) => void;

/** Receiver of leg events from the user agent. */
export interface LegSink {
  readonly events: LegEvents | undefined;
  readonly sipCallId: string;
  hangup(cause: HangupCauseKey): void;
  acknowledged(): void;
  heardFrom(peer: RespondingPeer): void;
  progress(status: number, sdp: string | undefined): void;
  connected(callId: string, sdp: string | undefined): void;
  referStep(step: ReferStep): void;
  ended(end: LegEnd): void;
}

/** Returns whether a header is reported to the call. */
const isReported = (name: string): boolean => name === 'date' || !isManaged(name);
const MOST_REPORTED = 64;

function reportOf(fields: IncomingCall['request']['fields']): Headers {
  const reported: (readonly [name: string, value: string])[] = [];
  for (const { key, name, value } of fields)
    if (reported.length < MOST_REPORTED && isReported(key)) reported.push([name, value]);
  return reported;
}

/** Commands that legs of both directions have. */
abstract class EdgeLeg {
  readonly id: string;
  protected readonly leg: LegId;
  protected readonly dispatch: Dispatch;
  readonly #referral: EdgeReferral;

  constructor(leg: LegId, dispatch: Dispatch) {
    this.id = String(leg);
    this.leg = leg;
    this.dispatch = dispatch;
    this.#referral = new EdgeReferral(dispatch, leg);
  }

  hangup(cause: HangupCauseKey, detail?: string): void {
    const status = refusalStatus(cause, detail);
    const reason = hangupReason(cause, detail);
    const warning = hangupWarning(cause, detail);
    this.dispatch({ kind: 'hangup', leg: this.leg, status, reason, warning });
  }

  refer(command: ReferCommand, events: ReferEvents): () => void {
    return this.#referral.start(command, events);
  }

  referStep(step: ReferStep): void {
    this.#referral.stepped(step);
  }
}

export class EdgeInboundLeg extends EdgeLeg implements InboundLeg, LegSink {
  readonly sipCallId: string;
  readonly from: Party;
  readonly to: Party;
  readonly dialled: string;
  readonly requestUri: string;
  readonly source: RemoteAddress;
  readonly endpointUsername: string | undefined;
  readonly login: string | undefined;
  readonly carrier: string | undefined;
  readonly userAgent: string;
  readonly headers: Headers;
  readonly claims: IdentityClaims | undefined;
  readonly maxForwards: number | undefined;
  readonly sdp: string | undefined;
  readonly replaces: string | undefined;
  readonly #owned: (owner: LegOwner) => void;
  #events: LegEvents | undefined;
  #end: LegEnd | undefined;
  #answered: Promise<Result<void, LegEnd>> | undefined;
  #settle: (result: Result<void, LegEnd>) => void = noOperation;

  /** `owned` receives the owner of the leg once it is known. */
  constructor(
    call: IncomingCall,
    dispatch: Dispatch,
    owned: (owner: LegOwner) => void = noOperation,
  ) {
    super(call.leg, dispatch);
    const { request, flow } = call;
    this.#owned = owned;
    this.sipCallId = request.callId;
    this.from = partyOf(request.from);
    this.to = partyOf(request.to);
    this.dialled = userOf(request.uri);
    this.requestUri = request.requestUri;
    this.source = sourceOf(flow);
    this.endpointUsername = call.username;
    this.login = call.login;
    this.carrier = call.carrier;
    this.userAgent = request.header('user-agent') ?? '';
    this.headers = reportOf(request.fields);
    this.claims = claimsOf(request);
    this.maxForwards = request.maxForwards;
    this.sdp = call.sdp;
    this.replaces = call.replaces === undefined ? undefined : String(call.replaces);
  }

  get events(): LegEvents | undefined {
    return this.#events;
  }

  belongsTo(owner: LegOwner): void {
    this.#owned(owner);
  }

  attach(events: LegEvents): void {
    this.#events = events;
    if (this.#end !== undefined) events.ended(this.#end);
  }

  ring(sdp?: string): void {
    this.dispatch({ kind: 'ring', leg: this.leg, sdp });
  }

  answer(sdp: string): Promise<Result<void, LegEnd>> {
    if (this.#end !== undefined) return Promise.resolve(err(this.#end));
    if (this.#answered !== undefined) return this.#answered;
    this.#answered = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.dispatch({ kind: 'answer', leg: this.leg, sdp });
    return this.#answered;
  }

  refuse(status: number, text: string, phrase?: string): void {
    const warning = { code: MISCELLANEOUS, text };
    this.dispatch({ kind: 'hangup', leg: this.leg, status, reason: undefined, warning, phrase });
  }

  acknowledged(): void {
    this.#settle(ok(undefined));
  }

  heardFrom(): void {}

  progress(): void {}

  connected(): void {}

  ended(end: LegEnd): void {
    this.#end = end;
    this.#settle(err(end));
    this.#events?.ended(end);
  }
}

export class EdgeOutboundLeg extends EdgeLeg implements Leg, LegSink {
  readonly events: OutboundLegEvents;
  #callId: string;

  constructor(leg: LegId, callId: string, events: OutboundLegEvents, dispatch: Dispatch) {
    super(leg, dispatch);
    this.events = events;
    this.#callId = callId;
  }

  /** Call-ID of the phone that answered, or of the first phone before that. */
  get sipCallId(): string {
    return this.#callId;
  }

  acknowledged(): void {}

  heardFrom(peer: RespondingPeer): void {
    const { flow, software, isOfferedIpv6 } = peer;
    this.events.heardFrom({ source: sourceOf(flow), userAgent: software, isOfferedIpv6 });
  }

  progress(status: number, sdp: string | undefined): void {
    this.events.progress(status, sdp);
  }

  connected(callId: string, sdp: string | undefined): void {
    this.#callId = callId;
    const answer = this.events.connected(sdp);
    if (answer !== undefined) this.dispatch({ kind: 'acknowledge', leg: this.leg, sdp: answer });
  }

  ended(end: LegEnd): void {
    this.events.ended(end);
  }
}

const sourceOf = (flow: Flow): RemoteAddress => peerOf(flow);
