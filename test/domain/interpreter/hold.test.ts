import { expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import type { Call } from '../../../src/domain/call/call.ts';
import { playWhileHeld } from '../../../src/domain/interpreter/interpreter.ts';

/** A loop without a pause fails after this number of rounds, because no time limit could end it. */
const MOST_ROUNDS = 100;

function callThat(hold: Call['hold'], over: object = {}): Call {
  return { hold, isEnded: false, observe: () => () => undefined, ...over } as unknown as Call;
}

it('stops waiting for silence when the holder ends', async () => {
  let isEnded = false;
  let rounds = 0;
  const media = {
    waitForSilence: async (): Promise<boolean> => {
      rounds += 1;
      isEnded = true;
      if (rounds > MOST_ROUNDS) throw new Error('no pause between two rounds');
      return false;
    },
  };
  const holder = callThat('sendonly', { media });
  Object.defineProperty(holder, 'isEnded', { get: () => isEnded });
  const held = callThat(undefined, { media: { rate: 8000 }, log: { add: () => undefined } });
  const holdMusic = vi.fn(async () => ({ rate: 8000 as const, samples: new Uint8Array(2) }));
  const stop = playWhileHeld(holder, held, { holdMusic, logger: silentLogger });
  await vi.waitFor(() => expect(isEnded).toBe(true));
  stop();
  expect(rounds).toBe(1);
});
