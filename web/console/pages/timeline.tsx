import { useState } from 'preact/hooks';
import { part, type Row, text } from '../api.ts';
import { t } from '../text.ts';
import { Code } from '../ui/code.tsx';
import { Drawing } from '../ui/drawing.tsx';
import { Empty } from '../ui/parts.tsx';

const KINDS = ['call', 'sip', 'xml', 'callback', 'stream', 'media', 'warning'] as const;
const COLORS: Readonly<Record<string, string>> = {
  call: 'var(--chart-1)',
  sip: 'var(--fg-3)',
  xml: 'var(--chart-4)',
  callback: 'var(--chart-3)',
  stream: 'var(--info)',
  media: 'var(--chart-2)',
  warning: 'var(--bad)',
};
const LEFT = 78;
const RIGHT = 24;
const ROW = 24;
/** Distances of the axis labels in s. */
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600];
const TICKS_MAX = 8;

interface Props {
  readonly entries: readonly Row[];
  /** End of the call, or the current time of a running call; epoch ms. */
  readonly endMs: number | undefined;
}

const msOf = (entry: Row | undefined): number => Date.parse(text(entry?.['at']));

/** Returns the distance between axis labels for the whole duration. */
const stepFor = (wholeS: number): number =>
  STEPS.find((step) => wholeS / step <= TICKS_MAX) ?? 3600;

/** Events of a call on a time axis from its start to its end, and as a list below it. */
export function Timeline({ entries, endMs }: Props) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set(['sip']));
  if (entries.length === 0) return <Empty title={t('No timeline is stored for this call.')} />;
  const kinds = KINDS.filter((kind) => entries.some((entry) => entry['kind'] === kind));
  const from = msOf(entries[0]);
  const seconds = (entry: Row): number => (msOf(entry) - from) / 1000;
  const lastS = Math.max(...entries.map(seconds));
  const wholeS = Math.max(0.1, lastS, endMs === undefined ? 0 : (endMs - from) / 1000);
  const toggle = (kind: string) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    setHidden(next);
  };
  return (
    <div class="stack">
      <Axis {...{ entries, kinds, seconds, wholeS }} />
      <fieldset class="chips">
        <legend class="sr">{t('Kinds of events in the list')}</legend>
        {kinds.map((kind) => (
          <button
            key={kind}
            type="button"
            class="chip"
            aria-pressed={!hidden.has(kind)}
            onClick={() => toggle(kind)}
          >
            {kind}
          </button>
        ))}
      </fieldset>
      <div>
        {entries.map((entry, at) =>
          hidden.has(text(entry['kind'])) ? null : (
            <Entry key={at} entry={entry} seconds={seconds(entry)} />
          ),
        )}
      </div>
    </div>
  );
}

interface AxisProps {
  readonly entries: readonly Row[];
  readonly kinds: readonly string[];
  readonly seconds: (entry: Row) => number;
  readonly wholeS: number;
}

function Axis({ entries, kinds, seconds, wholeS }: AxisProps) {
  const height = kinds.length * ROW + 30;
  const step = stepFor(wholeS);
  const ticks = Array.from({ length: Math.floor(wholeS / step) + 1 }, (_, at) => at * step);
  return (
    <Drawing
      name={t('Events in time')}
      height={height}
      minWidth={320}
      label={t('{n} events within {s} seconds; see the list below', {
        n: entries.length,
        s: wholeS.toFixed(1),
      })}
    >
      {(width) => {
        const x = (s: number): number => LEFT + ((width - LEFT - RIGHT) * s) / wholeS;
        return (
          <>
            {ticks.map((s) => (
              <g key={s}>
                <line class="tick" x1={x(s)} x2={x(s)} y1={0} y2={height - 20} />
                <text class="dim" x={x(s)} y={height - 5} text-anchor="middle">
                  {`${Number(s.toFixed(1))} s`}
                </text>
              </g>
            ))}
            {kinds.map((kind, row) => (
              <Lane key={kind} {...{ kind, row, entries, seconds, x, endX: x(wholeS) }} />
            ))}
            <line x1={x(wholeS)} x2={x(wholeS)} y1={0} y2={height - 20} stroke-dasharray="3 3">
              <title>{t('End: {s} s', { s: wholeS.toFixed(1) })}</title>
            </line>
          </>
        );
      }}
    </Drawing>
  );
}

