/** Bot characters of the soak test: their frequency, and the stream ends permitted while the call continues. */
import type { StreamSocketEnd } from '../../src/domain/call/needs.ts';

export interface Character {
  /** Relative frequency of this character. */
  readonly weight: number;
  /** Stream ends that this bot causes. */
  readonly ends: ReadonlyArray<StreamSocketEnd['kind']>;
  /** Age in ms by which its stream must have ended. Absent: the stream may last as long as the call. */
  readonly overWithinMs?: number;
  /** Whether the bot manipulates its TCP connection. Such bots use only `ws`. */
  readonly raw?: true;
}

export const CHARACTERS = {
  /** Normal conversation: audio, checkpoints, clears, digits and short pauses in reading. */
  talker: { weight: 34, ends: [] },
  slowReader: { weight: 6, ends: [] },
  /** Half JSON, binary frames, unknown events and wrong types. The service reports each; none ends the stream. */
  babbler: { weight: 6, ends: [] },
  clearStorm: { weight: 5, ends: [] },
  checkpointStorm: { weight: 5, ends: [] },
  /** Messages just below the size limit. */
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
  /** Sends an incomplete frame, after which it can send no pong. */
  halfFramer: { weight: 4, ends: ['dropped'], overWithinMs: 50_000, raw: true },
  /** Reads and sends audio, but never answers a ping. */
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

/** Returns a character by weight. `share` is uniform in [0, 1). */
export function pickCharacter(share: number): CharacterName {
  let at = share * TOTAL;
  const found = NAMES.find((name) => {
    at -= CHARACTERS[name].weight;
    return at < 0;
  });
  return found ?? 'talker';
}
