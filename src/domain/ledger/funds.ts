import { type Micros, micros, ZERO } from '../../base/money.ts';
import type { Balance } from './types.ts';

/** Returns the spec's `available_balance`: the balance minus reserved funds. */
export const availableOf = (balance: Pick<Balance, 'balance' | 'reservedFunds'>): Micros =>
  micros(balance.balance - balance.reservedFunds);

/** Fields of a balance that decide whether an amount may be spent. */
export type Spendable = Pick<
  Balance,
  'balance' | 'reservedFunds' | 'creditLimit' | 'creditLimitType' | 'isPostpaid'
>;

/** Returns the effective credit line. A prepaid account has none, regardless of `creditLimit`. */
const creditLineOf = ({
  creditLimit,
  isPostpaid,
}: Pick<Spendable, 'creditLimit' | 'isPostpaid'>): Micros => (isPostpaid ? creditLimit : ZERO);

/**
 * Returns whether `amount` more may be spent or reserved (spec: Credit limit behaviour). A hard limit blocks once the
 * available balance and the credit line are used up. A soft limit only alerts.
 */
export function canSpend(balance: Spendable, amount: number): boolean {
  if (balance.creditLimitType === 'soft') return true;
  return availableOf(balance) + creditLineOf(balance) >= amount;
}

/** Returns the promotional part that remains after a debit. Promotional credit is spent first. */
export const promotionAfterDebit = (promotional: number, amount: number): Micros =>
  micros(Math.max(0, promotional - amount));

/**
 * Returns whether the available balance is below the alert threshold (spec: low-balance alerts). A threshold of 0
 * disables alerts.
 */
export const isLow = (
  balance: Pick<Balance, 'balance' | 'reservedFunds' | 'lowBalanceThreshold'>,
): boolean => balance.lowBalanceThreshold > 0 && availableOf(balance) < balance.lowBalanceThreshold;
