/** Reader for `Transfer`, an addition to the dialect: connects the caller with a colleague. The colleague can decline. */

import { dialledNumber } from '../../../base/phone-number.ts';
import { isSipUri } from '../../../base/sip-uri.ts';
import type { ElementReader } from '../attributes.ts';
import { textOnly } from '../content.ts';
import type { TransferInstruction } from '../instruction.ts';

const MAX_URI_LENGTH = 512;
const MAX_INTRODUCTION = 1000;
const MODES = ['blind', 'attended', 'warm'] as const;
const STREAMS = ['end', 'caller', 'colleague'] as const;

export function readTransfer(reader: ElementReader): TransferInstruction {
  const mode = reader.choice('mode', MODES) ?? 'blind';
  const stream = reader.choice('stream', STREAMS) ?? 'end';
  if (mode === 'blind' && stream !== 'end') {
    reader.refuse(`stream="${stream}" with mode="blind"`, 'mode: attended or warm', {
      attribute: 'stream',
    });
  }
  return {
    kind: 'transfer',
    to: destination(reader),
    mode,
    stream,
    introduction: introduction(reader, mode),
    music: reader.url('music'),
    callerId: callerId(reader),
    timeoutMs: reader.seconds('timeout', { defaultS: 30, minS: 1, maxS: 120 }),
    ...reader.action(),
    redirect: reader.boolean('redirect', true),
    ...reader.callback(),
    ...reader.sourced(),
  };
}

function destination(reader: ElementReader): string {
  const text = textOnly(reader);
  const isUri = isSipUri(text) && text.length <= MAX_URI_LENGTH;
  if (isUri || dialledNumber(text) !== undefined) return text;
  return reader.refuse(
    text === '' ? '<Transfer> has no destination' : `"${text.slice(0, 80)}" in <Transfer>`,
    'a number or sip:user@host in <Transfer>',
  );
}

function introduction(
  reader: ElementReader,
  mode: TransferInstruction['mode'],
): string | undefined {
  const text = reader.text('introduction');
  if (text === undefined) return undefined;
  const at = { attribute: 'introduction' };
  if (mode !== 'warm') reader.refuse(`introduction with mode="${mode}"`, 'mode: warm', at);
  if (text.length <= MAX_INTRODUCTION) return text;
  return reader.refuse('introduction is too long', `at most ${MAX_INTRODUCTION} characters`, at);
}

function callerId(reader: ElementReader): string | undefined {
  const text = reader.text('callerId');
  // The text becomes part of a SIP header field.
  if (text === undefined || !/\p{Cc}/u.test(text)) return text;
  return reader.refuse('callerId has control characters', 'callerId without control characters', {
    attribute: 'callerId',
  });
}
