import { describe, expect, it } from 'vitest';
import { type Instruction, parseAnswerXml } from '../../../src/protocol/answer-xml/answer-xml.ts';

const parse = (body: string): readonly Instruction[] => {
  const result = parseAnswerXml(`<Response>${body}</Response>`, { allowInsecureStreams: false });
  if (!result.ok) throw new Error(`${result.error.message}; expected ${result.error.expected}`);
  return result.value;
};

const one = <K extends Instruction['kind']>(
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
  it('accepts a Response without children', () => {
    expect(parse('')).toEqual([]);
  });

  it('keeps the order of instructions and the line of their start tag', () => {
    expect(parse('\n<Wait/>\n<Hangup/>').map(({ kind, line }) => [kind, line])).toEqual([
      ['wait', 2],
      ['hangup', 3],
    ]);
  });

  it('trims text content, because SDKs indent it', () => {
    expect(one('play', '<Play>\n   https://a.example/x.mp3\n  </Play>').url).toBe(
      'https://a.example/x.mp3',
    );
  });

  it('decodes entities, character numbers and CDATA once', () => {
    const body = '<Speak>a &amp;amp; &#60;b&#x3E; <![CDATA[&amp; <c>]]></Speak>';
    expect(one('speak', body).text).toBe('a &amp; <b> &amp; <c>');
  });

  it.each([
    ['the longest URL', `https://a.example/${'x'.repeat(4096 - 18)}`, 'accepted'],
    ['a longer URL', `https://a.example/${'x'.repeat(4096 - 17)}`, 'action='],
    ['an impossible port', 'https://a.example:99999/', 'action='],
    ['an open bracket', 'https://[::1/', 'action='],
    ['a path only', '/next', 'action='],
    ['another scheme', 'ftp://a.example/', 'action='],
  ])('accepts http and https URLs that are not too long: %s', (_what, url, outcome) => {
    expect(problemOf(`<Redirect>${url}</Redirect>`) === 'accepted').toBe(outcome === 'accepted');
    expect(problemOf(`<Dial action="${url}"><Number>1</Number></Dial>`)).toContain(outcome);
  });

  it('reads booleans case-insensitively (dialect §0.2 rule 11)', () => {
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

  it('warns about an unknown attribute with its position and a hint if only the case differs', () => {
    const [hangup] = parse('\n<Hangup  bogus="1"/>');
    expect(hangup?.warnings).toEqual([
      { line: 2, column: 10, message: '<Hangup> has no attribute bogus: ignored' },
    ]);
    expect(warningsOf('<Dial callerID="1"><Number>2</Number></Dial>')).toEqual([
      '<Dial> has no attribute callerID: ignored; did you mean callerId?',
    ]);
  });

  it('treats an empty attribute as absent', () => {
    const dial = one('dial', '<Dial action="" timeout="" callerId=""><Number>2</Number></Dial>');
    expect(dial).toMatchObject({ action: undefined, timeoutMs: 120_000, callerId: undefined });
  });

  it('clamps a value out of range and warns', () => {
    const body = '<Dial timeLimit="100000"><Number>2</Number></Dial>';
    expect(one('dial', body).timeLimitMs).toBe(86_400_000);
    expect(warningsOf(body)).toEqual(['timeLimit="100000" is outside 1…86400 s: 86400 is used']);
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

  it('Speak: keeps SSML in addition to the plain text', () => {
    const body =
      '<Speak>Pay <say-as interpret-as="digits">12</say-as><break time="1s"/>now &amp; <sub alias="at once">a.o.</sub></Speak>';
    expect(one('speak', body)).toMatchObject({
      text: 'Pay 12 now & at once',
      ssml: 'Pay <say-as interpret-as="digits">12</say-as><break time="1s"/>now &amp; <sub alias="at once">a.o.</sub>',
    });
  });

  it('Speak without text warns and does not end the call', () => {
    expect(one('speak', '<Speak>  </Speak>').text).toBe('');
    expect(warningsOf('<Speak/>')).toEqual(['<Speak> has no text and is skipped']);
  });

  it('Play: loop 0 repeats until the call ends', () => {
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

  it('Wait: treats beep measures as "true" and warns that they are unused', () => {
    const body = '<Wait beep="duration=200, threshold=512"/>';
    expect(one('wait', body).beep).toBe(true);
    expect(warningsOf(body)).toEqual([expect.stringContaining('value of beep')]);
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

  it('GetInput: applies defaults and continues the document without input', () => {
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

  it('Gather: accepts the attributes of both and reports missing input', () => {
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

  it('finishOnKey: none and empty mean no key', () => {
    for (const value of ['none', '', 'NONE']) {
      expect(
        one('gather', `<GetDigits action="https://a.example/" finishOnKey="${value}"/>`)
          .finishOnKey,
      ).toBe('');
    }
  });

  it('clamps executionTimeout to 5…60 s', () => {
    const body = (s: number) => `<GetInput action="https://a.example/" executionTimeout="${s}"/>`;
    expect(one('gather', body(1)).firstInputTimeoutMs).toBe(5000);
    expect(one('gather', body(90)).firstInputTimeoutMs).toBe(60_000);
  });

  it.each([
    [500, 501, 4],
    [100, 101, 100],
  ])('reads %i of %i hints of %i characters', (read, given, length) => {
    const hints = Array.from({ length: given }, (_, at) => String(at).padStart(length, 'a'));
    const body = `<GetInput action="https://a.example/" hints="${hints.join(',')}"/>`;
    expect(one('gather', body).hints).toEqual(hints.slice(0, read));
    expect(warningsOf(body)).toEqual([
      'hints beyond 500 phrases, 100 characters each and 10000 in total are ignored',
    ]);
  });

  it('reads Speak, Play and Wait prompts in order, with their warnings', () => {
    const body =
      '<GetDigits action="https://a.example/"><Speak>a</Speak><Wait foo="1"/><Play>https://a.example/</Play></GetDigits>';
    expect(one('gather', body).prompts.map(({ kind }) => kind)).toEqual(['speak', 'wait', 'play']);
    expect(warningsOf(body)).toEqual(['<Wait> has no attribute foo: ignored']);
  });

  it('warns about input without an action', () => {
    expect(warningsOf('<GetDigits/>')).toEqual([
      '<GetDigits> has no action: its input is discarded',
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

  it('keeps the order of destinations and removes separators from numbers', () => {
    const dial = one(
      'dial',
      '<Dial><Number>+1 (415) 555-0101</Number><User sendDigits="1w">sip:alice@reg.example</User></Dial>',
    );
    expect(dial.destinations).toMatchObject([
      { kind: 'number', number: '+14155550101' },
      { kind: 'user', uri: 'sip:alice@reg.example', sendDigits: '1w' },
    ]);
  });

  it('reads a tel URI as its number (RFC 3966)', () => {
    const dial = one('dial', '<Dial><Number>tel:+1-415-555-0101;isub=1</Number></Dial>');
    expect(dial.destinations).toMatchObject([{ kind: 'number', number: '+14155550101' }]);
    expect(problemOf('<Dial><Number>tel:abc</Number></Dial>')).toContain('is not a number');
  });

  it('reads bare text as a Number', () => {
    expect(one('dial', '<Dial> 14155550101 </Dial>').destinations).toMatchObject([
      { kind: 'number', number: '14155550101' },
    ]);
    expect(problemOf('<Dial>1<Number>2</Number></Dial>')).toBe(
      'text in addition to elements in <Dial>',
    );
  });

  it('reads dialMusic as ringback, real or a URL', () => {
    const music = (value: string) =>
      one('dial', `<Dial dialMusic="${value}"><Number>1</Number></Dial>`).dialMusic;
    expect(music('real')).toEqual({ kind: 'real' });
    expect(music('https://a.example/m')).toEqual({ kind: 'url', url: 'https://a.example/m' });
    expect(problemOf('<Dial dialMusic="jazz"><Number>1</Number></Dial>')).toContain(
      'dialMusic="jazz"',
    );
  });

  it('sipHeaders of a destination override those of the Dial; reserved names are dropped with a warning', () => {
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

  it('rejects line breaks in SIP headers', () => {
    const body = '<Dial sipHeaders="a=1&#13;&#10;Evil: 1"><Number>1</Number></Dial>';
    expect(one('dial', body).destinations[0]?.sipHeaders).toEqual([]);
    expect(warningsOf(body)).toHaveLength(1);
  });

  it.each(['callerName="A&#13;&#10;X: 1"', 'callerName="A&#9;B"', 'callerId="1&#10;2"'])(
    'rejects a document with a control character in %s',
    (attribute) => {
      const inDial = `<Dial ${attribute}><Number>1</Number></Dial>`;
      const inNumber = `<Dial><Number ${attribute}>1</Number></Dial>`;
      for (const body of [inDial, inNumber])
        expect(problemOf(body)).toContain('has control characters');
    },
  );

  it('reads confirmKey as one key and digitsMatch as a list of key sequences', () => {
    expect(problemOf('<Dial confirmKey="12"><Number>1</Number></Dial>')).toContain('confirmKey');
    expect(one('dial', '<Dial digitsMatch="1, *2"><Number>1</Number></Dial>').digitsMatch).toEqual([
      '1',
      '*2',
    ]);
  });

  it.each(['1,,2', ',1', '1,', '1,x'])('rejects digitsMatch="%s"', (list) => {
    const body = `<Dial digitsMatch="${list}"><Number>1</Number></Dial>`;
    expect(problemOf(body)).toContain('digitsMatch=');
  });

  it('reads at most 30 SIP headers, and warns about the others', () => {
    const list = Array.from({ length: 31 }, (_, n) => `h${n}=1`);
    const dial = (items: readonly string[]): string =>
      `<Dial sipHeaders="${items.join(',')}"><Number>1</Number></Dial>`;
    expect(warningsOf(dial(list.slice(1)))).toEqual([]);
    expect(one('dial', dial(list)).destinations[0]?.sipHeaders).toHaveLength(30);
    expect(warningsOf(dial(list))).toEqual(['more than 30 pairs: h30 is ignored']);
  });

  it('rings at most 20 destinations in parallel', () => {
    expect(problemOf(`<Dial>${'<Number>1</Number>'.repeat(21)}</Dial>`)).toBe(
      '<Dial> with 21 destinations',
    );
  });
});

describe('Record (spec; dialect §2.1)', () => {
  it('applies defaults and warns about the default length', () => {
    expect(one('record', '<Record/>')).toMatchObject({
      fileFormat: 'mp3',
      redirect: false,
      silenceTimeoutMs: 60_000,
      maxLengthMs: 60_000,
      playBeep: true,
      finishOnKey: '1234567890*#',
      recordSession: false,
      recordRingback: false,
      startOnDialAnswer: false,
      channels: 'mono',
    });
    expect(warningsOf('<Record/>')).toEqual(['<Record> has no maxLength: it ends after 60 s']);
  });

  it('records sessions in stereo by default', () => {
    expect(one('record', '<Record recordSession="true" maxLength="9"/>').channels).toBe('stereo');
    expect(
      one('record', '<Record recordSession="true" maxLength="9" recordChannelType="mono"/>')
        .channels,
    ).toBe('mono');
  });
});

describe('PauseRecording and ResumeRecording (additions)', () => {
  it('have no content', () => {
    expect(one('recordingSwitch', '<PauseRecording/>').isPaused).toBe(true);
    expect(one('recordingSwitch', '<ResumeRecording/>').isPaused).toBe(false);
    expect(warningsOf('<PauseRecording>x</PauseRecording>')).toHaveLength(1);
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

  it('reads audio cleaning, which is off by default', () => {
    expect(stream('')).not.toHaveProperty('clean');
    const off = { noise: false, echo: false, gain: false };
    expect(stream('noiseSuppression="true"').clean).toEqual({ ...off, noise: true });
    expect(stream('echoCancellation="true"').clean).toEqual({ ...off, echo: true });
    expect(stream('gainControl="true"').clean).toEqual({ ...off, gain: true });
    expect(problemOf('<Stream gainControl="2">wss://a.example/ws</Stream>')).not.toBe('accepted');
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
    'rejects contentType %s',
    (contentType) => {
      expect(problemOf(`<Stream contentType="${contentType}">wss://a.example/</Stream>`)).toContain(
        'contentType',
      );
    },
  );

  it('detects no speech and reports no positions by default', () => {
    expect(stream('speechSensitivity="90"')).toMatchObject({
      speech: undefined,
      playPositions: false,
      disclosure: undefined,
    });
  });

  it('reads the attributes of speech detection', () => {
    expect(stream('speechEvents="true"').speech).toEqual({
      events: true,
      bargeIn: 'none',
      sensitivity: 50,
      minimumMs: 40,
      endMs: 500,
    });
    expect(
      stream(
        'bidirectional="true" bargeIn="clear" speechSensitivity="70" speechMinMs="100" speechEndMs="200" playPositions="true"',
      ),
    ).toMatchObject({
      speech: { events: false, bargeIn: 'clear', sensitivity: 70, minimumMs: 100, endMs: 200 },
      playPositions: true,
    });
  });

  it.each([
    ['speechEvents="maybe"', 'speechEvents'],
    ['bidirectional="true" bargeIn="loud"', 'bargeIn'],
    ['bargeIn="clear"', 'on a one-way stream'],
    ['speechEvents="true" audioTrack="outbound"', 'with audioTrack="outbound"'],
    ['speechEvents="true" speechSensitivity="high"', 'speechSensitivity'],
    ['speechEvents="true" speechEndMs="0.5"', 'speechEndMs'],
    ['playPositions="2"', 'playPositions'],
    [`disclosure="${'x'.repeat(1001)}"`, 'too long'],
  ])('rejects %s', (attributes, words) => {
    expect(problemOf(`<Stream ${attributes}>wss://a.example/</Stream>`)).toContain(words);
  });

  it('limits times of speech detection to their range', () => {
    const read = stream('speechEvents="true" speechMinMs="1" speechEndMs="99999"');
    expect(read.speech).toMatchObject({ minimumMs: 20, endMs: 5000 });
    expect(read.warnings.length).toBe(2);
  });

  it('accepts both tracks for a one-way stream', () => {
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

  it('extraHeaders: separates pairs by comma or semicolon, at most 512 bytes', () => {
    expect(stream('extraHeaders="tenant=7;user_id=a.b-c, x=1"').extraHeaders).toEqual([
      ['tenant', '7'],
      ['user_id', 'a.b-c'],
      ['x', '1'],
    ]);
    expect(stream(`extraHeaders="k=${'x'.repeat(200)}"`).extraHeaders).toHaveLength(1);
    const longest = ['a', 'b'].map((name) => `${name}=${'x'.repeat(253)}`).join(';');
    expect(stream(`extraHeaders="${longest}y"`).extraHeaders).toHaveLength(2);
    expect(
      problemOf(`<Stream extraHeaders="k=${'é'.repeat(256)}">wss://a.example/</Stream>`),
    ).toContain('512');
  });

  it('treats maxDuration as an alias of streamTimeout; the shorter value applies', () => {
    expect(stream('streamTimeout="60"').timeoutMs).toBe(60_000);
    expect(stream('maxDuration="30" streamTimeout="60"').timeoutMs).toBe(30_000);
  });

  it('keeps user information in the URL and rejects a fragment (RFC 6455 §3)', () => {
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

  it('PreAnswer accepts only its allowed elements', () => {
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

  it('Message is ignored with a warning', () => {
    expect(one('message', '<Message src="1" dst="2&lt;3">hi</Message>')).toMatchObject({
      source: '1',
      destinations: ['2', '3'],
      text: 'hi',
    });
    expect(warningsOf('<Message/>')[0]).toContain('messages are not supported');
  });
});
