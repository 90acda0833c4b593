/** Plays a stereo 16-bit WAV stream while it downloads, with a short delay. */

const HEADER_BYTES = 44;
const RATE_AT = 24;
/** Bytes per sample pair of both channels. */
const BOTH = 4;
/** Buffer in s, larger than the jitter of the network. */
const BEHIND_S = 0.15;
const CHUNK_S = 0.1;
/** Delay in s above which buffered audio is skipped. */
const TOO_FAR_S = 1;

export interface Levels {
  /** Level in dB below full scale. */
  readonly said: number;
  readonly heard: number;
}

export async function play(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  tell: (levels: Levels) => void,
): Promise<void> {
  const context = new AudioContext();
  signal.addEventListener('abort', () => void context.close().catch(() => undefined));
  const reader = body.getReader();
  let waiting = new Uint8Array(0);
  let rate = 0;
  let due = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    waiting = joined(waiting, value);
    if (rate === 0) {
      if (waiting.length < HEADER_BYTES) continue;
      rate = viewOf(waiting).getUint32(RATE_AT, true);
      waiting = waiting.slice(HEADER_BYTES);
    }
    const chunk = Math.floor(CHUNK_S * rate) * BOTH;
    while (waiting.length >= chunk) {
      const [left, right] = samplesOf(waiting.subarray(0, chunk));
      waiting = waiting.slice(chunk);
      tell({ said: levelOf(left), heard: levelOf(right) });
      const now = context.currentTime;
      if (due > now + TOO_FAR_S) continue;
      due = Math.max(due, now + BEHIND_S);
      const buffer = context.createBuffer(2, left.length, rate);
      buffer.copyToChannel(left, 0);
      buffer.copyToChannel(right, 1);
      const source = context.createBufferSource();
      source.buffer = buffer;
      source.connect(context.destination);
      source.start(due);
      due += CHUNK_S;
    }
  }
  await context.close().catch(() => undefined);
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function samplesOf(bytes: Uint8Array): [Float32Array<ArrayBuffer>, Float32Array<ArrayBuffer>] {
  const view = viewOf(bytes);
  const count = bytes.length / BOTH;
  const [left, right] = [new Float32Array(count), new Float32Array(count)];
  for (let i = 0; i < count; i += 1) {
    left[i] = view.getInt16(BOTH * i, true) / 32_768;
    right[i] = view.getInt16(BOTH * i + 2, true) / 32_768;
  }
  return [left, right];
}

function levelOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.max(-100, 10 * Math.log10(sum / Math.max(1, samples.length)));
}
