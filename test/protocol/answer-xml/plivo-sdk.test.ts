import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { parseAnswerXml } from '../../../src/protocol/answer-xml/answer-xml.ts';

type Attributes = Record<string, string | number | boolean>;
/** The part of the SDK's XML builder that this test uses. */
interface Element {
  toXML(): string;
  addSpeak(text: string, attributes?: Attributes): Element;
  addPlay(url: string, attributes?: Attributes): Element;
  addWait(attributes?: Attributes): Element;
  addDTMF(digits: string, attributes?: Attributes): Element;
  addGetDigits(attributes: Attributes): Element;
  addGetInput(attributes: Attributes): Element;
  addDial(attributes: Attributes): Element;
  addNumber(number: string, attributes?: Attributes): Element;
  addUser(uri: string, attributes?: Attributes): Element;
  addRecord(attributes: Attributes): Element;
  addConference(name: string, attributes?: Attributes): Element;
  addStream(url: string, attributes?: Attributes): Element;
  addMessage(text: string, attributes: Attributes): Element;
  addRedirect(url: string, attributes?: Attributes): Element;
  addPreAnswer(): Element;
  addHangup(attributes?: Attributes): Element;
  addBreak(attributes: Attributes): Element;
  addSayAs(text: string, attributes: Attributes): Element;
  addEmphasis(text: string, attributes: Attributes): Element;
  addProsody(text: string, attributes: Attributes): Element;
}
const sdk = createRequire(import.meta.url)('plivo') as { Response: new () => Element };

describe("documents from the plivo SDK's XML builder work unchanged", () => {
  const response = new sdk.Response();
  const url = 'https://app.example/x?a=1&b=<2>';
  response.addPreAnswer().addSpeak('early & late');
  response.addSpeak('Hello & <world>', { voice: 'Polly.Amy', language: 'en-GB', loop: 2 });
  const speak = response.addSpeak('x', { voice: 'Polly.Joey' });
  speak.addBreak({ strength: 'strong', time: '1s' });
  speak.addSayAs('123', { 'interpret-as': 'digits' });
  speak.addEmphasis('wow', { level: 'strong' });
  speak.addProsody('slow', { rate: 'slow' });
  const digits = response.addGetDigits({ action: url, timeout: 7, numDigits: 4, retries: 2 });
  digits.addSpeak('enter');
  digits.addPlay('https://app.example/a.mp3');
  response.addGetInput({
    action: url,
    inputType: 'dtmf speech',
    executionTimeout: 10,
    hints: 'a,b',
  });
  const dial = response.addDial({
    callerId: '14155550100',
    action: url,
    redirect: false,
    timeout: 20,
    dialMusic: 'real',
    confirmSound: url,
    confirmKey: '5',
    digitsMatch: '1,2',
    sipHeaders: 'a=b',
    callbackUrl: url,
  });
  dial.addNumber('14155550101', { sendDigits: 'ww1', sendOnPreanswer: false });
  dial.addUser('sip:alice@reg.example', { sipHeaders: 'x=1' });
  response.addRecord({
    action: url,
    fileFormat: 'wav',
    maxLength: 30,
    redirect: false,
    callbackUrl: url,
  });
  response.addConference('room', {
    enterSound: 'beep:1',
    stayAlone: false,
    maxMembers: 10,
    waitSound: url,
  });
  response.addStream('wss://bot.example/s?x=1&y=2', {
    bidirectional: true,
    audioTrack: 'inbound',
    streamTimeout: 100,
    keepCallAlive: true,
    contentType: 'audio/x-l16;rate=16000',
    extraHeaders: 'a=b,c=d',
  });
  response.addWait({ length: 3, silence: true, minSilence: 500 });
  response.addDTMF('12w3', { async: false });
  response.addRedirect(url, { method: 'GET' });
  response.addPlay('https://app.example/p.mp3', { loop: 3 });
  response.addHangup({ reason: 'busy', schedule: 60 });
  const result = parseAnswerXml(response.toXML(), { allowInsecureStreams: false });

  it('parses completely, in order and without warnings', () => {
    if (!result.ok) throw new Error(result.error.message);
    expect(result.value.map(({ kind }) => kind)).toEqual([
      'preAnswer',
      'speak',
      'speak',
      'gather',
      'gather',
      'dial',
      'record',
      'conference',
      'stream',
      'wait',
      'dtmf',
      'redirect',
      'play',
      'hangup',
    ]);
    expect(result.value.flatMap(({ warnings }) => warnings)).toEqual([]);
  });

  it('preserves URLs and text', () => {
    if (!result.ok) throw new Error(result.error.message);
    expect(result.value[1]).toMatchObject({ text: 'Hello & <world>', voice: 'Polly.Amy', loop: 2 });
    expect(result.value[2]).toMatchObject({
      ssml: 'x<break strength="strong" time="1s"/><say-as interpret-as="digits">123</say-as><emphasis level="strong">wow</emphasis><prosody rate="slow">slow</prosody>',
    });
    expect(result.value[5]).toMatchObject({ action: url, redirect: false, callbackUrl: url });
    expect(result.value[8]).toMatchObject({ url: 'wss://bot.example/s?x=1&y=2', rate: 16_000 });
  });
});
