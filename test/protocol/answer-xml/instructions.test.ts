import { describe, expect, it } from 'vitest';
import {
  type Instruction,
  type InstructionKind,
  parseAnswerXml,
} from '../../../src/protocol/answer-xml/answer-xml.ts';

const parse = (body: string): readonly Instruction[] => {
  const result = parseAnswerXml(`<Response>${body}</Response>`, { allowInsecureStreams: false });
  if (!result.ok) throw new Error(`${result.error.message}; expected ${result.error.expected}`);
  return result.value;
};

const one = <K extends InstructionKind>(
  kind: K,
  body: string,
): Extract<Instruction, { kind: K }> => {
  const [first] = parse(body);
  if (first?.kind !== kind) throw new Error(`a ${kind} was expected, not ${first?.kind}`);
  return first as Extract<Instruction, { kind: K }>;
};

const warningsOf = (body: string): string[] =>
  parse(body).flatMap(({ warnings }) => warnings.map(({ message }) => message));

const problemOf = (body: string): string => {
  const result = parseAnswerXml(`<Response>${body}</Response>`, { allowInsecureStreams: false });
  return result.ok ? 'accepted' : result.error.message;
};

describe('document rules (dialect §2.0)', () => {
  it('a Response without children is valid and empty', () => {
    expect(parse('')).toEqual([]);
  });

  it('instructions keep their order and the line of their start tag', () => {
    expect(parse('\n<Wait/>\n<Hangup/>').map(({ kind, line }) => [kind, line])).toEqual([
      ['wait', 2],
      ['hangup', 3],
    ]);
  });

  it('text content is trimmed: SDKs indent it', () => {
    expect(one('play', '<Play>\n   https://a.example/x.mp3\n  </Play>').url).toBe(
      'https://a.example/x.mp3',
    );
  });

  it('entities, character numbers and CDATA are decoded, once', () => {
    const body = '<Speak>a &amp;amp; &#60;b&#x3E; <![CDATA[&amp; <c>]]></Speak>';
    expect(one('speak', body).text).toBe('a &amp; <b> &amp; <c>');
  });

  it('booleans do not depend on case (dialect §0.2 rule 11)', () => {
    for (const yes of ['true', 'TRUE', 'True', '1', ' true ']) {
      expect(
        one('stream', `<Stream bidirectional="${yes}">wss://a.example/</Stream>`).bidirectional,
      ).toBe(true);
    }
    for (const no of ['false', 'False', '0', '']) {
      expect(
        one('stream', `<Stream bidirectional="${no}">wss://a.example/</Stream>`).bidirectional,
      ).toBe(false);
    }
  });

  it('an unknown attribute is a warning with its place and, where it is only a matter of case, a hint', () => {
    const [hangup] = parse('\n<Hangup  bogus="1"/>');
    expect(hangup?.warnings).toEqual([
      { line: 2, column: 10, message: '<Hangup> has no attribute bogus: ignored' },
    ]);
    expect(warningsOf('<Dial callerID="1"><Number>2</Number></Dial>')).toEqual([
      '<Dial> has no attribute callerID: ignored; did you mean callerId?',
    ]);
  });

  it('an empty attribute counts as not given', () => {
    const dial = one('dial', '<Dial action="" timeout="" callerId=""><Number>2</Number></Dial>');
    expect(dial).toMatchObject({ action: undefined, timeoutMs: 120_000, callerId: undefined });
  });

  it('a value out of range is brought to the nearest with a warning', () => {
    const body = '<Dial timeLimit="100000"><Number>2</Number></Dial>';
    expect(one('dial', body).timeLimitMs).toBe(86_400_000);
    expect(warningsOf(body)).toEqual(['timeLimit="100000" is outside of 1…86400 s: 86400 is used']);
  });
});

