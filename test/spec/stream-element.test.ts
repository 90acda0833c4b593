/** Spec "Bidirectional stream socket / Stream element rules" and "Stream status callbacks": tests each rule. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallUuid } from '../../src/base/ids.ts';
import type { StreamSocketEnd } from '../../src/domain/call/needs.ts';
import { settle } from '../sim/clock.ts';
import type { BotSocket } from './calls/media.ts';
import { type Caller, calledFrom } from './calls/phone.ts';
import {
  type CallService,
  DID,
  FAR,
  NOTHING_LEFT,
  openCallService,
  PRICE,
} from './calls/service.ts';
import { document, SITE } from './calls/site.ts';

const BOT = 'wss://bot.test/audio';
const WAIT = '<Wait length="3600"/>';
const STATUS = `statusCallbackUrl="${SITE}/status"`;

let service: CallService;
beforeEach(async () => {
  service = await openCallService();
});
afterEach(() => service.close());

async function finish(): Promise<void> {
  for (const call of service.live()) call.hangup('normal', 'API Request');
  await service.clock.advance(10_000);
  expect(await service.leftovers()).toEqual(NOTHING_LEFT);
}

function caller(body: string): Promise<Caller> {
  service.site.on('/answer', document(body));
  return calledFrom(service);
}

/** Starts a call with this Stream, connected to its bot. `rest` follows in the document. */
async function streaming(attributes: string, rest = ''): Promise<Caller & { socket: BotSocket }> {
  const phone = await caller(`<Stream ${attributes}>${BOT}</Stream>${rest}`);
  const socket = service.bots.last;
  socket.events.started();
  await settle();
  return Object.assign(phone, { socket });
}

async function ends(socket: BotSocket, end: StreamSocketEnd): Promise<void> {
  socket.events.ended(end);
  await settle();
}

/** Event of a socket that the application closes. */
const APP_CLOSES = { kind: 'dropped', detail: 'closed by the application (1000)' } as const;

async function expectInvalid(body: string, reason: RegExp): Promise<void> {
  const { callUuid } = await caller(body);
  expect(await service.cdr()).toMatchObject({
    hangupCauseCode: 8011,
    hangupCauseName: 'Invalid Answer XML',
    hangupSource: 'Error',
    failureReason: expect.stringMatching(reason),
  });
  const [refused] = await service.log(callUuid, 'xml');
  expect(refused).toMatch(/document refused .*"line":2,"column":\d+,"message":"[^"]+.*"expected":/);
  expect(service.bots.sockets).toEqual([]);
  await finish();
}

