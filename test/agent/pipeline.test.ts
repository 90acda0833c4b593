import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFile } from '../../src/agent/agent-file.ts';
import { writeWav } from '../../src/phone/audio/wav.ts';
import { until } from '../eventually.ts';
import { TestCall } from './call.ts';
import { type Event, Vendor } from './vendor.ts';

type Handler = (body: string, response: ServerResponse) => void;

/** Stand-in for OpenAI-compatible HTTP servers. */
let server: Server;
let url: string;
let chat: Handler;
let speech: Handler;
let transcription: Handler;
const asked: Event[] = [];
const spoken: string[] = [];
let recognizer: Vendor;
let call: TestCall;

beforeEach(async () => {
  asked.length = 0;
  spoken.length = 0;
  chat = (_, response) => stream(response, ['Of course. ', 'One moment please.']);
  speech = (body, response) => {
    spoken.push((JSON.parse(body) as Event)['input'] as string);
    response.end(Buffer.alloc(48 * 100));
  };
  transcription = (_, response) => void response.end(JSON.stringify({ text: ' Good morning ' }));
  server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  recognizer = await Vendor.listen();
});
afterEach(async () => {
  call.conversation.close();
  await recognizer.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('latin1');
  if (request.url === '/v1/chat/completions') {
    asked.push(JSON.parse(Buffer.concat(chunks).toString()) as Event);
    chat(body, response);
  } else if (request.url === '/v1/audio/speech') speech(body, response);
  else transcription(body, response);
}

function stream(response: ServerResponse, pieces: readonly (string | Event)[]): void {
  for (const piece of pieces) {
    const delta = typeof piece === 'string' ? { content: piece } : piece;
    response.write(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

async function begin(
  agent: Partial<AgentFile> = {},
  type: 'deepgram' | 'websocket' = 'deepgram',
  recognizerModel?: string,
): Promise<void> {
  call = new TestCall({
    ...agent,
    model: {
      type: 'pipeline',
      dialect: 'current',
      recognizer: {
        type,
        url: recognizer.url,
        apiKey: 'dg',
        language: 'en',
        ...(recognizerModel !== undefined && { model: recognizerModel }),
      },
      chat: { url, model: 'm', maxTokens: 100 },
      speech: { url, model: 's', voice: 'v', format: 'pcm' },
    },
  });
  await until(() => recognizer.sockets.length === 1 && call.isReady);
}
/** A call whose utterances are sent to a transcription server. */
function beginWithTranscriptions(): void {
  speech = (_, response) =>
    void response.end(writeWav({ rate: 8000, samples: new Int16Array(800) }));
  call = new TestCall({
    model: {
      type: 'pipeline',
      dialect: 'current',
      recognizer: { type: 'http', url, language: 'en' },
      chat: { url, model: 'm', maxTokens: 100 },
      speech: { url, model: 's', voice: 'v', format: 'wav' },
    },
  });
}
const heard = (transcript: string, final = true): Event => ({
  type: 'Results',
  is_final: final,
  speech_final: final,
  channel: { alternatives: [{ transcript }] },
});
const messagesOf = (request: Event | undefined): Event[] =>
  (request?.['messages'] ?? []) as Event[];
const texts = (): readonly unknown[] => call.notes.map(({ text }) => text);

const frame = (level: number): string =>
  Buffer.from(Int16Array.from({ length: 320 }, (_, i) => level * Math.sin(i / 3)).buffer).toString(
    'base64',
  );
const say = (level: number, frames: number): void => {
  for (let i = 0; i < frames; i += 1)
    call.receive({ event: 'media', media: { track: 'inbound', payload: frame(level) } });
};

describe('the pipeline', () => {
  it('greets, recognizes, answers sentence by sentence, and keeps the history', async () => {
    await begin({ greeting: 'Welcome.' });
    await until(() => texts().includes('Welcome.'));
    recognizer.send({ type: 'SpeechStarted' }, heard('I want', false), heard('I want a taxi'));
    await until(() => texts().includes('Of course. One moment please.'));
    expect(spoken[0]).toBe('Welcome.');
    expect(spoken.slice(1).join(' ')).toBe('Of course. One moment please.');
    expect(asked[0]?.['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'assistant', content: 'Welcome.' },
      { role: 'user', content: 'I want a taxi' },
    ]);
    expect(recognizer.upgrades[0]?.headers['authorization']).toBe('Token dg');
    expect(recognizer.upgrades[0]?.url).toContain('encoding=linear16');
  });

  it('keeps only the words that the caller heard after an interruption', async () => {
    chat = (_, response) => stream(response, ['one two three four five six seven eight nine ten.']);
    await begin();
    recognizer.send(heard('count'));
    await call.told('playAudio');
    recognizer.send({ type: 'SpeechStarted' });
    await call.told('clearAudio');
    call.receive({ event: 'clearedAudio', playedMs: 30 });
    recognizer.send(heard('stop'));
    await until(() => asked.length === 2);
    expect(messagesOf(asked[1]).slice(1)).toEqual([
      { role: 'user', content: 'count' },
      { role: 'assistant', content: 'one two three …' },
      { role: 'user', content: 'stop' },
    ]);
  });

  it('keeps the words that the caller heard if the next turn begins in a pause of the response', async () => {
    let finish: () => void = () => undefined;
    chat = (_, response) => {
      if (asked.length > 1) {
        stream(response, ['Goodbye then.']);
        return;
      }
      const delta = { content: 'One moment please, I look it up. And ' };
      response.write(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
      finish = () => response.end();
    };
    await begin();
    recognizer.send(heard('hello'));
    await call.told('playAudio');
    await call.clock.advance(1000);
    recognizer.send(heard('never mind'));
    await until(() => asked.length === 2);
    finish();
    expect(messagesOf(asked[1]).slice(1)).toEqual([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'One moment please, I look it up. …' },
      { role: 'user', content: 'never mind' },
    ]);
  });

  it.each([
    ['deepgram', [{ type: 'SpeechStarted' }, heard('')]],
    ['websocket', [{ partial: 'huh' }, { text: '' }]],
  ] as const)(
    'lets the caller interrupt after a noise that %s reports without words',
    async (type, noise) => {
      const isDeepgram = type === 'deepgram';
      let finish: () => void = () => undefined;
      chat = (_, response) => {
        finish = () => stream(response, ['one two three four five six seven eight nine ten.']);
      };
      await begin({}, type);
      recognizer.send(isDeepgram ? heard('count') : { text: 'count' });
      await until(() => asked.length === 1);
      // A malformed event is reported, so that the noise before it was handled.
      recognizer.send(...noise);
      recognizer.sendText('[]');
      await until(() => texts().some((text) => String(text).startsWith('warning: recognizer')));
      finish();
      await call.told('playAudio');
      recognizer.send(isDeepgram ? { type: 'SpeechStarted' } : { partial: 'stop' });
      await call.told('clearAudio');
    },
  );

  it('completes a response that may not be interrupted before it answers the next turn', async () => {
    let finish: () => void = () => undefined;
    chat = (_, response) => {
      if (asked.length > 1) {
        stream(response, ['Goodbye then.']);
        return;
      }
      const write = (content: string): void =>
        void response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
      write('This call is recorded. And ');
      finish = () => {
        write('it costs one euro per minute.');
        response.end('data: [DONE]\n\n');
      };
    };
    await begin({ interruption: 'none' });
    recognizer.send(heard('hello'));
    await call.told('playAudio');
    recognizer.send(heard('wait'), heard('please'));
    await until(() => call.notes.some(({ text }) => text === 'please'));
    finish();
    await until(() => texts().includes('Goodbye then.'));
    expect(spoken.join(' ')).toBe(
      'This call is recorded. And it costs one euro per minute. Goodbye then.',
    );
    expect(messagesOf(asked[1]).slice(1)).toEqual([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'This call is recorded. And it costs one euro per minute.' },
      { role: 'user', content: 'wait please' },
    ]);
  });

  it('runs tools with arguments that arrive in pieces, and answers with their results', async () => {
    const tool = { name: 'keys', type: 'digits', description: 'd' } as AgentFile['tools'][number];
    const piece = (id: string | undefined, name: string | undefined, args: string): Event => ({
      tool_calls: [{ index: 0, id, function: { name, arguments: args } }],
    });
    let calls = 0;
    chat = (_, response) => {
      calls += 1;
      if (calls > 1) stream(response, ['Done, thank you.']);
      else
        stream(response, [piece('c1', 'keys', '{"dig'), piece(undefined, undefined, 'its":"5"}')]);
    };
    await begin({ tools: [tool] });
    recognizer.send(heard('press five'));
    await until(() => texts().includes('Done, thank you.'));
    expect(call.of('sendDTMF')).toEqual([{ event: 'sendDTMF', dtmf: '5' }]);
    expect(messagesOf(asked[1]).slice(2)).toMatchObject([
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'sent' },
    ]);
  });

  it('handles all published events of Deepgram, and keeps the connection without audio', async () => {
    await begin();
    const channel = (transcript: string) => ({
      alternatives: [{ transcript, confidence: 0.9, words: [{ word: 'x', start: 0, end: 1 }] }],
    });
    const result = { type: 'Results', channel_index: [0, 1], duration: 1, start: 0 };
    const metadata = { request_id: 'r', model_info: { name: 'n' }, model_uuid: 'u' };
    recognizer.send(
      { type: 'Metadata', transaction_key: 'deprecated', request_id: 'r', channels: 1 },
      { type: 'SpeechStarted', channel: [0, 1], timestamp: 0.4 },
      { ...result, is_final: false, speech_final: false, channel: channel('a taxi'), metadata },
      { ...result, is_final: true, speech_final: false, channel: channel('a taxi'), metadata },
      { ...result, is_final: true, channel: channel(''), metadata, from_finalize: false },
      { type: 'UtteranceEnd', channel: [0, 1], last_word_end: 2.3 },
      { type: 'SomeFutureMessage' },
    );
    await until(() => texts().includes('Of course. One moment please.'));
    expect(texts()).toEqual(['a taxi', 'Of course. One moment please.']);
    const alive = () => recognizer.received.filter(({ type }) => type === 'KeepAlive').length;
    await call.clock.advance(4000);
    await until(() => alive() === 1);
    call.receive({ event: 'media', media: { track: 'inbound', payload: 'AAAA' } });
    await call.clock.advance(3900);
    await call.clock.advance(100);
    await until(() => alive() === 2);
    call.conversation.close();
    await recognizer.got(({ type }) => type === 'CloseStream');
  });

  it('uses the turns that Deepgram Flux detects, and sends it silence without audio', async () => {
    await begin({}, 'deepgram', 'flux-general-multi');
    const url = new URL(recognizer.upgrades[0]?.url ?? '', 'ws://host');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      model: 'flux-general-multi',
      encoding: 'linear16',
      sample_rate: '16000',
      language_hint: 'en',
    });
    const turn = (event: string, transcript: string): Event => ({
      type: 'TurnInfo',
      request_id: 'r',
      sequence_id: 1,
      event,
      turn_index: 0,
      audio_window_start: 0,
      audio_window_end: 1,
      transcript,
      words: [],
      end_of_turn_confidence: 0.5,
    });
    recognizer.send(
      { type: 'Connected', request_id: 'r', sequence_id: 0 },
      turn('StartOfTurn', ''),
      turn('Update', 'I want'),
      turn('EagerEndOfTurn', 'I want'),
      turn('TurnResumed', 'I want a'),
      { type: 'TurnInfo', event: 'EndOfTurn' },
      { type: 'ConfigureSuccess', request_id: 'r', sequence_id: 5 },
      turn('EndOfTurn', 'I want a taxi'),
    );
    await until(() => texts().includes('Of course. One moment please.'));
    expect(texts()[0]).toBe('warning: recognizer: a turn has no transcript');
    expect(messagesOf(asked[0]).slice(1)).toEqual([{ role: 'user', content: 'I want a taxi' }]);
    await call.clock.advance(1000);
    await until(() => recognizer.receivedBytes === 2 * 16_000);
    recognizer.send({ type: 'Error', sequence_id: 9, code: 'INTERNAL', description: 'broken' });
    await call.told('stop');
    expect(texts()).toContain('failed: the recognizer reported: INTERNAL: broken');
  });

  it('speaks the refusal of a chat model, and states that a response was filtered', async () => {
    chat = (_, response) => {
      const choice = (delta: Event, reason: string | null) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
      response.write(choice({ role: 'assistant', content: '', refusal: null }, null));
      response.write(choice({ refusal: 'I cannot help with that.' }, null));
      response.write(choice({}, 'content_filter'));
      response.end('data: [DONE]\n\n');
    };
    await begin();
    recognizer.send(heard('hello'));
    await until(() => texts().includes('I cannot help with that.'));
    expect(texts()).toContain('warning: chat: the response was filtered');
  });

  it('works with a vosk server', async () => {
    await begin({}, 'websocket');
    recognizer.send({ partial: 'hel' }, { text: 'hello' });
    await until(() => texts().includes('Of course. One moment please.'));
    expect(recognizer.received[0]).toEqual({ config: { sample_rate: 16000 } });
  });

  it('cuts utterances for a transcription server, and accepts speech as WAV', async () => {
    beginWithTranscriptions();
    say(0, 20);
    say(9000, 40);
    say(0, 50);
    await until(() => texts().includes('Good morning'));
    expect((await call.told('playAudio'))['media']).toMatchObject({ sampleRate: 24000 });
  });

  it('keeps the order of utterances whose transcriptions overlap', async () => {
    const waiting = new Map<number, ServerResponse>();
    transcription = (body, response) => void waiting.set(body.length, response);
    beginWithTranscriptions();
    for (const frames of [40, 20]) {
      say(0, 20);
      say(9000, frames);
      say(0, 50);
    }
    await until(() => waiting.size === 2);
    const [short = 0, long = 0] = [...waiting.keys()].toSorted((a, b) => a - b);
    waiting.get(short)?.end(JSON.stringify({ text: 'second' }));
    await once(waiting.get(short) as ServerResponse, 'close');
    waiting.get(long)?.end(JSON.stringify({ text: 'first' }));
    await until(() => texts().includes('first') && texts().includes('second'));
    expect(texts().filter((text) => text === 'first' || text === 'second')).toEqual([
      'first',
      'second',
    ]);
  });
});

