import type { UserAgentCore } from '../dialog/core.ts';
import { Questions } from '../dialog/pending.ts';
import { parseNameAddr } from '../header/name-addr.ts';
import type { HeaderInit, SipRequest } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import { type Flow, peerOf } from '../transport/flow.ts';
import { isSecure } from '../types.ts';
import type { Admitted } from '../user-agent-types.ts';
import { type ContactBinding, type ExpiredBinding, isLasting } from './binding.ts';
import { Location } from './location.ts';
import { readRegister } from './read-register.ts';
import { DEFAULT_REGISTRAR_LIMITS, type RegisterRequest, secondsLeft } from './register.ts';

const US_PER_MS = 1000;
const US_PER_SECOND = 1_000_000;
/** Interval in milliseconds for removing expired bindings from memory and store. Expired bindings are never used. */
const SWEEP_MS = 60_000;

/**
 * Answers authenticated REGISTERs (RFC 3261 §10.3) after the store has saved them, and provides the contacts of users.
 */
export class Registrar {
  readonly #core: UserAgentCore;
  readonly #location: Location;
  readonly #storing: Questions<boolean>;
  readonly #changed: (username: string) => void;
  #sweeping = false;

  /** `changed` is called when contacts of that user are added, removed or refreshed. */
  constructor(core: UserAgentCore, changed: (username: string) => void = () => undefined) {
    this.#core = core;
    this.#changed = changed;
    this.#location = new Location(core.options.registrar ?? DEFAULT_REGISTRAR_LIMITS);
    this.#storing = new Questions(core.limits.maxWaiting);
  }

  restore(bindings: readonly ContactBinding[]): void {
    this.#forget(this.#location.restore(bindings));
    for (const { flow } of bindings) {
      if (flow.transport === 'udp') {
        this.#core.knownPeers.met(this.#core.udpFlow(flow.address, flow.port), this.#core.nowMs);
      }
    }
    this.#sweep();
  }

  /** Applies registrations and removals that another node has stored. */
  elsewhere(saved: readonly ContactBinding[], removed: readonly ExpiredBinding[]): void {
    this.#location.take(saved, removed);
    for (const username of new Set([...saved, ...removed].map((one) => one.username)))
      this.#changed(username);
    if (saved.length > 0) this.#armSweep();
  }

  contactsOf(username: string, nowMs = this.#core.nowMs): readonly ContactBinding[] {
    return this.#location.contactsOf(username, this.#nowUs(nowMs));
  }

  all(nowMs = this.#core.nowMs): readonly ContactBinding[] {
    return this.#location.all(this.#nowUs(nowMs));
  }

  stored(id: number, ok: boolean): void {
    this.#storing.answer(id, ok);
  }

  connectionLost(connectionId: number): void {
    this.#forget(this.#location.connectionLost(String(connectionId)));
  }

  /** Handles a proxy's report that the flow of the binding failed (RFC 5626 §5.3). */
  flowFailed(binding: ContactBinding): void {
    this.#forget(this.#location.flowFailed(binding));
  }

  /** Removes the contacts of a user who may no longer be called, or of one of its logins. */
  forget(username: string, login: string | undefined): void {
    this.#forget(this.#location.remove(username, login));
  }

