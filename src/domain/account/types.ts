import type { AccountId, AppId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { Permissions } from './permissions.ts';

export type AccountStatus = 'active' | 'suspended' | 'closed';

/** A main account (`MA_…`) or a sub-account (`SA_…`, with `parentAuthId`). Money lives on the main account. */
export interface Account {
  readonly authId: AccountId;
  readonly name: string;
  /** Owner of the ledger and of the limits; undefined for a main account. */
  readonly parentAuthId: AccountId | undefined;
  readonly status: AccountStatus;
  /** Currency of calls; a balance in it exists from the start. ISO 4217, upper case. */
  readonly currency: string;
  /** ISO 3166-1 alpha-2; completes national numbers to E.164. */
  readonly country: string;
  readonly timezone: string;
  readonly concurrentCallsLimit: number;
  readonly cpsLimit: number;
  readonly isPartner: boolean;
  readonly partnerAuthId: AccountId | undefined;
  readonly limitTransferEnabled: boolean;
  /** E.164 digits without `+`, or ISO countries, whose destinations are refused. */
  readonly barredPrefixes: readonly string[];
  readonly barredCountries: readonly string[];
  readonly dailySpendLimit: Micros | undefined;
  /** Application of endpoints without one of their own; one that was removed meanwhile counts as none. */
  readonly defaultEndpointApp: AppId | undefined;
  /** What calls of endpoints show without another; E.164 digits. */
  readonly defaultCallerId: string | undefined;
  readonly lowBalanceUrl: string | undefined;
  readonly lowBalanceEmail: string | undefined;
  readonly email: string;
  readonly phone: string;
  readonly description: string;
  /** How long finished call records (with their logs) are kept; undefined: the service's default. */
  readonly cdrRetentionMs: number | undefined;
  /** How long recordings are kept; undefined: the service's default. */
  readonly recordingRetentionMs: number | undefined;
  /** Of a sub-account. */
  readonly permissions: Permissions;
  /** Requests per second of a sub-account; undefined: as many as its parent. */
  readonly rateLimit: number | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

/** What may be changed after creation. A key that is present is set, `undefined` clears. */
export type AccountPatch = {
  readonly [Key in Exclude<
    keyof Account,
    'authId' | 'parentAuthId' | 'currency' | 'createdUs' | 'updatedUs'
  >]?: Account[Key];
};

export type CapacityResource = 'concurrent_calls' | 'cps';
export type CapacityOperation = 'transfer' | 'reclaim';

/** One movement of capacity between a partner and its customer; append-only history. */
export interface CapacityTransfer {
  readonly reference: string;
  readonly operation: CapacityOperation;
  readonly resource: CapacityResource;
  readonly slots: number;
  readonly partnerAuthId: AccountId;
  readonly customerAuthId: AccountId;
  readonly description: string;
  /** The partner's limit of that resource after the movement. */
  readonly partnerRemaining: number;
  /** The customer's limit of that resource after the movement. */
  readonly customerEffective: number;
  readonly createdUs: number;
}

/** What a partner has given to one customer, net of what it took back. */
export interface NetAllocation {
  readonly concurrentCalls: number;
  readonly cps: number;
}
