/** Random event sequences of bot, engine, call and network against a stream session; its invariants must always hold. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_SESSION_LIMITS,
  type SessionInput,
} from '../../src/protocol/audio-stream/audio-stream.ts';
import { bytes, Rig, STREAM, sent, sentTexts } from '../protocol/audio-stream/fixture.ts';
import { faultsOf } from '../protocol/audio-stream/strict-schema.ts';

const limits = { ...DEFAULT_SESSION_LIMITS, checkpoints: 5 };

const botMessage = fc.oneof(
  fc.constant({ event: 'playAudio', media: { payload: 'AAAA' } }),
  fc.constantFrom('a', 'b').map((name) => ({ event: 'checkpoint', name })),
  fc.constant({ event: 'clearAudio' }),
  fc.constant({ event: 'clearAudio', streamId: 'another' }),
  fc.constant({ event: 'sendDTMF', dtmf: '1' }),
  fc.constant({ event: 'dance' }),
  fc.constant('rubbish'),
);
const input: fc.Arbitrary<SessionInput> = fc.oneof(
  {
    weight: 20,
    arbitrary: botMessage.map(
      (message): SessionInput => ({ kind: 'received', bytes: bytes(message) }),
    ),
  },
  { weight: 2, arbitrary: fc.constant<SessionInput>({ kind: 'refused', why: 'badPayload' }) },
  { weight: 1, arbitrary: fc.constant<SessionInput>({ kind: 'flooding' }) },
  { weight: 1, arbitrary: fc.constant<SessionInput>({ kind: 'flooded' }) },
  {
    weight: 8,
    arbitrary: fc
      .integer({ min: 0, max: 12 })
      .map((id): SessionInput => ({ kind: 'played', checkpoint: String(id) })),
  },
  { weight: 4, arbitrary: fc.constant<SessionInput>({ kind: 'pong' }) },
  { weight: 2, arbitrary: fc.constant<SessionInput>({ kind: 'refused', why: 'bufferFull' }) },
  {
    weight: 2,
    arbitrary: fc.constant<SessionInput>({
      kind: 'dtmf',
      digit: '5',
      timestampMs: 1_760_000_000_000,
    }),
  },
  { weight: 1, arbitrary: fc.constant<SessionInput>({ kind: 'opened' }) },
  { weight: 1, arbitrary: fc.constant<SessionInput>({ kind: 'broken', detail: 'engine' }) },
  { weight: 1, arbitrary: fc.constant<SessionInput>({ kind: 'socketClosed', detail: 'network' }) },
  {
    weight: 1,
    arbitrary: fc
      .boolean()
      .map((drain): SessionInput => ({ kind: 'close', reason: 'transfer', drain })),
  },
  {
    weight: 1,
    arbitrary: fc.constant<SessionInput>({ kind: 'received', bytes: bytes({ event: 'stop' }) }),
  },
);
const step = fc.record({
  input,
  waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 15_000 })),
});

describe('a stream session with random events', () => {
  it('ends exactly once, sends only valid messages, and keeps no timer', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 120, size: 'max' }),
        fc.boolean(),
        (steps, bidirectional) => {
          const rig = new Rig({ bidirectional }, limits).open();
          for (const { input: next, waitMs } of steps) {
            rig.dispatch(next);
            rig.wait(waitMs);
          }
          rig.dispatch({ kind: 'socketClosed', detail: 'the end of the test' });
          rig.wait(600_000);
          const { all } = rig;
          expect(all.filter(({ kind }) => kind === 'ended')).toHaveLength(1);
          expect(rig.session.deadlineMs()).toBeUndefined();
          const messages = sent(all);
          for (const text of sentTexts(all)) expect(faultsOf(text)).toEqual([]);
          expect(messages.filter(({ event }) => event === 'stop').length).toBeLessThanOrEqual(1);
          const stopAt = messages.findIndex(({ event }) => event === 'stop');
          if (stopAt >= 0) expect(stopAt).toBe(messages.length - 1);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('answers a checkpoint once, and only if it was set and not cleared', () => {
    const checkpointSteps = fc.array(
      fc.oneof(
        { weight: 4, arbitrary: fc.constant({ set: true, clear: false, back: 0 }) },
        { weight: 1, arbitrary: fc.constant({ set: false, clear: true, back: 0 }) },
        { weight: 4, arbitrary: fc.nat(5).map((back) => ({ set: false, clear: false, back })) },
      ),
      { maxLength: 60, size: 'max' },
    );
    let answered = 0;
    fc.assert(
      fc.property(checkpointSteps, (steps) => {
        const rig = new Rig().open();
        const waiting = new Map<string, string>();
        let count = 0;
        for (const { set, clear, back } of steps) {
          if (set) {
            count += 1;
            rig.bot({ event: 'checkpoint', name: `name ${count % 3}` });
            waiting.set(String(count), `name ${count % 3}`);
          } else if (clear) {
            rig.bot({ event: 'clearAudio', streamId: STREAM.streamId });
            waiting.clear();
          } else {
            // One of the latest checkpoints, or one that was never set.
            const checkpoint = String(count + 1 - back);
            const expected = waiting.get(checkpoint);
            waiting.delete(checkpoint);
            const names = sent(rig.dispatch({ kind: 'played', checkpoint })).map(
              ({ name }) => name,
            );
            expect(names).toEqual(expected === undefined ? [] : [expected]);
            answered += names.length;
          }
        }
      }),
      { numRuns: 200 },
    );
    expect(answered).toBeGreaterThan(200);
  });
});
