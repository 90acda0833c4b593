import { describe, expect, it } from 'vitest';
import { DEFAULT_SESSION_LIMITS as LIMITS } from '../../../src/protocol/audio-stream/audio-stream.ts';
import { ends, kinds, Rig, STREAM, sent } from './fixture.ts';

const PLAY = { event: 'playAudio', media: { payload: 'AAAA' } };

describe('messages of the service', () => {
  it('sends start first', () => {
    const rig = new Rig();
    expect(sent(rig.dispatch({ kind: 'opened' }))).toMatchObject([{ event: 'start' }]);
    expect(
      sent(rig.dispatch({ kind: 'dtmf', digit: '5', timestampMs: 1_760_000_001_000 })),
    ).toMatchObject([{ event: 'dtmf', dtmf: { digit: '5' } }]);
  });

  it('sends nothing before the upgrade or after the end', () => {
    const rig = new Rig();
    expect(rig.dispatch({ kind: 'dtmf', digit: '5', timestampMs: 0 })).toEqual([]);
    expect(rig.session.sending).toBe(false);
    rig.open().dispatch({ kind: 'socketClosed', detail: 'gone' });
    expect(rig.dispatch({ kind: 'dtmf', digit: '5', timestampMs: 0 })).toEqual([]);
    expect(rig.bot({ event: 'clearAudio' })).toEqual([]);
    expect(rig.session.sending).toBe(false);
  });
});

