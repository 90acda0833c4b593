import { expect, it } from 'vitest';
import { NodeLease } from '../../../src/domain/cluster/cluster.ts';
import { settle } from '../../sim/clock.ts';
import { OWN_NUMBER, openStage } from './stage.ts';

const STOPPED_MS = 10_000;

/** An inbound call that is about to be answered when the process was stopped for 10 s. */
async function afterPause() {
  const stopped = { ms: 0 };
  const lease = new NodeLease({ monotonicMs: () => stopped.ms });
  const stage = await openStage({}, { lease });
  const { call, sent } = await stage.arrives(OWN_NUMBER);
  stopped.ms = STOPPED_MS;
  const answered = call.answer(() => Promise.resolve());
  await settle();
  return { stage, call, sent, answered, confirm: () => lease.confirmedByStore(STOPPED_MS) };
}

it('answers once the store confirms that no other node has adopted the call', async () => {
  const { stage, call, sent, answered, confirm } = await afterPause();
  expect(sent).not.toContain('200');
  confirm();
  expect(await answered).toBe(true);
  expect(sent).toContain('200');
  call.hangup('normal', 'API Request');
  await stage.finish();
  await stage.close();
});

it('sends no 200 if another node has adopted the call', async () => {
  const { stage, call, sent, answered, confirm } = await afterPause();
  call.hangup('internalError', 'Error');
  confirm();
  expect(await answered).toBe(false);
  expect(sent).toEqual(['hangup internalError']);
  await stage.finish();
  await stage.close();
});
