import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import { newCallUuid } from '../../../src/base/ids.ts';
import type { PacedEnd } from '../../../src/domain/dispatch/paced-calls.ts';
import type { PlaceCallsRequest } from '../../../src/domain/dispatch/types.ts';
import { settle } from '../../sim/clock.ts';
import { request } from './participants.ts';
import { ANSWER_URL, CALLED, openStage, type Stage } from './stage.ts';

const STREAM =
  '<Response><Stream keepCallAlive="true" bidirectional="true">wss://bot.test/</Stream></Response>';
const HANGUP = '<Response><Hangup/></Response>';
const CONNECTED_MS = 2000;

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => {
  await stage.finish();
  await stage.close();
});

const ask = (over: Partial<PlaceCallsRequest> = {}, begin = async () => true) =>
  stage.paced.place(
    {
      callUuid: newCallUuid(stage.random, 0),
      campaignId: 'k1',
      request: { ...request(stage.account, [CALLED]), ...over },
      record: undefined,
    },
    begin,
  );

/** A paced call that was started. */
async function begun(over: Partial<PlaceCallsRequest> = {}): Promise<Promise<PacedEnd>[]> {
  const placed = await ask(over);
  if (!placed.ok) throw new Error(placed.error.kind);
  await settle();
  return [placed.value.ended];
}

describe('a campaign call without a free RTP port', () => {
  it('is not started while no port is free', async () => {
    stage.media.portsFree = 0;
    let requested = false;
    const placed = await ask({}, async () => {
      requested = true;
      return true;
    });
    expect(placed).toMatchObject({ ok: false, error: { kind: 'full', of: 'account' } });
    expect(requested).toBe(false);
    expect(stage.signalling.invites).toEqual([]);
  });

  it('is reported as full, without an INVITE, if no port is left after its start', async () => {
    stage.media.failure = new ServiceError('MEDIA_UNAVAILABLE', 'no free RTP port');
    const [ended] = await begun();
    expect(await ended).toMatchObject({ refused: 'full', cdr: { hangupCauseCode: 5030 } });
    expect(stage.signalling.invites).toEqual([]);
  });
});

describe('an answered call counts as abandoned', () => {
  const later = async (ms: number, act: () => Promise<void>): Promise<void> => {
    await stage.clock.advance(ms);
    await act();
  };
  const hangsUp = () => stage.signalling.last.ends('bye');
  const answers = () => stage.signalling.last.answers();

  it('without a stream or another party after 2 s', async () => {
    const [ended] = await begun();
    await answers();
    await later(CONNECTED_MS, hangsUp);
    expect(await ended).toMatchObject({ abandoned: true });
  });

  it('but not with a stream that connected in time, even if it has already ended', async () => {
    stage.customer.documents.set(ANSWER_URL, STREAM);
    for (const talksMs of [500, CONNECTED_MS + 1]) {
      const [ended] = await begun();
      await answers();
      stage.sockets.at(-1)?.started();
      await later(talksMs, hangsUp);
      expect(await ended).toMatchObject({ abandoned: false });
    }
  });

  it('with a stream that no bot accepted', async () => {
    stage.customer.documents.set(ANSWER_URL, STREAM);
    const [ended] = await begun();
    await answers();
    await later(CONNECTED_MS, hangsUp);
    expect(await ended).toMatchObject({ abandoned: true });
  });

  it('when the platform hangs up before a connection, but not when the called party does', async () => {
    const [left] = await begun();
    await answers();
    await later(CONNECTED_MS - 1, hangsUp);
    expect((await left)?.abandoned).toBeUndefined();
    stage.customer.documents.set(ANSWER_URL, HANGUP);
    const [dropped] = await begun();
    await answers();
    expect(await dropped).toMatchObject({ abandoned: true });
  });

  it('never after an answering machine or without an answer', async () => {
    const machineDetection = {
      mode: 'hangup',
      callback: undefined,
      totalMs: 5000,
      maximumSpeechMs: 4000,
      initialSilenceMs: 3000,
      maximumWords: 4,
      initialGreetingMs: 1500,
    } as const;
    const [machine] = await begun({ machineDetection });
    await answers();
    await later(CONNECTED_MS + 1, () =>
      stage.media.last.detected({ machine: true, reason: 'words' }),
    );
    const detected = await machine;
    expect(detected?.cdr.machine).toBe(true);
    expect(detected?.abandoned).toBeUndefined();
    const [busy] = await begun();
    await stage.signalling.last.ends('refused', 486);
    expect((await busy)?.abandoned).toBeUndefined();
  });
});
