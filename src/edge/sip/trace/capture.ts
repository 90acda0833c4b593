/** Writes SIP messages to a capture file for Wireshark. */
import { isIPv4, isIPv6 } from 'node:net';
import type { TracedMessage } from './message-ring.ts';
import { maskedMessage } from './message-text.ts';

const MAGIC = 0xa1b2c3d4;
const SNAP_LENGTH = 0x40000;
/** LINKTYPE_RAW: packets start with their IP header. */
const LINK_TYPE = 101;
const UDP = 17;
const UDP_HEADER = 8;
const IPV4_HEADER = 20;
const IPV6_HEADER = 40;
/** Maximum payload of one UDP packet over IPv4, in bytes. */
const MAX_PAYLOAD = 65_535 - IPV4_HEADER - UDP_HEADER;
const HOPS = 64;

/**
 * Builds a pcap file with microsecond timestamps. Messages of all transports, including decrypted ones, are written as
 * UDP packets with their addresses and ports. Credentials and media keys are masked, so lengths may differ from those
 * on the wire.
 */
export function captureOf(messages: readonly TracedMessage[]): Buffer {
  const head = Buffer.alloc(24);
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt16LE(2, 4);
  head.writeUInt16LE(4, 6);
  head.writeUInt32LE(SNAP_LENGTH, 16);
  head.writeUInt32LE(LINK_TYPE, 20);
  return Buffer.concat([head, ...messages.flatMap(record)]);
}

function record(message: TracedMessage): readonly Buffer[] {
  const packet = packetOf(message);
  const head = Buffer.alloc(16);
  const atUs = Math.round(message.atMs * 1000);
  head.writeUInt32LE(Math.floor(atUs / 1e6), 0);
  head.writeUInt32LE(atUs % 1e6, 4);
  head.writeUInt32LE(packet.length, 8);
  head.writeUInt32LE(packet.length, 12);
  return [head, packet];
}

function packetOf({ direction, flow, bytes }: TracedMessage): Buffer {
  const payload = maskedMessage(bytes).subarray(0, MAX_PAYLOAD);
  const isV6 = isIPv6(flow.remoteAddress);
  const local = { ip: sameFamily(flow.localAddress, isV6), port: flow.localPort };
  const remote = { ip: addressBytes(flow.remoteAddress, isV6), port: flow.remotePort };
  const [from, to] = direction === 'in' ? [remote, local] : [local, remote];
  const udp = Buffer.alloc(UDP_HEADER);
  udp.writeUInt16BE(from.port, 0);
  udp.writeUInt16BE(to.port, 2);
  udp.writeUInt16BE(UDP_HEADER + payload.length, 4);
  const length = UDP_HEADER + payload.length;
  const pseudo = Buffer.alloc(8);
  pseudo.writeUInt32BE(length, 0);
  pseudo.writeUInt32BE(UDP, 4);
  // A checksum of 0 would mean that there is none (RFC 768).
  udp.writeUInt16BE(checksum(Buffer.concat([from.ip, to.ip, pseudo, udp, payload])) || 0xffff, 6);
  const ip = isV6 ? ipv6Header(length) : ipv4Header(length);
  (isV6 ? [8, 24] : [12, 16]).forEach((at, side) => {
    ip.set(side === 0 ? from.ip : to.ip, at);
  });
  if (!isV6) ip.writeUInt16BE(checksum(ip), 10);
  return Buffer.concat([ip, udp, payload]);
}

function ipv4Header(payloadBytes: number): Buffer {
  const head = Buffer.alloc(IPV4_HEADER);
  head[0] = 0x45;
  head.writeUInt16BE(IPV4_HEADER + payloadBytes, 2);
  head[8] = HOPS;
  head[9] = UDP;
  return head;
}

function ipv6Header(payloadBytes: number): Buffer {
  const head = Buffer.alloc(IPV6_HEADER);
  head[0] = 0x60;
  head.writeUInt16BE(payloadBytes, 4);
  head[6] = UDP;
  head[7] = HOPS;
  return head;
}

/**
 * Address bytes in the requested family; the wildcard address if the socket listens on all addresses of the other
 * family.
 */
const sameFamily = (address: string, isV6: boolean): Buffer =>
  (isV6 ? isIPv6(address) : isIPv4(address)) ? addressBytes(address, isV6) : unspecified(isV6);

const unspecified = (isV6: boolean): Buffer => Buffer.alloc(isV6 ? 16 : 4);

/** IP address as in packets; all zeros for other text. */
export function addressBytes(address: string, isV6: boolean): Buffer {
  const [plain = ''] = address.split('%', 1);
  if (!isV6) return isIPv4(plain) ? Buffer.from(plain.split('.').map(Number)) : unspecified(false);
  if (!isIPv6(plain)) return unspecified(true);
  const [head = '', tail] = withoutDots(plain).split('::');
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : []);
  const [before, after] = [groups(head), groups(tail)];
  const between = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const out = Buffer.alloc(16);
  [...before, ...between, ...after].forEach((group, index) => {
    out.writeUInt16BE(Number.parseInt(group, 16), 2 * index);
  });
  return out;
}

/** Converts `::ffff:192.0.2.1` to hexadecimal groups. */
function withoutDots(address: string): string {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  if (dotted === null) return address;
  const [, head = '', ...numbers] = dotted;
  const [a = 0, b = 0, c = 0, d = 0] = numbers.map(Number);
  return `${head}${(256 * a + b).toString(16)}:${(256 * c + d).toString(16)}`;
}

/** Internet checksum of RFC 1071. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += 256 * (bytes[at] ?? 0) + (bytes[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  return ~sum & 0xffff;
}
