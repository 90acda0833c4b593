/** Test signals and measurements, 8 kHz mono. */
export const RATE_HZ = 8000;

export const tone = (frequencyHz: number, ms: number, level = 8000, rate = RATE_HZ): Int16Array =>
  Int16Array.from({ length: (rate * ms) / 1000 }, (_, i) =>
    Math.round(level * Math.sin((2 * Math.PI * frequencyHz * i) / rate)),
  );

/** Amplitude of the sine at one frequency (Goertzel algorithm). */
export function levelAt(frequencyHz: number, samples: Int16Array): number {
  const w = (2 * Math.PI * frequencyHz) / RATE_HZ;
  let before = 0;
  let last = 0;
  for (const sample of samples) {
    const next = sample + 2 * Math.cos(w) * last - before;
    before = last;
    last = next;
  }
  const power = last ** 2 + before ** 2 - 2 * Math.cos(w) * last * before;
  return samples.length === 0 ? 0 : (2 * Math.sqrt(Math.max(0, power))) / samples.length;
}

/** Milliseconds of audio above `threshold`, in frames of 10 ms. */
export function loudMs(samples: Int16Array, threshold = 500): number {
  const frame = RATE_HZ / 100;
  let loud = 0;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    const peak = samples.subarray(at, at + frame).reduce((max, x) => Math.max(max, Math.abs(x)), 0);
    if (peak > threshold) loud += 10;
  }
  return loud;
}

/** Returns the audio from the first to the last loud frame, at most one second. */
export function loudPart(samples: Int16Array, threshold = 500): Int16Array {
  const first = samples.findIndex((x) => Math.abs(x) > threshold);
  const last = samples.findLastIndex((x) => Math.abs(x) > threshold);
  return first < 0 ? new Int16Array(0) : samples.subarray(first, last + 1);
}

export const l16 = (samples: Int16Array): Buffer => {
  const bytes = Buffer.alloc(samples.length * 2);
  samples.forEach((sample, i) => {
    bytes.writeInt16LE(sample, i * 2);
  });
  return bytes;
};
