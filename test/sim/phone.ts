/** A telephone: sends a tone, detects received tones, sends digits, and writes its own SDP. */
import alawmulaw from 'alawmulaw';
import { FRAME, parseRtp, purity, rms, rtp, sine } from '../edge/media/peer.ts';
import type { Place, SimNetwork } from './network.ts';

const { alaw, mulaw } = alawmulaw;

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

export interface PhoneOptions {
  readonly name: string;
  readonly place: Place;
  /** Private address behind NAT, written into its SDP. */
  readonly inside?: string;
  readonly codec?: 'PCMU' | 'PCMA';
  /** True if RFC 4733 is offered and supported; otherwise digits are in-band tones. */
  readonly keypadEvents?: boolean;
}

const PAYLOAD_TYPE = { PCMU: 0, PCMA: 8 } as const;
const LAW = { PCMU: mulaw, PCMA: alaw } as const;
const KEYPAD_EVENTS = 101;
const KEYS = '0123456789*#ABCD';
/** Row and column frequencies of the keypad (ITU-T Q.23). */
const ROWS = [697, 770, 852, 941];
const COLUMNS = [1209, 1336, 1477, 1633];
const PAD = ['123A', '456B', '789C', '*0#D'];
const FRAME_MS = 20;
const KEY_FRAMES = 6;
const GAP_FRAMES = 5;
/** Number of samples analysed together: 240 ms. */
const LISTENED = 12 * FRAME;
const AUDIBLE = 200;
/** Minimum share of the energy for a tone to count as heard. Two simultaneous tones have half each. */
const RECEIVED = 0.2;

export class SimPhone {
  readonly name: string;
  place: Place;
  /** Frequency of the tone that it sends, in Hz; undefined sends silence. */
  says: number | undefined;
  /** False if it vanished without a message. */
  present = true;
  direction: Direction = 'sendrecv';
  readonly receivedKeys: string[] = [];
  packetsHeard = 0;
  readonly #codec: 'PCMU' | 'PCMA';
  readonly #inside: string | undefined;
  readonly keypadEvents: boolean;
  readonly #network: SimNetwork;
  readonly #toPress: (string | undefined)[] = [];
  #peerPort: number | undefined;
  #peerHasEvents = false;
  #received: Int16Array = new Int16Array(0);
  #lastKeyStamp: number | undefined;
  #sequence = 1;
  #stamp = 8000;
  #frame = 0;
  #keyStart = 0;
  #version = 0;
  #nextMs = 0;

  constructor(options: PhoneOptions, network: SimNetwork) {
    this.name = options.name;
    this.place = options.place;
    this.#inside = options.inside;
    this.#codec = options.codec ?? 'PCMU';
    this.keypadEvents = options.keypadEvents ?? true;
    this.#network = network;
    this.#listen();
  }

