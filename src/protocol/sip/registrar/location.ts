import { isWebSocket } from '../types.ts';
import type { ContactBinding, ExpiredBinding } from './binding.ts';
import { contactKey } from './read-register.ts';
import {
  type RegisterOutcome,
  type RegisterRequest,
  type RegistrarLimits,
  register,
} from './register.ts';

/** In-memory location service (RFC 3261 §10): contacts of each user. The store keeps a copy. */
export class Location {
  readonly #limits: RegistrarLimits;
  readonly #bindings = new Map<string, readonly ContactBinding[]>();

  constructor(limits: RegistrarLimits) {
    this.#limits = limits;
  }

  /**
   * Loads the bindings of an earlier process, whose connections are closed. Contacts behind a connection remain
   * reachable at their address, except browsers. Returns the bindings that were not loaded.
   */
  restore(bindings: readonly ContactBinding[]): readonly ContactBinding[] {
    // A browser behind an edge proxy remains reachable, because the proxy holds its connection (RFC 3327).
    const isBrowser = ({ flow, path }: ContactBinding): boolean =>
      path.length === 0 && isWebSocket(flow.transport);
    for (const binding of bindings.filter((one) => !isBrowser(one))) {
      const restored = { ...binding, flow: { ...binding.flow, connectionId: undefined } };
      this.#set(binding.username, [...this.#of(binding.username), restored]);
    }
    return bindings.filter(isBrowser);
  }

  /**
   * Applies registrations and removals from another node. Connections end at that node: phones behind one are reached
   * by their Path or address. Of two versions of a contact, the later one is kept.
   */
  take(saved: readonly ContactBinding[], removed: readonly ExpiredBinding[]): void {
    for (const { username, contactUri } of removed) {
      const left = this.#of(username).filter((one) => one.contactUri !== contactUri);
      this.#set(username, left);
    }
    for (const binding of saved) {
      const { username, contactUri } = binding;
      const known = this.#of(username);
      const same = known.find((one) => one.contactUri === contactUri);
      if (same !== undefined && same.updatedUs >= binding.updatedUs) continue;
      const there = { ...binding, flow: { ...binding.flow, connectionId: undefined } };
      this.#set(username, [...known.filter((one) => one !== same), there]);
    }
  }

  register(request: RegisterRequest, nowUs: number): RegisterOutcome {
    const outcome = register(this.#of(request.username), request, contactKey, this.#limits, nowUs);
    if (outcome.status === 200) this.#set(request.username, outcome.bindings);
    return outcome;
  }

  /** Unexpired contacts in descending order of q. */
  contactsOf(username: string, nowUs: number): readonly ContactBinding[] {
    return this.#of(username)
      .filter((binding) => binding.expiresUs > nowUs)
      .sort((a, b) => b.q - a.q);
  }

  /** Removes a binding whose flow no longer reaches the phone. */
  flowFailed(binding: ContactBinding): readonly ContactBinding[] {
    return this.#removeWhere((one) => one === binding);
  }

  all(nowUs: number): readonly ContactBinding[] {
    return [...this.#bindings.values()].flat().filter((binding) => binding.expiresUs > nowUs);
  }

  /** Removes the bindings of a closed flow (RFC 5626 §4.2) and returns them. */
  connectionLost(connectionId: string): readonly ContactBinding[] {
    return this.#removeWhere((binding) => binding.flow.connectionId === connectionId);
  }

  /** Removes all contacts of a user, or those of one login, and returns them. */
  remove(username: string, login: string | undefined): readonly ContactBinding[] {
    const goes = (binding: ContactBinding): boolean =>
      login === undefined || binding.login === login;
    const all = this.#of(username);
    this.#set(
      username,
      all.filter((binding) => !goes(binding)),
    );
    return all.filter(goes);
  }

  /** Removes expired bindings and returns them. */
  sweep(nowUs: number): readonly ContactBinding[] {
    return this.#removeWhere((binding) => binding.expiresUs <= nowUs);
  }

  #removeWhere(gone: (binding: ContactBinding) => boolean): readonly ContactBinding[] {
    const removed: ContactBinding[] = [];
    for (const [username, bindings] of this.#bindings) {
      const going = bindings.filter(gone);
      if (going.length === 0) continue;
      removed.push(...going);
      this.#set(
        username,
        bindings.filter((binding) => !going.includes(binding)),
      );
    }
    return removed;
  }

  #of(username: string): readonly ContactBinding[] {
    return this.#bindings.get(username) ?? [];
  }

  #set(username: string, bindings: readonly ContactBinding[]): void {
    if (bindings.length === 0) this.#bindings.delete(username);
    else this.#bindings.set(username, bindings);
  }
}
