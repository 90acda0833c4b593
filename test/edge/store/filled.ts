/** Fills a data folder with rows in every table, as an upgraded service would have. */
import { wallUs } from '../../../src/base/clock.ts';
import { asCallUuid, asRecordingId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import { startService } from '../../spec/service.ts';
import { aCdr, aNotification, anEntry, anOpenCall } from './records.ts';

export const CALLS = {
  ended: asCallUuid('7f0cf0f6-0f4b-4f0e-8f57-00000000000a'),
  running: asCallUuid('7f0cf0f6-0f4b-4f0e-8f57-00000000000b'),
};
export const RECORDING = asRecordingId('7f0cf0f6-0f4b-4f0e-8f57-0000000000aa');
const QUALITY = { mos: 4.1, rating: 90, peer: { lossFraction: 0.01, jitterMs: 2, mos: 4 } };

/** Uses REST routes where they exist, and store operations for the rest. */
export async function fill(dataDir: string) {
  const service = await startService({ dataDir });
  const { account, root, store, clock } = service;
  const accountId = account.authId as ReturnType<typeof aCdr>['accountId'];
  const post = async (path: string, body: unknown) => {
    const reply = await service.post(path, body);
    if (reply.status >= 300) throw new Error(`${path}: ${reply.text}`);
    return reply.body;
  };
  const operator = async (path: string, body: unknown) => {
    const reply = await service.admin('POST', path, body);
    if (reply.status >= 300) throw new Error(`${path}: ${reply.text}`);
  };
  await operator(`/accounts/${accountId}/credit`, {
    amount: 25,
    currency: 'USD',
    description: 'paid',
  });
  await operator(`/accounts/${accountId}/caller-ids`, { number: '+14155550100' });
  await operator('/carriers', { name: 'north', host: '192.0.2.5', prefixes: ['1'] });
  await operator('/numbers', {
    e164: '+14155550111',
    account_id: accountId,
    country: 'US',
    currency: 'USD',
  });
  const { app_id: appId } = await post(`${root}/Application/`, {
    app_name: 'bot',
    answer_url: 'https://u:p@bot.example/answer',
  });
  await post(`${root}/Endpoint/`, {
    username: 'alice',
    alias: 'alice',
    password: 'correct-horse-9',
    app_id: appId,
  });
  const sub = await service.addSubAccount();

  const agent = await post(`${root}/campaign/agents`, {
    name: 'Desk',
    answer_url: 'https://bot.example/answer',
  });
  const campaign = await post(`${root}/campaigns`, {
    name: 'Spring',
    agent_id: agent.id,
    max_concurrent: 2,
    timezone: 'Asia/Kolkata',
    caller_id_strategy: 'fixed',
    fixed_caller_id: '+14155550100',
  });
  await post(`${root}/campaigns/${campaign.id}/upload`, [
    { to: '14155550101', Name: 'Ann' },
    { to: 'nobody' },
  ]);
  await store.campaigns.addDoNotCall(accountId, ['12125550100'], wallUs(clock), 9);

  const cdr = aCdr({
    accountId,
    callUuid: CALLS.ended,
    carrier: 'north',
    endpointId: undefined,
    quality: { ...aCdr().quality, ...QUALITY } as ReturnType<typeof aCdr>['quality'],
  });
  await store.calls.settle({
    cdr,
    entries: [
      anEntry({
        accountId,
        type: 'debit',
        amount: micros(6_500),
        referenceType: 'cdr',
        reference: `cdr:${CALLS.ended}`,
        description: 'Call',
      }),
    ],
    notification: aNotification({ accountId, subject: CALLS.ended }),
  });
  await store.callLogs.put(CALLS.ended, [
    { atUs: cdr.startUs, kind: 'sip', text: 'INVITE', facts: { from: 'alice' } },
    { atUs: cdr.endUs, kind: 'call', text: 'ended', facts: {} },
  ]);
  await store.calls.open(
    anOpenCall({ cdr: aCdr({ accountId, callUuid: CALLS.running, cost: micros(0), billedMs: 0 }) }),
    undefined,
  );
  await store.recordings.insert({
    recordingId: RECORDING,
    accountId,
    subAccount: undefined,
    callUuid: CALLS.ended,
    conferenceName: undefined,
    conferenceUuid: undefined,
    fromNumber: '1',
    toNumber: '2',
    format: 'mp3',
    type: 'call',
    status: 'ready',
    file: `${accountId}/r.mp3`,
    bytes: 1234,
    durationMs: 2000,
    startUs: cdr.startUs,
    endUs: cdr.endUs,
    addedUs: cdr.endUs,
    pendingCharges: undefined,
  });
  const { status, text } = await service.post(`${root}/export/recording/`, {
    recipient: { customer_account: ['a@b.example'] },
  });
  if (status >= 300) throw new Error(`export: ${text}`);
  await service.stop();
  return {
    accountId,
    authToken: account.authToken,
    subAccount: sub.authId,
    campaignId: campaign.id,
    appId,
  };
}
