/** Fake media: legs and rooms that record their operations, and sockets to bots. */
import type {
  AudioStreams,
  MediaLeg,
  RoomEvents,
  StreamSocketEvents,
  StreamSocketOptions,
} from '../../../src/domain/call/needs.ts';
import { ListeningLeg, ScriptedRecording } from '../../domain/interpreter/listening-scene.ts';
import { FakeMedia, FakeRoom } from '../../fakes/media.ts';
import type { SimClock } from '../../sim/clock.ts';

/** A room that can be recorded. */
class ListeningRoom extends FakeRoom {
  readonly recordings: ScriptedRecording[] = [];
  readonly #nowMs: () => number;

  constructor(events: RoomEvents, nowMs: () => number) {
    super(events);
    this.#nowMs = nowMs;
  }

  record(path: string): ScriptedRecording {
    const options = { path, channels: 'both', stereo: false, silenceEndMs: 0, maxMs: 0 } as const;
    const recording = new ScriptedRecording(options, this.#nowMs);
    this.recordings.push(recording);
    return recording;
  }

  override close(): void {
    for (const recording of this.recordings) recording.end('legEnded');
    super.close();
  }
}

export class ListeningMedia extends FakeMedia {
  constructor(clock: SimClock) {
    super();
    const nowMs = (): number => clock.monotonicMs();
    Object.assign(this.asMedia, {
      openLeg: (_options: unknown, events: ConstructorParameters<typeof ListeningLeg>[0]) => {
        const leg = new ListeningLeg(events);
        leg.nowMs = nowMs;
        this.legs.push(leg);
        return Promise.resolve(leg as unknown as MediaLeg);
      },
      openRoom: (events: RoomEvents) => {
        const room = new ListeningRoom(events, nowMs);
        this.rooms.push(room);
        return room;
      },
    });
  }

  leg(index: number): ListeningLeg {
    const leg = this.legs[index];
    if (!(leg instanceof ListeningLeg)) throw new Error(`there is no leg ${index}`);
    return leg;
  }

  /** Returns legs, rooms and recordings that still exist. */
  leftovers() {
    return {
      openLegs: this.legs.filter(({ isClosed }) => !isClosed).length,
      openBridges: this.openBridges.length,
      openRooms: this.rooms.filter(({ isClosed }) => !isClosed).length,
      takenSeats: this.rooms.flatMap(({ seats }) => seats).filter(({ isFree }) => !isFree).length,
      sounding: this.legs.flatMap(({ sounding }) => sounding).length,
      recording: [...this.legs, ...this.rooms]
        .flatMap((one) => (one as ListeningLeg | ListeningRoom).recordings)
        .filter(({ isOver }) => !isOver).length,
    };
  }
}

/** A fake socket to a bot. */
export interface BotSocket {
  readonly options: StreamSocketOptions;
  readonly events: StreamSocketEvents;
  closedWith: string | undefined;
  /** Whether the socket closes after its queue is empty; the test signals that end. */
  drains: boolean;
  isOver: boolean;
}

export class Bots implements AudioStreams {
  readonly sockets: BotSocket[] = [];

  get last(): BotSocket {
    const last = this.sockets.at(-1);
    if (last === undefined) throw new Error('no bot was called');
    return last;
  }

  open(options: StreamSocketOptions, _leg: MediaLeg, events: StreamSocketEvents) {
    const ended: StreamSocketEvents['ended'] = (end) => {
      socket.isOver = true;
      events.ended(end);
    };
    const socket: BotSocket = {
      options,
      events: { ...events, ended },
      closedWith: undefined,
      drains: false,
      isOver: false,
    };
    this.sockets.push(socket);
    return {
      close: (reason: string, options?: { readonly drain?: boolean }) => {
        socket.closedWith = reason;
        socket.drains = options?.drain ?? false;
        if (socket.drains) return;
        queueMicrotask(() => ended({ kind: 'closed' }));
      },
    };
  }
}
