/** Reads every file and enforces what the linters cannot. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)));

interface Rule {
  readonly title: string;
  readonly where: RegExp;
  readonly never: RegExp;
}

const RULES: readonly Rule[] = [
  {
    title: 'pure floors take randomness, time and the environment from outside',
    where: /^src\/(base|protocol|domain)\/.*\.ts$/,
    never: /Math\.random|randomUUID|Date\.now|new Date\(\)|process\.env/,
  },
  {
    title: 'only src/config and programs of their own read the environment',
    where: /^src\/(edge|service)\/.*\.ts$/,
    never: /process\.env\b/,
  },
  {
    title: 'the native core knows no thread, clock, socket or JavaScript',
    where: /^native\/core\/.*\.(hpp|cpp)$/,
    never: /#include <(thread|chrono|mutex|sys\/|netinet\/|arpa\/|napi|node_api)/,
  },
  {
    title: 'the log alone says what is a bug: what was thrown is the field `error`',
    where: /^src\/(?!edge\/log\/).*\.ts$/,
    never: /\bbug: (true|is)|\berr: error\b/,
  },
  {
    title: 'nothing is left open',
    where: /^(src|native|scripts|bin|bench|examples)\/.*\.(ts|mjs|hpp|cpp)$/,
    never: /\b(TODO|FIXME|XXX)\b|not implemented/,
  },
  {
    title: 'no test is switched off or alone',
    where: /^test\/.*\.ts$/,
    never: /\b(it|describe|test)\.(only|todo)\(/,
  },
];

/** A real timer that is waited for, by whatever name it is imported. */
const SLEEP =
  /import (?!\{ setImmediate[^,]*\} ).*node:timers\/promises|require\(.*timers\/promises|setTimeout\((resolve|done|\(\) => resolve)|Atomics\.wait|systemClock\.sleep|systemClock as (\w+)[\s\S]*\b\2\.sleep\(/;
/** Where real time is the matter, and why. */
const REAL_TIME: readonly (readonly [where: RegExp, why: string])[] = [
  [/^test\/eventually\.ts$/, 'looks again and again, within a bound'],
  [/^test\/(attack|load|soak)\//, 'programs: their load has a rhythm and a length'],
  [/^test\/interop\/baresip\.test\.ts$/, 'a person talks for a while'],
  [/^test\/interop\/sipp-fair-share\.test\.ts$/, 'accounts dial at a rhythm'],
  [/^test\/interop\/wrtc\/crowd\.ts$/, 'a program: browsers call at a rhythm'],
  [/^test\/e2e\/network\.test\.ts$/, 'RTP is sent every 20 ms'],
  [/^test\/e2e\/quiet-line\.test\.ts$/, 'that nothing is sent is seen by letting time pass'],
];

/** Lines; 400 elsewhere. */
const LONGEST: readonly (readonly [where: RegExp, lines: number])[] = [
  [/^packages\/client\/src\/api\.ts$/, Number.POSITIVE_INFINITY], // written by scripts/client-api.ts
  [/^scripts\/setup\.mjs$/, 450], // runs before anything that it could import is there
  [/^src\/edge\/sip\/signalling-service\.ts$/, 450],
  [/^(native\/)?test\//, 700],
];

const isOwn = (file: string): boolean => file === 'test/tidy.test.ts';

describe('the tree', () => {
  it('is seen at all', () => {
    expect(files.filter((file) => file.startsWith('src/')).length).toBeGreaterThan(400);
  });

  for (const { title, where, never } of RULES) {
    it(title, () => {
      const found: string[] = [];
      for (const file of files) {
        if (!where.test(file) || isOwn(file)) continue;
        for (const [index, line] of readFileSync(join(ROOT, file), 'utf8').split('\n').entries()) {
          if (never.test(line)) found.push(`${file}:${index + 1}: ${line.trim()}`);
        }
      }
      expect(found).toEqual([]);
    });
  }

  it('has no file that is too long to be read', () => {
    const long = files
      .filter((file) =>
        /^(src|web|native|test|bench|packages|scripts|examples)\/.*\.(tsx?|mjs|[ch]pp)$/.test(file),
      )
      .map((file) => ({
        file,
        lines: readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1,
      }))
      .filter(
        ({ file, lines }) => lines > (LONGEST.find(([where]) => where.test(file))?.[1] ?? 400),
      );
    expect(long).toEqual([]);
  });

  it('no test waits for a fixed time: an event, a clock of its own, or `eventually`', () => {
    const sleeping = files.filter(
      (file) =>
        /^test\/.*\.ts$/.test(file) &&
        !isOwn(file) &&
        SLEEP.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    const allowed = (file: string) => REAL_TIME.some(([where]) => where.test(file));
    expect(sleeping.filter((file) => !allowed(file))).toEqual([]);
    const unused = REAL_TIME.filter(([where]) => !sleeping.some((file) => where.test(file)));
    expect(unused).toEqual([]);
  });

  it('every folder of ARCHITECTURE.md exists, and every folder is in it', () => {
    const map = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
    const folders = new Set(
      files.flatMap(
        (file) => /^src\/(?:base|protocol|domain|edge)\/([a-z-]+)\//.exec(file)?.[1] ?? [],
      ),
    );
    expect([...folders].filter((folder) => !map.includes(folder))).toEqual([]);
  });
});
