#!/usr/bin/env node
// Writes docs/performance.md and its plots from bench/results: for each benchmark the latest complete run. A test fails when the page
// differs from the results.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Benchmarks in the order of the page. `attack` and `soak` results say whether the service holds, not how fast it is. */
const TITLES = {
  calls: 'Calls with signaling',
  'sip-transports': 'Signaling by transport',
  'sip-parse': 'SIP messages',
  'sip-call': 'SIP of one call without sockets',
  'answer-xml': 'Answer XML',
  media: 'Media',
  stream: 'Audio streams',
  srtp: 'SRTP',
  webrtc: 'Browsers',
  'speech-quality': 'Speech quality over impaired networks',
  outbound: 'Outbound calls over REST',
  rest: 'REST',
  ledger: 'Ledger',
  store: 'Store',
  campaigns: 'Campaigns',
  cluster: 'Clusters',
  idle: 'Idle service',
  delay: 'Media delay',
  bots: 'Voice bots',
};
const WIDTH = 760;
const ROW = 22;
const LABEL = 400;

/** Results of the latest run of each benchmark; complete runs take precedence over quick ones. */
export function latestRuns(results) {
  const runs = new Map();
  for (const result of results) {
    if (/^(attack|soak)/.test(result.bench)) continue;
    const key = `${result.bench}|${result.at}`;
    runs.set(key, [...(runs.get(key) ?? []), result]);
  }
  const latest = new Map();
  for (const run of [...runs.values()].sort((a, b) => (a[0].at < b[0].at ? -1 : 1))) {
    const [{ bench, quick }] = run;
    const known = latest.get(bench);
    if (known === undefined || !quick || known[0].quick) latest.set(bench, run);
  }
  return latest;
}

/** The page as Markdown, and its plots by file name. */
export function performancePage(results) {
  const latest = latestRuns(results);
  const unknown = [...latest.keys()].filter((bench) => !(bench in TITLES));
  if (unknown.length > 0) throw new Error(`scripts/performance.mjs has no title for ${unknown}`);
  const plots = new Map();
  const sections = Object.keys(TITLES)
    .filter((bench) => latest.has(bench))
    .flatMap((bench) => section(bench, latest.get(bench), plots));
  const text = [
    '# Performance',
    '',
    'This page shows the latest measurement of each benchmark, generated from `bench/results` by `node scripts/performance.mjs`.',
    '',
    'Each section is one run on one machine, which also generated the load. Compare ratios, not absolute values: machines differ.',
    'The *baseline* column is the cheapest possible program or a competing product, measured in the same run.',
    'To repeat a measurement, run the command under its heading. The command appends its results to `bench/results`.',
    '',
    ...sections,
  ].join('\n');
  return { text: `${text.trimEnd()}\n`, plots };
}

function section(bench, run, plots) {
  const [{ at, commit, cpu, cores, node, load, quick }] = run;
  const lines = [
    `## ${TITLES[bench]}`,
    '',
    `\`npm run bench -- ${bench}${quick ? ' --quick' : ''}\` · ${at.slice(0, 10)} · commit \`${commit.slice(0, 8)}\` · ${cpu}, ${cores} cores · Node ${node.replace('v', '')} · load average ${load} before the run`,
    '',
  ];
  const bars = run.filter(({ floor }) => floor !== undefined);
  if (bars.length > 0) {
    plots.set(`${bench}.svg`, plot(bars));
    lines.push(`![${TITLES[bench]}: value and baseline](performance/${bench}.svg)`, '');
  }
  lines.push('| measurement | value | baseline | ratio | note |', '|-|-:|-:|-:|-|');
  for (const { name, value, unit, floor, ratio, note = '' } of run) {
    const baseline = floor === undefined ? '' : `${figure(floor)} ${unit}`;
    const times = ratio ?? (floor > 0 ? value / floor : undefined);
    lines.push(
      `| ${cell(name)} | ${figure(value)} ${unit} | ${baseline} | ${times === undefined ? '' : `${figure(times)} ×`} | ${cell(note)} |`,
    );
  }
  return [...lines, ''];
}

/** Bars of value and baseline, one row a measurement, each row scaled to the larger of its two. */
function plot(rows) {
  const bars = rows.map(({ name, value, floor, unit }, index) => {
    const y = index * ROW;
    const most = Math.max(value, floor, Number.EPSILON);
    const width = (amount) => Math.max(1, (amount / most) * (WIDTH - LABEL - 120)).toFixed(1);
    return [
      `<text x="0" y="${y + 14}">${html(short(name))}</text>`,
      `<rect class="value" x="${LABEL}" y="${y + 3}" width="${width(value)}" height="8"/>`,
      `<rect class="baseline" x="${LABEL}" y="${y + 12}" width="${width(floor)}" height="5"/>`,
      `<text x="${WIDTH - 110}" y="${y + 14}">${figure(value)} ${html(unit)}</text>`,
    ].join('');
  });
  const height = rows.length * ROW + 4;
  const style =
    'text{font:12px sans-serif;fill:#57606a}.value{fill:#3451b2}.baseline{fill:#afb8c1}@media(prefers-color-scheme:dark){text{fill:#9198a1}.value{fill:#7c95e6}.baseline{fill:#59636e}}';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img"><style>${style}</style>${bars.join('')}</svg>\n`;
}

const figure = (value) =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString('en-US')
    : String(Number(value.toPrecision(3)));
const short = (name) => (name.length > 62 ? `${name.slice(0, 60)}…` : name);
const html = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const cell = (text) => text.replaceAll('|', '\\|');

export function readResults(folder = join(root, 'bench/results')) {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { text, plots } = performancePage(readResults());
  writeFileSync(join(root, 'docs/performance.md'), text);
  const folder = join(root, 'docs/performance');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, svg] of plots) writeFileSync(join(folder, name), svg);
}
