/** HEP3, the format for messages to Homer and compatible servers (github.com/sipcapture/HEP, rev. 12). */
import { isIPv6 } from 'node:net';
import { addressBytes } from './capture.ts';

export interface HepPacket {
  readonly from: HepPlace;
  readonly to: HepPlace;
  /** True for UDP. Messages of TLS and WebSocket are reported as TCP. */
  readonly isUdp: boolean;
  readonly atMs: number;
  readonly what: 'sip' | 'rtcp';
  readonly payload: Uint8Array;
  /** Correlation ID: the UUID of the call, or the Call-ID of other messages. */
  readonly correlation: string;
}

interface HepPlace {
  readonly address: string;
  readonly port: number;
}

export interface HepAgent {
  /** ID of this service among the reporters of one Homer. */
  readonly captureId: number;
  readonly password: string;
}

const GENERIC = 0;
const CHUNK = {
  family: 1,
  ipProtocol: 2,
  source4: 3,
  destination4: 4,
  source6: 5,
  destination6: 6,
  sourcePort: 7,
  destinationPort: 8,
  seconds: 9,
  microseconds: 10,
  protocol: 11,
  captureId: 12,
  password: 14,
  payload: 15,
  correlation: 17,
} as const;
const FAMILY = { v4: 2, v6: 10 } as const;
const IP_PROTOCOL = { tcp: 6, udp: 17 } as const;
/** Protocol types; 5 is RTCP as JSON. */
const PROTOCOL = { sip: 1, rtcp: 5 } as const;
/** Maximum payload: a UDP packet minus the other chunks. */
const MAX_PAYLOAD = 65_507 - 512;

export function hepPacket(packet: HepPacket, { captureId, password }: HepAgent): Buffer {
  const { from, to, atMs } = packet;
  const isV6 = isIPv6(from.address) || isIPv6(to.address);
  const atUs = Math.round(atMs * 1000);
  const body = Buffer.concat([
    chunk(CHUNK.family, u8(isV6 ? FAMILY.v6 : FAMILY.v4)),
    chunk(CHUNK.ipProtocol, u8(packet.isUdp ? IP_PROTOCOL.udp : IP_PROTOCOL.tcp)),
    chunk(isV6 ? CHUNK.source6 : CHUNK.source4, addressBytes(from.address, isV6)),
    chunk(isV6 ? CHUNK.destination6 : CHUNK.destination4, addressBytes(to.address, isV6)),
    chunk(CHUNK.sourcePort, u16(from.port)),
    chunk(CHUNK.destinationPort, u16(to.port)),
    chunk(CHUNK.seconds, u32(Math.floor(atUs / 1e6))),
    chunk(CHUNK.microseconds, u32(atUs % 1e6)),
    chunk(CHUNK.protocol, u8(PROTOCOL[packet.what])),
    chunk(CHUNK.captureId, u32(captureId)),
    ...(password === '' ? [] : [chunk(CHUNK.password, Buffer.from(password))]),
    chunk(CHUNK.correlation, Buffer.from(packet.correlation.slice(0, 128))),
    chunk(CHUNK.payload, packet.payload.subarray(0, MAX_PAYLOAD)),
  ]);
  const head = Buffer.alloc(6);
  head.write('HEP3', 0, 'latin1');
  head.writeUInt16BE(head.length + body.length, 4);
  return Buffer.concat([head, body]);
}

function chunk(type: number, value: Uint8Array): Buffer {
  const head = Buffer.alloc(6);
  head.writeUInt16BE(GENERIC, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(head.length + value.length, 4);
  return Buffer.concat([head, value]);
}

const u8 = (value: number): Buffer => Buffer.from([value]);

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
