import { expect, it } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { CallerLine } from '../../src/rehearse/caller-line.ts';
import { Network } from '../../src/rehearse/network.ts';
import { Observed } from '../../src/rehearse/observed.ts';
import { judge } from '../../src/rehearse/verdict.ts';

it('a burst after a stall of the rehearsal is not a fault of the bot, and explains other failures', () => {
  let nowMs = 0;
  let tick = (): void => undefined;
  const clock = {
    monotonicMs: () => nowMs,
    wallMs: () => nowMs,
    at: (_dueMs: number, run: () => void) => {
      tick = run;
      return () => undefined;
    },
  } as unknown as Clock;
  const observed = new Observed(clock, 1);
  const network = new Network({ lossPercent: 0, jitterMs: 0, seed: 1, noiseLevel: undefined });
  let sent = 0;
  const line = new CallerLine(
    {
      streamId: 'S1' as never,
      encoding: 'audio/x-mulaw',
      rate: 8000,
      tracks: 'inbound',
      bidirectional: true,
      extraHeadersJson: '"{}"',
      queueMs: 1000,
    },
    {
      media: (messages) => {
        sent += messages.length;
      },
      played: () => undefined,
      degraded: () => undefined,
      dtmf: () => undefined,
    },
    { clock, network, observed },
  );
  tick();
  nowMs = 1500;
  for (let i = 0; i < 75; i += 1) tick();
  expect(sent).toBe(76);
  expect(Math.round(observed.lateMs)).toBe(1480);
  observed.degraded(60);
  expect(judge({}, observed, undefined).failures).toEqual([]);
  for (; nowMs < 6000; nowMs += 20) tick();
  observed.degraded(30);
  expect(judge({}, observed, undefined).failures).toEqual([
    'the bot reads too slowly: 30 %',
    expect.stringContaining('up to 1480 ms late'),
  ]);
  line.close();
});
