import type { Changes } from '../../base/changes.ts';
import type { AccountId, AppId, EndpointId, TrunkId } from '../../base/ids.ts';
import type { OwnerFilter, Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { LedgerEntry, NewEntry } from '../ledger/types.ts';
import type {
  Application,
  ApplicationPatch,
  CallerId,
  Carrier,
  CarrierPatch,
  CarrierPolicy,
  Endpoint,
  EndpointPatch,
  EndpointSecrets,
  IpAcl,
  IpAclPatch,
  OriginationUri,
  OriginationUriPatch,
  PeerPolicy,
  PhoneNumber,
  PhoneNumberPatch,
  Trunk,
  TrunkCredential,
  TrunkCredentialPatch,
  TrunkPatch,
} from './types.ts';

export interface ApplicationFilter extends OwnerFilter {
  readonly nameContains?: string | undefined;
}

export interface ApplicationStore {
  /** Assigns the next numeric ID. */
  insert(application: Omit<Application, 'appId'>): Promise<Application>;
  get(appId: AppId): Promise<Application | undefined>;
  list(filter: ApplicationFilter, slice: Slice): Promise<Page<Application>>;
  patch(
    accountId: AccountId,
    appId: AppId,
    patch: ApplicationPatch,
  ): Promise<Application | undefined>;
  /**
   * Deletes an application. With `rebind` undefined, bound numbers and endpoints refuse the deletion. Otherwise they
   * are bound to that application, or to none (`null`), in the same transaction.
   */
  remove(
    accountId: AccountId,
    appId: AppId,
    rebind: AppId | null | undefined,
  ): Promise<Result<void, 'unknown' | 'inUse'>>;
}

export interface EndpointFilter extends OwnerFilter {
  readonly usernameContains?: string | undefined;
  readonly usernameExact?: string | undefined;
  readonly usernameStartsWith?: string | undefined;
  readonly aliasContains?: string | undefined;
  readonly aliasExact?: string | undefined;
  readonly appId?: AppId | undefined;
  /** True selects endpoints without an application, false those with one. */
  readonly appIsNull?: boolean | undefined;
}

export interface EndpointStore {
  /**
   * Adds an endpoint. `requestedTaken`: the account already has that name. `storedTaken`: another endpoint registers
   * under it.
   */
  insert(
    endpoint: Omit<Endpoint, 'endpointId'>,
    secrets: EndpointSecrets,
  ): Promise<Result<Endpoint, 'requestedTaken' | 'storedTaken'>>;
  get(accountId: AccountId, endpointId: EndpointId): Promise<Endpoint | undefined>;
  byUsername(username: string): Promise<Endpoint | undefined>;
  list(filter: EndpointFilter, slice: Slice): Promise<Page<Endpoint>>;
  patch(
    accountId: AccountId,
    endpointId: EndpointId,
    patch: EndpointPatch,
    secrets: EndpointSecrets | undefined,
  ): Promise<Endpoint | undefined>;
  /** Deletes an endpoint and its bindings. */
  remove(accountId: AccountId, endpointId: EndpointId): Promise<boolean>;
}

export interface OriginationUriStore {
  insert(uri: OriginationUri): Promise<void>;
  get(accountId: AccountId, id: string): Promise<OriginationUri | undefined>;
  list(accountId: AccountId, slice: Slice): Promise<Page<OriginationUri>>;
  patch(
    accountId: AccountId,
    id: string,
    patch: OriginationUriPatch,
  ): Promise<OriginationUri | undefined>;
  remove(accountId: AccountId, id: string): Promise<Result<void, 'unknown' | 'inUse'>>;
}

export interface TrunkStore {
  insert(trunk: Trunk): Promise<void>;
  get(trunkId: TrunkId): Promise<Trunk | undefined>;
  list(accountId: AccountId, slice: Slice): Promise<Page<Trunk>>;
  /** `policy` changes the stored policy. */
  patch(
    accountId: AccountId,
    trunkId: TrunkId,
    patch: TrunkPatch,
    policy?: Changes<PeerPolicy>,
  ): Promise<Trunk | undefined>;
  remove(accountId: AccountId, trunkId: TrunkId): Promise<Result<void, 'unknown' | 'inUse'>>;
}

export interface TrunkCredentialStore {
  insert(credential: TrunkCredential, password: string): Promise<void>;
  get(accountId: AccountId, id: string): Promise<TrunkCredential | undefined>;
  passwordOf(id: string): Promise<string | undefined>;
  list(accountId: AccountId, slice: Slice): Promise<Page<TrunkCredential>>;
  patch(
    accountId: AccountId,
    id: string,
    patch: TrunkCredentialPatch,
    password: string | undefined,
  ): Promise<TrunkCredential | undefined>;
  remove(accountId: AccountId, id: string): Promise<Result<void, 'unknown' | 'inUse'>>;
}

export interface IpAclStore {
  insert(acl: IpAcl): Promise<void>;
  get(accountId: AccountId, id: string): Promise<IpAcl | undefined>;
  list(accountId: AccountId, slice: Slice): Promise<Page<IpAcl>>;
  patch(accountId: AccountId, id: string, patch: IpAclPatch): Promise<IpAcl | undefined>;
  remove(accountId: AccountId, id: string): Promise<Result<void, 'unknown' | 'inUse'>>;
}

export interface NumberFilter {
  /** Account that owns the numbers. Absent selects the operator's whole inventory. */
  readonly accountId?: AccountId | undefined;
  readonly status?: PhoneNumber['status'] | undefined;
  readonly country?: string | undefined;
  /** Digits that the number contains. */
  readonly search?: string | undefined;
}

export interface NumberStore {
  insert(number: PhoneNumber): Promise<Result<PhoneNumber, 'numberExists'>>;
  get(e164: string): Promise<PhoneNumber | undefined>;
  list(filter: NumberFilter, slice: Slice): Promise<Page<PhoneNumber>>;
  /** Changes a number of the account. Returns undefined if the account does not own the number. */
  patch(
    accountId: AccountId,
    e164: string,
    patch: PhoneNumberPatch,
  ): Promise<PhoneNumber | undefined>;
  remove(e164: string): Promise<Result<void, 'unknown' | 'inUse'>>;
  /**
   * Assigns an available number to the account and posts its fees in one transaction; they must be covered
   * (`canSpend`). `owned` is the resulting record. `unknownApplication`: its application is not one of the account.
   */
  purchase(
    owned: PhoneNumber,
    fees: readonly NewEntry[],
  ): Promise<
    Result<
      readonly LedgerEntry[],
      'notAvailable' | 'unknownApplication' | 'unknownBalance' | 'insufficientFunds'
    >
  >;
  /** Returns active and suspended numbers whose renewal is due at `nowUs`, the longest overdue first. */
  dueForRental(nowUs: number, limit: number): Promise<readonly PhoneNumber[]>;
  /**
   * Posts the fee, which must be covered (`canSpend`), advances `next_billing` and activates the number, in one
   * transaction. Idempotent by the entry's key. `changed`: the number has been released, sold or renewed since `number`
   * was read.
   */
  rent(
    number: PhoneNumber,
    fee: NewEntry | undefined,
    nextBillingUs: number,
  ): Promise<Result<void, 'unknownBalance' | 'insufficientFunds' | 'changed'>>;
  /** Suspends the number and retries its renewal at `retryUs`. Returns false if it has changed since `number` was read. */
  suspend(number: PhoneNumber, retryUs: number): Promise<boolean>;
  /**
   * Changes `pending_release` back to `active` or `suspended`. Returns undefined if the number is not the account's
   * or not in that state.
   */
  cancelRelease(accountId: AccountId, e164: string): Promise<PhoneNumber | undefined>;
  /** Returns numbers whose cooldown has ended to the inventory. Returns their count. */
  completeReleases(nowUs: number): Promise<number>;
}

export interface CarrierStore {
  insert(carrier: Carrier): Promise<Result<void, 'carrierExists'>>;
  /** `policy` changes the stored policy. */
  patch(
    name: string,
    patch: CarrierPatch,
    policy?: Changes<CarrierPolicy>,
  ): Promise<Carrier | undefined>;
  /** Deletes a carrier. Its numbers remain without a carrier. */
  remove(name: string): Promise<boolean>;
  get(name: string): Promise<Carrier | undefined>;
  listAll(): Promise<readonly Carrier[]>;
}

export interface CallerIdStore {
  add(callerId: CallerId): Promise<void>;
  remove(accountId: AccountId, e164: string): Promise<boolean>;
  list(accountId: AccountId): Promise<readonly CallerId[]>;
  /** Returns whether the number is a verified caller ID, or rented by the account. */
  owns(accountId: AccountId, e164: string): Promise<boolean>;
}
