/** Formats the report of a call as lines of text. */
import type { CallReport } from './phone-call.ts';
import { meanOpinionScore } from './rtp/reception.ts';
import type { ServiceRecords } from './service-records.ts';

/** Minimum share of the speech seconds that must be detected in the received audio. */
const LEAST_FOUND_PART = 0.6;

export const isEchoReceived = ({ echo }: CallReport): boolean =>
  echo !== undefined && echo.foundPart >= LEAST_FOUND_PART;

type Row = readonly [what: string, value: string];

const ms = (value: number | undefined): string =>
  value === undefined ? '-' : `${Math.round(value)} ms`;

export function callRows(report: CallReport): readonly Row[] {
  const { reception, echo } = report;
  const found = echo !== undefined && echo.foundPart > 0;
  const expected = reception.received + Math.max(0, reception.lost);
  const lossPart = expected === 0 ? 1 : Math.max(0, reception.lost) / expected;
  const mos = meanOpinionScore(found ? echo.delayMs / 2 : 0, lossPart);
  return [
    ['setup (INVITE to 200)', ms(report.setupMs)],
    ['talk time', `${(report.talkedMs / 1000).toFixed(1)} s`],
    ['ended by', endWords(report)],
    ['round-trip audio delay', found ? ms(echo.delayMs) : '-'],
    ['packets sent', String(report.packetsSent)],
    ['packets received', String(reception.received)],
    ['packets lost', `${reception.lost} (${(lossPart * 100).toFixed(1)} %)`],
    ['jitter (RFC 3550)', `${reception.jitterMs.toFixed(1)} ms`],
    ['MOS (G.107, received)', mos.toFixed(2)],
    [
      'echo received',
      `${isEchoReceived(report) ? 'yes' : 'NO'} (${Math.round((echo?.foundPart ?? 0) * 100)} % of the audio, similarity ${(echo?.likeness ?? 0).toFixed(2)})`,
    ],
  ];
}

function endWords({ end }: CallReport): string {
  const who = end.by === 'local' ? 'this phone' : 'the other side';
  const status = end.status === undefined ? '' : `, ${end.status}`;
  const reason = end.reason === undefined ? '' : `, ${end.reason}`;
  return `${who} (${end.how}${status}${reason})`;
}

const CDR_FIELDS = [
  'uuid',
  'hangup_cause_name',
  'hangup_source',
  'duration',
  'billsec',
  'codec',
  'mos',
  'jitter',
  'packet_loss',
  'total_cost',
  'currency',
];
const ENTRY_FIELDS = ['type', 'amount', 'currency', 'reference_type', 'status', 'description'];

export function recordRows({ cdr, entries }: ServiceRecords): readonly Row[] {
  const shown = (fields: Readonly<Record<string, unknown>>, names: readonly string[]): string[] =>
    names.flatMap((name) => (fields[name] === undefined ? [] : [`${name}=${fields[name]}`]));
  return [
    ...CDR_FIELDS.map((name): Row => [`CDR ${name}`, String(cdr.fields[name] ?? '-')]),
    ...entries.map(({ fields }): Row => ['ledger entry', shown(fields, ENTRY_FIELDS).join('  ')]),
    ['charged in total', `${totalOf(entries)} ${String(cdr.fields['currency'] ?? '')}`.trim()],
  ];
}

/** Sum of all debits, in currency units. Amounts have at most six decimals. */
function totalOf(entries: ServiceRecords['entries']): number {
  const millionths = entries.reduce(
    (sum, { fields }) => sum + Math.round(Number(fields['amount'] ?? 0) * 1_000_000),
    0,
  );
  return millionths / 1_000_000;
}

export function formatRows(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([what]) => what.length)) + 2;
  return rows.map(([what, value]) => `  ${what.padEnd(width)}${value}`).join('\n');
}
