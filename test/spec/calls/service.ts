/**
 * The call side of the whole service, joined as the real one is, over a real store in memory. Phones, carriers, media,
 * bots and the customer's web server are scripted.
 */
import { fileURLToPath } from 'node:url';
import { type Logger, silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { ok } from '../../../src/base/result.ts';
import { loadSettings } from '../../../src/config/load.ts';
import { Accounts } from '../../../src/domain/account/account.ts';
import { type Call, CallLogs } from '../../../src/domain/call/call.ts';
import type {
  AudioStreams,
  MediaLeg,
  RoomEvents,
  StreamSocketEvents,
  StreamSocketOptions,
} from '../../../src/domain/call/needs.ts';
import { createCallbackClient } from '../../../src/domain/callback/callback.ts';
import { CallRecords } from '../../../src/domain/cdr/cdr.ts';
import type { Cdr } from '../../../src/domain/cdr/types.ts';
import { Ledger, RateBook } from '../../../src/domain/ledger/ledger.ts';
import type { Rate } from '../../../src/domain/ledger/types.ts';
import { createProvisioning } from '../../../src/domain/provisioning/provisioning.ts';
import { Recordings } from '../../../src/domain/recording/recording.ts';
import { createSignedLinks } from '../../../src/edge/rest/links.ts';
import { joinCalls } from '../../../src/service/join/calls.ts';
import type { Foundation } from '../../../src/service/join/foundation.ts';
import type { Lines } from '../../../src/service/join/lines.ts';
import { derive } from '../../../src/service/settings.ts';
import { FakeSignalling } from '../../domain/dispatch/fakes.ts';
import { ListeningLeg, pcm, ScriptedRecording } from '../../domain/interpreter/listening-scene.ts';
import { FakeMedia, FakeRoom } from '../../domain/interpreter/scene.ts';
import { openInMemory } from '../../edge/store/open.ts';
import { settle } from '../../sim/clock.ts';
import { SITE, Site } from './site.ts';

export const HOST = 'registrar.test';
/** The account's own number, with the application behind it. */
export const DID = '14155550100';
/** Somebody in the telephone network. */
export const FAR = '14155550199';
/** Millionths of a dollar per minute begun. */
export const PRICE = { outbound: 60_000, inbound: 30_000, sip: 6000, stream: 9000 };
export const REDIRECTS_PER_MINUTE = 10;
export const MP3_BYTES = 1234;

const DEFAULTS = fileURLToPath(new URL('../../../config/default.json', import.meta.url));
const ENVIRONMENT = {
  CARILLON_SIP_PUBLIC_HOST: HOST,
  CARILLON_PUBLIC_URL: 'https://media.test',
  CARILLON_STREAMS_ALLOW_INSECURE: 'no',
  CARILLON_CALLS_REDIRECTS_PER_MINUTE: String(REDIRECTS_PER_MINUTE),
  CARILLON_CALLS_HEARTBEAT_MS: '60000',
};

/** One socket to a bot. */
export interface BotSocket {
  readonly options: StreamSocketOptions;
  readonly events: StreamSocketEvents;
  closedWith: string | undefined;
  isOver: boolean;
}

class Bots implements AudioStreams {
  readonly sockets: BotSocket[] = [];

  get last(): BotSocket {
    const last = this.sockets.at(-1);
    if (last === undefined) throw new Error('no bot was called');
    return last;
  }

  open(options: StreamSocketOptions, _leg: MediaLeg, events: StreamSocketEvents) {
    const ended: StreamSocketEvents['ended'] = (end) => {
      socket.isOver = true;
      events.ended(end);
    };
    const socket: BotSocket = {
      options,
      events: { ...events, ended },
      closedWith: undefined,
      isOver: false,
    };
    this.sockets.push(socket);
    return {
      close: (reason: string) => {
        socket.closedWith = reason;
        queueMicrotask(() => ended({ kind: 'closed' }));
      },
    };
  }
}

/** A room that can be recorded. */
class ListeningRoom extends FakeRoom {
  readonly recordings: ScriptedRecording[] = [];
  readonly #nowMs: () => number;

  constructor(events: RoomEvents, nowMs: () => number) {
    super(events);
    this.#nowMs = nowMs;
  }

  record(path: string): ScriptedRecording {
    const options = { path, channels: 'both', stereo: false, silenceEndMs: 0, maxMs: 0 } as const;
    const recording = new ScriptedRecording(options, this.#nowMs);
    this.recordings.push(recording);
    return recording;
  }

  override close(): void {
    for (const recording of this.recordings) recording.end('legEnded');
    super.close();
  }
}

const rate = (direction: Rate['direction'], perMinute: number): Rate => ({
  direction,
  prefix: '',
  perMinute: micros(perMinute),
  pulseSeconds: 60,
  currency: 'USD',
  accountId: undefined,
});

export type CallService = Awaited<ReturnType<typeof openCallService>>;

export async function openCallService() {
  const { store, clock, random } = await openInMemory();
  const settings = loadSettings(ENVIRONMENT, DEFAULTS);
  const errors: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (facts, text) => errors.push(`${text}: ${String(facts['error'])}`),
  };
  const accounts = new Accounts({
    store: store.accounts,
    partners: store.partners,
    idempotency: store.idempotency,
    clock,
    random,
    defaults: settings.accounts,
  });
  const rates = Object.entries(PRICE).map(([of, price]) => rate(of as Rate['direction'], price));
  const ledger = new Ledger({
    store: store.ledger,
    rates: store.rates,
    rateBook: new RateBook(rates),
    log: logger,
  });
  const provisioning = createProvisioning(
    store,
    { clock, random },
    { realm: 'test', usernameSuffix: 'when-taken' },
  );
  const files = new Map<string, number>();
  const recordingFiles = {
    prepare: (file: string) => {
      if (file.endsWith('.wav')) files.set(file, 16_044);
      return Promise.resolve(file);
    },
    size: (file: string) => Promise.resolve(files.get(file)),
    wavDurationMs: () => Promise.resolve(undefined),
    remove: (file: string) => {
      files.delete(file);
      return Promise.resolve();
    },
  };
  const foundation = {
    store,
    realm: 'test',
    accounts,
    ledger,
    provisioning,
    recordingFiles,
    recordings: new Recordings({
      recordings: store.recordings,
      exports: store.exports,
      files: recordingFiles,
      clock,
      random,
    } as unknown as ConstructorParameters<typeof Recordings>[0]),
    callRecords: new CallRecords(store.cdrs),
  } as unknown as Foundation;
  const site = new Site(clock);
  const logs = new CallLogs({ entries: 500, retentionMs: 86_400_000, calls: 1000 }, () =>
    clock.wallMs(),
  );
  const callbacks = createCallbackClient({
    http: site,
    tokens: store.signingTokens,
    notifications: store.notifications,
    clock,
    random,
    logger,
    settings: settings.webhooks,
    onAttempt: ({ callUuid }, attempt) =>
      logs.get(callUuid)?.add('callback', attempt.event, { ...attempt }),
  });
  const media = new FakeMedia();
  Object.assign(media.asMedia, {
    openLeg: (_options: unknown, events: ConstructorParameters<typeof ListeningLeg>[0]) => {
      const leg = new ListeningLeg(events);
      leg.nowMs = () => clock.monotonicMs();
      media.legs.push(leg);
      return Promise.resolve(leg as unknown as MediaLeg);
    },
    openRoom: (events: RoomEvents) => {
      const room = new ListeningRoom(events, () => clock.monotonicMs());
      media.rooms.push(room);
      return room;
    },
  });
  const signalling = new FakeSignalling(() => clock.monotonicMs());
  const bots = new Bots();
  const spoken: string[] = [];
  const derived = derive(settings);
  const link = { publicUrl: derived.publicUrl, linkKey: 'test', recordingLinkSeconds: 900 };
  const links = createSignedLinks(link, clock);
  const calls = joinCalls(
    { settings, root: '', dataDir: '', logger, clock, random },
    foundation,
    {
      callbacks,
      media: media.asMedia,
      signalling,
      streams: bots,
      logs,
      audio: {
        library: { load: () => Promise.resolve(ok(pcm())) },
        encoder: {
          encodeMp3: (_wav: string, mp3: string) => {
            files.set(mp3, MP3_BYTES);
            return Promise.resolve(ok({ bytes: MP3_BYTES }));
          },
        },
      },
      speech: {
        speak: async function* ({ text }: { text: string }) {
          spoken.push(text);
          yield ok(pcm());
        },
      },
    } as unknown as Lines,
    derived,
    links,
    () => undefined,
    () => undefined,
  );

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

  const live = (): readonly Call[] => calls.keeper.live();
  const cdrs = async (): Promise<readonly Cdr[]> => {
    await settle();
    const page = await store.cdrs.page({ accountId }, { limit: 100, offset: 0 });
    return page.items.map(({ cdr }) => cdr);
  };
  return {
    ...calls,
    store,
    clock,
    site,
    media,
    signalling,
    bots,
    spoken,
    files,
    links,
    ledger,
    provisioning,
    accountId,
    appId,
    owned,
    live,
    cdrs,
    /** The record of the only call that has ended, or of one of several. */
    cdr: async (callUuid?: string): Promise<Cdr> => {
      const found = (await cdrs()).filter((cdr) => (callUuid ?? cdr.callUuid) === cdr.callUuid);
      const [only, ...more] = found;
      if (only === undefined || more.length > 0) throw new Error(`${found.length} records`);
      return only;
    },
    /** The timeline of a call, by kind: text and facts in one line each. */
    log: async (callUuid: string, kind: string): Promise<readonly string[]> => {
      const lines = await calls.control.callLog(accountId, callUuid);
      if (!lines.ok) throw new Error(lines.error.kind);
      return lines.value
        .filter((line) => line.kind === kind)
        .map(({ text, facts }) => `${text} ${JSON.stringify(facts)}`);
    },
    entries: async () => (await ledger.list({ accountId }, 1, 100)).entries,
    /** Everything that was taken has been given back, and nothing went wrong unseen. */
    leftovers: async () => {
      await settle();
      const balance = await ledger.balance(accountId, 'USD');
      const rooms = media.rooms.filter(({ isClosed }) => !isClosed).length;
      return {
        errors,
        live: live().length,
        running: calls.admission.running(accountId),
        reserved: balance.ok ? balance.value.reservedFunds : undefined,
        openLegs: media.legs.filter(({ isClosed }) => !isClosed).length,
        openBridges: media.openBridges.length,
        openRooms: rooms,
        takenSeats: media.rooms.flatMap(({ seats }) => seats).filter((s) => !s.isFree).length,
        sounding: media.legs.flatMap(({ sounding }) => sounding).length,
        recording: [...media.legs, ...media.rooms]
          .flatMap((one) => (one as ListeningLeg | ListeningRoom).recordings)
          .filter(({ isOver }) => !isOver).length,
        openSockets: bots.sockets.filter(({ isOver }) => !isOver).length,
        queuedNotifications: callbacks.queued(),
        faults: await store.verify(),
      };
    },
    close: async () => {
      calls.keeper.stop();
      await callbacks.close(0);
      await store.close();
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
