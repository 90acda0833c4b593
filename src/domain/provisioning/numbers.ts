import { type AccountId, type AppId, type TrunkId, uuid } from '../../base/ids.ts';
import { type Micros, micros } from '../../base/money.ts';
import type { Page, Slice } from '../../base/page.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { NewEntry } from '../ledger/types.ts';
import { checkedReferences, nowUs, type ProvisioningContext } from './context.ts';
import type { ApplicationStore, NumberFilter, NumberStore, TrunkStore } from './needs.ts';
import type { PhoneNumber, PhoneNumberPatch } from './types.ts';

/** Number of phone numbers billed per batch of the monthly rental. */
const RENTAL_BATCH = 100;
/** Retry interval of a renewal that could not be paid, in microseconds. */
const RETRY_US = 86_400_000_000;

export type NumberRefusal =
  | { readonly kind: 'unknownNumber' }
  /** No release is pending. */
  | { readonly kind: 'notReleased' }
  | { readonly kind: 'numberExists' }
  /** The number is in use or withdrawn. */
  | { readonly kind: 'numberNotAvailable' }
  | { readonly kind: 'currencyMismatch' }
  | { readonly kind: 'insufficientFunds' }
  | { readonly kind: 'unknownBalance' }
  | { readonly kind: 'unknownApplication' }
  | { readonly kind: 'unknownTrunk' }
  | { readonly kind: 'inUse' };

export type NewNumber = Pick<PhoneNumber, 'e164' | 'country' | 'currency'> & PhoneNumberPatch;

export interface NumberSettings {
  /** Time in which the account can cancel a release, in milliseconds. Default 0: the number is available immediately. */
  readonly releaseCooldownMs?: number;
}

/** Result of a renewal, with the number as it was before. */
export interface Renewal {
  readonly number: PhoneNumber;
  /** True if a suspended number is active again. False if the number is now suspended. */
  readonly isPaid: boolean;
}

interface NumberStores {
  readonly numbers: NumberStore;
  readonly applications: ApplicationStore;
  readonly trunks: TrunkStore;
}

/** Manages phone numbers: the operator's inventory, purchase, routing, release and rental. */
export class Numbers {
  readonly #stores: NumberStores;
  readonly #context: ProvisioningContext;
  readonly #cooldownUs: number;
  readonly #onRenewal: ((renewal: Renewal) => void)[] = [];

  constructor(stores: NumberStores, context: ProvisioningContext, settings: NumberSettings = {}) {
    this.#stores = stores;
    this.#context = context;
    this.#cooldownUs = (settings.releaseCooldownMs ?? 0) * 1000;
  }

  /** Adds a number to the inventory, or with `accountId` directly to that account without a fee. */
  async add(
    input: NewNumber & { readonly accountId?: AccountId | undefined },
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    const now = nowUs(this.#context);
    const owned = input.accountId !== undefined;
    const added = await this.#stores.numbers.insert({
      region: '',
      setupFeeMicros: 0,
      monthlyFeeMicros: 0,
      carrier: undefined,
      subAccount: undefined,
      applicationId: undefined,
      trunkGroupId: undefined,
      status: owned ? 'active' : 'available',
      purchasedUs: owned ? now : undefined,
      nextBillingUs: owned ? nextMonth(now) : undefined,
      lastBilledUs: undefined,
      releasedUs: undefined,
      cooldownEndsUs: undefined,
      accountId: undefined,
      alias: undefined,
      suspendedUs: undefined,
      ...input,
      id: uuid(this.#context.random),
      createdUs: now,
      updatedUs: now,
    });
    return added.ok ? added : err({ kind: added.error });
  }

  /** Returns a number of the account. Without `accountId` any number, for the operator and inbound routing. */
  async get(e164: string, accountId?: AccountId): Promise<Result<PhoneNumber, NumberRefusal>> {
    const found = await this.#stores.numbers.get(e164);
    const visible = accountId === undefined || found?.accountId === accountId;
    return found !== undefined && visible ? ok(found) : err({ kind: 'unknownNumber' });
  }

  list(filter: NumberFilter, slice: Slice): Promise<Page<PhoneNumber>> {
    return this.#stores.numbers.list(filter, slice);
  }

