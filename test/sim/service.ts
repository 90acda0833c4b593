/** The service of a simulated world, wired as the real one, with edges driven by the clock. */

import { assert } from '../../src/base/errors.ts';
import { type AccountId, type AppId, asCallUuid, type CallUuid } from '../../src/base/ids.ts';
import type { Micros } from '../../src/base/money.ts';
import { err } from '../../src/base/result.ts';
import { type CallLog, CallLogs } from '../../src/domain/call/call.ts';
import { type CallbackClient, createCallbackClient } from '../../src/domain/callback/callback.ts';
import type { HttpCaller } from '../../src/domain/callback/needs.ts';
import type { CampaignControl } from '../../src/domain/campaign/types.ts';
import { NewCalls, OwnSlots } from '../../src/domain/capacity/capacity.ts';
import { recoverOpenCalls } from '../../src/domain/cdr/cdr.ts';
import { CallRecorder } from '../../src/domain/interpreter/interpreter.ts';
import type { Ledger } from '../../src/domain/ledger/ledger.ts';
import type { Provisioning } from '../../src/domain/provisioning/provisioning.ts';
import { createDestinationGuard } from '../../src/edge/egress/egress.ts';
import type { MediaEngine } from '../../src/edge/media/engine.ts';
import { createSignedLinks } from '../../src/edge/rest/links.ts';
import type { Store } from '../../src/edge/store/store.ts';
import { type Calls, joinCalls } from '../../src/service/join/calls.ts';
import { joinCampaigns } from '../../src/service/join/campaigns.ts';
import type { Basics, Foundation } from '../../src/service/join/foundation.ts';
import { derive } from '../../src/service/settings.ts';
import { SipTraces } from '../../src/service/sip-traces.ts';
import { testFoundation, testSettings } from '../foundation.ts';
import { NO_SPEECH, NO_TRANSCRIPTIONS } from '../no-speech.ts';
import type { SimClock } from './clock.ts';
import type { Customer } from './customer.ts';
import type { SimDisk } from './disk.ts';
import type { LogListener } from './log-listener.ts';
import type { SimRandom } from './random.ts';
import type { SimSignalling } from './signalling.ts';
import { HOLD_MUSIC, simAudio, simEncoder, simFolder, simSpeech } from './sounds.ts';
import type { SimStreams } from './streams.ts';

const HOST = 'registrar.test';
/** Caller ID of the customer's outbound calls. */
export const OWN_NUMBER = '14155550100';
export const CARRIER = 'acme';
/** Prices in millionths of a dollar per started minute. */
export const PRICE = { sip: 6000, stream: 3000, outbound: 20_000, inbound: 4000, recording: 600 };
export const MEDIA_TIMEOUT_MS = 15_000;
export const RING_TIMEOUT_MS = 30_000;
export const REDIRECTS_PER_MINUTE = 10;

/** Settings of an operator. */
const ENVIRONMENT = {
  CARILLON_SIP_PUBLIC_HOST: HOST,
  CARILLON_PUBLIC_URL: 'https://media.test',
  CARILLON_RTP_MEDIA_TIMEOUT_MS: String(MEDIA_TIMEOUT_MS),
  CARILLON_CALLS_RING_TIMEOUT_MS: String(RING_TIMEOUT_MS),
  CARILLON_CALLS_REDIRECTS_PER_MINUTE: String(REDIRECTS_PER_MINUTE),
  CARILLON_ENDPOINTS_CALLS_PER_MINUTE: '1000',
};

/** Parsed once, because all worlds of a process have the same settings. */
const settings = testSettings(ENVIRONMENT);

/** Records which calls existed, so that the record of each can be checked. */
class KnownCallLogs extends CallLogs {
  readonly all: CallLog[] = [];

  override open(callUuid: CallUuid, accountId: AccountId): CallLog {
    const log = super.open(callUuid, accountId);
    this.all.push(log);
    return log;
  }
}

export interface NewCustomer {
  readonly name: string;
  readonly concurrentCallsLimit: number;
  readonly cpsLimit: number;
  readonly credit: Micros;
  readonly answerUrl: string;
  readonly fallbackAnswerUrl: string;
  readonly hangupUrl: string;
}

export interface SimService extends Calls {
  /** Slots of the account's calls. */
  readonly slots: OwnSlots;
  readonly campaigns: CampaignControl;
  readonly logs: KnownCallLogs;
  readonly ledger: Ledger;
  readonly callbacks: CallbackClient;
  readonly provisioning: Provisioning;
  /** Application of every endpoint. */
  readonly appId: AppId;
  /** The only customer. */
  readonly accountId: AccountId;
  /** `kill -9`: cuts the process off from disk and customer. */
  die(): void;
  /** Creates an endpoint with the customer's application. Returns its user name. */
  endpoint(name: string): Promise<string>;
}

/** Environment of the service, driven by the clock. */
export interface Edges {
  readonly clock: SimClock;
  readonly random: SimRandom;
  readonly listener: LogListener;
  readonly signalling: SimSignalling;
  readonly customer: Customer;
  readonly streams: SimStreams;
  readonly media: MediaEngine;
  readonly disk: SimDisk;
  readonly store: Store;
  /** Folder of recordings. */
  readonly folder: string;
  /** Adds a line to the story that a failure shows. */
  notify(line: string): void;
}

