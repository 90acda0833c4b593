import type { Page, Slice } from '../../base/page.ts';
import type { AccountStore, IdempotencyStore, PartnerStore } from '../../domain/account/needs.ts';
import type { NotificationStore, SigningTokens } from '../../domain/callback/needs.ts';
import type { CampaignStore } from '../../domain/campaign/needs.ts';
import type { CallLogStore, CallStore, CdrStore, RetentionStore } from '../../domain/cdr/needs.ts';
import type { NodeStore } from '../../domain/cluster/needs.ts';
import type { LedgerStore, RateStore } from '../../domain/ledger/needs.ts';
import type { PhoneLoginStore } from '../../domain/phone-login/needs.ts';
import type {
  ApplicationStore,
  CallerIdStore,
  CarrierStore,
  EndpointStore,
  IpAclStore,
  NumberStore,
  OriginationUriStore,
  TrunkCredentialStore,
  TrunkStore,
} from '../../domain/provisioning/needs.ts';
import type { ExportStore, RecordingStore } from '../../domain/recording/needs.ts';
import type { BindingStore, EndpointDirectory } from '../../domain/registration/needs.ts';
import type { TranscriptionStore } from '../../domain/transcription/needs.ts';
import type { UserStore } from '../../domain/user/needs.ts';
import type { UnreadableRow } from './unreadable.ts';

/** Internal facts of the service: the digest realm, and hashes and keys created at the first start. */
export interface SettingStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  /** Returns the stored value, or stores and returns `value`. The first caller determines the value. */
  getOrSet(key: string, value: string): Promise<string>;
  /** Like `getOrSet`, for a value that is encrypted with the key file. */
  keepSecret(key: string, value: string): Promise<string>;
  /** Returns a value stored with `keepSecret`. */
  secret(key: string): Promise<string | undefined>;
}

/** Records of rows that could not be read, for the operator. */
export interface UnreadableRowStore {
  /** Adds records. Existing records stay unchanged. */
  put(rows: readonly UnreadableRow[]): Promise<void>;
  /** Lists records, latest first. `foundUs`: microseconds UTC. */
  page(slice: Slice): Promise<Page<UnreadableRow & { readonly foundUs: number }>>;
  /**
   * Removes a record; returns false if it does not exist. The row itself stays, except for an open call: it is removed and its
   * reservations are released.
   */
  remove(table: string, key: string): Promise<boolean>;
}

/** All repositories of the store. */
export interface Repositories {
  readonly settings: SettingStore;
  readonly accounts: AccountStore;
  readonly partners: PartnerStore;
  readonly idempotency: IdempotencyStore;
  readonly signingTokens: SigningTokens;
  readonly ledger: LedgerStore;
  readonly rates: RateStore;
  readonly applications: ApplicationStore;
  readonly endpoints: EndpointStore;
  readonly endpointDirectory: EndpointDirectory;
  readonly bindings: BindingStore;
  readonly phoneLogins: PhoneLoginStore;
  readonly originationUris: OriginationUriStore;
  readonly trunks: TrunkStore;
  readonly credentials: TrunkCredentialStore;
  readonly ipAcls: IpAclStore;
  readonly numbers: NumberStore;
  readonly carriers: CarrierStore;
  readonly callerIds: CallerIdStore;
  readonly calls: CallStore;
  readonly cdrs: CdrStore;
  readonly callLogs: CallLogStore;
  readonly retention: RetentionStore;
  readonly notifications: NotificationStore;
  readonly recordings: RecordingStore;
  readonly transcriptions: TranscriptionStore;
  readonly exports: ExportStore;
  readonly campaigns: CampaignStore;
  readonly users: UserStore;
  readonly nodes: NodeStore;
  readonly unreadableRows: UnreadableRowStore;
}

/**
 * Where an operation runs. `write`: on the writing connection, in a grouped transaction. `soon`: like `write`, but deferred
 * because no caller waits; committed with the next transaction or a short delay later. `ahead`: like `write`, but answered
 * before its commit, and committed before any later unit; falls back to `write`. `point`: a short read on the writing
 * connection, so that it does not wait for reports. `report`: a read on a separate read-only connection.
 */
export type Access = 'write' | 'soon' | 'ahead' | 'point' | 'report';

