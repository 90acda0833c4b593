/** Maps element names to their readers and defines which elements each parent accepts. */
import { ElementReader } from '../attributes.ts';
import { elementsOnly } from '../content.ts';
import type {
  AnswerXmlOptions,
  GatherInstruction,
  Instruction,
  PreAnswerChild,
  PreAnswerInstruction,
} from '../instruction.ts';
import type { Positions } from '../problem.ts';
import type { XmlElement } from '../tree.ts';
import { readConference } from './conference.ts';
import { readConsent } from './consent.ts';
import { readDial } from './dial.ts';
import { readGather } from './gather.ts';
import { readMultiPartyCall } from './multi-party.ts';
import { readDtmf, readHangup, readMessage, readRecordingSwitch, readRedirect } from './other.ts';
import { readPlay, readSpeak, readWait } from './prompt.ts';
import { readRecord } from './record.ts';
import { readRefer } from './refer.ts';
import { readStream } from './stream.ts';
import { readTransfer } from './transfer.ts';

export interface ReadContext {
  readonly positions: Positions;
  readonly options: AnswerXmlOptions;
}

type Read<T> = (reader: ElementReader, context: ReadContext) => T;

type InstructionKind = Instruction['kind'];
type Readers<K extends InstructionKind> = Readonly<
  Record<string, Read<Extract<Instruction, { readonly kind: K }>>>
>;

const gather: Read<GatherInstruction> = (reader, { positions }) => readGather(reader, positions);

/** Elements allowed in `PreAnswer` (dialect §2.1), by the instruction that they become. */
const PRE_ANSWER_READERS: { readonly [K in PreAnswerChild['kind']]: Readers<K> } = {
  speak: { Speak: readSpeak },
  play: { Play: readPlay },
  wait: { Wait: readWait },
  dtmf: { DTMF: readDtmf },
  gather: { GetDigits: gather, GetInput: gather, Gather: gather },
  redirect: { Redirect: readRedirect },
  message: { Message: readMessage },
};

/** Elements allowed in `Response`, by the instruction that they become. */
const RESPONSE_READERS: { readonly [K in InstructionKind]: Readers<K> } = {
  ...PRE_ANSWER_READERS,
  dial: { Dial: (reader, { positions }) => readDial(reader, positions) },
  refer: { Refer: (reader, { positions }) => readRefer(reader, positions) },
  record: { Record: readRecord },
  recordingSwitch: {
    PauseRecording: (reader) => readRecordingSwitch(reader, true),
    ResumeRecording: (reader) => readRecordingSwitch(reader, false),
  },
  stream: { Stream: (reader, { options }) => readStream(reader, options) },
  transfer: { Transfer: readTransfer },
  consent: { Consent: readConsent },
  conference: { Conference: readConference, MultiPartyCall: readMultiPartyCall },
  hangup: { Hangup: readHangup },
  preAnswer: { PreAnswer: readPreAnswer },
};

const byName = <T>(
  readers: Readonly<Record<string, Readonly<Record<string, Read<T>>>>>,
): ReadonlyMap<string, Read<T>> => new Map(Object.values(readers).flatMap(Object.entries<Read<T>>));

const PRE_ANSWER = byName<PreAnswerChild>(PRE_ANSWER_READERS);
const RESPONSE = byName<Instruction>(RESPONSE_READERS);

/** Names of all elements that a `Response` may contain. */
export const ELEMENT_NAMES: readonly string[] = [...RESPONSE.keys()];

/** Reads the instructions of a `Response`. */
export function readResponse(root: XmlElement, context: ReadContext): readonly Instruction[] {
  const reader = new ElementReader(root, context.positions);
  if (root.name !== 'Response') {
    reader.refuse(`the root element is <${root.name}>`, '<Response> as the root element');
  }
  return elementsOnly(reader).map((child) => readChild(child, root, RESPONSE, context));
}

function readPreAnswer(reader: ElementReader, context: ReadContext): PreAnswerInstruction {
  const children = elementsOnly(reader).map((child) =>
    readChild(child, reader.element, PRE_ANSWER, context),
  );
  return {
    kind: 'preAnswer',
    children,
    ...reader.sourced(children.flatMap((child) => child.warnings)),
  };
}

function readChild<T>(
  child: XmlElement,
  parent: XmlElement,
  readers: ReadonlyMap<string, Read<T>>,
  context: ReadContext,
): T {
  const reader = new ElementReader(child, context.positions);
  const read = readers.get(child.name);
  if (read !== undefined) return read(reader, context);
  const names = [...readers.keys()];
  const known = names.find((name) => name.toLowerCase() === child.name.toLowerCase());
  const problem =
    known === undefined && RESPONSE.has(child.name)
      ? `<${child.name}> inside of <${parent.name}>`
      : `unknown element <${child.name}>`;
  return reader.refuse(
    problem,
    known === undefined ? `one of ${names.join(', ')}` : `<${known}> (names are case-sensitive)`,
  );
}