  receive(
    request: SipRequest,
    transaction: TransactionId,
    flow: Flow,
    { username, login }: Admitted,
  ): void {
    const contacts = readRegister(request, username, flow);
    const read = contacts && { ...contacts, login };
    if (read === undefined) {
      this.#core.respond(transaction, request, 400, { reason: 'Bad Contact' });
      return;
    }
    const isSips =
      read.contacts !== '*' && read.contacts.some(({ uri }) => uri.startsWith('sips:'));
    if (isSips && !isSecure(peerOf(flow).transport)) {
      this.#core.respond(transaction, request, 400, { reason: 'SIPS Contact Without TLS' });
      return;
    }
    const fault = outboundFault(request, read.contacts);
    if (fault !== undefined) {
      this.#core.respond(transaction, request, fault.status, fault.parts);
      return;
    }
    const registeredUs = this.#nowUs();
    const outcome = this.#location.register(read, registeredUs);
    if (outcome.status === 423) {
      const headers = [['Min-Expires', String(outcome.minExpires)]] as const;
      this.#core.respond(transaction, request, 423, { headers });
      return;
    }
    if (outcome.status !== 200) {
      this.#core.respond(transaction, request, outcome.status, { reason: outcome.reason });
      return;
    }
    const { saved, removed, bindings } = outcome;
    const answer = (ok: boolean): void => {
      const isFlow = saved.some(({ regId }) => regId !== undefined);
      const headers = ok
        ? [...this.#headers(request, bindings, registeredUs), ...(isFlow ? OUTBOUND : [])]
        : [];
      this.#core.respond(transaction, request, ok ? 200 : 500, { headers });
    };
    if (saved.length === 0 && removed.length === 0) {
      answer(true);
      return;
    }
    this.#core.dialogTimers.at(this.#core.nowMs, () => this.#changed(username));
    this.#armSweep();
    const save = saved.filter(isLasting);
    const remove = removed.filter(isLasting);
    if (save.length === 0 && remove.length === 0) {
      answer(true);
      return;
    }
    const id = this.#storing.ask(answer);
    if (id === undefined) answer(false);
    else this.#core.emit({ kind: 'store', id, save, remove });
  }

  /** All bindings with their remaining time, and the Path for requests (RFC 3327 §5.3). */
  #headers(
    request: SipRequest,
    bindings: readonly ContactBinding[],
    registeredUs: number,
  ): HeaderInit {
    const nowUs = this.#nowUs();
    // The time needed by the store must not reduce the reported expiry of a new binding by a second.
    const fromUs = nowUs - registeredUs < US_PER_SECOND ? registeredUs : nowUs;
    return [
      ...bindings.map((binding) => ['Contact', contactValue(binding, fromUs)] as const),
      ...request.headers('path').map((path) => ['Path', path] as const),
      ['Date', new Date(nowUs / US_PER_MS).toUTCString()],
    ];
  }

  #armSweep(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#core.dialogTimers.at(this.#core.nowMs + SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#sweeping = false;
    this.#forget(this.#location.sweep(this.#nowUs()));
    if (this.all().length > 0) this.#armSweep();
  }

  #forget(gone: readonly ContactBinding[]): void {
    for (const username of new Set(gone.map((binding) => binding.username)))
      this.#changed(username);
    const remove = gone.filter(isLasting);
    if (remove.length > 0) this.#core.emit({ kind: 'store', id: undefined, save: [], remove });
  }

  #nowUs(nowMs = this.#core.nowMs): number {
    return Math.floor((nowMs + this.#core.options.wallOffsetMs) * US_PER_MS);
  }
}

/** Header fields that confirm an outbound flow (RFC 5626 §6). */
const OUTBOUND: HeaderInit = [
  ['Require', 'outbound'],
  ['Supported', 'outbound, path'],
];

/** Checks an outbound registration: one contact per request, and support by the first proxy (RFC 5626 §6). */
function outboundFault(request: SipRequest, contacts: RegisterRequest['contacts']) {
  if (contacts === '*' || contacts.every(({ regId }) => regId === undefined)) return undefined;
  if (contacts.length > 1)
    return { status: 400, parts: { reason: 'Several Contacts With reg-id' } };
  const isDirect = request.list('via').length === 1;
  const first = request.list('path').map(parseNameAddr).at(-1);
  const keepsFlow = first?.uri.kind === 'sip' && first.uri.params.has('ob');
  if (isDirect || keepsFlow) return undefined;
  const knows = request.tokens('supported').includes('outbound');
  return knows ? { status: 439, parts: {} } : undefined;
}

function contactValue(binding: ContactBinding, nowUs: number): string {
  const instance = binding.instanceId === undefined ? '' : `;+sip.instance="${binding.instanceId}"`;
  const q = binding.q === 1 ? '' : `;q=${binding.q}`;
  const flow = binding.regId === undefined ? '' : `;reg-id=${binding.regId}`;
  return `<${binding.contactUri}>;expires=${secondsLeft(binding, nowUs)}${q}${instance}${flow}`;
}
