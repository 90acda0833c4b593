import { describe, expect, it } from 'vitest';
import { DEFAULT_SESSION_LIMITS as LIMITS } from '../../../src/protocol/audio-stream/audio-stream.ts';
import { ends, kinds, Rig, STREAM, sent } from './fixture.ts';

const PLAY = { event: 'playAudio', media: { payload: 'AAAA' } };

describe('messages of the service', () => {
  it('start is the first', () => {
    const rig = new Rig();
    expect(sent(rig.tell({ kind: 'opened' }))).toMatchObject([{ event: 'start' }]);
    expect(
      sent(rig.tell({ kind: 'dtmf', digit: '5', timestampMs: 1_760_000_001_000 })),
    ).toMatchObject([{ event: 'dtmf', dtmf: { digit: '5' } }]);
  });

  it('nothing is sent before the upgrade and after the end', () => {
    const rig = new Rig();
    expect(rig.tell({ kind: 'dtmf', digit: '5', timestampMs: 0 })).toEqual([]);
    expect(rig.session.sending).toBe(false);
    rig.open().tell({ kind: 'socketClosed', detail: 'gone' });
    expect(rig.tell({ kind: 'dtmf', digit: '5', timestampMs: 0 })).toEqual([]);
    expect(rig.bot({ event: 'clearAudio' })).toEqual([]);
    expect(rig.session.sending).toBe(false);
  });
});

describe('checkpoints and clears (spec: Bidirectional stream socket)', () => {
  it('a checkpoint is answered with its name once what was queued before it has played', () => {
    const rig = new Rig().open();
    const asked = rig.bot({ event: 'checkpoint', name: 'utt-7' });
    expect(asked).toEqual([{ kind: 'checkpoint', id: '1' }]);
    const played = rig.tell({ kind: 'played', checkpoint: '1' });
    expect(sent(played)).toEqual([
      { sequenceNumber: 0, event: 'playedStream', streamId: STREAM.streamId, name: 'utt-7' },
    ]);
    expect(played).toContainEqual({ kind: 'played', name: 'utt-7' });
  });

  it('a checkpoint is answered once', () => {
    const rig = new Rig().open();
    rig.bot({ event: 'checkpoint', name: 'a' });
    rig.tell({ kind: 'played', checkpoint: '1' });
    expect(rig.tell({ kind: 'played', checkpoint: '1' })).toEqual([]);
  });

  it('clearAudio empties the queue before it is confirmed', () => {
    const rig = new Rig().open();
    expect(kinds(rig.bot({ event: 'clearAudio', streamId: STREAM.streamId }))).toEqual([
      'clearQueue',
      'send',
      'cleared',
    ]);
  });

  it('a checkpoint discarded by a clear never completes, even when its mark was already on the way', () => {
    const rig = new Rig().open();
    rig.bot({ event: 'checkpoint', name: 'a' });
    rig.bot({ event: 'clearAudio' });
    rig.bot({ event: 'checkpoint', name: 'a' });
    expect(rig.tell({ kind: 'played', checkpoint: '1' })).toEqual([]);
    expect(sent(rig.tell({ kind: 'played', checkpoint: '2' }))).toMatchObject([{ name: 'a' }]);
  });

  it('checkpoints beyond the limit are refused as buffer_full', () => {
    const rig = new Rig({}, { ...LIMITS, checkpoints: 2 }).open();
    rig.bot({ event: 'checkpoint', name: 'a' });
    rig.bot({ event: 'checkpoint', name: 'b' });
    expect(sent(rig.bot({ event: 'checkpoint', name: 'c' }))).toMatchObject([
      { event: 'error', error: { code: 'buffer_full' } },
    ]);
    rig.tell({ kind: 'played', checkpoint: '1' });
    expect(kinds(rig.bot({ event: 'checkpoint', name: 'd' }))).toEqual(['checkpoint']);
  });
});

describe('audio that the media engine left over', () => {
  it('playAudio goes to the queue in its own format', () => {
    const media = { contentType: 'audio/x-l16;rate=24000', payload: 'AAAA' };
    expect(new Rig().open().bot({ event: 'playAudio', media })).toMatchObject([
      { kind: 'enqueue', encoding: 'audio/x-l16', rate: 24000, payload: Buffer.alloc(3) },
    ]);
  });

  it('a full queue is buffer_full', () => {
    expect(sent(new Rig().open().tell({ kind: 'refused', why: 'bufferFull' }))).toMatchObject([
      { event: 'error', error: { code: 'buffer_full' } },
    ]);
  });

  it.each([
    ['badPayload', 'invalid_payload'],
    ['unsupportedFormat', 'unsupported_format'],
    ['wrongStream', 'invalid_message'],
    ['bufferFull', 'buffer_full'],
  ] as const)('the refusal %s is told as %s and the socket stays', (why, code) => {
    const rig = new Rig().open();
    const outputs = rig.tell({ kind: 'refused', why });
    expect(sent(outputs)).toMatchObject([{ event: 'error', error: { code } }]);
    expect(outputs).toContainEqual(expect.objectContaining({ kind: 'fault', code }));
    expect(rig.session.sending).toBe(true);
  });
});

