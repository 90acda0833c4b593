/** Reads every file and enforces rules that the linters cannot. */
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
    title: 'pure floors receive randomness, time and the environment as parameters',
    where: /^src\/(base|protocol|domain)\/.*\.ts$/,
    never: /Math\.random|randomUUID|Date\.now|new Date\(\)|process\.env/,
  },
  {
    title: 'only src/config and standalone programs read the environment',
    where: /^src\/(edge|service)\/.*\.ts$/,
    never: /process\.env\b/,
  },
  {
    title: 'the native core uses no thread, clock, socket or JavaScript',
    where: /^native\/core\/.*\.(hpp|cpp)$/,
    never: /#include <(thread|chrono|mutex|sys\/|netinet\/|arpa\/|napi|node_api)/,
  },
  {
    title: 'only the logger classifies bugs: a thrown value goes into the field `error`',
    where: /^src\/(?!edge\/log\/).*\.ts$/,
    never: /\bbug: (true|is)|\berr: error\b/,
  },
  {
    title:
      'the service uses node:http through src/base/node-http.ts, which does not load a second HTTP client',
    where: /^src\/(?!cli\/).*\.ts$/,
    never: /^import (?!type\b).*from 'node:https?'/,
  },
  {
    title: 'no open tasks remain in the code',
    where: /^(src|native|scripts|bin|bench|examples)\/.*\.(ts|mjs|hpp|cpp)$/,
    never: /\b(TODO|FIXME|XXX)\b|not implemented/,
  },
  {
    title: 'object literals list their properties without spreading another literal',
    where: /^(src|test|bench|packages|scripts|web\/phone)\/.*\.(ts|mjs)$/,
    never: /\.\.\.\{(?! *\.\.\.)/,
  },
  {
    title: 'wallUs converts the wall clock to microseconds',
    where: /^(src\/(?!base\/clock\.ts)|test|bench)\/?.*\.ts$/,
    never: /wallMs\(\) \* 1000/,
  },
  {
    title:
      'test programs refuse invalid numbers (test/number-option.ts), with which they would test nothing',
    where: /^test\/(fuzz|load|sim|soak)\/.*\.ts$/,
    never: /Number\(values\b/,
  },
  {
    title: 'no test is skipped or focused',
    where: /^test\/.*\.ts$/,
    // With a variable instead of a title, the reason is that a program is missing.
    never: /\b(it|describe|test)\.((only|todo)\(|skip\(['"`]|skipIf\(true\))|\bx(it|describe)\(/,
  },
];

/** Waiting on a real timer, by any imported name. */
const SLEEP =
  /import (?!\{ setImmediate[^,]*\} ).*node:timers\/promises|require\(.*timers\/promises|setTimeout\((resolve|done|\(\) => resolve)|Atomics\.wait|systemClock\.sleep|systemClock as (\w+)[\s\S]*\b\2\.sleep\(/;
/** Files that may use real time, and the reason. */
const REAL_TIME: readonly (readonly [where: RegExp, why: string])[] = [
  [/^test\/eventually\.ts$/, 'polls within a limit'],
  [/^test\/(attack|endurance|judge|load|soak)\//, 'programs: their load has a rate and a duration'],
  [/^test\/interop\/baresip(-ipv6|-families)?\.test\.ts$/, 'a test user talks for a while'],
  [/^test\/interop\/sipp-fair-share\.test\.ts$/, 'accounts dial at a fixed rate'],
  [/^test\/interop\/wrtc\/crowd\.ts$/, 'a program: browsers call at a fixed rate'],
  [
    /^test\/edge\/clock\/system-clock\.test\.ts$/,
    'tests the sleep of the clock, with simulated timers',
  ],
  [
    /^test\/edge\/speech\/recognizer\.test\.ts$/,
    'a server is slower than the wait for its last words',
  ],
  [/^test\/e2e\/network\.test\.ts$/, 'RTP is sent every 20 ms'],
  [/^test\/e2e\/quiet-line\.test\.ts$/, 'verifying that no packet is sent requires real time'],
];

/** Maximum number of lines; 400 for all other files. */
const LONGEST: readonly (readonly [where: RegExp, lines: number])[] = [
  [/^packages\/client\/src\/api\.ts$/, Number.POSITIVE_INFINITY], // written by scripts/client-api.ts
  [/^scripts\/setup\.mjs$/, 450], // must run before its imports would be installed
  [/^src\/edge\/sip\/signalling-service\.ts$/, 450],
  [/^(native\/)?test\//, 700],
];

const { enabledBy } = (await import(join(ROOT, 'scripts/test-packages.mjs'))) as {
  enabledBy: (file: string) => readonly string[] | undefined;
};

const isOwn = (file: string): boolean => file === 'test/tidy.test.ts';

describe('the tree', () => {
  it('contains files', () => {
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

  it('has no file above the length limit', () => {
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

  it('no test waits for a fixed time; tests use an event, an injected clock or `eventually`', () => {
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

  it('each file with tests that may be skipped is listed with the packages that enable them', () => {
    const skipping = files.filter(
      (file) =>
        /^test\/(?!interop\/).*\.test\.ts$/.test(file) &&
        !isOwn(file) &&
        /\.(skip|skipIf|runIf)\(/.test(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(skipping.length).toBeGreaterThan(10);
    expect(skipping.filter((file) => enabledBy(file) === undefined)).toEqual([]);
  });

  it('every folder of ARCHITECTURE.md exists, and every folder is listed there', () => {
    const map = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
    const folders = new Set(
      files.flatMap(
        (file) => /^src\/(?:base|protocol|domain|edge)\/([a-z-]+)\//.exec(file)?.[1] ?? [],
      ),
    );
    expect([...folders].filter((folder) => !map.includes(folder))).toEqual([]);
  });
});
