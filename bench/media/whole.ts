/**
 * Cost of a call for a whole process: this service with calls through SIP and trunk, a bare relay, and rtpengine and Asterisk where
 * they are installed, on one core each, with the ends on the other. Needs Linux and two cores.
 */
import { fileURLToPath } from 'node:url';
import { inOwnNetwork, mayHaveOwnNetwork } from '../calls/own-network.ts';
import type { Row } from '../row.ts';

/** Returns no rows if the machine has one core or does not allow network namespaces. */
export async function wholeProcess(): Promise<readonly Row[]> {
  if (!mayHaveOwnNetwork()) return [];
  return inOwnNetwork<readonly Row[]>(fileURLToPath(new URL('./main.ts', import.meta.url)));
}