describe('Stream element rules (spec)', () => {
  it('text content: connects to the trimmed wss:// URL', async () => {
    await caller(`<Stream keepCallAlive="true">\n    ${BOT}?tenant=7\n  </Stream>`);
    expect(service.bots.last.options.url).toBe(`${BOT}?tenant=7`);
    await finish();
  });

  it('text content: refuses a URL in an attribute', async () => {
    await expectInvalid(`\n<Stream url="${BOT}"></Stream>`, /line 2, .*<Stream> has no URL/);
  });

  it.each(['https://bot.test/audio', 'ws://bot.test/audio', 'bot.test'])(
    'text content: refuses %s, which is not a wss:// URL',
    async (url) => {
      await expectInvalid(`\n<Stream>${url}</Stream>`, /line 2, .*expected a wss:\/\/ URL/);
    },
  );

  it.each([
    ['true', true],
    ['false', false],
  ])(
    'bidirectional="%s" determines whether the socket accepts playAudio',
    async (text, expected) => {
      await caller(`<Stream keepCallAlive="true" bidirectional="${text}">${BOT}</Stream>`);
      expect(service.bots.last.options.bidirectional).toBe(expected);
      await finish();
    },
  );

  it('bidirectional is false by default: the socket only receives', async () => {
    await caller(`<Stream keepCallAlive="true">${BOT}</Stream>`);
    expect(service.bots.last.options).toMatchObject({ bidirectional: false, tracks: 'inbound' });
    await finish();
  });

  it('keepCallAlive="true" pauses the document while the socket is open', async () => {
    const { socket } = await streaming('bidirectional="true" keepCallAlive="true"', '<Hangup/>');
    await service.clock.advance(3_600_000);
    expect(service.live()).toHaveLength(1);
    await ends(socket, { kind: 'stopRequested' });
    expect(await service.cdr()).toMatchObject({ hangupSource: 'Answer XML' });
    await finish();
  });

  it('without keepCallAlive the call continues with the next element', async () => {
    await caller(`<Stream bidirectional="true">${BOT}</Stream><Speak>Hello</Speak>`);
    expect(service.bots.sockets).toHaveLength(1);
    expect(service.spoken).toEqual(['Hello']);
    await finish();
  });

  it('notes and transfers, extensions, are refused by default', async () => {
    await streaming('bidirectional="true" keepCallAlive="true"');
    expect(service.bots.last.options).toMatchObject({ notes: false, transfers: false });
    await finish();
  });

  it.each(['bidirectional="true"', 'keepCallAlive="true"'])(
    'transfers="true" with only %s is rejected as Invalid Answer XML',
    async (attribute) => {
      await expectInvalid(
        `\n<Stream transfers="true" ${attribute}>${BOT}</Stream>`,
        /transfers="true" without bidirectional and keepCallAlive/,
      );
    },
  );

  it.each(['both', 'outbound'])(
    'audioTrack="%s" with bidirectional is rejected as Invalid Answer XML',
    async (track) => {
      await expectInvalid(
        `\n<Stream bidirectional="true" audioTrack="${track}">${BOT}</Stream>`,
        /line 2, column \d+: audioTrack="\w+" together with bidirectional; expected audioTrack: inbound/,
      );
    },
  );

  it('audioTrack="inbound" is valid with bidirectional', async () => {
    await streaming('bidirectional="true" audioTrack="inbound" keepCallAlive="true"');
    expect(service.bots.last.options).toMatchObject({ bidirectional: true, tracks: 'inbound' });
    await finish();
  });

  it.each(['inbound', 'outbound', 'both'])('audioTrack="%s" is valid one-way', async (track) => {
    await caller(`<Stream keepCallAlive="true" audioTrack="${track}">${BOT}</Stream>`);
    expect(service.bots.last.options.tracks).toBe(track);
    await finish();
  });

  it.each([
    ['audio/x-mulaw;rate=8000', 'audio/x-mulaw', 8000],
    ['audio/x-l16;rate=8000', 'audio/x-l16', 8000],
    ['audio/x-l16;rate=16000', 'audio/x-l16', 16_000],
  ])(
    'contentType="%s" is the format from the service to the application',
    async (contentType, encoding, rate) => {
      await caller(`<Stream keepCallAlive="true" contentType="${contentType}">${BOT}</Stream>`);
      expect(service.bots.last.options).toMatchObject({ encoding, rate });
      await finish();
    },
  );

  it('contentType with a rate of 24000 is Invalid Answer XML; the record has line and reason', async () => {
    await expectInvalid(
      `\n<Stream bidirectional="true" contentType="audio/x-l16;rate=24000">${BOT}</Stream>`,
      /line 2, column \d+: contentType with rate=24000; expected .*24000 is for playAudio alone/,
    );
  });

  it('accepts mu-law only with a rate of 8000', async () => {
    await expectInvalid(
      `\n<Stream contentType="audio/x-mulaw;rate=16000">${BOT}</Stream>`,
      /line 2, .*contentType/,
    );
  });
});

