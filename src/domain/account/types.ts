import type { AccountId, AppId } from '../../base/ids.ts';
import type { Micros } from '../../base/money.ts';
import type { Permissions } from './permissions.ts';

type AccountStatus = 'active' | 'suspended' | 'closed';

/** A main account (`MA_…`) or a sub-account (`SA_…`, with `parentAuthId`). The main account holds the balance. */
export interface Account {
  readonly authId: AccountId;
  readonly name: string;
  /** Main account that owns the ledger and the limits. Undefined for a main account. */
  readonly parentAuthId: AccountId | undefined;
  readonly status: AccountStatus;
  /** Currency of calls: ISO 4217, upper case. The account has a balance in it from the start. */
  readonly currency: string;
  /** Country (ISO 3166-1 alpha-2) used to complete national numbers to E.164. */
  readonly country: string;
  readonly timezone: string;
  readonly concurrentCallsLimit: number;
  readonly cpsLimit: number;
  readonly isPartner: boolean;
  readonly partnerAuthId: AccountId | undefined;
  readonly limitTransferEnabled: boolean;
  /** Barred destinations: E.164 prefixes without `+`, and ISO countries. */
  readonly barredPrefixes: readonly string[];
  readonly barredCountries: readonly string[];
  readonly dailySpendLimit: Micros | undefined;
  /** Application of endpoints that have none assigned. A deleted application counts as none. */
  readonly defaultEndpointApp: AppId | undefined;
  /** Caller ID for endpoint calls that specify no other. E.164 digits. */
  readonly defaultCallerId: string | undefined;
  readonly lowBalanceUrl: string | undefined;
  readonly lowBalanceEmail: string | undefined;
  readonly email: string;
  readonly phone: string;
  readonly description: string;
  /** Retention of finished call records and their logs, in milliseconds. Undefined means the service default. */
  readonly cdrRetentionMs: number | undefined;
  /** Retention of recordings, in milliseconds. Undefined means the service default. */
  readonly recordingRetentionMs: number | undefined;
  /** Permissions of a sub-account. */
  readonly permissions: Permissions;
  /** Requests per second of a sub-account. Undefined means the limit of its parent. */
  readonly rateLimit: number | undefined;
  readonly createdUs: number;
  readonly updatedUs: number;
}

/** Fields that can change after creation. A key that is present is set; the value `undefined` clears the field. */
export type AccountPatch = {
  readonly [Key in Exclude<
    keyof Account,
    'authId' | 'parentAuthId' | 'currency' | 'createdUs' | 'updatedUs'
  >]?: Account[Key];
};

/** An account that was suspended, closed or restricted. With `subAccount`, only that sub-account is affected. */
export interface RevokedAccount {
  readonly accountId: AccountId;
  readonly subAccount: AccountId | undefined;
  /** Reason as a plain sentence. */
  readonly why: string;
  /** SIP user names that were deleted together with the account. */
  readonly removedUsernames: readonly string[];
  /** True if only calls were revoked. The account's phones stay registered. */
  readonly callsOnly: boolean;
}

export type CapacityResource = 'concurrent_calls' | 'cps';
export type CapacityOperation = 'transfer' | 'reclaim';

/** Request of a partner to move capacity to or from its customer. */
export interface TransferRequest {
  readonly reference: string;
  readonly operation: CapacityOperation;
  readonly resource: CapacityResource;
  /** Number of slots, 1 to 10000 (spec: Limits). */
  readonly slots: number;
  readonly partnerAuthId: AccountId;
  readonly customerAuthId: AccountId;
  /** Description, at most 500 characters. */
  readonly description: string;
}

/** One capacity transfer between a partner and its customer. The history is append-only. */
export interface CapacityTransfer extends TransferRequest {
  /** The partner's limit of the resource after the transfer. */
  readonly partnerRemaining: number;
  /** The customer's limit of the resource after the transfer. */
  readonly customerEffective: number;
  readonly createdUs: number;
}

/** Capacity that a partner has allocated to one customer, minus reclaimed capacity. */
export interface NetAllocation {
  readonly concurrentCalls: number;
  readonly cps: number;
}
