import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFile } from '../../src/agent/agent-file.ts';
import { until } from '../eventually.ts';
import { AGENT, TestCall } from './call.ts';
import { BETA_EVENTS, CURRENT_EVENTS, SESSION_EVENTS } from './openai-events.ts';
import { audio24k, type Event, Vendor } from './vendor.ts';

let vendor: Vendor;
let call: TestCall;
beforeEach(async () => {
  vendor = await Vendor.listen();
});
afterEach(async () => {
  call.conversation.close();
  await vendor.close();
});

const typed = (type: string) => (event: Event) => event['type'] === type;

/** A session that the vendor accepts. */
async function begin(agent: Partial<AgentFile> = {}): Promise<void> {
  vendor.react = (event) => {
    if (event['type'] === 'session.update') vendor.send({ type: 'session.updated', session: {} });
  };
  call = new TestCall({
    ...agent,
    model: { ...AGENT.model, url: vendor.url, apiKey: 'sk-test' },
  });
  await vendor.got(typed('session.update'));
  // The time limit of the session ends when the vendor has accepted it.
  await until(() => call.isReady);
}

const speech = (item: string, ms: number): Event[] => [
  { type: 'response.created', response: { id: 'r1' } },
  { type: 'response.output_audio.delta', item_id: item, content_index: 0, delta: audio24k(ms) },
];
const said = (transcript: string): Event => ({
  type: 'response.output_audio_transcript.done',
  transcript,
});
const done = (response: Event = {}): Event => ({
  type: 'response.done',
  response: { id: 'r1', status: 'completed', output: [], ...response },
});

