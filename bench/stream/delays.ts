/** Delays through the service, out of what watched phones and bots noted on one clock. */
import type { WatchedBot } from './bots.ts';
import type { WatchedPhone } from './phones.ts';

export interface Delays {
  /** Milliseconds. */
  readonly rtpToSocket: readonly number[];
  readonly playToRtp: readonly number[];
  readonly clearToSilence: readonly number[];
}

/** Codes come again after so many frames: 1.26 s, longer than any delay that is measured. */
const CODES = 63;
const FRAME_MS = 20;

export function delaysOf(phones: readonly WatchedPhone[], bots: readonly WatchedBot[]): Delays {
  const rtpToSocket: number[] = [];
  const playToRtp: number[] = [];
  const clearToSilence: number[] = [];
  for (const { call, received, probes } of bots) {
    const phone = phones[call];
    if (phone === undefined) continue;
    for (const [code, atMs] of received) {
      const sentMs = sentBefore(phone, code, atMs);
      if (sentMs !== undefined) rtpToSocket.push(atMs - sentMs);
    }
    probes.forEach(([playedMs, clearedMs], i) => {
      const nextMs = probes[i + 1]?.[0] ?? Number.POSITIVE_INFINITY;
      const loud = phone.loud.filter((at) => at >= playedMs && at < nextMs);
      const [first] = loud;
      if (first === undefined) return;
      playToRtp.push(first - playedMs);
      clearToSilence.push(Math.max(0, (loud.at(-1) ?? first) - clearedMs));
    });
  }
  return { rtpToSocket, playToRtp, clearToSilence };
}

/** When the frame with this code was sent that could be heard at `atMs`; undefined when that was before the window. */
function sentBefore(phone: WatchedPhone, code: number, atMs: number): number | undefined {
  const [firstMs] = phone.sent;
  if (firstMs === undefined) return undefined;
  // A frame sent within the last period of codes: the newest with this code that is not in the future.
  const newest = Math.min(phone.sent.length - 1, Math.ceil((atMs - firstMs) / FRAME_MS) + 1);
  for (let i = newest; i >= Math.max(0, newest - CODES + 1); i -= 1) {
    const sentMs = phone.sent[i];
    if (sentMs !== undefined && sentMs <= atMs && 1 + ((phone.firstSent + i) % CODES) === code)
      return sentMs;
  }
  return undefined;
}
