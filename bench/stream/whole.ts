/**
 * What a bidirectional stream costs a whole process, calls by SIP: this service on one core, and Asterisk's `chan_websocket` where
 * it is installed, with phones and bots on the other. Needs Linux and two cores.
 */
import { fileURLToPath } from 'node:url';
import { inOwnNetwork, mayHaveOwnNetwork } from '../calls/own-network.ts';
import type { Row } from '../row.ts';

/** None where this machine has no second core or lets nobody make a network. */
export async function wholeStreams(): Promise<readonly Row[]> {
  if (!mayHaveOwnNetwork()) return [];
  return inOwnNetwork<readonly Row[]>(fileURLToPath(new URL('./whole-main.ts', import.meta.url)));
}
