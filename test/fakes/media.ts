/**
 * Fake media engine that records its use, for tests of calls in virtual time: of the interpreter, of dispatch and of the
 * specification.
 */
import type {
  MachineDetectionOptions,
  MachineDetectionResult,
  Media,
  MediaLeg,
  MediaLegEvents,
  MediaRoom,
  MediaSession,
  MemberFlags,
  Pcm,
  PeerAtEnd,
  Playback,
  RoomEvents,
  RoomMember,
  Tone,
} from '../../src/domain/call/needs.ts';
import { settle } from '../sim/clock.ts';

/** Playback that lasts until a test completes it or it is stopped. */
class ScriptedPlayback implements Playback {
  readonly finished: Promise<'completed' | 'stopped'>;
  readonly what: Pcm | Tone;
  readonly mix: boolean;
  isOver = false;
  #resolve: (how: 'completed' | 'stopped') => void = () => undefined;

  constructor(requested: { what: Pcm | Tone; mix: boolean }) {
    this.what = requested.what;
    this.mix = requested.mix;
    this.finished = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  complete(): void {
    this.isOver = true;
    this.#resolve('completed');
  }

  stop(): void {
    this.isOver = true;
    this.#resolve('stopped');
  }
}

class Sounding {
  readonly rate = 8000;
  readonly playbacks: ScriptedPlayback[] = [];

  /** Playbacks that have not ended. */
  get sounding(): ScriptedPlayback[] {
    return this.playbacks.filter(({ isOver }) => !isOver);
  }

  play(what: Pcm | Tone, { mix }: { mix: boolean }): ScriptedPlayback {
    const playback = new ScriptedPlayback({ what, mix });
    this.playbacks.push(playback);
    return playback;
  }

  playTone(what: Tone, options: { mix: boolean }): ScriptedPlayback {
    return this.play(what, options);
  }
}

export class FakeMediaLeg extends Sounding {
  readonly address = '127.0.0.1';
  readonly port = 4000;
  readonly digits: string[] = [];
  readonly toneMs: number[] = [];
  readonly events: MediaLegEvents;
  hearsTones = false;
  isRingback = false;
  isClosed = false;
  peerAtEnd: PeerAtEnd | undefined;
  detecting: MachineDetectionOptions | undefined;
  /** Ends the running machine detection. */
  detected: (result: Partial<MachineDetectionResult>) => Promise<void> = async () => undefined;

  constructor(events: MediaLegEvents) {
    super();
    this.events = events;
  }

  configure(_session?: MediaSession): void {}
  hearTones(wanted: boolean): void {
    this.hearsTones = wanted;
  }
  ringback(isMarked: boolean): void {
    this.isRingback = isMarked;
  }

  sendDigits(digits: string, { toneMs }: { toneMs: number }): Promise<void> {
    this.digits.push(digits);
    this.toneMs.push(toneMs);
    return Promise.resolve();
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
    for (const playback of this.sounding) playback.stop();
    return undefined;
  }
}

export class FakeRoom extends Sounding {
  readonly seats: Seat[] = [];
  readonly events: RoomEvents;
  isClosed = false;

  constructor(events: RoomEvents) {
    super();
    this.events = events;
  }

  join(leg: MediaLeg, flags: MemberFlags): Seat {
    const seat = new Seat(leg, flags);
    this.seats.push(seat);
    return seat;
  }

  close(): void {
    this.isClosed = true;
  }
}

export class Seat implements RoomMember {
  flags: MemberFlags;
  isFree = false;
  readonly leg: MediaLeg;

  constructor(leg: MediaLeg, flags: MemberFlags) {
    this.leg = leg;
    this.flags = { ...flags, held: false };
  }

  set(flags: MemberFlags): void {
    this.flags = { ...this.flags, ...flags };
  }

  leave(): void {
    this.isFree = true;
  }
}

export class FakeMedia {
  readonly legs: FakeMediaLeg[] = [];
  readonly rooms: FakeRoom[] = [];
  readonly bridges: Array<{ a: MediaLeg; b: MediaLeg; isOpen: boolean }> = [];
  /** Error of the next `openLeg` calls, for example if no port is free. */
  failure: Error | undefined;
  portsFree = 1000;

  /** The newest leg. */
  get last(): FakeMediaLeg {
    const last = this.legs.at(-1);
    if (last === undefined) throw new Error('no media was opened');
    return last;
  }

  get openBridges() {
    return this.bridges.filter(({ isOpen }) => isOpen);
  }

  readonly asMedia: Media & { status(): { readonly portsFree: number } } = {
    status: () => ({ portsFree: this.portsFree }),
    openLeg: async (_options, events) => {
      if (this.failure !== undefined) throw this.failure;
      const leg = new FakeMediaLeg(events);
      this.legs.push(leg);
      return leg as unknown as MediaLeg;
    },
    bridge: (a, b) => {
      const bridge = { a, b, isOpen: true };
      this.bridges.push(bridge);
      return {
        close: () => {
          bridge.isOpen = false;
        },
      };
    },
    openRoom: (events) => {
      const room = new FakeRoom(events);
      this.rooms.push(room);
      return room as unknown as MediaRoom;
    },
  };
}
