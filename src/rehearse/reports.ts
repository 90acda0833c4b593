/** Reports of rehearsals: JUnit XML for CI systems, and an HTML page with recordings and timelines. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWav } from '../phone/audio/wav.ts';
import { RECORD_RATE_HZ } from './caller-line.ts';
import type { CallResult } from './run.ts';
import { percentile } from './verdict.ts';

const SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** XML 1.0 permits no control characters except tab and line breaks. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '?')
    .replaceAll(/[&<>"']/g, (sign) => SIGNS[sign] ?? '');

const nameOf = ({ rehearsal, caller }: CallResult): string =>
  rehearsal.callers === 1 ? rehearsal.title : `${rehearsal.title} (caller ${caller})`;

const secondsOf = ({ observed }: CallResult): string => (observed.durationMs / 1000).toFixed(3);

/** JUnit XML: one suite per file, one case per caller. */
export function junit(results: readonly CallResult[]): string {
  const files = [...new Set(results.map(({ rehearsal }) => rehearsal.file))];
  const suites = files.map((file) => {
    const own = results.filter(({ rehearsal }) => rehearsal.file === file);
    const failed = own.filter(({ failures }) => failures.length > 0).length;
    const cases = own.map((result) => {
      const head = `    <testcase classname="${escaped(file)}" name="${escaped(nameOf(result))}" time="${secondsOf(result)}"`;
      if (result.failures.length === 0) return `${head}/>`;
      const text = escaped(result.failures.join('\n'));
      const [first = ''] = result.failures;
      return `${head}>\n      <failure message="${escaped(first)}">${text}</failure>\n    </testcase>`;
    });
    return `  <testsuite name="${escaped(file)}" tests="${own.length}" failures="${failed}">\n${cases.join('\n')}\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('\n')}\n</testsuites>\n`;
}

/** HTML report: `index.html` and a stereo WAV file per call (left: caller, right: bot) in a folder. */
export class HtmlReport {
  readonly #folder: string;
  readonly #sections: string[] = [];
  #failed = 0;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
  }

  /** Writes the recording of a call. */
  add(result: CallResult): void {
    const file = `call-${this.#sections.length + 1}.wav`;
    writeFileSync(join(this.#folder, file), stereo(result));
    this.#sections.push(section(result, file));
    if (result.failures.length > 0) this.#failed += 1;
  }

  finish(): void {
    writeFileSync(
      join(this.#folder, 'index.html'),
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Rehearsal</title><style>${STYLE}</style></head>` +
        `<body><h1>Rehearsal</h1><p>${this.#sections.length} calls, ${this.#failed} failed</p>${this.#sections.join('\n')}</body></html>\n`,
    );
  }
}

const STYLE =
  'body{font:15px system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}section{border-top:1px solid #ccc}' +
  'td,th{padding:.1rem 1rem .1rem 0;text-align:left;vertical-align:top}.failed{color:#b00020}.passed{color:#1b7f3b}audio{width:100%}';

function section(result: CallResult, file: string): string {
  const { observed, failures, transcript } = result;
  const state = failures.length === 0 ? 'passed' : 'failed';
  const { latencies, interruptions } = observed;
  const ms = (value: number | undefined): string =>
    value === undefined ? '-' : `${Math.round(value)} ms`;
  const facts: ReadonlyArray<readonly [string, string]> = [
    ['duration', `${secondsOf(result)} s`],
    ['first audio of the bot', ms(observed.answeredMs)],
    ['turns', String(latencies.length)],
    [
      'latency p50 / p95 / max',
      [0.5, 0.95, 1].map((p) => ms(percentile(latencies, p))).join(' / '),
    ],
    ['interruptions', interruptions.length === 0 ? '-' : interruptions.map(ms).join(', ')],
    ['longest silence', ms(observed.longestSilenceMs)],
    ['keys of the bot', observed.digits || '-'],
    ['transfers', observed.transfers.join(', ') || '-'],
    ['ended by', observed.endedBy ?? '-'],
    ...(transcript === undefined ? [] : [['transcript', transcript] as const]),
  ];
  const rows = facts.map(([what, value]) => `<tr><th>${what}</th><td>${escaped(value)}</td></tr>`);
  const timeline = observed.happenings.map(
    ({ atMs, what, detail }) =>
      `<tr><td>${(atMs / 1000).toFixed(2)} s</td><td>${escaped(what)}</td><td>${escaped(detail)}</td></tr>`,
  );
  const faults = failures.map((text) => `<li class="failed">${escaped(text)}</li>`).join('');
  return (
    `<section><h2><span class="${state}">${state}</span> ${escaped(nameOf(result))}</h2>` +
    `<ul>${faults}</ul><audio controls preload="none" src="${file}"></audio>` +
    `<table>${rows.join('')}</table><details><summary>Timeline</summary><table>${timeline.join('')}</table></details></section>`
  );
}

/** WAV file with the caller on the left and the bot on the right. */
function stereo({ observed }: CallResult): Buffer {
  const { caller, bot } = observed.recording();
  const samples = new Int16Array(Math.max(caller.length, bot.length) * 2);
  for (let i = 0; i < caller.length; i += 1) samples[i * 2] = caller[i] ?? 0;
  for (let i = 0; i < bot.length; i += 1) samples[i * 2 + 1] = bot[i] ?? 0;
  return writeWav({ rate: RECORD_RATE_HZ, samples }, 2);
}
