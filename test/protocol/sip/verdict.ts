import { parseMessage } from '../../../src/protocol/sip/parse.ts';
import { validateRequest, validateResponse } from '../../../src/protocol/sip/validate.ts';

/** Returns undefined for a valid message, otherwise the refusal. */
export function verdict(bytes: Uint8Array): { status: number; reason: string } | undefined {
  const result = parseMessage(bytes);
  if (!result.ok) return result.error;
  if (result.message.kind === 'request') return validateRequest(result.message);
  const reason = validateResponse(result.message);
  return reason === undefined ? undefined : { status: 0, reason };
}
