/** Runs example programs of both languages against a running service. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertRate, readWav } from '../../src/phone/audio/wav.ts';
import { Handset, type HandsetOptions } from '../e2e/handset.ts';
import { makeUser } from '../e2e/phone.ts';
import type { Scene } from '../e2e/scene.ts';
import { type Environment, eventually, freePort, Program, ROOT } from '../e2e/service.ts';

export const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Endings of the example programs: TypeScript and, if installed, Python. */
export const LANGUAGES = hasPython ? ['ts', 'py'] : ['ts'];

export interface RunningExample {
  readonly program: Program;
  /** URL of a path of the program. */
  readonly url: (path: string) => string;
  /** Waits until the program has printed a text. */
  readonly printed: (text: string | RegExp) => Promise<true>;
}

/** Example programs of one test file. */
export class ExampleStage {
  readonly scene: Scene;
  readonly #programs: Program[] = [];
  #calls = 0;

  constructor(scene: Scene) {
    this.scene = scene;
  }

  /** Starts a program of `examples/` on a free port, and waits until it serves. */
  async run(
    script: string,
    environment: Environment = {},
    args: readonly string[] = [],
  ): Promise<RunningExample> {
    const port = await freePort();
    const isPython = script.endsWith('.py');
    const { authId, authToken } = this.scene.service.demo;
    const program = new Program(
      join('examples', script),
      [String(port), ...args],
      {
        CARILLON_URL: this.scene.service.baseUrl,
        AUTH_ID: authId,
        AUTH_TOKEN: authToken,
        PYTHONDONTWRITEBYTECODE: '1',
        ...environment,
      },
      isPython ? { node: 'python3' } : {},
    );
    this.#programs.push(program);
    const printed = (text: string | RegExp): Promise<true> =>
      eventually(`${text} of ${script}`, () => {
        if (program.child.exitCode !== null) throw new Error(`${script}:\n${program.output}`);
        const found =
          typeof text === 'string' ? program.output.includes(text) : text.test(program.output);
        return found || undefined;
      });
    await printed(`127.0.0.1:${port}`);
    return { program, printed, url: (path) => `http://127.0.0.1:${port}${path}` };
  }

  /** Calls an application with these URLs. */
  async call(
    answerUrl: string,
    options: HandsetOptions = {},
    hangupUrl?: string,
  ): Promise<Handset> {
    this.#calls += 1;
    const user = await makeUser(this.scene.service, `example${this.#calls}`, {
      answer_url: answerUrl,
      ...(hangupUrl !== undefined && { hangup_url: hangupUrl }),
    });
    const phone = await Handset.call(this.scene.service, user, options);
    await phone.answered;
    return phone;
  }

  /** SIP URI of a registered phone of the scene. */
  async colleague(name: string, options: HandsetOptions = {}) {
    const { phone, element } = await this.scene.waiting(name, options);
    return { phone, uri: /<User>(.*)<\/User>/.exec(element)?.[1] ?? '' };
  }

  stop(): void {
    for (const { child } of this.#programs) child.kill('SIGKILL');
  }
}

/** Recorded speech of 5 s at 8 kHz. */
export function speech(): Int16Array {
  const wav = readWav(readFileSync(join(ROOT, 'fixtures/audio/speech.wav')));
  if (!wav.ok) throw new Error(wav.error);
  return convertRate(wav.value, 8000);
}

/** Signed 16-bit samples of a tone at 24 kHz. */
export function pcm24k(hz: number, ms: number): Buffer {
  const samples = Int16Array.from(
    { length: ms * 24 },
    (_, i) => 8000 * Math.sin((2 * Math.PI * hz * i) / 24_000),
  );
  return Buffer.from(samples.buffer);
}
