/** The caller ids that a campaign takes turns with. */
import { uuid } from '../../base/ids.ts';
import { plainNumber } from '../../base/phone-number.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { CampaignServiceNeeds } from './service-needs.ts';
import type { Campaign, CampaignRefusal, PoolNumber } from './types.ts';

const MAX_NUMBERS = 1000;

export class PoolNumbers {
  readonly #needs: CampaignServiceNeeds;

  constructor(needs: CampaignServiceNeeds) {
    this.#needs = needs;
  }

  /** All or none; one that is in the pool already stays as it is. Answers those of the pool that were named. */
  async add(
    campaign: Campaign,
    numbers: ReadonlyArray<Pick<PoolNumber, 'number' | 'label'>>,
  ): Promise<Result<readonly PoolNumber[], CampaignRefusal>> {
    const { store, calls, random, dialer } = this.#needs;
    const known = await store.numbers(campaign.id);
    if (known.length + numbers.length > MAX_NUMBERS) {
      return err({ kind: 'tooMany', what: 'numbers in a pool', limit: MAX_NUMBERS });
    }
    const added: PoolNumber[] = [];
    for (const { number: typed, label } of numbers) {
      const number = plainNumber(typed);
      if (!(await calls.mayPresent(campaign.accountId, number))) {
        const detail = `${typed} is no caller id of this account`;
        return err({ kind: 'invalid', field: 'from_number', detail });
      }
      const id = uuid(random);
      added.push({
        id,
        number,
        label,
        totalCalls: 0,
        day: '',
        callsOfDay: 0,
        lastUsedUs: undefined,
      });
    }
    await store.addNumbers(campaign.id, added);
    dialer.changed(campaign);
    const named = new Set(added.map(({ number }) => number));
    return ok((await store.numbers(campaign.id)).filter(({ number }) => named.has(number)));
  }

  async remove(campaign: Campaign, numberId: string): Promise<Result<void, CampaignRefusal>> {
    const { store, dialer } = this.#needs;
    if (!(await store.removeNumber(campaign.id, numberId))) return err({ kind: 'unknownNumber' });
    dialer.changed(campaign);
    return ok(undefined);
  }
}
