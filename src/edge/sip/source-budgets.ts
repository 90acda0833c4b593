import ipaddr from 'ipaddr.js';
import { RecentMap } from '../../base/recent-map.ts';

/** Maximum number of sources; beyond it, the longest inactive ones are evicted. */
const MAX_SOURCES = 20_000;
/** Burst size in seconds of the rate. */
const BURST_SECONDS = 2;

interface Bucket {
  tokens: number;
  atMs: number;
}

/** Token buckets by source name in bounded memory. Time is monotonic. */
export class SourceBudgets {
  readonly #perSecond: number;
  readonly #buckets = new RecentMap<Bucket>(MAX_SOURCES);

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Returns false if the source has exhausted its budget. */
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

/** Groups addresses that usually have one owner: an IPv6 /64 network counts as one source. */
export function sourceOf(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return address;
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
