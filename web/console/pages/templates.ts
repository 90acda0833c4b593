/** Documents to start from in the playground. */
import { t } from '../text.ts';

export interface Template {
  readonly name: string;
  readonly xml: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    name: t('Voice bot (stream)'),
    xml: `<Response>
  <Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-l16;rate=16000">
    wss://bot.example.com/stream
  </Stream>
</Response>
`,
  },
  {
    name: t('Menu with keys'),
    xml: `<Response>
  <GetDigits action="https://example.com/menu" numDigits="1" timeout="10">
    <Speak>Press one for sales. Press two for support.</Speak>
  </GetDigits>
  <Speak>We did not receive a key. Goodbye.</Speak>
</Response>
`,
  },
  {
    name: t('Forward to a number'),
    xml: `<Response>
  <Dial timeout="30" timeLimit="3600">
    <Number>14155550100</Number>
  </Dial>
</Response>
`,
  },
  {
    name: t('Voicemail'),
    xml: `<Response>
  <Speak>Please leave a message after the tone.</Speak>
  <Record maxLength="120" finishOnKey="#" playBeep="true" action="https://example.com/voicemail"/>
</Response>
`,
  },
  {
    name: t('Conference'),
    xml: `<Response>
  <Conference startConferenceOnEnter="true" endConferenceOnExit="false">support</Conference>
</Response>
`,
  },
  {
    name: t('Play a file'),
    xml: `<Response>
  <Play loop="1">https://example.com/welcome.mp3</Play>
  <Hangup/>
</Response>
`,
  },
];