describe('checkpoints and clears (spec: Bidirectional stream socket)', () => {
  it('reports a checkpoint with its name once the audio queued before it has played', () => {
    const rig = new Rig().open();
    const requested = rig.bot({ event: 'checkpoint', name: 'utt-7' });
    expect(requested).toEqual([{ kind: 'checkpoint', id: '1' }]);
    const played = rig.dispatch({ kind: 'played', checkpoint: '1' });
    expect(sent(played)).toEqual([
      { sequenceNumber: 0, event: 'playedStream', streamId: STREAM.streamId, name: 'utt-7' },
    ]);
    expect(played).toContainEqual({ kind: 'played', name: 'utt-7' });
  });

  it('reports positions only if the stream wants them', () => {
    const at = {
      playedMs: 300,
      message: 2,
      messagePlayedMs: 100,
      messageMs: 500,
      discardedMs: 400,
    };
    const plain = new Rig().open();
    plain.bot({ event: 'checkpoint', name: 'a' });
    expect(sent(plain.dispatch({ kind: 'played', checkpoint: '1', at }))[0]).not.toHaveProperty(
      'playedMs',
    );
    expect(plain.dispatch({ kind: 'queueCleared', at })).toEqual([]);
    const rig = new Rig({ positions: true }).open();
    rig.bot({ event: 'checkpoint', name: 'a' });
    expect(sent(rig.dispatch({ kind: 'played', checkpoint: '1', at }))).toMatchObject([
      { event: 'playedStream', name: 'a', playedMs: 300, message: 2 },
    ]);
    expect(kinds(rig.bot({ event: 'clearAudio' }))).toEqual(['clearQueue']);
    expect(sent(rig.dispatch({ kind: 'queueCleared', at }))).toMatchObject([
      { event: 'clearedAudio', ...at },
    ]);
  });

  it('reports speech only if the stream wants the events', () => {
    const speech = {
      kind: 'speech',
      started: true,
      timestampMs: 1_700_000_004_200.7,
      confidence: 0.9,
    } as const;
    expect(new Rig().open().dispatch(speech)).toEqual([]);
    expect(new Rig({ speech: { events: false } }).open().dispatch(speech)).toEqual([]);
    const rig = new Rig({ speech: { events: true } }).open();
    expect(sent(rig.dispatch(speech))).toEqual([
      {
        sequenceNumber: 0,
        event: 'speechStarted',
        streamId: STREAM.streamId,
        speech: { track: 'inbound', timestamp: '1700000004200', callMs: 4200, confidence: 0.9 },
      },
    ]);
    expect(sent(rig.dispatch({ ...speech, started: false }))).toMatchObject([
      { event: 'speechStopped' },
    ]);
  });

  it('reports an interruption as clearedAudio, and discards only its checkpoints', () => {
    const rig = new Rig({ speech: { events: true } }).open();
    rig.bot({ event: 'checkpoint', name: 'a' });
    rig.bot({ event: 'checkpoint', name: 'b' });
    const at = { playedMs: 1, message: 1, messagePlayedMs: 1, messageMs: 2, discardedMs: 1 };
    const told = rig.dispatch({ kind: 'interrupted', checkpoints: ['1'], at });
    expect(sent(told)).toMatchObject([{ event: 'clearedAudio', reason: 'bargeIn', playedMs: 1 }]);
    expect(told).toContainEqual({ kind: 'cleared' });
    expect(rig.dispatch({ kind: 'played', checkpoint: '1' })).toEqual([]);
    expect(sent(rig.dispatch({ kind: 'played', checkpoint: '2' }))).toMatchObject([{ name: 'b' }]);
  });

  it('passes on requests to pause and resume the recordings', () => {
    const rig = new Rig().open();
    expect(rig.bot({ event: 'pauseRecording' })).toEqual([
      { kind: 'pauseRecording', isPaused: true },
    ]);
    expect(rig.bot({ event: 'resumeRecording' })).toEqual([
      { kind: 'pauseRecording', isPaused: false },
    ]);
  });

  it('reports a checkpoint only once', () => {
    const rig = new Rig().open();
    rig.bot({ event: 'checkpoint', name: 'a' });
    rig.dispatch({ kind: 'played', checkpoint: '1' });
    expect(rig.dispatch({ kind: 'played', checkpoint: '1' })).toEqual([]);
  });

  it('empties the queue before it confirms clearAudio', () => {
    const rig = new Rig().open();
    expect(kinds(rig.bot({ event: 'clearAudio', streamId: STREAM.streamId }))).toEqual([
      'clearQueue',
      'send',
      'cleared',
    ]);
  });

  it('never completes a checkpoint discarded by a clear, even if its mark was already sent', () => {
    const rig = new Rig().open();
    rig.bot({ event: 'checkpoint', name: 'a' });
    rig.bot({ event: 'clearAudio' });
    rig.bot({ event: 'checkpoint', name: 'a' });
    expect(rig.dispatch({ kind: 'played', checkpoint: '1' })).toEqual([]);
    expect(sent(rig.dispatch({ kind: 'played', checkpoint: '2' }))).toMatchObject([{ name: 'a' }]);
  });

  it('refuses checkpoints beyond the limit with buffer_full', () => {
    const rig = new Rig({}, { ...LIMITS, checkpoints: 2 }).open();
    rig.bot({ event: 'checkpoint', name: 'a' });
    rig.bot({ event: 'checkpoint', name: 'b' });
    expect(sent(rig.bot({ event: 'checkpoint', name: 'c' }))).toMatchObject([
      { event: 'error', error: { code: 'buffer_full' } },
    ]);
    rig.dispatch({ kind: 'played', checkpoint: '1' });
    expect(kinds(rig.bot({ event: 'checkpoint', name: 'd' }))).toEqual(['checkpoint']);
  });
});

describe('recordings', () => {
  it('pauses and resumes on request, and confirms the number', () => {
    const rig = new Rig().open();
    expect(rig.bot({ event: 'pauseRecording' })).toEqual([
      { kind: 'pauseRecording', isPaused: true },
    ]);
    expect(sent(rig.dispatch({ kind: 'recordings', isPaused: true, count: 2 }))).toMatchObject([
      { event: 'recordingPaused', streamId: STREAM.streamId, recordings: 2 },
    ]);
    expect(rig.bot({ event: 'resumeRecording' })).toEqual([
      { kind: 'pauseRecording', isPaused: false },
    ]);
    expect(sent(rig.dispatch({ kind: 'recordings', isPaused: false, count: 0 }))).toMatchObject([
      { event: 'recordingResumed', recordings: 0 },
    ]);
  });
});

