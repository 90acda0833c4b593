import { type Row, text } from '../api.ts';
import { DRAWING_WIDTH, Drawing } from '../parts.tsx';

const STEP = 30;
const TOP = 40;

interface Message {
  readonly at: string;
  readonly line: string;
  readonly isIn: boolean;
  readonly peer: string;
  readonly whole: string;
}

const messagesOf = (entries: readonly Row[]): readonly Message[] =>
  entries
    .filter(({ kind, facts }) => kind === 'sip' && typeof (facts as Row)['message'] === 'string')
    .map(({ at, text: line, facts }) => {
      const { direction, remote, message } = facts as Row;
      return {
        at: text(at),
        line: text(line),
        isIn: direction === 'in',
        peer: text(remote),
        whole: text(message),
      };
    });

const briefOf = (line: string): string =>
  line.replace(/^SIP\/2\.0 /, '').replace(/ SIP\/2\.0$/, '');

/** Ladder diagram of the SIP messages of a call, with the text of each message below it. */
export function Ladder({ entries }: { readonly entries: readonly Row[] }) {
  const messages = messagesOf(entries);
  if (messages.length === 0) return <p>No SIP messages are stored for this call.</p>;
  const peers = [...new Set(messages.map(({ peer }) => peer))];
  // The service is drawn after the first peer (the caller); called peers are to its right.
  const lanes = [peers[0] ?? '', 'here', ...peers.slice(1)];
  const x = (lane: string): number => ((lanes.indexOf(lane) + 0.5) * DRAWING_WIDTH) / lanes.length;
  const height = TOP + messages.length * STEP + 10;
  return (
    <>
      <Drawing
        name="SIP ladder"
        height={height}
        label={`${messages.length} SIP messages between ${peers.join(', ')} and the service; the list below has the same`}
      >
        {lanes.map((lane) => (
          <g key={lane}>
            <text x={x(lane)} y={16} text-anchor="middle" font-weight="600">
              {lane === 'here' ? 'Carillon' : lane}
            </text>
            <line class="lane" x1={x(lane)} x2={x(lane)} y1={24} y2={height} />
          </g>
        ))}
        {messages.map(({ at, line, isIn, peer }, index) => {
          const y = TOP + index * STEP + 14;
          const [from, to] = isIn ? [x(peer), x('here')] : [x('here'), x(peer)];
          const back = to > from ? -7 : 7;
          return (
            <g key={index}>
              <title>{at}</title>
              <text x={(from + to) / 2} y={y - 4} text-anchor="middle">
                {briefOf(line).slice(0, 48)}
              </text>
              <line x1={from} x2={to} y1={y} y2={y} />
              <path d={`M${to + back} ${y - 4} L${to} ${y} L${to + back} ${y + 4}`} fill="none" />
            </g>
          );
        })}
      </Drawing>
      <details>
        <summary>Show SIP messages</summary>
        {messages.map(({ at, line, whole, isIn, peer }, index) => (
          <details class="entry" key={index}>
            <summary>
              <span class="at">{at.slice(11, 23)}</span> {isIn ? '←' : '→'} {peer} {briefOf(line)}
            </summary>
            <pre>{whole}</pre>
          </details>
        ))}
      </details>
    </>
  );
}
