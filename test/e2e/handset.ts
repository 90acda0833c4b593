/**
 * A test phone: registers, places and receives calls, plays tones, sends DTMF in all three ways, and keeps the received
 * audio.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { PCMU } from '../../src/phone/audio/g711.ts';
import { type Peer, VoiceChannel } from '../../src/phone/rtp/voice-channel.ts';
import { type CallEvents, type PhoneCall, SipLine } from '../../src/phone/sip-line.ts';
import {
  type AudioSession,
  buildAnswer,
  buildOffer,
  chooseAudio,
  readAnswer,
  readOffer,
  staticCodec,
} from '../../src/protocol/sdp/sdp.ts';
import type { LegEndFacts } from '../../src/protocol/sip/sip.ts';
import type { SipUser } from './phone.ts';
import type { Service } from './service.ts';

const EVENT_PAYLOAD_TYPE = 101;

export interface HandsetOptions {
  /** Audio to send from the answer on, 8 kHz. */
  readonly voice?: Int16Array;
  /** Whether to offer RFC 4733 events. Default true. */
  readonly keyEvents?: boolean;
  /** Address of the service; its family is that of the phone. Default 127.0.0.1. */
  readonly host?: string;
}

export class Handset {
  readonly #line: SipLine;
  readonly #channel: VoiceChannel;
  readonly #options: HandsetOptions;
  readonly #answered = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<LegEndFacts>();
  readonly #early = Promise.withResolvers<void>();
  #call: PhoneCall | undefined;
  #mediaAddress: string | undefined;

  private constructor(line: SipLine, channel: VoiceChannel, options: HandsetOptions) {
    this.#line = line;
    this.#channel = channel;
    this.#options = options;
    this.#answered.promise.catch(() => undefined);
    this.#early.promise.catch(() => undefined);
  }

  static async open(
    service: Service,
    user: SipUser,
    options: HandsetOptions = {},
  ): Promise<Handset> {
    const line = await SipLine.open({
      ...user,
      host: options.host ?? '127.0.0.1',
      port: service.sipPort,
      transport: 'udp',
      clock,
      random,
    });
    return new Handset(line, await VoiceChannel.open(line.localAddress, clock, random), options);
  }

  /** Calls the user's own application, or the given address. */
  static async call(
    service: Service,
    user: SipUser,
    options: HandsetOptions = {},
    to = '1000',
  ): Promise<Handset> {
    const handset = await Handset.open(service, user, options);
    const offer = buildOffer({ ...handset.#local(), codecs: PCMU_ONLY, direction: 'sendrecv' });
    handset.#call = handset.#line.call(to, offer, handset.#events(offer));
    return handset;
  }

  /** Registers and answers the first incoming call. */
  static async waiting(
    service: Service,
    user: SipUser,
    options: HandsetOptions = {},
  ): Promise<Handset> {
    const handset = await Handset.waitingUnregistered(service, user, options);
    await handset.#line.register();
    return handset;
  }

  /** Answers the first call to its SIP port, for example of a carrier. */
  static async waitingUnregistered(
    service: Service,
    user: SipUser,
    options: HandsetOptions = {},
  ): Promise<Handset> {
    const handset = await Handset.open(service, user, options);
    handset.#line.onCall((sdp, call) => {
      const offer = readOffer(sdp);
      const session = offer.ok ? chooseAudio(offer.value, { codecs: ['PCMU'] }) : undefined;
      if (!offer.ok || session?.ok !== true) return undefined;
      handset.#call = call;
      handset.#talk(session.value);
      handset.#answered.resolve();
      return {
        sdp: buildAnswer(offer.value, session.value, handset.#local()),
        events: handset.#events(''),
      };
    });
    return handset;
  }

  /** Resolves when the call is answered by either side's 200. */
  get answered(): Promise<void> {
    return this.#answered.promise;
  }

  /** Resolves at a 183 with SDP. */
  get early(): Promise<void> {
    return this.#early.promise;
  }

  /** Resolves after the call has ended and all packets were sent and received. */
  get ended(): Promise<LegEndFacts> {
    return this.#ended.promise;
  }

  /** Audio received since the answer or early media, 8 kHz. */
  get received(): Int16Array {
    return this.#channel.received();
  }

  /** Address to which this phone sends RTP, as the service's SDP says; undefined before the answer. */
  get mediaAddress(): string | undefined {
    return this.#mediaAddress;
  }

  /** Port at which this phone receives SIP requests. */
  get sipPort(): number {
    return this.#line.localPort;
  }

  get receivedKeys(): string {
    return this.#channel.receivedKeys;
  }

  /** Replaces the audio to send, from now on. */
  say(voice: Int16Array): void {
    this.#channel.say(voice);
  }

  press(digits: string): void {
    for (const digit of digits) this.#channel.press(digit);
  }

  pressByInfo(digit: string): void {
    this.#call?.sendDigit(digit, 120);
  }

  async hangUp(): Promise<void> {
    this.#call?.hangup();
    await this.ended;
    await this.close();
  }

  async close(): Promise<void> {
    this.#channel.close();
    await this.#line.close();
  }

  #local() {
    return {
      address: this.#line.localAddress,
      port: this.#channel.port,
      sessionId: random.integer(2 ** 31),
      version: 1,
      ptimeMs: 20,
      telephoneEventPayloadType: this.#options.keyEvents === false ? undefined : EVENT_PAYLOAD_TYPE,
    };
  }

  #events(offer: string): CallEvents {
    return {
      ringing: (_status, sdp) => {
        if (sdp !== undefined && this.#talkBy(offer, sdp)) this.#early.resolve();
      },
      connected: (sdp) => {
        if (sdp !== undefined) this.#talkBy(offer, sdp);
        this.#answered.resolve();
      },
      offered: () => undefined,
      ended: (end) => {
        this.#answered.reject(new Error(`not answered: ${end.how} ${end.status ?? ''}`));
        this.#early.reject(new Error(`no early media: ${end.how} ${end.status ?? ''}`));
        void this.#lastWord().then(() => this.#ended.resolve(end));
      },
    };
  }

  /**
   * At the end of the call the BYE is still to be sent, and the socket may hold audio. Waits until an event-loop turn
   * reads no packet.
   */
  async #lastWord(): Promise<void> {
    let before = -1;
    while (before !== this.#channel.reception.received) {
      before = this.#channel.reception.received;
      await turn();
      await turn();
    }
  }

  #talkBy(offer: string, answer: string): boolean {
    const session = readAnswer(offer, answer);
    if (session.ok) this.#talk(session.value);
    return session.ok;
  }

  #talk(session: AudioSession): void {
    const { address, port, telephoneEvent } = session;
    const peer: Peer = { address, port, codec: PCMU, telephoneEvent };
    this.#mediaAddress = address;
    this.#channel.talk(peer, this.#options.voice ?? new Int16Array(0));
  }
}

const PCMU_ONLY = [staticCodec('PCMU')].filter((codec) => codec !== undefined);
