/**
 * Recognition by Debian's `pocketsphinx` with its American English model, one process per utterance. Hints become a grammar.
 * It recognizes a few expected phrases well enough for menus, and free speech poorly.
 */

import { createReadStream } from 'node:fs';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ok } from '../../../base/result.ts';
import { Semaphore } from '../../../base/semaphore.ts';
import type { RecognitionRequest } from '../../../domain/call/needs.ts';
import type { RunProcess } from '../process.ts';
import { lengthMs, problem, type Recognised, type RecognitionEngine } from './engine.ts';
import { wavOf } from './openai.ts';
import { Utterance } from './utterance.ts';

const PROGRAM = 'pocketsphinx_continuous';
const DICTIONARY = '/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict';
/** Installation of the program and its model. */
export const INSTALL_POCKETSPHINX = 'sudo apt-get install pocketsphinx pocketsphinx-en-us';
const MAX_PROCESSES = 2;
const MAX_WAITING = 20;
/** Maximum number of cached grammars, by the text of their hints. */
const MAX_GRAMMARS = 100;
/** Silence of 0.25 s around the audio. Without it, words at the ends are misrecognized. */
const PADDING = new Uint8Array(8000);

const openDictionary = (): Readable => createReadStream(DICTIONARY);

/** Returns undefined if pocketsphinx is not installed. `open` opens the dictionary and is replaced in tests. */
export async function findPocketSphinx(
  run: RunProcess,
  open = openDictionary,
): Promise<RecognitionEngine | undefined> {
  const dictionary = await access(DICTIONARY).then(
    () => true,
    () => false,
  );
  // Without arguments the program lists them and fails, which shows that it is installed.
  const listing = dictionary ? await run(PROGRAM, [], '') : undefined;
  if (listing === undefined || (!listing.ok && listing.error.kind === 'absent')) return undefined;
  const sphinx = new PocketSphinx(run, open);
  return {
    name: 'pocketsphinx',
    understands: (language) => /^en(-|_|$)/i.test(language),
    open: (request, interim) =>
      new Utterance((pcm, signal) => sphinx.recognise(pcm, request, signal), interim),
  };
}

class PocketSphinx {
  readonly #run: RunProcess;
  readonly #openDictionary: () => Readable;
  readonly #grammars = new Map<string, Promise<string | undefined>>();
  readonly #processes = new Semaphore({ slots: MAX_PROCESSES, maxWaiting: MAX_WAITING });

  constructor(run: RunProcess, open: () => Readable) {
    this.#run = run;
    this.#openDictionary = open;
  }

  async recognise(
    pcm: Uint8Array,
    { hints }: RecognitionRequest,
    signal: AbortSignal,
  ): Promise<Recognised> {
    const release = await this.#processes.acquire(signal);
    if (release === 'aborted') return problem('aborted', 'no longer wanted');
    if (release === 'queueFull')
      return problem('busy', 'too many recognition requests are waiting');
    try {
      return await this.#recognise(pcm, await this.#grammarOf(hints));
    } catch {
      return problem('failed', 'the recognizer could not be started');
    } finally {
      release();
    }
  }

  async #recognise(pcm: Uint8Array, grammar: string | undefined): Promise<Recognised> {
    const folder = await mkdtemp(join(tmpdir(), 'carillon-heard-'));
    try {
      const file = join(folder, 'speech.wav');
      await writeFile(file, wavOf(Buffer.concat([PADDING, pcm, PADDING])), { mode: 0o600 });
      const args = ['-infile', file, '-time', 'yes', '-logfn', '/dev/null'];
      if (grammar !== undefined) {
        const path = join(folder, 'hints.gram');
        await writeFile(path, grammar, { mode: 0o600 });
        args.push('-jsgf', path);
      }
      const ran = await this.#run(PROGRAM, args, '');
      if (!ran.ok) return problem('failed', `the recogniser ${ran.error.kind}`);
      return ok({ ...read(new TextDecoder().decode(ran.value)), durationMs: lengthMs(pcm) });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  #grammarOf(hints: readonly string[]): Promise<string | undefined> {
    const key = hints.join('\n');
    const known = this.#grammars.get(key);
    if (known !== undefined) return known;
    const made = grammarOf(hints, this.#openDictionary);
    if (this.#grammars.size >= MAX_GRAMMARS) this.#grammars.clear();
    this.#grammars.set(key, made);
    // The dictionary is read again for the next request.
    made.catch(() => this.#grammars.delete(key));
    return made;
  }
}

/** Parses output lines: words, or `word start end probability`. */
function read(output: string): { readonly text: string; readonly confidence: number | undefined } {
  const words: string[] = [];
  const sure: number[] = [];
  for (const line of output.split('\n')) {
    const timed = /^(\S+) \d+\.\d+ \d+\.\d+ (\d+\.\d+(?:e-?\d+)?)$/.exec(line);
    const [, word, probability] = timed ?? [];
    if (word === undefined || /^[<[+]/.test(word)) continue;
    // Alternative pronunciations have a number: `a(2)`.
    words.push(word.replace(/\(\d+\)$/, ''));
    sure.push(Math.min(1, Number(probability)));
  }
  const sum = sure.reduce((total, one) => total + one, 0);
  return {
    text: words.join(' '),
    confidence: sure.length === 0 ? undefined : sum / sure.length,
  };
}

const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** Builds a grammar from the phrases whose words are all in the dictionary. Returns undefined if there are none. */
async function grammarOf(
  hints: readonly string[],
  open: () => Readable,
): Promise<string | undefined> {
  const phrases = hints.map((hint) =>
    hint
      .toLowerCase()
      .replace(/\d/g, (digit) => ` ${DIGITS[Number(digit)] ?? ''} `)
      .split(/[^a-z']+/)
      .filter((word) => word !== ''),
  );
  const known = await wordsIn(new Set(phrases.flat()), open);
  const usable = phrases.filter(
    (words) => words.length > 0 && words.every((word) => known.has(word)),
  );
  if (usable.length === 0) return undefined;
  const choices = usable.map((words) => words.join(' ')).join(' | ');
  return `#JSGF V1.0;\ngrammar hints;\npublic <hint> = ${choices};\n`;
}

/** Returns the words that are in the dictionary. */
async function wordsIn(
  wanted: ReadonlySet<string>,
  open: () => Readable,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (wanted.size === 0) return found;
  const lines = createInterface({ input: open() });
  for await (const line of lines) {
    const word = line.slice(0, line.indexOf(' '));
    if (wanted.has(word)) found.add(word);
  }
  return found;
}
