/** One call of the bundled phone from INVITE to BYE. Sends speech, records the received audio and measures quality. */
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/ids.ts';
import {
  type AudioSession,
  buildAnswer,
  buildOffer,
  chooseAudio,
  type LocalEndpoint,
  readAnswer,
  readOffer,
  staticCodec,
} from '../protocol/sdp/sdp.ts';
import type { LegEndFacts } from '../protocol/sip/sip.ts';
import { type Echo, findEcho } from './audio/echo-delay.ts';
import { PCMA, PCMU } from './audio/g711.ts';
import type { ReceptionReport } from './rtp/reception.ts';
import type { Peer, VoiceChannel } from './rtp/voice-channel.ts';
import type { SipLine } from './sip-line.ts';

export interface CallPlan {
  readonly to: string;
  readonly codec: 'PCMU' | 'PCMA';
  /** Samples to send, 8 kHz. */
  readonly voice: Int16Array;
  /** Time from the answer to BYE, in ms. */
  readonly durationMs: number;
  readonly digits: string;
  /** Signal that ends the call early. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  /** Prints a line of progress. With `again`, the line may replace the previous one. */
  progress(line: string, again: boolean): void;
}

export interface CallReport {
  readonly sipCallId: string;
  /** Time from INVITE to 200 in ms; undefined if unanswered. */
  readonly setupMs: number | undefined;
  readonly talkedMs: number;
  readonly end: LegEndFacts;
  readonly packetsSent: number;
  readonly reception: ReceptionReport;
  readonly received: Int16Array;
  /** Undefined if no speech was sent or no audio was received. */
  readonly echo: Echo | undefined;
}

const EVENT_PAYLOAD_TYPE = 101;
const PTIME_MS = 20;
const MAX_ECHO_DELAY_MS = 2000;
const TICK_MS = 1000;
const FIRST_KEY_MS = 1000;
/** Maximum wait for the end of the call after BYE, in ms, in case the server is unreachable. */
const END_TIMEOUT_MS = 5000;

export async function placeCall(
  line: SipLine,
  channel: VoiceChannel,
  plan: CallPlan,
): Promise<CallReport> {
  const { clock } = plan;
  const dialled = new DialledCall(line, channel, plan);
  const abort = (): void => dialled.hangUp();
  plan.signal.addEventListener('abort', abort, { once: true });
  const { end, sipCallId } = await dialled.ended;
  plan.signal.removeEventListener('abort', abort);
  dialled.stopTimers();
  const { requestedMs, answeredMs } = dialled;
  const received = channel.received();
  return {
    sipCallId,
    setupMs: answeredMs === undefined ? undefined : answeredMs - requestedMs,
    talkedMs: answeredMs === undefined ? 0 : clock.monotonicMs() - answeredMs,
    end,
    packetsSent: channel.packetsSent,
    reception: channel.reception,
    received,
    echo: findEcho(plan.voice, received, MAX_ECHO_DELAY_MS),
  };
}

const UNANSWERED_BYE: LegEndFacts = {
  by: 'local',
  how: 'timeout',
  status: undefined,
  reason: undefined,
};

