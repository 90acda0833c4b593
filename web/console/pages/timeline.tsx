import { useState } from 'preact/hooks';
import { type Row, text } from '../api.ts';
import { DRAWING_WIDTH, Drawing } from '../parts.tsx';

const KINDS = ['call', 'sip', 'xml', 'callback', 'stream', 'media', 'warning'] as const;
const COLOURS: Readonly<Record<string, string>> = {
  call: '#2f6feb',
  sip: '#6b7280',
  xml: '#7c3aed',
  callback: '#b45309',
  stream: '#0e7490',
  media: '#17803d',
  warning: '#c81e1e',
};
const LEFT = 70;
const ROW = 22;

/** Events of a call on a time axis, and as a list below it. */
export function Timeline({ entries }: { readonly entries: readonly Row[] }) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set(['sip']));
  if (entries.length === 0) return <p>No timeline is stored for this call.</p>;
  const kinds = KINDS.filter((kind) => entries.some((entry) => entry['kind'] === kind));
  const from = Date.parse(text(entries[0]?.['at']));
  const seconds = (entry: Row): number => (Date.parse(text(entry['at'])) - from) / 1000;
  const whole = Math.max(1, ...entries.map(seconds));
  const x = (s: number): number => LEFT + 8 + ((DRAWING_WIDTH - LEFT - 24) * s) / whole;
  const height = kinds.length * ROW + 26;
  const toggle = (kind: string) => {
    const next = new Set(hidden);
    if (!next.delete(kind)) next.add(kind);
    setHidden(next);
  };
  return (
    <>
      <Drawing
        name="Events in time"
        height={height}
        label={`${entries.length} events within ${whole.toFixed(1)} seconds; see the list below`}
      >
        {kinds.map((kind, row) => (
          <g key={kind}>
            <text x={4} y={row * ROW + 16}>
              {kind}
            </text>
            <line
              class="lane"
              x1={LEFT}
              x2={DRAWING_WIDTH - 4}
              y1={row * ROW + 12}
              y2={row * ROW + 12}
            />
            {entries
              .filter((entry) => entry['kind'] === kind)
              .map((entry, at) => (
                <circle
                  key={at}
                  cx={x(seconds(entry))}
                  cy={row * ROW + 12}
                  r={5}
                  fill={COLOURS[kind]}
                >
                  <title>{`${seconds(entry).toFixed(3)} s ${text(entry['text'])}`}</title>
                </circle>
              ))}
          </g>
        ))}
        {[0, 0.25, 0.5, 0.75, 1].map((part) => (
          <text
            key={part}
            x={x(whole * part)}
            y={height - 6}
            text-anchor={part === 1 ? 'end' : 'middle'}
          >{`${(whole * part).toFixed(1)} s`}</text>
        ))}
      </Drawing>
      <fieldset class="kinds">
        <legend>Show</legend>
        {kinds.map((kind) => (
          <label key={kind}>
            <input type="checkbox" checked={!hidden.has(kind)} onChange={() => toggle(kind)} />
            {kind}
          </label>
        ))}
      </fieldset>
      <Document entries={entries} />
      {entries.map((entry, at) =>
        hidden.has(text(entry['kind'])) ? null : (
          <Entry key={at} entry={entry} seconds={seconds(entry)} />
        ),
      )}
    </>
  );
}

function Entry({ entry, seconds }: { readonly entry: Row; readonly seconds: number }) {
  const facts = (entry['facts'] ?? {}) as Row;
  const { message, signedString, document: xml, ...others } = facts;
  const status = facts['status'];
  const brief = [
    status,
    facts['url'],
    facts['codec'],
    facts['line'] && `line ${text(facts['line'])}`,
  ]
    .filter((part) => part !== undefined && part !== null && part !== '')
    .join(' · ');
  return (
    <details class="entry">
      <summary>
        <span class="at">{seconds.toFixed(3)} s</span>
        <span class="kind">{text(entry['kind'])}</span>
        <span
          class={
            entry['kind'] === 'warning' || (typeof status === 'number' && status >= 400)
              ? 'bad'
              : ''
          }
        >
          {text(entry['text'])}
        </span>{' '}
        {brief}
      </summary>
      {typeof message === 'string' && <pre>{message}</pre>}
      {typeof xml === 'string' && <pre>{xml}</pre>}
      {typeof signedString === 'string' && (
        <>
          <p>Signed text:</p>
          <pre>{signedString}</pre>
        </>
      )}
      {Object.keys(others).length > 0 && <pre>{JSON.stringify(others, null, 2)}</pre>}
    </details>
  );
}

/** The current or last document with the executed lines; the latest line is marked. */
function Document({ entries }: { readonly entries: readonly Row[] }) {
  const steps = entries.filter(({ kind }) => kind === 'xml');
  const at = steps.findLastIndex(({ facts }) => typeof (facts as Row)['document'] === 'string');
  const document = text((steps[at]?.['facts'] as Row | undefined)?.['document']);
  if (document === '') return null;
  const lines = steps.slice(at).map(({ facts }) => Number((facts as Row)['line']));
  const last = lines.findLast((line) => line > 0);
  return (
    <details open>
      <summary>Document</summary>
      <pre>
        {document.split('\n').map((line, index) => {
          const isLast = index + 1 === last;
          const ran = lines.includes(index + 1);
          return (
            <div key={index} class={isLast ? 'runs' : ''}>
              {ran ? (isLast ? '▶ ' : '✓ ') : '  '}
              {line}
            </div>
          );
        })}
      </pre>
    </details>
  );
}
