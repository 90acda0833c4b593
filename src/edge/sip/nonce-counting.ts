import type { NonceCounts } from '../../domain/registration/needs.ts';
import type { UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';

/** Checks whether any node has used a nonce count. Never rejects; an unavailable Redis is logged elsewhere. */
export async function countNonce(
  { id, nonce, count }: Extract<UserAgentOutput, { kind: 'countNonce' }>,
  counts: NonceCounts | undefined,
): Promise<UserAgentInput> {
  const first = await counts?.use(nonce, count).catch(() => undefined);
  const use = first === undefined ? 'unavailable' : first ? 'first' : 'used';
  return { kind: 'nonceCounted', id, use };
}
