/**
 * Measures the cost of signalling. SIPp is at both ends of whole calls (answer URL, `Dial`, two legs, two records,
 * callbacks) and of trunk calls. The service has one core and all other programs have another. Also measures overload,
 * post-dial delay, REGISTER and memory, and the same calls on Asterisk and drachtio if they are installed. Needs Linux, `sip-tester` and two cores. `--rates 50,100`,
 * `--scenarios whole,trunk`, `--seconds 10`; `--against FOLDER` measures another checkout alternately with this one,
 * `--rounds 3` times.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { inOwnNetwork } from './calls/own-network.ts';
import type { Row } from './row.ts';

export async function run(): Promise<readonly Row[]> {
  if (spawnSync('sipp', ['-v']).error !== undefined)
    throw new Error('SIPp is not installed (Debian: sip-tester)');
  return inOwnNetwork<readonly Row[]>(fileURLToPath(new URL('./calls/main.ts', import.meta.url)));
}