describe('Speak, Play, Wait, DTMF (dialect §2.1)', () => {
  it('Speak: defaults', () => {
    expect(one('speak', '<Speak>Hello\n   there</Speak>')).toMatchObject({
      text: 'Hello there',
      ssml: undefined,
      voice: 'WOMAN',
      language: 'en-US',
      loop: 1,
    });
  });

  it('Speak: SSML is kept beside the plain words', () => {
    const body =
      '<Speak>Pay <say-as interpret-as="digits">12</say-as><break time="1s"/>now &amp; <sub alias="at once">a.o.</sub></Speak>';
    expect(one('speak', body)).toMatchObject({
      text: 'Pay 12 now & at once',
      ssml: 'Pay <say-as interpret-as="digits">12</say-as><break time="1s"/>now &amp; <sub alias="at once">a.o.</sub>',
    });
  });

  it('Speak without words is a warning, not the end of the call', () => {
    expect(one('speak', '<Speak>  </Speak>').text).toBe('');
    expect(warningsOf('<Speak/>')).toEqual(['<Speak> has no text: nothing is said']);
  });

  it('Play: loop 0 is for ever', () => {
    expect(one('play', '<Play loop="0">https://a.example/</Play>').loop).toBe(0);
  });

  it('Wait: length, silence and beep', () => {
    expect(one('wait', '<Wait/>')).toMatchObject({
      lengthMs: 1000,
      untilSilenceMs: undefined,
      beep: false,
    });
    expect(one('wait', '<Wait length="10" silence="true" minSilence="700"/>')).toMatchObject({
      lengthMs: 10_000,
      untilSilenceMs: 700,
    });
    expect(one('wait', '<Wait silence="true" min_silence="900"/>').untilSilenceMs).toBe(900);
    expect(one('wait', '<Wait beep="true"/>')).toMatchObject({ beep: true, warnings: [] });
    expect(one('wait', '<Wait beep="0"/>').beep).toBe(false);
    expect(problemOf('<Wait beep="loud"/>')).toContain('beep="loud"');
  });

  it('Wait: measures of its own beep are taken for "true", and said to be unused', () => {
    const body = '<Wait beep="duration=200, threshold=512"/>';
    expect(one('wait', body).beep).toBe(true);
    expect(warningsOf(body)).toEqual([expect.stringContaining('measures of beep')]);
    expect(problemOf('<Wait beep="duration=200,loud=1"/>')).toContain('beep="duration=200,loud=1"');
  });

  it('DTMF: digits with waits, asynchronous by default', () => {
    expect(one('dtmf', '<DTMF>1w2W#</DTMF>')).toMatchObject({ digits: '1w2W#', async: true });
    expect(problemOf('<DTMF>12x</DTMF>')).toContain('12x');
  });
});

describe('GetDigits, GetInput, Gather (dialect §2.1)', () => {
  it('GetDigits: defaults', () => {
    expect(one('gather', '<GetDigits action="https://a.example/"/>')).toMatchObject({
      element: 'GetDigits',
      method: 'POST',
      redirect: true,
      acceptsDigits: true,
      acceptsSpeech: false,
      firstInputTimeoutMs: 5000,
      interDigitTimeoutMs: 2000,
      numDigits: 99,
      finishOnKey: '#',
      attempts: 1,
      playBeep: false,
      validDigits: '1234567890*#',
      invalidDigitsSound: undefined,
      log: true,
      reportsNoInput: false,
      prompts: [],
    });
  });

  it('GetInput: defaults, and the document goes on without input', () => {
    expect(
      one('gather', '<GetInput action="https://a.example/" inputType="speech dtmf"/>'),
    ).toMatchObject({
      element: 'GetInput',
      acceptsDigits: true,
      acceptsSpeech: true,
      firstInputTimeoutMs: 15_000,
      interDigitTimeoutMs: 2000,
      speechEndTimeoutMs: 2000,
      numDigits: 32,
      reportsNoInput: false,
      speechModel: 'default',
    });
  });

  it('Gather takes the attributes of both and reports that there was no input', () => {
    const body =
      '<Gather action="https://a.example/" timeout="8" digitTimeout="3" retries="2" validDigits="12" playBeep="true" invalidDigitsSound="https://a.example/no" hints="yes, no"/>';
    expect(one('gather', body)).toMatchObject({
      firstInputTimeoutMs: 8000,
      interDigitTimeoutMs: 3000,
      attempts: 2,
      validDigits: '12',
      playBeep: true,
      reportsNoInput: true,
      hints: ['yes', 'no'],
    });
    expect(
      one(
        'gather',
        '<Gather action="https://a.example/" executionTimeout="20" digitEndTimeout="4"/>',
      ),
    ).toMatchObject({ firstInputTimeoutMs: 20_000, interDigitTimeoutMs: 4000 });
    expect(warningsOf(body)).toEqual([]);
  });

  it('finishOnKey: none and empty are no key at all', () => {
    for (const value of ['none', '', 'NONE']) {
      expect(
        one('gather', `<GetDigits action="https://a.example/" finishOnKey="${value}"/>`)
          .finishOnKey,
      ).toBe('');
    }
  });

  it('executionTimeout is kept within 5 and 60 s', () => {
    const body = (s: number) => `<GetInput action="https://a.example/" executionTimeout="${s}"/>`;
    expect(one('gather', body(1)).firstInputTimeoutMs).toBe(5000);
    expect(one('gather', body(90)).firstInputTimeoutMs).toBe(60_000);
  });

  it('prompts are Speak, Play and Wait, in order, and their warnings are seen', () => {
    const body =
      '<GetDigits action="https://a.example/"><Speak>a</Speak><Wait foo="1"/><Play>https://a.example/</Play></GetDigits>';
    expect(one('gather', body).prompts.map(({ kind }) => kind)).toEqual(['speak', 'wait', 'play']);
    expect(warningsOf(body)).toEqual(['<Wait> has no attribute foo: ignored']);
  });

  it('an input that goes nowhere is a warning', () => {
    expect(warningsOf('<GetDigits/>')).toEqual([
      '<GetDigits> has no action: its input goes nowhere',
    ]);
  });
});

