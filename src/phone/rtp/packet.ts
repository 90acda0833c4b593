/** RTP packets (RFC 3550 §5.1) and telephone events (RFC 4733 §2.3). */
export interface RtpPacket {
  readonly payloadType: number;
  readonly marker: boolean;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Uint8Array;
}

const FIXED_BYTES = 12;

export function writeRtp(packet: RtpPacket): Buffer {
  const header = Buffer.alloc(FIXED_BYTES);
  header[0] = 0x80;
  header[1] = (packet.marker ? 0x80 : 0) | packet.payloadType;
  header.writeUInt16BE(packet.sequence & 0xffff, 2);
  header.writeUInt32BE(packet.timestamp >>> 0, 4);
  header.writeUInt32BE(packet.ssrc >>> 0, 8);
  return Buffer.concat([header, packet.payload]);
}

/** Parses an RTP packet. Skips padding, CSRCs and header extensions. Returns undefined if it is not RTP version 2. */
export function readRtp(bytes: Buffer): RtpPacket | undefined {
  const first = bytes[0];
  const second = bytes[1];
  if (first === undefined || second === undefined || bytes.length < FIXED_BYTES) return undefined;
  if (first >> 6 !== 2) return undefined;
  let start = FIXED_BYTES + 4 * (first & 0x0f);
  if ((first & 0x10) !== 0) {
    if (bytes.length < start + 4) return undefined;
    start += 4 + 4 * bytes.readUInt16BE(start + 2);
  }
  const end = bytes.length - ((first & 0x20) === 0 ? 0 : (bytes.at(-1) ?? 0));
  if (start > end) return undefined;
  return {
    payloadType: second & 0x7f,
    marker: (second & 0x80) !== 0,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    ssrc: bytes.readUInt32BE(8),
    payload: bytes.subarray(start, end),
  };
}

const EVENTS = '0123456789*#ABCD';
/** Power level of the tone in -dBm0. */
const VOLUME = 10;

/** Encodes a telephone event. `duration` is the time since the key press, in timestamp units. */
export function telephoneEvent(digit: string, duration: number, end: boolean): Uint8Array {
  const payload = Buffer.alloc(4);
  payload[0] = EVENTS.indexOf(digit);
  payload[1] = (end ? 0x80 : 0) | VOLUME;
  payload.writeUInt16BE(duration, 2);
  return payload;
}

/** Returns the key of an event payload, or undefined for other events. */
export const digitOf = (payload: Uint8Array): string | undefined =>
  payload.length < 4 ? undefined : EVENTS[payload[0] ?? EVENTS.length];

export const isDigit = (text: string): boolean => text.length === 1 && EVENTS.includes(text);
