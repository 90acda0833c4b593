import { type Micros, micros } from '../../base/money.ts';
import type { Balance } from './types.ts';

/** `available_balance` of the spec: the balance less what is held. */
export const availableOf = (balance: Pick<Balance, 'balance' | 'reservedFunds'>): Micros =>
  micros(balance.balance - balance.reservedFunds);

/**
 * Whether `amount` more may be spent or held (spec: Credit limit behaviour). A hard limit blocks once the available
 * balance and the credit line are used up; a soft one only alerts.
 */
export function canSpend(
  balance: Pick<Balance, 'balance' | 'reservedFunds' | 'creditLimit' | 'creditLimitType'>,
  amount: number,
): boolean {
  if (balance.creditLimitType === 'soft') return true;
  return availableOf(balance) + balance.creditLimit >= amount;
}

/** What of the promotional part is left after a debit: promotion is spent first. */
export const promotionAfterDebit = (promotional: number, amount: number): Micros =>
  micros(Math.max(0, promotional - amount));

/** Whether the alert is due (spec: low-balance alerts): the available balance has just fallen below the threshold. */
export function crossedThreshold(before: Balance, after: Balance): boolean {
  const threshold = after.lowBalanceThreshold;
  return threshold > 0 && availableOf(before) >= threshold && availableOf(after) < threshold;
}
