import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFile } from '../../src/agent/agent-file.ts';
import { until } from '../eventually.ts';
import { TestCall } from './call.ts';
import { audio24k, type Event, Vendor } from './vendor.ts';

let vendor: Vendor;
let call: TestCall;
beforeEach(async () => {
  vendor = await Vendor.listen();
  vendor.react = (event) => {
    if ('setup' in event) vendor.send({ setupComplete: {} });
  };
});
afterEach(async () => {
  call.conversation.close();
  await vendor.close();
});

async function begin(agent: Partial<AgentFile> = {}): Promise<void> {
  call = new TestCall({
    ...agent,
    model: { type: 'gemini-live', dialect: 'current', url: vendor.url, apiKey: 'key' },
  });
  await vendor.got((event) => 'setup' in event);
  await until(() => call.isReady);
}
const speech = (ms: number): Event => ({
  serverContent: {
    modelTurn: {
      parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: audio24k(ms) } }],
    },
  },
});

describe('Gemini Live', () => {
  it('sets up the session, greets and passes audio', async () => {
    await begin({ greeting: 'Hello.' });
    const [first] = vendor.received;
    expect(first?.['setup']).toMatchObject({
      generationConfig: { responseModalities: ['AUDIO'] },
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
    });
    expect(vendor.upgrades[0]?.headers['x-goog-api-key']).toBe('key');
    const greeting = await vendor.got((event) => 'clientContent' in event);
    expect(JSON.stringify(greeting)).toContain('Hello.');
    call.receive({ event: 'media', media: { track: 'inbound', payload: 'AAAA' } });
    const heard = await vendor.got((event) => 'realtimeInput' in event);
    expect(heard).toEqual({
      realtimeInput: { audio: { data: 'AAAA', mimeType: 'audio/pcm;rate=16000' } },
    });
    vendor.send(speech(100));
    expect((await call.told('playAudio'))['media']).toMatchObject({ sampleRate: 24000 });
  });

  it('clears the audio when the vendor reports an interruption', async () => {
    await begin();
    vendor.send(speech(5000));
    await call.told('playAudio');
    vendor.send({ serverContent: { interrupted: true } });
    await call.told('clearAudio');
    call.receive({ event: 'clearedAudio', playedMs: 100 });
    vendor.send(speech(20));
    await call.told('checkpoint', ({ name }) => name === 'turn-2');
  });

  it('joins the pieces of transcripts', async () => {
    await begin();
    for (const text of ['I need', ' a taxi'])
      vendor.send({ serverContent: { inputTranscription: { text } } });
    vendor.send(
      { serverContent: { outputTranscription: { text: 'Where' } } },
      { serverContent: { outputTranscription: { text: ' to?' } } },
      { serverContent: { turnComplete: true } },
    );
    await call.told('note', ({ note }) => (note as Event)['speaker'] === 'bot');
    expect(call.notes).toEqual([
      { kind: 'transcript', speaker: 'caller', text: 'I need a taxi' },
      { kind: 'transcript', speaker: 'bot', text: 'Where to?' },
    ]);
  });

  it('runs tools, and forgets cancelled ones', async () => {
    const tool = { name: 'keys', type: 'digits', description: 'd' } as AgentFile['tools'][number];
    await begin({ tools: [tool] });
    vendor.send(
      { toolCallCancellation: { ids: ['0'] } },
      { toolCall: { functionCalls: [{ id: '1', name: 'keys', args: { digits: '7' } }, {}] } },
    );
    const reply = await vendor.got((event) => 'toolResponse' in event);
    expect(reply['toolResponse']).toEqual({
      functionResponses: [{ id: '1', name: 'keys', response: { result: 'sent' } }],
    });
    await until(() =>
      call.notes.some(({ text }) => text === 'warning: a function call is malformed'),
    );
  });

  it('ends with the fallback when it does not answer, and states a coming disconnect', async () => {
    await begin();
    vendor.send(
      { goAway: { timeLeft: '5s' } },
      { serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: 'x', data: 1 } }] } } },
      { serverContent: { inputTranscription: { text: 'Hello?' } } },
    );
    await until(() => call.clock.nextMs() === 10_000);
    await call.clock.advance(10_000);
    expect(call.outcome?.kind).toBe('fallback');
    expect(call.notes.map(({ text }) => text)).toEqual([
      'warning: the model will close the connection in 5s',
      'warning: an audio event is malformed',
      'failed: the model did not answer within 10 s',
      'ended: fallback',
    ]);
  });

  it('counts tokens by modality', async () => {
    await begin({
      prices: { audioInput: 3, textInput: 1 },
      limits: { ...(await import('./call.ts')).AGENT.limits, cost: 0.0001 },
    });
    vendor.send({
      usageMetadata: {
        promptTokenCount: 50,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 40 }],
        responseTokenCount: -1,
      },
    });
    await call.told('stop');
    expect(call.outcome).toEqual({ kind: 'limit' });
    expect(call.notes.at(-1)?.['text']).toBe('ended: limit, cost 0.0001');
  });
});
