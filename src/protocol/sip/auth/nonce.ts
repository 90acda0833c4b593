import { hmacSha256, secretsEqual } from '../../../base/hash.ts';
import type { Random } from '../../../base/ids.ts';

/** How long a nonce may be used, and how many used ones are remembered. */
export interface NonceLimits {
  readonly lifetimeMs: number;
  readonly maxRemembered: number;
}

const DEFAULT_NONCE_LIMITS: NonceLimits = { lifetimeMs: 300_000, maxRemembered: 20_000 };

/** `stale`: ours, but too old or already forgotten: the peer may go on with a new one. */
export type NonceState = 'valid' | 'stale' | 'forged';

interface NonceUse {
  highest: number;
  /** Bit i: count `highest - i` was used. */
  seen: bigint;
}

/** Nonce counts below the highest one that may still arrive late (UDP reorders requests). */
const COUNT_WINDOW = 64;
const WINDOW_MASK = (1n << BigInt(COUNT_WINDOW)) - 1n;

/**
 * Makes nonces that carry their own time under a MAC, so that nothing is kept for those never used, and counts the
 * uses of the others (RFC 7616 §5.12, replay). A forgotten nonce is never valid again: when the memory is full the
 * oldest goes, and everything issued up to its time counts as stale.
 */
export class NonceMint {
  readonly #key: Uint8Array;
  readonly #random: Random;
  readonly #limits: NonceLimits;
  readonly #uses = new Map<string, NonceUse>();
  #forgottenUpToMs = -1;

  constructor(random: Random, limits: NonceLimits = DEFAULT_NONCE_LIMITS, key = random.bytes(32)) {
    this.#random = random;
    this.#limits = limits;
    this.#key = key;
  }

  mint(nowMs: number): string {
    const time = Math.floor(nowMs).toString(36);
    const salt = Buffer.from(this.#random.bytes(9)).toString('base64url');
    return `${time}.${salt}.${this.#mac(time, salt)}`;
  }

  examine(nonce: string, nowMs: number): NonceState {
    const [time, salt, mac, ...rest] = nonce.split('.');
    if (time === undefined || salt === undefined || mac === undefined || rest.length > 0) {
      return 'forged';
    }
    if (!secretsEqual(mac, this.#mac(time, salt))) return 'forged';
    const issuedMs = Number.parseInt(time, 36);
    if (nowMs - issuedMs > this.#limits.lifetimeMs) return 'stale';
    if (!this.#uses.has(nonce) && issuedMs <= this.#forgottenUpToMs) return 'stale';
    return 'valid';
  }

  /** Notes the use of a valid nonce with this count. False: that count was used before. */
  use(nonce: string, count: number): boolean {
    const use = this.#uses.get(nonce);
    if (use === undefined) {
      this.#makeRoom();
      this.#uses.set(nonce, { highest: count, seen: 1n });
      return true;
    }
    if (count > use.highest) {
      use.seen =
        ((use.seen << BigInt(Math.min(count - use.highest, COUNT_WINDOW))) | 1n) & WINDOW_MASK;
      use.highest = count;
      return true;
    }
    const age = use.highest - count;
    if (age >= COUNT_WINDOW) return false;
    const bit = 1n << BigInt(age);
    if ((use.seen & bit) !== 0n) return false;
    use.seen |= bit;
    return true;
  }

  #makeRoom(): void {
    if (this.#uses.size < this.#limits.maxRemembered) return;
    for (const oldest of this.#uses.keys()) {
      const issuedMs = Number.parseInt(oldest, 36);
      this.#forgottenUpToMs = Math.max(this.#forgottenUpToMs, issuedMs);
      this.#uses.delete(oldest);
      return;
    }
  }

  #mac(time: string, salt: string): string {
    return hmacSha256(this.#key, `${time}.${salt}`).subarray(0, 18).toString('base64url');
  }
}
