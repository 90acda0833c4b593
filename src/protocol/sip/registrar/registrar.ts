import type { UserAgentCore } from '../dialog/core.ts';
import { Questions } from '../dialog/questions.ts';
import type { HeaderInit, SipRequest } from '../message.ts';
import type { TransactionId } from '../transaction/types.ts';
import { type Flow, isSecure } from '../transport/flow.ts';
import type { ContactBinding } from './binding.ts';
import { Location } from './location.ts';
import { readRegister } from './read-register.ts';
import { DEFAULT_REGISTRAR_LIMITS, secondsLeft } from './register.ts';

const US_PER_MS = 1000;
/** Expired bindings are dropped from memory and store this often; they are never used meanwhile. */
const SWEEP_MS = 60_000;

/** Answers authenticated REGISTERs (RFC 3261 §10.3) once the store has them, and knows where users are. */
export class Registrar {
  readonly #core: UserAgentCore;
  readonly #location: Location;
  readonly #storing: Questions<boolean>;
  #sweeping = false;

  constructor(core: UserAgentCore) {
    this.#core = core;
    this.#location = new Location(core.options.registrar ?? DEFAULT_REGISTRAR_LIMITS);
    this.#storing = new Questions(core.limits.maxWaiting);
  }

  restore(bindings: readonly ContactBinding[]): void {
    this.#location.restore(bindings);
    for (const { flow } of bindings) {
      if (flow.transport === 'udp') {
        this.#core.acquaintances.met(this.#core.udpFlow(flow.address, flow.port), this.#core.nowMs);
      }
    }
    this.#sweep();
  }

  contactsOf(username: string): readonly ContactBinding[] {
    return this.#location.contactsOf(username, this.#nowUs());
  }

  all(): readonly ContactBinding[] {
    return this.#location.all(this.#nowUs());
  }

  stored(id: number, ok: boolean): void {
    this.#storing.answer(id, ok);
  }

  connectionLost(connectionId: number): void {
    this.#forget(this.#location.connectionLost(String(connectionId)));
  }

  /** A user who may no longer be called. */
  forget(username: string): void {
    this.#forget(this.#location.remove(username));
  }

  receive(request: SipRequest, transaction: TransactionId, flow: Flow, username: string): void {
    const read = readRegister(request, username, flow);
    if (read === undefined) {
      this.#core.respond(transaction, request, 400, { reason: 'Bad Contact' });
      return;
    }
    const isSips =
      read.contacts !== '*' && read.contacts.some(({ uri }) => uri.startsWith('sips:'));
    if (isSips && !isSecure(flow.transport)) {
      this.#core.respond(transaction, request, 400, { reason: 'SIPS Contact Without TLS' });
      return;
    }
    const outcome = this.#location.register(read, this.#nowUs());
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
      const headers = ok ? this.#headers(request, bindings) : [];
      this.#core.respond(transaction, request, ok ? 200 : 500, { headers });
    };
    if (saved.length === 0 && removed.length === 0) {
      answer(true);
      return;
    }
    this.#armSweep();
    const id = this.#storing.ask(answer);
    if (id === undefined) answer(false);
    else this.#core.emit({ kind: 'store', id, save: saved, remove: removed });
  }

  /** Every binding with its remaining time, and the Path that requests will take (RFC 3327 §5.3). */
  #headers(request: SipRequest, bindings: readonly ContactBinding[]): HeaderInit {
    const nowUs = this.#nowUs();
    return [
      ...bindings.map((binding) => ['Contact', contactValue(binding, nowUs)] as const),
      ...request.headers('path').map((path) => ['Path', path] as const),
      ['Date', new Date(nowUs / US_PER_MS).toUTCString()],
    ];
  }

  #armSweep(): void {
    if (this.#sweeping) return;
    this.#sweeping = true;
    this.#core.agenda.at(this.#core.nowMs + SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#sweeping = false;
    this.#forget(this.#location.sweep(this.#nowUs()));
    if (this.all().length > 0) this.#armSweep();
  }

  #forget(remove: readonly ContactBinding[]): void {
    if (remove.length > 0) this.#core.emit({ kind: 'store', id: undefined, save: [], remove });
  }

  #nowUs(): number {
    return Math.floor((this.#core.nowMs + this.#core.options.wallOffsetMs) * US_PER_MS);
  }
}

function contactValue(binding: ContactBinding, nowUs: number): string {
  const instance = binding.instanceId === undefined ? '' : `;+sip.instance="${binding.instanceId}"`;
  const q = binding.q === 1 ? '' : `;q=${binding.q}`;
  return `<${binding.contactUri}>;expires=${secondsLeft(binding, nowUs)}${q}${instance}`;
}
