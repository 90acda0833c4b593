/**
 * Bills calls at full speed and prints each durable write. The test kills this process. With a third argument, it bills
 * so many calls sequentially, reports failed writes, and ends.
 */
import { asCallUuid, asStreamId, type CallUuid } from '../../src/base/ids.ts';
import { micros } from '../../src/base/money.ts';
import { HANGUP_CAUSES } from '../../src/domain/call/types.ts';
import { chargesOf, closeCall } from '../../src/domain/cdr/cdr.ts';
import type { OpenCall } from '../../src/domain/cdr/needs.ts';
import { aCdr, aNotification, anOpenCall, START_US } from '../edge/store/records.ts';
import { openOnce } from './crash.ts';

const PARALLEL_CALLS = 8;
const [folder = '', round = '0', synchronous, most] = process.argv.slice(2);
const { store } = await openOnce(folder, synchronous === 'full' ? 'full' : 'normal');
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

let next = 0;
async function bill(): Promise<void> {
  for (;;) await billOne();
}

async function billOne(): Promise<void> {
  next += 1;
  const callUuid = asCallUuid(`${round}-${next}`);
  const call = openCall(callUuid);
  const opened = next % 2 === 0 ? store.calls.openAhead : store.calls.open;
  if (!(await opened(call, undefined)).ok) throw new Error('not opened');
  const answered: OpenCall = {
    ...call,
    cdr: { ...call.cdr, answerUs: START_US + 1_000_000 },
    heartbeatUs: START_US + 1_000_000,
  };
  await store.calls.update(answered);
  say(`answered ${callUuid}`);
  await store.calls.heartbeat([{ callUuid, atUs: START_US + 31_000_000 }]);
  const { normal } = HANGUP_CAUSES;
  const end = {
    endUs: START_US + (next % 120) * 1_000_000 + 2_000_000,
    hangupCause: normal.cause,
    hangupCauseCode: normal.code,
    hangupCauseName: normal.name,
    hangupSource: 'Caller',
    hangupDisposition: 'recv_bye',
  } as const;
  const cdr = closeCall(answered, end, 'Call hangup');
  const notification = aNotification({ id: callUuid, subject: callUuid });
  await store.calls.settle({ cdr, entries: chargesOf(cdr), notification });
  say(`settled ${callUuid}`);
}

function openCall(callUuid: CallUuid): OpenCall {
  return anOpenCall({
    cdr: aCdr({ callUuid, answerUs: undefined, cost: micros(0), billedMs: 0 }),
    reserved: micros(6_500),
    streams: [
      {
        streamId: asStreamId(`${callUuid}-stream`),
        serviceUrl: 'ws://127.0.0.1/',
        audioTrack: 'inbound',
        bidirectional: true,
        contentType: 'audio/x-l16;rate=8000',
        startUs: START_US + 1_000_000,
        earlierUs: 0,
        sinceUs: START_US + 1_000_000,
        endUs: undefined,
        perMinute: micros(3_000),
        pulseMs: 60_000,
      },
    ],
    hangupNotification: aNotification({ id: callUuid, subject: callUuid }),
  });
}

say('ready');
if (most === undefined) await Promise.all(Array.from({ length: PARALLEL_CALLS }, bill));
for (let call = 0; call < Number(most); call += 1)
  await billOne().catch((error: unknown) => say(`failed ${String(error)}`));
await store.close().catch((error: unknown) => say(`failed ${String(error)}`));
say('end');
process.exit(0);
