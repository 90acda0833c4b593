/** One scripted call: the stream to the bot, the steps of the caller, and the observations. */
import type { Clock } from '../base/clock.ts';
import type { EgressGuard } from '../base/egress.ts';
import { asAccountId, type CallUuid, newCallUuid, newStreamId, type Random } from '../base/ids.ts';
import { silentLogger } from '../base/logger.ts';
import type {
  MediaLeg,
  StreamSocket,
  StreamSocketEvents,
  StreamTransfer,
} from '../domain/call/needs.ts';
import { type AudioStreamsEdge, createAudioStreams } from '../edge/stream/client.ts';
import type { StreamInstruction } from '../protocol/answer-xml/answer-xml.ts';
import { CallerLine } from './caller-line.ts';
import { runDocuments } from './documents.ts';
import { Network } from './network.ts';
import { Observed } from './observed.ts';
import type { Rehearsal, Step } from './rehearsal-file.ts';
import { keyOf, type Voices } from './voices.ts';

export interface CallNeeds {
  readonly clock: Clock;
  readonly random: Random;
  readonly streams: AudioStreamsEdge;
  /** Prepared audio for a rate in Hz. */
  voices(rate: number): Voices;
}

const ACCOUNT = asAccountId('MA_00000000000000000');
const SPEECH = { sensitivity: 50, minimumMs: 40, endMs: 500 };
const KEY_INTERVAL_MS = 250;
const SECOND_MS = 1000;

export function rehearsalStreams(clock: Clock, egress: EgressGuard): AudioStreamsEdge {
  return createAudioStreams({
    egress,
    signUpgrade: () => Promise.resolve({}),
    userAgent: 'Carillon rehearsal',
    caFile: '',
    clock,
    logger: silentLogger,
  });
}

/** Runs one call to its end. `index` numbers the parallel callers from 0. Never rejects. */
export async function runCall(
  rehearsal: Rehearsal,
  index: number,
  needs: CallNeeds,
): Promise<Observed> {
  const call = new ScriptedCall(rehearsal, index, needs);
  await call.run();
  return call.observed;
}

type StreamTarget = Pick<
  StreamInstruction,
  'url' | 'encoding' | 'rate' | 'extraHeaders' | 'speech' | 'playPositions' | 'notes' | 'transfers'
>;

class ScriptedCall {
  readonly observed: Observed;
  readonly #rehearsal: Rehearsal;
  readonly #needs: CallNeeds;
  readonly #network: Network;
  readonly #callUuid: CallUuid;
  readonly #startMs: number;
  #line: CallerLine | undefined;
  #socket: StreamSocket | undefined;
  #scripted: Promise<void> | undefined;

