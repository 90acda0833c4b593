/** Models that generate audio faster than it is played: the service gets it shortly before its playback. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFile } from '../../src/agent/agent-file.ts';
import { until } from '../eventually.ts';
import { AGENT, lengthMs, TestCall } from './call.ts';
import { audio24k, type Event, Vendor } from './vendor.ts';

const AHEAD_MS = 13_000;
const LONG_S = 150;

let vendor: Vendor;
let call: TestCall;

beforeEach(async () => {
  vendor = await Vendor.listen();
  vendor.react = (event) => {
    if (event['type'] === 'session.update') vendor.send({ type: 'session.updated' });
  };
});
afterEach(async () => {
  call.conversation.close();
  await vendor.close();
});

async function begin(more: Partial<AgentFile> = {}): Promise<void> {
  call = new TestCall({
    ...more,
    model: { ...AGENT.model, url: vendor.url, apiKey: 'sk-test' },
  });
  await until(() => call.isReady);
}

/** Audio that the service has got, in ms. */
const passedMs = (): number =>
  call.of('playAudio').reduce((sum, message) => sum + lengthMs(message), 0);

/** The model answers with audio of `seconds`, and then with `more`. */
async function speak(seconds: number, ...more: readonly Event[]): Promise<void> {
  const second = audio24k(1000);
  const delta = { type: 'response.output_audio.delta', item_id: 'long', delta: second };
  const transcript = `spoken ${seconds}`;
  vendor.send(
    { type: 'response.created' },
    ...Array<Event>(seconds).fill(delta),
    { type: 'response.output_audio_transcript.done', transcript },
    ...more,
  );
  await until(() => JSON.stringify(call.notes).includes(transcript));
}

/** Advances the clock in steps, between which the vendor answers pings. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    await call.clock.advance(1000);
    await turn();
    await turn();
  }
}

describe('an answer of several minutes', () => {
  it('reaches the service at the speed of its playback', async () => {
    await begin();
    await speak(LONG_S);
    for (let second = 0; second < LONG_S; second += 1) {
      expect(passedMs()).toBeLessThanOrEqual(second * 1000 + AHEAD_MS);
      expect(passedMs()).toBeGreaterThanOrEqual(Math.min(second + 5, LONG_S) * 1000);
      await call.clock.advance(1000);
    }
    expect(passedMs()).toBe(LONG_S * 1000);
    expect(call.of('checkpoint')[0]).toEqual({ event: 'checkpoint', name: 'long' });
    expect(call.outcome).toBeUndefined();
  });

  it('waits while the caller has put the call on hold, also beyond the limits of time', async () => {
    await begin({ limits: { ...AGENT.limits, silenceSeconds: 5, answerSeconds: 5 } });
    await speak(40);
    await pass(10_000);
    call.hold(true);
    const before = passedMs();
    await pass(60_000);
    expect(passedMs() - before).toBeLessThanOrEqual(3000);
    expect(call.outcome).toBeUndefined();
    call.hold(false);
    await pass(30_000);
    expect(passedMs()).toBe(40_000);
    expect(call.outcome).toBeUndefined();
    await pass(10_000);
    expect(call.outcome).toEqual({ kind: 'limit' });
  });

  it('can be interrupted after a hold that was longer than the answer', async () => {
    await begin();
    await speak(30);
    await pass(5000);
    call.hold(true);
    await pass(30_000);
    call.hold(false);
    await pass(5000);
    vendor.send({ type: 'input_audio_buffer.speech_started' });
    await call.told('clearAudio');
    // 250 ms after the last checkpoint: 5 s before the hold, the second that had begun, and 5 s after it.
    call.receive({ event: 'clearedAudio', playedMs: 250 });
    const cut = await vendor.got(({ type }) => type === 'conversation.item.truncate');
    expect(cut['audio_end_ms']).toBe(11_250);
  });

  it('is not continued after an interruption', async () => {
    await begin();
    await speak(LONG_S);
    const before = passedMs();
    call.receive({ event: 'clearedAudio', reason: 'bargeIn', playedMs: 900, discardedMs: 9000 });
    await vendor.got(({ type }) => type === 'conversation.item.truncate');
    await call.clock.advance(5000);
    expect(passedMs()).toBe(before);
  });

  it('is spoken to its end before the model hangs up', async () => {
    const tool = { name: 'bye', type: 'hangup', description: 'd' } as AgentFile['tools'][number];
    await begin({ tools: [tool] });
    const item = { type: 'function_call', call_id: 'c', name: 'bye', arguments: '{}' };
    await speak(LONG_S, {
      type: 'response.done',
      response: { status: 'completed', output: [item] },
    });
    await until(() => call.outcome !== undefined);
    expect(call.outcome).toEqual({ kind: 'hangup' });
    expect(call.of('stop')).toEqual([]);
    await call.clock.advance(LONG_S * 1000);
    expect(passedMs()).toBe(LONG_S * 1000);
    expect(call.sent.at(-1)).toEqual({ event: 'stop', drain: true });
  });

  it('is cut when the caller interrupts the last words', async () => {
    const tool = { name: 'bye', type: 'hangup', description: 'd' } as AgentFile['tools'][number];
    await begin({ tools: [tool] });
    const item = { type: 'function_call', call_id: 'c', name: 'bye', arguments: '{}' };
    await speak(LONG_S, {
      type: 'response.done',
      response: { status: 'completed', output: [item] },
    });
    await until(() => call.outcome !== undefined);
    expect(call.of('stop')).toEqual([]);
    call.receive({ event: 'clearedAudio', reason: 'bargeIn', playedMs: 900, discardedMs: 9000 });
    expect(call.sent.at(-1)).toEqual({ event: 'stop', drain: true });
  });

  it('splits one long message into pieces that fit the queue of the service', async () => {
    await begin();
    vendor.send({
      type: 'response.output_audio.delta',
      item_id: 'one',
      delta: audio24k(100_000),
    });
    await until(() => call.of('playAudio').length > 0);
    expect(passedMs()).toBeLessThanOrEqual(AHEAD_MS);
    await call.clock.advance(100_000);
    expect(passedMs()).toBe(100_000);
  });
});
