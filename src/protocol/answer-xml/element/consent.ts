/** Reader for `Consent`, an addition to the dialect: a question that the caller answers with a key. */
import type { ElementReader } from '../attributes.ts';
import type { ConsentInstruction } from '../instruction.ts';
import { readSpoken } from './prompt.ts';

export function readConsent(reader: ElementReader): ConsentInstruction {
  const spoken = readSpoken(reader);
  if (spoken.text === '')
    reader.refuse('<Consent> has no text', 'a question as the text of <Consent>');
  const key = reader.text('key') ?? '1';
  if (!/^[0-9*#]$/.test(key))
    reader.refuse(`key="${key.slice(0, 80)}"`, 'key: one of 0-9, *, #', { attribute: 'key' });
  return {
    kind: 'consent',
    ...spoken,
    key,
    timeoutMs: reader.seconds('timeout', { defaultS: 10, minS: 1, maxS: 60 }),
    onRefusal: reader.choice('onRefusal', ['hangup', 'continue']) ?? 'hangup',
    ...reader.action(),
    redirect: reader.boolean('redirect', true),
    ...reader.sourced(),
  };
}
