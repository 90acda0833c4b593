/** Test stage for dispatch: real store, accounts, ledger and interpreter; scripted phones, media and application. */
import { expect } from 'vitest';
import type { CallUuid } from '../../../src/base/ids.ts';
import { type Logger, silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { ok } from '../../../src/base/result.ts';
import type { Settings } from '../../../src/config/schema.ts';
import type { Accounts, NewAccount } from '../../../src/domain/account/account.ts';
import { type Call, CallLogs } from '../../../src/domain/call/call.ts';
import type {
  InboundLeg,
  LegEnd,
  LegEvents,
  StreamSocketEvents,
} from '../../../src/domain/call/needs.ts';
import { NewCalls } from '../../../src/domain/capacity/capacity.ts';
import type { Cdr } from '../../../src/domain/cdr/types.ts';
import type { PlaceCallsRequest } from '../../../src/domain/dispatch/types.ts';
import type { Recorder } from '../../../src/domain/interpreter/interpreter.ts';
import type { CallRecordRequest } from '../../../src/domain/interpreter/recording/types.ts';
import type { CallLines } from '../../../src/service/join/call-lines.ts';
import { joinParts } from '../../../src/service/join/calls.ts';
import type { Basics } from '../../../src/service/join/foundation.ts';
import { derive } from '../../../src/service/settings.ts';
import { SipTraces } from '../../../src/service/sip-traces.ts';
import { addressesOf } from '../../addresses.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';
import { FakeMedia } from '../../fakes/media.ts';
import { testFoundation, testSettings } from '../../foundation.ts';
import { NO_SPEECH } from '../../no-speech.ts';
import { settle } from '../../sim/clock.ts';
import { SDP } from '../interpreter/scene.ts';
import { FakeSignalling } from './fakes.ts';
import { Customer, inboundCall, OWN_NUMBER, request } from './participants.ts';

export { ANSWER_URL, OWN_NUMBER } from './participants.ts';

const REGISTRAR = 'voice.test';
const CARRIER_HOST = '192.0.2.10';
export const CALLED = '14155550101';
const HEARTBEAT_MS = 3_600_000;
/** Prices in millionths of a dollar per started minute. */
const PRICE = { outbound: 60_000, inbound: 30_000 };
const ENVIRONMENT = { CARILLON_SIP_PUBLIC_HOST: REGISTRAR };

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Settings that a test may override. */
interface Dials {
  readonly callerIdPolicy?: 'owned' | 'any';
  readonly queuePerAccount?: number;
  readonly allowSpecial?: readonly string[];
  readonly endOnRevocation?: boolean;
  readonly lease?: CallLines['lease'];
}

function settingsWith(dials: Dials): Settings {
  const settings = testSettings(ENVIRONMENT);
  const { callerIdPolicy = 'owned', queuePerAccount = 2000, allowSpecial = [] } = dials;
  const { endOnRevocation = true } = dials;
  return {
    ...settings,
    accounts: { ...settings.accounts, concurrentCallsLimit: 10, cpsLimit: 10 },
    calls: { ...settings.calls, queuePerAccount, endOnRevocation, heartbeatMs: HEARTBEAT_MS },
    callerId: { policy: callerIdPolicy },
    dialing: { allowSpecial },
  };
}

const NO_FILES = {
  prepare: () => Promise.reject(new Error('the fake folder stores no files')),
  synced: () => Promise.resolve(undefined),
  repairWav: () => Promise.resolve(undefined),
  remove: () => Promise.resolve(),
};
const SOUND = { rate: 8000, samples: new Uint8Array(2) } as const;
const AUDIO = {
  library: { load: async () => ok(SOUND) },
  encoder: { encodeMp3: () => Promise.reject(new Error('the fake encoder writes no files')) },
};
const SPEECH = {
  speak: async function* () {
    yield ok(SOUND);
  },
};

/** Stream sockets that stay open; the test triggers their events. */
const streamsInto = (sockets: StreamSocketEvents[]): CallLines['streams'] =>
  ({
    open: (_options: unknown, _leg: unknown, events: StreamSocketEvents) => {
      sockets.push(events);
      return { close: () => undefined };
    },
  }) as unknown as CallLines['streams'];

interface Recorded {
  readonly call: Call;
  readonly request: CallRecordRequest;
}

/** Fake recorder that only collects its requests. */
const recorderInto = (recorded: Recorded[]): Recorder =>
  ({
    dialAnswered: () => undefined,
    stop: () => false,
    start: async (call: Call, request: CallRecordRequest) => {
      recorded.push({ call, request });
      return ok({});
    },
  }) as unknown as Recorder;

async function makeAccount(opened: OpenedStore, accounts: Accounts, over: Partial<NewAccount>) {
  const made = await accounts.create({ name: 'Ada', cpsLimit: 10, ...over });
  if (!made.ok) throw new Error(made.error.kind);
  const { account } = made.value;
  await opened.store.ledger.post(
    [
      {
        accountId: account.authId,
        currency: 'USD',
        type: 'credit',
        amount: micros(10_000_000),
        description: 'Top-up',
        reference: undefined,
        referenceType: 'manual_adjustment',
      },
    ],
    { checked: false },
  );
  return account;
}

export async function openStage(over: Partial<NewAccount> = {}, dials: Dials = {}) {
  const opened = await openInMemory();
  const { store, clock, random } = opened;
  const errors: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (facts, text) => errors.push(`${text}: ${String(facts['error'])}`),
  };
  const settings = settingsWith(dials);
  const basics: Basics = {
    settings,
    lists: { rates: [], carriers: [] },
    dataDir: '',
    logger,
    clock,
    random,
  };
  const foundation = testFoundation(basics, store, {
    prices: PRICE,
    recordingFiles: NO_FILES,
    usernameSuffix: 'when-taken',
  });
  const { accounts, ledger, provisioning } = foundation;
  const account = await makeAccount(opened, accounts, over);
  await provisioning.callerIds.verify(account.authId, OWN_NUMBER);
  await provisioning.carriers.create({ name: 'north', host: CARRIER_HOST, priority: 1 });
  const customer = new Customer();
  const media = new FakeMedia();
  const signalling = Object.assign(new FakeSignalling(() => clock.monotonicMs()), {
    addresses: addressesOf(REGISTRAR, [CARRIER_HOST]),
  });
  const logs = new CallLogs({ entries: 500, retentionMs: 86_400_000, calls: 5000 }, clock);
  const sockets: StreamSocketEvents[] = [];
  const newCalls = new NewCalls(clock);
  const lines: CallLines = {
    callbacks: customer.client,
    media: media.asMedia,
    signalling,
    lease: dials.lease,
    newCalls,
    logs,
    streams: streamsInto(sockets),
    audio: AUDIO,
    speech: SPEECH,
    ...NO_SPEECH,
    holdMusic: () => Promise.resolve(undefined),
    destinations: { judgeRtp: () => ({ kind: 'send' }) },
    traces: new SipTraces(),
  };
  const recorded: Recorded[] = [];
  const settled: Cdr[] = [];
  const site = { basics, foundation, lines, derived: derive(settings) };
  const parts = joinParts(site, {
    recorderOf: () => recorderInto(recorded),
    onSettled: (cdr) => settled.push(cdr),
  });
  const { callBilling, admission, outbound, dispatching: needs } = parts;
  const { capacity } = needs;

  const stage = {
    ...needs,
    newCalls,
    store,
    clock,
    account,
    customer,
    media,
    signalling,
    settled,
    errors,
    logs,
    sockets,
    recorded,
    dialer: parts.dialer,
    outbound,
    control: parts.control,
    paced: parts.paced,
    trunks: parts.trunks,

    /** Places calls like the REST API; absent fields have the spec's defaults. */
    place: (over: Partial<PlaceCallsRequest> & { to?: readonly string[] } = {}) => {
      const { to = [CALLED], ...rest } = over;
      return outbound.placeCalls({ ...request(account, to), ...rest });
    },
    /** As `place`, expects acceptance, and resolves once all immediate effects have happened. */
    placed: async (over: Partial<PlaceCallsRequest> & { to?: readonly string[] } = {}) => {
      const placed = await stage.place(over);
      if (!placed.ok) throw new Error(`refused: ${placed.error.kind}`);
      await settle();
      const [callUuid] = placed.value.callUuids;
      if (callUuid === undefined) throw new Error('no call');
      return { ...placed.value, callUuid };
    },
    live: (callUuid: CallUuid): Call => {
      const call = callBilling.get(callUuid);
      if (call === undefined) throw new Error(`no call ${callUuid}`);
      return call;
    },
    cdr: async (callUuid: CallUuid): Promise<Cdr> => {
      await settle();
      const found = await store.cdrs.get(callUuid);
      if (found === undefined) throw new Error(`no record of ${callUuid}`);
      return found.cdr;
    },
    /** Starts an unanswered inbound call from a carrier to a number. */
    arrives: async (to: string, over: Partial<InboundLeg> = {}) => {
      const events: LegEvents[] = [];
      const sent: string[] = [];
      const leg = {
        id: 'in',
        sipCallId: 'in',
        userAgent: 'test',
        source: { transport: 'udp', address: '192.0.2.10', port: 5060 },
        sdp: SDP,
        attach: (attached: LegEvents) => events.push(attached),
        ring: (sdp?: string) => sent.push(sdp === undefined ? '180' : '183'),
        answer: async () => {
          sent.push('200');
          return ok(undefined);
        },
        hangup: (cause: string) => sent.push(`hangup ${cause}`),
        ...over,
      } as unknown as InboundLeg;
      const call = inboundCall(stage, to);
      call.takeInbound(leg);
      const admitted = await admission.admit(call, account);
      if (!admitted.ok) throw new Error(admitted.error.detail);
      return {
        call,
        sent,
        ends: async (end: LegEnd) => {
          events[0]?.ended(end);
          await settle();
        },
        hangsUp: async (how: 'bye' | 'cancel') => {
          events[0]?.ended({ by: 'remote', how, status: undefined, reason: undefined });
          await settle();
        },
      };
    },
    /** Checks that no slot, reservation or port remains in use, and that no error was logged. */
    leftovers: async () => {
      await callBilling.idle();
      const balance = await ledger.balance(account.authId, account.currency);
      return {
        errors,
        running: await capacity.running(account.authId),
        reserved: balance.ok ? balance.value.reservedFunds : undefined,
        openLegs: media.legs.filter(({ isClosed }) => !isClosed).length,
        openBridges: media.bridges.filter(({ isOpen }) => isOpen).length,
        faults: await store.verify(),
      };
    },
    /** Ends all remaining calls, to verify that all resources are released. */
    finish: async () => {
      for (const call of callBilling.live()) call.hangup('normal', 'API Request');
      await settle();
      expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
    },
    close: async () => {
      callBilling.stop();
      await store.close();
    },
  };
  return stage;
}

export const NOTHING_LEFT = {
  errors: [],
  running: 0,
  reserved: 0,
  openLegs: 0,
  openBridges: 0,
  faults: [],
};
