import { type Micros, micros, ZERO } from '../../base/money.ts';
import type { Balance } from './types.ts';

/** `available_balance` of the spec: the balance less what is held. */
export const availableOf = (balance: Pick<Balance, 'balance' | 'reservedFunds'>): Micros =>
  micros(balance.balance - balance.reservedFunds);

/** DomainServices of a balance that decide whether an amount may be spent. */
export type Spendable = Pick<
  Balance,
  'balance' | 'reservedFunds' | 'creditLimit' | 'creditLimitType' | 'isPostpaid'
>;

/** The credit line in force. A prepaid account has none, whatever `creditLimit` says. */
export const creditLineOf = ({
  creditLimit,
  isPostpaid,
}: Pick<Spendable, 'creditLimit' | 'isPostpaid'>): Micros => (isPostpaid ? creditLimit : ZERO);

/**
 * Whether `amount` more may be spent or held (spec: Credit limit behaviour). A hard limit blocks once the available
 * balance and the credit line are used up; a soft one only alerts.
 */
export function canSpend(balance: Spendable, amount: number): boolean {
  if (balance.creditLimitType === 'soft') return true;
  return availableOf(balance) + creditLineOf(balance) >= amount;
}

/** What of the promotional part is left after a debit: promotion is spent first. */
export const promotionAfterDebit = (promotional: number, amount: number): Micros =>
  micros(Math.max(0, promotional - amount));

/** Spec: low-balance alerts fire when the available balance is below the threshold; no threshold, no alert. */
export const isLow = (
  balance: Pick<Balance, 'balance' | 'reservedFunds' | 'lowBalanceThreshold'>,
): boolean => balance.lowBalanceThreshold > 0 && availableOf(balance) < balance.lowBalanceThreshold;
