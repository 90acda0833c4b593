/** Readers for `Speak`, `Play` and `Wait`, and for elements that contain them. */
import { ElementReader } from '../attributes.ts';
import { elementsOnly, refuseContent, urlContent } from '../content.ts';
import type {
  PlayInstruction,
  PromptInstruction,
  SpeakInstruction,
  WaitInstruction,
} from '../instruction.ts';
import { DAY_S, MAX_LOOP } from '../limits.ts';
import type { Positions } from '../problem.ts';
import type { XmlElement } from '../tree.ts';

const LOOP = { default: 1, min: 0, max: MAX_LOOP };
/** SSML elements allowed in `Speak` (dialect §2.1). */
export const SSML_ELEMENTS: ReadonlySet<string> = new Set([
  'break',
  'cont',
  'emphasis',
  'lang',
  'p',
  'phoneme',
  'prosody',
  's',
  'say-as',
  'sub',
  'w',
]);

export function readSpeak(reader: ElementReader): SpeakInstruction {
  const spoken = readSpoken(reader);
  if (spoken.text === '') reader.warn('<Speak> has no text and is skipped');
  return {
    kind: 'speak',
    ...spoken,
    loop: reader.integer('loop', LOOP),
    ...reader.sourced(),
  };
}

type Spoken = Pick<SpeakInstruction, 'text' | 'ssml' | 'voice' | 'language'>;

/** Reads the spoken text of an element and its voice. */
export function readSpoken(reader: ElementReader): Spoken {
  const { element } = reader;
  const hasMarkup = element.children.some((child) => typeof child !== 'string');
  return {
    text: plainText(element).replaceAll(/\s+/g, ' ').trim(),
    ssml: hasMarkup
      ? element.children
          .map((child) => markup(child, reader))
          .join('')
          .trim()
      : undefined,
    voice: reader.text('voice') ?? 'WOMAN',
    language: reader.text('language') ?? 'en-US',
  };
}

export function readPlay(reader: ElementReader): PlayInstruction {
  const url = urlContent(reader);
  return { kind: 'play', url, loop: reader.integer('loop', LOOP), ...reader.sourced() };
}

export function readWait(reader: ElementReader): WaitInstruction {
  refuseContent(reader);
  const range = { min: 100, max: 60_000 };
  const minSilence = reader.integer('minSilence', {
    // Attribute name used by older SDKs.
    default: reader.integer('min_silence', { default: 2000, ...range }),
    ...range,
  });
  return {
    kind: 'wait',
    lengthMs: reader.seconds('length', { defaultS: 1, minS: 0, maxS: DAY_S }),
    untilSilenceMs: reader.boolean('silence', false) ? minSilence : undefined,
    beep: readBeep(reader),
    ...reader.sourced(),
  };
}

/** Reads the prompts inside GetDigits, GetInput and Gather. */
export function readPrompts(reader: ElementReader, positions: Positions): PromptInstruction[] {
  return elementsOnly(reader).map((child) => {
    const prompt = readPrompt(new ElementReader(child, positions));
    return (
      prompt ??
      reader.refuse(
        `<${child.name}> inside of <${reader.element.name}>`,
        `Speak, Play or Wait in <${reader.element.name}>`,
        { child },
      )
    );
  });
}

function readPrompt(reader: ElementReader): PromptInstruction | undefined {
  switch (reader.element.name) {
    case 'Speak':
      return readSpeak(reader);
    case 'Play':
      return readPlay(reader);
    case 'Wait':
      return readWait(reader);
    default:
      return undefined;
  }
}

const BEEP_MEASURE = /^\s*(?:duration|inter_silence|intra_silence|threshold)\s*=\s*\d{1,5}\s*$/;

/** Reads `beep`: a boolean or `duration=300,inter_silence=50,intra_silence=500,threshold=256` (dialect §2.1). */
function readBeep(reader: ElementReader): boolean {
  const text = reader.text('beep');
  if (text === undefined || /^(false|0)$/i.test(text)) return false;
  if (/^(true|1)$/i.test(text)) return true;
  if (!text.split(',').every((item) => BEEP_MEASURE.test(item))) {
    return reader.refuse(
      `beep="${text.slice(0, 80)}" in <Wait>`,
      'beep: true, false, or duration=…,inter_silence=…,intra_silence=…,threshold=…',
      { attribute: 'beep' },
    );
  }
  // Length and level do not distinguish a beep from speech. The detector checks for one pure tone instead.
  reader.warn('the value of beep is ignored: any steady tone of 120 ms counts as a beep', 'beep');
  return true;
}

/** Plain text of the element: `sub` becomes its alias, `break` becomes a space. */
const plainText = (element: XmlElement): string =>
  element.children
    .map((child) => {
      if (typeof child === 'string') return child;
      if (child.name === 'break') return ' ';
      return child.name === 'sub' ? (child.attributes.get('alias') ?? '') : plainText(child);
    })
    .join('');

function markup(node: XmlElement | string, reader: ElementReader): string {
  if (typeof node === 'string') return escapeMarkup(node);
  if (!SSML_ELEMENTS.has(node.name)) {
    reader.refuse(
      `<${node.name}> inside of <Speak>`,
      `text or SSML: ${[...SSML_ELEMENTS].join(', ')}`,
      {
        child: node,
      },
    );
  }
  const attributes = [...node.attributes]
    .map(([name, value]) => ` ${name}="${escapeMarkup(value)}"`)
    .join('');
  const content = node.children.map((child) => markup(child, reader)).join('');
  return content === ''
    ? `<${node.name}${attributes}/>`
    : `<${node.name}${attributes}>${content}</${node.name}>`;
}

const escapeMarkup = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
