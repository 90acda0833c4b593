/** The examples with models, in both languages, against stand-ins for the vendors and the running service. */
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Event, Vendor } from '../agent/vendor.ts';
import type { Handset } from '../e2e/handset.ts';
import { Scene } from '../e2e/scene.ts';
import { eventually } from '../e2e/service.ts';
import { loudMs, toneMs } from '../e2e/tones.ts';
import { ExampleStage, hasPython, LANGUAGES, pcm24k, speech } from './examples-stage.ts';

let stage: ExampleStage;
let vendor: Vendor;
beforeAll(async () => {
  stage = new ExampleStage(await Scene.open());
});
afterAll(async () => {
  stage.stop();
  await stage.scene.close();
});
beforeEach(async () => {
  vendor = await Vendor.listen();
  return () => vendor.close();
});

const heard = (phone: Handset, hz: number, ms: number): Promise<true> =>
  eventually(`${ms} ms of ${hz} Hz`, () => toneMs(phone.received, hz) > ms || undefined);

describe.each(LANGUAGES)('OpenAI Realtime (%s)', (language) => {
  const script = `openai-realtime/bot.${language}`;

  /** The model speaks an item, with its audio in one event. */
  const say = (item: string, hz: number, ms: number): void =>
    vendor.send(
      { type: 'response.created' },
      {
        type: 'response.output_audio.delta',
        item_id: item,
        delta: pcm24k(hz, ms).toString('base64'),
      },
    );
  const greet = (event: Event): void => {
    if (event['type'] === 'session.update') vendor.send({ type: 'session.updated' });
    if (event['type'] === 'response.create') say('greeting', 1000, 20_000);
  };

  it('is silent when the caller speaks, truncates what was not heard, and ends the call', async () => {
    vendor.react = greet;
    const bot = await stage.run(script, { OPENAI_URL: vendor.url, OPENAI_API_KEY: 'sk-1' });
    const phone = await stage.call(bot.url('/answer'));
    await heard(phone, 1000, 500);
    expect(vendor.upgrades[0]?.headers.authorization).toBe('Bearer sk-1');
    expect(vendor.received[0]).toMatchObject({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { format: { type: 'audio/pcmu' } } } },
    });
    phone.say(speech());
    const cut = await vendor.got(({ type }) => type === 'conversation.item.truncate');
    const heardMs = toneMs(phone.received, 1000);
    expect(cut['item_id']).toBe('greeting');
    expect(Math.abs(Number(cut['audio_end_ms']) - heardMs)).toBeLessThan(400);
    expect(vendor.received.some(({ type }) => type === 'response.cancel')).toBe(true);
    // The caller is silent for a second: the model says goodbye and ends the call.
    phone.say(new Int16Array(0));
    const { length } = phone.received;
    await eventually('a second', () => phone.received.length > length + 8000 || undefined);
    say('bye', 700, 600);
    vendor.send(
      { type: 'response.function_call_arguments.done', call_id: 'c', name: 'end_call' },
      { type: 'response.done', response: { status: 'completed' } },
    );
    await phone.ended;
    expect(toneMs(phone.received, 700)).toBeGreaterThan(400);
    await phone.close();
  });

  it('the caller hears a spoken goodbye when the vendor disconnects', async () => {
    vendor.react = greet;
    const bot = await stage.run(script, { OPENAI_URL: vendor.url });
    const phone = await stage.call(bot.url('/answer'));
    await heard(phone, 1000, 200);
    vendor.sendText('{ malformed');
    for (const socket of vendor.sockets) socket.terminate();
    expect((await phone.ended).by).toBe('remote');
    await phone.close();
  });
});

