/** Readers for `DTMF`, `Redirect`, `Hangup` and `Message`. */
import { DIGIT_STRING, type ElementReader, isDigitString } from '../attributes.ts';
import { refuseContent, textOnly, urlContent } from '../content.ts';
import type {
  DtmfInstruction,
  HangupInstruction,
  MessageInstruction,
  RecordingSwitchInstruction,
  RedirectInstruction,
} from '../instruction.ts';
import { DAY_S } from '../limits.ts';

export function readDtmf(reader: ElementReader): DtmfInstruction {
  const digits = textOnly(reader).replaceAll(/\s/g, '');
  if (!isDigitString(digits)) {
    reader.refuse(`"${digits.slice(0, 80)}" in <DTMF>`, `${DIGIT_STRING} as the text of <DTMF>`);
  }
  return { kind: 'dtmf', digits, async: reader.boolean('async', true), ...reader.sourced() };
}

export const readRedirect = (reader: ElementReader): RedirectInstruction => ({
  kind: 'redirect',
  url: urlContent(reader, 'redirectUrl'),
  method: reader.method('method', 'redirectMethod'),
  ...reader.sourced(),
});

export function readHangup(reader: ElementReader): HangupInstruction {
  refuseContent(reader);
  return {
    kind: 'hangup',
    reason: reader.choice('reason', ['rejected', 'busy']),
    scheduleMs: reader.optionalSeconds('schedule', { minS: 0, maxS: DAY_S }),
    ...reader.sourced(),
  };
}

export function readMessage(reader: ElementReader): MessageInstruction {
  const text = textOnly(reader);
  reader.text('type');
  reader.warn('<Message> is ignored: messages are not supported');
  return {
    kind: 'message',
    source: reader.text('src') ?? '',
    destinations: (reader.text('dst') ?? '').split('<').filter((to) => to.trim() !== ''),
    text,
    ...reader.callback(),
    ...reader.sourced(),
  };
}

/** `PauseRecording` and `ResumeRecording`, additions to the dialect without attributes. */
export const readRecordingSwitch = (
  reader: ElementReader,
  isPaused: boolean,
): RecordingSwitchInstruction => {
  refuseContent(reader);
  return { kind: 'recordingSwitch', isPaused, ...reader.sourced() };
};