describe('OpenAI Realtime', () => {
  it('configures the session and passes the audio of both sides without conversion', async () => {
    await begin({ greeting: 'Hello.' });
    const [update] = vendor.received;
    expect(update?.['session']).toMatchObject({
      type: 'realtime',
      instructions: 'Be brief.',
      audio: {
        input: { format: { type: 'audio/pcmu' } },
        output: { format: { type: 'audio/pcm', rate: 24000 } },
      },
    });
    expect(vendor.upgrades[0]?.headers['authorization']).toBe('Bearer sk-test');
    const greeting = await vendor.got(typed('response.create'));
    expect(JSON.stringify(greeting)).toContain('Hello.');
    call.receive({ event: 'media', media: { track: 'inbound', payload: 'fw==' } });
    expect((await vendor.got(typed('input_audio_buffer.append')))['audio']).toBe('fw==');
    vendor.send(...speech('item1', 100));
    const played = await call.told('playAudio');
    expect(played['media']).toEqual({
      contentType: 'audio/x-l16',
      sampleRate: 24000,
      payload: audio24k(100),
    });
    expect(call.of('checkpoint')).toEqual([{ event: 'checkpoint', name: 'item1' }]);
  });

  it('truncates the item at the position that the service reports', async () => {
    await begin();
    vendor.send(...speech('item1', 3000));
    await call.told('playAudio');
    vendor.send({ type: 'input_audio_buffer.speech_started' });
    await call.told('clearAudio');
    call.receive({ event: 'clearedAudio', playedMs: 820 });
    expect(await vendor.got(typed('conversation.item.truncate'))).toMatchObject({
      item_id: 'item1',
      audio_end_ms: 820,
    });
    expect(vendor.received.some(typed('response.cancel'))).toBe(true);
    // Late audio of the interrupted item is not played.
    const before = call.of('playAudio').length;
    vendor.send(...speech('item1', 100), ...speech('item2', 100));
    await call.told('checkpoint', ({ name }) => name === 'item2');
    expect(call.of('playAudio')).toHaveLength(before + 1);
  });

  it('plays an answer that begins before the service has reported the position', async () => {
    await begin();
    vendor.send(...speech('item1', 3000), done());
    await call.told('playAudio');
    vendor.send({ type: 'input_audio_buffer.speech_started' });
    await call.told('clearAudio');
    const before = call.of('playAudio').length;
    // Late audio of the interrupted item, and the answer.
    vendor.send(...speech('item1', 100), ...speech('item2', 100));
    await call.told('checkpoint', ({ name }) => name === 'item2');
    call.receive({ event: 'playedStream', name: 'item1' });
    call.receive({ event: 'clearedAudio', playedMs: 820 });
    const cuts = (): readonly Event[] =>
      vendor.received.filter(typed('conversation.item.truncate'));
    await until(() => cuts().length === 1);
    vendor.send(...speech('item2', 100), said('all sent'));
    await until(() => JSON.stringify(call.notes).includes('all sent'));
    expect(call.of('playAudio')).toHaveLength(before + 2);
    expect(cuts()).toMatchObject([{ item_id: 'item1', audio_end_ms: 820 }]);
    expect(vendor.received.some(typed('response.cancel'))).toBe(false);
    // The answer can be interrupted too.
    vendor.send({ type: 'input_audio_buffer.speech_started' });
    await until(() => call.of('clearAudio').length === 2);
    call.receive({ event: 'clearedAudio', playedMs: 60 });
    await until(() => cuts().length === 2);
    expect(cuts()[1]).toMatchObject({ item_id: 'item2', audio_end_ms: 60 });
    expect(vendor.received.filter(typed('response.cancel'))).toHaveLength(1);
  });

  it('keeps an answer if the service interrupted the audio before it got clearAudio', async () => {
    await begin();
    vendor.send(...speech('item1', 3000), done());
    await call.told('playAudio');
    vendor.send({ type: 'input_audio_buffer.speech_started' });
    await call.told('clearAudio');
    vendor.send(...speech('item2', 100));
    await call.told('checkpoint', ({ name }) => name === 'item2');
    call.receive({ event: 'clearedAudio', reason: 'bargeIn', playedMs: 700 });
    call.receive({ event: 'clearedAudio', playedMs: 0 });
    const before = call.of('playAudio').length;
    vendor.send(...speech('item2', 100), said('all sent'));
    await until(() => JSON.stringify(call.notes).includes('all sent'));
    expect(call.of('playAudio')).toHaveLength(before + 1);
    expect(call.of('clearAudio')).toHaveLength(1);
    const cuts = vendor.received.filter(typed('conversation.item.truncate'));
    expect(cuts).toMatchObject([{ item_id: 'item1', audio_end_ms: 700 }]);
  });

  it('estimates the position for services that do not report it', async () => {
    await begin();
    vendor.send(...speech('item1', 3000));
    await call.told('playAudio');
    await call.clock.advance(1500);
    vendor.send({ type: 'input_audio_buffer.speech_started' });
    await call.told('clearAudio');
    call.receive({ event: 'clearedAudio' });
    const cut = await vendor.got(typed('conversation.item.truncate'));
    expect(cut['audio_end_ms']).toBe(1500);
  });

  it('follows an interruption by the service, and plays again after it', async () => {
    await begin();
    vendor.send(...speech('item1', 3000));
    await call.told('playAudio');
    call.receive({ event: 'clearedAudio', reason: 'bargeIn', playedMs: 400 });
    await vendor.got(typed('conversation.item.truncate'));
    expect(call.of('clearAudio')).toEqual([]);
    vendor.send(done({ status: 'cancelled' }), ...speech('item2', 100));
    await call.told('checkpoint', ({ name }) => name === 'item2');
    const events = call.sent.map(({ event }) => event);
    // The service drops audio after its interruption until it receives clearAudio.
    expect(events.lastIndexOf('clearAudio')).toBeLessThan(events.lastIndexOf('playAudio'));
    call.receive({ event: 'clearedAudio', playedMs: 400 });
    expect(vendor.received.filter(typed('conversation.item.truncate'))).toHaveLength(1);
  });

  it('truncates the item that is being played and all that wait', async () => {
    await begin();
    for (const item of ['item0', 'item1', 'item2']) vendor.send(...speech(item, 1000), done());
    await call.told('checkpoint', ({ name }) => name === 'item2');
    for (const name of ['item0', 'item1']) call.receive({ event: 'playedStream', name });
    vendor.send({ type: 'input_audio_buffer.speech_started' });
    await call.told('clearAudio');
    call.receive({ event: 'clearedAudio', playedMs: 300 });
    const cuts = (): readonly unknown[] =>
      vendor.received
        .filter(typed('conversation.item.truncate'))
        .map((event) => [event['item_id'], event['audio_end_ms']]);
    await until(() => cuts().length === 2);
    expect(cuts()).toEqual([
      ['item1', 300],
      ['item2', 0],
    ]);
  });

  it('does not interrupt with interruption none', async () => {
    await begin({ interruption: 'none' });
    expect(JSON.stringify(vendor.received[0])).toContain('"interrupt_response":false');
    vendor.send(...speech('item1', 3000), { type: 'input_audio_buffer.speech_started' });
    vendor.send(...speech('item2', 20));
    await call.told('checkpoint', ({ name }) => name === 'item2');
    expect(call.of('clearAudio')).toEqual([]);
  });

  it('writes both transcripts to the call record', async () => {
    await begin();
    vendor.send(
      { type: 'conversation.item.input_audio_transcription.completed', transcript: ' Hi there ' },
      { type: 'response.output_audio_transcript.done', transcript: 'How can I help?' },
    );
    await call.told('note', ({ note }) => (note as Event)['speaker'] === 'bot');
    expect(call.notes).toEqual([
      { kind: 'transcript', speaker: 'caller', text: 'Hi there' },
      { kind: 'transcript', speaker: 'bot', text: 'How can I help?' },
    ]);
  });

  it('writes the whole transcript of a long turn, in several notes', async () => {
    await begin();
    const transcript = `${'Take the second street on the left. 😀 '.repeat(60)}You arrived.`;
    vendor.send({ type: 'response.output_audio_transcript.done', transcript });
    await call.told('note', ({ note }) => String((note as Event)['text']).endsWith('arrived.'));
    const texts = call.notes.map((note) => String((note as Event)['text']));
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.join(' ')).toBe(transcript);
  });

  it('runs function calls once, also if their event is missing or has no name', async () => {
    const hangup = { name: 'bye', type: 'hangup', description: 'd' } as AgentFile['tools'][number];
    await begin({ tools: [{ ...hangup, name: 'keys', type: 'digits' }, hangup] });
    const item = {
      type: 'function_call',
      call_id: 'c1',
      name: 'keys',
      arguments: '{"digits":"12"}',
    };
    vendor.send(
      { type: 'response.created' },
      { type: 'response.output_item.added', item: { ...item, arguments: '' } },
      {
        type: 'response.function_call_arguments.done',
        call_id: 'c1',
        arguments: '{"digits":"12"}',
      },
      done({ output: [item] }),
    );
    expect(await vendor.got(typed('conversation.item.create'))).toMatchObject({
      item: { type: 'function_call_output', call_id: 'c1', output: 'sent' },
    });
    // The vendor accepts one response at a time, so that the next one waits for the end of the first.
    await vendor.got(typed('response.create'));
    expect(call.of('sendDTMF')).toEqual([{ event: 'sendDTMF', dtmf: '12' }]);
    vendor.send(
      done({ output: [{ type: 'function_call', call_id: 'c2', name: 'bye', arguments: '' }] }),
    );
    expect(await call.told('stop')).toEqual({ event: 'stop', drain: true });
    expect(call.outcome).toEqual({ kind: 'hangup' });
  });

  it('reports wrong arguments, unknown tools and forbidden destinations to the model', async () => {
    const tool = {
      name: 'move',
      type: 'transfer',
      description: 'd',
      to: ['100'],
      mode: 'blind',
    } as AgentFile['tools'][number];
    await begin({ tools: [tool] });
    const outputs = () =>
      vendor.received
        .filter(typed('conversation.item.create'))
        .map(({ item }) => (item as Event)['output']);
    const send = (id: string, name: string, args: string) =>
      vendor.send({
        type: 'response.output_item.done',
        item: { type: 'function_call', status: 'completed', call_id: id, name, arguments: args },
      });
    send('1', 'move', '{');
    send('2', 'other', '{}');
    send('3', 'move', '{"to":"+1900"}');
    await until(() => outputs().length === 3);
    expect(outputs()).toEqual([
      'error: the arguments are not valid JSON',
      'error: there is no such tool',
      'error: this destination is not allowed',
    ]);
    expect(call.outcome).toBeUndefined();
  });

  it('does not run a function call that an interruption cut off', async () => {
    const bye = { name: 'bye', type: 'hangup', description: 'd' } as AgentFile['tools'][number];
    await begin({ tools: [bye] });
    const item = { id: 'i1', type: 'function_call', call_id: 'c1', name: 'bye', arguments: '' };
    vendor.send(
      { type: 'response.created', response: { id: 'r1', status: 'in_progress' } },
      { type: 'response.output_item.added', item: { ...item, status: 'in_progress' } },
      { type: 'response.function_call_arguments.done', call_id: 'c1', name: 'bye', arguments: '' },
      { type: 'response.output_item.done', item: { ...item, status: 'incomplete' } },
      done({
        status: 'cancelled',
        status_details: { type: 'cancelled', reason: 'turn_detected' },
        output: [{ ...item, status: 'incomplete' }],
      }),
      ...speech('item1', 20),
    );
    await call.told('playAudio');
    await call.clock.advance(5000);
    expect(call.outcome).toBeUndefined();
    expect(call.notes).toEqual([]);
  });

  it('requests one response for several results, and again if the vendor was faster', async () => {
    const keys = { name: 'keys', type: 'digits', description: 'd' } as AgentFile['tools'][number];
    await begin({ tools: [keys] });
    const requests = () => vendor.received.filter(typed('response.create'));
    const output = ['1', '2'].map((digits) => ({
      type: 'function_call',
      status: 'completed',
      call_id: digits,
      name: 'keys',
      arguments: JSON.stringify({ digits }),
    }));
    vendor.send(done({ output }));
    await until(() => vendor.received.filter(typed('conversation.item.create')).length === 2);
    await until(() => requests().length > 0);
    const [request] = requests();
    expect(requests()).toHaveLength(1);
    // The caller spoke at that moment, so that the vendor had begun a response.
    const code = 'conversation_already_has_active_response';
    vendor.send(
      {
        type: 'error',
        error: { type: 'invalid_request_error', code, event_id: request?.['event_id'] },
      },
      done(),
    );
    await until(() => requests().length === 2);
    // Any other refusal permits the next request.
    const refused = { code: 'invalid_value', message: 'm', event_id: requests()[1]?.['event_id'] };
    vendor.send({ type: 'error', error: { type: 'invalid_request_error', ...refused } });
    vendor.send({ type: 'response.output_item.done', item: { ...output[0], call_id: '3' } });
    await until(() => requests().length === 3);
    expect(call.notes.map(({ text }) => text)).toContain(
      'warning: the model reported invalid_value: m',
    );
  });

  it('reports no position after the end of the item, which the vendor would refuse', async () => {
    await begin();
    vendor.send(...speech('item1', 300));
    await call.told('playAudio');
    call.receive({ event: 'clearedAudio', reason: 'bargeIn', playedMs: 420 });
    const cut = await vendor.got(typed('conversation.item.truncate'));
    expect(cut).toEqual({
      type: 'conversation.item.truncate',
      item_id: 'item1',
      content_index: 0,
      audio_end_ms: 300,
    });
  });

  it('states failed transcripts and incomplete responses in the call record', async () => {
    await begin();
    vendor.send(
      {
        type: 'conversation.item.input_audio_transcription.failed',
        item_id: 'i',
        content_index: 0,
        error: { type: 'transcription_error', code: 'audio_unintelligible', message: 'unclear' },
      },
      done({
        status: 'incomplete',
        status_details: { type: 'incomplete', reason: 'content_filter' },
      }),
    );
    await until(() => call.notes.length === 2);
    expect(call.notes.map(({ text }) => text)).toEqual([
      'warning: a transcript failed: unclear',
      'warning: a response is incomplete: content_filter',
    ]);
  });

  it.each(['current', 'beta'] as const)('handles all published events (%s)', async (dialect) => {
    const model = { ...AGENT.model, dialect, url: vendor.url };
    vendor.react = (event) => {
      if (event['type'] === 'session.update') vendor.send(...SESSION_EVENTS);
    };
    call = new TestCall({ model });
    await until(() => call.isReady);
    const events = dialect === 'current' ? CURRENT_EVENTS : BETA_EVENTS;
    for (const event of events) vendor.sendBinary(JSON.stringify(event));
    await call.told('note', ({ note }) => (note as Event)['speaker'] === 'bot');
    await call.told('playAudio');
    vendor.send(...speech('last', 20));
    await call.told('checkpoint', ({ name }) => name === 'last');
    // The recorded words are the only notes: no event is malformed or a failure.
    expect(call.notes).toEqual([
      { kind: 'transcript', speaker: 'caller', text: 'Hi.' },
      { kind: 'transcript', speaker: 'bot', text: 'Hello.' },
    ]);
    expect(call.outcome).toBeUndefined();
  });

  it('ignores malformed and unknown events, with warnings in the call record', async () => {
    await begin();
    vendor.sendText('{');
    vendor.sendText('[]');
    vendor.send(
      { type: 'some.future.event' },
      { type: 'response.output_audio.delta', item_id: 'x' },
      { type: 'response.output_audio.delta', item_id: 'x', delta: 'AAAA' },
      { type: 'response.function_call_arguments.done' },
      { no: 'type' },
      { type: 'error', error: { code: 'response_cancel_not_active' } },
      ...speech('item1', 20),
    );
    await call.told('playAudio');
    expect(call.notes.map(({ text }) => text)).toEqual([
      'warning: an event is not a JSON object',
      'warning: an event is not a JSON object',
      'warning: an audio event is malformed',
      'warning: an audio event is malformed',
      'warning: a function call is malformed',
      'warning: an event has no type',
    ]);
  });
});

