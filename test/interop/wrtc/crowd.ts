/**
 * Runs many browsers in a separate process: the published SIP.js over Google's WebRTC library for Node. `npm run interop`
 * installs the library next to this file. The parent controls the process by the messages in crowd-messages.ts.
 */
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { Inviter, SessionState, UserAgent } from 'sip.js';
import { defaultSessionDescriptionHandlerFactory } from 'sip.js/lib/platform/web/index.js';
import { WebSocket } from 'ws';
import type { CrowdCommand, CrowdReport, Member, MemberReport } from './crowd-messages.ts';

const RATE_HZ = 48_000;
const FRAME = RATE_HZ / 100;
const AMPLITUDE = 8000;
/** Maximum backlog of frames before older ones are dropped. */
const BEHIND_MAX = 5;
const TRIES = 10;
const AGAIN_MS = 1000;
const CONNECT_TRIES = 5;
/** Audio window for tone detection, ms. */
const EAR_MS = 300;
const EAR_LIMIT_MS = 2000;
/** Minimum tone amplitude: an eighth of the amplitude that the others send. */
const AUDIBLE = AMPLITUDE / 16;

interface Frame {
  readonly samples: Int16Array;
  /** Sample rate of the codec: 8 kHz for G.711, 48 kHz for Opus. */
  readonly sampleRate: number;
}
/** The used part of the library. Its own types need browser types. */
interface Wrtc {
  readonly RTCPeerConnection: new (how?: object) => { close(): void };
  readonly MediaStream: new (tracks?: readonly unknown[]) => unknown;
  readonly nonstandard: {
    readonly RTCAudioSource: new () => { createTrack(): unknown; onData(frame: object): void };
    readonly RTCAudioSink: new (track: unknown) => { ondata: (frame: Frame) => void; stop(): void };
  };
}
interface Connection {
  readonly connectionState: string;
  getReceivers(): readonly { readonly track: unknown }[];
  getStats(): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>;
}

const wrtc = createRequire(import.meta.url)('@roamhq/wrtc') as Wrtc;
/** The event class that SIP.js constructs and the library lacks. */
class TrackEvent extends Event {
  readonly track: unknown;
  constructor(type: string, { track }: { readonly track: unknown }) {
    super(type);
    this.track = track;
  }
}

Object.assign(globalThis, {
  WebSocket,
  MediaStreamTrackEvent: TrackEvent,
  RTCPeerConnection: wrtc.RTCPeerConnection,
  MediaStream: wrtc.MediaStream,
});

/** A shared microphone for all browsers that send this tone. */
function microphone(hz: number): { readonly track: unknown; frame(at: number): void } {
  const source = new wrtc.nonstandard.RTCAudioSource();
  const track = source.createTrack();
  return {
    track,
    frame: (at) => {
      const samples = Int16Array.from(
        { length: FRAME },
        (_, i) => AMPLITUDE * Math.sin((2 * Math.PI * hz * (at * FRAME + i)) / RATE_HZ),
      );
      source.onData({ samples, sampleRate: RATE_HZ, bitsPerSample: 16, channelCount: 1 });
    },
  };
}

const microphones = new Map<number, ReturnType<typeof microphone>>();

/** Sends all frames of 10 ms that are due. */
function speak(): void {
  const beganMs = performance.now();
  let said = 0;
  setInterval(() => {
    const due = (performance.now() - beganMs) / 10;
    // A microphone that lags far behind skips frames. Sending all of them would block the process.
    for (said = Math.max(said, Math.floor(due) - BEHIND_MAX); said < due; said += 1) {
      for (const one of microphones.values()) one.frame(said);
    }
  }, 5);
}

class Browser {
  readonly member: Member;
  readonly #agent: UserAgent;
  #session: Inviter | undefined;
  #beganMs = 0;
  #setupMs: number | undefined;
  #again = 0;
  #before = { concealed: 0, samples: 0, packets: 0 };

