/** What a multi-party call leaves behind: who was in it, and how it ended. In memory: a restart forgets it. */
import { DAY_MS } from '../../../base/duration.ts';
import type { AccountId } from '../../../base/ids.ts';
import type { Conference, ConferenceMember, PartyEndCause } from '../../dispatch/types.ts';
import type { LeaveReason } from '../needs.ts';

/** Members of one call that are remembered after they have left. */
const FORMER_MAX = 100;
const ENDED_PER_ACCOUNT = 100;
const ENDED_MAX = 5000;
const KEPT_US = 7 * DAY_MS * 1000;

/** Of one call. */
export class PartyHistory {
  readonly createdUs: number;
  startedUs: number | undefined;
  readonly #former: ConferenceMember[] = [];
  #cause: PartyEndCause | undefined;

  constructor(createdUs: number) {
    this.createdUs = createdUs;
  }

  /** The latest to leave first. */
  get former(): readonly ConferenceMember[] {
    return this.#former;
  }

  get cause(): PartyEndCause {
    return this.#cause ?? 'empty';
  }

  /** The first cause is the one. */
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

/** Those of all accounts that have ended within a week, the latest first. */
export class EndedParties {
  readonly #accounts = new Map<AccountId, Conference[]>();
  #count = 0;

  add(accountId: AccountId, ended: Conference): void {
    const known = this.#accounts.get(accountId) ?? [];
    known.unshift(ended);
    this.#count += 1;
    if (known.length > ENDED_PER_ACCOUNT) this.#drop(known);
    // Whose calls ended longest ago comes first.
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
