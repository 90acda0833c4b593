/** Alarms of a running service: each is reported once by mail and webhook when raised, and once when cleared. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AlarmStage, CALLEES } from './alarm-stage.ts';
import { eventually, type Json } from './service.ts';

/** Limit for one alarm report: it follows calls of 16 s, and the machine may be busy. */
const TOLD_WITHIN_MS = 60_000;

let stage: AlarmStage;
let accountId: string;
beforeAll(async () => {
  stage = await AlarmStage.open();
  accountId = stage.account.authId;
});
afterAll(() => stage.close());

/** Waits until both mail and webhook have reported the alarm. */
const isReported = (state: 'raised' | 'cleared', what: string): Promise<true> =>
  eventually(
    `${what} ${state}`,
    () => {
      const { posted, mailed } = stage.notifications(state);
      return (posted.includes(what) && mailed.includes(what)) || undefined;
    },
    TOLD_WITHIN_MS,
  );

const recordsTo = async (number: string): Promise<readonly Json[]> => {
  const { body } = await stage.service.api(
    'GET',
    `cdr?to_number=${number}`,
    undefined,
    stage.account,
  );
  return body['data'] as Json[];
};

it('reports each alarm once by mail and webhook, and once when it clears', async () => {
  const { silent, onHold, muted, busy, short, abroad } = CALLEES;
  await stage.call([...silent, onHold, muted]);
  const balance = Number((await stage.service.balance(stage.account))['available_balance']);
  expect(balance).toBeGreaterThan(0);
  const alert = { thresholds: { USD: Number((balance - 0.1).toFixed(2)) } };
  const set = await stage.service.api('POST', 'low-balance-alert', alert, stage.account);
  expect(set.status, set.text).toBe(200);

  await stage.call(busy);
  await isReported('raised', 'answer_ratio north');
  await stage.call([...short, abroad]);
  const ofCalls = [
    'answer_ratio north',
    'one_way_audio',
    `low_balance ${accountId} USD`,
    `new_country ${accountId} GB`,
    `short_calls ${accountId}`,
    `spend ${accountId}`,
  ];
  const all = [...ofCalls, ...stage.ofTheMachine, 'carrier_down gone'].sort();
  for (const what of all) await isReported('raised', what);

  await stage.mend();
  const over = [
    'answer_ratio north',
    'carrier_down gone',
    `low_balance ${accountId} USD`,
    ...stage.ofTheMachine,
  ];
  for (const what of over) await isReported('cleared', what);
  // Ignores a disk alarm that the machine's own full disk would raise.
  const ours = (what: string): boolean => !what.startsWith('disk') || all.includes(what);
  const raised = stage.notifications('raised');
  expect(raised.posted.filter(ours)).toEqual(all);
  expect(raised.mailed.filter(ours)).toEqual(all);
  const cleared = stage.notifications('cleared');
  expect(cleared.posted).toEqual([...over].sort());
  expect(cleared.mailed).toEqual([...over].sort());
  expect(stage.badSignatures).toEqual([]);
});

it('records one-way audio in the CDR, timeline and metrics of the affected calls only', async () => {
  const { silent, onHold, muted } = CALLEES;
  for (const number of [...silent, onHold, muted]) {
    const [listed] = await recordsTo(number);
    const isSilent = silent.some((one) => one === number);
    const uuid = String(listed?.['uuid']);
    const { body } = await stage.service.api('GET', `cdr/${uuid}`, undefined, stage.account);
    const record = (body['data'] ?? body) as Json;
    expect([number, record['one_way_audio']]).toEqual([number, isSilent]);
    const { text } = await stage.service.admin('GET', `/calls/${uuid}`);
    expect([number, text.includes('one-way audio: no RTP')]).toEqual([number, isSilent]);
  }
  const { text } = await stage.service.get('/metrics');
  expect(text).toContain('voice_calls_one_way_total{direction="outbound"} 3');
});

it('reports no alarm again after a restart, and still lists raised alarms', async () => {
  const before = stage.notifications('raised').posted;
  await stage.restart();
  // A restart resets trend detection, so trend alarms clear.
  await isReported('cleared', `spend ${accountId}`);
  expect(stage.notifications('raised').posted).toEqual(before);
  const { text } = await stage.service.admin('GET', '/alarms');
  expect(text).toContain('"new_country"');
});
