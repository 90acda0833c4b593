/** Maps element names to their readers and defines which elements each parent accepts. */
import { ElementReader } from '../attributes.ts';
import { elementsOnly } from '../content.ts';
import type {
  AnswerXmlOptions,
  Instruction,
  PreAnswerChild,
  PreAnswerInstruction,
} from '../instruction.ts';
import type { Positions } from '../problem.ts';
import type { XmlElement } from '../tree.ts';
import { readConference } from './conference.ts';
import { readDial } from './dial.ts';
import { readGather } from './gather.ts';
import { readMultiPartyCall } from './multi-party.ts';
import { readDtmf, readHangup, readMessage, readRecordingSwitch, readRedirect } from './other.ts';
import { readPlay, readSpeak, readWait } from './prompt.ts';
import { readRecord } from './record.ts';
import { readRefer } from './refer.ts';
import { readStream } from './stream.ts';

export interface ReadContext {
  readonly positions: Positions;
  readonly options: AnswerXmlOptions;
}

type Read<T> = (reader: ElementReader, context: ReadContext) => T;

/** Elements allowed in `PreAnswer` (dialect §2.1). */
const PRE_ANSWER: ReadonlyMap<string, Read<PreAnswerChild>> = new Map<string, Read<PreAnswerChild>>(
  [
    ['Speak', readSpeak],
    ['Play', readPlay],
    ['Wait', readWait],
    ['DTMF', readDtmf],
    ['GetDigits', (reader, { positions }) => readGather(reader, positions)],
    ['GetInput', (reader, { positions }) => readGather(reader, positions)],
    ['Gather', (reader, { positions }) => readGather(reader, positions)],
    ['Redirect', readRedirect],
    ['Message', readMessage],
  ],
);

/** Elements allowed in `Response`. */
const RESPONSE: ReadonlyMap<string, Read<Instruction>> = new Map<string, Read<Instruction>>([
  ...PRE_ANSWER,
  ['Dial', (reader, { positions }) => readDial(reader, positions)],
  ['Refer', (reader, { positions }) => readRefer(reader, positions)],
  ['Record', readRecord],
  ['PauseRecording', (reader) => readRecordingSwitch(reader, true)],
  ['ResumeRecording', (reader) => readRecordingSwitch(reader, false)],
  ['Stream', (reader, { options }) => readStream(reader, options)],
  ['Conference', readConference],
  ['MultiPartyCall', readMultiPartyCall],
  ['Hangup', readHangup],
  ['PreAnswer', readPreAnswer],
]);

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