describe('the socket and the document (spec; decisions: Stream; dialect §1)', () => {
  it('stop by the application ends the stream and the document continues to End Of XML', async () => {
    const { socket } = await streaming(`keepCallAlive="true" ${STATUS}`);
    await ends(socket, { kind: 'stopRequested' });
    expect(service.site.events('/status')).toEqual(['StartStream', 'StopStream']);
    expect(await service.cdr()).toMatchObject({
      hangupCauseCode: 4010,
      hangupSource: 'Carillon',
      hangupDisposition: 'send_bye',
    });
    await finish();
  });

  it('an unreachable bot: DroppedStream, and the document continues', async () => {
    await caller(`<Stream keepCallAlive="true" ${STATUS}>${BOT}</Stream><Speak>Sorry</Speak>`);
    await ends(service.bots.last, { kind: 'connectFailed', detail: 'HTTP status 403' });
    expect(service.site.events('/status')).toEqual(['DroppedStream']);
    expect(service.spoken).toEqual(['Sorry']);
    await finish();
  });

  it('streamTimeout: StopStream, reason stream_timeout on the socket, and the document continues', async () => {
    const { socket } = await streaming(
      `keepCallAlive="true" streamTimeout="30" ${STATUS}`,
      '<Speak>Over</Speak>',
    );
    await service.clock.advance(29_900);
    expect(socket.isOver).toBe(false);
    await service.clock.advance(200);
    expect(socket.closedWith).toBe('stream_timeout');
    expect(service.site.events('/status')).toEqual(['StartStream', 'StopStream']);
    expect(service.spoken).toEqual(['Over']);
    await finish();
  });

  it('only maxRetries controls reconnects: a new socket, a new stream ID, the same call', async () => {
    const { socket, callUuid } = await streaming(`keepCallAlive="true" maxRetries="1" ${STATUS}`);
    await ends(socket, APP_CLOSES);
    await service.clock.advance(1000);
    const again = service.bots.last;
    expect(service.bots.sockets).toHaveLength(2);
    expect(again.options.callUuid).toBe(callUuid);
    expect(again.options.streamId).not.toBe(socket.options.streamId);
    again.events.started();
    await ends(again, APP_CLOSES);
    await service.clock.advance(60_000);
    expect(service.bots.sockets).toHaveLength(2);
    expect(service.site.events('/status')).toEqual(['StartStream', 'StartStream', 'DroppedStream']);
    await finish();
  });

  it('charges a reconnecting stream once, for its connected time', async () => {
    const { socket } = await streaming('keepCallAlive="true" maxRetries="2"');
    await service.clock.advance(20_000);
    await ends(socket, APP_CLOSES);
    await service.clock.advance(1000);
    service.bots.last.events.started();
    await service.clock.advance(20_000);
    // The last reconnect fails for 50 s, which are not charged.
    await ends(service.bots.last, APP_CLOSES);
    await service.clock.advance(1000);
    await service.clock.advance(50_000);
    await ends(service.bots.last, { kind: 'connectFailed', detail: 'HTTP status 403' });
    expect(await service.cdr()).toMatchObject({
      streams: [
        {
          streamId: socket.options.streamId,
          billedMs: 60_000,
          connectedUs: 40_000_000,
          terminationReason: 'Connection error',
        },
      ],
    });
    const debits = await service.debits();
    const charges = debits.filter(({ referenceType }) => referenceType === 'stream_cdr');
    expect(charges.map(({ reference }) => reference)).toEqual([
      `stream_cdr:${socket.options.streamId}`,
    ]);
    await finish();
  });

  it('a stream that never connected sends no StopStream, and stays listed as failed during its call', async () => {
    const { callUuid } = await caller(`<Stream ${STATUS}>${BOT}</Stream>${WAIT}`);
    await ends(service.bots.last, { kind: 'connectFailed', detail: 'HTTP status 403' });
    expect(service.site.events('/status')).toEqual(['DroppedStream']);
    const { streamId } = service.bots.last.options;
    const shown = await service.control.streams(service.accountId, callUuid);
    expect(shown).toMatchObject({
      value: [{ streamId, status: 'failed', endUs: expect.any(Number) }],
    });
    await finish();
  });

  it('a stream stopped while it connects sends no callback, because it has not started', async () => {
    const { callUuid } = await caller(`<Stream ${STATUS}>${BOT}</Stream>${WAIT}`);
    await service.control.stopStream(service.accountId, callUuid, undefined);
    await service.clock.advance(100);
    expect(service.site.events('/status')).toEqual([]);
    await finish();
  });

  it('a reconnected stream is shown with its new ID and stopped by any of its IDs', async () => {
    const { socket, callUuid } = await streaming('keepCallAlive="true" maxRetries="2"', WAIT);
    const first = socket.options.streamId;
    await ends(socket, APP_CLOSES);
    await service.clock.advance(1000);
    const second = service.bots.last.options.streamId;
    const shown = () => service.control.streams(service.accountId, callUuid);
    expect(await shown()).toMatchObject({ value: [{ streamId: second, status: 'initiated' }] });
    service.bots.last.events.started();
    await ends(service.bots.last, APP_CLOSES);
    await service.clock.advance(1000);
    const third = service.bots.last;
    third.events.started();
    expect(new Set([first, second, third.options.streamId]).size).toBe(3);
    expect(await service.control.stopStream(service.accountId, callUuid, first)).toMatchObject({
      ok: true,
    });
    expect(third.closedWith).toBe('api_request');
    expect(await shown()).toMatchObject({ value: [] });
    await finish();
  });

  it('stop with drain: the document waits for the bot’s remaining audio, then continues', async () => {
    const { socket, callUuid } = await streaming(
      `bidirectional="true" keepCallAlive="true" ${STATUS}`,
      '<Hangup/>',
    );
    await service.control.stopStream(service.accountId, callUuid, undefined, true);
    await service.clock.advance(5000);
    expect(socket).toMatchObject({ closedWith: 'api_request', drains: true });
    expect(service.live()).toHaveLength(1);
    expect(service.site.events('/status')).toEqual(['StartStream']);
    await ends(socket, { kind: 'closed' });
    expect(service.site.events('/status')).toEqual(['StartStream', 'StopStream']);
    expect(await service.cdr()).toMatchObject({
      hangupSource: 'Answer XML',
      streams: [{ terminationReason: 'API request' }],
    });
    await finish();
  });

  it('stop with drain: a hangup or a stop without drain ends the stream immediately', async () => {
    const { socket, callUuid, hangsUp } = await streaming('bidirectional="true"', WAIT);
    await service.control.stopStream(service.accountId, callUuid, undefined, true);
    await hangsUp();
    expect(socket.closedWith).toBe('call_hangup');
    expect((await service.cdr()).streams).toMatchObject([{ terminationReason: 'Call hangup' }]);
    await finish();
  });

  it.each([
    ['wss://user:secret@bot.test/a', 'wss://bot.test/a'],
    ['wss://user:p@secret@bot.test/a', 'wss://bot.test/a'],
    ['wss://bot.test?mail=a@b.test', 'wss://bot.test?mail=a@b.test'],
  ])('passes user information to the bot only: %s is shown as %s', async (url, shown) => {
    const { callUuid } = await caller(`<Stream keepCallAlive="true" ${STATUS}>${url}</Stream>`);
    expect(service.bots.last.options.url).toBe(url);
    service.bots.last.events.started();
    await settle();
    expect(service.site.reported('/status')[0]).toMatchObject({ ServiceURL: shown });
    expect(await service.control.streams(service.accountId, callUuid)).toMatchObject({
      value: [{ serviceUrl: shown }],
    });
    await finish();
  });

  it('a background stream continues during a Dial and a transfer of its leg', async () => {
    const { socket, callUuid } = await streaming(
      'bidirectional="true"',
      `<Dial callerId="${DID}" action="${SITE}/dialled" redirect="false"><Number>${FAR}</Number></Dial>${WAIT}`,
    );
    await service.signalling.last.answers();
    await service.signalling.last.ends('bye');
    expect(socket.isOver).toBe(false);
    service.site.on('/moved', document(WAIT));
    await transfer(callUuid);
    expect(service.site.reported('/moved')).toHaveLength(1);
    expect(socket.isOver).toBe(false);
    await finish();
  });

  it('a keepCallAlive stream ends when its document is replaced, with reason transfer', async () => {
    const { socket, callUuid } = await streaming(`keepCallAlive="true" ${STATUS}`);
    service.site.on('/moved', document(WAIT));
    await transfer(callUuid);
    expect(socket.closedWith).toBe('transfer');
    expect(service.site.events('/status')).toEqual(['StartStream', 'StopStream']);
    await finish();
  });

  it('one bidirectional stream per call: skips and logs a second one', async () => {
    const { callUuid } = await streaming(
      'bidirectional="true"',
      `<Stream bidirectional="true" keepCallAlive="true">${BOT}</Stream><Speak>Next</Speak>`,
    );
    expect(service.bots.sockets).toHaveLength(1);
    expect(service.spoken).toEqual(['Next']);
    const warnings = await service.log(callUuid, 'warning');
    expect(warnings.join()).toContain('one bidirectional stream per call');
    await finish();
  });

  it("sends the application's DTMF on the leg while the stream continues", async () => {
    const { socket, media } = await streaming('bidirectional="true" keepCallAlive="true"');
    socket.events.sendDigits('12#');
    expect(media.digits).toEqual(['12#']);
    expect(socket.isOver).toBe(false);
    await finish();
  });
});

