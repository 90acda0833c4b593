/** Tests of customers' bots without a call, as `carillon stream test` does. The egress guard applies as for calls. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { EgressGuard } from '../base/egress.ts';
import type { AccountId, Random } from '../base/ids.ts';
import { err, ok, type Result } from '../base/result.ts';
import { problems, table } from '../cli/stream-test/observations.ts';
import { runStreamTest, type StreamTestOptions } from '../cli/stream-test/run.ts';
import type { StreamTestReport, StreamTestRequest } from '../edge/rest/server.ts';
import { readWav, type Sound } from '../phone/audio/wav.ts';

/** Running tests of the node. Each account has at most one. */
const RUNNING_MAX = 10;
/** Lines of the log that a report keeps. */
const LINES_MAX = 200;

export interface StreamTestParts {
  /** Project folder. */
  readonly root: string;
  readonly egress: EgressGuard;
  readonly signUpgrade: StreamTestOptions['signUpgrade'];
  readonly caFile: string;
  readonly clock: Clock;
  readonly random: Random;
}

export class StreamTests {
  readonly #parts: StreamTestParts;
  readonly #running = new Set<AccountId>();
  #voice: Promise<Sound> | undefined;

  constructor(parts: StreamTestParts) {
    this.#parts = parts;
  }

  /** Connects to the bot, speaks, listens and reports. Refuses a second test of the account at the same time. */
  async run(
    accountId: AccountId,
    { url, seconds, rate, encoding }: StreamTestRequest,
  ): Promise<Result<StreamTestReport, 'busy'>> {
    if (this.#running.has(accountId) || this.#running.size >= RUNNING_MAX) return err('busy');
    this.#running.add(accountId);
    const lines: string[] = [];
    try {
      this.#voice ??= voiceIn(this.#parts.root).catch((error: unknown) => {
        // The next test reads the file again: the reason may be temporary, such as too many open files.
        this.#voice = undefined;
        throw error;
      });
      const { seen } = await runStreamTest({
        ...this.#parts,
        url,
        accountId,
        voice: await this.#voice,
        durationMs: seconds * 1000,
        format: { encoding, rate },
        extraHeaders: [],
        digits: '',
        progress: (line) => {
          if (lines.length < LINES_MAX) lines.push(line);
        },
      });
      const observations = table(seen).map(([name, value]) => ({ name, value }));
      return ok({ faults: problems(seen, rate), observations, log: lines });
    } finally {
      this.#running.delete(accountId);
    }
  }
}

async function voiceIn(root: string): Promise<Sound> {
  const sound = readWav(await readFile(join(root, 'fixtures/audio/speech.wav')));
  if (!sound.ok) throw new Error(`speech.wav: ${sound.error}`);
  return sound.value;
}
