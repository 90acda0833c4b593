/** Rings all destinations of a `Dial` in parallel until one of them wins or all have failed. */
import { noOperation } from '../../../base/no-operation.ts';
import type { DialDestination, DialInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { HangupCauseKey, HangupSource } from '../../call/types.ts';
import type { VerbContext } from '../needs.ts';
import { RELAYED_DIGITS } from '../tones.ts';
import { confirmed } from './confirm.ts';
import type { DialEvents } from './dial-events.ts';
import type { DialledLeg, UnplacedAttempt } from './dialled-leg.ts';
import type { RingingSound } from './ringing-sound.ts';

/** Hangup cause for legs that lost or came too late. */
interface Verdict {
  readonly cause: HangupCauseKey;
  readonly source: HangupSource;
  readonly detail?: string | undefined;
}

const LOST: Verdict = { cause: 'lostRace', source: 'Platform' };
const RUNG_OUT: Verdict = { cause: 'ringTimeout', source: 'Platform' };

export class Race {
  readonly #instruction: DialInstruction;
  readonly #context: VerbContext;
  readonly #events: DialEvents;
  readonly #sound: RingingSound;
  readonly #isRepeated: boolean;
  readonly #introduction: string | undefined;
  readonly #legs: DialledLeg[] = [];
  readonly #unplaced: UnplacedAttempt[] = [];
  readonly #decided: Promise<DialledLeg | undefined>;
  #decide: (winner: DialledLeg | undefined) => void = noOperation;
  /**
   * Resolves when the winner's events have been sent, so that losers follow (dialect §2.1: DialAnswer, DialConnected,
   * DialHangup).
   */
  readonly #winnerReported: Promise<void>;
  #notifyLosers: () => void = noOperation;
  /** Set once the race is decided. */
  #verdict: Verdict | undefined;
  #rungOut = false;
  /** Number of destinations that have not yet become a leg or failed. */
  #pending: number;
  #cancelTimeout: () => void = noOperation;

  constructor(
    instruction: DialInstruction,
    context: VerbContext,
    around: {
      readonly events: DialEvents;
      readonly sound: RingingSound;
      readonly isRepeated: boolean;
      readonly introduction: string | undefined;
    },
  ) {
    this.#instruction = instruction;
    this.#context = context;
    this.#events = around.events;
    this.#sound = around.sound;
    this.#isRepeated = around.isRepeated;
    this.#introduction = around.introduction;
    this.#pending = instruction.destinations.length;
    this.#decided = new Promise((resolve) => {
      this.#decide = resolve;
    });
    this.#winnerReported = new Promise((resolve) => {
      this.#notifyLosers = resolve;
    });
  }

  /** All created legs, in order of creation. */
  get legs(): readonly DialledLeg[] {
    return this.#legs;
  }

  /** Attempts that never became a leg. */
  get unplaced(): readonly UnplacedAttempt[] {
    return this.#unplaced;
  }

  /** Runs the race. Returns the winner, or undefined if all destinations failed. Never rejects. */
  run(): Promise<DialledLeg | undefined> {
    const { clock } = this.#context.needs;
    const { timeoutMs, destinations } = this.#instruction;
    this.#cancelTimeout = clock.at(clock.monotonicMs() + timeoutMs, () => this.#ringTimeout());
    for (const [index, destination] of destinations.entries()) {
      void this.#ring(destination, index + 1);
    }
    return this.#decided;
  }

  /** Signals that all events of the winner have been sent. */
  winnerReported(): void {
    this.#notifyLosers();
  }

  /** Ends all legs except the winner. Legs created later end immediately. */
  stop(verdict: Verdict, winner?: DialledLeg): void {
    this.#verdict = verdict;
    this.#cancelTimeout();
    for (const leg of [...this.#legs]) {
      if (leg === winner) continue;
      // A leg that was answered can no longer be canceled: the caller left during its confirmation.
      const isAnswered = leg.call.answerUs !== undefined;
      const cause = verdict.cause === 'canceled' && isAnswered ? 'normal' : verdict.cause;
      leg.call.hangup(cause, verdict.source, verdict.detail);
    }
  }

  /** Lets an answered call replace a ringing leg. Returns false if that leg has ended or the race is decided. */
  takePlace(of: Call, newcomer: Call): boolean {
    const rung = this.#legs.find(({ call, end }) => call === of && end === undefined);
    if (rung === undefined || this.#verdict !== undefined || of.isEnded) return false;
    this.#adopt(newcomer, rung.destination, rung.position);
    return true;
  }

  async #ring(destination: DialDestination, position: number): Promise<void> {
    const { needs, call } = this.#context;
    const callerId = destination.callerId ?? this.#instruction.callerId;
    const adopt = (leg: Call): void => this.#adopt(leg, destination, position);
    try {
      const leg = await needs.dialer.dial({
        parent: call,
        destination,
        callerId,
        callerName: destination.callerName ?? this.#instruction.callerName,
        sipHeaders: destination.sipHeaders,
        isRepeated: this.#isRepeated,
        onLeg: adopt,
      });
      if (leg.ok) adopt(leg.value);
      else this.#neverPlaced({ ...leg.error, position });
    } catch (error) {
      needs.logger.error({ error, callUuid: call.uuid }, 'destination could not be dialled');
      call.log.add('warning', 'destination could not be dialled', { position });
      const to = destination.kind === 'user' ? destination.uri : destination.number;
      const from = callerId ?? call.facts.from;
      if (this.#legs.some((leg) => leg.position === position)) return;
      const detail = 'the destination could not be dialled';
      this.#neverPlaced({ cause: 'internalError', source: 'Error', detail, from, to, position });
    } finally {
      this.#pending -= 1;
      this.#settleIfOver();
    }
  }

  #neverPlaced(attempt: UnplacedAttempt): void {
    this.#unplaced.push(attempt);
    this.#events.neverPlaced(attempt);
  }

  #adopt(call: Call, destination: DialDestination, position: number): void {
    if (this.#legs.some((known) => known.call === call)) return;
    const leg: DialledLeg = {
      call,
      destination,
      position,
      end: undefined,
      settled: call.ended.then(async (end) => {
        leg.end = end;
        this.#sound.gone(call);
        this.#settleIfOver();
        if (end.cause === LOST.cause) await this.#winnerReported;
        this.#events.hungUp(leg, end);
      }),
    };
    this.#legs.push(leg);
    const tooLate = this.#verdict ?? (this.#rungOut ? RUNG_OUT : undefined);
    if (tooLate !== undefined) call.hangup(tooLate.cause, tooLate.source);
    else if (!call.isEnded) this.#follow(leg);
  }

  #follow(leg: DialledLeg): void {
    const { call, destination } = leg;
    let digitsAreDue = destination.sendDigits !== undefined;
    const sendDigits = (): void => {
      if (!digitsAreDue || destination.sendDigits === undefined) return;
      digitsAreDue = false;
      const inband = destination.sendDigitsMode === 'inband';
      void call.media.sendDigits(destination.sendDigits, { ...RELAYED_DIGITS, inband });
    };
    const ringing = (): void => this.#sound.ringing();
    const earlyMedia = (): void => {
      this.#sound.ringing();
      this.#sound.early(call);
      if (destination.sendOnPreanswer) sendDigits();
    };
    const answered = (): void => {
      stopWatching();
      this.#answered(leg);
      if (!call.isEnded) sendDigits();
    };
    const stopWatching = call.observe({ ringing, earlyMedia, answered });
    // Handle events that occurred before `observe`.
    if (call.isAnswered) answered();
    else if (call.status === 'early') earlyMedia();
    else if (call.status === 'ringing') ringing();
  }

  #answered(leg: DialledLeg): void {
    if (this.#verdict !== undefined) {
      leg.call.hangup(this.#verdict.cause, this.#verdict.source);
      return;
    }
    this.#events.answered(leg);
    const { confirmSound, confirmKey } = this.#instruction;
    if (confirmSound === undefined && confirmKey === undefined) this.#win(leg);
    else void this.#confirm(leg);
  }

  /** Asks this leg for confirmation while the others keep ringing: an answering machine must not block a person. */
  async #confirm(leg: DialledLeg): Promise<void> {
    // Its early media may be connected to the caller. Before confirmation, the two must not hear each other.
    this.#sound.gone(leg.call);
    const agreed = await confirmed(leg.call, this.#instruction, this.#context, this.#introduction);
    // If the call has ended or its document was replaced, `stop` ends the leg with that reason.
    const isOver = this.#verdict !== undefined || this.#context.signal.aborted;
    if (leg.call.isEnded || isOver) return;
    if (agreed) this.#win(leg);
    else leg.call.hangup('confirmKeyFailed', 'Platform');
  }

  #win(leg: DialledLeg): void {
    this.stop(LOST, leg);
    this.#decide(leg);
  }

  /** Ends ringing legs. A leg in confirmation has a separate time limit. */
  #ringTimeout(): void {
    this.#rungOut = true;
    for (const { call } of [...this.#legs]) {
      if (call.answerUs === undefined) call.hangup(RUNG_OUT.cause, RUNG_OUT.source);
    }
    this.#settleIfOver();
  }

  #settleIfOver(): void {
    if (this.#pending > 0 && !this.#rungOut) return;
    if (this.#legs.some(({ end }) => end === undefined)) return;
    this.#cancelTimeout();
    this.#verdict ??= RUNG_OUT;
    this.#decide(undefined);
  }
}
