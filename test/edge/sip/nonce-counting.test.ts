import { describe, expect, it } from 'vitest';
import { countNonce } from '../../../src/edge/sip/nonce-counting.ts';

const QUESTION = { kind: 'countNonce', id: 7, nonce: 'n', count: 3 } as const;
const answer = (use: (nonce: string, count: number) => Promise<boolean>) =>
  countNonce(QUESTION, { use });

describe('counts of nonces over nodes', () => {
  it('are first, used, or cannot be asked: that is an answer too', async () => {
    const said = { kind: 'nonceCounted', id: 7 };
    const first = answer(async (nonce, count) => nonce === 'n' && count === 3);
    expect(await first).toEqual({ ...said, use: 'first' });
    expect(await answer(async () => false)).toEqual({ ...said, use: 'used' });
    const away = answer(() => Promise.reject(new Error('redis is away')));
    expect(await away).toEqual({ ...said, use: 'unavailable' });
  });
});
