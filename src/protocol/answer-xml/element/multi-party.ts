/** `MultiPartyCall` (dialect §2.1): a room whose members are agents, customers and supervisors. */
import type { ElementReader } from '../attributes.ts';
import { textOnly } from '../content.ts';
import type { ConferenceInstruction } from '../instruction.ts';
import { MAX_ROOM_NAME, sound } from './conference.ts';

const EVENTS = [
  'mpc-state-changes',
  'participant-state-changes',
  'participant-speak-events',
  'participant-digit-input-events',
  'add-participant-api-events',
] as const;

export function readMultiPartyCall(reader: ElementReader): ConferenceInstruction {
  const room = readName(reader);
  const role = reader.choice('role', ['agent', 'supervisor', 'customer']);
  if (role === undefined) {
    return reader.refuse('<MultiPartyCall> has no role', 'role: agent, customer or supervisor');
  }
  const maxDurationMs = reader.seconds('maxDuration', {
    defaultS: 14_400,
    minS: 300,
    maxS: 28_800,
  });
  return {
    kind: 'conference',
    room,
    action: reader.url('onExitActionUrl', 'actionUrl'),
    method: reader.method('onExitActionMethod', 'actionMethod'),
    redirect: true,
    callbackUrl: undefined,
    callbackMethod: 'POST',
    muted: reader.boolean('mute', false),
    enterSound: sound(reader, 'enterSound', { kind: 'beep', count: 1 }),
    exitSound: sound(reader, 'exitSound', { kind: 'beep', count: 2 }),
    startConferenceOnEnter: reader.boolean('startMpcOnEnter', true),
    endConferenceOnExit: reader.boolean('endMpcOnExit', false),
    stayAlone: reader.boolean('stayAlone', false),
    waitSound: reader.url('waitMusicUrl'),
    waitMethod: reader.method('waitMusicMethod'),
    maxMembers: reader.integer('maxParticipants', { default: 10, min: 2, max: 10 }),
    timeLimitMs: maxDurationMs,
    hangupOnStar: false,
    record: reader.boolean('record', false),
    recordFileFormat: reader.choice('recordFileFormat', ['mp3', 'wav']) ?? 'mp3',
    recordWhenAlone: reader.integer('recordMinMemberCount', { default: 1, min: 1, max: 2 }) === 1,
    digitsMatch: [],
    relayDtmf: reader.boolean('relayDTMFInputs', false),
    floorEvent: false,
    sendDigits: undefined,
    party: { ...readParty(reader, role), maxDurationMs },
    ...reader.sourced(),
  };
}

function readName(reader: ElementReader): string {
  const room = textOnly(reader);
  if (room === '' || room.length > MAX_ROOM_NAME) {
    reader.refuse(
      '<MultiPartyCall> has no name, or one that is too long',
      `a name of 1 to ${MAX_ROOM_NAME} characters as the text of <MultiPartyCall>`,
    );
  }
  return room;
}

type Party = NonNullable<ConferenceInstruction['party']>;

/** Reads the attributes that conferences of other elements do not have. */
function readParty(reader: ElementReader, role: Party['role']): Omit<Party, 'maxDurationMs'> {
  const holds = role === 'customer' ? 'customerHoldMusic' : 'agentHoldMusic';
  const statusCallbackUrl = reader.url('statusCallbackUrl');
  const transcript = reader.boolean('transcript', false);
  const transcriptionUrl = reader.url('transcriptionUrl');
  return {
    role,
    waitLimitMs: reader.seconds('waitTime', { defaultS: 0, minS: 0, maxS: 1800 }),
    coachMode: reader.boolean('coachMode', true),
    hold: reader.boolean('hold', false),
    holdMusic: reader.url(`${holds}Url`),
    holdMethod: reader.method(`${holds}Method`),
    statusCallback:
      statusCallbackUrl === undefined
        ? undefined
        : { url: statusCallbackUrl, method: reader.method('statusCallbackMethod') },
    events: events(reader),
    recordingCallback: target(reader, 'recordingCallback'),
    transcription:
      transcript || transcriptionUrl !== undefined
        ? { url: transcriptionUrl, method: reader.method('transcriptionMethod') }
        : undefined,
  };
}

function target(reader: ElementReader, name: string) {
  const url = reader.url(`${name}Url`);
  const method = reader.method(`${name}Method`);
  return url === undefined ? undefined : { url, method };
}

/**
 * Reads a comma-separated list of events. Default: all state changes. Unknown events have no effect and cause a
 * warning.
 */
function events(reader: ElementReader): ReadonlySet<string> {
  const text = reader.text('statusCallbackEvents');
  if (text === undefined) return new Set(EVENTS.slice(0, 2));
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (!EVENTS.some((known) => known === name)) {
      reader.warn(`${name.slice(0, 60)} is not an event`, 'statusCallbackEvents');
    }
  }
  return new Set(names);
}
