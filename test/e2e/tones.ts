/** Generates test tones and detects them in received audio. */
const RATE_HZ = 8000;
const AMPLITUDE = 8000;
const BLOCK_MS = 20;
const KEY_ROWS_HZ = [697, 770, 852, 941];
const KEY_COLUMNS_HZ = [1209, 1336, 1477, 1633];
const KEYPAD = '123A456B789C*0#D';

export const silence = (ms: number): Int16Array => new Int16Array((ms * RATE_HZ) / 1000);

/** Sums sines of equal amplitude. */
export function tone(frequenciesHz: readonly number[], ms: number): Int16Array {
  return Int16Array.from({ length: (ms * RATE_HZ) / 1000 }, (_, i) =>
    frequenciesHz.reduce(
      (sum, hz) =>
        sum + (AMPLITUDE / frequenciesHz.length) * Math.sin((2 * Math.PI * hz * i) / RATE_HZ),
      0,
    ),
  );
}

export function joined(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Generates DTMF tones (ITU-T Q.23): 100 ms per key with pauses of 100 ms. */
export const keyTones = (digits: string, lengthMs = 100): Int16Array =>
  joined(
    [...digits].flatMap((digit) => {
      const place = KEYPAD.indexOf(digit);
      const pair = [KEY_ROWS_HZ[Math.floor(place / 4)] ?? 0, KEY_COLUMNS_HZ[place % 4] ?? 0];
      return [tone(pair, lengthMs), silence(lengthMs)];
    }),
  );

const blocks = (received: Int16Array): Int16Array[] => {
  const size = (BLOCK_MS * RATE_HZ) / 1000;
  return Array.from({ length: Math.floor(received.length / size) }, (_, i) =>
    received.subarray(i * size, (i + 1) * size),
  );
};

const energy = (block: Int16Array): number =>
  block.reduce((sum, sample) => sum + sample * sample, 0);

/** Energy of the sine at this frequency (Goertzel algorithm). */
function energyAt(block: Int16Array, hz: number): number {
  const turn = 2 * Math.cos((2 * Math.PI * hz) / RATE_HZ);
  let last = 0;
  let before = 0;
  for (const sample of block) [last, before] = [sample + turn * last - before, last];
  return (2 * (last * last + before * before - turn * last * before)) / block.length;
}

/** Milliseconds in which the tone has at least `share` of the energy of audible sound. */
export const toneMs = (received: Int16Array, hz: number, share = 0.8): number =>
  BLOCK_MS *
  blocks(received).filter(
    (block) =>
      energy(block) > block.length * 300 ** 2 && energyAt(block, hz) > share * energy(block),
  ).length;

/** Milliseconds that are not silent. */
export const loudMs = (received: Int16Array): number =>
  BLOCK_MS * blocks(received).filter((block) => energy(block) > block.length * 200 ** 2).length;

/** Offset at which the tone begins, ms from the first sample; -1 if it is missing. */
export const toneAtMs = (received: Int16Array, hz: number): number =>
  BLOCK_MS *
  blocks(received).findIndex(
    (block) => energy(block) > block.length * 300 ** 2 && energyAt(block, hz) > 0.8 * energy(block),
  );

/** Keys detected as DTMF tones. Each tone counts once, regardless of its length. */
export function keysIn(received: Int16Array): string {
  const keys = blocks(received).map((block) => {
    const whole = energy(block);
    if (whole < block.length * 300 ** 2) return '';
    const loudest = (group: readonly number[]) => {
      const powers = group.map((hz) => energyAt(block, hz));
      const place = powers.indexOf(Math.max(...powers));
      return { place, power: powers[place] ?? 0 };
    };
    const row = loudest(KEY_ROWS_HZ);
    const column = loudest(KEY_COLUMNS_HZ);
    return row.power + column.power > 0.8 * whole
      ? (KEYPAD[4 * row.place + column.place] ?? '')
      : '';
  });
  return keys.filter((key, i) => key !== '' && key !== keys[i - 1]).join('');
}
