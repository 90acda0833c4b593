import { describe, expect, it } from 'vitest';
import { countNonce } from '../../../src/edge/sip/nonce-counting.ts';

const QUESTION = { kind: 'countNonce', id: 7, nonce: 'n', count: 3 } as const;
const answer = (use: (nonce: string, count: number) => Promise<boolean>) =>
  countNonce(QUESTION, { use });

describe('nonce counts across nodes', () => {
  it('are first, used, or not verifiable', async () => {
    const said = { kind: 'nonceCounted', id: 7 };
    const first = answer(async (nonce, count) => nonce === 'n' && count === 3);
    expect(await first).toEqual({ ...said, use: 'first' });
    expect(await answer(async () => false)).toEqual({ ...said, use: 'used' });
    const away = answer(() => Promise.reject(new Error('redis is unavailable')));
    expect(await away).toEqual({ ...said, use: 'unavailable' });
  });
});
