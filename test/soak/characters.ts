/** Kinds of bots, how often each is met, and how the stream of such a bot may end when the call goes on. */
import type { StreamSocketEnd } from '../../src/domain/call/needs.ts';

export interface Character {
  /** Of all bots, relative to the others. */
  readonly weight: number;
  /** Ends that the bot itself brings about. */
  readonly ends: ReadonlyArray<StreamSocketEnd['kind']>;
  /** Age at which its stream must be over; left away: it may live as long as the call. Milliseconds. */
  readonly overWithinMs?: number;
  /** Touches its TCP connection itself: over `ws` only. */
  readonly raw?: true;
}

export const CHARACTERS = {
  /** Chats: audio, checkpoints, clears, digits, short pauses of reading. */
  talker: { weight: 34, ends: [] },
  slowReader: { weight: 6, ends: [] },
  /** Half JSON, binary frames, unknown events, wrong types: each is told, none ends the stream. */
  babbler: { weight: 6, ends: [] },
  clearStorm: { weight: 5, ends: [] },
  checkpointStorm: { weight: 5, ends: [] },
  /** Messages just below the limit. */
  bigTalker: { weight: 2, ends: [] },
  stopper: { weight: 4, ends: ['stopRequested'], overWithinMs: 25_000 },
  closer: { weight: 5, ends: ['dropped'], overWithinMs: 25_000 },
  closerAtOnce: { weight: 5, ends: ['dropped', 'connectFailed'], overWithinMs: 10_000 },
  resetter: { weight: 5, ends: ['dropped'], overWithinMs: 25_000, raw: true },
  /** Bytes that are not UTF-8 (RFC 6455 §8.1). */
  badText: { weight: 2, ends: ['dropped'], overWithinMs: 25_000 },
  tooBig: { weight: 1, ends: ['dropped'], overWithinMs: 25_000 },
  /** Frames that break the protocol (RFC 6455 §5.2). */
  badFramer: { weight: 2, ends: ['dropped'], overWithinMs: 25_000, raw: true },
  /** Begins a frame and never ends it: no pong can come after that. */
  halfFramer: { weight: 4, ends: ['dropped'], overWithinMs: 50_000, raw: true },
  /** Reads and speaks, but never answers a ping. */
  deaf: { weight: 5, ends: ['dropped'], overWithinMs: 50_000 },
  nonReader: { weight: 5, ends: ['dropped'], overWithinMs: 50_000 },
  flooder: { weight: 2, ends: ['dropped'], overWithinMs: 90_000 },
  /** Answers the upgrade with 503. */
  refuser: { weight: 2, ends: ['connectFailed'], overWithinMs: 10_000 },
  /** Never answers the upgrade. */
  mute: { weight: 2, ends: ['connectFailed'], overWithinMs: 15_000 },
} as const satisfies Readonly<Record<string, Character>>;

export type CharacterName = keyof typeof CHARACTERS;

export const characterOf = (name: CharacterName): Character => CHARACTERS[name];

const NAMES = Object.keys(CHARACTERS) as CharacterName[];
const TOTAL = NAMES.reduce((sum, name) => sum + CHARACTERS[name].weight, 0);

/** `share`: uniform in [0, 1). */
export function pickCharacter(share: number): CharacterName {
  let at = share * TOTAL;
  const found = NAMES.find((name) => {
    at -= CHARACTERS[name].weight;
    return at < 0;
  });
  return found ?? 'talker';
}
