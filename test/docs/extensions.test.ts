/**
 * Adds one of each extension of CONTRIBUTING.md to a copy of the tree, at its first places only. The compiler or a check
 * must report the other places, and no others.
 */
import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = [
  ...['src', 'test', 'web', 'config', 'scripts', 'packages'],
  ...['bin', 'bench', 'docs', 'examples'],
];
const SETTINGS = ['package.json', 'tsconfig.json', 'vitest.config.ts', 'knip.json'];

type Edit = readonly [file: string, before: string, after: string];

interface Extension {
  readonly guide: string;
  /** First edits: file, text in it (empty for a new file), and the text that replaces it. */
  readonly edits: readonly Edit[];
  /** All files in which the compiler reports an omission. */
  readonly compiler?: readonly string[];
  /** Titles of the tests that report an omission. */
  readonly checks?: readonly string[];
  /** New files that knip reports, because nothing uses them. */
  readonly unused?: readonly string[];
}

const REFERENCE = 'matches the code (node scripts/reference.ts)';

const EXTENSIONS: readonly Extension[] = [
  {
    guide: 'a codec',
    edits: [
      [
        'src/protocol/sdp/codec-table.ts',
        '  PCMU: {',
        "  GSM: { offered: [fixed(3, 'GSM', 8000)], sampleRate: () => 8000 },\n  PCMU: {",
      ],
    ],
    compiler: ['test/edge/media/wideband.test.ts'],
    checks: ['has each codec in SDP and in the native engine'],
  },
  {
    guide: 'an XML element',
    edits: [
      [
        'src/protocol/answer-xml/instruction.ts',
        "readonly kind: 'hangup';",
        "readonly kind: 'hangup' | 'park';",
      ],
      [
        'src/protocol/answer-xml/element/element.ts',
        'hangup: { Hangup: readHangup }',
        'hangup: { Hangup: readHangup, Park: readHangup }',
      ],
      [
        'src/domain/interpreter/needs.ts',
        '  readonly recorder: Recorder;',
        '  readonly parked: () => number;\n  readonly recorder: Recorder;',
      ],
    ],
    compiler: [
      'src/domain/interpreter/verb/verb.ts',
      'src/protocol/answer-xml/element/element.ts',
      'src/service/join/call-execution.ts',
    ],
    checks: [`docs/reference/xml.md ${REFERENCE}`],
  },
  {
    guide: 'a REST route',
    edits: [
      ['src/edge/rest/routes/calls/parked.ts', '', 'export const parkedRoutes = [];\n'],
      [
        'src/edge/rest/admin/alarms.ts',
        '= [alarms,',
        "= [{ ...alarms, path: '/admin/v1/parked' }, alarms,",
      ],
      [
        'src/domain/dispatch/control-live.ts',
        "  | { readonly kind: 'tooMany'; readonly limit: number }",
        "  | { readonly kind: 'parked' }\n  | { readonly kind: 'tooMany'; readonly limit: number }",
      ],
      [
        'src/edge/rest/deps.ts',
        'export interface RouteNeeds {',
        'export interface RouteNeeds {\n  readonly parked: () => number;',
      ],
    ],
    compiler: ['src/edge/rest/refusal.ts', 'src/service/join/api.ts', 'test/spec/service.ts'],
    checks: ['match the API description (written by scripts/client-api.ts)'],
    unused: ['src/edge/rest/routes/calls/parked.ts'],
  },
  {
    guide: 'a command',
    edits: [
      ['src/cli/commands/parked.ts', '', 'export const addParkedCommands = (): void => {};\n'],
      [
        'src/cli/commands/config.ts',
        "  config\n    .command('show')",
        "  config.command('parked').description('Show parked calls');\n  config\n    .command('show')",
      ],
    ],
    checks: [`docs/reference/cli.md ${REFERENCE}`],
    unused: ['src/cli/commands/parked.ts'],
  },
  {
    guide: 'a SIP transport',
    edits: [
      [
        'src/protocol/sip/types.ts',
        '  ws: {\n',
        "  sctp: { isReliable: true, isSecure: false, isWebSocket: false, secured: undefined,\n    uriName: 'sctp', defaultPort: 5060, dns: undefined },\n  ws: {\n",
      ],
    ],
    compiler: ['src/edge/sip/sip-sockets.ts'],
  },
  {
    guide: 'a stored record',
    edits: [
      [
        'src/domain/phone-login/needs.ts',
        'export interface PhoneLoginStore {',
        'export interface PhoneLoginStore {\n  parked(): Promise<number>;',
      ],
      ['src/edge/store/migrations/999-parked.sqlite.sql', '', 'CREATE TABLE parked (id TEXT);\n'],
    ],
    compiler: ['src/edge/store/repository-set.ts', 'src/edge/store/sql/phone-logins.ts'],
    checks: [
      'has a counterpart of each SQLite migration: shared, or named in a line `-- sqlite: NNN`',
    ],
  },
  {
    guide: 'a campaign setting',
    edits: [
      [
        'src/domain/campaign/records.ts',
        '  readonly maxConcurrent: number;',
        '  readonly ringSeconds: number;\n  readonly maxConcurrent: number;',
      ],
    ],
    compiler: [
      'bench/campaigns.ts',
      'src/domain/campaign/plan.ts',
      'src/edge/rest/wire/campaign.ts',
      'src/edge/store/sql/campaigns.ts',
      'test/domain/campaign/records.ts',
    ],
    // Fields of the request are in the API description, like routes.
    checks: ['match the API description (written by scripts/client-api.ts)'],
  },
  {
    guide: 'a metric',
    edits: [
      [
        'src/edge/metrics/metrics.ts',
        '    attempts: new Counter({',
        "    parked: new Counter({ name: 'voice_parked_total', help: 'Parked', registers }),\n    attempts: new Counter({",
      ],
      [
        'src/edge/metrics/metrics.ts',
        '  registrations?: () => number;',
        '  registrations?: () => number;\n  parked?: () => number;',
      ],
    ],
    compiler: ['src/service/measuring.ts'],
    checks: [`docs/reference/metrics.md ${REFERENCE}`],
  },
  {
    guide: 'a console page',
    edits: [
      ['web/console/pages/parked.tsx', '', 'export const Parked = () => null;\n'],
      ['web/console/pages.ts', "title: t('Audit log')", "title: t('Parked calls')"],
    ],
    checks: ['has all texts in strings.json (node scripts/strings.ts)'],
    unused: ['web/console/pages/parked.tsx'],
  },
  {
    guide: 'a configuration setting',
    edits: [
      [
        'src/config/settings/calling.ts',
        '    callsPerNumberPerDay: integer(',
        "    callsPerNumberPerWeek: integer(0, 0, 9, 'limit'),\n    callsPerNumberPerDay: integer(",
      ],
    ],
    checks: [`config/default.json ${REFERENCE}`, `docs/reference/settings.md ${REFERENCE}`],
  },
  {
    guide: 'an alarm',
    edits: [
      ['src/domain/alarm/types.ts', "  'object_backlog',", "  'object_backlog',\n  'flood',"],
    ],
    checks: [
      'has a solution of each alarm in the console',
      'describes each alarm in docs/operate/troubleshooting.md',
    ],
  },
  {
    guide: 'another store',
    edits: [
      [
        'src/edge/store/other/other.ts',
        '',
        "import type { Repositories } from '../repository-set.ts';\nexport const other: Repositories = {};\n",
      ],
    ],
    compiler: ['src/edge/store/other/other.ts'],
    unused: ['src/edge/store/other/other.ts'],
  },
];

