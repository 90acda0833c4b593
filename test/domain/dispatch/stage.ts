/** Dispatch on a real store, with real accounts, ledger and interpreter; phones, media and the customer are scripted. */

import { expect } from 'vitest';
import type { CallUuid } from '../../../src/base/ids.ts';
import { type Logger, silentLogger } from '../../../src/base/logger.ts';
import { micros } from '../../../src/base/money.ts';
import { ok } from '../../../src/base/result.ts';
import type { Accounts, NewAccount } from '../../../src/domain/account/account.ts';
import { type Call, CallLogs } from '../../../src/domain/call/call.ts';
import type {
  InboundLeg,
  LegEnd,
  LegEvents,
  StreamSocketEvents,
} from '../../../src/domain/call/needs.ts';
import { Capacity, FairShare } from '../../../src/domain/capacity/capacity.ts';
import { Settler } from '../../../src/domain/cdr/cdr.ts';
import type { Cdr } from '../../../src/domain/cdr/types.ts';
import type { DispatchNeeds } from '../../../src/domain/dispatch/dispatch.ts';
import {
  Admission,
  BLegDialer,
  CallFactory,
  CallKeeper,
  ControlService,
  Outbound,
  Scripts,
  TrunkConnector,
} from '../../../src/domain/dispatch/dispatch.ts';
import type { PlaceCallsRequest } from '../../../src/domain/dispatch/types.ts';
import type { InterpreterNeeds } from '../../../src/domain/interpreter/interpreter.ts';
import type { CallRecordRequest } from '../../../src/domain/interpreter/recording/types.ts';
import { RateBook } from '../../../src/domain/ledger/ledger.ts';
import { joinFacts } from '../../../src/service/join/facts.ts';
import { addressesOf } from '../../addresses.ts';
import { type OpenedStore, openInMemory } from '../../edge/store/open.ts';
import { settle } from '../../sim/clock.ts';
import { SDP } from '../interpreter/scene.ts';
import { FakeMedia, FakeSignalling } from './fakes.ts';
import { Customer, inboundCall, OWN_NUMBER, request } from './people.ts';

export { ANSWER_URL, OWN_NUMBER } from './people.ts';

const REGISTRAR = 'voice.test';
const CARRIER_HOST = '192.0.2.10';
export const CALLED = '14155550101';
const HEARTBEAT_MS = 3_600_000;

export type Stage = Awaited<ReturnType<typeof openStage>>;

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

