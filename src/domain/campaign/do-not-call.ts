/** Manages do-not-call lists: those of accounts, and the operator's list for all accounts. */
import { wallUs } from '../../base/clock.ts';
import type { Page, Slice } from '../../base/page.ts';
import { plainNumber } from '../../base/phone-number.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { CampaignServiceNeeds } from './service-needs.ts';
import type { CampaignRefusal, DoNotCallScope, ListedNumber } from './types.ts';

const MAX_NUMBERS = 1_000_000;

export class DoNotCall {
  readonly #needs: Pick<CampaignServiceNeeds, 'store' | 'clock'>;

  constructor(needs: Pick<CampaignServiceNeeds, 'store' | 'clock'>) {
    this.#needs = needs;
  }

  /** Adds all numbers or none. Returns how many were not listed before. */
  async add(
    scope: DoNotCallScope,
    numbers: readonly string[],
  ): Promise<Result<number, CampaignRefusal>> {
    const { store, clock } = this.#needs;
    const plain = numbers.map(plainNumber);
    const added = await store.addDoNotCall(scope, plain, wallUs(clock), MAX_NUMBERS);
    if (added.ok) return added;
    return err({ kind: 'tooMany', what: 'numbers that are not called', limit: MAX_NUMBERS });
  }

  async remove(scope: DoNotCallScope, number: string): Promise<Result<void, CampaignRefusal>> {
    const wasListed = await this.#needs.store.removeDoNotCall(scope, plainNumber(number));
    return wasListed ? ok(undefined) : err({ kind: 'unknownNumber' });
  }

  /** Lists numbers that contain the digits `search`. */
  list(
    scope: DoNotCallScope,
    search: string | undefined,
    slice: Slice,
  ): Promise<Page<ListedNumber>> {
    return this.#needs.store.doNotCall(scope, search, slice);
  }
}
