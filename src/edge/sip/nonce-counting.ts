import type { NonceCounts } from '../../domain/registration/needs.ts';
import type { UserAgentInput, UserAgentOutput } from '../../protocol/sip/sip.ts';

/** Answers the user agent's question whether any node has used a nonce so often. Never rejects: Redis says itself that it is away. */
export async function countNonce(
  { id, nonce, count }: Extract<UserAgentOutput, { kind: 'countNonce' }>,
  counts: NonceCounts | undefined,
): Promise<UserAgentInput> {
  const first = await counts?.use(nonce, count).catch(() => undefined);
  const use = first === undefined ? 'unavailable' : first ? 'first' : 'used';
  return { kind: 'nonceCounted', id, use };
}
