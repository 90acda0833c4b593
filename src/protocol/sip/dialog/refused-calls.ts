/**
 * Recently refused INVITEs. A retransmission after a lost response is refused again, even if calls are accepted by
 * then. Bounded: if two INVITEs share a slot, the later one is kept.
 */
import type { SipRequest } from '../message.ts';

const PLACES = 65_536;
/** Retention in milliseconds: the sender's RFC 3261 Timer B. */
const RETENTION_MS = 32_000;
const PRIME = 0x01000193;

export class RefusedCalls {
  readonly #seed: number;
  #prints: Uint32Array | undefined;
  #untilMs = new Float64Array(0);

  /** `seed` must be unpredictable, so that peers cannot choose colliding requests. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Fingerprint of the request (32 bits); equal for all its retransmissions. */
  printOf(request: SipRequest): number {
    const { branch } = request.via;
    return hash(request.callId, hash(branch ?? '', hash(request.from.tag ?? '', this.#seed)));
  }

  has(print: number, nowMs: number): boolean {
    if (this.#prints === undefined) return false;
    const place = print % PLACES;
    return this.#prints[place] === print && (this.#untilMs[place] ?? 0) > nowMs;
  }

  add(print: number, nowMs: number): void {
    if (this.#prints === undefined) {
      this.#prints = new Uint32Array(PLACES);
      this.#untilMs = new Float64Array(PLACES);
    }
    const place = print % PLACES;
    this.#prints[place] = print;
    this.#untilMs[place] = nowMs + RETENTION_MS;
  }
}

/** FNV-1a over UTF-16 units. */
function hash(text: string, from: number): number {
  let sum = from;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), PRIME);
  return sum >>> 0;
}