describe('audio that the media engine did not consume', () => {
  it('queues playAudio in its declared format', () => {
    const media = { contentType: 'audio/x-l16;rate=24000', payload: 'AAAA' };
    expect(new Rig().open().bot({ event: 'playAudio', media })).toMatchObject([
      { kind: 'enqueue', encoding: 'audio/x-l16', rate: 24000, payload: Buffer.alloc(3) },
    ]);
  });

  it('reports a full queue as buffer_full', () => {
    expect(sent(new Rig().open().dispatch({ kind: 'refused', why: 'bufferFull' }))).toMatchObject([
      { event: 'error', error: { code: 'buffer_full' } },
    ]);
  });

  it.each([
    ['badPayload', 'invalid_payload'],
    ['unsupportedFormat', 'unsupported_format'],
    ['wrongStream', 'invalid_message'],
    ['bufferFull', 'buffer_full'],
  ] as const)('reports the refusal %s as %s and keeps the socket open', (why, code) => {
    const rig = new Rig().open();
    const outputs = rig.dispatch({ kind: 'refused', why });
    expect(sent(outputs)).toMatchObject([{ event: 'error', error: { code } }]);
    expect(outputs).toContainEqual(expect.objectContaining({ kind: 'fault', code }));
    expect(rig.session.sending).toBe(true);
  });
});

describe('bad messages', () => {
  it('reports broken JSON as an error event without closing', () => {
    const rig = new Rig().open();
    expect(sent(rig.bot('{"event":'))).toMatchObject([
      { event: 'error', error: { code: 'invalid_message' } },
    ]);
    expect(ends(rig.all)).toEqual([]);
  });

  it('limits the rate of error reports and counts suppressed ones at the end', () => {
    const rig = new Rig({}, { ...LIMITS, errors: { perSecond: 1, burst: 3 } }).open();
    for (let i = 0; i < 10; i += 1) rig.bot('rubbish');
    expect(sent(rig.all).filter(({ event }) => event === 'error')).toHaveLength(3);
    rig.wait(1000);
    expect(sent(rig.bot('rubbish'))).toHaveLength(1);
    const last = rig.dispatch({ kind: 'socketClosed', detail: 'gone' });
    expect(last[0]).toMatchObject({ kind: 'fault', detail: expect.stringMatching(/^7 more/) });
  });

  it.each([
    PLAY,
    { event: 'checkpoint', name: 'a' },
    { event: 'clearAudio' },
    { event: 'sendDTMF', dtmf: '1' },
  ])('refuses %j on a one-way stream', (message) => {
    const outputs = new Rig({ bidirectional: false }).open().bot(message);
    expect(sent(outputs)).toMatchObject([{ event: 'error', error: { code: 'invalid_message' } }]);
  });

  it('accepts stop on a one-way stream', () => {
    expect(ends(new Rig({ bidirectional: false }).open().bot({ event: 'stop' }))).toEqual([
      { kind: 'stopRequested' },
    ]);
  });
});

describe('floods', () => {
  it('warns the bot once that reading is throttled', () => {
    const rig = new Rig().open();
    expect(sent(rig.dispatch({ kind: 'flooding' }))).toMatchObject([
      { event: 'error', error: { code: 'buffer_full' } },
    ]);
    expect(rig.session.sending).toBe(true);
  });

  it('closes with 1008 if the bot stays above the limit', () => {
    const rig = new Rig().open();
    const outputs = rig.dispatch({ kind: 'flooded' });
    expect(outputs).toContainEqual(expect.objectContaining({ kind: 'closeSocket', code: 1008 }));
    expect(ends(outputs)).toMatchObject([
      { kind: 'dropped', detail: 'the application flooded the socket' },
    ]);
    expect(rig.dispatch({ kind: 'flooded' })).toEqual([]);
  });
});

