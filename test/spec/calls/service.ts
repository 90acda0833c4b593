/**
 * The call side of the service, assembled like the real one on an in-memory store. Phones, carriers, media, bots and the
 * customer's web server are scripted.
 */

import { type AccountId, asCallUuid, type CallUuid } from '../../../src/base/ids.ts';
import { type Logger, silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { ok } from '../../../src/base/result.ts';
import { CallLogs } from '../../../src/domain/call/call.ts';
import type { CallerProofs } from '../../../src/domain/call/needs.ts';
import { createCallbackClient } from '../../../src/domain/callback/callback.ts';
import { NewCalls } from '../../../src/domain/capacity/capacity.ts';
import type { Cdr } from '../../../src/domain/cdr/types.ts';
import { createSignedLinks } from '../../../src/edge/rest/links.ts';
import { joinCalls } from '../../../src/service/join/calls.ts';
import type { Basics, Foundation } from '../../../src/service/join/foundation.ts';
import { derive } from '../../../src/service/settings.ts';
import { SipTraces } from '../../../src/service/sip-traces.ts';
import { addressesOf } from '../../addresses.ts';
import { FakeSignalling } from '../../domain/dispatch/fakes.ts';
import { pcm } from '../../domain/interpreter/listening-scene.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';
import { testFoundation, testSettings } from '../../foundation.ts';
import { NO_SPEECH } from '../../no-speech.ts';
import { settle } from '../../sim/clock.ts';
import { Bots, ListeningMedia } from './media.ts';
import { SITE, Site } from './site.ts';

export const HOST = 'registrar.test';
/** Number of the account, with an application attached. */
export const DID = '14155550100';
/** Number of a PSTN subscriber. */
export const FAR = '14155550199';
/** Prices in millionths of a dollar per started minute. */
export const PRICE = { outbound: 60_000, inbound: 30_000, sip: 6000, stream: 9000 };
export const REDIRECTS_PER_MINUTE = 10;

const ENVIRONMENT = {
  CARILLON_SIP_PUBLIC_HOST: HOST,
  CARILLON_PUBLIC_URL: 'https://media.test',
  CARILLON_STREAMS_ALLOW_INSECURE: 'no',
  CARILLON_CALLS_REDIRECTS_PER_MINUTE: String(REDIRECTS_PER_MINUTE),
  CARILLON_CALLS_HEARTBEAT_MS: '60000',
};
const MP3_BYTES = 1234;
const WAV_BYTES = 16_044;

export type CallService = Awaited<ReturnType<typeof openCallService>>;

export async function openCallService(environment: Readonly<Record<string, string>> = {}) {
  const opened = await openInMemory();
  const { store, clock, random } = opened;
  const errors: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (facts, text) => errors.push(`${text}: ${String(facts['error'])}`),
  };
  const settings = testSettings({ ...ENVIRONMENT, ...environment });
  const basics: Basics = {
    settings,
    lists: { rates: [], carriers: [] },
    dataDir: '',
    logger,
    clock,
    random,
  };
  const files = new Map<string, number>();
  const foundation = testFoundation(basics, store, {
    prices: PRICE,
    recordingFiles: folderOf(files),
    usernameSuffix: 'when-taken',
  });
  const edge = drawLines(basics, opened, files);
  const derived = derive(settings);
  const link = { publicUrl: derived.publicUrl, linkKey: 'test', recordingLinkMs: 900_000 };
  const links = createSignedLinks(link, clock);
  const calls = joinCalls(basics, foundation, edge.lines, derived, links, () => undefined);
  const customer = await provision(foundation);
  return {
    ...calls,
    ...edge,
    ...customer,
    ...readersOf({ calls, foundation, edge, accountId: customer.accountId, errors }),
    clock,
    files,
    links,
    accounts: foundation.accounts,
    provisioning: foundation.provisioning,
    ledger: foundation.ledger,
    close: async () => {
      calls.callBilling.stop();
      await edge.lines.callbacks.close(0);
      await store.close();
    },
  };
}

/** A fake folder that stores only file sizes. */
const folderOf = (files: Map<string, number>) => ({
  prepare: (file: string) => {
    if (file.endsWith('.wav')) files.set(file, WAV_BYTES);
    return Promise.resolve(file);
  },
  synced: (file: string) => Promise.resolve(files.get(file)),
  repairWav: () => Promise.resolve(undefined),
  remove: (file: string) => {
    files.delete(file);
    return Promise.resolve();
  },
});

