import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
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
    const greeting = await vendor.got((event) => 'realtimeInput' in event);
    expect(greeting['realtimeInput']).toEqual({ text: expect.stringContaining('Hello.') });
    call.receive({ event: 'media', media: { track: 'inbound', payload: 'AAAA' } });
    const heard = await vendor.got((event) => JSON.stringify(event).includes('audio/pcm'));
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

  it('continues the session over a new connection when the vendor leaves', async () => {
    await begin({ greeting: 'Hello.' });
    const setups = () => vendor.received.filter((event) => 'setup' in event);
    expect(setups()[0]?.['setup']).toMatchObject({
      sessionResumption: {},
      contextWindowCompression: { slidingWindow: {} },
    });
    vendor.send({ sessionResumptionUpdate: { newHandle: 'h1', resumable: true } }, speech(40), {
      goAway: { timeLeft: '50s' },
    });
    await call.told('playAudio');
    // The words of the response end first.
    expect(setups()).toHaveLength(1);
    vendor.send({ serverContent: { generationComplete: true } });
    await until(() => setups().length === 2);
    expect(setups()[1]?.['setup']).toMatchObject({ sessionResumption: { handle: 'h1' } });
    await until(() => vendor.sockets.length === 1);
    const hears = (payload: string) => {
      call.receive({ event: 'media', media: { track: 'inbound', payload } });
      return vendor.received.some((event) => JSON.stringify(event).includes(payload));
    };
    await until(() => hears('BBBB'));
    const greetings = vendor.received.filter((event) => JSON.stringify(event).includes('Hello.'));
    expect(greetings).toHaveLength(1);
    // A lost connection without a state to resume is a failure.
    for (const socket of vendor.sockets) socket.close(1011, 'internal');
    await call.told('stop');
    expect(call.notes.at(-2)?.['text']).toBe(
      'failed: the model closed the connection with 1011 (internal)',
    );
  });

  it('opens no connection after the end of the call, although the vendor leaves', async () => {
    const bye = { name: 'bye', type: 'hangup', description: 'Ends the call.', method: 'POST' };
    const tool = { ...bye, headers: {}, timeoutSeconds: 8, mode: 'blind' } as AgentFile['tools'][0];
    await begin({ tools: [tool] });
    vendor.send({ sessionResumptionUpdate: { newHandle: 'h1', resumable: true } }, speech(40), {
      goAway: { timeLeft: '50s' },
    });
    vendor.send({ toolCall: { functionCalls: [{ id: 't', name: 'bye', args: {} }] } });
    vendor.send({ serverContent: { generationComplete: true } });
    await call.told('stop');
    expect(call.outcome).toEqual({ kind: 'hangup' });
    await begin();
    await until(() => vendor.upgrades.length >= 2);
    expect(vendor.upgrades).toHaveLength(2);
  });

  it('resumes after a lost connection, and fails if the vendor does not accept it in time', async () => {
    await begin();
    vendor.react = () => undefined;
    vendor.send({ sessionResumptionUpdate: { newHandle: 'h', resumable: true } });
    vendor.send(speech(20));
    await call.told('playAudio');
    for (const socket of vendor.sockets) socket.terminate();
    await until(() => vendor.received.filter((event) => 'setup' in event).length === 2);
    expect(call.outcome).toBeUndefined();
    await call.clock.advance(5000);
    await call.told('stop');
    expect(call.notes.at(-2)?.['text']).toBe(
      'failed: the model did not resume the session in time',
    );
  });

  it('keeps the result of a tool until the vendor has confirmed a resumed session', async () => {
    await begin();
    vendor.react = () => undefined;
    vendor.send({ sessionResumptionUpdate: { newHandle: 'h1', resumable: true } }, { goAway: {} });
    await until(() => vendor.received.filter((event) => 'setup' in event).length === 2);
    await until(() => vendor.sockets.length === 1);
    call.model?.toolResult({ id: 't', name: 'look', arguments: '{}' }, 'found');
    const [socket] = vendor.sockets;
    socket?.ping();
    await once(socket as WebSocket, 'pong');
    expect(vendor.received.some((event) => 'toolResponse' in event)).toBe(false);
    vendor.send({ setupComplete: {} });
    expect(await vendor.got((event) => 'toolResponse' in event)).toEqual({
      toolResponse: {
        functionResponses: [{ id: 't', name: 'look', response: { result: 'found' } }],
      },
    });
  });

  it('waits for the answer after an interrupted turn', async () => {
    await begin();
    vendor.send(speech(100));
    await call.told('playAudio');
    vendor.send(
      { serverContent: { interrupted: true } },
      { serverContent: { inputTranscription: { text: 'No' } } },
      { serverContent: { turnComplete: true, turnCompleteReason: 'RESPONSE_REJECTED' } },
    );
    await until(() => call.notes.some(({ text }) => String(text).includes('RESPONSE_REJECTED')));
    await call.clock.advance(10_000);
    expect(call.notes.at(-2)?.['text']).toBe('failed: the model did not answer within 10 s');
  });

  it('does not wait for an answer when the vendor waits for the caller, or ends a turn', async () => {
    await begin();
    for (const end of [{ generationComplete: true }, {}]) {
      vendor.send(
        { serverContent: { inputTranscription: { text: 'Well' } } },
        { serverContent: { ...end, turnComplete: true, turnCompleteReason: 'NEED_MORE_INPUT' } },
      );
    }
    vendor.send(
      { serverContent: { inputTranscription: { text: 'Then' } } },
      { serverContent: { waitingForInput: true } },
      { serverContent: { inputTranscription: { text: 'yes' } } },
      speech(20),
      { serverContent: { generationComplete: true } },
      { serverContent: { inputTranscription: { text: 'No' } } },
      { serverContent: { waitingForInput: true } },
      { toolCall: { functionCalls: [{}] } },
    );
    await until(() => call.notes.some(({ text }) => String(text).includes('malformed')));
    // After the audio, only the ping of the connection is due.
    await call.clock.advance(20);
    expect(call.clock.nextMs()).toBe(15_000);
    // An interrupted turn does not affect the next one.
    vendor.send(
      { serverContent: { interrupted: true } },
      { serverContent: { turnComplete: true } },
      { serverContent: { inputTranscription: { text: 'Hello?' } } },
      { serverContent: { turnComplete: true, turnCompleteReason: 'LAST' } },
    );
    await until(() => call.notes.some(({ text }) => String(text).includes('LAST')));
    await call.clock.advance(12_000);
    expect(call.outcome).toBeUndefined();
  });

  it('sends the subset of JSON schema that the vendor accepts', async () => {
    const http = {
      name: 'book',
      type: 'http',
      description: 'd',
      url: 'http://127.0.0.1:1/',
      parameters: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        properties: {
          day: { type: ['string', 'null'], format: 'date', 'x-note': 1 },
          seats: { type: 'integer', enum: [1, 2] },
          either: { type: ['string', 'integer'] },
          list: { type: 'array', items: { type: 'object', additionalProperties: false } },
          kind: { const: 'a' },
        },
        required: ['day'],
        additionalProperties: false,
      },
    } as unknown as AgentFile['tools'][number];
    const bye = { name: 'bye', type: 'hangup', description: 'e' } as AgentFile['tools'][number];
    await begin({ tools: [http, bye] });
    const setup = vendor.received[0]?.['setup'] as Event | undefined;
    expect(setup?.['tools']).toEqual([
      {
        functionDeclarations: [
          {
            name: 'book',
            description: 'd',
            parameters: {
              type: 'object',
              properties: {
                day: { type: 'string', nullable: true, format: 'date' },
                seats: { type: 'integer' },
                either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
                list: { type: 'array', items: { type: 'object' } },
                kind: { enum: ['a'] },
              },
              required: ['day'],
            },
          },
          { name: 'bye', description: 'e' },
        ],
      },
    ]);
  });

  it('ignores the other published messages, also in binary frames', async () => {
    await begin();
    for (const message of [
      { setupComplete: { sessionId: 's' } },
      { sessionResumptionUpdate: { resumable: false } },
      { voiceActivity: { voiceActivityType: 'ACTIVITY_START', audioOffset: '1.2s' } },
      { voiceActivityDetectionSignal: { vadSignalType: 'VAD_SIGNAL_TYPE_SOS' } },
      { serverContent: { interimInputTranscription: { text: 'Hel' } } },
      { serverContent: { groundingMetadata: {}, urlContextMetadata: {} } },
      { serverContent: { modelTurn: { parts: [{ text: 'thinking', thought: true }] } } },
      { serverContent: { turnComplete: true, interactionStatus: 'IDLE' } },
      { someFutureMessage: {} },
      speech(20),
    ])
      vendor.sendBinary(JSON.stringify(message));
    await call.told('playAudio');
    expect(call.notes).toEqual([]);
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
      prices: { audioInput: 3, textInput: 1, textOutput: 2 },
      limits: { ...(await import('./call.ts')).AGENT.limits, cost: 0.0001 },
    });
    vendor.send({
      usageMetadata: {
        promptTokenCount: 50,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 40 }],
        responseTokenCount: -1,
        toolUsePromptTokenCount: 70,
        thoughtsTokenCount: 100,
      },
    });
    await call.told('stop');
    expect(call.outcome).toEqual({ kind: 'limit' });
    expect(call.notes.at(-1)?.['text']).toBe('ended: limit, cost 0.0004');
  });
});