describe.each(LANGUAGES)('Gemini Live (%s)', (language) => {
  it('sends audio after the setup, plays the answer and stops when interrupted', async () => {
    const bot = await stage.run(`gemini-live/bot.${language}`, {
      GEMINI_URL: vendor.url,
      GEMINI_API_KEY: 'g-1',
    });
    // The vendor sends its JSON in binary frames.
    const send = (message: Event): void => {
      for (const socket of vendor.sockets) socket.send(Buffer.from(JSON.stringify(message)));
    };
    vendor.react = (event) => {
      if ('setup' in event) send({ setupComplete: {} });
      const { realtimeInput } = event as { readonly realtimeInput?: Event };
      if (realtimeInput !== undefined && 'text' in realtimeInput) {
        const inlineData = {
          mimeType: 'audio/pcm;rate=24000',
          data: pcm24k(1000, 20_000).toString('base64'),
        };
        send({ serverContent: { modelTurn: { parts: [{ inlineData }] } } });
      }
    };
    const phone = await stage.call(bot.url('/answer'));
    await heard(phone, 1000, 300);
    expect(vendor.upgrades[0]?.headers['x-goog-api-key']).toBe('g-1');
    expect(vendor.received[0]).toMatchObject({
      setup: { generationConfig: { responseModalities: ['AUDIO'] } },
    });
    const heardByModel = await vendor.got((event) =>
      Object.hasOwn((event['realtimeInput'] ?? {}) as Event, 'audio'),
    );
    const { audio } = heardByModel['realtimeInput'] as {
      readonly audio: { readonly mimeType: string; readonly data: string };
    };
    expect(audio.mimeType).toBe('audio/pcm;rate=16000');
    expect(Buffer.from(audio.data, 'base64')).toHaveLength(640);
    send({ serverContent: { interrupted: true } });
    await eventually('silence', () => {
      const last = phone.received.slice(-8000);
      return (last.length === 8000 && loudMs(last) < 500) || undefined;
    });
    for (const socket of vendor.sockets) socket.close();
    await phone.ended;
    await phone.close();
  });
});

describe.each(LANGUAGES)('Deepgram pipeline (%s)', (language) => {
  it('recognizes, answers and speaks; an interruption ends the answer', async () => {
    const { customer } = stage.scene;
    const asked: string[] = [];
    customer.page('/v1/chat/completions', (response, { body }) => {
      asked.push(body);
      response.end(JSON.stringify({ choices: [{ message: { content: 'At nine.' } }] }));
    });
    customer.page('/v1/audio/speech', (response, { body }) => {
      const { input } = JSON.parse(body) as { readonly input: string };
      response.end(input === 'At nine.' ? pcm24k(1300, 20_000) : pcm24k(700, 600));
    });
    const url = `http://${customer.authority}/v1`;
    const bot = await stage.run(`deepgram-pipeline/bot.${language}`, {
      DEEPGRAM_URL: vendor.url,
      DEEPGRAM_API_KEY: 'dg',
      CHAT_URL: url,
      SPEECH_URL: url,
    });
    const phone = await stage.call(bot.url('/answer'));
    await heard(phone, 700, 500);
    expect(vendor.upgrades[0]?.headers.authorization).toBe('Token dg');
    expect(vendor.upgrades[0]?.url).toContain('encoding=linear16&sample_rate=16000');
    const result = (transcript: string, more: Event): Event => ({
      type: 'Results',
      channel: { alternatives: [{ transcript, confidence: 0.98 }] },
      ...more,
    });
    vendor.send(
      { type: 'Metadata' },
      result('When do', { is_final: false, speech_final: false }),
      result('When do', { is_final: true, speech_final: false }),
      result('you open?', { is_final: true, speech_final: true }),
    );
    await heard(phone, 1300, 300);
    expect(JSON.parse(asked[0] ?? '')).toMatchObject({
      messages: [{ role: 'system' }, { role: 'user', content: 'When do you open?' }],
    });
    const before = toneMs(phone.received, 1300);
    phone.say(speech());
    await eventually('silence of the bot', () => {
      const last = phone.received.slice(-4000);
      return (toneMs(last, 1300) === 0 && last.length === 4000) || undefined;
    });
    expect(toneMs(phone.received, 1300) - before).toBeLessThan(3000);
    for (const socket of vendor.sockets) socket.close();
    await phone.ended;
    await phone.close();
  });
});

describe.skipIf(!hasPython)('Pipecat', () => {
  it('greets through the serializer, and clears its audio when interrupted', async () => {
    const bot = await stage.run('pipecat/bot.py', {
      PYTHONPATH: join(import.meta.dirname, 'pipecat'),
      DEEPGRAM_API_KEY: 'k',
      OPENAI_API_KEY: 'k',
      CARTESIA_API_KEY: 'k',
    });
    const phone = await stage.call(bot.url('/answer'));
    await heard(phone, 1000, 500);
    phone.say(speech().subarray(0, 12_000));
    await heard(phone, 700, 400);
    // The greeting of 10 s was cleared.
    expect(toneMs(phone.received, 1000)).toBeLessThan(5000);
    await phone.hangUp();
    expect(bot.program.stderr).toBe('');
  });
});
