/** SIP messages as a text ladder diagram with sender, receiver and time. */
import { bracketed } from '../../../base/host.ts';
import type { TracedMessage } from './message-ring.ts';
import { shownText } from './message-text.ts';

/** Maximum number of peer columns; messages of further peers share the last one. */
const MAX_PEERS = 6;
const COLUMN = 28;
const TIME = 14;
const OURSELVES = 1;

/**
 * Writes one line per message: its time, an arrow between the columns of the peer and this service, and a summary. This
 * service is the second column, the first peer is left of it. Empty without messages.
 */
export function ladderOf(messages: readonly TracedMessage[], name: string): string {
  const [first] = messages;
  if (first === undefined) return '';
  const peers = [...new Set(messages.map(peerOf))].slice(0, MAX_PEERS);
  const columns = [peers[0] ?? '', name, ...peers.slice(1)];
  const lines = [
    `${' '.repeat(TIME)}${columns.map((title) => centred(title, ' ')).join('')}`,
    rails(columns.length),
  ];
  for (const message of messages) {
    const column = columns.indexOf(peerOf(message));
    lines.push(line(message, column === -1 ? columns.length - 1 : column, columns.length));
  }
  return `${lines.map((text) => text.trimEnd()).join('\n')}\n`;
}

const peerOf = ({ flow }: TracedMessage): string =>
  `${flow.transport} ${bracketed(flow.remoteAddress)}:${flow.remotePort}`;

const middle = (column: number): number => column * COLUMN + COLUMN / 2;

function centred(text: string, fill: string, width = COLUMN): string {
  const shown = text.slice(0, width);
  const before = Math.ceil((width - shown.length) / 2);
  return fill.repeat(before) + shown + fill.repeat(width - before - shown.length);
}

function rails(columns: number): string {
  const row = [...' '.repeat(columns * COLUMN)];
  for (let column = 0; column < columns; column += 1) row[middle(column)] = '|';
  return ' '.repeat(TIME) + row.join('');
}

function line(message: TracedMessage, peer: number, columns: number): string {
  const row = [...rails(columns)];
  const [left, right] = peer < OURSELVES ? [peer, OURSELVES] : [OURSELVES, peer];
  const isRightwards = (message.direction === 'in') === peer < OURSELVES;
  const from = TIME + middle(left) + 1;
  const width = middle(right) - middle(left) - 1;
  const shaft = ` ${printable(summary(shownText(message.bytes))).slice(0, width - 6)} `;
  const arrow = isRightwards
    ? `${centred(shaft, '-', width - 1)}>`
    : `<${centred(shaft, '-', width - 1)}`;
  row.splice(from, width, ...arrow);
  const time = new Date(message.atMs).toISOString().slice(11, 23);
  row.splice(0, time.length, ...time);
  return row.join('');
}

/** Peers write the method and the reason, and the operator reads them on a terminal: removes its control characters. */
const printable = (text: string): string => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');

/** Summary such as `INVITE sdp` or `183 Session Progress sdp (INVITE)`. */
function summary(text: string): string {
  const [start = ''] = text.split('\r\n', 1);
  const method = /^cseq[ \t]*:[ \t]*\d+[ \t]+(\S+)/im.exec(text)?.[1] ?? '';
  const sdp = /^(?:content-type|c)[ \t]*:[ \t]*application\/sdp/im.test(text) ? ' sdp' : '';
  if (!start.startsWith('SIP/2.0 ')) return `${start.split(' ', 1)[0]}${sdp}`;
  const [, status = '', reason = ''] = /^SIP\/2\.0 (\d+) ?(.*)$/.exec(start) ?? [];
  const said = reason.length > 12 ? `${reason.slice(0, 11)}.` : reason;
  return `${status} ${said}${sdp} ${method}`;
}