describe('faults of a pipeline', () => {
  const fails = async (cause: RegExp): Promise<void> => {
    await call.told('stop');
    expect(call.outcome?.kind).toBe('fallback');
    expect(texts().join('\n')).toMatch(cause);
  };

  it('the chat model refuses', async () => {
    chat = (_, response) => void response.writeHead(401).end();
    await begin();
    recognizer.send(heard('hello'));
    await fails(/the chat model responded with status 401/);
  });

  it('the chat model refuses because of its rate limit', async () => {
    chat = (_, response) => void response.writeHead(429, { 'retry-after': '20' }).end();
    await begin();
    recognizer.send(heard('hello'));
    await fails(/the chat model responded with status 429, retry after 20/);
  });

  it('the chat model sends only comments', async () => {
    chat = (_, response) => {
      const timer = setInterval(() => response.write(': keep-alive\n\n'), 1);
      response.on('close', () => clearInterval(timer));
    };
    await begin();
    recognizer.send(heard('hello'));
    await until(() => asked.length === 1);
    await call.clock.advance(10_000);
    await fails(/the model did not answer within 10 s/);
  });

  it('the chat model sends deeply nested events', async () => {
    chat = (_, response) =>
      void response.end(`data: {"choices":${'['.repeat(50_000)}${']'.repeat(50_000)}}\n\n`);
    await begin();
    recognizer.send(heard('hello'));
    await fails(/the chat model returned nothing/);
  });

  it('the chat model sends malformed events and no text', async () => {
    chat = (_, response) => void response.end('data: {\n\ndata: [1]\n\ndata: [DONE]\n\n');
    await begin();
    recognizer.send(heard('hello'));
    await fails(/warning: chat: an event is malformed[\s\S]*the chat model returned nothing/);
  });

  it('the chat model reports an error in its stream', async () => {
    chat = (_, response) => {
      response.write('data: {"choices":[{"delta":{"content":"Well"}}]}\n\n');
      response.end('data: {"error":{"message":"overloaded","type":"server_error"}}\n\n');
    };
    await begin();
    recognizer.send(heard('hello'));
    await fails(/failed: the chat model reported: overloaded/);
  });

  it('the chat model breaks off', async () => {
    chat = (_, response) => {
      response.write('data: {"choices":[{"delta":{"content":"Well"}}]}\n\n');
      response.destroy();
    };
    await begin();
    recognizer.send(heard('hello'));
    await fails(/failed: the model request failed/);
  });

  it('the chat model does not respond', async () => {
    chat = () => undefined;
    await begin();
    recognizer.send(heard('hello'));
    await until(() => asked.length === 1);
    await call.clock.advance(10_000);
    await fails(/the model did not answer within 10 s/);
  });

  it('the chat model calls functions endlessly', async () => {
    const tool = { name: 'keys', type: 'digits', description: 'd' } as AgentFile['tools'][number];
    chat = (_, response) =>
      stream(response, [
        { tool_calls: [{ index: 0, id: 'c', function: { name: 'keys', arguments: '{}' } }] },
      ]);
    await begin({ tools: [tool] });
    recognizer.send(heard('hello'));
    await fails(/the model called functions endlessly/);
    expect(asked).toHaveLength(8);
  });

  it('speech synthesis fails', async () => {
    speech = (_, response) => void response.writeHead(500).end();
    await begin();
    recognizer.send(heard('hello'));
    await fails(/speech synthesis responded with status 500/);
  });

  it('the recognizer disconnects', async () => {
    await begin();
    for (const socket of recognizer.sockets) socket.close(1011, 'NET-0001');
    await fails(/the recognizer closed the connection with 1011 \(NET-0001\)/);
  });

  it('malformed results of the recognizer are skipped', async () => {
    await begin();
    recognizer.sendText('x');
    recognizer.send({ type: 'Results' }, { type: 'Metadata' }, heard('hello'));
    await until(() => texts().includes('Of course. One moment please.'));
    expect(texts().slice(0, 2)).toEqual([
      'warning: recognizer: an event is not a JSON object',
      'warning: recognizer: a result has no transcript',
    ]);
  });
});
