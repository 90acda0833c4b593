/**
 * Cost of a bidirectional stream for a whole process, with SIP calls: this service on one core, and Asterisk's `chan_websocket` where
 * it is installed, with phones and bots on the other. Needs Linux and two cores.
 */
import { fileURLToPath } from 'node:url';
import { inOwnNetwork, mayHaveOwnNetwork } from '../calls/own-network.ts';
import type { Row } from '../row.ts';

/** Returns no rows if the machine has one core or does not allow network namespaces. */
export async function wholeStreams(): Promise<readonly Row[]> {
  if (!mayHaveOwnNetwork()) return [];
  return inOwnNetwork<readonly Row[]>(fileURLToPath(new URL('./whole-main.ts', import.meta.url)));
}