describe('Dial (spec, Answer-XML instructions)', () => {
  it('defaults', () => {
    expect(one('dial', '<Dial><Number>14155550101</Number></Dial>')).toMatchObject({
      action: undefined,
      method: 'POST',
      redirect: true,
      callerId: undefined,
      timeoutMs: 120_000,
      timeLimitMs: 14_400_000,
      hangupOnStar: false,
      dialMusic: { kind: 'ringback' },
      confirmKey: undefined,
      digitsMatch: [],
      destinations: [{ kind: 'number', number: '14155550101', sendOnPreanswer: false }],
    });
  });

  it('several destinations keep their order; separators in numbers are taken out', () => {
    const dial = one(
      'dial',
      '<Dial><Number>+1 (415) 555-0101</Number><User sendDigits="1w">sip:alice@reg.example</User></Dial>',
    );
    expect(dial.destinations).toMatchObject([
      { kind: 'number', number: '+14155550101' },
      { kind: 'user', uri: 'sip:alice@reg.example', sendDigits: '1w' },
    ]);
  });

  it('a tel URI is its number (RFC 3966)', () => {
    const dial = one('dial', '<Dial><Number>tel:+1-415-555-0101;isub=1</Number></Dial>');
    expect(dial.destinations).toMatchObject([{ kind: 'number', number: '+14155550101' }]);
    expect(problemOf('<Dial><Number>tel:abc</Number></Dial>')).toContain('is no number');
  });

  it('bare text is short for Number', () => {
    expect(one('dial', '<Dial> 14155550101 </Dial>').destinations).toMatchObject([
      { kind: 'number', number: '14155550101' },
    ]);
    expect(problemOf('<Dial>1<Number>2</Number></Dial>')).toBe('text beside elements in <Dial>');
  });

  it('dialMusic: ringback, real, or a URL', () => {
    const music = (value: string) =>
      one('dial', `<Dial dialMusic="${value}"><Number>1</Number></Dial>`).dialMusic;
    expect(music('real')).toEqual({ kind: 'real' });
    expect(music('https://a.example/m')).toEqual({ kind: 'url', url: 'https://a.example/m' });
    expect(problemOf('<Dial dialMusic="jazz"><Number>1</Number></Dial>')).toContain(
      'dialMusic="jazz"',
    );
  });

  it('sipHeaders of a destination win over those of the Dial; reserved names are dropped with a warning', () => {
    const body =
      '<Dial sipHeaders="a=1,b=2,Plivo-X=3"><Number sipHeaders="B=9">1</Number><Number>2</Number></Dial>';
    const dial = one('dial', body);
    expect(dial.destinations.map(({ sipHeaders }) => sipHeaders)).toEqual([
      [
        ['a', '1'],
        ['B', '9'],
      ],
      [
        ['a', '1'],
        ['b', '2'],
      ],
    ]);
    expect(warningsOf(body)).toEqual(['the header name Plivo-X is reserved: ignored']);
  });

  it('a line break never gets into a SIP header', () => {
    const body = '<Dial sipHeaders="a=1&#13;&#10;Evil: 1"><Number>1</Number></Dial>';
    expect(one('dial', body).destinations[0]?.sipHeaders).toEqual([]);
    expect(warningsOf(body)).toHaveLength(1);
  });

  it.each(['callerName="A&#13;&#10;X: 1"', 'callerName="A&#9;B"', 'callerId="1&#10;2"'])(
    'a control character in %s refuses the document',
    (attribute) => {
      const inDial = `<Dial ${attribute}><Number>1</Number></Dial>`;
      const inNumber = `<Dial><Number ${attribute}>1</Number></Dial>`;
      for (const body of [inDial, inNumber])
        expect(problemOf(body)).toContain('has control characters');
    },
  );

  it('confirmKey is one key; digitsMatch is a comma list of key sequences', () => {
    expect(problemOf('<Dial confirmKey="12"><Number>1</Number></Dial>')).toContain('confirmKey');
    expect(one('dial', '<Dial digitsMatch="1, *2"><Number>1</Number></Dial>').digitsMatch).toEqual([
      '1',
      '*2',
    ]);
  });

  it('rings at most 20 destinations at once', () => {
    expect(problemOf(`<Dial>${'<Number>1</Number>'.repeat(21)}</Dial>`)).toBe(
      '<Dial> with 21 destinations',
    );
  });
});