  /** Offer or answer with the current capabilities and direction. */
  sdp(direction: Direction = this.direction): string {
    this.direction = direction;
    const { port } = this.place;
    const address = this.#inside ?? this.place.address;
    const payload = PAYLOAD_TYPE[this.#codec];
    const events = this.keypadEvents
      ? [`a=rtpmap:${KEYPAD_EVENTS} telephone-event/8000`, `a=fmtp:${KEYPAD_EVENTS} 0-15`]
      : [];
    this.#version += 1;
    return [
      'v=0',
      `o=- 7 ${this.#version} IN IP4 ${address}`,
      's=-',
      `c=IN IP4 ${address}`,
      't=0 0',
      `m=audio ${port} RTP/AVP ${payload}${this.keypadEvents ? ` ${KEYPAD_EVENTS}` : ''}`,
      `a=rtpmap:${payload} ${this.#codec}/8000`,
      ...events,
      `a=${direction}`,
      '',
    ].join('\r\n');
  }

  /** Applies the service's SDP: sends to its address from now on. */
  connect(sdp: string): void {
    const port = /^m=audio (\d+)/m.exec(sdp)?.[1];
    if (port === undefined) throw new Error(`${this.name} was given no audio:\n${sdp}`);
    this.#peerPort = Number(port);
    this.#peerHasEvents = /telephone-event/.test(sdp);
  }

  hungUp(): void {
    this.#peerPort = undefined;
    this.#toPress.length = 0;
  }

  /** Moves to another address within the call, as a laptop does when it changes networks. */
  moveTo(place: Place): void {
    this.#network.listen(this.place, undefined);
    this.place = place;
    this.#listen();
  }

  press(keys: string): void {
    for (const key of keys) {
      for (let i = 0; i < KEY_FRAMES; i += 1) this.#toPress.push(key);
      for (let i = 0; i < GAP_FRAMES; i += 1) this.#toPress.push(undefined);
    }
  }

  get pressing(): boolean {
    return this.#toPress.length > 0;
  }

  /** Returns whether the latest received audio contains the tone. */
  hears(hz: number): boolean {
    return this.loudness() > AUDIBLE && purity(this.#received, hz) > RECEIVED;
  }

  hearsNothing(): boolean {
    return this.loudness() <= AUDIBLE;
  }

  loudness(): number {
    return rms(this.#received);
  }

  /** Discards the audio received so far. */
  forget(): void {
    this.#received = new Int16Array(0);
  }

  /** Sends the packets that are due. */
  step(nowMs: number): void {
    for (; this.#nextMs <= nowMs; this.#nextMs += FRAME_MS) this.#sendFrame();
  }

  #listen(): void {
    this.#network.listen(this.place, (bytes) => this.#receive(bytes));
  }

  #sendFrame(): void {
    this.#frame += 1;
    const key = this.#toPress.shift();
    const speaks = this.direction === 'sendrecv' || this.direction === 'sendonly';
    if (this.#peerPort === undefined || !this.present || !speaks) return;
    if (key !== undefined && this.keypadEvents && this.#peerHasEvents) this.#sendKey(key);
    else this.#sendAudio(key);
    this.#stamp += FRAME;
  }

  #sendAudio(key: string | undefined): void {
    this.#keyStart = 0;
    const payload = LAW[this.#codec].encode(this.#samples(key));
    this.#send(PAYLOAD_TYPE[this.#codec], payload, this.#stamp);
  }

  #samples(key: string | undefined): Int16Array {
    const from = this.#frame * FRAME;
    if (key !== undefined) return mix(tonesOf(key).map((hz) => sine(hz, FRAME, { from })));
    return this.says === undefined ? new Int16Array(FRAME) : sine(this.says, FRAME, { from });
  }

  /** Sends a digit (RFC 4733 §2.5): one timestamp, growing durations, the last packet with the end bit three times. */
  #sendKey(key: string): void {
    if (this.#keyStart === 0) this.#keyStart = this.#stamp;
    const lasted = this.#stamp - this.#keyStart + FRAME;
    const isLast = this.#toPress[0] === undefined;
    const payload = Buffer.from([KEYS.indexOf(key), (isLast ? 0x80 : 0) | 10, 0, 0]);
    payload.writeUInt16BE(lasted, 2);
    for (let i = 0; i < (isLast ? 3 : 1); i += 1) {
      this.#send(KEYPAD_EVENTS, payload, this.#keyStart);
    }
    if (isLast) this.#keyStart = 0;
  }

  #send(payloadType: number, payload: Uint8Array, timestamp: number): void {
    if (this.#peerPort === undefined) return;
    const packet = rtp({ payloadType, payload, timestamp, sequence: this.#sequence, ssrc: 77 });
    this.#sequence += 1;
    this.#network.send(this.place, this.#peerPort, packet);
  }

  #receive(bytes: Uint8Array): void {
    const packet = parseRtp(bytes);
    if (!this.present) return;
    if (packet.payloadType === KEYPAD_EVENTS) {
      if (packet.timestamp === this.#lastKeyStamp) return;
      this.#lastKeyStamp = packet.timestamp;
      this.receivedKeys.push(KEYS.charAt(packet.payload[0] ?? 0));
      return;
    }
    if (packet.payloadType !== PAYLOAD_TYPE[this.#codec]) return;
    this.packetsHeard += 1;
    const samples = LAW[this.#codec].decode(packet.payload);
    const joined = new Int16Array(this.#received.length + samples.length);
    joined.set(this.#received);
    joined.set(samples, this.#received.length);
    this.#received = joined.subarray(Math.max(0, joined.length - LISTENED));
  }
}

function tonesOf(key: string): number[] {
  const row = PAD.findIndex((keys) => keys.includes(key));
  const column = PAD[row]?.indexOf(key) ?? 0;
  return [ROWS[row] ?? 0, COLUMNS[column] ?? 0];
}

function mix(parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from({ length: FRAME }, (_, i) =>
    parts.reduce((sum, part) => sum + (part[i] ?? 0) / 2, 0),
  );
}
