import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { silentLogger } from '../../src/base/logger.ts';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { run } from '../../src/cli/program.ts';
import { startDemo } from '../../src/demo/demo.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { writeWav } from '../../src/phone/audio/wav.ts';
import { Network } from '../../src/rehearse/network.ts';
import { type Rehearsal, readRehearsal } from '../../src/rehearse/rehearsal-file.ts';
import { junit } from '../../src/rehearse/reports.ts';
import { type CallResult, runRehearsals } from '../../src/rehearse/run.ts';
import { guard } from '../edge/stream/fixture.ts';
import { until } from '../eventually.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'carillon-rehearse-'));
let server: Server;
let origin: string;
let after = '<Hangup/>';
let attributes = '';
type Message = {
  event: string;
  transfer?: { status: string };
  media?: { payload: string };
  dtmf?: { digit: string };
};
type Bot = (message: Message, send: (message: unknown) => void, socket: WebSocket) => void;
let bot: () => Bot;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    if (request.url === '/v1/audio/transcriptions') {
      response.end('{"text":"How can I help you?"}');
      return;
    }
    const stream = `<Stream bidirectional="true" keepCallAlive="true" ${attributes}>${origin.replace('http', 'ws')}/</Stream>`;
    const isAnswer = request.url === '/answer';
    response.end(
      `<Response>${isAnswer ? `${stream}<Redirect>${origin}/after</Redirect>` : after}</Response>`,
    );
  });
  new WebSocketServer({ server }).on('connection', (socket) => {
    const own = bot();
    socket.on('message', (data) =>
      own(JSON.parse(String(data)), (message) => socket.send(JSON.stringify(message)), socket),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(join(folder, 'tone.wav'), writeWav({ rate: 8000, samples: tone(400) }));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const tone = (ms: number): Int16Array =>
  Int16Array.from({ length: ms * 8 }, (_, i) => 9000 * Math.sin(i / 3));
const speech = (ms: number) => ({
  event: 'playAudio',
  media: {
    contentType: 'audio/x-l16',
    sampleRate: 8000,
    payload: Buffer.from(tone(ms).buffer).toString('base64'),
  },
});
const energy = (payload = ''): number => {
  const bytes = Buffer.from(payload, 'base64');
  let sum = 0;
  for (let i = 0; i + 1 < bytes.length; i += 2) sum += bytes.readInt16LE(i) ** 2;
  return sum / Math.max(1, bytes.length / 2);
};

/** Greets, answers when the caller has been silent for 100 ms, and stops when the caller speaks. */
const talker = (): Bot => {
  let speaking = false;
  let quiet = 0;
  return (message, send) => {
    if (message.event === 'start') send(speech(300));
    if (message.event === 'dtmf') send({ event: 'sendDTMF', dtmf: message.dtmf?.digit });
    if (message.event !== 'media') return;
    if (energy(message.media?.payload) > 1e6) {
      if (!speaking) send({ event: 'clearAudio' });
      speaking = true;
      quiet = 0;
    } else if (speaking && ++quiet === 5) {
      speaking = false;
      send(speech(1500));
    }
  };
};

function fileOf(text: string): string {
  const file = join(folder, 'test.yaml');
  writeFileSync(file, text);
  return file;
}
const rehearse = (text: string): Promise<readonly CallResult[]> =>
  rehearseAll([readRehearsal(fileOf(text), {})]);
const rehearseAll = (rehearsals: readonly Rehearsal[]): Promise<readonly CallResult[]> =>
  runRehearsals(rehearsals, {
    clock,
    random,
    egress: guard(true),
    progress: () => undefined,
  });
const base = (more: string): string => `bot: { answerUrl: "${origin}/answer" }\n${more}`;

beforeEach(() => {
  bot = talker;
  after = '<Hangup/>';
  attributes = 'notes="true" transfers="true"';
});

describe('a rehearsal', () => {
  it('measures answer, latency and interruption, and passes', async () => {
    const [result] = await rehearse(
      base(`steps:
  - listen: 5
  - play: tone.wav
  - interrupt: { after: 0.3, play: tone.wav }
  - listen: 5
  - press: "7"
  - pause: 0.1
expect:
  answerMs: 3000
  latencyMs: { max: 1500 }
  interruptionMs: 1000
  turns: 2
  digits: "7"
  endedBy: caller
  noTransfer: true
  durationSeconds: { min: 1, max: 20 }
`),
    );
    expect(result?.failures).toEqual([]);
    expect(result?.observed.latencies).toHaveLength(2);
    expect(result?.observed.latencies[0]).toBeGreaterThanOrEqual(60);
    expect(result?.observed.interruptions).toHaveLength(1);
    const { caller, bot: heard } = result?.observed.recording() ?? {};
    expect(caller?.length).toBe(heard?.length);
  });

  it('states each failed expectation, and never dials', async () => {
    bot = () => (message, send) => {
      if (message.event === 'start') {
        send({ event: 'transfer', transfer: { mode: 'warm', to: '+4930111' } });
      }
    };
    after = '<Speak>Sorry.</Speak><Dial><Number>+4930222</Number></Dial>';
    const [result] = await rehearse(
      base(`steps: [{ pause: 5 }]
expect:
  answerMs: 100
  digits: "1"
  transfer: "+1"
  endedBy: caller
  spoken: [sorry, hello]
  durationSeconds: { min: 4 }
`),
    );
    expect(result?.failures.map((text) => text.replace(/\d+\.\d/, 'N'))).toEqual([
      'answerMs: nothing was measured, at most 100 expected',
      'durationSeconds: N, at least 4 expected',
      'digits: "", "1" expected',
      'transfer: +4930111, +4930222, +1 expected',
      'endedBy: bot, caller expected',
      'spoken: /hello/ not found in "Sorry."',
    ]);
    expect(result?.observed.transfers).toEqual(['+4930111', '+4930222']);
  });

  it('lets the service interrupt the bot with bargeIn, and reports the position', async () => {
    attributes = 'speechEvents="true" bargeIn="clear" playPositions="true"';
    const seen: Message[] = [];
    bot = () => (message, send) => {
      if (message.event !== 'media') seen.push(message);
      if (message.event !== 'start') return;
      send({ event: 'checkpoint', name: 'a' });
      send(speech(3000));
      send({ event: 'checkpoint', name: 'b' });
    };
    const [result] = await rehearse(
      base(`steps:
  - interrupt: { after: 0.5, play: tone.wav }
  - pause: 0.6
expect: { interruptionMs: 300 }
`),
    );
    expect(result?.failures).toEqual([]);
    expect(seen.slice(0, 5).map(({ event }) => event)).toEqual([
      'start',
      'playedStream',
      'speechStarted',
      'clearedAudio',
      'speechStopped',
    ]);
    const { playedMs = 0, discardedMs = 0 } = seen[3] as {
      playedMs?: number;
      discardedMs?: number;
    };
    expect(playedMs + discardedMs).toBe(3000);
    expect(playedMs).toBeGreaterThan(450);
  });

  it('compares the words of the bot and of the service with the expectations', async () => {
    attributes = 'disclosure="You talk to a machine."';
    const [result] = await rehearse(
      base(`recognizer: { url: "${origin}/v1" }
steps: [{ listen: 3 }]
expect: { transcript: [help you, refund], spoken: [machine] }
`),
    );
    expect(result?.failures).toEqual(['transcript: /refund/ not found in "How can I help you?"']);
  });

  it.each([
    ['accepts', ['ringing', 'answered']],
    ['declines', ['declined']],
  ])('plays a colleague who %s a warm transfer', async (colleague, expected) => {
    const seen: unknown[] = [];
    bot = () => (message, send) => {
      if (message.event === 'start')
        send({ event: 'transfer', transfer: { mode: 'warm', to: '+4930111' } });
      if (message.event === 'transfer') seen.push(message.transfer?.status);
      if (message.transfer?.status === 'declined') send({ event: 'stop' });
    };
    const [result] = await rehearse(
      base(
        `colleague: ${colleague}\nsteps: [{ pause: 5 }]\nexpect: { transfer: "+4930111", endedBy: bot }\n`,
      ),
    );
    expect(result?.failures).toEqual([]);
    await until(() => seen.length === expected.length);
    expect(seen).toEqual(expected);
  });

  it('passes against the demo bot, with a spoken line', async () => {
    const demo = await startDemo({ host: '127.0.0.1', port: 0, logger: silentLogger });
    const file = join(ROOT, 'examples/rehearsals/echo-bot.yaml');
    const [result] = await rehearseAll([readRehearsal(file, { BOT: demo.origin })]);
    await demo.stop();
    expect(result?.failures).toEqual([]);
    expect(result?.observed.latencies.length).toBeGreaterThan(0);
  });

  it('reports unreachable bots, broken documents and protocol faults', async () => {
    const unreachable = await rehearse(
      'bot: { stream: "ws://127.0.0.1:1/" }\nsteps: [{ pause: 1 }]\n',
    );
    expect(unreachable[0]?.failures[0]).toMatch(/connectFailed: .*ECONNREFUSED/);
    expect(unreachable[0]?.failures.join()).not.toContain('documents');
    const [unanswered] = await rehearse(
      'bot: { answerUrl: "http://127.0.0.1:1/answer" }\nsteps: [{ pause: 1 }]\n',
    );
    expect(unanswered?.failures.join('\n')).toMatch(/1\/answer: bad port/);
    bot = () => (message, send, socket) => {
      if (message.event !== 'start') return;
      send({ event: 'nonsense' });
      socket.terminate();
    };
    after = '<Nonsense/>';
    const [broken] = await rehearse(base('steps: [{ pause: 2 }]\n'));
    expect(broken?.failures.join('\n')).toMatch(/dropped: [\s\S]*line 1, column/);
  });

  it('runs 100 callers in parallel with loss, jitter and noise', async () => {
    const results = await rehearse(
      base(`callers: 100
network: { lossPercent: 2, jitterMs: 40 }
noise: { level: -60 }
steps:
  - listen: 10
  - play: tone.wav
  - listen: 10
expect: { turns: 1 }
`),
    );
    expect(results).toHaveLength(100);
    expect(results.flatMap(({ failures }) => failures)).toEqual([]);
  });

  it('writes JUnit and HTML reports from the command line', async () => {
    const lines: string[] = [];
    let failed = false;
    const file = fileOf(base('name: "A & B"\nsteps: [{ listen: 3 }]\nexpect: { digits: "5" }\n'));
    const report = join(folder, 'out');
    await run(['rehearse', file, '--junit', join(report, 'junit.xml'), '--html', report], {
      print: (line) => lines.push(line),
      note: () => undefined,
      interactive: false,
      env: {},
      fail: () => {
        failed = true;
      },
    });
    expect(failed).toBe(true);
    expect(lines.at(-1)).toBe('1 calls, 1 failed');
    const xml = readFileSync(join(report, 'junit.xml'), 'utf8');
    expect(xml).toContain('name="A &amp; B"');
    expect(xml).toContain('<failure message="digits: &quot;&quot;, &quot;5&quot; expected">');
    expect(readFileSync(join(report, 'index.html'), 'utf8')).toContain('call-1.wav');
    expect(readFileSync(join(report, 'call-1.wav')).readUInt16LE(22)).toBe(2);
    expect(junit([])).toContain('<testsuites>');
  });
});

describe('rehearsal files', () => {
  it('of the examples are valid', () => {
    for (const name of ['echo-bot', 'reception']) {
      const file = join(ROOT, `examples/rehearsals/${name}.yaml`);
      expect(readRehearsal(file, { BOT: 'http://127.0.0.1:9000' }).bot.answerUrl).toContain('9000');
      expect(() => readRehearsal(file, {})).toThrow(/bot.answerUrl: .* BOT is not set/);
    }
  });

  const refused = (text: string): string => {
    try {
      readRehearsal(fileOf(text), {});
    } catch (error) {
      return String((error as Error).message).replaceAll(`${folder}/`, '');
    }
    return '';
  };
  it.each([
    ['steps: [{ pause: 1 }]\n', 'test.yaml:1: bot: is missing'],
    ['bot: {}\nsteps: [{ pause: 1 }]\n', 'test.yaml:1: bot: needs either answerUrl or stream'],
    [
      'bot: { stream: "ws://a/" }\nsteps:\n  - pause: 1\n    say: hi\n',
      'test.yaml:3: steps[0]: needs exactly one of say, play, pause, press, listen, interrupt, silence, hangup',
    ],
    [
      'bot: { stream: "ws://a/" }\nsteps:\n  - play: no.wav\n',
      'test.yaml:3: steps[0].play: there is no file no.wav',
    ],
    [
      'bot: { stream: "ws://a/" }\nsteps: [{ hangup: true }]\nexpect: { transcript: [a] }\n',
      'test.yaml:3: expect.transcript: needs `recognizer`',
    ],
    [
      'bot: { stream: "ws://a/" }\nsteps: [{ hangup: true }]\nexpect: { spoken: ["("] }\n',
      'test.yaml:3: expect.spoken[0]: is not a valid regular expression',
    ],
    [
      'bot: { stream: "ws://a/" }\ncallers: 101\nsteps: [{ press: "x" }]\n',
      'test.yaml:2: callers: must be <= 100\ntest.yaml:3: steps[0].press: must have 1 to 100 of the keys 0-9 * # A-D',
    ],
    [
      'bot: { stream: "ws://a/" }\nsteps: []\nvoice: ""\n',
      'test.yaml:2: steps: must not be empty\ntest.yaml:3: voice: must be a voice of espeak-ng, such as en or de',
    ],
    [
      'bot: { stream: "ws://a/" }\nsteps: [{ hangup: false }, 7]\n',
      'test.yaml:2: steps[0].hangup: must be true\ntest.yaml:2: steps[1]: must be an object',
    ],
  ])('refuse %j', (text, fault) => {
    expect(refused(text)).toBe(fault);
  });
});

it('all faults of a file are reported, in the order of its lines', () => {
  const steps = Array.from({ length: 12 }, () => '  - pause: -1\n').join('');
  const text = `steps:\n${steps}bot: { stream: "ws://a/" }\ncallers: 0\n`;
  const lines = (): readonly number[] => {
    try {
      readRehearsal(fileOf(text), {});
    } catch (error) {
      return (error as Error).message.split('\n').map((line) => Number(/:(\d+):/.exec(line)?.[1]));
    }
    return [];
  };
  expect(lines()).toEqual([...Array.from({ length: 12 }, (_, i) => i + 2), 15]);
});

it('the network loses, conceals and delays frames in order', () => {
  const network = new Network({ lossPercent: 50, jitterMs: 60, seed: 7, noiseLevel: undefined });
  const frames = Array.from({ length: 1000 }, () => network.carry(Int16Array.from([1000])));
  expect(network.lostFrames).toBeGreaterThan(400);
  expect(network.lostFrames).toBeLessThan(600);
  expect(frames.some(([sample]) => sample === 600)).toBe(true);
  const arrivals = Array.from({ length: 100 }, (_, i) => network.arrivesMs(i * 20));
  expect(arrivals).toEqual(arrivals.toSorted((a, b) => a - b));
  expect(arrivals.some((ms, i) => ms - i * 20 > 30)).toBe(true);
});
