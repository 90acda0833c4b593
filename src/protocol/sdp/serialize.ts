/** Session description to text (RFC 8866 §5), strict: lines in the order of the grammar, CRLF. */
import type { Attribute, Connection, MediaDescription, SessionDescription } from './types.ts';

export function serializeSdp(session: SessionDescription): string {
  const { origin } = session;
  const lines = [
    'v=0',
    `o=${origin.username} ${origin.sessionId} ${origin.sessionVersion} IN ${origin.family} ${origin.address}`,
    `s=${session.sessionName}`,
    ...connectionLines(session.connection),
    ...session.bandwidth.map((value) => `b=${value}`),
    ...session.times.map((value) => `t=${value}`),
    ...session.attributes.map(attributeLine),
    ...session.media.flatMap(mediaLines),
  ];
  return `${lines.join('\r\n')}\r\n`;
}

const mediaLines = (media: MediaDescription): string[] => [
  `m=${media.media} ${media.port} ${media.protocol} ${media.formats.join(' ')}`,
  ...connectionLines(media.connection),
  ...media.bandwidth.map((value) => `b=${value}`),
  ...media.attributes.map(attributeLine),
];

const connectionLines = (connection: Connection | undefined): string[] =>
  connection === undefined ? [] : [`c=IN ${connection.family} ${connection.address}`];

const attributeLine = ({ name, value }: Attribute): string =>
  value === undefined ? `a=${name}` : `a=${name}:${value}`;
