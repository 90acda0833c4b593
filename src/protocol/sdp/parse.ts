/**
 * Tolerant parser for session descriptions (RFC 8866 §5). It accepts bare LF, missing o=, s= and t= lines, and unknown
 * lines.
 */
import { err, ok, type Result } from '../../base/result.ts';
import type {
  Attribute,
  Connection,
  MediaDescription,
  Origin,
  SdpProblem,
  SessionDescription,
} from './types.ts';

export const MAX_SDP_LENGTH = 16_384;
export const MAX_SDP_LINES = 512;
export const MAX_MEDIA_LINES = 32;
const MAX_FORMATS = 64;

const malformed = (detail: string): Result<never, SdpProblem> => err({ kind: 'malformed', detail });

/** Session- or media-level block under construction. */
interface Block {
  head: MediaHead | undefined;
  connection: Connection | undefined;
  bandwidth: string[];
  times: string[];
  attributes: Attribute[];
}

type MediaHead = Pick<MediaDescription, 'media' | 'port' | 'protocol' | 'formats'>;

const newBlock = (head?: MediaHead): Block => ({
  head,
  connection: undefined,
  bandwidth: [],
  times: [],
  attributes: [],
});

const UNKNOWN_ORIGIN: Origin = {
  username: '-',
  sessionId: '0',
  sessionVersion: '0',
  family: 'IP4',
  address: '0.0.0.0',
};

export function parseSdp(text: string): Result<SessionDescription, SdpProblem> {
  if (text.length > MAX_SDP_LENGTH) return malformed('longer than the limit');
  if (hasTooManyLines(text)) return malformed('more lines than the limit');
  let origin = UNKNOWN_ORIGIN;
  let sessionName = '-';
  const session = newBlock();
  const media: Block[] = [];
  let sawVersion = false;
  for (let end = -1; end < text.length; ) {
    const at = end + 1;
    end = endOfLine(text, at);
    if (text.charAt(at + 1) !== '=') {
      const line = text.slice(at, end).trimEnd();
      if (line === '') continue;
      return malformed(`no field: ${line.slice(0, 40)}`);
    }
    const type = text.charAt(at);
    const value = text.slice(at + 2, end).trim();
    if (!sawVersion && type !== 'v') return malformed('does not begin with v=0');
    const block = media.at(-1) ?? session;
    if (type === 'v') {
      if (value !== '0') return malformed(`version ${value.slice(0, 10)}`);
      sawVersion = true;
    } else if (type === 'o') {
      const read = readOrigin(value);
      if (read === undefined) return malformed('o= line');
      origin = read;
    } else if (type === 's') sessionName = value === '' ? '-' : value;
    else if (type === 'm') {
      const head = readMediaHead(value);
      if (head === undefined) return malformed('m= line');
      if (media.length === MAX_MEDIA_LINES) return malformed('more m= lines than the limit');
      media.push(newBlock(head));
    } else if (!readBlockLine(block, type, value)) return malformed(`${type}= line`);
  }
  if (!sawVersion) return malformed('empty');
  return ok({
    origin,
    sessionName,
    connection: session.connection,
    bandwidth: session.bandwidth,
    times: session.times.length === 0 ? ['0 0'] : session.times,
    attributes: session.attributes,
    media: media.flatMap(toMedia),
  });
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function hasTooManyLines(text: string): boolean {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines > MAX_SDP_LINES;
}

const toMedia = ({ head, connection, bandwidth, attributes }: Block): MediaDescription[] =>
  head === undefined ? [] : [{ ...head, connection, bandwidth, attributes }];

/** Returns false if the line is malformed. Lines of other types are ignored. */
function readBlockLine(block: Block, type: string, value: string): boolean {
  switch (type) {
    case 'c': {
      const connection = readConnection(value);
      // Several c= lines of one medium mean layered multicast; the first is the base layer (§5.7).
      block.connection ??= connection;
      return connection !== undefined;
    }
    case 'b':
      block.bandwidth.push(value);
      return true;
    case 't':
      block.times.push(value);
      return true;
    case 'a': {
      const attribute = readAttribute(value);
      if (attribute.name !== '') block.attributes.push(attribute);
      return true;
    }
    default:
      return true;
  }
}

function readAttribute(value: string): Attribute {
  const colon = value.indexOf(':');
  return colon === -1
    ? { name: value.toLowerCase(), value: undefined }
    : { name: value.slice(0, colon).trim().toLowerCase(), value: value.slice(colon + 1).trim() };
}

/** Reads the last five words, because some devices put spaces into the user name. */
function readOrigin(value: string): Origin | undefined {
  const words = value.split(/[ \t]+/);
  const [sessionId = '', sessionVersion = '', , family = '', address = ''] = words.slice(-5);
  if (words.length < 6 || !isFamily(family)) return undefined;
  if (!/^[0-9]+$/.test(sessionId) || !/^[0-9]+$/.test(sessionVersion)) return undefined;
  return { username: words.slice(0, -5).join('-'), sessionId, sessionVersion, family, address };
}

const isFamily = (text: string): text is 'IP4' | 'IP6' => text === 'IP4' || text === 'IP6';

function readConnection(value: string): Connection | undefined {
  const [network, family = '', address = ''] = value.split(/[ \t]+/);
  if (network?.toUpperCase() !== 'IN' || !isFamily(family.toUpperCase()) || address === '') {
    return undefined;
  }
  const bare = address.split('/')[0] ?? address;
  return { family: family.toUpperCase() === 'IP6' ? 'IP6' : 'IP4', address: bare };
}

function readMediaHead(value: string): MediaHead | undefined {
  const [media = '', portText = '', protocol = '', ...formats] = value.split(/[ \t]+/);
  const port = /^([0-9]{1,5})(?:\/[0-9]+)?$/.exec(portText)?.[1];
  if (port === undefined || Number(port) > 65_535 || protocol === '') return undefined;
  if (formats.length === 0 || formats.length > MAX_FORMATS) return undefined;
  return { media: media.toLowerCase(), port: Number(port), protocol, formats };
}
