import type { AccountId, AppId, EndpointId, TrunkId } from '../../base/ids.ts';
import type { Page, Slice } from '../../base/page.ts';
import type { Result } from '../../base/result.ts';
import type { LedgerEntry, NewEntry } from '../ledger/types.ts';
import type {
  Application,
  ApplicationPatch,
  CallerId,
  Carrier,
  CarrierPatch,
  Endpoint,
  EndpointPatch,
  EndpointSecrets,
  IpAcl,
  IpAclPatch,
  OriginationUri,
  OriginationUriPatch,
  PhoneNumber,
  PhoneNumberPatch,
  Trunk,
  TrunkCredential,
  TrunkCredentialPatch,
  TrunkPatch,
} from './types.ts';

export interface ApplicationFilter {
  readonly accountId: AccountId;
  readonly subAccount?: AccountId | undefined;
  readonly nameContains?: string | undefined;
}

export interface ApplicationStore {
  /** Gives the next numeric id. */
  insert(application: Omit<Application, 'appId'>): Promise<Application>;
  get(appId: AppId): Promise<Application | undefined>;
  list(filter: ApplicationFilter, slice: Slice): Promise<Page<Application>>;
  patch(
    accountId: AccountId,
    appId: AppId,
    patch: ApplicationPatch,
  ): Promise<Application | undefined>;
  /**
   * Numbers and endpoints bound to it: with `rebind` undefined they refuse the removal, else they are bound to that
   * application, or to none (`null`), in the same unit of work.
   */
  remove(
    accountId: AccountId,
    appId: AppId,
    rebind: AppId | null | undefined,
  ): Promise<Result<void, 'unknown' | 'inUse'>>;
}

export interface EndpointFilter {
  readonly accountId: AccountId;
  readonly subAccount?: AccountId | undefined;
  readonly usernameContains?: string | undefined;
  readonly usernameExact?: string | undefined;
  readonly usernameStartsWith?: string | undefined;
  readonly aliasContains?: string | undefined;
  readonly aliasExact?: string | undefined;
  readonly appId?: AppId | undefined;
  /** True: bound to no application; false: bound to one. */
  readonly appIsNull?: boolean | undefined;
}

export interface EndpointStore {
  /** `requestedTaken`: the account has that name already; `storedTaken`: another endpoint registers under it. */
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
  /** Its bindings go with it. */
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
  patch(accountId: AccountId, trunkId: TrunkId, patch: TrunkPatch): Promise<Trunk | undefined>;
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
  /** Numbers of this account; absent: the operator's whole inventory. */
  readonly accountId?: AccountId | undefined;
  readonly status?: PhoneNumber['status'] | undefined;
  readonly country?: string | undefined;
  /** Digits anywhere in the number. */
  readonly search?: string | undefined;
}

export interface NumberStore {
  insert(number: PhoneNumber): Promise<Result<PhoneNumber, 'numberExists'>>;
  get(e164: string): Promise<PhoneNumber | undefined>;
  list(filter: NumberFilter, slice: Slice): Promise<Page<PhoneNumber>>;
  patch(e164: string, patch: PhoneNumberPatch): Promise<PhoneNumber | undefined>;
  remove(e164: string): Promise<Result<void, 'unknown' | 'inUse'>>;
  /**
   * In one unit of work: still available → the account's, its fees posted and covered (`canSpend`).
   * `owned` is the record as it will be.
   */
  purchase(
    owned: PhoneNumber,
    fees: readonly NewEntry[],
  ): Promise<
    Result<readonly LedgerEntry[], 'notAvailable' | 'unknownBalance' | 'insufficientFunds'>
  >;
  /** Active and suspended numbers whose renewal is due at `nowUs`, the longest overdue first. */
  dueForRental(nowUs: number, limit: number): Promise<readonly PhoneNumber[]>;
  /**
   * Posts the fee, which must be covered (`canSpend`), moves `next_billing` on and makes the number active, in one unit of
   * work. Idempotent by the entry's key.
   */
  rent(
    e164: string,
    fee: NewEntry | undefined,
    nextBillingUs: number,
  ): Promise<Result<void, 'unknownBalance' | 'insufficientFunds'>>;
  /** The number is suspended from now on, or still; its renewal is retried at `retryUs`. */
  suspend(e164: string, retryUs: number): Promise<void>;
  /** `pending_release` → `active` or `suspended`, as it was before; undefined when it is not the account's or not in that state. */
  cancelRelease(accountId: AccountId, e164: string): Promise<PhoneNumber | undefined>;
  /** Puts numbers whose cooldown has ended back into the inventory. Returns how many. */
  completeReleases(nowUs: number): Promise<number>;
}

export interface CarrierStore {
  insert(carrier: Carrier): Promise<Result<void, 'carrierExists'>>;
  patch(name: string, patch: CarrierPatch): Promise<Carrier | undefined>;
  /** Numbers that came from it stay, and name no carrier any more. */
  remove(name: string): Promise<boolean>;
  get(name: string): Promise<Carrier | undefined>;
  listAll(): Promise<readonly Carrier[]>;
}

export interface CallerIdStore {
  add(callerId: CallerId): Promise<void>;
  remove(accountId: AccountId, e164: string): Promise<boolean>;
  list(accountId: AccountId): Promise<readonly CallerId[]>;
  /** A verified caller id, or a number that the account rents. */
  owns(accountId: AccountId, e164: string): Promise<boolean>;
}
