import { Fifo } from '../../../base/fifo.ts';
import { Mac, secretsEqual } from '../../../base/hash.ts';
import type { Random } from '../../../base/ids.ts';
import { ownCopy } from '../../../base/text.ts';

/** How long a nonce may be used, and how many used ones are remembered. */
export interface NonceLimits {
  readonly lifetimeMs: number;
  readonly maxRemembered: number;
}

/** What several nodes make and read nonces with. */
export interface SharedNonces {
  readonly key: Uint8Array;
  /** Added to the monotonic clock: what all have in common, roughly. */
  readonly offsetMs: number;
  /** Monotonic. What was issued before may have been used without this node's knowing: it counts as stale. */
  readonly sinceMs: number;
}

/** As many as there are bindings (register.ts), each with a nonce of its own. */
const DEFAULT_NONCE_LIMITS: NonceLimits = { lifetimeMs: 300_000, maxRemembered: 150_000 };

/** `stale`: ours, but too old or already forgotten. `forged`: never issued by us to that source. */
export type NonceState = 'valid' | 'stale' | 'forged';

interface NonceUse {
  readonly issuedMs: number;
  highest: number;
  /** Bit i: count `highest - i` was used. */
  seen: number;
}

/** Nonce counts below the highest one that may still arrive late (UDP reorders requests). */
const COUNT_WINDOW = 31;
const WINDOW_MASK = 2 ** COUNT_WINDOW - 1;
/** Time of issue, salt, MAC: a multiple of three, so that base64 has one spelling only. Short: answers must not be long. */
const TIME_BYTES = 5;
const SALT_BYTES = 4;
const MAC_BYTES = 12;
const NONCE_LENGTH = ((TIME_BYTES + SALT_BYTES + MAC_BYTES) / 3) * 4;

/**
 * Makes nonces that carry their own time under a MAC over time, salt, realm and the source that they are sent to, so that
 * nothing is kept for those never used, and nobody can use one that went to somebody else. Counts the uses
 * of the others (RFC 7616 §5.12, replay). A forgotten nonce is never valid again: when the memory is full the
 * oldest goes, and everything issued up to its time counts as stale. Time is monotonic: a stepped wall clock changes nothing.
 * Nonces that are shared are valid on every node; each node counts here what was used with it, and asks what was used elsewhere (gate.ts).
 */
export class NonceMint {
  readonly #realm: string;
  readonly #mac: Mac;
  readonly #random: Random;
  readonly #limits: NonceLimits;
  readonly #offsetMs: number;
  readonly #uses = new Map<string, NonceUse>();
  /** Those of `#uses`, the first used first. */
  readonly #used = new Fifo<string>();
  #forgottenUpToMs = -1;
  /** What `examine` saw last: one request is looked at by the front desk, at the door and with its password. */
  #seen: {
    readonly nonce: string;
    readonly source: string;
    readonly issuedMs: number | undefined;
  } = {
    nonce: '',
    source: '',
    issuedMs: undefined,
  };

  constructor(
    realm: string,
    random: Random,
    limits: NonceLimits = DEFAULT_NONCE_LIMITS,
    shared?: SharedNonces,
  ) {
    this.#realm = realm;
    this.#random = random;
    this.#limits = limits;
    this.#mac = new Mac(shared?.key ?? random.bytes(32));
    this.#offsetMs = shared?.offsetMs ?? 0;
    if (shared !== undefined) this.#forgottenUpToMs = this.#timeOf(shared.sinceMs);
  }

  mint(source: string, nowMs: number): string {
    const head = Buffer.alloc(TIME_BYTES + SALT_BYTES);
    head.writeUIntBE(this.#timeOf(nowMs), 0, TIME_BYTES);
    head.set(this.#random.bytes(SALT_BYTES), TIME_BYTES);
    return this.#sealed(head, source);
  }

  examine(nonce: string, source: string, nowMs: number): NonceState {
    const { nonce: seenNonce, source: seenSource } = this.#seen;
    if (nonce !== seenNonce || source !== seenSource)
      this.#seen = { nonce, source, issuedMs: this.#issuedMs(nonce, source) };
    const { issuedMs } = this.#seen;
    if (issuedMs === undefined) return 'forged';
    if (this.#timeOf(nowMs) - issuedMs > this.#limits.lifetimeMs) return 'stale';
    if (!this.#uses.has(nonce) && issuedMs <= this.#forgottenUpToMs) return 'stale';
    return 'valid';
  }

  /** Milliseconds since a valid nonce was issued; below zero where the clock of the node that issued it is ahead. */
  ageMs(nonce: string, nowMs: number): number {
    return this.#timeOf(nowMs) - Buffer.from(nonce, 'base64url').readUIntBE(0, TIME_BYTES);
  }

  /** Undefined: not ours, or not for that source. */
  #issuedMs(nonce: string, source: string): number | undefined {
    if (nonce.length !== NONCE_LENGTH) return undefined;
    const head = Buffer.from(nonce, 'base64url').subarray(0, TIME_BYTES + SALT_BYTES);
    if (head.length < TIME_BYTES + SALT_BYTES) return undefined;
    if (!secretsEqual(nonce, this.#sealed(head, source))) return undefined;
    return head.readUIntBE(0, TIME_BYTES);
  }

  /** Notes the use of a valid nonce with this count. False: that count was used before. */
  use(nonce: string, count: number, nowMs: number): boolean {
    const use = this.#uses.get(nonce);
    if (use === undefined) {
      this.#forgetOldest(nowMs);
      const issuedMs = this.#timeOf(nowMs) - this.ageMs(nonce, nowMs);
      // It was cut out of a request, which would be kept as long.
      const kept = ownCopy(nonce);
      this.#uses.set(kept, { issuedMs, highest: count, seen: 1 });
      this.#used.push(kept);
      return true;
    }
    if (count > use.highest) {
      const step = count - use.highest;
      use.seen = step >= COUNT_WINDOW ? 1 : ((use.seen << step) | 1) & WINDOW_MASK;
      use.highest = count;
      return true;
    }
    const age = use.highest - count;
    if (age >= COUNT_WINDOW) return false;
    const bit = 1 << age;
    if ((use.seen & bit) !== 0) return false;
    use.seen |= bit;
    return true;
  }

  /** What is too old to be used anyhow, and one more where there are too many. */
  #forgetOldest(nowMs: number): void {
    const { lifetimeMs, maxRemembered } = this.#limits;
    for (;;) {
      const oldest = this.#used.first() ?? '';
      const use = this.#uses.get(oldest);
      if (use === undefined) return;
      const isStale = this.#timeOf(nowMs) - use.issuedMs > lifetimeMs;
      if (!isStale && this.#uses.size < maxRemembered) return;
      this.#used.shift();
      this.#uses.delete(oldest);
      if (!isStale) this.#forgottenUpToMs = Math.max(this.#forgottenUpToMs, use.issuedMs);
    }
  }

  /** As it stands in a nonce. */
  #timeOf(monotonicMs: number): number {
    return Math.floor(monotonicMs + this.#offsetMs);
  }

  #sealed(head: Buffer, source: string): string {
    const sealed = `${head.toString('base64url')} ${source} ${this.#realm}`;
    const mac = this.#mac.of(sealed).subarray(0, MAC_BYTES);
    return Buffer.concat([head, mac]).toString('base64url');
  }
}