describe('liveness (dialect §1.4: a ping every 20 s)', () => {
  it('pings every 20 s while pongs arrive', () => {
    const rig = new Rig().open();
    for (let i = 0; i < 5; i += 1) {
      expect(kinds(rig.wait(20_000))).toEqual(['ping']);
      rig.dispatch({ kind: 'pong' });
    }
  });

  it('drops the connection once without a pong within 20 s', () => {
    const rig = new Rig().open();
    rig.wait(20_000);
    const outputs = rig.wait(20_000);
    expect(outputs).toContainEqual({ kind: 'dropSocket' });
    expect(ends(outputs)).toEqual([
      { kind: 'dropped', detail: expect.stringContaining('no pong') },
    ]);
    rig.dispatch({ kind: 'socketClosed', detail: 'gone' });
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
    const outputs = rig.dispatch({ kind: 'close', reason, drain: false });
    expect(kinds(outputs)).toEqual(['closeSocket', 'ended']);
    expect(sent(outputs)).toMatchObject([
      { event: 'stop', stop: { reason, callId: STREAM.callUuid } },
    ]);
    expect(outputs[0]).toMatchObject({ code: 1000 });
    expect(ends(outputs)).toEqual([{ kind: 'closed' }]);
  });

  it('drops a peer that does not answer the close frame, without a second end', () => {
    const rig = new Rig().open();
    rig.dispatch({ kind: 'close', reason: 'call_hangup', drain: false });
    expect(kinds(rig.wait(LIMITS.closeMs))).toEqual(['dropSocket']);
    rig.dispatch({ kind: 'socketClosed', detail: 'gone' });
    expect(ends(rig.all)).toHaveLength(1);
  });

  it('leaves no timer after an answered close', () => {
    const rig = new Rig().open();
    rig.dispatch({ kind: 'close', reason: 'call_hangup', drain: false });
    rig.dispatch({ kind: 'socketClosed', detail: 'gone' });
    expect(rig.session.deadlineMs()).toBeUndefined();
  });

  it('confirms stop of the application and ends as stopRequested', () => {
    const outputs = new Rig().open().bot({ event: 'stop', streamId: STREAM.streamId });
    expect(sent(outputs)).toMatchObject([{ event: 'stop' }]);
    expect(ends(outputs)).toEqual([{ kind: 'stopRequested' }]);
  });

  it('reports a socket closed by the application as dropped (spec: DroppedStream)', () => {
    const detail = 'the application closed the socket (code 1000)';
    expect(ends(new Rig().open().dispatch({ kind: 'socketClosed', detail }))).toEqual([
      { kind: 'dropped', detail },
    ]);
  });

  it('reports a failed or slow connection as connectFailed', () => {
    expect(ends(new Rig().dispatch({ kind: 'socketClosed', detail: 'ECONNREFUSED' }))).toEqual([
      { kind: 'connectFailed', detail: 'ECONNREFUSED' },
    ]);
    const slow = new Rig().wait(LIMITS.connectMs);
    expect(kinds(slow)).toEqual(['dropSocket', 'ended']);
    expect(ends(slow)).toMatchObject([{ kind: 'connectFailed' }]);
  });

  it('ends without stop if closed while connecting', () => {
    const rig = new Rig();
    expect(kinds(rig.dispatch({ kind: 'close', reason: 'call_hangup', drain: false }))).toEqual([
      'dropSocket',
      'ended',
    ]);
    expect(rig.dispatch({ kind: 'opened' })).toEqual([]);
  });

  it('reports an internal failure as dropped', () => {
    const outputs = new Rig().open().dispatch({ kind: 'broken', detail: 'no media' });
    expect(kinds(outputs)).toEqual(['dropSocket', 'ended']);
  });
});

