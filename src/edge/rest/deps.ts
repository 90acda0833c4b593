import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { ObjectStore } from '../../base/object-store.ts';
import type { Accounts } from '../../domain/account/account.ts';
import type { SigningTokens } from '../../domain/callback/needs.ts';
import type { CampaignControl } from '../../domain/campaign/types.ts';
import type { CallRecords } from '../../domain/cdr/cdr.ts';
import type { CallControl } from '../../domain/dispatch/types.ts';
import type { Ledger } from '../../domain/ledger/ledger.ts';
import type { PhoneLogins } from '../../domain/phone-login/phone-login.ts';
import type { Provisioning } from '../../domain/provisioning/provisioning.ts';
import type { Recordings } from '../../domain/recording/recording.ts';
import type { Transcriptions } from '../../domain/transcription/transcription.ts';
import type { Users } from '../../domain/user/user.ts';
import type { LiveFeed } from './console/live-feed.ts';
import type { OperatorPages } from './http/operator-authentication.ts';
import type { TakeUpgrade } from './http/upgrades.ts';
import type { LiveCalls, Overhearing } from './live-calls.ts';
import type { Operations } from './operations.ts';

export interface RestSettings {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** PEM files; they are read again when they change. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string };
  /** Addresses or CIDR ranges of reverse proxies whose `X-Forwarded-For` is believed. */
  readonly trustProxy: readonly string[];
  readonly bodyLimitBytes: number;
  /** Requests per second and account; beyond: 429. */
  readonly requestsPerSecond: number;
  readonly operatorPages: OperatorPages;
  /** Connections of one address; trusted proxies may have as many as there may be. */
  readonly connectionsPerAddress: number;
  /** Requests without valid credentials per second, address and key; beyond: 429. */
  readonly refusedPerSecond: number;
  /** Base of links, for example `https://voice.example`; without a slash at the end. */
  readonly publicUrl: string;
  /** Host of `sip_uri`, and of trunk domains. */
  readonly registrarHost: string;
  readonly makeCallStatus: 200 | 201;
  /** Short endpoint and CDR shapes for strictly typed Vobiz clients. */
  readonly strictVobizSdk: boolean;
  readonly platformName: string;
  /** `any`: a default caller id may be any number. */
  readonly callerIdPolicy: 'owned' | 'any';
  /** Life of a signed recording link, seconds. */
  readonly recordingLinkMs: number;
  /** Largest contact list. */
  readonly uploadLimitBytes: number;
  /** Name and address on invoices, a line each. */
  readonly invoiceSeller: string;
  /** TrueType file for invoices; '' = that of the machine. */
  readonly invoiceFont: string;
  /** Key of signed links. */
  readonly linkKey: string;
  /** Absolute folders of the files behind recordings and exports. */
  readonly recordingsFolder: string;
  readonly exportsFolder: string;
}

/** Keeps documents that are tried out. */
export interface Drafts {
  /** The URL under which a call reads it. */
  keep(xml: string): string;
}

/** What the routes work with. */
export interface RouteNeeds {
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly provisioning: Provisioning;
  readonly callRecords: CallRecords;
  readonly recordings: Recordings;
  readonly transcriptions: Pick<Transcriptions, 'get'>;
  readonly signingTokens: SigningTokens;
  readonly phoneLogins: PhoneLogins;
  readonly users: Users;
  /** What changes in the console without being asked for. */
  readonly liveFeed: LiveFeed;
  /** Recordings that are not in their folder. */
  readonly recordingObjects?:
    | { readonly objects: ObjectStore; keyOf(file: string): string }
    | undefined;
  readonly drafts: Drafts;
  /** An export waits: wakes whoever works on them. */
  readonly onExportQueued: () => void;
  readonly control: CallControl;
  readonly campaigns: CampaignControl;
  readonly liveCalls: LiveCalls;
  readonly overhearing: Overhearing;
  readonly operations: Operations;
  readonly settings: RestSettings;
  readonly clock: Clock;
  readonly random: Random;
}

export interface RestDeps extends RouteNeeds {
  readonly logger: Logger;
  /** Constant-time check of the operator's token. */
  readonly isAdminToken: (token: string) => boolean;
  readonly isScrapeToken: (token: string) => boolean;
  /** Takes SIP over WebSocket at `/sip`. */
  readonly takeUpgrade: TakeUpgrade;
}
