/** Every event of dialect §3.11 as sent. */
import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { asAccountId, asCallUuid, asCampaignId } from '../../../src/base/ids.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createCallbackClient } from '../../../src/domain/callback/callback.ts';
import { createCampaignWebhooks } from '../../../src/domain/campaign/campaign.ts';
import type { Campaign, CampaignEvent } from '../../../src/domain/campaign/types.ts';
import { SimClock } from '../../sim/clock.ts';
import { FakeHttp, seededRandom } from '../callback/fake-http.ts';
import { aPlan, NO_CONTACTS, OWNER } from './records.ts';

const TOKEN = 'account-token';
const SUB = asAccountId('SA_AAAAAAAAAAAAAAAAA');
const AT_US = Date.UTC(2026, 0, 5, 12, 30) * 1000;
const CAMPAIGN: Campaign = {
  ...aPlan({ notifyUrl: 'https://app.test/told' }),
  ...OWNER,
  id: asCampaignId('campaign-1'),
  status: 'running',
  pauseReason: undefined,
  counters: NO_CONTACTS,
  consecutiveFailures: 0,
  queuedUs: undefined,
  startedUs: undefined,
  completedUs: undefined,
  lastDialUs: undefined,
  createdUs: AT_US,
  updatedUs: AT_US,
};

/** Returns the request that notify_url receives for an event. */
async function sent(event: CampaignEvent, over: Partial<Campaign> = {}) {
  const clock = new SimClock();
  const http = new FakeHttp(clock);
  const random = seededRandom();
  const callbacks = createCallbackClient({
    http,
    clock,
    random,
    logger: silentLogger,
    tokens: { tokensOf: async (of) => ({ own: `${TOKEN} of ${of}`, parent: 'parent' }) },
    settings: { userAgent: 'Test/1', signatureHeaders: ['X-Plivo-Signature'], firstByteMs: 5000 },
    notifications: {
      put: () => Promise.resolve(),
      adopt: async () => 0,
      listPending: () => Promise.resolve([]),
      recordAttempt: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      removeUntil: () => Promise.resolve(0),
    },
    onAttempt: () => undefined,
  });
  const webhooks = createCampaignWebhooks({ callbacks, random });
  const notification = webhooks.compose({ ...CAMPAIGN, ...over }, event);
  if (notification === undefined) return undefined;
  webhooks.deliver(notification);
  await clock.advance(10);
  return http.requests[0]?.request;
}

const contact = {
  kind: 'contact',
  atUs: AT_US,
  contactId: 7,
  callUuid: asCallUuid('0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11'),
  to: '12125550100',
  from: '12025550100',
  hangupCause: 'NORMAL_CLEARING',
  durationMs: 12_400,
} as const;
const reported = {
  contact_id: 7,
  call_uuid: '0b6c1c3e-8f0a-4f4e-9a53-2f6f2c9d1a11',
  to_number: '+12125550100',
  from_number: '+12025550100',
  hangup_cause: 'NORMAL_CLEARING',
  duration: 12,
};
const paused = { reason: 'window_closed' };
const stalled = { reason: 'unavailable', last_dial_at: '2026-01-05T12:20:00.000000Z' };

it.each<[string, CampaignEvent, object]>([
  ['campaign.started', { kind: 'started', atUs: AT_US }, {}],
  ['campaign.resumed', { kind: 'resumed', atUs: AT_US }, {}],
  ['campaign.completed', { kind: 'completed', atUs: AT_US }, {}],
  ['campaign.cancelled', { kind: 'cancelled', atUs: AT_US }, {}],
  ['campaign.paused', { kind: 'paused', atUs: AT_US, reason: 'window_closed' }, paused],
  [
    'campaign.failed',
    { kind: 'failed', atUs: AT_US, reason: 'all_contacts_failed' },
    { reason: 'all_contacts_failed' },
  ],
  [
    'campaign.stalled',
    {
      kind: 'stalled',
      atUs: AT_US,
      reason: 'unavailable',
      lastDialUs: AT_US - 600_000_000,
      stalledMs: 330_000,
    },
    { ...stalled, stalled_minutes: 5 },
  ],
  ['contact.answered', { ...contact, outcome: 'answered' }, reported],
  ['contact.no_answer', { ...contact, outcome: 'no_answer' }, reported],
  ['contact.retry_scheduled', { ...contact, outcome: 'retry_scheduled' }, reported],
  ['contact.failed', { ...contact, outcome: 'failed' }, reported],
  [
    'contact.expired',
    {
      ...contact,
      outcome: 'expired',
      callUuid: undefined,
      from: undefined,
      hangupCause: undefined,
      durationMs: 0,
    },
    { ...reported, call_uuid: null, from_number: null, hangup_cause: null, duration: 0 },
  ],
])('sends %s as JSON with its fields, signed over its bytes', async (name, event, fields) => {
  const request = await sent(event);
  expect(request).toMatchObject({ method: 'POST', url: 'https://app.test/told' });
  expect(JSON.parse(request?.body ?? '')).toEqual({
    event: name,
    campaign_id: 'campaign-1',
    account_id: OWNER.accountId,
    timestamp: '2026-01-05T12:30:00.000000Z',
    ...fields,
  });
  const hmac = createHmac('sha256', `${TOKEN} of ${OWNER.accountId}`).update(request?.body ?? '');
  expect(request?.headers).toMatchObject({
    'Content-Type': 'application/json',
    'X-VoBiz-Signature': `sha256=${hmac.digest('hex')}`,
  });
});

it('signs events of a sub-account with its own token and names the sub-account', async () => {
  const request = await sent({ kind: 'started', atUs: AT_US }, { subAccount: SUB });
  expect(JSON.parse(request?.body ?? '')).toMatchObject({ account_id: SUB });
  const hmac = createHmac('sha256', `${TOKEN} of ${SUB}`).update(request?.body ?? '');
  expect(request?.headers).toMatchObject({
    'X-VoBiz-Signature': `sha256=${hmac.digest('hex')}`,
  });
});

it('sends nothing without a notify_url', async () => {
  expect(await sent({ kind: 'started', atUs: AT_US }, { notifyUrl: undefined })).toBeUndefined();
});
