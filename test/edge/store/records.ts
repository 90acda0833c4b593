import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import type { Account } from '../../../src/domain/account/types.ts';
import type { StoredNotification } from '../../../src/domain/callback/types.ts';
import type { OpenCall } from '../../../src/domain/cdr/needs.ts';
import type { Cdr } from '../../../src/domain/cdr/types.ts';
import type { NewEntry } from '../../../src/domain/ledger/types.ts';

export const START_US = Date.UTC(2026, 0, 1) * 1000;

export const anAccount = (over: Partial<Account> = {}): Account => ({
  authId: asAccountId('MA_AAAAAAAAAAAAAAAAA'),
  name: 'Ada',
  parentAuthId: undefined,
  status: 'active',
  currency: 'USD',
  country: 'US',
  timezone: 'UTC',
  concurrentCallsLimit: 10,
  cpsLimit: 2,
  isPartner: false,
  partnerAuthId: undefined,
  limitTransferEnabled: false,
  barredPrefixes: ['1900'],
  barredCountries: [],
  dailySpendLimit: undefined,
  defaultEndpointApp: undefined,
  defaultCallerId: undefined,
  lowBalanceUrl: undefined,
  lowBalanceEmail: undefined,
  email: '',
  phone: '',
  description: '',
  cdrRetentionMs: undefined,
  recordingRetentionMs: undefined,
  permissions: {},
  rateLimit: undefined,
  createdUs: START_US,
  updatedUs: START_US,
  ...over,
});

export const anEntry = (over: Partial<NewEntry> = {}): NewEntry => ({
  accountId: asAccountId('MA_AAAAAAAAAAAAAAAAA'),
  currency: 'USD',
  type: 'credit',
  amount: micros(10_000_000),
  description: 'Top-up',
  reference: undefined,
  referenceType: 'manual_adjustment',
  ...over,
});

export const aCdr = (over: Partial<Cdr> = {}): Cdr => ({
  callUuid: asCallUuid('7f0cf0f6-0f4b-4f0e-8f57-000000000001'),
  accountId: asAccountId('MA_AAAAAAAAAAAAAAAAA'),
  direction: 'inbound',
  context: 'sip-endpoint',
  subAccount: undefined,
  from: 'sip:alice@carillon.test',
  to: '1000',
  callerName: 'Alice',
  requestUuid: undefined,
  parentCallUuid: undefined,
  bridgeUuid: undefined,
  startUs: START_US,
  ringUs: undefined,
  answerUs: START_US + 1_000_000,
  endUs: START_US + 45_000_000,
  billedMs: 60_000,
  perMinute: micros(6_500),
  cost: micros(6_500),
  streamingCost: micros(0),
  currency: 'USD',
  hangupCause: 'NORMAL_CLEARING',
  hangupCauseCode: 4000,
  hangupCauseName: 'Normal Hangup',
  hangupSource: 'Caller',
  hangupDisposition: 'recv_bye',
  failureReason: undefined,
  sipCallId: 'abc@host',
  sipUserAgent: undefined,
  remoteAddress: '192.0.2.7',
  carrier: undefined,
  codec: 'PCMU',
  quality: {
    packetsReceived: 2200,
    packetsSent: 2200,
    packetsLost: 0,
    packetsLate: 0,
    jitterMs: 1.25,
    lossFraction: 0,
    mos: 4.4,
    roundTripMs: undefined,
  },
  endpointId: undefined,
  trunkId: undefined,
  terminatedTo: undefined,
  campaignId: undefined,
  machine: undefined,
  streams: [],
  ...over,
});

export const aNotification = (over: Partial<StoredNotification> = {}): StoredNotification => ({
  id: 'n-1',
  accountId: asAccountId('MA_AAAAAAAAAAAAAAAAA'),
  subject: '7f0cf0f6-0f4b-4f0e-8f57-000000000001',
  event: 'Hangup',
  target: { url: 'http://127.0.0.1/hangup', method: 'POST' },
  parameters: [
    ['Event', 'Hangup'],
    ['EndTime', ''],
    ['Duration', '0'],
    ['HangupCauseCode', ''],
  ],
  createdUs: START_US,
  attempts: 0,
  ...over,
});

export const anOpenCall = (over: Partial<OpenCall> = {}): OpenCall => ({
  cdr: aCdr({ endUs: START_US, billedMs: 0, cost: micros(0) }),
  pulseMs: 60_000,
  streamPulseMs: 60_000,
  reserved: micros(65_000),
  streams: [],
  hangupNotification: undefined,
  heartbeatUs: START_US,
  ...over,
});
