/** What is kept, recognised, told and thrown away. */
import { BUCKET, KEY_PREFIX, LANGUAGE, LINES, MAIL, MAILS, PAIR, url } from './forms.ts';
import { choice, integer, list, secret, shaped, text, toggle } from './kinds.ts';

export const keeping = {
  compat: {
    makeCallStatus: integer(
      200,
      200,
      201,
      'status of POST …/Call/: 200 (spec) or 201 (existing Vobiz clients)',
    ),
    hangupCallStatus: choice(
      ['spec', 'vendor'],
      'spec',
      'CallStatus of the hangup callback: always completed, or the outcome',
    ),
    strictVobizSdk: toggle(false, 'short endpoint and CDR shapes for strictly typed Vobiz clients'),
  },
  recordings: {
    storage: choice(
      ['folder', 's3'],
      'folder',
      'where finished recordings are kept: the data folder, or s3, served by the same links',
    ),
    linkSeconds: integer(900, 10, 604_800, 'life of a signed recording link'),
    suppressDigits: toggle(false, 'keypad tones are left out of recordings'),
  },
  s3: {
    endpoint: shaped(
      url('http', 'https'),
      text('', 'object storage, https://host; empty: there is none'),
    ),
    bucket: shaped(
      BUCKET,
      text('', 'name of the bucket; empty: the host of the endpoint names it'),
    ),
    region: text('us-east-1', 'region of the bucket'),
    accessKeyId: text('', 'access key'),
    secretAccessKey: secret('secret key'),
    prefix: shaped(KEY_PREFIX, text('', 'before every key, without slashes at its ends')),
  },
  dataExport: {
    folder: text('', 'each day of call records and ledgers is written here; empty: nowhere'),
    toS3: toggle(false, 'each day of call records and ledgers is written to s3'),
    format: choice(['csv', 'ndjson'], 'csv', 'as rows, or as JSON lines; both compressed by gzip'),
    hourUtc: integer(1, 0, 23, 'a day is written from this hour of the next one on'),
  },
  speech: {
    engine: choice(
      ['auto', 'espeak-ng', 'flite', 'none'],
      'auto',
      'synthesizer of Speak on this machine; with url the one that is used when that fails',
    ),
    url: shaped(
      url('http', 'https'),
      text(
        '',
        'base of an OpenAI-compatible server that speaks first, e.g. https://api.openai.com/v1; empty: none',
      ),
    ),
    apiKey: secret('bearer token of speech.url'),
    model: text('tts-1', 'model of speech.url'),
    voices: shaped(
      PAIR,
      list(
        ['WOMAN=nova', 'MAN=onyx'],
        'voice of a document = voice of speech.url; others are sent as they are written, Polly.* by gender',
      ),
    ),
    timeLimitMs: integer(8000, 500, 60_000, 'longest wait for the first audio of speech.url'),
  },
  recognition: {
    engine: choice(
      ['auto', 'websocket', 'http', 'pocketsphinx', 'none'],
      'auto',
      'who understands speech of Gather, GetInput and recordings; auto: the first that is set up, in this order',
    ),
    httpUrl: shaped(
      url('http', 'https'),
      text(
        '',
        'base of an OpenAI-compatible server (whisper), e.g. http://127.0.0.1:8000/v1; empty: none',
      ),
    ),
    httpModel: text('whisper-1', 'model of httpUrl'),
    webSocketUrl: shaped(
      url('ws', 'wss'),
      text('', "streaming server in vosk-server's protocol, e.g. ws://127.0.0.1:2700; empty: none"),
    ),
    apiKey: secret('bearer token of either'),
    language: shaped(LANGUAGE, text('en-US', 'language of recordings that are transcribed')),
    timeLimitMs: integer(30_000, 500, 600_000, 'longest wait for words after speech has ended'),
    maxListening: integer(100, 1, 10_000, 'calls whose speech is listened to at the same time'),
  },
  alarms: {
    email: shaped(
      MAILS,
      text('', 'who is told of alarms: addresses with commas between them; empty: the log alone'),
    ),
    webhookUrl: shaped(url('http', 'https'), text('', 'URL that alarms are posted to as JSON')),
    webhookSecret: secret('key of X-Carillon-Signature: sha256=<HMAC-SHA256 of the body, hex>'),
    everyMs: integer(15_000, 100, 3_600_000, 'how often everything is looked at'),
    carrierDownMs: integer(
      60_000,
      0,
      3_600_000,
      'a carrier must have been away for so long before that is told',
    ),
    clearMs: integer(
      900_000,
      0,
      86_400_000,
      'an alarm is over when its cause has been gone for so long: what flickers is told once',
    ),
    answerRatioPercent: integer(
      0,
      0,
      100,
      'alarm when a carrier answers less of 30 calls in 15 minutes; falling to half of the hour before is told always',
    ),
    spendFactor: integer(
      5,
      0,
      1000,
      'alarm when an account spends so many times its usual hour of the last 7 days; 0: never',
    ),
    spendFloor: integer(10, 0, 1_000_000, 'units an hour below which spending is no alarm'),
  },
  invoices: {
    seller: shaped(
      LINES,
      text('', 'name and address on invoices, a line each; empty: platformName'),
    ),
    font: text(
      '',
      'TrueType font (.ttf, .otf) for letters that are not Latin; empty: DejaVu Sans, where it is installed',
    ),
  },
  retention: {
    cdrDays: integer(0, 0, 36_500, 'CDRs are deleted after so many days; 0 keeps them'),
    callLogDays: integer(
      30,
      0,
      36_500,
      'timelines of calls are deleted after so many days; 0 keeps them',
    ),
    recordingDays: integer(
      30,
      0,
      36_500,
      'recordings are deleted after so many days; 0 keeps them',
    ),
    campaignDays: integer(
      0,
      0,
      36_500,
      'campaigns that are over are deleted after so many days, with contacts and attempts; 0 keeps them',
    ),
    doNotCallDays: integer(
      0,
      0,
      36_500,
      'numbers leave do-not-call lists after so many days; 0 keeps them',
    ),
  },
  mail: {
    smtpUrl: shaped(
      url('smtp', 'smtps'),
      secret('smtp(s)://user:password@host:port; empty: mails are written to <dataDir>/outbox'),
    ),
    from: shaped(MAIL, text('carillon@localhost', 'sender of mails')),
  },
} as const;
