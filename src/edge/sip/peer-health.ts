/** Which peers take no calls at the moment, by what became of calls to them. */
import type { LegEnd, OutboundLegEvents, OutboundTarget } from '../../domain/call/needs.ts';
import { parseUri } from '../../protocol/sip/sip.ts';

/** How long a peer that answered nothing is tried last: this, and twice as long with each further failure. */
const FIRST_REST_MS = 30_000;
const LONGEST_REST_MS = 300_000;
/** A peer may ask for more; it is tried again after this. */
const LONGEST_RETRY_AFTER_MS = 600_000;
const MAX_KNOWN = 10_000;

interface Known {
  /** INVITEs in a row that nobody answered. */
  failures: number;
  downUntilMs: number;
  /** By Retry-After. */
  restsUntilMs: number;
}

/** What a target is remembered by; undefined: a phone, of which nothing is. */
export function healthKey(target: OutboundTarget): string | undefined {
  if (target.kind === 'endpoint') return undefined;
  if (target.kind === 'carrier') return carrierKey(target.carrier);
  const uri = parseUri(target.uri);
  return uri?.kind === 'sip' ? `uri ${uri.host}:${uri.port ?? ''}` : undefined;
}

export const carrierKey = (name: string): string => `carrier ${name}`;

export class PeerHealth {
  readonly #monotonicMs: () => number;
  /** Only peers with something to say about, the one that changed longest ago first. */
  readonly #known = new Map<string, Known>();

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  isDown(key: string): boolean {
    const known = this.#known.size === 0 ? undefined : this.#known.get(key);
    if (known === undefined) return false;
    const nowMs = this.#monotonicMs();
    return nowMs < known.downUntilMs || nowMs < known.restsUntilMs;
  }

  /** The events of a call to that peer, with what they say of it. */
  watching(key: string, events: OutboundLegEvents): OutboundLegEvents {
    return {
      ...events,
      heardFrom: (peer) => {
        this.answered(key);
        events.heardFrom(peer);
      },
      ended: (end) => {
        this.#ended(key, end);
        events.ended(end);
      },
    };
  }

  #ended(key: string, { how, retryAfterMs }: LegEnd): void {
    if (how === 'timeout' || how === 'transport' || how === 'unreachable') this.failed(key);
    if (retryAfterMs !== undefined) this.rests(key, retryAfterMs);
  }

  /** Nobody answered an INVITE. */
  failed(key: string): void {
    const known = this.#change(key);
    const restMs = Math.min(FIRST_REST_MS * 2 ** known.failures, LONGEST_REST_MS);
    known.failures += 1;
    known.downUntilMs = this.#monotonicMs() + restMs;
  }

  /** It asked for no calls for so long (503 with Retry-After). */
  rests(key: string, ms: number): void {
    const restMs = Math.min(ms, LONGEST_RETRY_AFTER_MS);
    this.#change(key).restsUntilMs = this.#monotonicMs() + restMs;
  }

  /** It answered an INVITE. */
  answered(key: string): void {
    const known = this.#known.size === 0 ? undefined : this.#known.get(key);
    if (known === undefined) return;
    known.failures = 0;
    known.downUntilMs = 0;
    if (known.restsUntilMs <= this.#monotonicMs()) this.#known.delete(key);
  }

  /** It answered OPTIONS: believed after the first failure, not of a peer that answers OPTIONS alone. */
  probed(key: string): void {
    const known = this.#known.size === 0 ? undefined : this.#known.get(key);
    if (known?.failures === 1) known.downUntilMs = 0;
  }

  #change(key: string): Known {
    const known = this.#known.get(key) ?? { failures: 0, downUntilMs: 0, restsUntilMs: 0 };
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return known;
  }
}
