/** Settings of recordings, exports, speech, alarms, invoices, retention and mail. */
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
      'CallStatus of the hangup callback: always completed, or the result of the call',
    ),
    strictVobizSdk: toggle(
      false,
      'reduced endpoint and CDR objects for strictly typed Vobiz clients',
    ),
  },
  recordings: {
    storage: choice(
      ['folder', 's3'],
      'folder',
      'storage of finished recordings: the data folder, or s3; the links are the same',
    ),
    linkSeconds: integer(900, 10, 604_800, 'lifetime of a signed recording link'),
    suppressDigits: toggle(false, 'omit DTMF tones from recordings'),
  },
  s3: {
    endpoint: shaped(
      url('http', 'https'),
      text('', 'URL of the object storage, https://host; empty: off'),
    ),
    bucket: shaped(
      BUCKET,
      text('', 'name of the bucket; empty: the host of the endpoint contains it'),
    ),
    region: text('us-east-1', 'region of the bucket'),
    accessKeyId: text('', 'access key'),
    secretAccessKey: secret('secret key'),
    prefix: shaped(KEY_PREFIX, text('', 'prefix of every key, without leading or trailing slash')),
  },
  dataExport: {
    folder: text('', 'folder for daily exports of call records and ledgers; empty: off'),
    toS3: toggle(false, 'write daily exports of call records and ledgers to s3'),
    format: choice(
      ['csv', 'ndjson'],
      'csv',
      'format of daily exports: CSV or JSON lines, both compressed with gzip',
    ),
    hourUtc: integer(1, 0, 23, 'hour (UTC) from which the export of the previous day starts'),
  },
  speech: {
    engine: choice(
      ['auto', 'espeak-ng', 'flite', 'none'],
      'auto',
      'local speech synthesizer for Speak; with url, the fallback if that fails',
    ),
    url: shaped(
      url('http', 'https'),
      text(
        '',
        'base URL of an OpenAI-compatible server that is tried first, e.g. https://api.openai.com/v1; empty: off',
      ),
    ),
    apiKey: secret('bearer token of speech.url'),
    model: text('tts-1', 'model of speech.url'),
    voices: shaped(
      PAIR,
      list(
        ['WOMAN=nova', 'MAN=onyx'],
        'voice mappings, voice of a document = voice of speech.url; other names are sent unchanged, Polly.* by gender',
      ),
    ),
    timeLimitMs: integer(8000, 500, 60_000, 'timeout for the first audio of speech.url'),
  },
  recognition: {
    engine: choice(
      ['auto', 'websocket', 'http', 'pocketsphinx', 'none'],
      'auto',
      'speech recognition for Gather, GetInput and recordings; auto: the first configured engine in this order',
    ),
    httpUrl: shaped(
      url('http', 'https'),
      text(
        '',
        'base URL of an OpenAI-compatible server (whisper), e.g. http://127.0.0.1:8000/v1; empty: off',
      ),
    ),
    httpModel: text('whisper-1', 'model of httpUrl'),
    webSocketUrl: shaped(
      url('ws', 'wss'),
      text('', "streaming server in vosk-server's protocol, e.g. ws://127.0.0.1:2700; empty: none"),
    ),
    apiKey: secret('bearer token of httpUrl and webSocketUrl'),
    language: shaped(LANGUAGE, text('en-US', 'language for transcriptions of recordings')),
    timeLimitMs: integer(30_000, 500, 600_000, 'timeout for the result after speech has ended'),
    maxListening: integer(100, 1, 10_000, 'maximum calls with speech recognition at the same time'),
  },
  alarms: {
    email: shaped(
      MAILS,
      text(
        '',
        'mail addresses that receive alarms, separated by commas; empty: alarms are only logged',
      ),
    ),
    webhookUrl: shaped(url('http', 'https'), text('', 'URL that receives alarms as JSON by POST')),
    webhookSecret: secret('key of X-Carillon-Signature: sha256=<HMAC-SHA256 of the body, hex>'),
    everyMs: integer(15_000, 100, 3_600_000, 'interval of alarm checks'),
    carrierDownMs: integer(
      60_000,
      0,
      3_600_000,
      'time that a carrier must be down before the alarm is raised',
    ),
    clearMs: integer(
      900_000,
      0,
      86_400_000,
      'time without the cause after which an alarm ends, so that a flapping cause raises one alarm',
    ),
    answerRatioPercent: integer(
      0,
      0,
      100,
      'alarm if a carrier connects a smaller share of 30 calls in 15 minutes; a drop to half of the previous hour always raises an alarm',
    ),
    spendFactor: integer(
      5,
      0,
      1000,
      'alarm if an account spends this multiple of its usual hourly amount of the last 7 days; 0: off',
    ),
    spendFloor: integer(
      10,
      0,
      1_000_000,
      'hourly spending, in currency units, below which no alarm is raised',
    ),
  },
  invoices: {
    seller: shaped(LINES, text('', 'name and address on invoices, as lines; empty: platformName')),
    font: text(
      '',
      'TrueType font (.ttf, .otf) for non-Latin text; empty: DejaVu Sans, if installed',
    ),
  },
  retention: {
    cdrDays: integer(0, 0, 36_500, 'days until CDRs are deleted; 0: never'),
    callLogDays: integer(30, 0, 36_500, 'days until timelines of calls are deleted; 0: never'),
    recordingDays: integer(30, 0, 36_500, 'days until recordings are deleted; 0: never'),
    campaignDays: integer(
      0,
      0,
      36_500,
      'days until ended campaigns are deleted, with contacts and attempts; 0: never',
    ),
    doNotCallDays: integer(
      0,
      0,
      36_500,
      'days until numbers are removed from do-not-call lists; 0: never',
    ),
  },
  mail: {
    smtpUrl: shaped(
      url('smtp', 'smtps'),
      secret('smtp(s)://user:password@host:port; empty: mail is written to <dataDir>/outbox'),
    ),
    from: shaped(MAIL, text('carillon@localhost', 'sender address of mail')),
  },
} as const;