  /**
   * Purchases a number. Setup fee and first month are charged immediately and must be covered. With `applicationId`, its
   * calls run that application; an unknown one refuses the purchase.
   */
  async purchase(
    e164: string,
    accountId: AccountId,
    currency: string,
    applicationId?: AppId,
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    const offered = await this.#stores.numbers.get(e164);
    if (offered?.status !== 'available') return err({ kind: 'numberNotAvailable' });
    if (offered.currency !== currency.toUpperCase()) return err({ kind: 'currencyMismatch' });
    const now = nowUs(this.#context);
    const owned: PhoneNumber = {
      ...offered,
      accountId,
      applicationId,
      status: 'active',
      purchasedUs: now,
      nextBillingUs: nextMonth(now),
      lastBilledUs: now,
      releasedUs: undefined,
      alias: undefined,
      suspendedUs: undefined,
      updatedUs: now,
    };
    const bought = await this.#stores.numbers.purchase(owned, this.#purchaseFees(owned, accountId));
    if (bought.ok) return ok(owned);
    return err({ kind: bought.error === 'notAvailable' ? 'numberNotAvailable' : bought.error });
  }

  /**
   * Releases a number to the inventory and removes its routing, after the cooldown if there is one. During the
   * cooldown it accepts no calls, costs no rent and keeps its routing. Idempotent.
   */
  async release(e164: string, accountId: AccountId): Promise<Result<PhoneNumber, NumberRefusal>> {
    const owned = await this.get(e164, accountId);
    if (!owned.ok || owned.value.status === 'pending_release') return owned;
    const now = nowUs(this.#context);
    if (this.#cooldownUs > 0) {
      const cooldownEndsUs = now + this.#cooldownUs;
      const pending = { status: 'pending_release', releasedUs: now, cooldownEndsUs } as const;
      return this.#patched(accountId, e164, pending);
    }
    return this.#patched(accountId, e164, {
      status: 'available',
      releasedUs: now,
      ...UNBOUND,
      ...ORPHANED,
    });
  }

  /** Cancels a release. Months that ended during the cooldown are charged. */
  async cancelRelease(
    e164: string,
    accountId: AccountId,
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    return this.#whenOwned(accountId, e164, async () => {
      const retained = await this.#stores.numbers.cancelRelease(accountId, e164);
      return retained === undefined ? err({ kind: 'notReleased' }) : ok(retained);
    });
  }

  /** Returns numbers whose cooldown has ended to the inventory. Runs hourly. Returns their count. */
  completeReleases(): Promise<number> {
    return this.#stores.numbers.completeReleases(nowUs(this.#context));
  }

  /** Routes calls of the number to an application. Replaces any other routing. */
  async attachApplication(
    accountId: AccountId,
    e164: string,
    applicationId: AppId,
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    return this.change(accountId, e164, { applicationId });
  }

  /** Routes calls of the number to a trunk. */
  async assignTrunk(
    accountId: AccountId,
    e164: string,
    trunkGroupId: TrunkId,
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    return this.#whenOwned(accountId, e164, async () => {
      const trunk = await this.#stores.trunks.get(trunkGroupId);
      if (trunk?.accountId !== accountId) return err({ kind: 'unknownTrunk' });
      return this.#patched(accountId, e164, { ...UNBOUND, trunkGroupId });
    });
  }

  async detach(
    accountId: AccountId,
    e164: string,
    from: 'application' | 'trunk',
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    const patch =
      from === 'application' ? { applicationId: undefined } : { trunkGroupId: undefined };
    return this.#whenOwned(accountId, e164, () => this.#patched(accountId, e164, patch));
  }

  async assignSubAccount(
    accountId: AccountId,
    e164: string,
    subAccount: AccountId | undefined,
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    return this.change(accountId, e164, { subAccount });
  }

  /**
   * Changes the named fields together, or none. An `applicationId` replaces any other routing; if it is present and
   * undefined, the application is removed.
   */
  async change(
    accountId: AccountId,
    e164: string,
    fields: Pick<PhoneNumberPatch, 'alias' | 'subAccount' | 'applicationId'>,
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    const { applicationId } = fields;
    return this.#whenOwned(accountId, e164, async () => {
      if (applicationId === undefined) return this.#patched(accountId, e164, fields);
      const application = await this.#stores.applications.get(applicationId);
      if (application?.accountId !== accountId) return err({ kind: 'unknownApplication' });
      return this.#patched(accountId, e164, { ...UNBOUND, ...fields });
    });
  }

  /** Registers a callback for numbers that were suspended, or reactivated by a paid renewal. */
  onRenewal(act: (renewal: Renewal) => void): void {
    this.#onRenewal.push(act);
  }

  /** Removes an unassigned number from the inventory (operator). */
  async remove(e164: string): Promise<Result<void, NumberRefusal>> {
    const removed = await this.#stores.numbers.remove(e164);
    if (removed.ok) return removed;
    return err({ kind: removed.error === 'inUse' ? 'inUse' : 'unknownNumber' });
  }

  /**
   * Renews every number whose month has ended. Runs at the start and then hourly. A number whose account cannot pay
   * is suspended, and its renewal is retried daily. Suspended time is not charged: the paid month starts with the
   * payment. Returns the number of charged months. Rejects with the first failure after all other renewals.
   */
  async chargeRentals(): Promise<number> {
    const failed = new Map<string, unknown>();
    let charged = 0;
    for (;;) {
      const limit = RENTAL_BATCH + failed.size;
      const due = await this.#stores.numbers.dueForRental(nowUs(this.#context), limit);
      const left = due.filter(({ e164 }) => !failed.has(e164));
      for (const number of left) {
        try {
          if (await this.#renew(number)) charged += 1;
        } catch (error) {
          // For example a balance that cannot be read. The other numbers do not wait for it.
          failed.set(number.e164, error);
        }
      }
      if (left.length === 0) break;
    }
    for (const error of failed.values()) throw error;
    return charged;
  }

  /** Renews one number. Returns false if the account cannot pay, or if the number changed in the meantime. */
  async #renew(number: PhoneNumber): Promise<boolean> {
    const { numbers } = this.#stores;
    const now = nowUs(this.#context);
    const isSuspended = number.status === 'suspended';
    const from = isSuspended ? now : (number.nextBillingUs ?? now);
    const rent = rentalFee(number, from, this.#reference());
    const paid = await numbers.rent(number, rent, nextMonth(from, number.purchasedUs));
    if (!paid.ok && paid.error === 'changed') return false;
    if (!paid.ok && !(await numbers.suspend(number, now + RETRY_US))) return false;
    if (paid.ok === isSuspended)
      for (const act of this.#onRenewal) act({ number, isPaid: paid.ok });
    return paid.ok;
  }

  #purchaseFees(number: PhoneNumber, accountId: AccountId): readonly NewEntry[] {
    const fees: NewEntry[] = [];
    if (number.setupFeeMicros > 0) {
      fees.push({
        accountId,
        currency: number.currency,
        type: 'debit',
        amount: micros(number.setupFeeMicros),
        description: `Setup of number +${number.e164}`,
        reference: this.#reference(),
        referenceType: 'did_rental',
      });
    }
    const fromUs = number.purchasedUs ?? nowUs(this.#context);
    const rent = rentalFee({ ...number, accountId }, fromUs, this.#reference());
    return rent === undefined ? fees : [...fees, rent];
  }

  /** Returns a new reference. Setup and monthly fees share one source (spec, Transaction: reference_type). */
  #reference(): string {
    return `did_rental:${uuid(this.#context.random)}`;
  }

  /** Calls `act` if the number belongs to the account. */
  async #whenOwned(
    accountId: AccountId,
    e164: string,
    act: () => Promise<Result<PhoneNumber, NumberRefusal>>,
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    return checkedReferences(async () => {
      const owned = await this.get(e164, accountId);
      return owned.ok ? act() : owned;
    });
  }

  async #patched(
    accountId: AccountId,
    e164: string,
    patch: PhoneNumberPatch & { readonly accountId?: undefined },
  ): Promise<Result<PhoneNumber, NumberRefusal>> {
    const changed = await this.#stores.numbers.patch(accountId, e164, patch);
    return changed === undefined ? err({ kind: 'unknownNumber' }) : ok(changed);
  }
}

