/** Scripted phones and carriers, and fake media that records its calls. */
import type {
  InviteOptions,
  Leg,
  LegEnd,
  MachineDetectionOptions,
  MachineDetectionResult,
  Media,
  MediaLeg,
  MediaLegEvents,
  OutboundLegEvents,
  OutboundTarget,
  PeerAtEnd,
  ReferCommand,
  ReferEvents,
  Signalling,
} from '../../../src/domain/call/needs.ts';
import { settle } from '../../sim/clock.ts';
import { SDP } from '../interpreter/scene.ts';

/** Sent INVITE, with methods for its recipient's responses. */
export class Invite implements Leg {
  readonly id = '';
  readonly sipCallId: string;
  readonly target: OutboundTarget;
  readonly options: InviteOptions;
  readonly atMs: number;
  /** Cause with which this node hung up. */
  hungUpWith: string | undefined;
  /** Received REFERs; the test provides their progress. */
  readonly refers: Array<{
    readonly command: ReferCommand;
    readonly stepped: ReferEvents['stepped'];
    isForgotten: boolean;
  }> = [];
  readonly #events: OutboundLegEvents;

  constructor(sent: {
    target: OutboundTarget;
    options: InviteOptions;
    events: OutboundLegEvents;
    atMs: number;
    index: number;
  }) {
    this.target = sent.target;
    this.options = sent.options;
    this.atMs = sent.atMs;
    this.sipCallId = `sip-${sent.index}`;
    this.#events = sent.events;
  }

  heardFrom(address: string, userAgent?: string): void {
    this.#events.heardFrom({ source: { transport: 'udp', address, port: 5060 }, userAgent });
  }

  async rings(sdp?: string): Promise<void> {
    this.#events.progress(sdp === undefined ? 180 : 183, sdp);
    await settle();
  }

  /** Sends a provisional response without SDP. */
  async progresses(status: number): Promise<void> {
    this.#events.progress(status, undefined);
    await settle();
  }

  async answers(sdp: string | undefined = SDP): Promise<void> {
    this.#events.connected(sdp);
    await settle();
  }

  /** Sends a 200 without a body. */
  async answersWithoutSdp(): Promise<void> {
    this.#events.connected(undefined);
    await settle();
  }

  async ends(how: LegEnd['how'], status?: number, dueMs?: number): Promise<void> {
    const due = dueMs === undefined ? {} : { dueMs };
    this.#events.ended({ by: 'remote', how, status, reason: undefined, ...due });
    await settle();
  }

  refer(command: ReferCommand, { stepped }: ReferEvents): () => void {
    const refer = { command, stepped, isForgotten: false };
    this.refers.push(refer);
    return () => {
      refer.isForgotten = true;
    };
  }

  /** Reports the end of a locally ended leg too, like the real implementation. */
  hangup(cause: string): void {
    if (this.hungUpWith !== undefined) return;
    this.hungUpWith = cause;
    queueMicrotask(() =>
      this.#events.ended({ by: 'local', how: 'bye', status: undefined, reason: undefined }),
    );
  }
}

export class FakeSignalling implements Signalling {
  readonly invites: Invite[] = [];
  readonly registered = new Set<string>();
  /** Usernames whose bindings were removed, in order. */
  readonly forgotten: string[] = [];
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The newest INVITE. */
  get last(): Invite {
    const last = this.invites.at(-1);
    if (last === undefined) throw new Error('no INVITE was sent');
    return last;
  }

  invite(target: OutboundTarget, options: InviteOptions, events: OutboundLegEvents): Leg {
    const index = this.invites.length + 1;
    const invite = new Invite({ target, options, events, atMs: this.#nowMs(), index });
    this.invites.push(invite);
    return invite;
  }

  onInbound(): void {}

  isDown(): boolean {
    return false;
  }

  isRegistered(username: string): boolean {
    return this.registered.has(username);
  }

  readonly secured = new Set<string>();

  isBrowser(): boolean {
    return false;
  }

  isSecured(username: string): boolean {
    return this.secured.has(username);
  }

  forgetBindings(username: string): void {
    this.registered.delete(username);
    this.forgotten.push(username);
  }
}

export class FakeLeg {
  readonly address = '127.0.0.1';
  readonly port = 4000;
  readonly rate = 8000;
  readonly events: MediaLegEvents;
  readonly digits: string[] = [];
  readonly toneMs: number[] = [];
  readonly played: Array<{ mix: boolean; isOver: boolean; complete: () => void }> = [];
  isClosed = false;
  peerAtEnd: PeerAtEnd | undefined;
  detecting: MachineDetectionOptions | undefined;
  /** Ends the running machine detection. */
  detected: (result: Partial<MachineDetectionResult>) => Promise<void> = async () => undefined;

  constructor(events: MediaLegEvents) {
    this.events = events;
  }

  configure(): void {}

  play(_what: unknown, { mix }: { mix: boolean }) {
    let resolve: (how: 'completed' | 'stopped') => void = () => undefined;
    const finished = new Promise<'completed' | 'stopped'>((settled) => {
      resolve = settled;
    });
    const playback = {
      mix,
      isOver: false,
      complete: () => {
        playback.isOver = true;
        resolve('completed');
      },
    };
    this.played.push(playback);
    return {
      finished,
      stop: () => {
        playback.isOver = true;
        resolve('stopped');
      },
    };
  }

  playTone(what: unknown, options: { mix: boolean }) {
    return this.play(what, options);
  }

  hearTones(): void {}

  ringback(): void {}

  async sendDigits(digits: string, { toneMs }: { toneMs: number }): Promise<void> {
    this.digits.push(digits);
    this.toneMs.push(toneMs);
  }

  detectMachine(options: MachineDetectionOptions): Promise<MachineDetectionResult> {
    this.detecting = options;
    return new Promise((resolve) => {
      this.detected = async (result) => {
        resolve({ machine: false, reason: 'human', afterMs: 1000, ...result });
        await settle();
      };
    });
  }

  close(peer: PeerAtEnd = 'known'): undefined {
    this.isClosed = true;
    this.peerAtEnd = peer;
    void this.detected({ reason: 'ended' });
    return undefined;
  }
}

export class FakeMedia implements Media {
  readonly legs: FakeLeg[] = [];
  readonly bridges: Array<{ a: unknown; b: unknown; isOpen: boolean }> = [];
  /** Error of the next `openLeg` calls, for example if no port is free. */
  failure: Error | undefined;
  portsFree = 100;

  status(): { readonly portsFree: number } {
    return { portsFree: this.portsFree };
  }

  get last(): FakeLeg {
    const last = this.legs.at(-1);
    if (last === undefined) throw new Error('no media was opened');
    return last;
  }

  async openLeg(_options: unknown, events: MediaLegEvents): Promise<MediaLeg> {
    if (this.failure !== undefined) throw this.failure;
    const leg = new FakeLeg(events);
    this.legs.push(leg);
    return leg as unknown as MediaLeg;
  }

  bridge(a: MediaLeg, b: MediaLeg) {
    const bridge = { a, b, isOpen: true };
    this.bridges.push(bridge);
    return {
      close: () => {
        bridge.isOpen = false;
      },
    };
  }

  openRoom(): never {
    throw new Error('no conferences here');
  }
}
