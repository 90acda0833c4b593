/** What the A leg hears until somebody answers (dialect §2.1, dialMusic). */
import type { DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { Bridge, Playback } from '../../call/needs.ts';
import type { VerbContext } from '../needs.ts';
import { playSoundUrl } from '../sound-url.ts';
import { ringingTone } from '../tones.ts';

/** The abort reason of every sound. It is shared, because a new Error for each would collect a stack trace. */
const STOPPED = new Error('the ringing sound has stopped');

/** It hears us: it has been answered, or has early media. */
const hearsUs = ({ status }: Call): boolean => status === 'answered' || status === 'early';

/**
 * A caller who is not answered makes the ringing tone himself, at our 180. Music, and what a called party is heard to say
 * before it answers, begin early media (183, RFC 3960); from then on the ringing tone comes from us.
 */
export class RingingSound {
  readonly #instruction: DialInstruction;
  readonly #context: VerbContext;
  #isStopped = false;
  /** Of the music. */
  #music: AbortController | undefined;
  #tone: Playback | undefined;
  #rings = false;
  /** The called party whose early media the A leg hears, once there is a bridge. */
  #early: { readonly leg: Call; bridge: Bridge | undefined } | undefined;

  constructor(instruction: DialInstruction, context: VerbContext) {
    this.#instruction = instruction;
    this.#context = context;
  }

  start(): void {
    const { dialMusic } = this.#instruction;
    if (dialMusic.kind === 'url') void this.#playMusic(dialMusic.url);
  }

  /** A called party is being rung: the ringing tone begins, not earlier. */
  ringing(): void {
    this.#rings = true;
    this.#context.call.ring();
    this.#playTone();
  }

  /**
   * A called party is heard before the answer: passed on to a caller who is not answered, and with dialMusic="real"; the
   * first such party only.
   */
  early(leg: Call): void {
    const { call } = this.#context;
    const { kind } = this.#instruction.dialMusic;
    const isPassedOn = kind === 'real' || (kind === 'ringback' && !call.isAnswered);
    if (!isPassedOn || this.#early !== undefined || this.#isOver) return;
    this.#early = { leg, bridge: undefined };
    if (hearsUs(call)) this.#hear(leg);
    else {
      void this.#beginEarlyMedia('the called party is not heard before it answers').then(() =>
        this.#hear(leg),
      );
    }
  }

  /** A called party is out; when it was the one that is heard, the tone comes back. */
  gone(leg: Call): void {
    if (this.#early?.leg !== leg) return;
    this.#early.bridge?.close();
    this.#early = undefined;
    this.#playTone();
  }

  stop(): void {
    this.#isStopped = true;
    this.#music?.abort(STOPPED);
    this.#tone?.stop();
    this.#tone = undefined;
    this.#early?.bridge?.close();
    this.#early = undefined;
  }

  get #isOver(): boolean {
    return this.#isStopped || this.#context.call.isEnded;
  }

  #hear(leg: Call): void {
    const { call, needs } = this.#context;
    const early = this.#early;
    if (early?.leg !== leg || leg.isEnded) {
      this.#playTone();
      return;
    }
    if (this.#isOver || !hearsUs(call)) return;
    this.#tone?.stop();
    this.#tone = undefined;
    early.bridge = needs.media.bridge(call.media, leg.media);
  }

  async #playMusic(url: string): Promise<void> {
    const { call, needs, signal } = this.#context;
    if (!hearsUs(call)) await this.#beginEarlyMedia('dialMusic is not heard');
    if (this.#isOver || !hearsUs(call)) return;
    this.#music = new AbortController();
    const until = AbortSignal.any([signal, this.#music.signal]);
    const source = { url, method: 'POST', event: 'DialMusic', own: [] } as const;
    await playSoundUrl(source, { call, needs, signal: until, repeat: true });
  }

  /** 183 with our SDP. Not possible for a caller who offered none. */
  async #beginEarlyMedia(otherwise: string): Promise<void> {
    const { call, needs } = this.#context;
    try {
      const isEarly = await call.startEarlyMedia();
      if (!isEarly && !call.isEnded) {
        call.log.add('warning', `${otherwise}: early media is not possible on this call`);
      }
    } catch (error) {
      needs.logger.error({ error, callUuid: call.uuid }, 'early media failed');
    }
  }

  #playTone(): void {
    const { call } = this.#context;
    if (this.#instruction.dialMusic.kind === 'url' || this.#early !== undefined) return;
    if (!this.#rings || this.#tone !== undefined || this.#isOver || !hearsUs(call)) return;
    this.#tone = call.media.playTone(ringingTone(call.identity.country), {
      loop: 0,
      mix: false,
    });
  }
}