interface LaneProps {
  readonly kind: string;
  /** Number of the lane, from the top. */
  readonly row: number;
  readonly entries: readonly Row[];
  readonly seconds: (entry: Row) => number;
  /** Returns the place of a time in s. */
  readonly x: (s: number) => number;
  readonly endX: number;
}

/** Events of one kind. */
const Lane = ({ kind, row, entries, seconds, x, endX }: LaneProps) => (
  <g>
    <text x={0} y={row * ROW + 16}>
      {kind}
    </text>
    <line class="lane" x1={LEFT} x2={endX} y1={row * ROW + 12} y2={row * ROW + 12} />
    {entries
      .filter((entry) => entry['kind'] === kind)
      .map((entry, at) => (
        <circle key={at} cx={x(seconds(entry))} cy={row * ROW + 12} r={5} fill={COLORS[kind]}>
          <title>{`${seconds(entry).toFixed(3)} s ${text(entry['text'])}`}</title>
        </circle>
      ))}
  </g>
);

/** Facts that are shown without opening an entry. */
const DETAILS = ['speaker', 'text', 'to', 'detail', 'reason', 'why', 'speech', 'digits'];
const MAX_DETAIL = 200;

function Entry({ entry, seconds }: { readonly entry: Row; readonly seconds: number }) {
  const facts = part(entry['facts']);
  const { message, signedString, document: xml, ...others } = facts;
  const status = facts['status'];
  const brief = [
    status,
    facts['url'],
    facts['codec'],
    facts['line'] && t('line {n}', { n: text(facts['line']) }),
    ...DETAILS.map((name) => text(facts[name]).slice(0, MAX_DETAIL)),
    facts['latencyMs'] && `${text(facts['latencyMs'])} ms`,
  ]
    .filter((one) => one !== undefined && one !== null && one !== '' && one !== 0)
    .join(' · ');
  const isBad = entry['kind'] === 'warning' || (typeof status === 'number' && status >= 400);
  return (
    <details class="entry">
      <summary>
        <span class="at">{seconds.toFixed(3)} s</span>
        <span class="kind" style={{ color: isBad ? 'var(--bad)' : 'inherit' }}>
          {text(entry['kind'])}
        </span>
        <span class="what">
          <span class={isBad ? 'text-bad' : ''}>{text(entry['text'])}</span>{' '}
          <span class="muted">{brief}</span>
        </span>
      </summary>
      {typeof message === 'string' && <pre>{message}</pre>}
      {typeof xml === 'string' && <Code code={xml} language="xml" name={t('Document')} />}
      {typeof signedString === 'string' && (
        <>
          <p class="small muted">{t('Signed text:')}</p>
          <pre>{signedString}</pre>
        </>
      )}
      {Object.keys(others).length > 0 && (
        <Code code={JSON.stringify(others, null, 2)} language="json" name={t('Facts')} />
      )}
    </details>
  );
}

/** The current or last document with the executed lines; the latest line is marked. */
export function ExecutedDocument({ entries }: { readonly entries: readonly Row[] }) {
  const steps = entries.filter(({ kind }) => kind === 'xml');
  const at = steps.findLastIndex(({ facts }) => typeof part(facts)['document'] === 'string');
  const document = text(part(steps[at]?.['facts'])['document']);
  if (document === '') return null;
  const lines = steps.slice(at).map(({ facts }) => Number(part(facts)['line']));
  const last = lines.findLast((line) => line > 0);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable areas must be reachable by keyboard
    <section class="document" aria-label={t('Document with executed lines')} tabIndex={0}>
      {document.split('\n').map((line, index) => {
        const isLast = index + 1 === last;
        const hasRun = lines.includes(index + 1);
        return (
          <div key={index} class={isLast ? 'last' : hasRun ? 'ran' : ''}>
            <span class="n">{index + 1}</span>
            <span class="m" title={hasRun ? t('executed') : ''}>
              {hasRun ? (isLast ? '▶' : '✓') : ''}
            </span>
            <span>{line}</span>
          </div>
        );
      })}
    </section>
  );
}