describe('bad messages', () => {
  it('broken JSON is an error event, never a close', () => {
    const rig = new Rig().open();
    expect(sent(rig.bot('{"event":'))).toMatchObject([
      { event: 'error', error: { code: 'invalid_message' } },
    ]);
    expect(ends(rig.all)).toEqual([]);
  });

  it('errors are told at a bounded rate, and the untold are counted at the end', () => {
    const rig = new Rig({}, { ...LIMITS, errors: { perSecond: 1, burst: 3 } }).open();
    for (let i = 0; i < 10; i += 1) rig.bot('rubbish');
    expect(sent(rig.all).filter(({ event }) => event === 'error')).toHaveLength(3);
    rig.wait(1000);
    expect(sent(rig.bot('rubbish'))).toHaveLength(1);
    const last = rig.tell({ kind: 'socketClosed', detail: 'gone' });
    expect(last[0]).toMatchObject({ kind: 'fault', detail: expect.stringMatching(/^7 more/) });
  });

  it.each([
    PLAY,
    { event: 'checkpoint', name: 'a' },
    { event: 'clearAudio' },
    { event: 'sendDTMF', dtmf: '1' },
  ])('a one-way stream only listens: %j is refused', (message) => {
    const outputs = new Rig({ bidirectional: false }).open().bot(message);
    expect(sent(outputs)).toMatchObject([{ event: 'error', error: { code: 'invalid_message' } }]);
  });

  it('stop ends a one-way stream too', () => {
    expect(ends(new Rig({ bidirectional: false }).open().bot({ event: 'stop' }))).toEqual([
      { kind: 'stopRequested' },
    ]);
  });
});

describe('floods', () => {
  it('the bot is told once that it is read more slowly', () => {
    const rig = new Rig().open();
    expect(sent(rig.tell({ kind: 'flooding' }))).toMatchObject([
      { event: 'error', error: { code: 'buffer_full' } },
    ]);
    expect(rig.session.sending).toBe(true);
  });

  it('a bot that stays in debt is cut off with 1008', () => {
    const rig = new Rig().open();
    const outputs = rig.tell({ kind: 'flooded' });
    expect(outputs).toContainEqual(expect.objectContaining({ kind: 'closeSocket', code: 1008 }));
    expect(ends(outputs)).toMatchObject([
      { kind: 'dropped', detail: 'the application flooded the socket' },
    ]);
    expect(rig.tell({ kind: 'flooded' })).toEqual([]);
  });
});

describe('liveness (dialect §1.4: a ping every 20 s)', () => {
  it('pings every 20 s while pongs come', () => {
    const rig = new Rig().open();
    for (let i = 0; i < 5; i += 1) {
      expect(kinds(rig.wait(20_000))).toEqual(['ping']);
      rig.tell({ kind: 'pong' });
    }
  });

  it('no pong within 20 s: dropped, once', () => {
    const rig = new Rig().open();
    rig.wait(20_000);
    const outputs = rig.wait(20_000);
    expect(outputs).toContainEqual({ kind: 'dropSocket' });
    expect(ends(outputs)).toEqual([
      { kind: 'dropped', detail: expect.stringContaining('no pong') },
    ]);
    rig.tell({ kind: 'socketClosed', detail: 'gone' });
    rig.wait(100_000);
    expect(ends(rig.all)).toHaveLength(1);
  });
});

describe('the end', () => {
  it.each([
    'call_hangup',
    'stream_timeout',
    'api_request',
    'xml_moved_on',
    'max_duration',
    'transfer',
  ] as const)('close(%s) sends stop with the reason, then closes with 1000', (reason) => {
    const rig = new Rig().open();
    const outputs = rig.tell({ kind: 'close', reason, drain: false });
    expect(kinds(outputs)).toEqual(['closeSocket', 'ended']);
    expect(sent(outputs)).toMatchObject([
      { event: 'stop', stop: { reason, callId: STREAM.callUuid } },
    ]);
    expect(outputs[0]).toMatchObject({ code: 1000 });
    expect(ends(outputs)).toEqual([{ kind: 'closed' }]);
  });

  it('a peer that does not answer the close frame is cut after the time limit, without a second end', () => {
    const rig = new Rig().open();
    rig.tell({ kind: 'close', reason: 'call_hangup', drain: false });
    expect(kinds(rig.wait(LIMITS.closeMs))).toEqual(['dropSocket']);
    rig.tell({ kind: 'socketClosed', detail: 'gone' });
    expect(ends(rig.all)).toHaveLength(1);
  });

  it('an answered close leaves no timer behind', () => {
    const rig = new Rig().open();
    rig.tell({ kind: 'close', reason: 'call_hangup', drain: false });
    rig.tell({ kind: 'socketClosed', detail: 'gone' });
    expect(rig.session.deadlineMs()).toBeUndefined();
  });

  it('stop of the application is confirmed and ends as stopRequested', () => {
    const outputs = new Rig().open().bot({ event: 'stop', streamId: STREAM.streamId });
    expect(sent(outputs)).toMatchObject([{ event: 'stop' }]);
    expect(ends(outputs)).toEqual([{ kind: 'stopRequested' }]);
  });

  it('the application closing the socket itself is dropped (spec: DroppedStream)', () => {
    const detail = 'the application closed the socket (code 1000)';
    expect(ends(new Rig().open().tell({ kind: 'socketClosed', detail }))).toEqual([
      { kind: 'dropped', detail },
    ]);
  });

  it('a connection that fails or takes too long is connectFailed', () => {
    expect(ends(new Rig().tell({ kind: 'socketClosed', detail: 'ECONNREFUSED' }))).toEqual([
      { kind: 'connectFailed', detail: 'ECONNREFUSED' },
    ]);
    const slow = new Rig().wait(LIMITS.connectMs);
    expect(kinds(slow)).toEqual(['dropSocket', 'ended']);
    expect(ends(slow)).toMatchObject([{ kind: 'connectFailed' }]);
  });

  it('closed while connecting: no stop, just an end', () => {
    const rig = new Rig();
    expect(kinds(rig.tell({ kind: 'close', reason: 'call_hangup', drain: false }))).toEqual([
      'dropSocket',
      'ended',
    ]);
    expect(rig.tell({ kind: 'opened' })).toEqual([]);
  });

  it('something broken on our side is dropped', () => {
    const outputs = new Rig().open().tell({ kind: 'broken', detail: 'no media' });
    expect(kinds(outputs)).toEqual(['dropSocket', 'ended']);
  });
});

