/** Charges uses from limited funds, as the ledger does, and records the charges. */
import { type Micros, micros, ZERO } from '../../../src/base/money.ts';
import { err, ok } from '../../../src/base/result.ts';
import { affordable, type Ledger, priceUse, RateBook } from '../../../src/domain/ledger/ledger.ts';
import type { Use } from '../../../src/domain/ledger/types.ts';

export interface ChargedUse {
  readonly amount: Micros;
  readonly reference: string;
  readonly referenceType: string;
}

export class FakeUses implements Pick<Ledger, 'rateBook' | 'holdUse' | 'raiseUse' | 'chargeUse'> {
  readonly rateBook = new RateBook();
  readonly charged: ChargedUse[] = [];
  /** Reserved amount by reservation ID. */
  readonly held = new Map<string, Micros>();
  /** Available funds, millionths. */
  funds: number = Number.MAX_SAFE_INTEGER;
  isClosed = false;

  async holdUse({ reservationId }: Use, amount: Micros) {
    return this.#raise(reservationId, amount);
  }

  async raiseUse({ reservationId }: Use, amount: Micros) {
    return this.#raise(reservationId, amount);
  }

  async chargeUse({ reservationId, rate, reference, referenceType }: Use, usedMs: number) {
    if (this.isClosed) return err('unknownBalance' as const);
    const price = usedMs > 0 ? priceUse(usedMs, rate) : { billedMs: 0, amount: ZERO };
    const held = this.held.get(reservationId) ?? ZERO;
    const isCovered = (await this.#raise(reservationId, price.amount)).ok;
    const charge = isCovered ? price : affordable(held, rate);
    this.held.delete(reservationId);
    if (charge.amount === 0 || this.charged.some((one) => one.reference === reference))
      return ok(charge);
    this.funds -= charge.amount;
    this.charged.push({ amount: charge.amount, reference, referenceType });
    return ok(charge);
  }

  async #raise(reservationId: string, amount: Micros) {
    const held = this.held.get(reservationId) ?? ZERO;
    if (amount <= held) return ok(undefined);
    const all = [...this.held.values()].reduce((sum, one) => sum + one, 0);
    if (all - held + amount > this.funds) return err('insufficientFunds' as const);
    this.held.set(reservationId, micros(amount));
    return ok(undefined);
  }
}