const UNBOUND = { applicationId: undefined, trunkGroupId: undefined } as const;
const ORPHANED = {
  accountId: undefined,
  subAccount: undefined,
  purchasedUs: undefined,
  nextBillingUs: undefined,
  lastBilledUs: undefined,
  alias: undefined,
  suspendedUs: undefined,
} as const;

/** Returns the fee of one month. Its key contains number and month, so that no month is charged twice. */
function rentalFee(number: PhoneNumber, fromUs: number, reference: string): NewEntry | undefined {
  if (number.accountId === undefined || number.monthlyFeeMicros === 0) return undefined;
  const amount: Micros = micros(number.monthlyFeeMicros);
  const month = new Date(fromUs / 1000).toISOString().slice(0, 10);
  return {
    accountId: number.accountId,
    currency: number.currency,
    type: 'did_rental',
    amount,
    description: `Monthly rental of number +${number.e164} from ${month}`,
    reference,
    referenceType: 'did_rental',
    key: `did_rental:${number.id}:${number.accountId}:${month}`,
  };
}

/**
 * Returns the same time of the next calendar month, or of its last day if that month is shorter. If `fromUs` is the last
 * day of its month, the day of `anchorUs` applies again: the 31st follows a period that began on February 28.
 */
export function nextMonth(fromUs: number, anchorUs = fromUs): number {
  const from = new Date(Math.floor(fromUs / 1000));
  const next = new Date(from);
  next.setUTCDate(1);
  next.setUTCMonth(next.getUTCMonth() + 1);
  const isLastDay = from.getUTCDate() === daysOf(from);
  const anchorDay = isLastDay ? new Date(Math.floor(anchorUs / 1000)).getUTCDate() : 0;
  const day = Math.max(from.getUTCDate(), anchorDay);
  next.setUTCDate(Math.min(day, daysOf(next)));
  return next.getTime() * 1000;
}

/** Returns the number of days of the month. */
const daysOf = (month: Date): number =>
  new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 0)).getUTCDate();
