/**
 * A phone for web pages, over SIP.js: registers at the service that serves this file, calls, and is called.
 *
 *   import { Phone } from 'https://voice.example/phone.js';
 *   const phone = new Phone({ audio: document.querySelector('audio') });
 *   phone.on('incoming', ({ call }) => call.answer());
 *   await phone.login({ token });
 *   await phone.call('1000');
 *
 * `phone-api.d.ts` documents each member and event.
 */
import type { Session } from 'sip.js';
import { Invitation } from 'sip.js';
import { type Credentials, credentialsOf, PhoneError } from './account.ts';
import { BrowserCall, type CallHost } from './browser-call.ts';
import { Line, sipServer } from './line.ts';
import { listening } from './listening.ts';
import { measure } from './measure.ts';
import { replaceMicrophone } from './microphone.ts';
import type {
  Phone as Api,
  Devices,
  PhoneAccount,
  PhoneCall,
  PhoneEvents,
  PhoneOptions,
} from './phone-api.d.ts';

export { PhoneError };

const QUALITY_MS = 1000;
const LEVELS_MS = 100;
/** Time before the end of a token at which a new one is requested, in ms; for short tokens, half of the lifetime. */
const RENEW_MS = 60_000;
/** Maximum delay of a browser timer, in ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Calls at the same time; one more is rejected with 486. */
const MAX_CALLS = 4;
const BUSY_HERE = 486;

export class Phone implements Api {
  callWaiting: boolean;
  readonly #options: PhoneOptions;
  readonly #server: string;
  readonly #listeners = new Map<string, Set<(detail: never) => void>>();
  #line: Line | undefined;
  #calls: readonly BrowserCall[] = [];
  /** The call that the user called, answered or resumed last: no other one is off hold. */
  #chosen: BrowserCall | undefined;
  #timers: ReturnType<typeof setInterval>[] = [];
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #microphone: string | undefined;

  /** The connection closes with the page, so calls must end before. */
  readonly #leave = (): void => {
    for (const call of this.#calls) call.leave();
  };
  readonly #plugged = (): void => {
    void this.devices().then((devices) => this.#notify('devices', devices));
  };

  constructor(options: PhoneOptions) {
    this.#options = options;
    this.#server = options.server ?? sipServer();
    this.callWaiting = options.callWaiting ?? true;
  }

