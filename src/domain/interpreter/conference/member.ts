/** One call in one conference: keypad input, time limit and individual sounds. */
import type { ConferenceInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import { matchDigits } from '../../call/call.ts';
import type { RoomMember } from '../../call/needs.ts';
import type { LeaveReason, VerbContext } from '../needs.ts';
import type { CallRecordRequest } from '../recording/types.ts';
import { playTo, speakTo } from '../sound.ts';
import { playSoundUrl, type SoundSource } from '../sound-url.ts';
import { RecordingSlot } from './recording-slot.ts';

export interface MemberEvents {
  pressed(digit: string): void;
  matched(keys: string): void;
  exitRequested(reason: LeaveReason): void;
}

export type MemberSound =
  | { readonly kind: 'play'; readonly url: string }
  | {
      readonly kind: 'speak';
      readonly text: string;
      readonly voice: string;
      readonly language: string;
    };

export class Member {
  /** Small decimal number, unique in its room. */
  readonly id: string;
  readonly context: VerbContext;
  readonly instruction: ConferenceInstruction;
  /** Monotonic time of joining, in ms. */
  readonly joinedMs: number;
  /** Resolves when the member has left the room. */
  readonly left: Promise<LeaveReason>;
  readonly seat: RoomMember;
  /** Recording of this member only. */
  readonly recording: RecordingSlot<CallRecordRequest>;
  readonly #undo: Array<() => void> = [];
  readonly #sounds = new Map<MemberSound['kind'], AbortController>();
  #waiting: AbortController | undefined;
  #resolveLeft: (reason: LeaveReason) => void = () => undefined;
  #muted: boolean;
  #deaf = false;
  #onHold = false;
  #isWaiting = false;
  #coaching = false;
  #holdMusic: AbortController | undefined;
  #endTimeout: () => void = () => undefined;
  #isOut = false;

  constructor(
    id: string,
    seat: RoomMember,
    requested: { readonly context: VerbContext; readonly instruction: ConferenceInstruction },
  ) {
    this.id = id;
    this.seat = seat;
    this.context = requested.context;
    this.instruction = requested.instruction;
    this.joinedMs = requested.context.needs.clock.monotonicMs();
    this.#muted = requested.instruction.muted;
    const { call, needs } = requested.context;
    this.recording = new RecordingSlot((request) => needs.recorder.start(call, request));
    this.left = new Promise((resolve) => {
      this.#resolveLeft = resolve;
    });
  }

  get muted(): boolean {
    return this.#muted;
  }

  get deaf(): boolean {
    return this.#deaf;
  }

  get onHold(): boolean {
    return this.#onHold;
  }

  /** True if only agents hear this member. */
  get coaching(): boolean {
    return this.#coaching;
  }

  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  get isOut(): boolean {
    return this.#isOut;
  }

  set(flags: { readonly muted?: boolean; readonly deaf?: boolean }): void {
    this.#muted = flags.muted ?? this.#muted;
    this.#deaf = flags.deaf ?? this.#deaf;
    this.seat.set({ muted: this.#muted, deaf: this.#deaf });
  }

  watch(events: MemberEvents): void {
    const { call, signal, needs } = this.context;
    const { digitsMatch, hangupOnStar, timeLimitMs, sendDigits } = this.instruction;
    const { clock } = needs;
    const onAbort = (): void => events.exitRequested('callOver');
    signal.addEventListener('abort', onAbort, { once: true });
    this.#undo.push(
      () => signal.removeEventListener('abort', onAbort),
      clock.at(clock.monotonicMs() + timeLimitMs, () => events.exitRequested('timeLimit')),
      matchDigits(call.digits, digitsMatch, (keys) => events.matched(keys)),
      call.digits.observeEvents((digit) => events.pressed(digit)),
      matchDigits(call.digits, hangupOnStar ? ['*'] : [], () => events.exitRequested('star')),
      // Presses in a conference do not count as type-ahead for later elements.
      call.digits.forgetAhead(),
    );
    if (sendDigits !== undefined) {
      void call.media.sendDigits(sendDigits, { toneMs: 160, gapMs: 80, inband: false });
    }
  }

  /** Registers a function that is called when the member leaves. */
  atLeaving(undo: () => void): void {
    this.#undo.push(undo);
  }

  /** Isolates the member until the conference starts, and plays its waitSound. `timeout` limits the wait. */
  wait(source: SoundSource | undefined, timeout?: { readonly ms: number; over(): void }): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.seat.set({ held: true });
    const { call, needs } = this.context;
    if (timeout !== undefined && timeout.ms > 0) {
      const { clock } = needs;
      this.#endTimeout = clock.at(clock.monotonicMs() + timeout.ms, () => timeout.over());
    }
    if (source === undefined) return;
    this.#waiting = new AbortController();
    const { signal } = this.#waiting;
    const anew = this.instruction.party !== undefined;
    void playSoundUrl(source, { call, needs, signal, repeat: true, anew });
  }

  begin(): void {
    this.#waiting?.abort();
    this.#waiting = undefined;
    this.#isWaiting = false;
    this.#endTimeout();
    this.seat.set({ held: this.#onHold });
  }

  /** Isolates the member on hold and plays hold music. Independent of waiting for the start. */
  hold(isOn: boolean, source: SoundSource | undefined): void {
    if (isOn === this.#onHold) return;
    this.#onHold = isOn;
    this.seat.set({ held: isOn || this.#isWaiting });
    this.#holdMusic?.abort();
    this.#holdMusic = undefined;
    if (!isOn || source === undefined) return;
    const { call, needs } = this.context;
    this.#holdMusic = new AbortController();
    void playSoundUrl(source, { call, needs, signal: this.#holdMusic.signal, repeat: true });
  }

  coach(isOn: boolean): void {
    this.#coaching = isOn;
    this.seat.set({ whispers: isOn });
  }

  /** Plays a sound to this member only, mixed over the conference. Stops a previous sound of the same kind. */
  hear(sound: MemberSound): void {
    this.silence(sound.kind);
    const stop = new AbortController();
    this.#sounds.set(sound.kind, stop);
    const { call, needs } = this.context;
    const options = { signal: stop.signal, mix: true };
    const received =
      sound.kind === 'play'
        ? playTo(call, needs, sound.url, options)
        : speakTo(call, needs, { ...sound, ssml: undefined }, options);
    received
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        call.log.add('warning', 'sound failed', { detail: String(error) });
      })
      .finally(() => {
        if (this.#sounds.get(sound.kind) === stop) this.#sounds.delete(sound.kind);
      });
  }

  silence(kind: MemberSound['kind']): void {
    this.#sounds.get(kind)?.abort(new Error('stopped'));
    this.#sounds.delete(kind);
  }

  /** Releases all resources. The room has removed the member beforehand. */
  out(reason: LeaveReason): void {
    this.#isOut = true;
    for (const undo of this.#undo) undo();
    this.#waiting?.abort();
    this.#holdMusic?.abort();
    this.#endTimeout();
    this.silence('play');
    this.silence('speak');
    this.recording.stop('HungUp');
    this.seat.leave();
    this.#resolveLeft(reason);
  }
}