describe('Record (spec; dialect §2.1)', () => {
  it('defaults, with a warning about the length that surprises people', () => {
    expect(one('record', '<Record/>')).toMatchObject({
      fileFormat: 'mp3',
      redirect: false,
      silenceTimeoutMs: 60_000,
      maxLengthMs: 60_000,
      playBeep: true,
      finishOnKey: '1234567890*#',
      recordSession: false,
      startOnDialAnswer: false,
      channels: 'mono',
    });
    expect(warningsOf('<Record/>')).toEqual(['<Record> has no maxLength: it ends after 60 s']);
  });

  it('session recordings are stereo unless asked otherwise', () => {
    expect(one('record', '<Record recordSession="true" maxLength="9"/>').channels).toBe('stereo');
    expect(
      one('record', '<Record recordSession="true" maxLength="9" recordChannelType="mono"/>')
        .channels,
    ).toBe('mono');
  });
});

describe('Stream (spec, Stream element rules; dialect §1.5)', () => {
  const stream = (attributes: string) =>
    one('stream', `<Stream ${attributes}>wss://a.example/ws</Stream>`);

  it('defaults', () => {
    expect(stream('')).toMatchObject({
      url: 'wss://a.example/ws',
      bidirectional: false,
      audioTrack: 'inbound',
      keepCallAlive: false,
      encoding: 'audio/x-l16',
      rate: 8000,
      timeoutMs: 86_400_000,
      statusCallbackMethod: 'POST',
      extraHeaders: [],
      maxRetries: 0,
      name: undefined,
    });
  });

  it.each([
    ['audio/x-mulaw;rate=8000', 'audio/x-mulaw', 8000],
    ['audio/x-l16;rate=8000', 'audio/x-l16', 8000],
    ['audio/x-l16; rate=16000', 'audio/x-l16', 16_000],
    ['audio/x-mulaw', 'audio/x-mulaw', 8000],
  ])('contentType %s', (contentType, encoding, rate) => {
    expect(stream(`contentType="${contentType}"`)).toMatchObject({ encoding, rate });
  });

  it.each(['audio/x-mulaw;rate=16000', 'audio/x-l16;rate=24000', 'audio/wav', 'l16'])(
    'contentType %s is refused',
    (contentType) => {
      expect(problemOf(`<Stream contentType="${contentType}">wss://a.example/</Stream>`)).toContain(
        'contentType',
      );
    },
  );

  it('both tracks are fine when the stream is one-way', () => {
    expect(stream('audioTrack="both"').audioTrack).toBe('both');
  });

  it.each([
    ['3', 3],
    ['-1', 0],
    ['11', 10],
    ['two', 0],
    ['1.5', 0],
    ['', 0],
  ])('maxRetries "%s" is %i', (text, retries) => {
    expect(stream(`maxRetries="${text}"`).maxRetries).toBe(retries);
  });

  it('extraHeaders: pairs by comma or semicolon, at most 512 bytes', () => {
    expect(stream('extraHeaders="tenant=7;user_id=a.b-c, x=1"').extraHeaders).toEqual([
      ['tenant', '7'],
      ['user_id', 'a.b-c'],
      ['x', '1'],
    ]);
    expect(stream(`extraHeaders="k=${'x'.repeat(200)}"`).extraHeaders).toHaveLength(1);
    expect(
      problemOf(`<Stream extraHeaders="k=${'é'.repeat(256)}">wss://a.example/</Stream>`),
    ).toContain('512');
  });

  it('maxDuration is another name for streamTimeout; the shorter counts', () => {
    expect(stream('streamTimeout="60"').timeoutMs).toBe(60_000);
    expect(stream('maxDuration="30" streamTimeout="60"').timeoutMs).toBe(30_000);
  });

  it('user information in the URL is kept, a fragment is refused (RFC 6455 §3)', () => {
    expect(one('stream', '<Stream>wss://u:p@a.example/ws</Stream>').url).toBe(
      'wss://u:p@a.example/ws',
    );
    expect(problemOf('<Stream>wss://a.example/ws#x</Stream>')).toContain('not usable');
  });
});

