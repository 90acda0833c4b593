/** Legitimate clients during an attack: some hold calls for the whole time, others register and call repeatedly. */
import { setTimeout as pause } from 'node:timers/promises';
import { systemRandom as random } from '../../src/base/system-random.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { writeWav } from '../../src/phone/audio/wav.ts';
import { SipLine } from '../../src/phone/sip-line.ts';
import { Customer } from '../e2e/customer.ts';
import { babble, makeUser, type SipUser } from '../e2e/phone.ts';
import type { Service } from '../e2e/service.ts';
import { startControlStream } from './control-stream.ts';
import { legitimateCall } from './legitimate-call.ts';

/** Number of calls that last for the whole measurement. */
const STEADY = 4;
const REGISTER_EVERY_MS = 150;
const CALL_EVERY_MS = 400;
const SHORT_CALL_MS = 2000;
const LONG_MS = 3_600_000;
const SOUND_SECONDS = 10;

export interface HonestReport {
  readonly registers: number;
  readonly registeredPercent: number;
  readonly registerP99Ms: number;
  readonly calls: number;
  readonly calledPercent: number;
  readonly setupP99Ms: number;
  readonly gapP99Ms: number;
  /** The same for packets that do not pass through the service. */
  readonly controlGapP99Ms: number;
}

interface Tally {
  /** Registration times in ms; undefined for a failed registration. */
  readonly registers: (number | undefined)[];
  readonly calls: (number | undefined)[];
  readonly gapsMs: number[];
}

export class HonestPhones {
  readonly #service: Service;
  readonly #customer: Customer;
  readonly #user: SipUser;

  private constructor(service: Service, customer: Customer, user: SipUser) {
    this.#service = service;
    this.#customer = customer;
    this.#user = user;
  }

  /** Creates an endpoint whose calls play an endless sound. */
  static async open(service: Service): Promise<HonestPhones> {
    const customer = await Customer.listen();
    const wav = writeWav({ rate: 8000, samples: babble(SOUND_SECONDS) });
    const sound = customer.page('/sound.wav', (response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' }).end(wav);
    });
    const answer = customer.page('/answer', (response) => {
      const xml = `<Response><Play loop="0">${sound}</Play></Response>`;
      response.writeHead(200, { 'content-type': 'application/xml' }).end(xml);
    });
    const user = await makeUser(service, 'honest', { answer_url: answer });
    return new HonestPhones(service, customer, user);
  }

  get username(): string {
    return this.#user.username;
  }

  async close(): Promise<void> {
    await this.#customer.close();
  }

  /** Runs the clients while `something` is pending and returns their results. */
  async during(something: Promise<void>): Promise<HonestReport> {
    const over = new AbortController();
    const tally: Tally = { registers: [], calls: [], gapsMs: [] };
    const control = await startControlStream();
    const steady = Array.from({ length: STEADY }, () => this.#call(tally, LONG_MS, over.signal));
    const others = [
      this.#again(REGISTER_EVERY_MS, over.signal, () => this.#register(tally)),
      this.#again(CALL_EVERY_MS, over.signal, () => this.#call(tally, SHORT_CALL_MS, over.signal)),
    ];
    try {
      await something;
    } finally {
      over.abort();
      await Promise.all([...steady, ...others]);
    }
    return reportOf(tally, await control.stop());
  }

  async #again(everyMs: number, over: AbortSignal, act: () => Promise<void>): Promise<void> {
    const running: Promise<void>[] = [];
    while (!over.aborted) {
      running.push(act());
      await pause(everyMs, undefined, { signal: over }).catch(() => undefined);
    }
    await Promise.all(running);
  }

  /** Registers from a new port and without a nonce, as an unknown phone. */
  async #register(tally: Tally): Promise<void> {
    const line = await this.#line();
    const fromMs = performance.now();
    try {
      await line.register();
      tally.registers.push(performance.now() - fromMs);
      await line.unregister();
    } catch {
      tally.registers.push(undefined);
    } finally {
      await line.close();
    }
  }

  async #call(tally: Tally, talkMs: number, over: AbortSignal): Promise<void> {
    const line = await this.#line();
    try {
      const outcome = await legitimateCall(line, '1000', talkMs, over);
      tally.calls.push(outcome.received ? outcome.setupMs : undefined);
      // Adds gaps one by one, because a long call has more gaps than an argument list may hold.
      for (const gap of outcome.gapsMs) tally.gapsMs.push(gap);
    } finally {
      await line.close();
    }
  }

  #line(): Promise<SipLine> {
    const { sipPort: port } = this.#service;
    return SipLine.open({
      ...this.#user,
      host: '127.0.0.1',
      port,
      transport: 'udp',
      clock,
      random,
    });
  }
}

function reportOf(
  { registers, calls, gapsMs }: Tally,
  controlGapsMs: readonly number[],
): HonestReport {
  return {
    registers: registers.length,
    registeredPercent: successPercent(registers),
    registerP99Ms: p99(registers.filter((ms) => ms !== undefined)),
    calls: calls.length,
    calledPercent: successPercent(calls),
    setupP99Ms: p99(calls.filter((ms) => ms !== undefined)),
    gapP99Ms: p99(gapsMs),
    controlGapP99Ms: p99(controlGapsMs),
  };
}

const successPercent = (tries: readonly (number | undefined)[]): number =>
  (100 * tries.filter((ms) => ms !== undefined).length) / tries.length;

function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.NaN;
}
