import type { Clock } from '../../base/clock.ts';
import type { AccountId, AppId, Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { ObjectStore } from '../../base/object-store.ts';
import type { Result } from '../../base/result.ts';
import type { Accounts } from '../../domain/account/account.ts';
import type { Deliveries } from '../../domain/callback/callback.ts';
import type { SigningTokens } from '../../domain/callback/needs.ts';
import type { CampaignControl } from '../../domain/campaign/types.ts';
import type { CallRecords } from '../../domain/cdr/cdr.ts';
import type { CallControl } from '../../domain/dispatch/types.ts';
import type { Ledger } from '../../domain/ledger/ledger.ts';
import type { PhoneLogins } from '../../domain/phone-login/phone-login.ts';
import type { PersonalData } from '../../domain/privacy/privacy.ts';
import type { Provisioning } from '../../domain/provisioning/provisioning.ts';
import type { Recordings } from '../../domain/recording/recording.ts';
import type { Transcriptions } from '../../domain/transcription/transcription.ts';
import type { Users } from '../../domain/user/user.ts';
import type { LiveFeed } from './console/live-feed.ts';
import type { CredentialUses } from './http/credential-uses.ts';
import type { OperatorPages } from './http/operator-authentication.ts';
import type { TakeUpgrade } from './http/upgrades.ts';
import type { CallListeningAccess, LiveCalls } from './live-calls.ts';
import type { Operations } from './operations.ts';

export interface RestSettings {
  readonly host: string;
  /** Port to listen on. 0 selects a free port. */
  readonly port: number;
  /** Paths of PEM files, which are reloaded when they change. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  /** Addresses or CIDR ranges of reverse proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy: readonly string[];
  readonly bodyLimitBytes: number;
  /** Maximum number of requests per second and account; beyond it, 429. */
  readonly requestsPerSecond: number;
  readonly operatorPages: OperatorPages;
  /** Maximum number of connections per address. Trusted proxies are limited only by the total. */
  readonly connectionsPerAddress: number;
  /** Maximum number of requests without valid credentials per second, address and key; beyond it, 429. */
  readonly refusedPerSecond: number;
  /** Base URL of links, for example `https://voice.example`, without a trailing slash. */
  readonly publicUrl: string;
  /** Host in `sip_uri` and in trunk domains. */
  readonly registrarHost: string;
  readonly makeCallStatus: 200 | 201;
  /** Whether endpoint and CDR replies use the short shapes for strictly typed Vobiz clients. */
  readonly strictVobizSdk: boolean;
  readonly platformName: string;
  /** Allowed default caller IDs. `any`: any number. */
  readonly callerIdPolicy: 'owned' | 'any';
  /** Lifetime of a signed recording link, milliseconds. */
  readonly recordingLinkMs: number;
  /** Maximum size of a contact list, bytes. */
  readonly uploadLimitBytes: number;
  /** Name and address on invoices, one line each. */
  readonly invoiceSeller: string;
  /** Path of the TrueType font for invoices. Empty: a font installed on the machine. */
  readonly invoiceFont: string;
  /** Key that signs links. */
  readonly linkKey: string;
  /** Absolute paths of the folders for recordings and exports. */
  readonly recordingsFolder: string;
  readonly exportsFolder: string;
}

export interface StreamTestRequest {
  readonly url: string;
  readonly seconds: number;
  readonly encoding: 'audio/x-l16' | 'audio/x-mulaw';
  readonly rate: 8000 | 16_000;
}

export interface StreamTestReport {
  /** Sentences. Empty: no fault was found. */
  readonly faults: readonly string[];
  readonly observations: readonly { readonly name: string; readonly value: string }[];
  /** Progress of the test. */
  readonly log: readonly string[];
}

/** Tests bots without a call. `busy`: a test of the account is running, or the node has too many. */
interface StreamTestAccess {
  run(accountId: AccountId, request: StreamTestRequest): Promise<Result<StreamTestReport, 'busy'>>;
}

/** Agents of applications. */
interface AgentAccess {
  /** Whether the applications of the account may be agents. */
  isAllowed(accountId: AccountId): boolean;
  /** Checks a definition, an object or YAML. Returns its JSON, or a fault per field such as `model.url`. */
  read(definition: unknown): Result<string, Readonly<Record<string, string>>>;
  /** New address of the agent of an application. */
  urlOf(appId: AppId): string;
}

/** Dependencies of the routes. */
export interface RouteNeeds {
  readonly logger: Logger;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly provisioning: Provisioning;
  readonly callRecords: CallRecords;
  readonly recordings: Recordings;
  readonly transcriptions: Pick<Transcriptions, 'get' | 'ofRecording'>;
  readonly signingTokens: SigningTokens;
  readonly phoneLogins: PhoneLogins;
  readonly users: Users;
  readonly personalData: PersonalData;
  /** Live updates of the console. */
  readonly liveFeed: LiveFeed;
  /** Object storage of recordings that are not in their folder. */
  readonly recordingObjects?:
    | { readonly objects: ObjectStore; keyOf(file: string): string }
    | undefined;
  readonly credentialUses: Pick<CredentialUses, 'lastOf'>;
  /** Latest requests to customers' URLs. */
  readonly deliveries: Pick<Deliveries, 'list' | 'get' | 'summary' | 'replay' | 'test'>;
  readonly streamTests: StreamTestAccess;
  readonly agents: AgentAccess;
  /** Called when an export is queued, to wake the export worker. */
  readonly onExportQueued: () => void;
  readonly control: CallControl;
  readonly campaigns: CampaignControl;
  readonly liveCalls: LiveCalls;
  readonly callListening: CallListeningAccess;
  readonly operations: Operations;
  readonly settings: RestSettings;
  readonly clock: Clock;
  readonly random: Random;
}

export interface RestDeps extends RouteNeeds {
  readonly credentialUses: Pick<CredentialUses, 'lastOf' | 'used'>;
  /** Compares the operator's token in constant time. */
  readonly isAdminToken: (token: string) => boolean;
  readonly isScrapeToken: (token: string) => boolean;
  /** Handles WebSocket upgrades for SIP at `/sip`. */
  readonly takeUpgrade: TakeUpgrade;
}