/** A call from its INVITE to its end, with the timers that act during it. */
class DialledCall {
  readonly #channel: VoiceChannel;
  readonly #plan: CallPlan;
  readonly #timers: Array<() => void> = [];
  readonly #call: ReturnType<SipLine['call']>;
  readonly #ended = Promise.withResolvers<{
    readonly end: LegEndFacts;
    readonly sipCallId: string;
  }>();
  readonly requestedMs: number;
  answeredMs: number | undefined;
  /** Peer of an offer before the answer, which replaces that of the answer. */
  #peer: Peer | undefined;

  constructor(line: SipLine, channel: VoiceChannel, plan: CallPlan) {
    this.#channel = channel;
    this.#plan = plan;
    const local = localEndpoint(line, channel, plan.random);
    const offer = ourOffer(local, plan.codec);
    this.requestedMs = plan.clock.monotonicMs();
    this.#call = line.call(plan.to, offer, {
      ringing: (status) =>
        plan.progress(`${status} ${status === 180 ? 'ringing' : 'progress'}`, false),
      connected: (sdp) => this.#connected(offer, sdp),
      offered: (sdp) => {
        const answered = answerAgain(sdp, { ...local, version: local.version + 1 }, channel);
        this.#peer = answered?.peer ?? this.#peer;
        return answered?.sdp;
      },
      ended: (end) => this.#end(end),
    });
  }

  get ended(): Promise<{ readonly end: LegEndFacts; readonly sipCallId: string }> {
    return this.#ended.promise;
  }

  readonly hangUp = (): void => {
    this.#call.hangup();
    this.#after(END_TIMEOUT_MS, () => this.#end(UNANSWERED_BYE));
  };

  stopTimers(): void {
    for (const cancel of this.#timers) cancel();
  }

  #connected(offer: string, sdp: string | undefined): void {
    const { clock, progress, voice, durationMs, digits } = this.#plan;
    this.answeredMs = clock.monotonicMs();
    const session = sdp === undefined ? undefined : readAnswer(offer, sdp);
    const peer = session?.ok === true ? peerOf(session.value) : this.#peer;
    if (peer === undefined || session?.ok === false) {
      const why = session?.ok === false ? session.error.detail : 'no SDP';
      progress(`the answer has no usable audio: ${why}`, false);
      this.hangUp();
      return;
    }
    progress(`answered after ${Math.round(this.answeredMs - this.requestedMs)} ms`, false);
    this.#channel.talk(peer, voice);
    this.#after(durationMs, this.hangUp);
    pressKeys(digits, this.#channel, this.#after);
    showProgress(this.#channel, progress, this.#after, 1);
  }

  #end(end: LegEndFacts): void {
    this.#ended.resolve({ end, sipCallId: this.#call.sipCallId });
  }

  readonly #after = (ms: number, run: () => void): void => {
    const { clock } = this.#plan;
    this.#timers.push(clock.at(clock.monotonicMs() + ms, run));
  };
}

const localEndpoint = (line: SipLine, channel: VoiceChannel, random: Random): LocalEndpoint => ({
  address: line.localAddress,
  port: channel.port,
  sessionId: random.integer(2 ** 31),
  version: 1,
  ptimeMs: PTIME_MS,
});

function ourOffer(local: LocalEndpoint, first: 'PCMU' | 'PCMA'): string {
  const names = first === 'PCMU' ? ['PCMU', 'PCMA'] : ['PCMA', 'PCMU'];
  return buildOffer({
    ...local,
    codecs: names.map(staticCodec).filter((codec) => codec !== undefined),
    telephoneEventPayloadType: EVENT_PAYLOAD_TYPE,
    direction: 'sendrecv',
  });
}

const peerOf = (session: AudioSession): Peer => ({
  address: session.address,
  port: session.port,
  codec: session.codec.name === 'PCMA' ? PCMA : PCMU,
  telephoneEvent: session.telephoneEvent,
});

function answerAgain(
  sdp: string,
  local: LocalEndpoint,
  channel: VoiceChannel,
): { readonly sdp: string; readonly peer: Peer } | undefined {
  const offer = readOffer(sdp);
  if (!offer.ok) return undefined;
  const session = chooseAudio(offer.value, { codecs: ['PCMU', 'PCMA'], srtp: 'off' });
  if (!session.ok) return undefined;
  const peer = peerOf(session.value);
  channel.talk(peer, new Int16Array(0));
  return { sdp: buildAnswer(offer.value, session.value, local), peer };
}

function pressKeys(
  digits: string,
  channel: VoiceChannel,
  after: (ms: number, run: () => void) => void,
): void {
  [...digits].forEach((digit, i) => {
    after(FIRST_KEY_MS * (i + 1), () => channel.press(digit));
  });
}

function showProgress(
  channel: VoiceChannel,
  progress: CallPlan['progress'],
  after: (ms: number, run: () => void) => void,
  second: number,
): void {
  after(TICK_MS, () => {
    const { received, lost, jitterMs } = channel.reception;
    progress(
      `${String(second).padStart(4)} s   sent ${channel.packetsSent}   received ${received}   lost ${lost}   jitter ${jitterMs.toFixed(1)} ms`,
      true,
    );
    showProgress(channel, progress, after, second + 1);
  });
}
