/** G.711 with lookup tables. As in ITU-T G.191, the magnitude of a negative sample is its one's complement. */
export interface Codec {
  readonly name: 'PCMU' | 'PCMA';
  /** Static RTP payload type (RFC 3551 §6). */
  readonly payloadType: 0 | 8;
  encode(samples: Int16Array): Uint8Array;
  decode(payload: Uint8Array): Int16Array;
}

function mulawByte(sample: number): number {
  const magnitude = Math.min(((sample < 0 ? ~sample : sample) >> 2) + 33, 0x1fff);
  let segment = 1;
  for (let rest = magnitude >> 6; rest !== 0; rest >>= 1) segment += 1;
  const code = ((8 - segment) << 4) | (0x0f - ((magnitude >> segment) & 0x0f));
  return sample < 0 ? code : code | 0x80;
}

function mulawSample(code: number): number {
  const inverted = ~code;
  const exponent = (inverted >> 4) & 0x07;
  const step = 4 << (exponent + 1);
  const magnitude = (0x80 << exponent) + step * (inverted & 0x0f) + step / 2 - 4 * 33;
  return code < 0x80 ? -magnitude : magnitude;
}

function alawByte(sample: number): number {
  let code = (sample < 0 ? ~sample : sample) >> 4;
  if (code > 15) {
    let exponent = 1;
    while (code > 31) {
      code >>= 1;
      exponent += 1;
    }
    code = code - 16 + (exponent << 4);
  }
  return (sample < 0 ? code : code | 0x80) ^ 0x55;
}

function alawSample(code: number): number {
  const plain = (code ^ 0x55) & 0x7f;
  const exponent = plain >> 4;
  let magnitude = (plain & 0x0f) + (exponent > 0 ? 16 : 0);
  magnitude = (magnitude << 4) + 8;
  if (exponent > 1) magnitude <<= exponent - 1;
  return ((code ^ 0x55) & 0x80) === 0 ? -magnitude : magnitude;
}

function codec(
  name: Codec['name'],
  payloadType: Codec['payloadType'],
  toByte: (sample: number) => number,
  toSample: (code: number) => number,
): Codec {
  // Computed at its first use: the service loads this module and rarely encodes.
  let bytes: Uint8Array | undefined;
  const samples = Int16Array.from({ length: 256 }, (_, i) => toSample(i));
  return {
    name,
    payloadType,
    encode: (input) => {
      bytes ??= Uint8Array.from({ length: 65_536 }, (_, i) => toByte(i - 32_768));
      const table = bytes;
      return Uint8Array.from(input, (sample) => table[sample + 32_768] ?? 0);
    },
    decode: (payload) => {
      const decoded = new Int16Array(payload.length);
      for (let i = 0; i < decoded.length; i += 1) decoded[i] = samples[payload[i] ?? 0] ?? 0;
      return decoded;
    },
  };
}

export const PCMU = codec('PCMU', 0, mulawByte, mulawSample);
export const PCMA = codec('PCMA', 8, alawByte, alawSample);
