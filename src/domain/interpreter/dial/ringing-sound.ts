/** Audio for the A leg until the answer (dialect §2.1, dialMusic). */
import type { DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { Bridge, Playback } from '../../call/needs.ts';
import { connectAudio } from '../kept-audio.ts';
import type { VerbContext } from '../needs.ts';
import { playSoundUrl } from '../sound-url.ts';
import { ringingTone } from '../tones.ts';

/** Abort reason shared by all sounds, because a new Error would collect a stack trace each time. */
const STOPPED = new Error('the ringing sound has stopped');

/** True if the party receives our audio: it is answered or has early media. */
const hearsUs = ({ status }: Call): boolean => status === 'answered' || status === 'early';

/**
 * Plays the ringing sound. A caller without early media generates the ringing tone locally after our 180. Music and the
 * called party's early media start early media (183, RFC 3960). From then on, this node plays the tone.
 */
export class RingingSound {
  readonly #instruction: DialInstruction;
  readonly #context: VerbContext;
  #isStopped = false;
  /** Stops the music. */
  #music: AbortController | undefined;
  /** Ringing tone or music of the service. */
  #tone: Playback | undefined;
  readonly #playsHoldMusic: boolean;
  #rings = false;
  /** Called party whose early media the A leg receives. `bridge` is set once they are connected. */
  #early: { readonly leg: Call; bridge: Bridge | undefined } | undefined;

  /** `holdMusic`: the caller hears the music of the service instead of a ringing tone, mixed with other audio. */
  constructor(instruction: DialInstruction, context: VerbContext, holdMusic = false) {
    this.#instruction = instruction;
    this.#context = context;
    this.#playsHoldMusic = holdMusic;
  }

  start(): void {
    const { dialMusic } = this.#instruction;
    if (dialMusic.kind === 'url') void this.#playMusic(dialMusic.url);
    else if (this.#playsHoldMusic) void this.#playHoldMusic();
  }

  /** Starts the ringing tone, once a called party rings. */
  ringing(): void {
    this.#rings = true;
    this.#context.call.ring();
    this.#playTone();
  }

  /**
   * Handles early media of a called party. It is passed on to an unanswered caller, and with dialMusic="real"; only the
   * first party's.
   */
  early(leg: Call): void {
    const { call } = this.#context;
    const { kind } = this.#instruction.dialMusic;
    const isPassedOn =
      !this.#playsHoldMusic && (kind === 'real' || (kind === 'ringback' && !call.isAnswered));
    if (!isPassedOn || this.#early !== undefined || this.#isOver) return;
    this.#early = { leg, bridge: undefined };
    if (hearsUs(call)) this.#hear(leg);
    else {
      void this.#beginEarlyMedia('early media of the called party is not passed on').then(() =>
        this.#hear(leg),
      );
    }
  }

  /** Removes a called party. If its early media was connected, the tone resumes. */
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
    this.#context.call.mediaIfOpen?.ringback(false);
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
    call.media.ringback(true);
    early.bridge = connectAudio(call, leg, needs);
  }

  async #playMusic(url: string): Promise<void> {
    const { call, needs, signal } = this.#context;
    if (!hearsUs(call)) await this.#beginEarlyMedia('dialMusic is not played');
    if (this.#isOver || !hearsUs(call)) return;
    this.#music = new AbortController();
    const until = AbortSignal.any([signal, this.#music.signal]);
    call.media.ringback(true);
    const source = { url, method: 'POST', event: 'DialMusic', own: [] } as const;
    await playSoundUrl(source, { call, needs, signal: until, repeat: true });
  }

  /** Sends 183 with our SDP. Not possible for a caller whose INVITE has no offer. */
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

  async #playHoldMusic(): Promise<void> {
    const { call, needs } = this.#context;
    const music = await needs.holdMusic(call.media.rate);
    if (music === undefined || this.#isOver) return;
    this.#tone = call.media.play(music, { loop: 0, mix: true });
  }

  #playTone(): void {
    const { call } = this.#context;
    if (
      this.#playsHoldMusic ||
      this.#instruction.dialMusic.kind === 'url' ||
      this.#early !== undefined
    )
      return;
    if (!this.#rings || this.#tone !== undefined || this.#isOver || !hearsUs(call)) return;
    call.media.ringback(true);
    this.#tone = call.media.playTone(ringingTone(call.identity.country), {
      loop: 0,
      mix: false,
    });
  }
}