export async function buildService(world: Edges, customer: NewCustomer): Promise<SimService> {
  const basics: Basics = {
    settings,
    lists: { rates: [], carriers: [] },
    dataDir: world.folder,
    logger: world.listener.logger(),
    clock: world.clock,
    random: world.random.fork(),
  };
  const foundation = foundationOf(basics, world, world.store);
  const logs = new KnownCallLogs(
    { entries: 500, retentionMs: 86_400_000, calls: 10_000 },
    world.clock,
  );
  const line = world.customer.line();
  const callbacks = callbacksOf(basics, world.store, line, logs);
  const { media, signalling, streams, clock } = world;
  const audio = { library: simAudio(clock), encoder: simEncoder };
  const traces = new SipTraces();
  const speech = simSpeech(clock);
  const destinations = createDestinationGuard({
    allow: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
    allowLoopback: false,
    own: { isAddress: () => false, isListening: () => false, isRtpRange: () => false },
  });
  const slots = new OwnSlots(clock);
  const lines = {
    slots,
    newCalls: new NewCalls(clock),
    callbacks,
    media,
    signalling,
    destinations,
    streams,
    logs,
    audio,
    speech,
    traces,
    ...NO_SPEECH,
    holdMusic: () => Promise.resolve(HOLD_MUSIC),
  };
  const derived = derive(settings);
  const calls = joinCalls(basics, foundation, lines, derived, linksOf(clock), (cdr) =>
    world.notify(`settled: ${cdr.hangupCauseName}, ${cdr.cost} + ${cdr.streamingCost}`),
  );
  signalling.onInbound((leg) => calls.inbound.accept(leg));
  const { paced, admission } = calls;
  const onFree = (act: () => void): void => admission.onFree(act);
  const { campaigns } = joinCampaigns(basics, foundation, { paced, onFree, callbacks });
  const { accountId, appId } = await provision(foundation, world, customer);
  return {
    ...calls,
    slots,
    campaigns,
    logs,
    ledger: foundation.ledger,
    callbacks,
    provisioning: foundation.provisioning,
    appId,
    accountId,
    die() {
      line.cut();
      world.disk.die();
    },
    async endpoint(name) {
      const password = `the password of ${name}`;
      world.listener.guard(password);
      const { endpoints } = foundation.provisioning;
      const wanted = { accountId, username: name, alias: name, password, appId };
      const created = await endpoints.create(wanted);
      assert(created.ok, 'the endpoint is created');
      return created.value.username;
    },
  };
}

const foundationOf = (basics: Basics, { folder }: Edges, store: Store): Foundation =>
  testFoundation(basics, store, { prices: PRICE, recordingFiles: simFolder(folder) });

const callbacksOf = (
  { logger, clock, random }: Pick<Basics, 'logger' | 'clock' | 'random'>,
  store: Store,
  http: HttpCaller,
  logs: CallLogs,
): CallbackClient =>
  createCallbackClient({
    http,
    tokens: store.signingTokens,
    notifications: store.notifications,
    clock,
    random,
    logger,
    settings: settings.webhooks,
    onAttempt: ({ subject }, attempt) =>
      logs.get(asCallUuid(subject))?.add('callback', attempt.event, { ...attempt }),
  });

const linksOf = (clock: SimClock) =>
  createSignedLinks(
    { publicUrl: derive(settings).publicUrl, linkKey: 'sim', recordingLinkMs: 900_000 },
    clock,
  );

/**
 * Runs the start-up of the next process: closes the calls and recordings that the last one left open, and sends pending
 * notifications.
 */
export async function restart(world: Edges, service: SimService): Promise<CallbackClient> {
  const { disk, listener, clock, random } = world;
  service.die();
  const logger = listener.logger();
  const store = disk.rescued;
  await recoverOpenCalls(store.calls, logger);
  const basics: Basics = {
    settings,
    lists: { rates: [], carriers: [] },
    dataDir: world.folder,
    logger,
    clock,
    random,
  };
  const foundation = foundationOf(basics, world, store);
  const { recordings, recordingFiles, ledger } = foundation;
  const callbacks = callbacksOf(basics, store, world.customer.line(), service.logs);
  // It handles existing calls and places none.
  const paced = {
    place: () => Promise.resolve(err({ kind: 'unavailable' } as const)),
    mayPresent: () => Promise.resolve(true),
    canAfford: () => Promise.resolve(true),
  };
  const { dialer } = joinCampaigns(basics, foundation, {
    paced,
    callbacks,
    onFree: () => undefined,
  });
  await dialer.resumeAll();
  dialer.stop();
  const interrupted = await recordings.interrupted();
  await callbacks.resume();
  const recorder = new CallRecorder({
    recordings,
    ledger,
    callbacks,
    transcriptions: NO_TRANSCRIPTIONS,
    clock,
    logger,
    encoder: simEncoder,
    folder: recordingFiles,
    linkTo: (recording) => linksOf(clock).toRecording(recording),
    hangupReported: () => Promise.resolve(),
  });
  recorder.recover(interrupted);
  return callbacks;
}

async function provision(
  { accounts, ledger, provisioning }: Foundation,
  { listener }: Edges,
  { credit, answerUrl, fallbackAnswerUrl, hangupUrl, ...account }: NewCustomer,
): Promise<{ readonly accountId: AccountId; readonly appId: AppId }> {
  const created = await accounts.create({ ...account, currency: 'USD' });
  assert(created.ok, 'the account is created');
  const accountId = created.value.account.authId;
  listener.guard(created.value.authToken);
  await ledger.adjust({ accountId, currency: 'USD', amount: credit, description: 'credit' });
  const urls = { answerUrl, fallbackAnswerUrl, hangupUrl };
  const { appId } = await provisioning.applications.create({ accountId, name: 'sim', ...urls });
  await provisioning.callerIds.verify(accountId, OWN_NUMBER);
  const password = 'the password of the carrier';
  listener.guard(password);
  const auth = { username: 'us', password, register: false };
  const carrier = await provisioning.carriers.create({ name: CARRIER, host: 'c.test', auth });
  assert(carrier.ok, 'the carrier is created');
  return { accountId, appId };
}