/** Creates the scripted parts, and the real callback client with the scripted web server. */
function drawLines(
  { settings, logger, random }: Basics,
  { store, clock }: OpenedStore,
  files: Map<string, number>,
) {
  const site = new Site(clock);
  const media = new ListeningMedia(clock);
  const signalling = Object.assign(new FakeSignalling(() => clock.monotonicMs()), {
    addresses: addressesOf(HOST),
  });
  const bots = new Bots();
  const spoken: string[] = [];
  const logs = new CallLogs({ entries: 500, retentionMs: 86_400_000, calls: 1000 }, clock);
  const callbacks = createCallbackClient({
    http: site,
    tokens: store.signingTokens,
    notifications: store.notifications,
    clock,
    random,
    logger,
    settings: settings.webhooks,
    onAttempt: ({ subject }, attempt) =>
      logs.get(asCallUuid(subject))?.add('callback', attempt.event, { ...attempt }),
  });
  const encodeMp3 = (_wav: string, mp3: string) => {
    files.set(mp3, MP3_BYTES);
    return Promise.resolve(ok({ bytes: MP3_BYTES }));
  };
  const speech = {
    async *speak({ text }: { text: string }) {
      spoken.push(text);
      yield ok(pcm());
    },
  };
  const library = { load: () => Promise.resolve(ok(pcm())) };
  const audio = { library, encoder: { encodeMp3 } };
  const streams = bots;
  const traces = new SipTraces();
  const lines = {
    destinations: { judgeRtp: () => ({ kind: 'send' as const }) },
    callbacks,
    media: media.asMedia,
    signalling,
    newCalls: new NewCalls(clock),
    streams,
    logs,
    audio,
    speech,
    ...NO_SPEECH,
    traces,
    holdMusic: () => Promise.resolve(undefined),
    proofs: {} as { -readonly [Key in keyof CallerProofs]: CallerProofs[Key] },
  };
  return { site, media, signalling, bots, spoken, lines };
}

/** Creates an account with credit, an application, a number, and a carrier for all destinations. */
async function provision({ accounts, ledger, provisioning }: Foundation) {
  const created = await accounts.create({ name: 'Ada', cpsLimit: 100, concurrentCallsLimit: 100 });
  if (!created.ok) throw new Error(created.error.kind);
  const accountId = created.value.account.authId;
  const credit = { accountId, currency: 'USD', amount: micros(10_000_000), description: 'credit' };
  await ledger.adjust(credit);
  const { appId } = await provisioning.applications.create({
    accountId,
    name: 'app',
    answerUrl: `${SITE}/answer`,
    fallbackAnswerUrl: `${SITE}/fallback`,
    hangupUrl: `${SITE}/hangup`,
  });
  const owned = { country: 'US', currency: 'USD', accountId };
  await provisioning.numbers.add({ ...owned, e164: DID, applicationId: appId });
  await provisioning.carriers.create({ name: 'north', host: '192.0.2.10', priority: 1 });
  return { accountId, appId, owned };
}

/** Functions to inspect live calls, records, timelines, entries, and leftovers. */
function readersOf(of: {
  readonly calls: ReturnType<typeof joinCalls>;
  readonly foundation: Foundation;
  readonly edge: ReturnType<typeof drawLines>;
  readonly accountId: AccountId;
  readonly errors: readonly string[];
}) {
  const { calls, foundation, edge, accountId, errors } = of;
  const { store, ledger } = foundation;
  const cdrs = async (): Promise<readonly Cdr[]> => {
    await settle();
    const page = await store.cdrs.page({ accountId }, { limit: 100, offset: 0 });
    return page.items.map(({ cdr }) => cdr);
  };
  return {
    live: () => calls.callBilling.live(),
    cdrs,
    /** Returns the record of the only finished call, or of the given one. */
    cdr: async (callUuid?: CallUuid): Promise<Cdr> => {
      const found = (await cdrs()).filter((cdr) => (callUuid ?? cdr.callUuid) === cdr.callUuid);
      const [only, ...more] = found;
      if (only === undefined || more.length > 0) throw new Error(`${found.length} records`);
      return only;
    },
    /** Returns the timeline entries of one kind, each with text and facts in one line. */
    log: async (callUuid: CallUuid, kind: string): Promise<readonly string[]> => {
      const lines = await calls.control.callLog(accountId, callUuid);
      if (!lines.ok) throw new Error(lines.error.kind);
      return lines.value
        .filter((line) => line.kind === kind)
        .map(({ text, facts }) => `${text} ${JSON.stringify(facts)}`);
    },
    debits: async () =>
      (await ledger.list({ accountId }, 1, 100)).entries.filter(({ type }) => type === 'debit'),
    /** Returns resources that were not released and errors that were not expected. */
    leftovers: async () => {
      await settle();
      const balance = await ledger.balance(accountId, 'USD');
      return {
        ...edge.media.leftovers(),
        errors,
        live: calls.callBilling.live().length,
        running: await calls.admission.running(accountId),
        reserved: balance.ok ? balance.value.reservedFunds : undefined,
        openSockets: edge.bots.sockets.filter(({ isOver }) => !isOver).length,
        queuedNotifications: edge.lines.callbacks.queued(),
        faults: await store.verify(),
      };
    },
  };
}

export const NOTHING_LEFT = {
  errors: [],
  live: 0,
  running: 0,
  reserved: 0,
  openLegs: 0,
  openBridges: 0,
  openRooms: 0,
  takenSeats: 0,
  sounding: 0,
  recording: 0,
  openSockets: 0,
  queuedNotifications: 0,
  faults: [],
};