/** Each fault costs the caller at most the spoken fallback, and the call record states the cause. */
describe('faults of the vendor', () => {
  const fallback = async (cause: RegExp): Promise<void> => {
    await call.told('stop');
    expect(call.outcome?.kind).toBe('fallback');
    expect(call.notes.map(({ text }) => text).join('\n')).toMatch(cause);
    expect(call.sent.at(-1)).toEqual({ event: 'stop', drain: false });
  };

  it('an endless flow of malformed events', async () => {
    await begin();
    for (let i = 0; i < 30; i += 1) vendor.sendText('?');
    await fallback(/failed: the model sends malformed events/);
  });

  it('a lost connection', async () => {
    await begin();
    for (const socket of vendor.sockets) socket.terminate();
    await fallback(/failed: the model lost the connection/);
  });

  it('a connection that no longer responds', async () => {
    vendor.respondsToPings = false;
    await begin();
    await call.clock.advance(15_000);
    await vendor.pinged();
    expect(call.outcome).toBeUndefined();
    await call.clock.advance(15_000);
    await fallback(/failed: the model does not respond/);
  });

  it('a close with a reason', async () => {
    await begin();
    for (const socket of vendor.sockets) socket.close(1008, 'quota');
    await fallback(/failed: the model closed the connection with 1008 \(quota\)/);
  });

  it('no session', async () => {
    call = new TestCall({ model: { ...AGENT.model, url: vendor.url } });
    await vendor.got(typed('session.update'));
    await call.clock.advance(5000);
    await fallback(/did not accept the session in time/);
  });

  it('a refused session', async () => {
    call = new TestCall({ model: { ...AGENT.model, url: vendor.url } });
    vendor.react = () =>
      vendor.send({ type: 'error', error: { code: 'invalid_api_key', message: 'wrong key' } });
    await fallback(/the model reported invalid_api_key: wrong key/);
  });

  it('no server', async () => {
    call = new TestCall({ model: { ...AGENT.model, url: 'ws://127.0.0.1:1/' } });
    await fallback(/failed: the model cannot be reached: .*ECONNREFUSED/);
  });

  it('no answer to the caller', async () => {
    await begin();
    vendor.send({ type: 'input_audio_buffer.speech_stopped' });
    await until(() => call.clock.nextMs() === 10_000);
    await call.clock.advance(10_000);
    await fallback(/the model did not answer within 10 s/);
  });

  it('a response that stops in the middle', async () => {
    await begin();
    vendor.send(...speech('item1', 2000));
    await call.told('playAudio');
    await call.clock.advance(11_999);
    expect(call.outcome).toBeUndefined();
    await call.clock.advance(1);
    await fallback(/the model stopped in the middle of a response/);
  });

  it('a failed response', async () => {
    await begin();
    const error = { type: 'server_error', code: 'rate_limit_exceeded' };
    vendor.send(done({ status: 'failed', status_details: { type: 'failed', error } }));
    await fallback(/the model failed: rate_limit_exceeded/);
  });
});

