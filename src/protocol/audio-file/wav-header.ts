/** RIFF header of 16-bit linear PCM. `bytes` is the length of the samples, or 0xffffffff if it is unknown. */
const WAV_HEADER_BYTES = 44;
export const ENDLESS = 0xffff_ffff;

export function wavHeader(rate: number, channels: number, bytes: number): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(Math.min(ENDLESS, WAV_HEADER_BYTES - 8 + bytes), 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(2 * channels * rate, 28);
  header.writeUInt16LE(2 * channels, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(bytes, 40);
  return header;
}