describe('Conference, Redirect, PreAnswer, Hangup, Message (dialect §2.1)', () => {
  it('Conference: defaults', () => {
    expect(one('conference', '<Conference> My Room </Conference>')).toMatchObject({
      room: 'My Room',
      muted: false,
      enterSound: { kind: 'beep', count: 1 },
      exitSound: { kind: 'beep', count: 2 },
      startConferenceOnEnter: true,
      endConferenceOnExit: false,
      stayAlone: true,
      maxMembers: 20,
      timeLimitMs: 14_400_000,
      record: false,
      relayDtmf: true,
    });
  });

  it('Conference: sounds', () => {
    expect(
      one(
        'conference',
        '<Conference beep="false" exitSound="https://a.example/bye">r</Conference>',
      ),
    ).toMatchObject({
      enterSound: { kind: 'none' },
      exitSound: { kind: 'url', url: 'https://a.example/bye' },
    });
    expect(one('conference', '<Conference enterSound="none">r</Conference>').enterSound.kind).toBe(
      'none',
    );
  });

  it('Hangup: reason and schedule', () => {
    expect(one('hangup', '<Hangup/>')).toMatchObject({ reason: undefined, scheduleMs: undefined });
    expect(one('hangup', '<Hangup reason="busy" schedule="60"/>')).toMatchObject({
      reason: 'busy',
      scheduleMs: 60_000,
    });
    expect(problemOf('<Hangup reason="bored"/>')).toContain('reason="bored"');
  });

  it('Redirect: URL and method', () => {
    expect(one('redirect', '<Redirect method="get">https://a.example/</Redirect>')).toMatchObject({
      url: 'https://a.example/',
      method: 'GET',
    });
  });

  it('PreAnswer holds its own set of elements', () => {
    const body =
      '<PreAnswer><Speak>a</Speak><GetDigits action="https://a.example/"/><DTMF>1</DTMF><Redirect>https://a.example/</Redirect></PreAnswer>';
    expect(one('preAnswer', body).children.map(({ kind }) => kind)).toEqual([
      'speak',
      'gather',
      'dtmf',
      'redirect',
    ]);
    expect(problemOf('<PreAnswer><PreAnswer/></PreAnswer>')).toContain(
      '<PreAnswer> inside of <PreAnswer>',
    );
  });

  it('Message is accepted and ignored with a warning', () => {
    expect(one('message', '<Message src="1" dst="2&lt;3">hi</Message>')).toMatchObject({
      source: '1',
      destinations: ['2', '3'],
      text: 'hi',
    });
    expect(warningsOf('<Message/>')[0]).toContain('no messaging');
  });
});
