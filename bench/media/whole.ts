/**
 * What a call costs a whole process: this service with calls through SIP and trunk, a bare relay, and rtpengine where it is
 * installed, on one core each, with the ends on the other. Needs Linux and two cores.
 */
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { inOwnNetwork } from '../calls/own-network.ts';
import type { Row } from '../row.ts';

/** None where this machine has no second core or lets nobody make a network. */
export async function wholeProcess(): Promise<readonly Row[]> {
  const user = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const may = spawnSync('unshare', [...user, '--net', 'true']).status === 0;
  if (!may || cpus().length < 2) return [];
  return inOwnNetwork<readonly Row[]>(fileURLToPath(new URL('./main.ts', import.meta.url)));
}
