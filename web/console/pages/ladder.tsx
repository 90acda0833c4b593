import { part, type Row, text } from '../api.ts';
import { timeOfDay } from '../format.ts';
import { t } from '../text.ts';
import { Drawing } from '../ui/drawing.tsx';
import { Empty } from '../ui/parts.tsx';

const STEP = 30;
const TOP = 40;
const LANE_MIN = 180;
/** Lane of the service between its peers. */
const HERE = 'here';

interface Message {
  readonly at: string;
  readonly line: string;
  readonly isIn: boolean;
  readonly peer: string;
  readonly whole: string;
}

const messagesOf = (entries: readonly Row[]): readonly Message[] =>
  entries
    .filter(({ kind, facts }) => kind === 'sip' && typeof part(facts)['message'] === 'string')
    .map(({ at, text: line, facts }) => {
      const { direction, remote, message } = part(facts);
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

interface Props {
  readonly entries: readonly Row[];
  readonly platform: string;
}

/** Ladder diagram of the SIP messages of a call, with the text of each message below it. */
export function Ladder({ entries, platform }: Props) {
  const messages = messagesOf(entries);
  if (messages.length === 0)
    return <Empty title={t('No SIP messages are stored for this call.')} />;
  const peers = [...new Set(messages.map(({ peer }) => peer))];
  // The service is drawn after the first peer (the caller); called peers are to its right.
  const lanes = [peers[0] ?? '', HERE, ...peers.slice(1)];
  const height = TOP + messages.length * STEP + 10;
  return (
    <>
      <Drawing
        name={t('SIP ladder')}
        height={height}
        minWidth={lanes.length * LANE_MIN}
        label={t('{n} SIP messages between {peers} and the service; the list below has the same', {
          n: messages.length,
          peers: peers.join(', '),
        })}
      >
        {(width) => {
          const x = (lane: string): number => ((lanes.indexOf(lane) + 0.5) * width) / lanes.length;
          return (
            <>
              {lanes.map((lane) => (
                <g key={lane}>
                  <text x={x(lane)} y={16} text-anchor="middle" font-weight="600">
                    {lane === HERE ? platform : lane}
                  </text>
                  <line class="lane" x1={x(lane)} x2={x(lane)} y1={24} y2={height} />
                </g>
              ))}
              {messages.map((message, index) => (
                <Arrow key={index} of={message} x={x} y={TOP + index * STEP + 14} />
              ))}
            </>
          );
        }}
      </Drawing>
      <details>
        <summary class="small">{t('Show SIP messages')}</summary>
        {messages.map((message, index) => (
          <MessageText key={index} of={message} />
        ))}
      </details>
    </>
  );
}

interface ArrowProps {
  readonly of: Message;
  /** Returns the position of a lane, in pixels. */
  readonly x: (lane: string) => number;
  readonly y: number;
}

/** Arrow of a message between its peer and the service, with its first line above. */
function Arrow({ of: { at, line, isIn, peer }, x, y }: ArrowProps) {
  const [from, to] = isIn ? [x(peer), x(HERE)] : [x(HERE), x(peer)];
  const back = to > from ? -7 : 7;
  return (
    <g>
      <title>{at}</title>
      <text x={(from + to) / 2} y={y - 4} text-anchor="middle">
        {briefOf(line).slice(0, 48)}
      </text>
      <line x1={from} x2={to} y1={y} y2={y} />
      <path d={`M${to + back} ${y - 4} L${to} ${y} L${to + back} ${y + 4}`} />
    </g>
  );
}

const MessageText = ({ of: { at, line, whole, isIn, peer } }: { readonly of: Message }) => (
  <details class="entry">
    <summary>
      <span class="at">{timeOfDay(at)}</span>
      <span class="what">
        {isIn ? '←' : '→'} {peer} {briefOf(line)}
      </span>
    </summary>
    <pre>{whole}</pre>
  </details>
);
