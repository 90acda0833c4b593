/** Runs a campaign at full speed and prints each dialed number. The test kills this process. */
import { wallUs } from '../../src/base/clock.ts';
import { uuid } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { micros } from '../../src/base/money.ts';
import { err, ok } from '../../src/base/result.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { HANGUP_CAUSES } from '../../src/domain/call/types.ts';
import { type CallPlacing, Dialer } from '../../src/domain/campaign/campaign.ts';
import { endOf } from '../../src/domain/campaign/placing.ts';
import { recoverOpenCalls } from '../../src/domain/cdr/cdr.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { openStore } from '../../src/edge/store/store.ts';
import { aCdr, anOpenCall } from '../edge/store/records.ts';
import { CAMPAIGN_DIALER } from './campaigns.ts';

const OUTCOMES = ['normal', 'busy', 'noAnswer', 'unallocated'] as const;
const [folder = ''] = process.argv.slice(2);
const store = await openStore({
  dataDir: folder,
  synchronous: 'normal',
  logger: silentLogger,
  clock: systemClock,
  random: systemRandom,
});
const say = (line: string): boolean => process.stdout.write(`${line}\n`);
const free: (() => void)[] = [];

const calls: CallPlacing = {
  async place({ callUuid, contact }, begin) {
    if (!(await begin())) return err({ kind: 'stale' });
    const nowUs = wallUs(systemClock);
    const cdr = aCdr({
      callUuid,
      to: contact.to,
      startUs: nowUs,
      endUs: nowUs,
      answerUs: undefined,
      cost: micros(0),
      billedMs: 0,
    });
    const opened = await store.calls.open(
      anOpenCall({
        cdr,
        reserved: micros(1),
        streams: [],
        hangupNotification: undefined,
        heartbeatUs: nowUs,
      }),
      undefined,
    );
    if (!opened.ok) throw new Error('not opened');
    // From here on the callee's phone may ring.
    say(`dialled ${contact.to}`);
    return ok({ ended: end(cdr) });
  },
  onFree: (act) => void free.push(act),
  mayPresent: async () => true,
  obstacle: async () => undefined,
  async endOf(callUuid) {
    const found = await store.cdrs.get(callUuid);
    return found && endOf(found.cdr);
  },
};

async function end(begun: ReturnType<typeof aCdr>) {
  const lengthMs = systemRandom.integer(20);
  await new Promise<void>((over) => systemClock.at(systemClock.monotonicMs() + lengthMs, over));
  const cause = HANGUP_CAUSES[OUTCOMES[systemRandom.integer(OUTCOMES.length)] ?? 'busy'];
  const endUs = wallUs(systemClock);
  const answerUs = cause.cause === 'NORMAL_CLEARING' ? endUs : undefined;
  const cdr = { ...begun, answerUs, endUs, hangupCause: cause.cause, hangupCauseCode: cause.code };
  await store.calls.settle({ cdr, entries: [], notification: undefined });
  say(`ended ${cdr.to}`);
  for (const act of free) act();
  return {
    answeredUs: answerUs,
    endedUs: endUs,
    hangupCause: cause.cause,
    hangupCauseCode: cause.code,
    machine: undefined,
    refused: undefined,
  };
}

const aNotice = (id: string, event: string) => ({
  id: uuid(systemRandom),
  accountId: aCdr().accountId,
  subject: id,
  event,
  target: { url: 'http://127.0.0.1/', method: 'POST' as const },
  parameters: [],
  createdUs: 0,
  attempts: 0,
});

await recoverOpenCalls(store.calls, silentLogger);
const dialer = new Dialer({
  store: store.campaigns,
  calls,
  webhooks: {
    compose: ({ id }, { kind }) => aNotice(id, kind),
    deliver: () => undefined,
  },
  clock: systemClock,
  random: systemRandom,
  logger: silentLogger,
  onRevoked: () => undefined,
  settings: CAMPAIGN_DIALER,
});
say('ready');
await dialer.resumeAll();
