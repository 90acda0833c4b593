/** What the A leg hears until somebody answers (dialect §2.1, dialMusic). */
import type { DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { Bridge, Playback } from '../../call/needs.ts';
import type { VerbContext } from '../needs.ts';
import { playSoundUrl } from '../sound-url.ts';
import { ringingTone } from '../tones.ts';

/** The abort reason of every sound. It is shared, because a new Error for each would collect a stack trace. */
const STOPPED = new Error('the ringing sound has stopped');

export class RingingSound {
  readonly #instruction: DialInstruction;
  readonly #context: VerbContext;
  readonly #stopped = new AbortController();
  #tone: Playback | undefined;
  #rings = false;
  /** The called party whose early media the A leg hears. */
  #early: { readonly leg: Call; readonly bridge: Bridge } | undefined;

  constructor(instruction: DialInstruction, context: VerbContext) {
    this.#instruction = instruction;
    this.#context = context;
  }

  start(): void {
    const { dialMusic: music } = this.#instruction;
    if (music.kind !== 'url') return;
    const { call, needs, signal } = this.#context;
    const until = AbortSignal.any([signal, this.#stopped.signal]);
    const source = { url: music.url, method: 'POST', event: 'DialMusic', own: [] } as const;
    void playSoundUrl(source, { call, needs, signal: until, repeat: true });
  }

  /** A called party is being rung: the ringing tone begins, not earlier. */
  ringing(): void {
    this.#rings = true;
    this.#playTone();
  }

  /** A called party is heard before the answer: passed on with dialMusic="real", the first such party only. */
  early(leg: Call): void {
    const { call, needs } = this.#context;
    if (this.#instruction.dialMusic.kind !== 'real' || this.#early !== undefined) return;
    if (this.#stopped.signal.aborted) return;
    this.#tone?.stop();
    this.#tone = undefined;
    this.#early = { leg, bridge: needs.media.bridge(call.media, leg.media) };
  }

  /** A called party is out; when it was the one that is heard, the tone comes back. */
  gone(leg: Call): void {
    if (this.#early?.leg !== leg) return;
    this.#early.bridge.close();
    this.#early = undefined;
    this.#playTone();
  }

  stop(): void {
    this.#stopped.abort(STOPPED);
    this.#tone?.stop();
    this.#tone = undefined;
    this.#early?.bridge.close();
    this.#early = undefined;
  }

  #playTone(): void {
    const { call } = this.#context;
    if (this.#instruction.dialMusic.kind === 'url' || this.#early !== undefined) return;
    if (!this.#rings || this.#tone !== undefined) return;
    if (this.#stopped.signal.aborted || call.isEnded) return;
    this.#tone = call.media.playTone(ringingTone(call.identity.country), {
      loop: 0,
      mix: false,
    });
  }
}
