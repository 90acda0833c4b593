import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AccountId, asAccountId, asStreamId } from '../../../src/base/ids.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import type { StreamRequest } from '../../../src/domain/dispatch/types.ts';
import { settle } from '../../sim/clock.ts';
import { ANSWER_URL, openStage, type Stage } from './stage.ts';

const STRANGER = asAccountId('MA_SOMEBODYELSE00000');
const NOT_FOUND = { ok: false, error: { kind: 'notFound', what: 'call' } };

let stage: Stage;
let account: AccountId;
beforeEach(async () => {
  stage = await openStage();
  account = stage.account.authId;
});
afterEach(() => stage.close());

async function answered(xml = '<Wait length="3600"/>'): Promise<Call> {
  stage.customer.documents.set(ANSWER_URL, `<Response>${xml}</Response>`);
  const { callUuid } = await stage.placed();
  await stage.signalling.last.answers();
  return stage.live(callUuid);
}

describe('play and speak over REST (dialect §3.4)', () => {
  const file = { lengthMs: 60_000, legs: 'aleg', loop: false, mix: true } as const;
  const urls = ['https://app.test/a.wav', 'https://app.test/b.wav'];
  const leg = () => {
    const [first] = stage.media.legs;
    if (first === undefined) throw new Error('no leg');
    return first;
  };
  const sounding = () => leg().playbacks.filter(({ isOver }) => !isOver).length;

  it('plays files in order, mixed over other audio', async () => {
    const call = await answered();
    await stage.control.play(account, call.uuid, { ...file, urls });
    await settle();
    expect(leg().playbacks).toMatchObject([{ mix: true }]);
    leg().playbacks[0]?.complete();
    await settle();
    expect(leg().playbacks).toHaveLength(2);
    leg().playbacks[1]?.complete();
    await settle();
    expect(leg().playbacks).toHaveLength(2);
    await stage.finish();
  });

  it('repeats with loop, until length ends it', async () => {
    const call = await answered();
    await stage.control.play(account, call.uuid, { ...file, urls, loop: true });
    await settle();
    for (const index of [0, 1]) {
      leg().playbacks[index]?.complete();
      await settle();
    }
    expect(leg().playbacks).toHaveLength(3);
    await stage.clock.advance(60_000);
    expect(sounding()).toBe(0);
    await stage.finish();
  });

  it('replaces an earlier play; stopping is idempotent', async () => {
    const call = await answered();
    await stage.control.play(account, call.uuid, { ...file, urls });
    await settle();
    await stage.control.play(account, call.uuid, { ...file, urls });
    await settle();
    expect(sounding()).toBe(1);
    expect(await stage.control.stopPlay(account, call.uuid)).toMatchObject({ ok: true });
    await settle();
    expect(sounding()).toBe(0);
    expect(await stage.control.stopPlay(account, call.uuid)).toMatchObject({ ok: true });
    await stage.finish();
  });

  it('stops speech and files independently', async () => {
    const call = await answered();
    const words = { text: 'hello', voice: 'WOMAN', language: 'en-US', loop: true } as const;
    await stage.control.speak(account, call.uuid, { ...words, legs: 'aleg', mix: false });
    await settle();
    await stage.control.stopPlay(account, call.uuid);
    await settle();
    expect(sounding()).toBe(1);
    await stage.control.stopSpeak(account, call.uuid);
    await settle();
    expect(sounding()).toBe(0);
    await stage.finish();
  });

  it('ends with the call without an error', async () => {
    const call = await answered();
    await stage.control.play(account, call.uuid, { ...file, urls, loop: true });
    await settle();
    await stage.finish();
    expect(sounding()).toBe(0);
  });
});

describe('audio streams over REST (dialect §1.8)', () => {
  const request: StreamRequest = {
    serviceUrl: 'wss://bot.test/ws',
    bidirectional: true,
    audioTrack: 'inbound',
    timeoutMs: 600_000,
    encoding: 'audio/x-mulaw',
    rate: 8000,
    statusCallback: undefined,
    extraHeaders: [['tenant', '7']],
  };

  it('are initiated, in progress once connected, and absent when stopped', async () => {
    const call = await answered();
    const started = await stage.control.startStream(account, call.uuid, request);
    if (!started.ok) throw new Error(started.error.kind);
    expect(started.value).toMatchObject({ status: 'initiated', timeoutMs: 600_000, rate: 8000 });
    stage.sockets[0]?.started();
    expect(await stage.control.streams(account, call.uuid)).toMatchObject({
      value: [{ streamId: started.value.streamId, status: 'in-progress' }],
    });
    expect(await stage.control.stopStream(account, call.uuid, asStreamId('unknown'))).toEqual({
      ok: false,
      error: { kind: 'notFound', what: 'stream' },
    });
    const { streamId } = started.value;
    expect(await stage.control.stopStream(account, call.uuid, streamId)).toMatchObject({
      ok: true,
    });
    await settle();
    expect(await stage.control.streams(account, call.uuid)).toMatchObject({ value: [] });
    await stage.finish();
  });

  it('refuse ws:// if only encrypted streams are allowed', async () => {
    Object.assign(stage.interpreter().settings, { allowInsecureStreams: false });
    const call = await answered();
    const insecure = { ...request, serviceUrl: 'ws://bot.test/ws' };
    expect(await stage.control.startStream(account, call.uuid, insecure)).toEqual({
      ok: false,
      error: { kind: 'insecureStream' },
    });
    expect(stage.sockets).toEqual([]);
    await stage.finish();
  });

  it('are refused with the reason if the call has not heard a required disclosure', async () => {
    Object.assign(stage.interpreter().settings, { requireDisclosure: true });
    const call = await answered();
    expect(await stage.control.startStream(account, call.uuid, request)).toMatchObject({
      error: { kind: 'wrongState', detail: expect.stringContaining('no disclosure') },
    });
    const oneWay = { ...request, bidirectional: false };
    expect((await stage.control.startStream(account, call.uuid, oneWay)).ok).toBe(true);
    await stage.finish();
  });

  it('are limited to one bidirectional and four one-way streams per call (dialect §1.5)', async () => {
    const call = await answered();
    await stage.control.startStream(account, call.uuid, request);
    expect(await stage.control.startStream(account, call.uuid, request)).toEqual({
      ok: false,
      error: { kind: 'tooMany', limit: 1 },
    });
    const oneWay = { ...request, bidirectional: false };
    for (let i = 0; i < 4; i += 1) await stage.control.startStream(account, call.uuid, oneWay);
    expect(await stage.control.startStream(account, call.uuid, oneWay)).toEqual({
      ok: false,
      error: { kind: 'tooMany', limit: 4 },
    });
    expect(await stage.control.stopStream(account, call.uuid, undefined)).toMatchObject({
      ok: true,
    });
    await settle();
    expect(await stage.control.streams(account, call.uuid)).toMatchObject({ value: [] });
    await stage.finish();
  });

  it('need an answered call of the account', async () => {
    const { callUuid } = await stage.placed();
    expect(await stage.control.startStream(account, callUuid, request)).toMatchObject({
      error: { kind: 'wrongState' },
    });
    expect(await stage.control.streams(STRANGER, callUuid)).toEqual(NOT_FOUND);
    await stage.finish();
  });
});
