/** Former members and end cause of multi-party calls. Kept in memory: lost on restart. */
import { DAY_MS } from '../../../base/duration.ts';
import type { AccountId } from '../../../base/ids.ts';
import type { Conference, ConferenceMember, PartyEndCause } from '../../dispatch/types.ts';
import type { LeaveReason } from '../needs.ts';

/** Former members kept per multi-party call. */
const FORMER_MAX = 100;
const ENDED_PER_ACCOUNT = 100;
const ENDED_MAX = 5000;
const KEPT_US = 7 * DAY_MS * 1000;

/** History of one multi-party call. */
export class PartyHistory {
  readonly createdUs: number;
  startedUs: number | undefined;
  readonly #former: ConferenceMember[] = [];
  #cause: PartyEndCause | undefined;

  constructor(createdUs: number) {
    this.createdUs = createdUs;
  }

  /** Former members, most recent first. */
  get former(): readonly ConferenceMember[] {
    return this.#former;
  }

  get cause(): PartyEndCause {
    return this.#cause ?? 'empty';
  }

  /** Sets the end cause. Only the first call has an effect. */
  endsBy(cause: PartyEndCause): void {
    this.#cause ??= cause;
  }

  left(member: ConferenceMember, reason: LeaveReason, leftUs: number): void {
    if (member.party === undefined) return;
    if (reason === 'alone') this.endsBy('alone');
    const party = { ...member.party, leftUs, leftBecause: reason };
    this.#former.unshift({ ...member, party });
    if (this.#former.length > FORMER_MAX) this.#former.pop();
  }
}

/** Multi-party calls of all accounts that ended within 7 days, most recent first. */
export class EndedParties {
  readonly #accounts = new Map<AccountId, Conference[]>();
  #count = 0;

  add(accountId: AccountId, ended: Conference): void {
    const known = this.#accounts.get(accountId) ?? [];
    known.unshift(ended);
    this.#count += 1;
    if (known.length > ENDED_PER_ACCOUNT) this.#drop(known);
    // Re-insert the account last, so that the account with the oldest activity is dropped first.
    this.#accounts.delete(accountId);
    this.#accounts.set(accountId, known);
    for (const [oldest, calls] of this.#accounts) {
      if (this.#count <= ENDED_MAX) break;
      this.#drop(calls);
      if (calls.length === 0) this.#accounts.delete(oldest);
    }
  }

  list(accountId: AccountId, nowUs: number): readonly Conference[] {
    const known = this.#accounts.get(accountId) ?? [];
    while ((known.at(-1)?.party?.endedUs ?? nowUs) < nowUs - KEPT_US) this.#drop(known);
    return known;
  }

  #drop(calls: Conference[]): void {
    if (calls.pop() !== undefined) this.#count -= 1;
  }
}
