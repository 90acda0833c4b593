/** One conference: its members, its state and the sounds that all members hear. */
import { type Clock, wallUs } from '../../../base/clock.ts';
import { type AccountId, type Random, uuid } from '../../../base/ids.ts';
import type { Logger } from '../../../base/logger.ts';
import type { Result } from '../../../base/result.ts';
import type {
  ConferenceInstruction,
  ConferenceSound,
} from '../../../protocol/answer-xml/answer-xml.ts';
import type { Media, MediaRoom, RoomMember } from '../../call/needs.ts';
import { agreementOf } from '../../call/types.ts';
import type { LeaveReason, Recorder, VerbContext } from '../needs.ts';
import type { LiveRecording, RecordRefusal, RoomRecordRequest } from '../recording/types.ts';
import { playSoundUrl, type SoundSource } from '../sound-url.ts';
import { beeps, RELAYED_DIGITS } from '../tones.ts';
import {
  notifyDigits,
  notifyEnter,
  notifyExit,
  notifyFloor,
  soundParameters,
} from './conference-events.ts';
import { describedMember } from './described-member.ts';
import { Member } from './member.ts';
import { enterParty, recordingReported } from './party.ts';
import { notifyParty } from './party-events.ts';
import { PartyHistory } from './party-history.ts';
import { heardBy, mayRecord, noteRefusal } from './record-consent.ts';
import { RecordingSlot } from './recording-slot.ts';

/** Maximum length of a recording started by a document: 24 h. Limits recordings of rooms that never empty. */
const LONGEST_RECORDING_MS = 86_400_000;
/** Minimum number of members for a recording; one member suffices with recordWhenAlone. */
const COMPANY = 2;

export interface RoomNeeds {
  readonly media: Media;
  readonly recorder: Pick<Recorder, 'startRoom'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

export class Room {
  readonly uuid: string;
  readonly name: string;
  readonly accountId: AccountId;
  /** Monotonic time of creation, in ms. */
  readonly startedMs: number;
  readonly #needs: RoomNeeds;
  readonly #media: MediaRoom;
  readonly recordings: RecordingSlot<RoomRecordRequest>;
  readonly history: PartyHistory;
  readonly #members = new Map<string, Member>();
  readonly #closed = new AbortController();
  readonly #onEmpty: () => void;
  /** Called after each change of the members. */
  #onMembers: () => void = () => undefined;
  /** True while all members leave together: to another node, or at the end for all. */
  #isClearing = false;
  #lastId = 0;
  #firstId = '';
  readonly #begins = Promise.withResolvers<void>();
  #begun = false;
  #floor: Member | undefined;
  /** First member with a `statusCallbackUrl`: receives the events of the whole multi-party call. */
  #notifier: Member | undefined;
  /** First member with a `record` attribute: determines the recording of the room. */
  #recordFor: Member | undefined;
  /** Whether the members want a new recording when the stopped one has ended its start. */
  #recordsAgain = false;

