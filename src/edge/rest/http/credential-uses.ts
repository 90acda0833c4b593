/** Remembers the last use of each account's API credentials since the start of the node. */
import { type Clock, wallUs } from '../../../base/clock.ts';
import type { AccountId } from '../../../base/ids.ts';

const ACCOUNTS_MAX = 50_000;
const AGENT_MAX = 200;

export interface CredentialUse {
  /** Time of the last request, microseconds UTC. */
  readonly atUs: number;
  readonly address: string;
  readonly userAgent: string;
  /** Number of requests since the start. */
  readonly requests: number;
}

export class CredentialUses {
  readonly #uses = new Map<AccountId, CredentialUse>();
  readonly #clock: Pick<Clock, 'wallMs'>;

  constructor(clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock;
  }

  /** Records a request with valid credentials. Forgets the account that was quiet for the longest time. */
  used(accountId: AccountId, address: string, userAgent: string): void {
    const requests = (this.#uses.get(accountId)?.requests ?? 0) + 1;
    this.#uses.delete(accountId);
    const atUs = wallUs(this.#clock);
    this.#uses.set(accountId, {
      atUs,
      address,
      userAgent: userAgent.slice(0, AGENT_MAX),
      requests,
    });
    const [oldest] = this.#uses.keys();
    if (this.#uses.size > ACCOUNTS_MAX && oldest !== undefined) this.#uses.delete(oldest);
  }

  lastOf(accountId: AccountId): CredentialUse | undefined {
    return this.#uses.get(accountId);
  }
}
