import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { VoiceActivity } from '../../examples/voice-activity.ts';
import { asAccountId } from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import { problems } from '../../src/cli/stream-test/observations.ts';
import { runStreamTest } from '../../src/cli/stream-test/run.ts';
import { systemClock } from '../../src/edge/clock/system-clock.ts';
import { l16Bytes } from '../../src/phone/audio/wav.ts';
import { guard } from '../edge/stream/fixture.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof at === 'object' && at !== null ? at.port : 0;
}

const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Starts an example and resolves with its stream URL. */
async function start(command: string, file: string): Promise<string> {
  const port = await freePort();
  const child = spawn(command, [file, String(port)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('stream URL')) resolve(line.split(/\s+/)[2] ?? '');
    });
  });
}

const tone = (ms: number, level: number): Int16Array =>
  Int16Array.from({ length: ms * 8 }, (_, i) => level * Math.sin(i / 3));

function call(url: string, voice: Int16Array, durationMs: number) {
  return runStreamTest({
    url,
    voice: { rate: 8000, samples: voice },
    durationMs,
    format: { encoding: 'audio/x-l16', rate: 8000 },
    extraHeaders: [],
    digits: '',
    accountId: asAccountId('MA_00000000000000000'),
    caFile: '',
    egress: guard(true),
    clock: systemClock,
    random: systemRandom,
    signUpgrade: () => Promise.resolve({}),
    progress: () => undefined,
  });
}

describe('the example bots', () => {
  const plainEcho = async (command: string, file: string): Promise<void> => {
    const url = await start(command, file);
    const { seen } = await call(url, tone(300, 8000), 600);
    expect(problems(seen)).toEqual([]);
    expect(seen.playedMs).toBeGreaterThan(300);
    const answer = await fetch(url.replace('ws:', 'http:').replace('/stream', '/answer'), {
      method: 'POST',
      body: 'a=b',
    });
    expect(await answer.text()).toContain(`>${url}</Stream>`);
  };

  it('the TypeScript echo bot plays back what it hears, without a fault', () =>
    plainEcho(process.execPath, 'examples/echo-bot.ts'));

  it.skipIf(!hasPython)('the Python echo bot plays back what it hears, without a fault', () =>
    plainEcho('python3', 'examples/python/echo_bot.py'),
  );

  it('the barge-in bot talks, and falls silent when the caller speaks', async () => {
    const url = await start(process.execPath, 'examples/barge-in-bot.ts');
    const speech = new Int16Array(8 * 700);
    speech.set(tone(400, 8000), 8 * 300);
    const { seen } = await call(url, speech, 800);
    expect(problems(seen)).toEqual([]);
    expect(seen.longestPlayMs).toBeGreaterThan(5000);
    expect(seen.clears).toBe(1);
  });
});

/** Parses the files as Python 3.9, the oldest supported version. */
const PARSE = `
import ast, sys
for name in sys.argv[1:]:
    ast.parse(open(name, encoding="utf-8").read(), name, feature_version=(3, 9))
    print(name)
`;

it.skipIf(!hasPython)('the Python programs have the syntax of Python 3.9', () => {
  const files = ['examples', 'packages/python/carillon'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.py'))
      .map((name) => join(folder, name)),
  );
  expect(files.length).toBeGreaterThan(15);
  const parsed = spawnSync('python3', ['-c', PARSE, ...files], { cwd: root, encoding: 'utf8' });
  expect([parsed.status, parsed.stderr]).toEqual([0, '']);
  expect(parsed.stdout.trim().split('\n')).toEqual(files);
});

describe('voice activity of the barge-in bot', () => {
  const received = (activity: VoiceActivity, samples: Int16Array): string[] => {
    const changes: string[] = [];
    for (let at = 0; at < samples.length; at += 160) {
      const change = activity.hear(l16Bytes(samples.subarray(at, at + 160)));
      if (change !== undefined) changes.push(`${change} at ${at / 8} ms`);
    }
    return changes;
  };

  it('needs 60 ms of speech and 600 ms of silence', () => {
    const samples = new Int16Array(8 * 2000);
    samples.set(tone(500, 6000), 8 * 400);
    expect(received(new VoiceActivity(), samples)).toEqual([
      'speaks at 440 ms',
      'silent at 1480 ms',
    ]);
  });

  it('does not take steady noise or a click for speech', () => {
    const activity = new VoiceActivity();
    const samples = new Int16Array(8 * 2000);
    samples.set(tone(20, 9000), 8 * 400);
    expect(received(activity, samples)).toEqual([]);
    expect(received(activity, tone(2000, 60))).toEqual([]);
  });
});
