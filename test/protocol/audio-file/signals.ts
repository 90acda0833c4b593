/** Test signals and measurements. */

export function sine(
  frequencyHz: number,
  amplitude: number,
  rate: number,
  length: number,
): Float32Array {
  return Float32Array.from(
    { length },
    (_, i) => amplitude * Math.sin((2 * Math.PI * frequencyHz * i) / rate),
  );
}

/** Least-squares fit of one sine; the residual gives the SNR in dB. */
export function fitSine(
  samples: ArrayLike<number>,
  frequencyHz: number,
  rate: number,
): { readonly amplitude: number; readonly phase: number; readonly snrDb: number } {
  const step = (2 * Math.PI * frequencyHz) / rate;
  let ss = 0;
  let sc = 0;
  let cc = 0;
  let ys = 0;
  let yc = 0;
  for (let i = 0; i < samples.length; i += 1) {
    const s = Math.sin(step * i);
    const c = Math.cos(step * i);
    const y = samples[i] ?? 0;
    ss += s * s;
    sc += s * c;
    cc += c * c;
    ys += y * s;
    yc += y * c;
  }
  const determinant = ss * cc - sc * sc;
  const a = (ys * cc - yc * sc) / determinant;
  const b = (yc * ss - ys * sc) / determinant;
  let rest = 0;
  for (let i = 0; i < samples.length; i += 1) {
    rest += ((samples[i] ?? 0) - a * Math.sin(step * i) - b * Math.cos(step * i)) ** 2;
  }
  const amplitude = Math.hypot(a, b);
  const noise = Math.sqrt(rest / samples.length);
  return {
    amplitude,
    phase: Math.atan2(b, a),
    snrDb: 20 * Math.log10(amplitude / Math.SQRT2 / noise),
  };
}

export const rms = (samples: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < samples.length; i += 1) sum += (samples[i] ?? 0) ** 2;
  return Math.sqrt(sum / Math.max(1, samples.length));
};

export interface WavParts {
  readonly format: number;
  readonly bits: number;
  readonly channels: number;
  readonly rate: number;
  readonly data: Uint8Array;
  /** Length stated in the data chunk. Default: the actual length. */
  readonly statedBytes?: number;
  /** Chunks between format and data. */
  readonly extra?: Uint8Array;
}

export function wavFile(parts: WavParts): Uint8Array {
  const extra = parts.extra ?? new Uint8Array(0);
  const bytes = new Uint8Array(44 + extra.length + parts.data.length);
  const view = new DataView(bytes.buffer);
  const tag = (at: number, name: string): void => bytes.set(new TextEncoder().encode(name), at);
  tag(0, 'RIFF');
  view.setUint32(4, bytes.length - 8, true);
  tag(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, parts.format, true);
  view.setUint16(22, parts.channels, true);
  view.setUint32(24, parts.rate, true);
  view.setUint32(28, (parts.rate * parts.channels * parts.bits) / 8, true);
  view.setUint16(32, (parts.channels * parts.bits) / 8, true);
  view.setUint16(34, parts.bits, true);
  bytes.set(extra, 36);
  const at = 36 + extra.length;
  tag(at, 'data');
  view.setUint32(at + 4, parts.statedBytes ?? parts.data.length, true);
  bytes.set(parts.data, at + 8);
  return bytes;
}

/** 16-bit samples, little-endian. */
export function int16Bytes(samples: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(samples.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < samples.length; i += 1)
    view.setInt16(2 * i, Math.round(samples[i] ?? 0), true);
  return bytes;
}

export const int16Samples = (bytes: Uint8Array): Int16Array =>
  new Int16Array(bytes.slice().buffer, 0, bytes.length >> 1);