/** Test files with the checks. */
const CHECK_FILES = [
  'test/docs/docs.test.ts',
  'test/docs/tables.test.ts',
  'test/edge/store/postgres/schema.test.ts',
  'test/packages/client.test.ts',
  'test/web/console.test.ts',
];

const copy = mkdtempSync(join(tmpdir(), 'carillon-extensions-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function write(file: string, text: string | Buffer): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  writeFileSync(join(copy, file), text);
}

/** Copies the tracked files and makes the first edit of each extension. */
function copyWithExtensions(): void {
  const listing = ['ls-files', '--cached', '--others', '--exclude-standard', ...COPIED];
  const files = execFileSync('git', listing, { cwd: ROOT, encoding: 'utf8' }).split('\n');
  for (const file of [...files, ...SETTINGS]) {
    if (file !== '' && existsSync(join(ROOT, file))) write(file, readFileSync(join(ROOT, file)));
  }
  for (const linked of ['node_modules', 'build'])
    symlinkSync(join(ROOT, linked), join(copy, linked));
  for (const [file, before, after] of EXTENSIONS.flatMap(({ edits }) => edits)) {
    const text = existsSync(join(copy, file)) ? readFileSync(join(copy, file), 'utf8') : '';
    if (!text.includes(before)) throw new Error(`${file} does not contain ${before}`);
    write(
      file,
      text.replace(before, () => after),
    );
  }
}

/** Runs a program in the copy. Resolves with its standard output. */
const run = (program: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')),
    );
    const options = { cwd: copy, env, maxBuffer: 100_000_000 };
    const module = join(ROOT, 'node_modules', program);
    execFile(process.execPath, [module, ...args], options, (_failed, stdout) => resolve(stdout));
  });