export async function openStage(
  over: Partial<NewAccount> = {},
  settings: Partial<DispatchNeeds['settings']> = {},
) {
  const opened = await openInMemory();
  const { store, clock, random } = opened;
  const errors: string[] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (facts, text) => errors.push(`${text}: ${String(facts['error'])}`),
  };
  const defaults = { concurrentCallsLimit: 10, cpsLimit: 10, currency: 'USD', country: 'US' };
  const rate = { prefix: '', pulseSeconds: 60, currency: 'USD', accountId: undefined };
  const rateBook = new RateBook([
    { ...rate, direction: 'outbound', perMinute: micros(60_000) },
    { ...rate, direction: 'inbound', perMinute: micros(30_000) },
  ]);
  const { accounts, ledger, provisioning } = joinFacts(store, {
    clock,
    random,
    logger,
    accounts: defaults,
    provisioning: { realm: 'test', usernameSuffix: 'when-taken' },
    recordingFiles: { remove: async () => undefined },
    rateBook,
  });
  const account = await makeAccount(opened, accounts, over);
  await provisioning.callerIds.verify(account.authId, OWN_NUMBER);
  await provisioning.carriers.create({ name: 'north', host: CARRIER_HOST, priority: 1 });
  const customer = new Customer();
  const callbacks = customer.client;
  const media = new FakeMedia();
  const signalling = new FakeSignalling(() => clock.monotonicMs());
  const settled: Cdr[] = [];
  const keeper = new CallKeeper({
    calls: store.calls,
    logs: store.callLogs,
    settler: new Settler(store.calls, clock, logger),
    callbacks,
    clock,
    random,
    logger,
    record: { platformName: 'Carillon', hangupCallStatus: 'spec' },
    heartbeatMs: HEARTBEAT_MS,
    onSettled: (cdr) => settled.push(cdr),
  });
  const capacity = new Capacity();
  const shares = new FairShare(clock);
  const admission = new Admission({
    accounts,
    endpoints: store.endpoints,
    capacity,
    shares,
    keeper,
    clock,
    nodeLimit: 1000,
    waitMs: 2000,
  });
  const logs = new CallLogs({ entries: 500, retentionMs: 86_400_000, calls: 5000 }, clock);
  const factory = new CallFactory({
    media,
    ledger,
    logs,
    clock,
    random,
    mediaTimeoutMs: 60_000,
    judgeRtp: () => ({ kind: 'send' }),
  });
  const sockets: StreamSocketEvents[] = [];
  const recorded: { readonly call: Call; readonly request: CallRecordRequest }[] = [];
  let interpreter: InterpreterNeeds | undefined;
  const needs: DispatchNeeds = {
    accounts,
    provisioning,
    ledger,
    admission,
    keeper,
    factory,
    scripts: new Scripts(),
    capacity,
    shares,
    signalling,
    addresses: addressesOf(REGISTRAR, [CARRIER_HOST]),
    callbacks,
    clock,
    random,
    logger,
    interpreter: () => {
      if (interpreter === undefined) throw new Error('asked for too early');
      return interpreter;
    },
    settings: {
      callerIdPolicy: 'owned',
      registrarHost: REGISTRAR,
      ringTimeoutMs: 120_000,
      waitForRoomMs: 2000,
      queuePerAccount: 2000,
      allowSpecial: [],
      ...settings,
    },
  };
  const dialer = new BLegDialer(needs);
  interpreter = {
    callbacks,
    media,
    audio: { load: async () => ok({ rate: 8000, samples: new Uint8Array(2) }) },
    holdMusic: () => Promise.resolve(undefined),
    speech: {
      speak: async function* () {
        yield ok({ rate: 8000, samples: new Uint8Array(2) });
      },
    },
    streams: {
      open: (_options: unknown, _leg: unknown, events: StreamSocketEvents) => {
        sockets.push(events);
        return { close: () => undefined };
      },
    },
    recorder: {
      dialAnswered: () => undefined,
      stop: () => false,
      start: async (call: Call, request: CallRecordRequest) => {
        recorded.push({ call, request });
        return ok({});
      },
    },
    dialer,
    keeping: keeper,
    clock,
    random,
    logger,
    settings: {
      allowInsecureStreams: true,
      redirectsPerMinute: 30,
      ringTimeoutMs: 120_000,
      streamQueueMs: 60_000,
      platformName: 'Carillon',
    },
  } as unknown as InterpreterNeeds;
  const outbound = new Outbound(needs);
  const control = new ControlService({ ...needs, outbound, logs, storedLogs: store.callLogs });

  const stage = {
    ...needs,
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
    dialer,
    outbound,
    control,
    trunks: new TrunkConnector(needs),

    /** Places calls as REST does; what the request leaves out has the spec's defaults. */
    place: (over: Partial<PlaceCallsRequest> & { to?: readonly string[] } = {}) => {
      const { to = [CALLED], ...rest } = over;
      return outbound.placeCalls({ ...request(account, to), ...rest });
    },
    /** The same, accepted; resolves when all that follows at once has happened. */
    placed: async (over: Partial<PlaceCallsRequest> & { to?: readonly string[] } = {}) => {
      const placed = await stage.place(over);
      if (!placed.ok) throw new Error(`refused: ${placed.error.kind}`);
      await settle();
      const [callUuid] = placed.value.callUuids;
      if (callUuid === undefined) throw new Error('no call');
      return { ...placed.value, callUuid };
    },
    live: (callUuid: CallUuid): Call => {
      const call = keeper.get(callUuid);
      if (call === undefined) throw new Error(`no call ${callUuid}`);
      return call;
    },
    cdr: async (callUuid: CallUuid): Promise<Cdr> => {
      await settle();
      const found = await store.cdrs.get(callUuid);
      if (found === undefined) throw new Error(`no record of ${callUuid}`);
      return found.cdr;
    },
    /** A call comes in from a carrier to a number; not answered yet. */
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
    /** Nothing is held any more: no slot, no money, no port; and nothing went wrong unseen. */
    leftovers: async () => {
      await keeper.idle();
      const balance = await ledger.balance(account.authId, account.currency);
      return {
        errors,
        running: capacity.running(account.authId),
        reserved: balance.ok ? balance.value.reservedFunds : undefined,
        openLegs: media.legs.filter(({ isClosed }) => !isClosed).length,
        openBridges: media.bridges.filter(({ isOpen }) => isOpen).length,
        faults: await store.verify(),
      };
    },
    /** Ends what is left, so that everything held is seen to be given back. */
    finish: async () => {
      for (const call of keeper.live()) call.hangup('normal', 'API Request');
      await settle();
      expect(await stage.leftovers()).toEqual(NOTHING_LEFT);
    },
    close: async () => {
      keeper.stop();
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
