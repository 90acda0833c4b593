/** The repositories of the store. Each is defined once, for both databases. */

import type {
  AccountStore,
  CredentialUseStore,
  IdempotencyStore,
  PartnerStore,
} from '../../domain/account/needs.ts';
import type { AlarmStore } from '../../domain/alarm/needs.ts';
import type {
  DeliveryStore,
  NotificationStore,
  SigningTokens,
} from '../../domain/callback/needs.ts';
import type { CampaignStore } from '../../domain/campaign/needs.ts';
import type { CallLogStore, CallStore, CdrStore, RetentionStore } from '../../domain/cdr/needs.ts';
import type { NodeStore } from '../../domain/cluster/needs.ts';
import type { LedgerStore, RateStore } from '../../domain/ledger/needs.ts';
import type { PhoneLoginStore } from '../../domain/phone-login/needs.ts';
import type { MentionStore } from '../../domain/privacy/needs.ts';
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
import type { Connection } from './connection.ts';
import {
  type AccessOf,
  type Definition,
  repository,
  type SettingStore,
  type Synchronously,
  type UnreadableRowStore,
} from './repositories.ts';
import {
  accountRepository,
  idempotencyRepository,
  partnerRepository,
  signingTokenRepository,
} from './sql/accounts.ts';
import { alarmRepository } from './sql/alarms.ts';
import { callRepository } from './sql/calls.ts';
import { campaignRepository } from './sql/campaigns.ts';
import { callLogRepository, cdrRepository, retentionRepository } from './sql/cdrs.ts';
import { credentialUseRepository, DELIVERY_ACCESS, deliveryRepository } from './sql/deliveries.ts';
import {
  applicationRepository,
  bindingRepository,
  endpointDirectoryRepository,
  endpointRepository,
} from './sql/endpoints.ts';
import { ledgerRepository, rateRepository } from './sql/ledger.ts';
import { mentionRepository } from './sql/mentions.ts';
import { nodeRepository } from './sql/nodes.ts';
import { notificationRepository } from './sql/notifications.ts';
import { callerIdRepository, carrierRepository, numberRepository } from './sql/numbers.ts';
import { phoneLoginRepository } from './sql/phone-logins.ts';
import { exportRepository, recordingRepository } from './sql/recordings.ts';
import { settingRepository } from './sql/settings.ts';
import { transcriptionRepository } from './sql/transcriptions.ts';
import {
  credentialRepository,
  ipAclRepository,
  originationUriRepository,
  trunkRepository,
} from './sql/trunks.ts';
import { unreadableRowRepository } from './sql/unreadable-rows.ts';
import { userRepository } from './sql/users.ts';

/** Operations of most repositories. */
const COMMON = {
  insert: 'write',
  get: 'point',
  list: 'report',
  patch: 'write',
  remove: 'write',
} as const;

