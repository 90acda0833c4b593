/** Reader for `Record` (spec "Answer-XML instructions"; dialect §2.1, defaults from its first column). */
import type { ElementReader } from '../attributes.ts';
import { refuseContent } from '../content.ts';
import type { RecordInstruction } from '../instruction.ts';
import { DAY_S } from '../limits.ts';

const DEFAULT_MAX_LENGTH_S = 60;

export function readRecord(reader: ElementReader): RecordInstruction {
  refuseContent(reader);
  const { action, method } = reader.action();
  const recordSession = reader.boolean('recordSession', false);
  const startOnDialAnswer = reader.boolean('startOnDialAnswer', false);
  if (reader.text('maxLength') === undefined) {
    reader.warn(`<Record> has no maxLength: it ends after ${DEFAULT_MAX_LENGTH_S} s`);
  }
  return {
    kind: 'record',
    action,
    method,
    redirect: reader.boolean('redirect', false),
    ...reader.callback(),
    fileFormat: reader.choice('fileFormat', ['mp3', 'wav']) ?? 'mp3',
    silenceTimeoutMs: reader.seconds('timeout', { defaultS: 60, minS: 0, maxS: DAY_S }),
    maxLengthMs: reader.seconds('maxLength', {
      defaultS: DEFAULT_MAX_LENGTH_S,
      minS: 1,
      maxS: DAY_S,
    }),
    playBeep: reader.boolean('playBeep', true),
    finishOnKey: reader.keys('finishOnKey', '1234567890*#'),
    recordSession,
    startOnDialAnswer,
    recordRingback: reader.boolean('recordRingback', false),
    channels:
      reader.choice('recordChannelType', ['mono', 'stereo']) ??
      (recordSession || startOnDialAnswer ? 'stereo' : 'mono'),
    transcriptionType: reader.choice('transcriptionType', ['auto', 'hybrid']),
    transcriptionUrl: reader.url('transcriptionUrl'),
    transcriptionMethod: reader.method('transcriptionMethod'),
    ...reader.sourced(),
  };
}
