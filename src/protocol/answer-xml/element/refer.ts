/** Reader for `Refer`, which asks the remote carrier or trunk to call another target. */
import { dialledNumber } from '../../../base/phone-number.ts';
import { ElementReader } from '../attributes.ts';
import { childElements, ownText, textOnly } from '../content.ts';
import type { ReferInstruction } from '../instruction.ts';
import type { Positions } from '../problem.ts';

const MAX_URI_LENGTH = 512;
const EXPECTED = '<Sip>sip:user@host</Sip> or <Number>digits</Number> in <Refer>';

/** Reads one `Sip`, `User` or `Number` child, or a URI or number as text. */
export function readRefer(reader: ElementReader, positions: Positions): ReferInstruction {
  const children = childElements(reader.element);
  const [child] = children;
  const text = ownText(reader.element);
  if (children.length > 1 || (child !== undefined && text !== '')) {
    reader.refuse('more than one target in <Refer>', EXPECTED);
  }
  if (child !== undefined && !['Sip', 'User', 'Number'].includes(child.name)) {
    reader.refuse(`<${child.name}> inside of <Refer>`, EXPECTED, { child });
  }
  const inner = child === undefined ? undefined : new ElementReader(child, positions);
  const destination = readTarget(reader, inner === undefined ? text : textOnly(inner));
  return {
    kind: 'refer',
    ...reader.action(),
    redirect: reader.boolean('redirect', true),
    timeoutMs: reader.seconds('timeout', { defaultS: 60, minS: 5, maxS: 180 }),
    destination,
    ...reader.sourced(inner?.sourced().warnings),
  };
}

/** Parses a SIP URI without header fields, or a number. Returns undefined for any other text. */
export function referTarget(text: string): ReferInstruction['destination'] | undefined {
  if (/^sips?:[^\s@<>"?]+@[^\s@<>"?]+$/i.test(text) && text.length <= MAX_URI_LENGTH) {
    return { kind: 'sip', uri: text };
  }
  const number = dialledNumber(text);
  return number === undefined ? undefined : { kind: 'number', number };
}

const readTarget = (reader: ElementReader, text: string): ReferInstruction['destination'] =>
  referTarget(text) ??
  reader.refuse(
    text === '' ? '<Refer> has no target' : `"${text.slice(0, 80)}" in <Refer> is not a target`,
    EXPECTED,
  );
