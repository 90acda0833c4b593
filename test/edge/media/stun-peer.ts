/** STUN of a browser's ICE agent (RFC 8489) with node:crypto, independent of the product. */
import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const COOKIE = 0x2112a442;

export interface Check {
  readonly username: string;
  readonly password: string;
  readonly useCandidate?: boolean;
  readonly transaction?: Buffer;
  /** Additional attributes. */
  readonly extra?: ReadonlyArray<readonly [type: number, value: Buffer]>;
  readonly fingerprint?: boolean;
  readonly integrity?: boolean;
}

function attribute(type: number, value: Uint8Array): Buffer {
  const bytes = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
  bytes.writeUInt16BE(type, 0);
  bytes.writeUInt16BE(value.length, 2);
  bytes.set(value, 4);
  return bytes;
}

function header(type: number, length: number, transaction: Buffer): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeUInt16BE(type, 0);
  bytes.writeUInt16BE(length, 2);
  bytes.writeUInt32BE(COOKIE, 4);
  transaction.copy(bytes, 8);
  return bytes;
}

export function bindingRequest(check: Check): Buffer {
  const transaction = check.transaction ?? randomBytes(12);
  const parts = [
    attribute(0x0006, Buffer.from(check.username)),
    attribute(0x0024, Buffer.from([0x6e, 0, 1, 0xff])),
    attribute(0x802a, randomBytes(8)),
    ...(check.useCandidate === true ? [attribute(0x0025, Buffer.alloc(0))] : []),
    ...(check.extra ?? []).map(([type, value]) => attribute(type, value)),
  ];
  let body = Buffer.concat(parts);
  if (check.integrity !== false) {
    const text = Buffer.concat([header(1, body.length + 24, transaction), body]);
    const digest = createHmac('sha1', check.password).update(text).digest();
    body = Buffer.concat([body, attribute(0x0008, digest)]);
  }
  if (check.fingerprint === false) {
    return Buffer.concat([header(1, body.length, transaction), body]);
  }
  const text = Buffer.concat([header(1, body.length + 8, transaction), body]);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE((crc32(text) ^ 0x5354554e) >>> 0);
  return Buffer.concat([text, attribute(0x8028, crc)]);
}

export interface Answer {
  readonly type: number;
  readonly transaction: Buffer;
  readonly address: string | undefined;
  readonly errorCode: number | undefined;
  readonly authentic: boolean;
}

/** Throws if it is not a STUN message with a valid fingerprint. */
export function readAnswer(datagram: Uint8Array, password: string): Answer {
  const bytes = Buffer.from(datagram);
  if (bytes.readUInt32BE(4) !== COOKIE) throw new Error('no STUN');
  let address: string | undefined;
  let errorCode: number | undefined;
  let authentic = false;
  let fingerprint = false;
  for (let at = 20; at < bytes.length; ) {
    const type = bytes.readUInt16BE(at);
    const length = bytes.readUInt16BE(at + 2);
    const value = bytes.subarray(at + 4, at + 4 + length);
    if (type === 0x0020) {
      const port = value.readUInt16BE(2) ^ (COOKIE >>> 16);
      const ip = (value.readUInt32BE(4) ^ COOKIE) >>> 0;
      address = `${[24, 16, 8, 0].map((shift) => (ip >>> shift) & 255).join('.')}:${port}`;
    } else if (type === 0x0009) errorCode = value.readUInt8(2) * 100 + value.readUInt8(3);
    else if (type === 0x0008) {
      const text = Buffer.from(bytes.subarray(0, at));
      text.writeUInt16BE(at + 24 - 20, 2);
      authentic = createHmac('sha1', password).update(text).digest().equals(value);
    } else if (type === 0x8028) {
      fingerprint = (crc32(bytes.subarray(0, at)) ^ 0x5354554e) >>> 0 === value.readUInt32BE();
    }
    at += 4 + Math.ceil(length / 4) * 4;
  }
  if (!fingerprint) throw new Error('wrong fingerprint');
  const transaction = bytes.subarray(8, 20);
  return { type: bytes.readUInt16BE(0), transaction, address, errorCode, authentic };
}
