/**
 * A SIP user agent without sockets or clock (RFC 3261 §8). Inputs are bytes and commands; outputs are bytes, queries
 * and events.
 */
import type { LegId } from '../../base/ids.ts';
import type { Machine } from '../../base/machine.ts';
import { Gate } from './auth/gate.ts';
import { InviteAdmission } from './dialog/admission.ts';
import { UserAgentCore } from './dialog/core.ts';
import { InboundCalls } from './dialog/inbound-calls.ts';
import { Messages } from './dialog/messages.ts';
import { OutboundCalls } from './dialog/outbound-calls.ts';
import { OutgoingRequest } from './dialog/outgoing-request.ts';

import { createRequest, type SipRequest } from './message.ts';
import type { ContactBinding } from './registrar/binding.ts';
import { Registrar } from './registrar/registrar.ts';
import { RegistrationClient } from './registrar/registration-client.ts';
import type { EventPackage } from './subscription/event-body.ts';
import { PhoneDialogs } from './subscription/phone-dialogs.ts';
import { Subscriptions } from './subscription/subscriptions.ts';
import type { TransactionId, TransactionOutput } from './transaction/types.ts';
import type { Flow } from './transport/flow.ts';
import { unescapeUser } from './uri.ts';
import type { UserAgentInput, UserAgentOptions, UserAgentOutput } from './user-agent-types.ts';

type Incoming = Exclude<
  TransactionOutput,
  { kind: 'send' | 'response' | 'timeout' | 'transportError' | 'terminated' }
>;
type RequestOutput = Extract<TransactionOutput, { kind: 'request' }>;
type Probe = Extract<UserAgentInput, { kind: 'probe' }>;

export class UserAgent implements Machine<UserAgentInput, UserAgentOutput> {
  readonly #core: UserAgentCore;
  readonly #gate: Gate | undefined;
  readonly #registrar: Registrar | undefined;
  readonly #inbound: InboundCalls;
  readonly #outbound: OutboundCalls;
  readonly #registrations = new Map<number, RegistrationClient>();
  readonly #messages: Messages;
  readonly #admission: InviteAdmission;
  readonly #phones: PhoneDialogs;
  readonly #subscriptions: Subscriptions | undefined;

