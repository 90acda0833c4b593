/**
 * Which INVITEs were refused lately, so that one of them, sent again because the answer was lost, is refused again: its
 * sender may have gone by then. Bounded: of two that fall into one place the later is kept.
 */
import type { SipRequest } from '../message.ts';

const PLACES = 65_536;
/** Until its sender gives up (RFC 3261 Timer B). */
const KEPT_MS = 32_000;
const PRIME = 0x01000193;

export class RefusedCalls {
  readonly #seed: number;
  #prints: Uint32Array | undefined;
  #untilMs = new Float64Array(0);

  /** `seed`: unknown to peers, who could else choose what falls together. */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The same number for the same request, however often it is sent; 32 bits. */
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
    this.#untilMs[place] = nowMs + KEPT_MS;
  }
}

/** FNV-1a over UTF-16 units. */
function hash(text: string, from: number): number {
  let sum = from;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), PRIME);
  return sum >>> 0;
}
