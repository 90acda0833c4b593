/** Tracks which peers currently accept no calls, based on the results of calls. */
import type { LegEnd, OutboundLegEvents, OutboundTarget } from '../../domain/call/needs.ts';
import { parseUri } from '../../protocol/sip/sip.ts';

/** Time for which an unresponsive peer is tried last, in milliseconds. It doubles with each further failure. */
const FIRST_REST_MS = 30_000;
const LONGEST_REST_MS = 300_000;
/** Maximum rest period in milliseconds, even if Retry-After is longer. */
const LONGEST_RETRY_AFTER_MS = 600_000;
const MAX_KNOWN = 10_000;

interface Known {
  /** Number of consecutive INVITEs without response. */
  failures: number;
  downUntilMs: number;
  /** End of the rest period requested by Retry-After. */
  restsUntilMs: number;
}

/** Key of a target; undefined for phones, which are not tracked. */
export function healthKey(target: OutboundTarget): string | undefined {
  if (target.kind === 'endpoint') return undefined;
  if (target.kind === 'carrier') return carrierKey(target.carrier);
  const uri = parseUri(target.uri);
  return uri?.kind === 'sip' ? `uri ${uri.host}:${uri.port ?? ''}` : undefined;
}

export const carrierKey = (name: string): string => `carrier ${name}`;

export class PeerHealth {
  readonly #monotonicMs: () => number;
  /** Peers with a recorded state, in the order of their last change. */
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

  /** Wraps the events of a call to update the health of its peer. */
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

  /** Records an INVITE without response. */
  failed(key: string): void {
    const known = this.#change(key);
    const restMs = Math.min(FIRST_REST_MS * 2 ** known.failures, LONGEST_REST_MS);
    known.failures += 1;
    known.downUntilMs = this.#monotonicMs() + restMs;
  }

  /** Records a 503 with Retry-After of `ms`. */
  rests(key: string, ms: number): void {
    const restMs = Math.min(ms, LONGEST_RETRY_AFTER_MS);
    this.#change(key).restsUntilMs = this.#monotonicMs() + restMs;
  }

  /** Records a response to an INVITE. */
  answered(key: string): void {
    const known = this.#known.size === 0 ? undefined : this.#known.get(key);
    if (known === undefined) return;
    known.failures = 0;
    known.downUntilMs = 0;
    if (known.restsUntilMs <= this.#monotonicMs()) this.#known.delete(key);
  }

  /**
   * Records a response to OPTIONS. It counts after the first failure, but not for a peer that responds only to OPTIONS.
   */
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