  constructor(member: Member, server: string) {
    this.member = member;
    let mine = microphones.get(member.saysHz);
    if (mine === undefined) {
      mine = microphone(member.saysHz);
      microphones.set(member.saysHz, mine);
    }
    const { track } = mine;
    const stream = async () => new wrtc.MediaStream([track]);
    this.#agent = new UserAgent({
      uri: addressOf(member.username),
      authorizationUsername: member.username,
      authorizationPassword: member.password,
      transportOptions: { server },
      logLevel: 'error',
      sessionDescriptionHandlerFactory: defaultSessionDescriptionHandlerFactory(stream),
      // Disables STUN, so that no third-party server is contacted.
      sessionDescriptionHandlerFactoryOptions: {
        iceGatheringTimeout: 500,
        peerConnectionConfiguration: { iceServers: [] },
      },
    });
  }

  /** Connects, with retries for a slow service. */
  async connect(left = CONNECT_TRIES): Promise<void> {
    try {
      await this.#agent.start();
    } catch (error) {
      if (left === 0) throw error;
      await pause(AGAIN_MS);
      await this.connect(left - 1);
    }
  }

  /** Calls until DTLS completes. Retries, as a user would, if an overloaded service refuses or responds too late. */
  async call(): Promise<void> {
    this.#beganMs = performance.now();
    for (let left = TRIES; left > 0; left -= 1) {
      if ((await this.#invite()) && (await this.#connected())) {
        this.#setupMs = performance.now() - this.#beganMs;
        return;
      }
      this.#again += 1;
      await pause(AGAIN_MS);
    }
    throw new Error(`${this.member.username} has no call`);
  }

  /** Returns false if the call ended before DTLS completed. */
  async #connected(): Promise<boolean> {
    while (this.#session?.state === SessionState.Established) {
      if (this.#connection()?.connectionState === 'connected') return true;
      await pause(5);
    }
    return false;
  }

  /** Sends the INVITE. Resolves to whether it was answered. */
  #invite(): Promise<boolean> {
    const session = new Inviter(this.#agent, addressOf('1000'));
    this.#session = session;
    return new Promise((resolve) => {
      session.stateChange.addListener((state) => {
        if (state === SessionState.Established) resolve(true);
        if (state === SessionState.Terminated) resolve(false);
      });
      void session.invite();
    });
  }

  #connection(): Connection | undefined {
    const handler = this.#session?.sessionDescriptionHandler as unknown;
    return (handler as { readonly peerConnection?: Connection } | undefined)?.peerConnection;
  }

  /** Returns the statistics since the last report. */
  async report(): Promise<MemberReport> {
    let dtlsState = 'none';
    let now = this.#before;
    for (const one of (await this.#connection()?.getStats())?.values() ?? []) {
      if (one['type'] === 'transport') dtlsState = String(one['dtlsState']);
      if (one['type'] === 'inbound-rtp') {
        now = {
          packets: Number(one['packetsReceived']),
          concealed: Number(one['concealedSamples']),
          samples: Number(one['totalSamplesReceived']),
        };
      }
    }
    const before = this.#before;
    this.#before = now;
    return {
      setupMs: this.#setupMs ?? Number.NaN,
      again: this.#again,
      dtlsState,
      packets: now.packets - before.packets,
      samples: now.samples - before.samples,
      concealed: now.concealed - before.concealed,
    };
  }

  /** Returns the loudest of these tones in the current audio, Hz, or 0 if there is none. */
  async hears(tones: readonly number[]): Promise<number> {
    const track = this.#connection()?.getReceivers()[0]?.track;
    if (track === undefined) return 0;
    const sink = new wrtc.nonstandard.RTCAudioSink(track);
    const received: number[] = [];
    let rate = RATE_HZ;
    const limitMs = performance.now() + EAR_LIMIT_MS;
    sink.ondata = ({ samples, sampleRate }) => {
      rate = sampleRate;
      received.push(...samples);
    };
    while (received.length < (rate * EAR_MS) / 1000 && performance.now() < limitMs) await pause(10);
    sink.stop();
    const powers = tones.map((hz) => powerAt(received, hz / rate));
    const best = Math.max(...powers);
    return best > (received.length * AUDIBLE) ** 2 ? (tones[powers.indexOf(best)] ?? 0) : 0;
  }

  async hangUp(): Promise<void> {
    await (this.#session as { bye?(): Promise<unknown> } | undefined)?.bye?.();
    await this.#agent.stop();
  }
}

function addressOf(user: string) {
  const made = UserAgent.makeURI(`sip:${user}@127.0.0.1`);
  if (made === undefined) throw new Error(`${user} is not a user`);
  return made;
}

/** Power at one frequency; `turns` is its phase increment per sample, in periods. */
function powerAt(samples: readonly number[], turns: number): number {
  let [re, im] = [0, 0];
  for (const [i, sample] of samples.entries()) {
    re += sample * Math.cos(2 * Math.PI * turns * i);
    im += sample * Math.sin(2 * Math.PI * turns * i);
  }
  return re * re + im * im;
}

/** Waits until all calls have settled, then throws their failures together. */
async function allOf(calls: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(calls)).filter((one) => one.status === 'rejected');
  if (failed.length > 0) throw new Error(failed.map(({ reason }) => String(reason)).join('\n'));
}

let browsers: readonly Browser[] = [];

async function follow(command: CrowdCommand): Promise<CrowdReport> {
  switch (command.do) {
    case 'call': {
      browsers = command.members.map((member) => new Browser(member, command.server));
      speak();
      const calls: Promise<void>[] = [];
      for (const one of browsers) {
        // Connects each browser just before its call, because the service closes silent connections.
        await one.connect();
        const call = one.call();
        // A failure is reported with the others at the end.
        call.catch(() => undefined);
        calls.push(call);
        await pause(1000 / command.perSecond);
      }
      await allOf(calls);
      return { members: await Promise.all(browsers.map((one) => one.report())) };
    }
    case 'report':
      await Promise.all(browsers.map((one) => one.report()));
      await pause(command.afterMs);
      return { members: await Promise.all(browsers.map((one) => one.report())) };
    case 'listen': {
      const received: number[] = [];
      for (const one of browsers) received.push(await one.hears(command.tones));
      return { received };
    }
    case 'hangUp':
      await Promise.all(browsers.map((one) => one.hangUp()));
      return {};
  }
}

process.on('message', (command: CrowdCommand) => {
  follow(command).then(
    (report) => process.send?.(report),
    (error: unknown) => process.send?.({ error: String(error) } satisfies CrowdReport),
  );
});
// The library's threads would keep the process alive.
process.on('disconnect', () => process.exit(0));
