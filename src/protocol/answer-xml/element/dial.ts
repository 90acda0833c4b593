/** `Dial` with `Number` and `User` (spec "Answer-XML instructions", dialect §2.1). */

import { dialledNumber, MAX_DIALLED_LENGTH } from '../../../base/phone-number.ts';
import { isSipUri } from '../../../base/sip-uri.ts';
import { ElementReader } from '../attributes.ts';
import { childElements, ownText, textOnly } from '../content.ts';
import type {
  DialDestination,
  DialInstruction,
  DialMusic,
  NumberDestination,
  UserDestination,
  XmlPairs,
  XmlWarning,
} from '../instruction.ts';
import { DAY_S, MAX_DIAL_DESTINATIONS } from '../limits.ts';
import { sipHeaders } from '../pairs.ts';
import type { Positions } from '../problem.ts';

/** Longest caller name, in characters; longer names are cut (dialect §2.1). */
const MAX_CALLER_NAME = 50;
const MAX_URI_LENGTH = 512;

export function readDial(reader: ElementReader, positions: Positions): DialInstruction {
  const { action, method } = reader.action();
  const ownHeaders = sipHeaders(reader);
  const { destinations, warnings } = readDestinations(reader, positions, ownHeaders);
  return {
    kind: 'dial',
    action,
    method,
    redirect: reader.boolean('redirect', true),
    ...reader.callback(),
    callerId: headerText(reader, 'callerId'),
    callerName: callerName(reader),
    timeoutMs: reader.seconds('timeout', { defaultS: 120, minS: 1, maxS: 600 }),
    timeLimitMs: reader.seconds('timeLimit', { defaultS: 14_400, minS: 1, maxS: DAY_S }),
    hangupOnStar: reader.boolean('hangupOnStar', false),
    dialMusic: dialMusic(reader),
    confirmSound: reader.url('confirmSound'),
    confirmKey: confirmKey(reader),
    confirmTimeoutMs: reader.seconds('confirmTimeout', { defaultS: 15, minS: 1, maxS: 600 }),
    digitsMatch: reader.keySequences('digitsMatch'),
    digitsMatchBLeg: reader.keySequences('digitsMatchBLeg'),
    destinations,
    ...reader.sourced(warnings),
  };
}

function readDestinations(
  reader: ElementReader,
  positions: Positions,
  ownHeaders: XmlPairs,
): { destinations: readonly DialDestination[]; warnings: readonly XmlWarning[] } {
  const children = childElements(reader.element);
  const text = ownText(reader.element);
  if (children.length === 0 && text !== '') {
    const number = readNumberText(reader, text);
    return {
      destinations: [{ ...BARE, number, line: reader.line, sipHeaders: ownHeaders }],
      warnings: [],
    };
  }
  if (text !== '')
    reader.refuse('text in addition to elements in <Dial>', 'only Number and User in <Dial>');
  if (children.length === 0)
    reader.refuse('<Dial> has no destination', '<Number> or <User> in <Dial>');
  if (children.length > MAX_DIAL_DESTINATIONS) {
    reader.refuse(
      `<Dial> with ${children.length} destinations`,
      `at most ${MAX_DIAL_DESTINATIONS} destinations in <Dial>`,
    );
  }
  const warnings: XmlWarning[] = [];
  const destinations = children.map((child) => {
    const childReader = new ElementReader(child, positions);
    const destination = readDestination(childReader, ownHeaders);
    warnings.push(...childReader.sourced().warnings);
    return destination;
  });
  return { destinations, warnings };
}

const BARE = {
  kind: 'number',
  callerId: undefined,
  callerName: undefined,
  sendDigits: undefined,
  sendOnPreanswer: false,
  sendDigitsMode: undefined,
} as const;

