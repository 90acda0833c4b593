/**
 * Records `npm start` and `npm run call` as docs/start/first-call.svg: what the terminal shows, in its own time (pauses shortened).
 * Run it after the set-up, with ports 8080 and 5060 free. Secrets are masked before they are written.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Shown, terminalSvg } from './terminal-svg.ts';

const ROOT = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'carillon-recording-'));
const shown: Shown[] = [];
const startMs = performance.now();

const mask = (line: string): string =>
  stripVTControlCharacters(line)
    .replaceAll(folder, 'data')
    .replace(/((?:token|password) +)\S+$/, '$1••••••••')
    .replace(/(X-Auth-Token: )[^']+/, '$1••••••••')
    .replace(/(password=)[^&]+/, '$1••••••••')
    .replace(/(#\/welcome\/)\S+/, '$1••••••••');

function typed(command: string): void {
  shown.push({ atMs: performance.now() - startMs, text: `$ ${command}`, isTyped: true });
}

/** Lines without npm's own. */
function show(program: ChildProcess): void {
  let rest = '';
  program.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines)
      if (!/^> /.test(line)) shown.push({ atMs: performance.now() - startMs, text: mask(line) });
  });
}

const run = (...args: readonly string[]): ChildProcess =>
  spawn('npm', args, {
    cwd: ROOT,
    env: { ...process.env, CARILLON_DATA_DIR: folder, CARILLON_LOG_FORMAT: 'pretty' },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });

typed('npm start');
const service = run('start');
show(service);
try {
  await new Promise<void>((resolve, reject) => {
    service.stdout?.on('data', (text: string) => text.includes('Stop  ') && resolve());
    service.once('exit', () => reject(new Error('the service did not start')));
  });
  typed('npm run call');
  const call = run('run', 'call');
  show(call);
  const [status] = await once(call, 'close');
  if (status !== 0) throw new Error(`the call failed: ${status}`);
  writeFileSync(join(ROOT, 'docs', 'start', 'first-call.svg'), terminalSvg(shown));
} finally {
  if (service.pid !== undefined) process.kill(-service.pid, 'SIGTERM');
  await once(service, 'close');
  rmSync(folder, { recursive: true, force: true });
}