  constructor(options: UserAgentOptions) {
    this.#core = new UserAgentCore(
      options,
      (output) => this.#incoming(output),
      (request, flow) => this.#admission.answer(request, flow),
    );
    this.#gate = options.realm === undefined ? undefined : new Gate(this.#core, options.realm);
    const changed = (event: EventPackage, username: string): void =>
      this.#subscriptions?.changed(event, username);
    this.#registrar =
      this.#gate === undefined
        ? undefined
        : new Registrar(this.#core, (username) => changed('reg', username));
    this.#phones = new PhoneDialogs(
      (leg) => this.#leg(leg)?.dialog,
      (username) => changed('dialog', username),
    );
    this.#core.said = (output) => this.#phones.said(output);
    this.#subscriptions =
      this.#gate === undefined
        ? undefined
        : new Subscriptions(this.#core, this.#gate, {
            contactsOf: (username) => this.#registrar?.contactsOf(username) ?? [],
            dialogs: this.#phones,
          });
    this.#inbound = new InboundCalls(this.#core, this.#gate);
    this.#outbound = new OutboundCalls(this.#core, this.#registrar);
    this.#messages = new Messages(this.#core, this.#gate, this.#registrar);
    this.#admission = new InviteAdmission(this.#core, this.#gate, () => this.legs);
  }

  handle(input: UserAgentInput, nowMs: number): readonly UserAgentOutput[] {
    this.#core.nowMs = nowMs;
    this.#input(input);
    return this.#core.takeOutputs();
  }

  expire(nowMs: number): readonly UserAgentOutput[] {
    this.#core.nowMs = nowMs;
    this.#core.run(this.#core.layer.expire(nowMs));
    this.#core.dialogTimers.run(nowMs);
    return this.#core.takeOutputs();
  }

  deadlineMs(): number | undefined {
    const ofLayer = this.#core.layer.deadlineMs();
    const ofAgenda = this.#core.dialogTimers.deadlineMs();
    if (ofLayer === undefined || ofAgenda === undefined) return ofLayer ?? ofAgenda;
    return Math.min(ofLayer, ofAgenda);
  }

  /** Current contacts of a user. */
  contactsOf(username: string, nowMs: number): readonly ContactBinding[] {
    this.#core.nowMs = nowMs;
    return this.#registrar?.contactsOf(username) ?? [];
  }

  /** All current contacts. */
  bindings(nowMs: number): readonly ContactBinding[] {
    this.#core.nowMs = nowMs;
    return this.#registrar?.all() ?? [];
  }

  /** Returns whether the peer has authenticated or was contacted by us first. */
  knows(flow: Flow, nowMs: number): boolean {
    return this.#core.knownPeers.knows(flow, nowMs);
  }

  /** Returns whether an Authorization header field contains a nonce issued to that source. */
  hasNonce(authorization: string, flow: Flow, nowMs: number): boolean {
    this.#core.nowMs = nowMs;
    return this.#gate?.hasNonce(authorization, flow) ?? false;
  }

  get transactions(): number {
    return this.#core.layer.serverCount + this.#core.layer.clientCount;
  }

  get dialogs(): number {
    return this.#core.dialogs.size;
  }

  /** Number of pending timers; 0 when idle. */
  get timers(): number {
    return this.#core.dialogTimers.size + Number(this.#core.layer.deadlineMs() !== undefined);
  }

  get subscriptions(): number {
    return this.#subscriptions?.size ?? 0;
  }

  /** Number of legs that have not ended. */
  get legs(): number {
    return this.#inbound.size + this.#outbound.size;
  }

  #input(input: UserAgentInput): void {
    const core = this.#core;
    this.#phones.reported(input);
    switch (input.kind) {
      case 'received':
        this.#admission.asking = {
          waitedMs: input.waitedMs ?? 0,
          isKnown: input.isKnown ?? false,
          isTooMany: input.isTooMany ?? false,
        };
        core.edgeWays?.received(input.flow.remoteAddress, core.nowMs);
        core.run(core.layer.receive(input.bytes, input.flow, core.nowMs));
        break;
      case 'sendFailed':
        core.run(core.layer.transportFailed(input.transaction, core.nowMs));
        break;
      case 'undelivered':
        core.run(core.layer.undelivered(input, core.nowMs));
        break;
      case 'connectionLost':
        this.#connectionLost(input.connectionId);
        break;
      case 'resolved':
        core.resolving.answer(input.id, input);
        break;
      case 'connected':
        core.connecting.answer(input.id, input.flow);
        break;
      case 'secret':
        this.#gate?.secretFound(input.id, input.secrets);
        break;
      case 'nonceCounted':
        this.#gate?.nonceCounted(input.id, input.use);
        break;
      case 'stored':
        this.#registrar?.stored(input.id, input.ok);
        break;
      case 'forgetBindings':
        this.#registrar?.forget(input.username, input.login);
        break;
      case 'restoreBindings':
        this.#registrar?.restore(input.bindings);
        break;
      case 'bindingsElsewhere':
        this.#registrar?.elsewhere(input.saved, input.removed);
        break;
      case 'drain':
        this.#admission.draining = true;
        break;
      case 'pause':
        this.#admission.pausedBy = input.cause;
        break;
      case 'invite':
        this.#outbound.invite(input);
        break;
      case 'ring':
        this.#inbound.leg(input.leg)?.ring(input.sdp);
        break;
      case 'answer':
        this.#inbound.leg(input.leg)?.answer(input.sdp);
        break;
      case 'acknowledge':
        this.#outbound.leg(input.leg)?.acknowledge(input.sdp);
        break;
      case 'answerOffer':
        this.#leg(input.leg)?.answerOffer(input.sdp);
        break;
      case 'sendDigit':
        this.#leg(input.leg)?.sendDigit(input.digit, input.durationMs);
        break;
      case 'answerRefer':
        this.#leg(input.leg)?.answerRefer(input.refer, input.status);
        break;
      case 'notifyRefer':
        this.#leg(input.leg)?.notifyRefer(input.refer, input.status);
        break;
      case 'refer':
        this.#leg(input.leg)?.refer(input);
        break;
      case 'forgetRefer':
        this.#leg(input.leg)?.forgetRefer();
        break;
      case 'hangup':
        this.#leg(input.leg)?.hangup(input);
        break;
      case 'answerMessage':
        this.#messages.answer(input);
        break;
      case 'sendMessage':
        this.#messages.send(input);
        break;
      case 'register': {
        const client = new RegistrationClient(core, input);
        this.#registrations.set(input.registration, client);
        client.start();
        break;
      }
      case 'unregister':
        this.#registrations.get(input.registration)?.leave();
        this.#registrations.delete(input.registration);
        break;
      case 'probe':
        this.#probe(input);
        break;
    }
  }

  #leg(id: LegId) {
    return this.#inbound.leg(id) ?? this.#outbound.leg(id);
  }

  #connectionLost(connectionId: number): void {
    const core = this.#core;
    for (const dialog of core.dialogs.values()) dialog.connectionLost(connectionId);
    this.#registrar?.connectionLost(connectionId);
    for (const client of this.#registrations.values()) client.connectionLost(connectionId);
    core.run(core.layer.connectionLost(connectionId, core.nowMs));
  }

  #incoming(output: Incoming): void {
    const core = this.#core;
    switch (output.kind) {
      case 'request':
        this.#request(output);
        break;
      case 'cancel':
        this.#cancel(output);
        break;
      case 'ack':
        this.#admission.session(output.request)?.acknowledged(output.request);
        break;
      case 'strayResponse':
        core.emit({ kind: 'discarded', why: 'response to no request of ours', flow: output.flow });
        break;
      case 'discarded':
        core.emit(output);
        break;
    }
  }

  /** Answers the CANCEL with 200, whatever happens to the INVITE (RFC 3261 §9.2). */
  #cancel(output: Extract<TransactionOutput, { kind: 'cancel' }>): void {
    const { request, transaction, invite } = output;
    const user = invite === undefined ? undefined : this.#core.servers.get(invite);
    const tag = user?.localTag === undefined ? {} : { toTag: user.localTag };
    this.#core.respond(transaction, request, invite === undefined ? 481 : 200, tag);
    user?.cancelled(request);
  }

  #request(output: RequestOutput): void {
    const { request, transaction, flow } = output;
    if (request.method === 'MESSAGE') this.#messages.receive(output);
    else if (request.to.tag !== undefined) this.#inDialog(request, transaction, flow);
    else if (request.method === 'INVITE') this.#inbound.receive(output);
    else if (request.method === 'SUBSCRIBE') this.#subscriptions?.receive(output);
    else if (request.method === 'REFER') this.#targeted(output);
    else this.#register(output);
  }

  #inDialog(request: SipRequest, transaction: TransactionId, flow: Flow): void {
    const session = this.#admission.session(request);
    if (session !== undefined) session.receive(request, transaction, flow);
    else this.#core.refuse(transaction, request, flow, 481, 'no such dialog');
  }

  /**
   * Handles an out-of-dialog REFER. It must contain the tags of the session; authentication only keeps unknown peers
   * from guessing.
   */
  #targeted(output: RequestOutput): void {
    const { request, transaction, flow } = output;
    const refer = (): void => {
      const session = this.#admission.targeted(request);
      if (session?.targeted !== undefined) session.targeted(request, transaction, flow);
      else this.#core.refuse(transaction, request, flow, 403, 'REFER outside of a dialog');
    };
    const isTrusted = this.#core.options.trustedSource(flow) !== undefined;
    if (isTrusted || this.#gate === undefined) refer();
    else this.#gate.admit(output, refer);
  }

  #register(output: RequestOutput): void {
    const { request, transaction, flow } = output;
    this.#gate?.admit(output, (admitted) => {
      const { uri } = request.to;
      if (uri.kind === 'sip' && unescapeUser(uri.user) === admitted.username) {
        this.#registrar?.receive(request, transaction, flow, admitted);
      } else this.#core.refuse(transaction, request, flow, 403, 'registers another user');
    });
  }

  #probe(input: Probe): void {
    const core = this.#core;
    const notify = (status: number | undefined): void => {
      core.emit({ kind: 'probed', id: input.id, status });
    };
    const own = core.contact(undefined);
    const outgoing = new OutgoingRequest(core, {
      request: createRequest({
        method: 'OPTIONS',
        requestUri: input.uri,
        headers: [
          ['Max-Forwards', '70'],
          ['From', `${own};tag=${core.newToken()}`],
          ['To', `<${input.uri}>`],
          ['Call-ID', core.newToken()],
          ['CSeq', '1 OPTIONS'],
          ['Contact', own],
          ['User-Agent', core.options.userAgent],
        ],
      }),
      destination: { kind: 'uri', uri: input.uri, transport: input.transport, viaEdges: true },
      auth: undefined,
      firstResponseMs: input.waitMs,
      nextSequence: () => 2,
      user: {
        response: ({ status }) => {
          if (status >= 200) notify(status);
        },
        failed: () => notify(undefined),
      },
    });
    outgoing.start();
  }
}
