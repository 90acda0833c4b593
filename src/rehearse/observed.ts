/** Observations of one scripted call. Times are milliseconds since the start of the stream. */
import type { Clock } from '../base/clock.ts';

export interface Happening {
  readonly atMs: number;
  readonly what: string;
  readonly detail: string;
}

interface Frame {
  readonly caller: Int16Array;
  readonly bot: Int16Array;
  readonly botIsLoud: boolean;
}

/** Silence within the bot's speech that is not its end, in ms. */
const WITHIN_SPEECH_MS = 200;
/** Maximum number of recorded frames of all calls that run in parallel: about 1 GB of audio. */
const MAX_FRAMES = 1_500_000;
/** Maximum number of recorded frames per call: one hour. */
const MAX_FRAMES_PER_CALL = 180_000;
const MAX_HAPPENINGS = 2000;
/** Lateness of the caller's audio, in ms, that a bot or an expectation can notice. */
const LATE_MS = 200;
/** Time after late audio in which the send queue is full although the bot reads, in ms. */
const LATE_LASTS_MS = 3000;

export class Observed {
  readonly happenings: Happening[] = [];
  /** Time from the caller's last word to the bot's first audio, per turn, in ms. */
  readonly latencies: number[] = [];
  /** Time from the beginning of an interruption to the bot's silence, in ms. */
  readonly interruptions: number[] = [];
  readonly transfers: string[] = [];
  /** Texts that the service speaks: `Speak` of the documents. */
  readonly spoken: string[] = [];
  readonly faults: string[] = [];
  digits = '';
  endedBy: 'bot' | 'caller' | undefined;
  answeredMs: number | undefined;
  longestSilenceMs = 0;
  /** Largest lateness of the caller's audio in ms, if this machine was too slow for the rehearsal; otherwise 0. */
  lateMs = 0;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #startMs: number;
  readonly #frames: Frame[] = [];
  readonly #maxFrames: number;
  readonly #watchers = new Set<() => void>();
  #endMs: number | undefined;
  #lastLoudMs: number | undefined;
  #botBeganMs: number | undefined;
  #silentSinceMs = 0;
  #callerSpeaking = false;
  #callerEndedMs: number | undefined;
  #interruptedMs: number | undefined;
  #lastLateMs = Number.NEGATIVE_INFINITY;

  /** `callers`: number of calls that run in parallel. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, callers: number) {
    this.#clock = clock;
    this.#maxFrames = Math.min(MAX_FRAMES_PER_CALL, Math.floor(MAX_FRAMES / callers));
    this.#startMs = clock.monotonicMs();
  }

  nowMs(): number {
    return this.#clock.monotonicMs() - this.#startMs;
  }

  get durationMs(): number {
    return this.#endMs ?? this.nowMs();
  }

  /** Begin of the bot's current speech; undefined while it is silent. */
  get botBeganMs(): number | undefined {
    return this.#botBeganMs;
  }

  /** Time since the bot's last audio, in ms; undefined if it has not spoken. */
  get botSilentMs(): number | undefined {
    return this.#lastLoudMs === undefined ? undefined : this.nowMs() - this.#lastLoudMs;
  }

  note(what: string, detail = ''): void {
    if (this.happenings.length < MAX_HAPPENINGS)
      this.happenings.push({ atMs: Math.round(this.nowMs()), what, detail });
  }

  /** A frame of the caller was sent late by `lateMs`. The frames after it follow in a burst. */
  sentLate(lateMs: number): void {
    if (lateMs < LATE_MS) return;
    if (this.nowMs() - this.#lastLateMs > LATE_LASTS_MS)
      this.note('the rehearsal is late', `${Math.round(lateMs)} ms`);
    this.#lastLateMs = this.nowMs();
    this.lateMs = Math.max(this.lateMs, lateMs);
  }

  /** The bot has not read `percent` of the send queue. A burst of late audio is not a fault of the bot. */
  degraded(percent: number): void {
    if (this.nowMs() - this.#lastLateMs <= LATE_LASTS_MS) return;
    this.faults.push(`the bot reads too slowly: ${percent} %`);
  }

  serviceSpeaks(text: string): void {
    this.spoken.push(text);
    this.note('service speaks', text);
  }

  callerBegins(detail: string, isInterruption: boolean): void {
    this.note(isInterruption ? 'caller interrupts' : 'caller speaks', detail);
    this.#callerSpeaking = true;
    this.#callerEndedMs = undefined;
    if (isInterruption) this.#interruptedMs = this.nowMs();
  }

  callerEnds(): void {
    this.note('caller finishes');
    this.#callerSpeaking = false;
    this.#callerEndedMs = this.nowMs();
  }

  cleared(): void {
    this.note('bot clears its audio');
  }

  frame(frame: Frame): void {
    const nowMs = this.nowMs();
    if (this.#frames.length < this.#maxFrames) this.#frames.push(frame);
    if (frame.botIsLoud) this.#botIsLoud(nowMs);
    else this.#botIsSilent(nowMs);
    if (frame.botIsLoud || this.#callerSpeaking) this.#silentSinceMs = nowMs;
    this.longestSilenceMs = Math.max(this.longestSilenceMs, nowMs - this.#silentSinceMs);
    for (const look of [...this.#watchers]) look();
  }

  ended(by: 'bot' | 'caller'): void {
    if (this.#endMs !== undefined) return;
    this.endedBy = by;
    this.#endMs = this.nowMs();
    this.note(`${by} ends the stream`);
    for (const look of [...this.#watchers]) look();
  }

  get isOver(): boolean {
    return this.#endMs !== undefined;
  }

  /** Resolves when the condition holds, the call ends or the time has passed. Checked with every frame. */
  until(condition: () => boolean, limitMs: number): Promise<void> {
    const endMs = this.nowMs() + limitMs;
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition() && !this.isOver && this.nowMs() < endMs) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** Audio of the caller (left) and the bot (right) at 8 kHz. */
  recording(): { readonly caller: Int16Array; readonly bot: Int16Array } {
    const join = (side: 'caller' | 'bot'): Int16Array => {
      const whole = new Int16Array(
        this.#frames.reduce((sum, frame) => sum + frame[side].length, 0),
      );
      let at = 0;
      for (const frame of this.#frames) {
        whole.set(frame[side], at);
        at += frame[side].length;
      }
      return whole;
    };
    return { caller: join('caller'), bot: join('bot') };
  }

  /** Releases the recording. */
  forgetAudio(): void {
    this.#frames.length = 0;
  }

  #botIsLoud(nowMs: number): void {
    if (this.#botBeganMs === undefined) {
      this.#botBeganMs = nowMs;
      this.note('bot speaks');
    }
    this.answeredMs ??= nowMs;
    this.#lastLoudMs = nowMs;
    if (this.#callerEndedMs !== undefined) {
      this.latencies.push(Math.round(nowMs - this.#callerEndedMs));
      this.#callerEndedMs = undefined;
    }
  }

  #botIsSilent(nowMs: number): void {
    const last = this.#lastLoudMs;
    if (this.#botBeganMs === undefined || last === undefined) return;
    if (nowMs - last < WITHIN_SPEECH_MS) return;
    this.#botBeganMs = undefined;
    this.note('bot is silent');
    if (this.#interruptedMs !== undefined) {
      this.interruptions.push(Math.max(0, Math.round(last - this.#interruptedMs)));
      this.#interruptedMs = undefined;
    }
  }
}
