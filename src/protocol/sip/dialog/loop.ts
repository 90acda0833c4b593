import { hashHex } from '../../../base/hash.ts';
import { splitList } from '../header/text.ts';
import { parseVia, sentBy } from '../header/via.ts';
import type { SipRequest } from '../message.ts';

const MARK_LENGTH = 8;

/**
 * A mark for the branch of a request of ours that tells its Request-URI again: a request that comes back with the
 * same one is a loop (RFC 3261 §16.6 step 8), with another one a spiral, which is allowed.
 */
export const loopMark = (requestUri: string): string =>
  hashHex('sha256', requestUri).slice(0, MARK_LENGTH);

/** True when a request that we sent ourselves has come back unchanged; `ownSentBy` is `host:port` of our Via. */
export function isLoop(request: SipRequest, ownSentBy: string): boolean {
  const mark = `.${loopMark(request.requestUri)}`;
  return request.headers('via').some((line) =>
    splitList(line).some((text) => {
      const via = parseVia(text);
      return via?.branch?.endsWith(mark) === true && sentBy(via) === ownSentBy;
    }),
  );
}
