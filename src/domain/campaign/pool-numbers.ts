/** Manages a campaign's pool of caller IDs. */
import { uuid } from '../../base/ids.ts';
import { plainNumber } from '../../base/phone-number.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { CampaignServiceNeeds } from './service-needs.ts';
import type { Campaign, CampaignRefusal, PoolNumber, PoolNumberPatch } from './types.ts';

const MAX_NUMBERS = 1000;

/** Counters of an unused number. */
const UNUSED = { totalCalls: 0, day: '', callsOfDay: 0, lastUsedUs: undefined } as const;

export class PoolNumbers {
  readonly #needs: CampaignServiceNeeds;

  constructor(needs: CampaignServiceNeeds) {
    this.#needs = needs;
  }

  /**
   * Adds all numbers or none. Numbers that the pool already has stay unchanged. Returns the pool's records of the
   * given numbers.
   */
  async add(
    campaign: Campaign,
    numbers: ReadonlyArray<Pick<PoolNumber, 'number' | 'label'>>,
  ): Promise<Result<readonly PoolNumber[], CampaignRefusal>> {
    const { store, random, dialer } = this.#needs;
    const added: PoolNumber[] = [];
    for (const { number: typed, label } of numbers) {
      const number = plainNumber(typed);
      const refused = await this.#refused(campaign, number);
      if (refused !== undefined) return err(refused);
      added.push({ ...UNUSED, id: uuid(random), number, label });
    }
    const stored = await store.addNumbers(campaign.id, added, MAX_NUMBERS);
    if (!stored.ok) return err({ kind: 'tooMany', what: 'numbers in a pool', limit: MAX_NUMBERS });
    await dialer.changed(campaign);
    const named = new Set(added.map(({ number }) => number));
    return ok((await store.numbers(campaign.id)).filter(({ number }) => named.has(number)));
  }

  async update(
    campaign: Campaign,
    numberId: string,
    patch: PoolNumberPatch,
  ): Promise<Result<PoolNumber, CampaignRefusal>> {
    const { store, dialer } = this.#needs;
    const known = (await store.numbers(campaign.id)).find(({ id }) => id === numberId);
    if (known === undefined) return err({ kind: 'unknownNumber' });
    const number = patch.number === undefined ? known.number : plainNumber(patch.number);
    const isOther = number !== known.number;
    if (isOther) {
      const refused = await this.#refused(campaign, number);
      if (refused !== undefined) return err(refused);
    }
    const label = patch.label ?? known.label;
    const changed = isOther ? { ...UNUSED, id: numberId, number, label } : { ...known, label };
    const updated = await store.updateNumber(campaign.id, changed);
    if (!updated.ok) return err({ kind: updated.error });
    await dialer.changed(campaign);
    return ok(changed);
  }

  async remove(campaign: Campaign, numberId: string): Promise<Result<void, CampaignRefusal>> {
    const { store, dialer } = this.#needs;
    if (!(await store.removeNumber(campaign.id, numberId))) return err({ kind: 'unknownNumber' });
    await dialer.changed(campaign);
    return ok(undefined);
  }

  /** Returns a refusal if the account may not present the number. */
  async #refused(campaign: Campaign, number: string): Promise<CampaignRefusal | undefined> {
    if (await this.#needs.calls.mayPresent(campaign.accountId, number)) return undefined;
    const detail = `${number} is not a caller ID of this account`;
    return { kind: 'invalid', field: 'from_number', detail };
  }
}