  constructor(rehearsal: Rehearsal, index: number, needs: CallNeeds) {
    const { network, noise } = rehearsal;
    this.#rehearsal = rehearsal;
    this.#needs = needs;
    this.observed = new Observed(needs.clock, rehearsal.callers);
    this.#network = new Network({
      ...network,
      seed: network.seed + index,
      noiseLevel: noise.level,
    });
    this.#startMs = Math.floor(needs.clock.wallMs());
    this.#callUuid = newCallUuid(needs.random, this.#startMs);
  }

  async run(): Promise<void> {
    const { bot, from, to } = this.#rehearsal;
    const { observed } = this;
    if (bot.stream !== undefined) {
      const [encoding = '', rate = ''] = bot.format.split(';rate=');
      await this.#stream({
        url: bot.stream,
        encoding: encoding as StreamInstruction['encoding'],
        rate: Number(rate) as StreamInstruction['rate'],
        extraHeaders: [],
        // A bot without a document may use all extensions.
        speech: { events: true, bargeIn: 'none', ...SPEECH },
        playPositions: true,
        notes: true,
        transfers: true,
      });
    } else {
      await runDocuments(bot.answerUrl ?? '', {
        observed,
        parameters: {
          CallUUID: this.#callUuid,
          From: from,
          To: to,
          Direction: 'inbound',
          CallStatus: 'in-progress',
          Event: 'StartApp',
        },
        stream: (instruction) => this.#stream(instruction),
        isOver: () => observed.endedBy === 'caller',
      });
    }
    if (this.#scripted === undefined && bot.stream === undefined)
      observed.faults.push('the documents opened no stream');
    observed.ended('bot');
    await this.#scripted;
  }

  async #stream(target: StreamTarget): Promise<void> {
    const { clock, random, streams, voices } = this.#needs;
    const { from, to } = this.#rehearsal;
    const { url, encoding, rate, extraHeaders, notes, transfers } = target;
    const ended = Promise.withResolvers<void>();
    const leg: Pick<MediaLeg, 'openStream'> = {
      openStream: (options, events) => {
        const needs = { clock, network: this.#network, observed: this.observed };
        this.#line = new CallerLine(options, events, needs);
        return this.#line;
      },
    };
    const socket = streams.open(
      {
        url,
        encoding,
        rate,
        extraHeaders,
        notes,
        transfers,
        positions: target.playPositions,
        ...(target.speech && { speech: target.speech }),
        callStartMs: this.#startMs,
        streamId: newStreamId(random),
        callUuid: this.#callUuid,
        accountId: ACCOUNT,
        ownerId: ACCOUNT,
        tracks: 'inbound',
        bidirectional: true,
        from,
        to,
        direction: 'inbound',
      },
      leg as MediaLeg,
      this.#events(() => {
        this.#scripted ??= this.#follow(voices(rate));
      }, ended.resolve),
    );
    this.#socket = socket;
    await ended.promise;
  }

  #events(started: () => void, over: () => void): StreamSocketEvents {
    const { observed } = this;
    return {
      started: () => {
        observed.note('stream connected');
        started();
      },
      played: () => undefined,
      cleared: () => undefined,
      degraded: (percent) => observed.degraded(percent),
      sendDigits: (digits) => {
        observed.digits += digits;
        observed.note('bot sends keys', digits);
      },
      note: ({ kind, speaker, text }) => observed.note(`${kind} ${speaker ?? ''}`.trim(), text),
      transfer: (transfer) => {
        observed.transfers.push(transfer.to);
        observed.note(`${transfer.mode} transfer (not dialed)`, transfer.to);
        this.#transferred(transfer);
      },
      fault: (code, detail) => observed.faults.push(`${code}: ${detail}`),
      ended: (end) => {
        if (end.kind === 'connectFailed' || end.kind === 'dropped')
          observed.faults.push(`${end.kind}: ${end.detail}`);
        over();
      },
    };
  }

  /** Plays the colleague's part, as the file says. */
  #transferred({ mode, stream }: StreamTransfer): void {
    const socket = this.#socket;
    const accepts = this.#rehearsal.colleague === 'accepts';
    if (mode === 'blind') socket?.close('transfer', { drain: true });
    else if (accepts) {
      for (const status of ['ringing', 'answered'] as const)
        socket?.transferProgress?.({ status, detail: '' });
      if (stream !== 'caller') socket?.close('transfer');
    } else socket?.transferProgress?.({ status: 'declined', detail: 'the colleague declined' });
  }

  /** Carries out the steps, then hangs up. */
  async #follow(voices: Voices): Promise<void> {
    const { observed } = this;
    const { timeoutSeconds } = this.#rehearsal;
    const { clock } = this.#needs;
    const cancel = clock.at(clock.monotonicMs() + timeoutSeconds * SECOND_MS, () => {
      if (!observed.isOver) observed.faults.push(`the call took longer than ${timeoutSeconds} s`);
      this.#end();
    });
    for (const step of this.#rehearsal.steps) {
      if (observed.isOver || step.hangup) break;
      await this.#step(step, voices);
    }
    cancel();
    this.#end();
  }

  #end(): void {
    if (!this.observed.isOver) this.observed.ended('caller');
    this.#socket?.close('call_hangup');
  }

  async #step(step: Step, voices: Voices): Promise<void> {
    const { observed } = this;
    if (step.say !== undefined || step.play !== undefined) await this.#say(step, voices, false);
    else if (step.press !== undefined) await this.#press(step.press);
    else if (step.pause !== undefined) await observed.until(() => false, step.pause * SECOND_MS);
    else if (step.silence !== undefined) {
      observed.note('caller is silent');
      await observed.until(() => false, step.silence * SECOND_MS);
    } else if (step.listen !== undefined) await this.#listen(step.listen);
    else if (step.interrupt !== undefined) await this.#interrupt(step.interrupt, voices);
  }

  /** Waits until the bot has spoken since now, and is silent. */
  async #listen(limitS: number): Promise<void> {
    const { observed } = this;
    const { endOfBotSpeechMs } = this.#rehearsal;
    const fromMs = observed.nowMs();
    await observed.until(() => {
      const silentMs = observed.botSilentMs;
      if (silentMs === undefined || silentMs < endOfBotSpeechMs) return false;
      return observed.nowMs() - silentMs >= fromMs;
    }, limitS * SECOND_MS);
  }

  async #interrupt(interrupt: NonNullable<Step['interrupt']>, voices: Voices): Promise<void> {
    const { observed } = this;
    const { after, wait } = interrupt;
    await observed.until(() => {
      const began = observed.botBeganMs;
      return began !== undefined && observed.nowMs() - began >= after * SECOND_MS;
    }, wait * SECOND_MS);
    if (observed.botBeganMs === undefined)
      observed.faults.push('the bot did not speak: no interruption');
    await this.#say(interrupt, voices, observed.botBeganMs !== undefined);
  }

  async #say(
    spoken: Pick<Step, 'say' | 'play'>,
    voices: Voices,
    isInterruption: boolean,
  ): Promise<void> {
    const { observed } = this;
    const samples = voices.get(keyOf(spoken));
    if (samples === undefined) return;
    observed.callerBegins(spoken.say ?? spoken.play ?? '', isInterruption);
    await this.#line?.say(samples);
    observed.callerEnds();
  }

  async #press(digits: string): Promise<void> {
    for (const digit of digits) {
      if (this.observed.isOver) return;
      this.observed.note('caller presses', digit);
      this.#line?.press(digit);
      await this.observed.until(() => false, KEY_INTERVAL_MS);
    }
  }
}