  constructor(
    of: { readonly name: string; readonly accountId: AccountId },
    needs: RoomNeeds,
    onEmpty: () => void,
  ) {
    this.uuid = uuid(needs.random);
    this.name = of.name;
    this.accountId = of.accountId;
    this.startedMs = needs.clock.monotonicMs();
    this.#needs = needs;
    this.#onEmpty = onEmpty;
    this.#media = needs.media.openRoom({ floor: (seat) => this.#floorTaken(seat) });
    this.recordings = new RecordingSlot((request) =>
      needs.recorder.startRoom(this.#media, request),
    );
    this.history = new PartyHistory(this.#nowUs());
  }

  /** Members in order of joining. */
  get members(): readonly Member[] {
    return [...this.#members.values()];
  }

  /** The active recording, or the most recent one. */
  get recording(): LiveRecording | undefined {
    return this.recordings.last;
  }

  /**
   * Adds a member. Returns undefined if the room has reached the instruction's member limit. `goesOn`: the conference
   * had begun on another node, so it begins here immediately.
   */
  enter(
    instruction: ConferenceInstruction,
    context: VerbContext,
    goesOn = false,
  ): Member | undefined {
    if (this.#members.size >= instruction.maxMembers) return undefined;
    const { muted } = instruction;
    const unrecorded = !agreementOf(context.call).ok;
    const seat = this.#media.join(context.call.media, { muted, deaf: false, unrecorded });
    const member = new Member(this.#nextId(), seat, { instruction, context });
    const isFirst = this.#members.size === 0;
    heardBy(this.members, member);
    if (isFirst) this.#firstId = member.id;
    this.#members.set(member.id, member);
    context.call.log.add('call', 'conference entered', { name: this.name, memberId: member.id });
    notifyEnter(this, member, isFirst);
    this.#partyEntered(member, isFirst);
    member.watch({
      pressed: (digit) => {
        notifyParty(this, member, 'ParticipantDigitInput', [['Digit', digit]]);
        this.#relay(member, digit);
      },
      matched: (keys) => notifyDigits(this, member, keys),
      exitRequested: (reason) => this.leave(member, reason),
    });
    if (instruction.startConferenceOnEnter || goesOn) this.#begin();
    if (this.#begun) this.#announce(instruction.enterSound, member);
    this.#considerWaiting(member);
    if (instruction.record) noteRefusal(member);
    this.#considerRecording();
    this.#onMembers();
    return member;
  }

  /** Registers the function to call after each change of the members. It replaces an earlier one. */
  onMembers(changed: () => void): void {
    this.#onMembers = changed;
  }

  leave(member: Member, reason: LeaveReason): void {
    if (!this.#members.delete(member.id)) return;
    const { clock } = this.#needs;
    this.history.left(describedMember(member, clock), reason, this.#nowUs());
    member.out(reason);
    const { call } = member.context;
    call.log.add('call', 'conference left', { name: this.name, memberId: member.id, reason });
    const wasFirst = member.id === this.#firstId;
    notifyExit(this, member, { wasFirst, isLast: this.#members.size === 0 });
    notifyParty(this, member, 'ParticipantLeft', [['Reason', reason]]);
    this.#onMembers();
    if (this.#members.size === 0) notifyParty(this, this.#notifier ?? member, 'MPCEnded');
    if (this.#isClearing) {
      this.closeIfEmpty();
      return;
    }
    const remaining = this.members;
    const [only] = remaining;
    if (only === undefined) this.closeIfEmpty();
    else if (member.instruction.endConferenceOnExit) this.end();
    else if (remaining.length === 1 && !only.instruction.stayAlone) this.leave(only, 'alone');
    else {
      if (this.#begun) this.#announce(member.instruction.exitSound, member);
      if (only.instruction.party !== undefined && remaining.length === 1)
        this.#considerWaiting(only);
      this.#considerRecording();
    }
  }

  /** Removes all members; their documents continue. */
  end(): void {
    this.#clear('roomEnded');
  }

  /** Removes all members so that they can join again on another node. */
  moveAway(): void {
    this.#clear('moved');
  }

  #clear(reason: LeaveReason): void {
    this.#isClearing = true;
    for (const member of this.members) this.leave(member, reason);
  }

  async record(request: RoomRecordRequest): Promise<Result<LiveRecording, RecordRefusal>> {
    try {
      return await this.recordings.start(request);
    } finally {
      if (this.#recordsAgain && !this.recordings.isRunning) this.#considerRecording();
    }
  }

  /** Stops the recording and disables recording by document. Returns false if no recording was running. */
  stopRecording(): boolean {
    this.#recordFor = undefined;
    return this.recordings.stop('API request');
  }

  /** Begins the conference, regardless of its members. */
  begin(): void {
    this.#begin();
  }

  /** Resolves when the conference begins, which may never happen. */
  get begins(): Promise<void> {
    return this.#begins.promise;
  }

  get hasBegun(): boolean {
    return this.#begun;
  }

  #partyEntered(member: Member, isFirst: boolean): void {
    const { party } = member.instruction;
    if (party?.statusCallback !== undefined) this.#notifier ??= member;
    enterParty(this, member, isFirst);
    if (!isFirst || party === undefined) return;
    const { clock } = this.#needs;
    const cancel = clock.at(clock.monotonicMs() + party.maxDurationMs, () => {
      this.history.endsBy('maxDuration');
      this.end();
    });
    this.#closed.signal.addEventListener('abort', cancel, { once: true });
  }

  /** Members wait until the conference begins. In a multi-party call, a lone member waits too. */
  #considerWaiting(member: Member): void {
    const { party } = member.instruction;
    if (this.#begun && (party === undefined || this.#members.size > 1)) {
      for (const other of this.#members.values()) if (other.isWaiting) other.begin();
      return;
    }
    member.wait(
      this.#waitSound(member),
      party && { ms: party.waitLimitMs, over: () => this.leave(member, 'timeLimit') },
    );
  }

  #nowUs(): number {
    return wallUs(this.#needs.clock);
  }

  #nextId(): string {
    this.#lastId += 1;
    return String(this.#lastId);
  }

  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    this.#begins.resolve();
    this.history.startedUs = this.#nowUs();
    if (this.#notifier !== undefined) notifyParty(this, this.#notifier, 'MPCStarted');
    for (const member of this.#members.values()) {
      if (member.instruction.party === undefined || this.#members.size > 1) member.begin();
    }
  }

  closeIfEmpty(): void {
    if (this.#members.size > 0 || this.#closed.signal.aborted) return;
    this.#closed.abort(new Error('the conference has ended'));
    this.recordings.stop('HungUp');
    this.#media.close();
    this.#onEmpty();
  }

  /** Plays a sound to the whole room. */
  #announce(sound: ConferenceSound, { context, id }: Member): void {
    if (sound.kind === 'none') return;
    if (sound.kind === 'beep') {
      this.#media.playTone(beeps(sound.count), { loop: 1, mix: true });
      return;
    }
    const { call, needs } = context;
    void playSoundUrl(this.source(sound.url, 'POST', id), {
      call,
      needs,
      signal: this.#closed.signal,
      repeat: false,
      listener: { media: this.#media, log: call.log },
    });
  }

  #waitSound({ instruction, id }: Member): SoundSource | undefined {
    const { waitSound: url, waitMethod } = instruction;
    return url === undefined ? undefined : this.source(url, waitMethod, id);
  }

  source(url: string, method: 'GET' | 'POST', memberId: string): SoundSource {
    return { url, method, event: 'ConferenceRemoteSounds', own: soundParameters(this, memberId) };
  }

  /** Relays keypad events to other members (relayDTMF). Events, unlike tones, are not part of the mixed audio. */
  #relay(from: Member, digit: string): void {
    const { call } = from.context;
    if (!this.#begun || !from.instruction.relayDtmf || !call.keypadEvents) return;
    for (const member of this.#members.values()) {
      if (member === from || member.deaf) continue;
      void member.context.call.media.sendDigits(digit, RELAYED_DIGITS);
    }
  }

  /** Sends floor events when another member begins to speak, but not when the same member continues after a pause. */
  #floorTaken(seat: RoomMember | undefined): void {
    if (seat === undefined) return;
    const member = this.members.find((candidate) => candidate.seat === seat);
    if (member === undefined || member === this.#floor) return;
    this.#floor = member;
    if (member.instruction.floorEvent) notifyFloor(this, member);
    notifyParty(this, member, 'ParticipantSpeaking');
  }

  /** Implements a document's `record`: records while the room has two members, with recordWhenAlone one. */
  #considerRecording(): void {
    this.#recordFor ??= this.members.find(mayRecord);
    const member = this.#recordFor;
    if (member === undefined) return;
    const { instruction, context } = member;
    const enough = instruction.recordWhenAlone || this.#members.size >= COMPANY;
    this.#recordsAgain = enough && this.recordings.isStopping;
    if (!enough) {
      this.recordings.stop('HungUp');
      return;
    }
    if (this.recordings.isRunning) return;
    const { call } = context;
    const request: RoomRecordRequest = {
      accountId: this.accountId,
      currency: call.price.currency,
      conferenceName: this.name,
      conferenceUuid: this.uuid,
      format: instruction.recordFileFormat,
      maxMs: LONGEST_RECORDING_MS,
      ...recordingReported(this, member),
    };
    this.record(request).then(
      (started) => {
        if (!started.ok) call.log.add('warning', 'conference not recorded', { ...started.error });
      },
      (error: unknown) => {
        this.#needs.logger.error({ error, conference: this.uuid }, 'conference not recorded');
      },
    );
  }
}