describe('draining', () => {
  it('plays what is queued before stop', () => {
    const rig = new Rig().open();
    rig.bot({ event: 'checkpoint', name: 'last words' });
    expect(rig.tell({ kind: 'close', reason: 'xml_moved_on', drain: true })).toEqual([
      { kind: 'checkpoint', id: '0' },
    ]);
    expect(sent(rig.tell({ kind: 'played', checkpoint: '1' }))).toMatchObject([
      { event: 'playedStream' },
    ]);
    expect(kinds(rig.tell({ kind: 'played', checkpoint: '0' }))).toEqual(['closeSocket', 'ended']);
  });

  it('ends at once when the queue is cleared, and at the latest at its time limit', () => {
    const cleared = new Rig().open();
    cleared.tell({ kind: 'close', reason: 'xml_moved_on', drain: true });
    expect(ends(cleared.bot({ event: 'clearAudio' }))).toEqual([{ kind: 'closed' }]);
    const late = new Rig().open();
    late.tell({ kind: 'close', reason: 'xml_moved_on', drain: true });
    late.wait(20_000);
    late.tell({ kind: 'pong' });
    late.wait(20_000);
    late.tell({ kind: 'pong' });
    late.wait(20_000);
    late.tell({ kind: 'pong' });
    expect(ends(late.wait(LIMITS.drainMs - 60_000))).toEqual([{ kind: 'closed' }]);
  });

  it('a hangup during a drain stops at once with its own reason', () => {
    const rig = new Rig().open();
    rig.tell({ kind: 'close', reason: 'xml_moved_on', drain: true });
    const outputs = rig.tell({ kind: 'close', reason: 'call_hangup', drain: false });
    expect(sent(outputs)).toMatchObject([{ stop: { reason: 'call_hangup' } }]);
    expect(rig.tell({ kind: 'played', checkpoint: '0' })).toEqual([]);
  });

  it('the application may ask for it: the stream ends as its own stop, after the last word', () => {
    const rig = new Rig().open();
    expect(rig.bot({ event: 'stop', drain: true })).toEqual([{ kind: 'checkpoint', id: '0' }]);
    expect(ends(rig.all)).toEqual([]);
    const outputs = rig.tell({ kind: 'played', checkpoint: '0' });
    expect(sent(outputs)).toMatchObject([{ event: 'stop', stop: { reason: 'api_request' } }]);
    expect(ends(outputs)).toEqual([{ kind: 'stopRequested' }]);
  });

  it('a hangup meanwhile, a second stop and a closed socket end it at once', () => {
    const asked = (): Rig => {
      const rig = new Rig().open();
      rig.bot({ event: 'stop', drain: true });
      return rig;
    };
    const hungUp = asked().tell({ kind: 'close', reason: 'call_hangup', drain: false });
    expect(ends(hungUp)).toEqual([{ kind: 'closed' }]);
    expect(ends(asked().bot({ event: 'stop' }))).toEqual([{ kind: 'stopRequested' }]);
    expect(ends(asked().tell({ kind: 'socketClosed', detail: 'gone' }))).toEqual([
      { kind: 'stopRequested' },
    ]);
  });

  it('a one-way stream has nothing to drain', () => {
    const rig = new Rig({ bidirectional: false }).open();
    expect(ends(rig.tell({ kind: 'close', reason: 'xml_moved_on', drain: true }))).toEqual([
      { kind: 'closed' },
    ]);
  });

  it('the application closing meanwhile is still our own close', () => {
    const rig = new Rig().open();
    rig.tell({ kind: 'close', reason: 'xml_moved_on', drain: true });
    expect(ends(rig.tell({ kind: 'socketClosed', detail: 'gone' }))).toEqual([{ kind: 'closed' }]);
  });
});
