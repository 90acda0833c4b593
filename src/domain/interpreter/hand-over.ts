/**
 * Transfers of a caller from a bot to a colleague, requested over the stream. The stream's element carries them out: it
 * calls the colleague while the bot and the caller stay connected, and connects the two parties.
 */
import { unlessAborted } from '../../base/abort.ts';
import { noOperation } from '../../base/no-operation.ts';
import { dialledNumber } from '../../base/phone-number.ts';
import type { DialDestination, DialInstruction } from '../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../call/call.ts';
import type { StreamTransfer, TransferProgress } from '../call/needs.ts';
import type { HangupCauseKey } from '../call/types.ts';
import { openAudioStream } from './audio-stream.ts';
import { numberDestination, userDestination } from './dial/destination.ts';
import { keepLiveDial } from './dial/dial-of.ts';
import { type DialResult, endOf } from './dial/dial-result.ts';
import { dialEnded, turnToDial } from './dial/pace.ts';
import { DialSession } from './dial/session.ts';
import type { VerbContext } from './needs.ts';
import type { LiveAudioStream } from './stream.ts';

/** Maximum duration of the conversation, in ms: the default of `Dial`. */
const TIME_LIMIT_MS = 14_400_000;
/** Time for the colleague to accept, after the introduction, in ms. */
const ACCEPT_MS = 20_000;
const ACCEPT_KEY = '1';
const HOW_TO_ACCEPT = 'Press 1 to accept the call, or any other key to decline.';
/** Ends of the called leg by which the colleague declines. */
const DECLINING: readonly HangupCauseKey[] = ['confirmKeyFailed', 'declined', 'rejected'];
const DEFAULT_INTRODUCTION = 'A caller wants to speak to you.';

export class HandOver {
  readonly #stream: LiveAudioStream;
  readonly #context: VerbContext;
  #running: Promise<void> | undefined;

  constructor(stream: LiveAudioStream, context: VerbContext) {
    this.#stream = stream;
    this.#context = context;
  }

  /** Starts a transfer. Its progress is reported to the bot. Never throws. */
  begin(transfer: StreamTransfer): void {
    if (this.#running !== undefined) {
      this.#report('failed', 'another transfer is in progress');
      return;
    }
    const destination = destinationOf(transfer.to);
    if (destination === undefined) {
      this.#report('failed', 'the destination is not a number or SIP URI');
      return;
    }
    const running = this.#run(transfer, destination).finally(() => {
      this.#running = undefined;
    });
    this.#running = running;
    // The element that waits for `settled` handles a rejection.
    running.catch(noOperation);
  }

  /** Resolves when no transfer is in progress. Rejects if the call ended during it. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Resolves when the legs of an interrupted transfer have ended. */
  async over(): Promise<void> {
    await this.#running?.catch(noOperation);
  }

  async #run(transfer: StreamTransfer, destination: DialDestination): Promise<void> {
    const context = this.#context;
    if (transfer.mode === 'blind') await this.#lastWords();
    const isRepeated = await turnToDial(context);
    const session = new DialSession(instructionFor(transfer, destination), context, {
      isRepeated,
      holdMusic: transfer.mode !== 'blind' && transfer.music === undefined,
      introduction: introductionOf(transfer),
      connected: (colleague) => this.#connected(transfer, colleague),
    });
    const forget = keepLiveDial(context.call, session);
    this.#report('ringing', '');
    try {
      const result = await session.run();
      dialEnded(context.call, result.status === 'completed');
      this.#conclude(result);
    } catch (error) {
      await session.abandon();
      throw error;
    } finally {
      forget();
    }
  }

  /** The caller hears the queued audio of the bot before a blind transfer. */
  async #lastWords(): Promise<void> {
    this.#stream.stop('transferred', { drain: true });
    await unlessAborted(this.#context.signal, this.#stream.ended);
  }

  #connected({ stream }: StreamTransfer, colleague: Call): void {
    this.#report('answered', '');
    if (stream === 'colleague') {
      // The document of the caller carries out transfers, so that the colleague's stream cannot request one.
      const request = { ...this.#stream.request, transfers: false };
      openAudioStream(colleague, request, this.#context.needs);
    }
    if (stream !== 'caller') this.#stream.stop('transferred');
  }

  #conclude(result: DialResult): void {
    if (result.status === 'completed') {
      this.#report('completed', '');
      return;
    }
    const { cause } = endOf(result);
    if (DECLINING.includes(cause)) this.#report('declined', 'the colleague declined');
    else this.#report('failed', result.unplaced?.detail ?? result.status);
  }

  #report(status: TransferProgress['status'], detail: string): void {
    this.#stream.transferProgress({ status, detail });
  }
}

function introductionOf({ mode, introduction }: StreamTransfer): string | undefined {
  if (mode !== 'warm') return undefined;
  return `${introduction ?? DEFAULT_INTRODUCTION} ${HOW_TO_ACCEPT}`;
}

function destinationOf(to: string): DialDestination | undefined {
  if (/^sips?:[^\s@<>"]+@[^\s@<>"]+$/i.test(to)) return userDestination(to, 0);
  const number = dialledNumber(to);
  return number === undefined ? undefined : numberDestination(number, 0);
}

const instructionFor = (
  { mode, callerId, music, timeoutMs }: StreamTransfer,
  destination: DialDestination,
): DialInstruction => ({
  kind: 'dial',
  line: 0,
  warnings: [],
  action: undefined,
  method: 'POST',
  redirect: false,
  callbackUrl: undefined,
  callbackMethod: 'POST',
  callerId,
  callerName: undefined,
  timeoutMs,
  timeLimitMs: TIME_LIMIT_MS,
  hangupOnStar: false,
  dialMusic: music === undefined ? { kind: 'ringback' } : { kind: 'url', url: music },
  confirmSound: undefined,
  confirmKey: mode === 'warm' ? ACCEPT_KEY : undefined,
  confirmTimeoutMs: ACCEPT_MS,
  digitsMatch: [],
  digitsMatchBLeg: [],
  destinations: [destination],
});
