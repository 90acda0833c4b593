import { ELEMENT_NAMES, parseAnswerXml } from '../../src/protocol/answer-xml/answer-xml.ts';
import { ElementReader } from '../../src/protocol/answer-xml/attributes.ts';

export interface SeenAttribute {
  readonly name: string;
  /** Accepted values, as text. */
  readonly values: string;
  readonly otherwise: string;
}

/** The least document with each element, by which its reader is run. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  Speak: '<Speak>x</Speak>',
  Play: '<Play>https://a.example/a.mp3</Play>',
  Wait: '<Wait/>',
  DTMF: '<DTMF>1</DTMF>',
  GetDigits: '<GetDigits action="https://a.example/"/>',
  GetInput: '<GetInput action="https://a.example/" inputType="dtmf speech"/>',
  Gather: '<Gather action="https://a.example/" inputType="dtmf speech"/>',
  Record: '<Record maxLength="60"/>',
  PauseRecording: '<PauseRecording/>',
  ResumeRecording: '<ResumeRecording/>',
  Dial: '<Dial><Number>1</Number></Dial>',
  Number: '<Dial><Number>1</Number></Dial>',
  User: '<Dial><User>sip:a@b.example</User></Dial>',
  Conference: '<Conference>room</Conference>',
  MultiPartyCall:
    '<MultiPartyCall role="customer" statusCallbackUrl="https://a.example/">room</MultiPartyCall>',
  Stream: '<Stream>wss://a.example/</Stream>',
  Refer: '<Refer>sip:a@b.example</Refer>',
  Consent: '<Consent>x</Consent>',
  Transfer: '<Transfer mode="warm">1</Transfer>',
  Redirect: '<Redirect>https://a.example/</Redirect>',
  PreAnswer: '<PreAnswer><Wait/></PreAnswer>',
  Hangup: '<Hangup/>',
};

/** Elements without a section of the reference: accepted and ignored. */
const IGNORED = new Set(['Message']);

/** All elements that the readers accept, and the children of `Dial`. */
export const ELEMENTS: readonly string[] = [
  ...new Set([...Object.keys(DOCUMENTS), ...ELEMENT_NAMES.filter((name) => !IGNORED.has(name))]),
];

type Note = (args: readonly unknown[]) => readonly [values: string, otherwise: string];

const seconds = ({ defaultS, minS, maxS }: Record<string, number>): readonly [string, string] => [
  `seconds, ${minS} to ${maxS}`,
  defaultS === undefined ? '' : String(defaultS),
];

/** Accepted values of each reader method. */
const METHODS: Readonly<Record<string, Note>> = {
  text: () => ['text', ''],
  boolean: ([, otherwise]) => ['true or false', String(otherwise)],
  integer: ([, range]) => {
    const { default: otherwise, min, max } = range as Record<string, number>;
    return [`whole number, ${min} to ${max}`, String(otherwise)];
  },
  seconds: ([, range]) => seconds(range as Record<string, number>),
  optionalSeconds: ([, range]) => seconds(range as Record<string, number>),
  choice: ([, choices]) => [(choices as readonly string[]).join(', '), ''],
  method: () => ['GET or POST', 'POST'],
  url: () => ['http:// or https:// URL', ''],
  keys: ([, otherwise]) => ['keys, or none', String(otherwise)],
  keySequences: () => ['key sequences, separated by commas', ''],
  digits: () => ['digits, w (0.5 s), W (1 s)', ''],
};

/** The attributes that the reader of an element asks for, in its order; inner questions of one method are not noted. */
export function attributesOf(element: string): readonly SeenAttribute[] {
  const seen = new Map<string, SeenAttribute>();
  const prototype = ElementReader.prototype as unknown as Record<
    string,
    (this: ElementReader, ...args: unknown[]) => unknown
  >;
  const originals = Object.keys(METHODS).map((name) => [name, prototype[name]] as const);
  let depth = 0;
  for (const [name, original] of originals) {
    prototype[name] = function (this: ElementReader, ...args) {
      const attribute = String(args[0] ?? name);
      const note = METHODS[name];
      if (depth === 0 && this.element.name === element && note !== undefined) {
        const [values, otherwise] = note(args);
        const known = seen.get(attribute);
        // Asked for as text first and by its type then: the type says more.
        if (known === undefined || known.values === 'text') {
          seen.set(attribute, { name: attribute, values, otherwise });
        }
      }
      depth += 1;
      try {
        return original?.apply(this, args);
      } finally {
        depth -= 1;
      }
    };
  }
  try {
    const parsed = parseAnswerXml(`<Response>${DOCUMENTS[element]}</Response>`, {
      allowInsecureStreams: false,
    });
    if (!parsed.ok) throw new Error(`${element}: ${parsed.error.message}`);
  } finally {
    for (const [name, original] of originals) if (original) prototype[name] = original;
  }
  return [...seen.values()];
}
