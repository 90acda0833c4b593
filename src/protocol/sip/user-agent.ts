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
import { sendProbe } from './dialog/probe.ts';

import type { SipRequest } from './message.ts';
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
type LegCommand = Extract<UserAgentInput, { leg: LegId }>;
type QueryAnswer = Extract<UserAgentInput, { kind: (typeof ANSWERS)[number] }>;
type NodeInput = 'received' | 'sendFailed' | 'undelivered' | 'connectionLost' | 'drain' | 'pause';
type Command = Exclude<UserAgentInput, LegCommand | QueryAnswer | { kind: NodeInput }>;

const ANSWERS = [
  'resolved',
  'connected',
  'secret',
  'nonceCounted',
  'stored',
  'answerMessage',
] as const;
const isAnswer = (input: UserAgentInput): input is QueryAnswer =>
  (ANSWERS as readonly string[]).includes(input.kind);

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
      (request, flow, arrival) => this.#admission.answer(request, flow, arrival),
    );
    this.#gate = options.realm === undefined ? undefined : new Gate(this.#core, options.realm);
    const changed = (event: EventPackage, username: string): void =>
      this.#subscriptions?.changed(event, username);
    this.#registrar =
      this.#gate === undefined
        ? undefined
        : new Registrar(this.#core, (username) => changed('reg', username));
    this.#core.contactsOf = (username) => this.#registrar?.contactsOf(username) ?? [];
    this.#phones = new PhoneDialogs(
      (leg) => this.#leg(leg)?.dialog,
      (username) => changed('dialog', username),
    );
    this.#core.said = (output) => this.#phones.said(output);
    this.#subscriptions =
      this.#gate === undefined
        ? undefined
        : new Subscriptions(this.#core, this.#gate, {
            contactsOf: this.#core.contactsOf,
            dialogs: this.#phones,
          });
    this.#inbound = new InboundCalls(this.#core, this.#gate);
    this.#outbound = new OutboundCalls(this.#core, this.#registrar);
    this.#messages = new Messages(this.#core, this.#gate, this.#registrar);
    this.#admission = new InviteAdmission(this.#core, this.#gate, () => this.legs);
  }

  handle(input: UserAgentInput, nowMs: number): readonly UserAgentOutput[] {
    return this.#core.at(nowMs, () => {
      this.#phones.reported(input);
      this.#input(input);
    });
  }

  expire(nowMs: number): readonly UserAgentOutput[] {
    return this.#core.at(nowMs, () => {
      this.#core.run(this.#core.layer.expire(nowMs));
      this.#core.dialogTimers.run(nowMs);
    });
  }

  deadlineMs(): number | undefined {
    const ofLayer = this.#core.layer.deadlineMs();
    const ofAgenda = this.#core.dialogTimers.deadlineMs();
    if (ofLayer === undefined || ofAgenda === undefined) return ofLayer ?? ofAgenda;
    return Math.min(ofLayer, ofAgenda);
  }

  /** Current contacts of a user. */
  contactsOf(username: string, nowMs: number): readonly ContactBinding[] {
    return this.#registrar?.contactsOf(username, nowMs) ?? [];
  }

  /** All current contacts. */
  bindings(nowMs: number): readonly ContactBinding[] {
    return this.#registrar?.all(nowMs) ?? [];
  }

  /** Returns whether the peer has authenticated or was contacted by us first. */
  knows(flow: Flow, nowMs: number): boolean {
    return this.#core.knownPeers.knows(flow, nowMs);
  }

  /** Returns whether an Authorization header field contains a nonce issued to that source. */
  hasNonce(authorization: string, flow: Flow, nowMs: number): boolean {
    return this.#gate?.hasNonce(authorization, flow, nowMs) ?? false;
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

  /** Handles messages, failures and the state of the node; passes on all other inputs. */
  #input(input: UserAgentInput): void {
    const core = this.#core;
    switch (input.kind) {
      case 'received': {
        const { bytes, flow, waitedMs = 0, isKnown = false, isTooMany = false } = input;
        core.edgeWays?.received(flow.remoteAddress, core.nowMs);
        core.run(core.layer.receive(bytes, flow, core.nowMs, { waitedMs, isKnown, isTooMany }));
        break;
      }
      case 'sendFailed':
        core.run(core.layer.transportFailed(input.transaction, core.nowMs));
        break;
      case 'undelivered':
        core.run(core.layer.undelivered(input, core.nowMs));
        break;
      case 'connectionLost':
        this.#connectionLost(input.connectionId);
        break;
      case 'drain':
        this.#admission.draining = true;
        break;
      case 'pause':
        this.#admission.pausedBy = input.cause;
        break;
      default:
        if ('leg' in input) this.#legCommand(input);
        else if (isAnswer(input)) this.#answered(input);
        else this.#command(input);
    }
  }

  /** Delivers the answer to a query. */
  #answered(input: QueryAnswer): void {
    switch (input.kind) {
      case 'resolved':
        this.#core.resolving.answer(input.id, input);
        break;
      case 'connected':
        this.#core.connecting.answer(input.id, input.flow);
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
      case 'answerMessage':
        this.#messages.answer(input);
        break;
    }
  }

  /** Handles a command for one leg. A command for an ended leg does nothing. */
  #legCommand(input: LegCommand): void {
    if (input.kind === 'invite') {
      this.#outbound.invite(input);
      return;
    }
    const { leg: id } = input;
    const leg = this.#leg(id);
    switch (input.kind) {
      case 'ring':
        this.#inbound.leg(id)?.ring(input.sdp);
        break;
      case 'answer':
        this.#inbound.leg(id)?.answer(input.sdp);
        break;
      case 'acknowledge':
        this.#outbound.leg(id)?.acknowledge(input.sdp);
        break;
      case 'answerOffer':
        leg?.answerOffer(input.sdp);
        break;
      case 'sendDigit':
        leg?.sendDigit(input.digit, input.durationMs);
        break;
      case 'answerRefer':
        leg?.answerRefer(input.refer, input.status);
        break;
      case 'notifyRefer':
        leg?.notifyRefer(input.refer, input.status);
        break;
      case 'refer':
        leg?.refer(input);
        break;
      case 'forgetRefer':
        leg?.forgetRefer();
        break;
      case 'hangup':
        leg?.hangup(input);
        break;
    }
  }

  /** Handles a command outside of calls: bindings, messages, our registrations, probes. */
  #command(input: Command): void {
    switch (input.kind) {
      case 'forgetBindings':
        this.#registrar?.forget(input.username, input.login);
        break;
      case 'restoreBindings':
        this.#registrar?.restore(input.bindings);
        break;
      case 'bindingsElsewhere':
        this.#registrar?.elsewhere(input.saved, input.removed);
        break;
      case 'sendMessage':
        this.#messages.send(input);
        break;
      case 'register': {
        const client = new RegistrationClient(this.#core, input);
        this.#registrations.set(input.registration, client);
        client.start();
        break;
      }
      case 'unregister':
        this.#registrations.get(input.registration)?.leave();
        this.#registrations.delete(input.registration);
        break;
      case 'probe':
        sendProbe(this.#core, input);
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
}
