/**
 * Info frame of an MP3 file with a constant bit rate: the first frame, silent, with the number of frames and bytes, a
 * seek table, and the samples that a player skips at the start and at the end. The layout is that of LAME and Xing.
 */

/** Samples that LAME adds before the audio. Decoders add 529 more and skip them without a declaration. */
const ENCODER_DELAY = 576;
const SEEK_POINTS = 100;
/** Present fields: frames, bytes, seek table. */
const FLAGS = 0x07;
const LAME_TAG_BYTES = 36;
const INFO_BYTES = 4 + 4 + 4 + 4 + SEEK_POINTS + LAME_TAG_BYTES;
/** Version of LAME in wasm-media-encoders. Players read the delays only after a known name. */
const ENCODER_NAME = 'LAME3.100';
/** "Method 1: CBR" in revision 0. */
const CONSTANT_BIT_RATE = 0x01;
/** Limit of the 12-bit fields of delay and padding. */
const MAX_SKIPPED = 4095;

/** Bit rates of MPEG-1 and MPEG-2 layer III by index, kbit/s. */
const BIT_RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BIT_RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLE_RATES_1 = [44_100, 48_000, 32_000];

/** Properties of a frame from its header (ISO 11172-3, 13818-3). */
interface FrameHeader {
  readonly bytes: Uint8Array;
  readonly bitRates: readonly number[];
  /** Size in bytes of a frame without padding, per kbit/s. */
  readonly bytesPerKbit: number;
  readonly rate: number;
  readonly samples: number;
  readonly bitRate: number;
  readonly sideInfoBytes: number;
}

export interface Mp3Content {
  /** Header of the first audio frame. */
  readonly head: Uint8Array;
  /** Size of all audio frames in bytes. */
  readonly bytes: number;
  /** CRC-16 of all audio frames (`crc16`). */
  readonly crc: number;
  /** Samples per channel before encoding, at the rate of the frames. */
  readonly samples: number;
}

/** Parses the header of a layer III frame. Returns undefined for other bytes. */
function readHeader(bytes: Uint8Array): FrameHeader | undefined {
  const [sync = 0, kind = 0, rates = 0, mode = 0] = bytes;
  const version = (kind >> 3) & 3; // 3: MPEG-1, 2: MPEG-2, 0: MPEG-2.5
  if (sync !== 0xff || (kind & 0xe6) !== 0xe2 || version === 1) return undefined;
  const isFirst = version === 3;
  const bitRates = isFirst ? BIT_RATES_1 : BIT_RATES_2;
  const bitRate = bitRates[rates >> 4];
  const base = SAMPLE_RATES_1[(rates >> 2) & 3];
  if (bitRate === undefined || bitRate === 0 || base === undefined) return undefined;
  const rate = isFirst ? base : base / (version === 2 ? 2 : 4);
  const samples = isFirst ? 1152 : 576;
  const isMono = mode >> 6 === 3;
  const sideInfoBytes = isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const bytesPerKbit = (samples / 8) * (1000 / rate);
  return { bytes, bitRates, bytesPerKbit, rate, samples, bitRate, sideInfoBytes };
}

/**
 * Returns the size in bytes of the Info frame before frames with this header, or undefined if the header is invalid.
 * Its bit rate is that of the audio, or the lowest one with enough space.
 */
export function infoFrameBytes(head: Uint8Array): number | undefined {
  const header = readHeader(head);
  return header && frameOf(header).length;
}

function frameOf(header: FrameHeader): Uint8Array {
  const needed = 4 + header.sideInfoBytes + INFO_BYTES;
  const size = (bitRate: number) => Math.floor(bitRate * header.bytesPerKbit);
  const index = header.bitRates.findIndex(
    (bitRate) => bitRate >= header.bitRate && size(bitRate) >= needed,
  );
  const frame = new Uint8Array(size(header.bitRates[index] ?? 0));
  frame.set(header.bytes.subarray(0, 4));
  // No CRC after the header, no padding byte.
  frame[1] = (frame[1] ?? 0) | 1;
  frame[2] = ((frame[2] ?? 0) & 0x0d) | (index << 4);
  return frame;
}

/** Returns the Info frame for `content`, or undefined if its header is invalid. */
export function infoFrame(content: Mp3Content): Uint8Array | undefined {
  const header = readHeader(content.head);
  if (header === undefined) return undefined;
  const frame = frameOf(header);
  const view = new DataView(frame.buffer);
  // All frames have the same bit rate; padding bytes make the average exact.
  const frames = Math.round(content.bytes / (header.bitRate * header.bytesPerKbit));
  const padding = frames * header.samples - content.samples - ENCODER_DELAY;
  let at = 4 + header.sideInfoBytes;
  const text = (value: string) => {
    for (const letter of value) frame[at++] = letter.charCodeAt(0);
  };
  const u32 = (value: number) => {
    view.setUint32(at, value);
    at += 4;
  };
  text('Info');
  u32(FLAGS);
  u32(frames);
  u32(content.bytes + frame.length);
  for (let point = 0; point < SEEK_POINTS; point += 1) {
    frame[at++] = Math.floor((point * 256) / SEEK_POINTS);
  }
  text(ENCODER_NAME);
  frame[at++] = CONSTANT_BIT_RATE;
  // Filter, peak and gain: unknown.
  at += 10;
  frame[at++] = Math.min(255, header.bitRate);
  const skipped = (ENCODER_DELAY << 12) | Math.min(MAX_SKIPPED, Math.max(0, padding));
  frame[at++] = skipped >> 16;
  frame[at++] = (skipped >> 8) & 0xff;
  frame[at++] = skipped & 0xff;
  // Source, gain and preset: unknown.
  at += 4;
  u32(content.bytes + frame.length);
  view.setUint16(at, content.crc);
  view.setUint16(at + 2, crc16(frame.subarray(0, at + 2), 0));
  return frame;
}

/** CRC-16 (polynomial 0x8005, reflected) of each octet. */
const CRC_TABLE = Uint16Array.from({ length: 256 }, (_, octet) => {
  let value = octet;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xa001 : value >>> 1;
  return value;
});

/** Continues the CRC-16 of the Info frame over `bytes`. The first value is 0. */
export function crc16(bytes: Uint8Array, crc: number): number {
  let value = crc;
  for (const octet of bytes) value = (value >>> 8) ^ (CRC_TABLE[(value ^ octet) & 0xff] ?? 0);
  return value;
}
