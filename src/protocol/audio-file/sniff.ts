/** Detects the file type by its first bytes, because customers' servers send unreliable Content-Type values. */

const text = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length));

export const isWav = (bytes: Uint8Array): boolean =>
  bytes.length >= 12 && text(bytes, 0, 4) === 'RIFF' && text(bytes, 8, 4) === 'WAVE';

/** Detects an ID3v2 tag or a frame header of ISO 11172-3: eleven sync bits, valid layer, bit rate and sample rate. */
export function isMp3(bytes: Uint8Array): boolean {
  if (bytes.length < 4) return false;
  if (text(bytes, 0, 3) === 'ID3') return true;
  const [first = 0, second = 0, third = 0] = bytes;
  const synchronised = first === 0xff && (second & 0xe0) === 0xe0;
  const versionIsReserved = (second & 0x18) === 0x08;
  const layerIsReserved = (second & 0x06) === 0;
  const bitRateIsBad = (third & 0xf0) === 0xf0;
  const sampleRateIsReserved = (third & 0x0c) === 0x0c;
  return (
    synchronised && !versionIsReserved && !layerIsReserved && !bitRateIsBad && !sampleRateIsReserved
  );
}