describe('draining', () => {
  it('plays the queued audio before stop', () => {
    const rig = new Rig().open();
    rig.bot({ event: 'checkpoint', name: 'last words' });
    expect(rig.dispatch({ kind: 'close', reason: 'xml_moved_on', drain: true })).toEqual([
      { kind: 'checkpoint', id: '0' },
    ]);
    expect(sent(rig.dispatch({ kind: 'played', checkpoint: '1' }))).toMatchObject([
      { event: 'playedStream' },
    ]);
    expect(kinds(rig.dispatch({ kind: 'played', checkpoint: '0' }))).toEqual([
      'closeSocket',
      'ended',
    ]);
  });

  it('ends immediately when the queue is cleared, otherwise at its time limit', () => {
    const cleared = new Rig().open();
    cleared.dispatch({ kind: 'close', reason: 'xml_moved_on', drain: true });
    expect(ends(cleared.bot({ event: 'clearAudio' }))).toEqual([{ kind: 'closed' }]);
    const late = new Rig().open();
    late.dispatch({ kind: 'close', reason: 'xml_moved_on', drain: true });
    late.wait(20_000);
    late.dispatch({ kind: 'pong' });
    late.wait(20_000);
    late.dispatch({ kind: 'pong' });
    late.wait(20_000);
    late.dispatch({ kind: 'pong' });
    expect(ends(late.wait(LIMITS.drainMs - 60_000))).toEqual([{ kind: 'closed' }]);
  });

  it('stops immediately with the reason of a hangup during a drain', () => {
    const rig = new Rig().open();
    rig.dispatch({ kind: 'close', reason: 'xml_moved_on', drain: true });
    const outputs = rig.dispatch({ kind: 'close', reason: 'call_hangup', drain: false });
    expect(sent(outputs)).toMatchObject([{ stop: { reason: 'call_hangup' } }]);
    expect(rig.dispatch({ kind: 'played', checkpoint: '0' })).toEqual([]);
  });

  it('drains at the request of the application and ends as stopRequested', () => {
    const rig = new Rig().open();
    expect(rig.bot({ event: 'stop', drain: true })).toEqual([{ kind: 'checkpoint', id: '0' }]);
    expect(ends(rig.all)).toEqual([]);
    const outputs = rig.dispatch({ kind: 'played', checkpoint: '0' });
    expect(sent(outputs)).toMatchObject([{ event: 'stop', stop: { reason: 'api_request' } }]);
    expect(ends(outputs)).toEqual([{ kind: 'stopRequested' }]);
  });

  it('ends immediately on a hangup, a second stop or a closed socket during a drain', () => {
    const requested = (): Rig => {
      const rig = new Rig().open();
      rig.bot({ event: 'stop', drain: true });
      return rig;
    };
    const hungUp = requested().dispatch({ kind: 'close', reason: 'call_hangup', drain: false });
    expect(ends(hungUp)).toEqual([{ kind: 'closed' }]);
    expect(ends(requested().bot({ event: 'stop' }))).toEqual([{ kind: 'stopRequested' }]);
    expect(ends(requested().dispatch({ kind: 'socketClosed', detail: 'gone' }))).toEqual([
      { kind: 'stopRequested' },
    ]);
  });

  it('does not drain a one-way stream', () => {
    const rig = new Rig({ bidirectional: false }).open();
    expect(ends(rig.dispatch({ kind: 'close', reason: 'xml_moved_on', drain: true }))).toEqual([
      { kind: 'closed' },
    ]);
  });

  it('keeps its close reason if the application closes during a drain', () => {
    const rig = new Rig().open();
    rig.dispatch({ kind: 'close', reason: 'xml_moved_on', drain: true });
    expect(ends(rig.dispatch({ kind: 'socketClosed', detail: 'gone' }))).toEqual([
      { kind: 'closed' },
    ]);
  });
});