async function transfer(callUuid: CallUuid): Promise<void> {
  const aleg = { url: `${SITE}/moved`, method: 'POST' } as const;
  const request = { legs: 'aleg', aleg, bleg: undefined } as const;
  expect(await service.control.transfer(service.accountId, callUuid, request)).toMatchObject({
    ok: true,
  });
  await settle();
}

describe('stream status callbacks (spec: names; dialect §1.7: fields)', () => {
  it('follow the lifecycle: StartStream, PlayedStream, ClearedAudio, StopStream', async () => {
    const { socket } = await streaming(`bidirectional="true" keepCallAlive="true" ${STATUS}`);
    socket.events.played('utt-7');
    socket.events.cleared();
    await ends(socket, { kind: 'stopRequested' });
    expect(service.site.events('/status')).toEqual([
      ...['StartStream', 'PlayedStream', 'ClearedAudio', 'StopStream'],
    ]);
    expect(service.site.reported('/status')[1]).toMatchObject({ Name: 'utt-7' });
    await finish();
  });

  it('contain the fields of the table', async () => {
    const { socket, callUuid } = await streaming(
      `bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000"
       streamTimeout="600" extraHeaders="tenant=7" ${STATUS}`,
    );
    expect(service.site.onlyCallback('/status')).toEqual({
      From: FAR,
      To: DID,
      CallUUID: callUuid,
      Event: 'StartStream',
      StreamID: socket.options.streamId,
      ServiceURL: BOT,
      ParentAuthID: service.accountId,
      status_callback_url: `${SITE}/status`,
      status_callback_method: 'POST',
      Timestamp: expect.stringMatching(/^2026-01-01 00:00:\d\d$/),
      Error: '',
      bidirectional: 'true',
      audioTrack: 'inbound',
      streamTimeout: '600',
      contentType: 'audio/x-mulaw;rate=8000',
      extraHeaders: 'tenant=7',
      maxRetries: '0',
      keepCallAlive: 'true',
      Direction: 'inbound',
      CallStatus: 'in-progress',
    });
    await finish();
  });

  it('use statusCallbackMethod, POST by default', async () => {
    await streaming(`keepCallAlive="true" ${STATUS}`);
    await streaming(`keepCallAlive="true" ${STATUS} statusCallbackMethod="GET"`);
    const methods = service.site.requested.filter(({ path }) => path === '/status');
    expect(methods.map(({ method }) => method)).toEqual(['POST', 'GET']);
    await finish();
  });

  it('DegradedStream reports a growing queue', async () => {
    const { socket } = await streaming(`bidirectional="true" keepCallAlive="true" ${STATUS}`);
    socket.events.degraded(60);
    await settle();
    expect(service.site.reported('/status')[1]).toMatchObject({
      Event: 'DegradedStream',
      Error: 'connection degraded',
    });
    await finish();
  });

  it('DroppedStream is sent when the application closes the socket; the CDR says Connection error', async () => {
    const { socket, hangsUp } = await streaming(`keepCallAlive="true" ${STATUS}`, WAIT);
    await ends(socket, APP_CLOSES);
    expect(service.site.reported('/status').at(-1)).toMatchObject({
      Event: 'DroppedStream',
      StreamID: socket.options.streamId,
      Error: 'connection disconnected with the remote service',
    });
    await hangsUp();
    expect(await service.cdr()).toMatchObject({
      streams: [{ terminationReason: 'Connection error' }],
    });
    expect(service.site.events('/status')).toEqual(['StartStream', 'DroppedStream']);
    await finish();
  });

  it('exactly one final event, also on a hangup, before the Hangup callback', async () => {
    const { hangsUp, socket } = await streaming(`keepCallAlive="true" ${STATUS}`);
    await hangsUp();
    expect(socket.closedWith).toBe('call_hangup');
    expect(service.site.events('/status')).toEqual(['StartStream', 'StopStream']);
    expect(service.site.requested.map(({ path }) => path).slice(-2)).toEqual([
      '/status',
      '/hangup',
    ]);
    await finish();
  });

  it('none are sent without statusCallbackUrl', async () => {
    const { hangsUp } = await streaming('keepCallAlive="true"');
    await hangsUp();
    expect(service.site.requested.map(({ path }) => path)).toEqual(['/answer', '/hangup']);
    await finish();
  });
});

