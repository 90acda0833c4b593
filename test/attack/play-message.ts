const BEFORE =
  '{"event":"playAudio","media":{"contentType":"audio/x-l16","sampleRate":24000,"payload":"';
const AFTER = '"}}';

/** Builds a `playAudio` message of at most `bytes` bytes with L16 at 24 kHz. 3.9 MiB hold about a minute. */
export function playMessage(bytes: number): Buffer {
  const payload = Math.floor((bytes - BEFORE.length - AFTER.length) / 4) * 4;
  return Buffer.from(`${BEFORE}${'A'.repeat(payload)}${AFTER}`);
}

/** Builds a `playAudio` message with `ms` milliseconds of audio. */
export const playMs = (ms: number): Buffer =>
  Buffer.from(`${BEFORE}${Buffer.alloc(ms * 48).toString('base64')}${AFTER}`);
