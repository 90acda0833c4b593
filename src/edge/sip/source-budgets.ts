import ipaddr from 'ipaddr.js';
import { RecentMap } from '../../base/recent-map.ts';

/** Beyond it sources that were quiet for long are forgotten. */
const MAX_SOURCES = 20_000;
/** Seconds' worth that may come at once. */
const BURST_SECONDS = 2;

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Token buckets by name of a source, in bounded memory. Time is monotonic. */
export class SourceBudgets {
  readonly #perSecond: number;
  readonly #buckets = new RecentMap<Bucket>(MAX_SOURCES);

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** False: the source has used up what it may. */
  take(source: string, nowMs: number): boolean {
    const most = this.#perSecond * BURST_SECONDS;
    let bucket = this.#buckets.get(source);
    if (bucket === undefined) {
      bucket = { tokens: most, atMs: nowMs };
      this.#buckets.set(source, bucket);
    }
    const gained = ((nowMs - bucket.atMs) * this.#perSecond) / 1000;
    bucket.tokens = Math.min(most, bucket.tokens + gained);
    bucket.atMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }
}

/** Addresses that one owner has by the dozen count as one: an IPv6 network of 64 bits. */
export function sourceOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return address;
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
