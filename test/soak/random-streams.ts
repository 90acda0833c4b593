/** Service side of the misbehaving bots: reopens each stream after its end, and checks the lifetime of each stream. */
import type { Clock } from '../../src/base/clock.ts';
import { asCallUuid, asStreamId, uuid } from '../../src/base/ids.ts';
import type {
  AudioStreams,
  MediaLeg,
  StreamSocket,
  StreamSocketEnd,
} from '../../src/domain/call/needs.ts';
import { OPTIONS } from '../edge/stream/fixture.ts';
import type { SimRandom } from '../sim/random.ts';
import { type CharacterName, characterOf } from './bot-profiles.ts';

const REOPEN_MS = 50;
/** Range of call durations, ms. A call may hang up in any state of its stream. */
const SHORTEST_CALL_MS = 5000;
const LONGEST_CALL_MS = 70_000;
/**
 * Limits after a hang-up: the closing handshake (5 s), with `drain` also the queue (65 s), plus a margin for a busy
 * machine.
 */
const CLOSE_LIMIT_MS = 12_000;
const DRAIN_LIMIT_MS = 80_000;
/** Maximum number of described failures. All failures are counted. */
const MAX_FAILURES = 50;

const FORMATS = [
  { encoding: 'audio/x-l16', rate: 8000 },
  { encoding: 'audio/x-l16', rate: 16_000 },
  { encoding: 'audio/x-mulaw', rate: 8000 },
] as const;
const nothing = (): void => undefined;

interface Lifetime {
  readonly character: CharacterName;
  readonly openedMs: number;
  socket: StreamSocket | undefined;
  /** Time by which the stream must have ended after the hang-up; undefined before the hang-up. */
  closeByMs: number | undefined;
  ended: boolean;
}

export interface RandomStreamsNeeds {
  readonly streams: AudioStreams;
  readonly urlOf: (character: CharacterName, random: SimRandom) => string;
  /** Returns the character of the next bot. */
  readonly nextCharacter: () => CharacterName;
  readonly random: SimRandom;
  readonly clock: Clock;
}

export class RandomStreams {
  readonly #needs: RandomStreamsNeeds;
  readonly #lives = new Set<Lifetime>();
  readonly #failures: string[] = [];
  readonly #ends = new Map<string, number>();
  #failureCount = 0;
  #opened = 0;
  #running = true;

  constructor(needs: RandomStreamsNeeds) {
    this.#needs = needs;
  }

  get opened(): number {
    return this.#opened;
  }

  get open(): number {
    return this.#lives.size;
  }

  /** Number of ends by character and kind of end. */
  get ends(): ReadonlyMap<string, number> {
    return this.#ends;
  }

  failures(): readonly string[] {
    const more = this.#failureCount - this.#failures.length;
    return more > 0 ? [...this.#failures, `${more} more failures of streams`] : this.#failures;
  }

  /** Keeps one stream open on this leg: opens the next one after each end. */
  keepOpen(leg: MediaLeg): void {
    const { streams, urlOf, nextCharacter, random, clock } = this.#needs;
    const character = nextCharacter();
    const lifetime: Lifetime = {
      character,
      openedMs: clock.monotonicMs(),
      socket: undefined,
      closeByMs: undefined,
      ended: false,
    };
    this.#lives.add(lifetime);
    this.#opened += 1;
    lifetime.socket = streams.open(
      {
        ...OPTIONS,
        url: urlOf(character, random),
        streamId: asStreamId(uuid(random)),
        callUuid: asCallUuid(uuid(random)),
        ...random.pick(FORMATS),
      },
      leg,
      {
        started: nothing,
        played: nothing,
        cleared: nothing,
        degraded: nothing,
        sendDigits: nothing,
        fault: nothing,
        ended: (end) => this.#ended(lifetime, leg, end),
      },
    );
    const drain = random.chance(0.5);
    // The call hangs up regardless of its bot.
    const hangUpMs = lifetime.openedMs + random.between(SHORTEST_CALL_MS, LONGEST_CALL_MS);
    clock.at(hangUpMs, () => this.#hangUp(lifetime, drain));
  }

  /** Reports streams that should have ended. Call it periodically. */
  judgeAges(): void {
    const nowMs = this.#needs.clock.monotonicMs();
    for (const lifetime of this.#lives) {
      const { character, openedMs, closeByMs } = lifetime;
      const { overWithinMs } = characterOf(character);
      const mustMs = Math.min(
        closeByMs ?? Number.POSITIVE_INFINITY,
        overWithinMs === undefined ? Number.POSITIVE_INFINITY : openedMs + overWithinMs,
      );
      if (nowMs <= mustMs) continue;
      const why = closeByMs === undefined ? 'although its bot broke it' : 'after its call hung up';
      this.#fail(
        `a stream of a ${character} is still open ${seconds(nowMs - openedMs)} old, ${why}`,
      );
      // Reports each stream only once.
      this.#lives.delete(lifetime);
    }
  }

  /** Hangs up all calls. Resolves when all streams have ended or their time limits have passed. */
  async stop(): Promise<void> {
    const { clock } = this.#needs;
    this.#running = false;
    for (const lifetime of this.#lives)
      if (lifetime.closeByMs === undefined) this.#hangUp(lifetime, false);
    // Some streams are still draining after an earlier hang-up.
    const untilMs = Math.max(...[...this.#lives].map(({ closeByMs }) => closeByMs ?? 0));
    while (this.#lives.size > 0 && clock.monotonicMs() < untilMs) await clock.sleep(100);
    for (const { character } of this.#lives) this.#fail(`a stream of a ${character} never ended`);
  }

  #hangUp(lifetime: Lifetime, drain: boolean): void {
    if (lifetime.ended || lifetime.closeByMs !== undefined) return;
    const limitMs = drain ? DRAIN_LIMIT_MS : CLOSE_LIMIT_MS;
    lifetime.closeByMs = this.#needs.clock.monotonicMs() + limitMs;
    lifetime.socket?.close('call_hangup', { drain });
  }

  #ended(lifetime: Lifetime, leg: MediaLeg, end: StreamSocketEnd): void {
    const { character } = lifetime;
    const age = seconds(this.#needs.clock.monotonicMs() - lifetime.openedMs);
    if (lifetime.ended) {
      this.#fail(`a stream of a ${character} ended twice, then as ${describe(end)} ${age} old`);
      return;
    }
    lifetime.ended = true;
    this.#lives.delete(lifetime);
    const known = `${character} ${end.kind}`;
    this.#ends.set(known, (this.#ends.get(known) ?? 0) + 1);
    const allowed = characterOf(character).ends.includes(end.kind);
    // A hang-up can meet a connection in any state, so the connection may break before the closing handshake completes.
    const hungUp = lifetime.closeByMs !== undefined;
    if (!allowed && !hungUp) {
      this.#fail(`a stream of a ${character} ended as ${describe(end)} ${age} old`);
    }
    const { clock } = this.#needs;
    clock.at(clock.monotonicMs() + REOPEN_MS, () => {
      if (this.#running) this.keepOpen(leg);
    });
  }

  #fail(what: string): void {
    this.#failureCount += 1;
    if (this.#failures.length < MAX_FAILURES) this.#failures.push(what);
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const describe = (end: StreamSocketEnd): string =>
  'detail' in end ? `${end.kind} (${end.detail})` : end.kind;
