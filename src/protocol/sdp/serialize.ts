/** Strict serializer for session descriptions (RFC 8866 §5): lines in the order of the grammar, ended by CRLF. */
import type { Attribute, Connection, MediaDescription, SessionDescription } from './types.ts';

export function serializeSdp(session: SessionDescription): string {
  const { origin } = session;
  let text = `v=0\r\no=${origin.username} ${origin.sessionId} ${origin.sessionVersion} IN ${origin.family} ${origin.address}\r\n`;
  text += `s=${session.sessionName}\r\n${connectionLine(session.connection)}`;
  for (const value of session.bandwidth) text += `b=${value}\r\n`;
  for (const value of session.times) text += `t=${value}\r\n`;
  text += attributeLines(session.attributes);
  for (const media of session.media) text += mediaLines(media);
  return text;
}

function mediaLines(media: MediaDescription): string {
  let text = `m=${media.media} ${media.port} ${media.protocol} ${media.formats.join(' ')}\r\n`;
  text += connectionLine(media.connection);
  for (const value of media.bandwidth) text += `b=${value}\r\n`;
  return text + attributeLines(media.attributes);
}

const connectionLine = (connection: Connection | undefined): string =>
  connection === undefined ? '' : `c=IN ${connection.family} ${connection.address}\r\n`;

function attributeLines(attributes: readonly Attribute[]): string {
  let text = '';
  for (const { name, value } of attributes)
    text += value === undefined ? `a=${name}\r\n` : `a=${name}:${value}\r\n`;
  return text;
}
