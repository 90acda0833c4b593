/** `Conference` (dialect §2.1). */
import type { ElementReader } from '../attributes.ts';
import { textOnly } from '../content.ts';
import type { ConferenceInstruction, ConferenceSound } from '../instruction.ts';
import { DAY_S } from '../limits.ts';

export const MAX_ROOM_NAME = 128;

export function readConference(reader: ElementReader): ConferenceInstruction {
  const room = textOnly(reader);
  if (room === '' || room.length > MAX_ROOM_NAME) {
    reader.refuse(
      room === '' ? '<Conference> has no name' : 'the name of the conference is too long',
      `a name of 1 to ${MAX_ROOM_NAME} characters as the text of <Conference>`,
    );
  }
  const { action, method } = reader.action();
  const beep = reader.boolean('beep', true);
  const maxMembers = { default: 20, min: 1, max: 200 };
  return {
    kind: 'conference',
    room,
    action,
    method,
    redirect: reader.boolean('redirect', true),
    ...reader.callback(),
    muted: reader.boolean('muted', false),
    enterSound: sound(reader, 'enterSound', beep ? { kind: 'beep', count: 1 } : NO_SOUND),
    exitSound: sound(reader, 'exitSound', beep ? { kind: 'beep', count: 2 } : NO_SOUND),
    startConferenceOnEnter: reader.boolean('startConferenceOnEnter', true),
    endConferenceOnExit: reader.boolean('endConferenceOnExit', false),
    stayAlone: reader.boolean('stayAlone', true),
    waitSound: reader.url('waitSound'),
    waitMethod: reader.method('waitMethod'),
    maxMembers: Math.min(
      reader.integer('maxMembers', maxMembers),
      reader.integer('maxParticipants', { ...maxMembers, default: maxMembers.max }),
    ),
    timeLimitMs: reader.seconds('timeLimit', { defaultS: 14_400, minS: 1, maxS: DAY_S }),
    hangupOnStar: reader.boolean('hangupOnStar', false),
    record: reader.boolean('record', false),
    recordFileFormat: reader.choice('recordFileFormat', ['mp3', 'wav']) ?? 'mp3',
    recordWhenAlone: reader.boolean('recordWhenAlone', false),
    digitsMatch: reader.keySequences('digitsMatch'),
    relayDtmf: reader.boolean('relayDTMF', true),
    floorEvent: reader.boolean('floorEvent', false),
    sendDigits: reader.digits('sendDigits'),
    party: undefined,
    ...reader.sourced(),
  };
}

const NO_SOUND = { kind: 'none' } as const;

/** Reads `beep:1`, `beep:2`, `none` or a URL. */
export function sound(
  reader: ElementReader,
  name: string,
  otherwise: ConferenceSound,
): ConferenceSound {
  const text = reader.text(name)?.toLowerCase();
  if (text === undefined) return otherwise;
  if (text === 'none') return NO_SOUND;
  if (text === 'beep:1' || text === 'beep:2') {
    return { kind: 'beep', count: text === 'beep:1' ? 1 : 2 };
  }
  return { kind: 'url', url: reader.url(name) ?? '' };
}