describe('stream_termination_reason and billing in the CDR (spec: CDR, Limits)', () => {
  it.each<[string, (phone: Caller & { socket: BotSocket }) => Promise<void>]>([
    ['Call hangup', (phone) => phone.hangsUp()],
    ['Connection error', ({ socket }) => ends(socket, APP_CLOSES)],
    ['API request', ({ socket }) => ends(socket, { kind: 'stopRequested' })],
    [
      'API request',
      async ({ callUuid }) => {
        await service.control.stopStream(service.accountId, callUuid, undefined);
        await settle();
      },
    ],
    ['Stream timeout', () => service.clock.advance(30_000)],
  ])('%s', async (reason, end) => {
    const phone = await streaming('keepCallAlive="true" streamTimeout="30"');
    await service.clock.advance(5000);
    await end(phone);
    expect((await service.cdr()).streams).toMatchObject([{ terminationReason: reason }]);
    await finish();
  });

  it('rounds a 44 s stream up to 60 s and charges it on a separate line from the voice', async () => {
    const { hangsUp, socket, callUuid } = await streaming('keepCallAlive="true"');
    await service.clock.advance(44_000);
    await hangsUp();
    const cdr = await service.cdr();
    expect(cdr).toMatchObject({
      billedMs: 60_000,
      cost: PRICE.inbound,
      streamingCost: PRICE.stream,
      streams: [{ billedMs: 60_000, billedAmount: PRICE.stream }],
    });
    const debits = await service.debits();
    expect(debits.map(({ reference, amount }) => [reference, amount]).sort()).toEqual([
      [`cdr:${callUuid}`, PRICE.inbound],
      [`stream_cdr:${socket.options.streamId}`, PRICE.stream],
    ]);
    expect(service.site.onlyCallback('/hangup')).not.toHaveProperty('TotalCost');
    await finish();
  });

  it('reports a stream that never connected with its reason, without charge', async () => {
    await caller(`<Stream keepCallAlive="true">${BOT}</Stream>`);
    const { streamId } = service.bots.last.options;
    await ends(service.bots.last, { kind: 'connectFailed', detail: 'refused' });
    const free = { billedMs: 0, billedAmount: 0 };
    expect(await service.cdr()).toMatchObject({
      streams: [{ streamId, terminationReason: 'Connection error', ...free }],
      streamingCost: 0,
    });
    expect((await service.debits()).map(({ reference }) => reference)).not.toContain(
      `stream_cdr:${streamId}`,
    );
    await finish();
  });

  it('streams that never connected do not count towards the limit', async () => {
    const refused = `<Stream keepCallAlive="true">${BOT}</Stream>`;
    await caller(`${refused.repeat(60)}<Stream keepCallAlive="true">${BOT}</Stream>`);
    for (let i = 0; i < 60; i += 1) {
      await ends(service.bots.last, { kind: 'connectFailed', detail: 'refused' });
    }
    service.bots.last.events.started();
    await ends(service.bots.last, { kind: 'stopRequested' });
    const { streams } = await service.cdr();
    expect(streams).toHaveLength(21);
    expect(streams.at(-1)).toMatchObject({ terminationReason: 'API request' });
    await finish();
  });
});