const DEFINITIONS = {
  settings: repository<SettingStore>(settingRepository, {
    get: 'point',
    set: 'write',
    getOrSet: 'write',
    keepSecret: 'write',
    secret: 'point',
  }),
  accounts: repository<AccountStore>(accountRepository, {
    create: 'write',
    get: 'point',
    list: 'report',
    patch: 'write',
    removeSubAccount: 'write',
    credentials: 'point',
    addToken: 'write',
    addAccessToken: 'write',
    accessTokenOwner: 'point',
  }),
  partners: repository<PartnerStore>(partnerRepository, {
    transfer: 'write',
    netAllocation: 'point',
    history: 'report',
  }),
  idempotency: repository<IdempotencyStore>(idempotencyRepository, {
    purge: 'write',
    begin: 'write',
    finish: 'write',
    forget: 'write',
  }),
  signingTokens: repository<SigningTokens>(signingTokenRepository, { tokensOf: 'point' }),
  ledger: repository<LedgerStore>(ledgerRepository, {
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
  }),
  rates: repository<RateStore>(rateRepository, { put: 'write', remove: 'write', listAll: 'point' }),
  applications: repository<ApplicationStore>(applicationRepository, COMMON),
  endpoints: repository<EndpointStore>(endpointRepository, {
    ...COMMON,
    byUsername: 'point',
  }),
  endpointDirectory: repository<EndpointDirectory>(endpointDirectoryRepository, {
    byUsername: 'point',
  }),
  bindings: repository<BindingStore>(bindingRepository, {
    save: 'write',
    remove: 'write',
    listAll: 'point',
  }),
  phoneLogins: repository<PhoneLoginStore>(phoneLoginRepository, {
    get: 'point',
    add: 'write',
    revoke: 'write',
    live: 'point',
    purge: 'write',
  }),
  originationUris: repository<OriginationUriStore>(originationUriRepository, COMMON),
  trunks: repository<TrunkStore>(trunkRepository, COMMON),
  credentials: repository<TrunkCredentialStore>(credentialRepository, {
    ...COMMON,
    passwordOf: 'point',
  }),
  ipAcls: repository<IpAclStore>(ipAclRepository, COMMON),
  numbers: repository<NumberStore>(numberRepository, {
    ...COMMON,
    purchase: 'write',
    dueForRental: 'point',
    rent: 'write',
    suspend: 'write',
    cancelRelease: 'write',
    completeReleases: 'write',
  }),
  carriers: repository<CarrierStore>(carrierRepository, {
    insert: 'write',
    patch: 'write',
    remove: 'write',
    get: 'point',
    listAll: 'point',
  }),
  callerIds: repository<CallerIdStore>(callerIdRepository, {
    add: 'write',
    remove: 'write',
    list: 'report',
    owns: 'point',
  }),
  calls: repository<CallStore>(callRepository, {
    open: 'write',
    openAhead: 'ahead',
    extendReservation: 'write',
    update: 'write',
    heartbeat: 'soon',
    settle: 'soon',
    discard: 'soon',
    listOpen: 'point',
  }),
  cdrs: repository<CdrStore>(cdrRepository, {
    get: 'point',
    page: 'report',
    walk: 'report',
    summary: 'report',
    daily: 'report',
    search: 'report',
    hourly: 'report',
    averageMos: 'report',
  }),
  callLogs: repository<CallLogStore>(callLogRepository, { put: 'soon', read: 'report' }),
  retention: repository<RetentionStore>(retentionRepository, {
    purgeCalls: 'write',
    purgeLogs: 'write',
    eraseCalls: 'write',
  }),
  mentions: repository<MentionStore>(mentionRepository, { list: 'report', erase: 'write' }),
  notifications: repository<NotificationStore>(notificationRepository, {
    put: 'write',
    listPending: 'point',
    adopt: 'write',
    recordAttempt: 'soon',
    remove: 'soon',
    removeUntil: 'write',
  }),
  recordings: repository<RecordingStore>(recordingRepository, {
    insert: 'write',
    note: 'write',
    finish: 'write',
    get: 'point',
    page: 'report',
    walk: 'report',
    remove: 'write',
    unfinished: 'report',
    expired: 'report',
  }),
  transcriptions: repository<TranscriptionStore>(transcriptionRepository, {
    insert: 'write',
    finish: 'write',
    get: 'point',
    ofRecording: 'point',
    adopt: 'write',
  }),
  exports: repository<ExportStore>(exportRepository, {
    enqueue: 'write',
    patch: 'write',
    get: 'point',
    page: 'report',
    take: 'write',
  }),
  campaigns: repository<CampaignStore>(campaignRepository, {
    insertAgent: 'write',
    agent: 'point',
    agents: 'report',
    patchAgent: 'write',
    removeAgent: 'write',
    insert: 'write',
    get: 'point',
    // Ordered with the writes.
    current: 'write',
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
    contactsOf: 'report',
    eraseContacts: 'write',
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
  }),
  users: repository<UserStore>(userRepository, {
    ...COMMON,
    byEmail: 'point',
    changeRole: 'write',
    useTotpStep: 'write',
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
    purgeAudit: 'write',
  }),
  nodes: repository<NodeStore>(nodeRepository, {
    begin: 'write',
    beat: 'write',
    list: 'point',
    fence: 'write',
    leave: 'write',
    claim: 'write',
    release: 'write',
    holder: 'point',
  }),
  alarms: repository<AlarmStore>(alarmRepository, {
    put: 'write',
    active: 'point',
    ended: 'report',
    purge: 'write',
  }),
  deliveries: repository<DeliveryStore>(deliveryRepository, DELIVERY_ACCESS),
  credentialUses: repository<CredentialUseStore>(credentialUseRepository, {
    add: 'soon',
    get: 'point',
    purge: 'write',
  }),
  unreadableRows: repository<UnreadableRowStore>(unreadableRowRepository, {
    put: 'soon',
    page: 'report',
    remove: 'write',
  }),
};

type Names = keyof typeof DEFINITIONS;

/** All repositories of the store. */
export type Repositories = {
  readonly [Name in Names]: (typeof DEFINITIONS)[Name] extends Definition<infer Store>
    ? Store
    : never;
};

/** Applies `read` to each definition. `Mapped` must have one member for each repository. */
const mapped = <Mapped extends Readonly<Record<Names, unknown>>>(
  read: (definition: Definition<unknown>) => unknown,
): Mapped =>
  Object.fromEntries(
    Object.entries(DEFINITIONS).map(([name, definition]) => [
      name,
      read(definition as Definition<unknown>),
    ]),
  ) as unknown as Mapped;

/** Where each operation of each repository runs. */
export const ACCESS = mapped<{ readonly [Name in Names]: AccessOf<Repositories[Name]> }>(
  ({ access }) => access,
);

export type RepositorySet = {
  readonly [Name in Names]: Synchronously<Repositories[Name]>;
};

/** Creates all repositories on one connection, for any database. */
export const createRepositories = (db: Connection): RepositorySet =>
  mapped<RepositorySet>(({ create }) => create(db));
