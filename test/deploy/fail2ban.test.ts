/** Runs the filter of examples/fail2ban against log lines that a service writes. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/edge/log/pino-logger.ts';
import { authenticated, requestText, startRig, UdpPeer } from '../edge/sip/rig.ts';

const FILTER = join(import.meta.dirname, '../../examples/fail2ban/filter.d/carillon.conf');
const hasFail2ban = spawnSync('fail2ban-regex', ['--version']).status === 0;

/** Log lines for a wrong password, an unknown user, a request without a password, and garbage. */
async function logOfGuesses(): Promise<readonly string[]> {
  const lines: string[] = [];
  const logger = createLogger('debug', { write: (line) => lines.push(line.trimEnd()) });
  const rig = await startRig({ logger });
  const peer = await UdpPeer.open(rig.signalling.port());
  try {
    const register = { method: 'REGISTER', uri: 'sip:127.0.0.1' };
    peer.write('garbage\r\n\r\n');
    peer.write(requestText(peer, { ...register, callId: 'no-password' }));
    await peer.read('401');
    for (const user of ['alice', 'nobody']) {
      const to = `<sip:${user}@127.0.0.1>`;
      await authenticated(peer, { ...register, to, user, password: 'guess', callId: user });
      await peer.read('401');
    }
  } finally {
    await rig.signalling.stop();
    peer.close();
  }
  return lines;
}

describe('the fail2ban filter', () => {
  let lines: readonly string[];
  beforeAll(async () => {
    lines = await logOfGuesses();
  });

  it('finds the address in each failed login, and in no other line', () => {
    const written = /^failregex = (.*)$/m.exec(readFileSync(FILTER, 'utf8'))?.[1] ?? '';
    const pattern = new RegExp(written.replace('<HOST>', '(?<host>[0-9a-f.:]+)'));
    const found = lines.map((line) => pattern.exec(line)?.groups?.['host']);
    expect(found.filter((host) => host !== undefined)).toEqual(['127.0.0.1', '127.0.0.1']);
    expect(lines.length).toBeGreaterThan(2);
    const v6 = lines.find((line) => pattern.test(line))?.replace('127.0.0.1', '2001:db8::7') ?? '';
    expect(pattern.exec(v6)?.groups?.['host']).toBe('2001:db8::7');
  });

  it.skipIf(!hasFail2ban)('matches the same lines when run by fail2ban', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-fail2ban-'));
    const log = join(folder, 'carillon.log');
    writeFileSync(log, `${lines.join('\n')}\n`);
    const { stdout } = spawnSync('fail2ban-regex', [log, FILTER], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(stdout).toMatch(new RegExp(`Lines: ${lines.length} lines, .*, 2 matched`));
    expect(stdout).not.toContain('0 template(s)');
  });
});
