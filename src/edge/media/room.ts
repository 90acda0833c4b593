import { BugError } from '../../base/errors.ts';
import type {
  LineRate,
  MediaLeg,
  MediaRecording,
  MediaRoom,
  MemberFlags,
  Pcm,
  Playback,
  PlayOptions,
  RoomEvents,
  RoomMember,
  Tone,
} from '../../domain/call/needs.ts';
import type { Hub } from './hub.ts';
import { NativeLeg } from './leg.ts';
import type { MemberHandle, RoomHandle } from './native.ts';
import { Players } from './playback.ts';
import { startRecording } from './recording.ts';

/** Native limit of members (Room::kMaxMembers). */
const MAX_MEMBERS = 256;

const UNSET: Required<MemberFlags> = {
  muted: false,
  deaf: false,
  held: false,
  whispers: false,
  coached: false,
  unrecorded: false,
};

class NativeMember implements RoomMember {
  readonly handle: MemberHandle;
  readonly leg: NativeLeg;
  readonly #hub: Hub;
  readonly #room: RoomHandle;
  readonly #onLeave: () => void;
  #flags: Required<MemberFlags>;
  #left = false;

  constructor(hub: Hub, room: RoomHandle, leg: NativeLeg, flags: MemberFlags, onLeave: () => void) {
    this.#hub = hub;
    this.#room = room;
    this.leg = leg;
    this.#onLeave = onLeave;
    this.#flags = { ...UNSET, ...flags };
    this.handle = hub.newHandle();
    hub.engine.joinRoom({ room, leg: leg.handle, member: this.handle, ...this.#flags });
  }

  set(flags: MemberFlags): void {
    if (this.#left) return;
    this.#flags = { ...this.#flags, ...flags };
    this.#hub.engine.setMember({ room: this.#room, member: this.handle, ...this.#flags });
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#hub.engine.leaveRoom(this.#room, this.handle);
    this.#onLeave();
  }
}

/** A conference in the native mixer. */
export class NativeRoom implements MediaRoom {
  readonly #hub: Hub;
  readonly #handle: RoomHandle;
  readonly #players: Players;
  readonly #members = new Map<MemberHandle, NativeMember>();
  readonly #onClose: () => void;
  #closed = false;

  constructor(hub: Hub, events: RoomEvents, onClose: () => void) {
    this.#hub = hub;
    this.#onClose = onClose;
    this.#handle = hub.engine.openRoom(hub.newHandle());
    this.#players = new Players(hub, this.#handle);
    hub.listenToPlace(this.#handle, (event) => {
      if (event.type === 'floorChanged') events.floor(this.#members.get(event.member));
    });
  }

  join(leg: MediaLeg, flags: MemberFlags): RoomMember {
    if (!(leg instanceof NativeLeg)) throw new BugError('a leg of another media engine');
    if (this.#members.size >= MAX_MEMBERS) throw new BugError('the room is full');
    const member = new NativeMember(this.#hub, this.#handle, leg, flags, () => {
      this.#members.delete(member.handle);
    });
    this.#members.set(member.handle, member);
    return member;
  }

  play(pcm: Pcm, options: PlayOptions): Playback {
    return this.#players.play(pcm, options);
  }

  playTone(tone: Tone, options: PlayOptions): Playback {
    return this.#players.playTone(tone, options);
  }

  /** Sample rate of the mixer: the highest of its members. */
  get rate(): LineRate {
    let highest: LineRate = 8000;
    for (const { leg } of this.#members.values()) if (leg.rate > highest) highest = leg.rate;
    return highest;
  }

  record(path: string): MediaRecording {
    return startRecording(this.#hub, this.#handle, this.rate, {
      path,
      channels: 'received',
      stereo: false,
      silenceEndMs: 0,
      maxMs: 0,
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const member of [...this.#members.values()]) member.leave();
    this.#players.close();
    this.#hub.forgetPlace(this.#handle);
    this.#hub.engine.closeRoom(this.#handle);
    this.#onClose();
  }
}
