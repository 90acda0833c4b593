/**
 * Adds one of each extension of CONTRIBUTING.md to a copy of the tree, at its first place only. The compiler or a check
 * must report the other places.
 */
import { execFileSync, spawnSync } from 'node:child_process';
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
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = ['src', 'test', 'config', 'scripts', 'packages', 'bench', 'docs', 'examples'];
const SETTINGS = ['package.json', 'tsconfig.json', 'vitest.config.ts'];

interface Extension {
  readonly guide: string;
  /** First edit: file, text in it, and the text that replaces it. */
  readonly first: readonly [file: string, before: string, after: string];
  /** Files in which the compiler reports an omission. */
  readonly compiler?: readonly string[];
  /** Titles of the tests that report an omission. */
  readonly checks?: readonly string[];
}

const EXTENSIONS: readonly Extension[] = [
  {
    guide: 'a codec',
    first: [
      'src/protocol/sdp/codec-table.ts',
      '  PCMU: {',
      "  GSM: { offered: [fixed(3, 'GSM', 8000)], sampleRate: () => 8000 },\n  PCMU: {",
    ],
    compiler: ['test/edge/media/wideband.test.ts'],
    checks: ['has each codec in SDP and in the native engine'],
  },
  {
    guide: 'an XML element',
    first: [
      'src/protocol/answer-xml/instruction.ts',
      "readonly kind: 'hangup';",
      "readonly kind: 'hangup' | 'park';",
    ],
    compiler: ['src/protocol/answer-xml/element/element.ts', 'src/domain/interpreter/verb/verb.ts'],
  },
  {
    guide: 'a SIP transport',
    first: [
      'src/protocol/sip/types.ts',
      '  ws: {\n',
      "  sctp: { isReliable: true, isSecure: false, isWebSocket: false, secured: undefined,\n    uriName: 'sctp', defaultPort: 5060, dns: undefined },\n  ws: {\n",
    ],
    compiler: ['src/edge/sip/sip-sockets.ts'],
  },
  {
    guide: 'a stored record',
    first: [
      'src/domain/phone-login/needs.ts',
      'export interface PhoneLoginStore {',
      'export interface PhoneLoginStore {\n  parked(): Promise<number>;',
    ],
    compiler: ['src/edge/store/repository-set.ts', 'src/edge/store/sql/phone-logins.ts'],
  },
  {
    guide: 'a stored record',
    first: [
      'src/edge/store/migrations/999-parked.sqlite.sql',
      '',
      'CREATE TABLE parked (id TEXT);\n',
    ],
    checks: [
      'has a counterpart of each SQLite migration: shared, or named in a line `-- sqlite: NNN`',
    ],
  },
  {
    guide: 'a campaign setting',
    first: [
      'src/domain/campaign/records.ts',
      '  readonly maxConcurrent: number;',
      '  readonly ringSeconds: number;\n  readonly maxConcurrent: number;',
    ],
    compiler: [
      'bench/campaigns.ts',
      'src/domain/campaign/plan.ts',
      'src/edge/rest/wire/campaign.ts',
      'src/edge/store/sql/campaigns.ts',
      'test/domain/campaign/records.ts',
    ],
  },
  {
    guide: 'a metric',
    first: [
      'src/edge/metrics/metrics.ts',
      '    attempts: new Counter({',
      "    parked: new Counter({ name: 'voice_parked_total', help: 'Parked', registers }),\n    attempts: new Counter({",
    ],
    checks: ['docs/reference/metrics.md matches the code (node scripts/reference.ts)'],
  },
  {
    guide: 'a configuration setting',
    first: [
      'src/config/settings/calling.ts',
      '    callsPerNumberPerDay: integer(',
      "    callsPerNumberPerWeek: integer(0, 0, 9, 'limit'),\n    callsPerNumberPerDay: integer(",
    ],
    checks: [
      "contains every setting with the schema's default in config/default.json",
      'docs/reference/settings.md matches the code (node scripts/reference.ts)',
    ],
  },
  {
    guide: 'an alarm',
    first: ['src/domain/alarm/types.ts', "  'object_backlog',", "  'object_backlog',\n  'flood',"],
    checks: ['describes each alarm in docs/operate/troubleshooting.md'],
  },
];

/** Test files with the checks. */
const CHECK_FILES = [
  'test/config/load.test.ts',
  'test/docs/docs.test.ts',
  'test/docs/tables.test.ts',
  'test/edge/store/postgres/schema.test.ts',
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
  for (const { first } of EXTENSIONS) {
    const [file, before, after] = first;
    const text = existsSync(join(copy, file)) ? readFileSync(join(copy, file), 'utf8') : '';
    if (!text.includes(before)) throw new Error(`${file} does not contain ${before}`);
    write(
      file,
      text.replace(before, () => after),
    );
  }
}

/** Returns the files among `files` in which the compiler reports an error. */
function faulty(folder: string, files: readonly string[]): ReadonlySet<string> {
  const { config } = ts.readConfigFile(join(folder, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, folder);
  const program = ts.createProgram(
    files.map((file) => join(folder, file)),
    { ...options, incremental: false },
  );
  return new Set(
    files.filter((file) => {
      const source = program.getSourceFile(join(folder, file));
      return program.getSemanticDiagnostics(source).length > 0;
    }),
  );
}

/** Runs the checks in the copy and returns the titles of those that failed. */
function failedChecks(titles: readonly string[]): readonly string[] {
  const pattern = titles.map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const report = join(copy, 'report.json');
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')),
  );
  const args = ['run', ...CHECK_FILES, '-t', pattern, '--reporter=json', `--outputFile=${report}`];
  spawnSync(process.execPath, [join(ROOT, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: copy,
    env,
  });
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly testResults: readonly {
      readonly assertionResults: readonly { readonly status: string; readonly title: string }[];
    }[];
  };
  return testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ title }) => title),
  );
}

describe('an extension with omitted places', () => {
  let errors: ReadonlySet<string>;
  let failed: readonly string[];
  beforeAll(() => {
    copyWithExtensions();
    errors = faulty(
      copy,
      EXTENSIONS.flatMap(({ compiler = [] }) => compiler),
    );
    failed = failedChecks(EXTENSIONS.flatMap(({ checks = [] }) => checks));
  });

  it.each(EXTENSIONS)('is reported: $guide', ({ compiler = [], checks = [] }) => {
    expect(compiler.filter((file) => !errors.has(file))).toEqual([]);
    expect(checks.filter((title) => !failed.includes(title))).toEqual([]);
  });

  it('has a guide in CONTRIBUTING.md', () => {
    const guides = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    expect(EXTENSIONS.filter(({ guide }) => !guides.includes(`### … ${guide}\n`))).toEqual([]);
  });
});