export const ACCESS: {
  readonly [R in keyof Repositories]: { readonly [V in keyof Repositories[R]]: Access };
} = {
  settings: { get: 'point', set: 'write', getOrSet: 'write', keepSecret: 'write', secret: 'point' },
  accounts: {
    create: 'write',
    get: 'point',
    list: 'report',
    patch: 'write',
    removeSubAccount: 'write',
    credentials: 'point',
    addToken: 'write',
    addAccessToken: 'write',
    accessTokenOwner: 'point',
  },
  partners: { transfer: 'write', netAllocation: 'point', history: 'report' },
  idempotency: { begin: 'write', finish: 'write', forget: 'write' },
  signingTokens: { tokensOf: 'point' },
  ledger: {
    openBalance: 'write',
    balance: 'point',
    balances: 'point',
    patchBalance: 'write',
    lowBalanceAlerts: 'point',
    lowBalanceTold: 'write',
    post: 'write',
    postPending: 'write',
    completePending: 'write',
    reserve: 'write',
    extend: 'write',
    release: 'write',
    chargeUse: 'write',
    page: 'report',
    summary: 'report',
    walk: 'report',
    daily: 'report',
    referenceTypes: 'report',
    verify: 'report',
  },
  rates: { put: 'write', remove: 'write', listAll: 'point' },
  applications: { insert: 'write', get: 'point', list: 'report', patch: 'write', remove: 'write' },
  endpoints: {
    insert: 'write',
    get: 'point',
    byUsername: 'point',
    list: 'report',
    patch: 'write',
    remove: 'write',
  },
  endpointDirectory: { byUsername: 'point' },
  bindings: { save: 'write', remove: 'write', listAll: 'point' },
  phoneLogins: { get: 'point', add: 'write', revoke: 'write', live: 'point', purge: 'write' },
  originationUris: {
    insert: 'write',
    get: 'point',
    list: 'report',
    patch: 'write',
    remove: 'write',
  },
  trunks: { insert: 'write', get: 'point', list: 'report', patch: 'write', remove: 'write' },
  credentials: {
    insert: 'write',
    get: 'point',
    passwordOf: 'point',
    list: 'report',
    patch: 'write',
    remove: 'write',
  },
  ipAcls: { insert: 'write', get: 'point', list: 'report', patch: 'write', remove: 'write' },
  numbers: {
    insert: 'write',
    get: 'point',
    list: 'report',
    patch: 'write',
    remove: 'write',
    purchase: 'write',
    dueForRental: 'point',
    rent: 'write',
    suspend: 'write',
    cancelRelease: 'write',
    completeReleases: 'write',
  },
  carriers: { insert: 'write', patch: 'write', remove: 'write', get: 'point', listAll: 'point' },
  callerIds: { add: 'write', remove: 'write', list: 'report', owns: 'point' },
  calls: {
    open: 'write',
    openAhead: 'ahead',
    extendReservation: 'write',
    update: 'write',
    heartbeat: 'soon',
    settle: 'soon',
    discard: 'soon',
    listOpen: 'point',
  },
  cdrs: {
    get: 'point',
    page: 'report',
    walk: 'report',
    summary: 'report',
    daily: 'report',
    search: 'report',
    hourly: 'report',
    averageMos: 'report',
  },
  callLogs: { put: 'soon', read: 'report' },
  retention: { purgeCalls: 'write', purgeLogs: 'write' },
  notifications: {
    put: 'write',
    listPending: 'point',
    adopt: 'write',
    recordAttempt: 'soon',
    remove: 'soon',
    removeUntil: 'write',
  },
  recordings: {
    insert: 'write',
    finish: 'write',
    get: 'point',
    page: 'report',
    walk: 'report',
    remove: 'write',
    unfinished: 'report',
    expired: 'report',
  },
  transcriptions: {
    insert: 'write',
    finish: 'write',
    get: 'point',
    ofRecording: 'point',
    adopt: 'write',
  },
  exports: { enqueue: 'write', patch: 'write', get: 'point', page: 'report', take: 'write' },
  campaigns: {
    insertAgent: 'write',
    agent: 'point',
    agents: 'report',
    patchAgent: 'write',
    removeAgent: 'write',
    insert: 'write',
    get: 'point',
    page: 'report',
    unfinished: 'point',
    change: 'write',
    beginList: 'write',
    addRows: 'write',
    finishList: 'write',
    clearList: 'write',
    strayLists: 'point',
    badRows: 'report',
    contacts: 'report',
    results: 'report',
    attempts: 'report',
    attempt: 'point',
    addNumbers: 'write',
    numbers: 'point',
    updateNumber: 'write',
    removeNumber: 'write',
    addDoNotCall: 'write',
    removeDoNotCall: 'write',
    doNotCall: 'report',
    overBefore: 'point',
    erase: 'write',
    purgeDoNotCall: 'write',
    dueZones: 'point',
    due: 'point',
    failUnreadable: 'write',
    waiting: 'point',
    contact: 'point',
    begin: 'write',
    finish: 'write',
    decide: 'write',
    openAttempts: 'point',
  },
  users: {
    insert: 'write',
    get: 'point',
    byEmail: 'point',
    list: 'report',
    patch: 'write',
    remove: 'write',
    putInvitation: 'write',
    takeInvitation: 'write',
    invitation: 'point',
    invitations: 'report',
    putSession: 'write',
    session: 'point',
    sessionsOf: 'point',
    sessionSeen: 'soon',
    removeSession: 'write',
    removeSessions: 'write',
    addAudit: 'soon',
    audit: 'report',
    purge: 'write',
  },
  nodes: {
    begin: 'write',
    beat: 'write',
    list: 'point',
    fence: 'write',
    leave: 'write',
    claim: 'write',
    holder: 'point',
  },
  unreadableRows: { put: 'soon', page: 'report', remove: 'write' },
};

/** The same operations without promises, as implemented on one connection. */
export type Synchronously<T> = {
  readonly [Key in keyof T]: T[Key] extends (...given: infer Given) => Promise<infer Value>
    ? (...given: Given) => Value
    : never;
};