describe('limits', () => {
  it('of the cost', async () => {
    await begin({
      prices: { audioOutput: 64 },
      limits: { ...AGENT.limits, cost: 0.01 },
    });
    const usage = {
      output_tokens: 200,
      output_token_details: { audio_tokens: 150 },
    };
    vendor.send(done({ usage }));
    vendor.send(done({ usage }));
    await call.told('stop');
    expect(call.outcome).toEqual({ kind: 'limit' });
    expect(call.notes.at(-1)?.['text']).toBe('ended: limit, cost 0.0192');
  });

  it('of the cost by minutes, without any event', async () => {
    await begin({ prices: { minute: 0.6 }, limits: { ...AGENT.limits, cost: 0.1 } });
    await call.clock.advance(9000);
    expect(call.outcome).toBeUndefined();
    await call.clock.advance(1000);
    expect(call.outcome).toEqual({ kind: 'limit' });
  });

  it('of the duration', async () => {
    await begin({ limits: { ...AGENT.limits, minutes: 0.2 } });
    await call.clock.advance(12_000);
    expect(call.outcome).toEqual({ kind: 'limit' });
  });

  it('of silence, which does not apply while the caller waits for a colleague', async () => {
    await begin({ limits: { ...AGENT.limits, silenceSeconds: 4 } });
    call.receive({ event: 'transfer', transfer: { status: 'ringing', detail: '' } });
    call.receive({ event: 'speechStarted' });
    await call.clock.advance(10_000);
    expect(call.outcome).toBeUndefined();
    call.receive({ event: 'transfer', transfer: { status: 'declined', detail: '' } });
    await call.clock.advance(4000);
    expect(call.outcome).toEqual({ kind: 'limit' });
  });

  it('of silence, which begins after the audio of the model', async () => {
    await begin({ limits: { ...AGENT.limits, silenceSeconds: 4 } });
    vendor.send(...speech('item1', 8000));
    await call.told('playAudio');
    await call.clock.advance(11_000);
    expect(call.outcome).toBeUndefined();
    await call.clock.advance(1000);
    expect(call.outcome).toEqual({ kind: 'limit' });
  });
});

it('passes pressed keys to the model after a pause', async () => {
  await begin();
  for (const digit of ['1', '2', 'x']) call.receive({ event: 'dtmf', dtmf: { digit } });
  await call.clock.advance(1500);
  const note = await vendor.got(typed('conversation.item.create'));
  expect(JSON.stringify(note)).toContain('keys: 12"');
});

it('the beta dialect of compatible servers', async () => {
  vendor.react = (event) => {
    if (event['type'] === 'session.update') vendor.send({ type: 'session.updated' });
  };
  call = new TestCall({ model: { ...AGENT.model, dialect: 'beta', url: vendor.url } });
  const update = await vendor.got(typed('session.update'));
  expect(update['session']).toMatchObject({ input_audio_format: 'g711_ulaw' });
  expect(vendor.upgrades[0]?.headers['openai-beta']).toBe('realtime=v1');
  vendor.send({ type: 'response.audio.delta', item_id: 'a', delta: audio24k(20) });
  await call.told('playAudio');
});
