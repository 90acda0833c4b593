/**
 * Public interface for audio files and sample rate conversion. Processing is streamed where customers choose the file
 * size.
 */
export { resampler } from './resampler.ts';
export { isMp3 } from './sniff.ts';
export { openWav } from './wav.ts';
export { ENDLESS, wavHeader } from './wav-header.ts';

/** Converts mono samples (full scale -1 … 1) to little-endian 16-bit PCM with saturation. */
export function toPcm16(samples: Float32Array): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  samples.forEach((sample, index) => {
    const value = Math.round(sample * 32768);
    view.setInt16(index * 2, Math.min(32767, Math.max(-32768, value)), true);
  });
  return bytes;
}
