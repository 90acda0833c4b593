import type { Micros } from '../../base/money.ts';

export type AccountStatus = 'active' | 'suspended' | 'closed';

/** A main account (`MA_…`) or a sub-account (`SA_…`, with `parentAuthId`). Money lives on the main account. */
export interface Account {
  readonly authId: string;
  readonly name: string;
  /** Owner of the ledger and of the limits; undefined for a main account. */
  readonly parentAuthId: string | undefined;
  readonly status: AccountStatus;
  /** Currency of calls; a balance in it exists from the start. ISO 4217, upper case. */
  readonly currency: string;
  /** ISO 3166-1 alpha-2; completes national numbers to E.164. */
  readonly country: string;
  readonly timezone: string;
  readonly concurrentCallsLimit: number;
  readonly cpsLimit: number;
  readonly isPartner: boolean;
  readonly partnerAuthId: string | undefined;
  readonly limitTransferEnabled: boolean;
  /** E.164 digits without `+`, or ISO countries, whose destinations are refused. */
  readonly barredPrefixes: readonly string[];
  readonly barredCountries: readonly string[];
  readonly dailySpendLimit: Micros | undefined;
  readonly defaultEndpointApp: number | undefined;
  readonly lowBalanceUrl: string | undefined;
  readonly lowBalanceEmail: string | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}
