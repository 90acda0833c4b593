import { Fifo } from '../../../base/fifo.ts';
import { Mac, secretsEqual } from '../../../base/hash.ts';
import type { Random } from '../../../base/ids.ts';
import { ownCopy } from '../../../base/text.ts';

/** Lifetime of a nonce and maximum number of used nonces to remember. */
export interface NonceLimits {
  readonly lifetimeMs: number;
  readonly maxRemembered: number;
}

/** Settings that several nodes share to create and verify nonces. */
export interface SharedNonces {
  readonly key: Uint8Array;
  /** Offset added to the monotonic clock to get a time that all nodes roughly share. */
  readonly offsetMs: number;
  /** Monotonic time in milliseconds. Earlier nonces count as stale, because this node may not know about their use. */
  readonly sinceMs: number;
}

/** The maximum equals the number of bindings (register.ts), each of which has its own nonce. */
const DEFAULT_NONCE_LIMITS: NonceLimits = { lifetimeMs: 300_000, maxRemembered: 150_000 };

/** `stale`: issued here but expired or forgotten. `forged`: never issued to that source. */
export type NonceState = 'valid' | 'stale' | 'forged';

interface NonceUse {
  readonly issuedMs: number;
  highest: number;
  /** Bit i is set if count `highest - i` was used. */
  seen: number;
}

/** Number of nonce counts below the highest that may still arrive late (UDP reorders requests). */
const COUNT_WINDOW = 31;
const WINDOW_MASK = 2 ** COUNT_WINDOW - 1;
/** Lengths of issue time, salt and MAC. Their sum is a multiple of three, so the base64 encoding is unique. */
const TIME_BYTES = 5;
const SALT_BYTES = 4;
const MAC_BYTES = 12;
const NONCE_LENGTH = ((TIME_BYTES + SALT_BYTES + MAC_BYTES) / 3) * 4;

/**
 * Creates nonces that contain their issue time and a MAC over time, salt, realm and source. Unused nonces need no
 * memory, and a nonce is valid only for its source. Used nonces are remembered to detect replay (RFC 7616 §5.12). When
 * the memory is full, the oldest entry is evicted and all nonces issued up to its time become stale. Time is monotonic,
 * so wall clock steps have no effect. Shared nonces are valid on every node: each node counts local uses and checks the
 * others through gate.ts.
 */
export class NonceMint {
  readonly #realm: string;
  readonly #mac: Mac;
  readonly #random: Random;
  readonly #limits: NonceLimits;
  readonly #offsetMs: number;
  readonly #uses = new Map<string, NonceUse>();
  /** Keys of `#uses` in order of first use. */
  readonly #used = new Fifo<string>();
  #forgottenUpToMs = -1;
  /**
   * Cache of the last `examine` result: one request is checked by the admission filter, statelessly, and with its
   * password.
   */
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

  /** Age of a valid nonce in milliseconds; negative if the clock of the issuing node is ahead. */
  ageMs(nonce: string, nowMs: number): number {
    return this.#timeOf(nowMs) - Buffer.from(nonce, 'base64url').readUIntBE(0, TIME_BYTES);
  }

  /** Issue time, or undefined if the nonce was not issued to that source. */
  #issuedMs(nonce: string, source: string): number | undefined {
    if (nonce.length !== NONCE_LENGTH) return undefined;
    const head = Buffer.from(nonce, 'base64url').subarray(0, TIME_BYTES + SALT_BYTES);
    if (head.length < TIME_BYTES + SALT_BYTES) return undefined;
    if (!secretsEqual(nonce, this.#sealed(head, source))) return undefined;
    return head.readUIntBE(0, TIME_BYTES);
  }

  /** Records the use of a valid nonce with this count. Returns false if the count was used before. */
  use(nonce: string, count: number, nowMs: number): boolean {
    const use = this.#uses.get(nonce);
    if (use === undefined) {
      this.#forgetOldest(nowMs);
      const issuedMs = this.#timeOf(nowMs) - this.ageMs(nonce, nowMs);
      // A substring would keep the whole request in memory, so store a copy.
      const retained = ownCopy(nonce);
      this.#uses.set(retained, { issuedMs, highest: count, seen: 1 });
      this.#used.push(retained);
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

  /** Removes expired entries, and one more if the limit is exceeded. */
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

  /** Time as encoded in a nonce. */
  #timeOf(monotonicMs: number): number {
    return Math.floor(monotonicMs + this.#offsetMs);
  }

  #sealed(head: Buffer, source: string): string {
    const sealed = `${head.toString('base64url')} ${source} ${this.#realm}`;
    const mac = this.#mac.of(sealed).subarray(0, MAC_BYTES);
    return Buffer.concat([head, mac]).toString('base64url');
  }
}
