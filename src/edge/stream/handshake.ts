/** Opening handshake of a WebSocket client (RFC 6455 §4.1): builds the request and validates the response. */
import { createHash } from 'node:crypto';

/** GUID of RFC 6455 §1.3. */
const ACCEPT_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const SWITCHING_PROTOCOLS = 101;
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: |$)/;
/** Valid field values (RFC 9110 §5.5). */
const FIELD_VALUE = /^[\x20-\x7e\x80-\xff]*$/;

export interface OpeningRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Nonce of 16 random bytes in base64. */
  readonly key: string;
}

/** Builds the request. Headers with invalid values are omitted. */
export function openingRequest({ url, headers, key }: OpeningRequest): string {
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Version: 13',
  ];
  for (const [name, value] of Object.entries(headers)) {
    if (FIELD_VALUE.test(value)) lines.push(`${name}: ${value}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/**
 * Error in the response head as readable text, or undefined if the socket is open. An unrequested subprotocol is
 * accepted although RFC 6455 §4.1 forbids it: some bots send one in every response, and it has no effect.
 */
export function openingFault(head: string, key: string): string | undefined {
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = STATUS_LINE.exec(statusLine)?.[1];
  if (status === undefined) return 'the server did not answer the upgrade in HTTP/1.1';
  if (Number(status) !== SWITCHING_PROTOCOLS) {
    return `the server answered the upgrade with HTTP ${status}`;
  }
  const fields = readFields(lines);
  const fault = (what: string): string => `the server answered the upgrade wrongly: ${what}`;
  if (!hasToken(fields.get('upgrade'), 'websocket')) return fault('no "Upgrade: websocket"');
  if (!hasToken(fields.get('connection'), 'upgrade')) return fault('no "Connection: Upgrade"');
  const accept = createHash('sha1')
    .update(key + ACCEPT_SUFFIX)
    .digest('base64');
  if (fields.get('sec-websocket-accept') !== accept)
    return fault('Sec-WebSocket-Accept is not of this request');
  if (fields.has('sec-websocket-extensions')) return fault('an extension that was not asked for');
  return undefined;
}

function readFields(lines: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = fields.get(name);
    fields.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return fields;
}

const hasToken = (value: string | undefined, token: string): boolean =>
  (value ?? '').split(',').some((part) => part.trim().toLowerCase() === token);