  on<Name extends keyof PhoneEvents>(
    name: Name,
    listener: (detail: PhoneEvents[Name]) => void,
  ): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    this.#watchDevices();
    return () => {
      listeners.delete(listener);
      this.#watchDevices();
    };
  }

  #watchDevices(): void {
    const isOn = (this.#listeners.get('devices')?.size ?? 0) > 0;
    listening(isOn, navigator.mediaDevices, 'devicechange', this.#plugged);
  }

  async login(account: PhoneAccount): Promise<void> {
    const loginUrl = this.#options.loginUrl ?? new URL('/phone/login', import.meta.url).href;
    const credentials = await credentialsOf(account, loginUrl).catch((error: unknown) => {
      if (error instanceof PhoneError) {
        this.#notify('refused', { status: error.status, reason: error.message });
      }
      throw error;
    });
    const line = this.#lineOf(credentials);
    this.#watchEnd(credentials);
    await line.connect();
    if (credentials.mayRegister) await line.register();
  }

  register(): Promise<void> {
    const { username, password, token } = this.#options;
    if (token !== undefined) return this.login({ token });
    if (username === undefined || password === undefined) {
      return Promise.reject(new Error('set a token, or a username and a password'));
    }
    return this.login({ username, password });
  }

  async unregister(): Promise<void> {
    clearTimeout(this.#renewal);
    const line = this.#line;
    this.#line = undefined;
    await line?.leave();
  }

  get calls(): readonly PhoneCall[] {
    return this.#calls;
  }

  async call(target: string): Promise<PhoneCall> {
    const { manager, uriOf } = this.#required;
    if (this.#calls.length >= MAX_CALLS) throw new Error(`there are ${MAX_CALLS} calls already`);
    await this.#holdOthers(undefined);
    const known = this.#calls;
    let call: BrowserCall | undefined;
    const sent = manager.call(
      uriOf(target),
      {},
      {
        requestDelegate: {
          onProgress: () => call?.progressed(),
          onReject: (response) => call?.refused(response),
        },
      },
    );
    call = this.#calls.find((one) => !known.includes(one));
    this.#chosen = call;
    try {
      await sent;
    } catch (error) {
      call?.failed(error);
      throw error;
    }
    if (call === undefined) throw new Error('the call was not made');
    return call;
  }

  async answer(): Promise<void> {
    const call = this.#calls.findLast(({ state }) => state === 'incoming');
    if (call === undefined) throw new Error('no call rings here');
    await call.answer();
  }

  async hangup(): Promise<void> {
    await this.#calls.at(-1)?.hangup();
  }

  async hold(held: boolean): Promise<void> {
    if (held) await this.#current.hold();
    else await this.#calls.findLast(({ isHeld }) => isHeld)?.resume();
  }

  mute(muted: boolean): void {
    this.#current.mute(muted);
  }

  sendDtmf(digits: string): void {
    this.#current.sendDtmf(digits);
  }

  async transfer(target: string): Promise<void> {
    await this.#current.transfer(target);
  }

  async consult(target: string): Promise<void> {
    if (this.#current.isEstablished) await this.call(target);
    else throw new Error('the call is not answered yet');
  }

  async completeTransfer(): Promise<void> {
    const [first, requested] = this.#calls.filter(({ isEstablished }) => isEstablished).slice(-2);
    if (first === undefined || requested === undefined)
      throw new Error('there is no consulted call');
    await first.transfer(requested);
  }

  async devices(): Promise<Devices> {
    const all = await navigator.mediaDevices.enumerateDevices();
    return {
      microphones: all.filter(({ kind }) => kind === 'audioinput'),
      speakers: all.filter(({ kind }) => kind === 'audiooutput'),
    };
  }

  async useMicrophone(deviceId: string): Promise<void> {
    this.#microphone = deviceId;
    const audio = this.#microphoneConstraints();
    for (const call of this.#calls) await replaceMicrophone(call, audio);
  }

  #microphoneConstraints(): MediaTrackConstraints | true {
    return this.#microphone === undefined ? true : { deviceId: { exact: this.#microphone } };
  }

  async useSpeaker(deviceId: string): Promise<void> {
    await this.#options.audio.setSinkId(deviceId);
  }

  get #required(): Line {
    if (this.#line === undefined) throw new Error('the phone is not logged in');
    return this.#line;
  }

  /** The call off hold; without one, the newest. */
  get #current(): BrowserCall {
    const call = this.#talking ?? this.#calls.at(-1);
    if (call === undefined) throw new Error('there is no call');
    return call;
  }

  get #talking(): BrowserCall | undefined {
    return this.#calls.findLast(({ isEstablished, isHeld }) => isEstablished && !isHeld);
  }

  /** Returns the line of the user, or replaces it with a new one. */
  #lineOf(credentials: Credentials): Line {
    const { domain = credentials.domain ?? new URL(this.#server).hostname, displayName = '' } =
      this.#options;
    const known = this.#line;
    if (known?.username === credentials.username && known.domain === domain) {
      known.renew(credentials);
      return known;
    }
    void known?.leave();
    this.#line = new Line(
      this.#server,
      credentials,
      { domain, displayName, microphone: () => this.#microphoneConstraints() },
      {
        registered: () => this.#notify('registered', {}),
        unregistered: () => this.#notify('unregistered', {}),
        refused: ({ status, message }) => this.#notify('refused', { status, reason: message }),
        connected: () => this.#notify('connected', {}),
        disconnected: (reason) => this.#disconnected(reason),
        created: (session) => this.#created(session),
        received: (session) => this.#received(session),
        held: (session, held) => this.#held(session, held),
      },
    );
    return this.#line;
  }

  #watchEnd({ expiresInMs }: Credentials): void {
    clearTimeout(this.#renewal);
    if (expiresInMs === undefined) return;
    const waitMs = Math.min(Math.max(expiresInMs / 2, expiresInMs - RENEW_MS), MAX_TIMER_MS);
    this.#renewal = setTimeout(() => {
      this.#notify('tokenExpiring', { inSeconds: Math.round((expiresInMs - waitMs) / 1000) });
    }, waitMs);
  }

  /** A call that is not answered yet ends with its connection; an answered one continues over the next. */
  #disconnected(reason: string): void {
    for (const call of this.#calls) {
      if (!call.isEstablished) call.failed(new Error('the connection to the service was lost'));
    }
    this.#notify('disconnected', { reason });
  }

  #created(session: Session): void {
    if (session instanceof Invitation && this.#isBusy) return;
    const call = new BrowserCall(session, this.#host);
    this.#calls = [...this.#calls, call];
    this.#changed();
  }

  #received(session: Session): void {
    const call = this.#callOf(session);
    if (call !== undefined) {
      this.#notify('incoming', { from: call.from, displayName: call.displayName, call });
    } else if (session instanceof Invitation) {
      void session.reject({ statusCode: BUSY_HERE }).catch(() => undefined);
    }
  }

  #held(session: Session, held: boolean): void {
    const call = this.#callOf(session);
    if (call === undefined) return;
    call.holdSettled(held);
    this.#notify('held', { held, call });
  }

  #callOf(session: Session): BrowserCall | undefined {
    return this.#calls.find((call) => call.session === session);
  }

  get #isBusy(): boolean {
    const most = this.callWaiting ? MAX_CALLS : 1;
    return this.#calls.length >= most;
  }

  get #host(): CallHost {
    const line = this.#required;
    return {
      manager: line.manager,
      uriOf: line.uriOf,
      holdOthers: (call) => this.#holdOthers(call),
      changed: () => this.#changed(),
      reported: (call, what) => this.#happened(call, what),
      transferred: (status, reason) => this.#notify('transfer', { status, reason }),
    };
  }

  /** The microphone is never open in two calls: it is off in a held call even where the service refuses the re-INVITE. */
  async #holdOthers(chosen: BrowserCall | undefined): Promise<void> {
    this.#chosen = chosen;
    const others = this.#calls.filter((call) => call !== chosen);
    await Promise.all(others.map((call) => call.hold().catch(() => undefined)));
  }

  #changed(): void {
    const known = this.#calls.length;
    this.#calls = this.#calls.filter(({ state }) => state !== 'ended');
    if (known !== this.#calls.length && this.#calls.length === 0) this.#watch();
    listening(this.#calls.length > 0, globalThis, 'pagehide', this.#leave);
    this.#hear();
    this.#notify('calls', { calls: this.#calls });
  }

  #happened(call: BrowserCall, what: 'ringing' | 'answered' | 'active' | 'ended'): void {
    if (what === 'ended') {
      this.#notify('ended', { reason: call.endReason, consulted: this.#calls.length > 0, call });
      return;
    }
    if (what === 'answered') this.#answered(call);
    this.#notify(what, { call });
  }

  #answered(call: BrowserCall): void {
    const { peer } = call;
    if (peer !== undefined) {
      this.#line?.keep(peer, (lost) => {
        call.interrupted(lost);
        this.#notify(lost ? 'recovering' : 'recovered', {});
      });
    }
    this.#watch();
    // Another call was chosen while this one rang: it waits on hold.
    const others = this.#calls.some((other) => other !== call && other.isEstablished);
    if (others && this.#chosen !== undefined && this.#chosen !== call) {
      void call.hold().catch(() => undefined);
    } else if (others) void this.#holdOthers(call);
  }

  /** The call off hold is heard, and no other. */
  #hear(): void {
    const { audio } = this.#options;
    const session = this.#talking?.session;
    const stream = (session && this.#line?.manager.getRemoteMediaStream(session)) ?? null;
    if (audio.srcObject === stream) return;
    audio.srcObject = stream;
    if (stream !== null) void audio.play().catch(() => undefined);
  }

  #watch(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    if (this.#calls.length === 0) return;
    const look = async (name: 'quality' | 'levels'): Promise<void> => {
      const peer = (this.#talking ?? this.#calls.at(-1))?.peer;
      if (peer === undefined || !this.#listeners.get(name)?.size) return;
      this.#notify(name, await measure(peer));
    };
    this.#timers = [
      setInterval(() => void look('quality'), QUALITY_MS),
      setInterval(() => void look('levels'), LEVELS_MS),
    ];
  }

  #notify<Name extends keyof PhoneEvents>(name: Name, detail: PhoneEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      (listener as (detail: PhoneEvents[Name]) => void)(detail);
    }
  }
}
