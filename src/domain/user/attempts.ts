import { RecentMap } from '../../base/recent-map.ts';

/** Failures within the window that block further attempts of one address for one account. */
const MAX_PER_PAIR = 10;
/** Failures within the window that block one address for all accounts. */
const MAX_PER_ADDRESS = 50;
const WINDOW_MS = 15 * 60_000;
const WATCHED_PAIRS = 10_000;
const WATCHED_ADDRESSES = 10_000;

interface Failures {
  count: number;
  readonly sinceMs: number;
}

/** Who tries to sign in: `account` is an e-mail in lower case, or the id of a session. */
export interface Attempt {
  readonly address: string;
  readonly account: string;
}

/**
 * Failed sign-ins, counted by address and account together: guesses from one address never block the account for another
 * address. Times are monotonic milliseconds. Both tables are bounded; the entries unused for longest are dropped.
 */
export class Attempts {
  readonly #pairs = new RecentMap<Failures>(WATCHED_PAIRS);
  readonly #addresses = new RecentMap<Failures>(WATCHED_ADDRESSES);

  failed({ address, account }: Attempt, nowMs: number): void {
    const network = networkOf(address);
    count(this.#pairs, `${network} ${account}`, nowMs);
    count(this.#addresses, network, nowMs);
  }

  /** A success clears the failures of the pair. Those of the address remain: an attacker may own one account. */
  passed({ address, account }: Attempt): void {
    this.#pairs.delete(`${networkOf(address)} ${account}`);
  }

  /** Milliseconds until the next attempt is allowed; 0: now. */
  blockedMs({ address, account }: Attempt, nowMs: number): number {
    const network = networkOf(address);
    return Math.max(
      waitMs(this.#pairs.get(`${network} ${account}`), MAX_PER_PAIR, nowMs),
      waitMs(this.#addresses.get(network), MAX_PER_ADDRESS, nowMs),
    );
  }
}

function count(table: RecentMap<Failures>, key: string, nowMs: number): void {
  const known = table.get(key);
  if (known === undefined || nowMs - known.sinceMs > WINDOW_MS) {
    table.set(key, { count: 1, sinceMs: nowMs });
  } else known.count += 1;
}

function waitMs(known: Failures | undefined, most: number, nowMs: number): number {
  if (known === undefined || known.count < most) return 0;
  return Math.max(0, known.sinceMs + WINDOW_MS - nowMs);
}

/** An IPv6 host chooses the last 64 bits of its address itself (RFC 4291 §2.5.4): only its /64 prefix is counted. */
function networkOf(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('%', 1)[0]?.split('::', 2) ?? [];
  const left = head.split(':').filter((group) => group !== '');
  const right = address.includes('::') ? tail.split(':').filter((group) => group !== '') : [];
  const zeros = address.includes('::') ? 8 - left.length - right.length : 0;
  const groups = [...left, ...Array.from({ length: Math.max(0, zeros) }, () => '0'), ...right];
  return `${groups.slice(0, 4).join(':').toLowerCase()}::/64`;
}