/** Returns all files in which the compiler reports an error. */
async function faultyFiles(): Promise<readonly string[]> {
  const output = await run('typescript-native/bin/tsc', ['--incremental', 'false']);
  const files = output.matchAll(/^([^\s(]+)\(\d+,\d+\): error/gm);
  return [...new Set([...files].map(([, file = '']) => file))].sort();
}

/** Returns the files that nothing uses. */
async function unusedFiles(): Promise<readonly string[]> {
  const args = ['--no-progress', '--no-config-hints', '--include', 'files', '--reporter', 'json'];
  const { issues } = JSON.parse(await run('knip/bin/knip.js', args)) as {
    readonly issues: readonly { readonly file: string }[];
  };
  return issues.map(({ file }) => file).sort();
}

/** Runs the checks in the copy and returns the titles of those that failed. */
async function failedChecks(titles: readonly string[]): Promise<ReadonlySet<string>> {
  const pattern = titles.map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const report = join(copy, 'report.json');
  const shown = ['--reporter=json', `--outputFile=${report}`];
  await run('vitest/vitest.mjs', ['run', ...CHECK_FILES, '-t', pattern, ...shown]);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly testResults: readonly {
      readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
    }[];
  };
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  return new Set(results.filter(({ status }) => status === 'failed').map(({ title }) => title));
}

/** Files that the guide marks with *(compiler)*: names, with or without their folder. `<name>` stands for any name. */
function markedFiles(guide: string): readonly RegExp[] {
  const [, after = ''] = GUIDES.split(`### … ${guide}\n`);
  const [text = ''] = after.split('\n##');
  return [...text.matchAll(/`([^`\n]+)`[^`\n]*\*\(compiler/g)].map(
    ([, file = '']) => new RegExp(`(^|/)${file.replaceAll('<name>', '[^/]+')}$`),
  );
}

const GUIDES = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');

const listed = (kind: 'compiler' | 'checks' | 'unused'): readonly string[] =>
  [...new Set(EXTENSIONS.flatMap((extension) => extension[kind] ?? []))].sort();

describe('an extension with omitted places', () => {
  let faulty: readonly string[];
  let unused: readonly string[];
  let failed: ReadonlySet<string>;
  beforeAll(async () => {
    copyWithExtensions();
    [faulty, unused, failed] = await Promise.all([
      faultyFiles(),
      unusedFiles(),
      failedChecks(listed('checks')),
    ]);
  }, 300_000);

  it.each(EXTENSIONS)(
    'is reported: $guide',
    ({ compiler = [], checks = [], unused: files = [] }) => {
      expect(compiler.filter((file) => !faulty.includes(file))).toEqual([]);
      expect(checks.filter((title) => !failed.has(title))).toEqual([]);
      expect(files.filter((file) => !unused.includes(file))).toEqual([]);
    },
  );

  it('is reported only in files that its guide lists', () => {
    expect(faulty).toEqual(listed('compiler'));
    expect(unused).toEqual(listed('unused'));
  });

  it.each(EXTENSIONS)(
    'has a guide that marks the same files: $guide',
    ({ guide, compiler = [] }) => {
      const marked = markedFiles(guide);
      const isMarked = (file: string) => marked.some((name) => name.test(file));
      expect(compiler.filter((file) => file.startsWith('src/') && !isMarked(file))).toEqual([]);
      expect(marked.filter((name) => !compiler.some((file) => name.test(file)))).toEqual([]);
    },
  );

  it('covers every guide of CONTRIBUTING.md', () => {
    const guides = [...GUIDES.matchAll(/^### … (.+)$/gm)].map(([, guide = '']) => guide);
    expect(guides.sort()).toEqual([...new Set(EXTENSIONS.map(({ guide }) => guide))].sort());
  });
});