function readDestination(reader: ElementReader, ownHeaders: XmlPairs): DialDestination {
  switch (reader.element.name) {
    case 'Number':
      return readNumber(reader, ownHeaders);
    case 'User':
      return readUser(reader, ownHeaders);
    case 'Record':
      return reader.refuse('<Record> inside of <Dial>', '<Record/> in front of <Dial>, not in it');
    default:
      return reader.refuse(`<${reader.element.name}> inside of <Dial>`, 'Number or User in <Dial>');
  }
}

function readNumber(reader: ElementReader, ownHeaders: XmlPairs): NumberDestination {
  return {
    kind: 'number',
    number: readNumberText(reader, textOnly(reader)),
    ...common(reader, ownHeaders),
  };
}

function readUser(reader: ElementReader, ownHeaders: XmlPairs): UserDestination {
  const uri = textOnly(reader);
  if (!isSipUri(uri) || uri.length > MAX_URI_LENGTH) {
    reader.refuse(`"${uri.slice(0, 80)}" in <User> is not a SIP URI`, 'sip:user@host in <User>');
  }
  return {
    kind: 'user',
    uri,
    sipAuthUsername: headerText(reader, 'sipAuthUsername'),
    sipAuthPassword: headerText(reader, 'sipAuthPassword'),
    ...common(reader, ownHeaders),
  };
}

function common(
  reader: ElementReader,
  ownHeaders: XmlPairs,
): Omit<NumberDestination, 'kind' | 'number'> {
  const headers = sipHeaders(reader);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  return {
    line: reader.line,
    callerId: headerText(reader, 'callerId'),
    callerName: callerName(reader),
    sendDigits: reader.digits('sendDigits'),
    sendOnPreanswer: reader.boolean('sendOnPreanswer', false),
    sendDigitsMode: reader.choice('sendDigitsMode', ['rfc2833', 'inband']),
    sipHeaders: [...ownHeaders.filter(([name]) => !names.has(name.toLowerCase())), ...headers],
  };
}

function readNumberText(reader: ElementReader, text: string): string {
  const number = dialledNumber(text);
  if (number !== undefined) return number;
  const { name } = reader.element;
  const shown = text.slice(0, 80);
  if (/^sips?:/i.test(text)) {
    return reader.refuse(`"${shown}" in <${name}> is a SIP URI`, '<User> for SIP URIs');
  }
  return reader.refuse(
    text === '' ? `<${name}> has no number` : `"${shown}" in <${name}> is not a number`,
    `1 to ${MAX_DIALLED_LENGTH} digits in <${name}>`,
  );
}

/** Reads an attribute that becomes part of a SIP header field. Rejects the document if it contains control characters. */
function headerText(reader: ElementReader, attribute: string): string | undefined {
  const text = reader.text(attribute);
  if (text === undefined || !/[\u0000-\u001f\u007f-\u009f]/.test(text)) return text;
  return reader.refuse(
    `${attribute} has control characters`,
    `${attribute} without control characters`,
    { attribute },
  );
}

function callerName(reader: ElementReader): string | undefined {
  const name = headerText(reader, 'callerName');
  if (name === undefined || name.length <= MAX_CALLER_NAME) return name;
  reader.warn(`callerName is cut to ${MAX_CALLER_NAME} characters`, 'callerName');
  return name.slice(0, MAX_CALLER_NAME);
}

function dialMusic(reader: ElementReader): DialMusic {
  const text = reader.text('dialMusic');
  if (text === undefined) return { kind: 'ringback' };
  if (text.toLowerCase() === 'real') return { kind: 'real' };
  return { kind: 'url', url: reader.url('dialMusic') ?? text };
}

function confirmKey(reader: ElementReader): string | undefined {
  const key = reader.text('confirmKey')?.toUpperCase();
  if (key === undefined || /^[0-9*#A-D]$/.test(key)) return key;
  return reader.refuse(`confirmKey="${key.slice(0, 80)}"`, 'confirmKey: one of 0-9, *, #', {
    attribute: 'confirmKey',
  });
}
