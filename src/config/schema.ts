/**
 * Every setting: its type, default, unit and meaning in one place. `config/default.json` holds the same defaults
 * (a test compares them), a file named by CARILLON_CONFIG overrides them, the environment overrides both:
 * `sip.publicHost` is CARILLON_SIP_PUBLIC_HOST.
 */
interface Described<T> {
  readonly default: T;
  readonly about: string;
  /** Never printed. */
  readonly secret?: true;
  /** Taken over by a running service on SIGHUP; everything else needs a restart. */
  readonly live?: true;
}
export interface TextSetting extends Described<string> {
  readonly kind: 'text';
  readonly oneOf?: readonly string[];
}
export interface IntegerSetting extends Described<number> {
  readonly kind: 'integer';
  readonly min: number;
  readonly max: number;
}
export interface SwitchSetting extends Described<boolean> {
  readonly kind: 'switch';
}
export interface ListSetting extends Described<readonly string[]> {
  readonly kind: 'list';
}
/** The path of a file, or in the settings file the rows themselves. */
export interface RowsSetting extends Described<string | readonly unknown[]> {
  readonly kind: 'rows';
}
export type Setting = TextSetting | IntegerSetting | SwitchSetting | ListSetting | RowsSetting;

const text = (initial: string, about: string): TextSetting => ({
  kind: 'text',
  default: initial,
  about,
});
const secret = (about: string): TextSetting => ({ kind: 'text', default: '', about, secret: true });
const choice = <const C extends string>(
  oneOf: readonly C[],
  initial: C,
  about: string,
): TextSetting & { readonly default: C; readonly oneOf: readonly C[] } => ({
  kind: 'text',
  oneOf,
  default: initial,
  about,
});
const integer = (initial: number, min: number, max: number, about: string): IntegerSetting => ({
  kind: 'integer',
  default: initial,
  min,
  max,
  about,
});
const toggle = (initial: boolean, about: string): SwitchSetting => ({
  kind: 'switch',
  default: initial,
  about,
});
const list = (initial: readonly string[], about: string): ListSetting => ({
  kind: 'list',
  default: initial,
  about,
});
const live = <S extends object>(setting: S): S & { readonly live: true } => ({
  ...setting,
  live: true,
});
const rows = (about: string): RowsSetting => ({ kind: 'rows', default: '', about, live: true });

const PORT = [1, 65_535] as const;
const PORT_OR_NONE = [0, 65_535] as const;
const DAY_MS = 86_400_000;
const MIB = 2 ** 20;

export const SETTINGS = {
  dataDir: text(
    'data',
    'folder of the database, keys, recordings and outbox; relative to the working directory',
  ),
  publicUrl: text('', 'base of links in callbacks and mails; empty: http(s)://<http host>:<port>'),
  adminToken: secret(
    'bearer token of /admin/v1; empty: made at the first start and kept in the data folder',
  ),
  demo: toggle(
    true,
    'built-in answer URL and echo bot, and the first account, application and endpoint',
  ),
  logLevel: live(
    choice(
      ['debug', 'info', 'warn', 'error', 'silent'],
      'info',
      'least severe level that is written',
    ),
  ),
  logFormat: choice(
    ['auto', 'json', 'pretty'],
    'auto',
    'lines of JSON, or lines for people; auto: for people on a terminal',
  ),
  rates: rows('prices: a JSON or YAML file like rates.json, or the list itself; empty: rates.json'),
  carriers: rows(
    'SIP gateways: a JSON or YAML file like carriers.json, or the list itself; empty: carriers.json',
  ),
  platformName: text('Carillon', 'HangupSource of calls that the platform ended'),
  http: {
    host: text('127.0.0.1', 'address of the REST listener'),
    port: integer(8080, 0, 65_535, 'port of the REST listener; 0 picks a free one'),
    tlsCertFile: text('', 'PEM certificate chain; with tlsKeyFile the listener speaks HTTPS'),
    tlsKeyFile: text('', 'PEM private key'),
    trustProxy: list(
      [],
      'addresses or CIDR ranges of reverse proxies whose X-Forwarded-For is believed',
    ),
    bodyLimitBytes: integer(1_048_576, 1024, 104_857_600, 'largest request body'),
    uploadLimitBytes: integer(
      268_435_456,
      1024,
      4_294_967_296,
      'largest contact list of a campaign',
    ),
    requestsPerSecond: integer(
      20_000,
      1,
      1_000_000,
      'requests per second and account; beyond: 429',
    ),
    operatorPages: choice(
      ['auto', 'token', 'open'],
      'auto',
      "who reads /metrics and the operator's part of /docs and /openapi.json: holders of adminToken, or everybody; auto: everybody while HTTP is bound to loopback, publicUrl is empty or loopback, and no proxy stands between",
    ),
    metricsToken: secret(
      'bearer token that reads /metrics and nothing else; empty: adminToken only',
    ),
    refusedPerSecond: integer(
      100,
      1,
      1_000_000,
      'requests without valid credentials per second, address and key; beyond: 429',
    ),
    connectionsPerAddress: integer(
      1000,
      1,
      100_000,
      'connections of one address that is no trusted proxy; beyond: its longest idle one is closed',
    ),
  },
  sip: {
    host: text('127.0.0.1', 'address of the SIP listeners'),
    port: integer(5060, ...PORT, 'port of the SIP listeners, UDP and TCP'),
    publicHost: text('', 'host written into Via, Contact and sip_uri; empty: sip.host'),
    backend: choice(
      ['own', 'drachtio'],
      'own',
      'what SIP messages come and go over: own sockets, or the drachtio servers of drachtio.servers, which sip.publicHost and sip.port then name to peers',
    ),
    userAgent: text('Carillon', 'Server and User-Agent header'),
    registerExpiresMinS: integer(60, 1, 86_400, 'shorter registrations are answered 423'),
    registerExpiresMaxS: integer(7200, 60, 604_800, 'longer registrations are shortened'),
    tlsPort: integer(
      5061,
      ...PORT_OR_NONE,
      'port of SIP over TLS; 0: none. The default is left out where another program has it',
    ),
    tlsCertFile: text(
      '',
      'PEM certificate chain of TLS and WSS, used anew when the file changes or on SIGHUP; empty: one of our own making in <dataDir>/keys',
    ),
    tlsKeyFile: text('', 'PEM private key'),
    tlsCaFile: text(
      '',
      'authorities (PEM) that carriers over TLS may have their certificate from besides the public ones, and clients from alone',
    ),
    tlsClientCertificates: choice(
      ['no', 'optional', 'required'],
      'no',
      'whether TLS clients are asked for a certificate of tlsCaFile; required: none gets on without',
    ),
    tlsWildcards: toggle(
      false,
      'a certificate of *.example.com is that of carrier sip.example.com (RFC 5922 forbids it)',
    ),
    carrierProbeMs: integer(
      30_000,
      500,
      3_600_000,
      'how often carriers are asked with OPTIONS whether they are there; a new one is asked then, too',
    ),
    tlsHandshakesPerSecond: integer(
      300,
      1,
      100_000,
      'TLS handshakes of peers a second, WSS included; more wait: carriers first, then one of each address after the other',
    ),
    wsPort: integer(5066, ...PORT_OR_NONE, 'port of SIP over WebSocket (RFC 7118); as tlsPort'),
    wssPort: integer(7443, ...PORT_OR_NONE, 'port of SIP over WebSocket with TLS; as tlsPort'),
    wsOrigins: list([], 'origins of web pages that may open a SIP WebSocket; empty: all'),
    maxConnections: integer(5000, 1, 1_000_000, 'connections at once: TCP, TLS and WebSocket'),
    connectionsPerAddress: integer(
      500,
      1,
      1_000_000,
      'connections of one address at once; beyond: its oldest one of an unknown peer is closed',
    ),
    unknownPeersPerSecond: integer(
      500,
      1,
      1_000_000,
      'messages per second of one address (IPv6: /64) that proved nothing: new calls, and others, each; beyond: dropped',
    ),
    edges: list(
      [],
      'addresses and ranges of edge proxies of yours (deploy/kamailio): their X-Carillon-Source says who sends, and strangers are heard through them alone; empty: from anywhere',
    ),
    passHeaders: list(
      ['Diversion', 'History-Info', 'User-to-User', 'Session-ID', 'Identity'],
      'header fields of an inbound call that its Dial or trunk hands on, unless the carrier or trunk has a list of its own; X-* are all that begin so, and the signalling itself none of them. Identity goes on only while both numbers stay the same',
    ),
    messageMaxBytes: integer(
      4096,
      1,
      65_000,
      'largest text of a MESSAGE; longer ones are answered 413',
    ),
    firstResponseMs: integer(
      4_000,
      500,
      32_000,
      'a carrier or a URI that answers an INVITE with nothing for so long has failed, and the next is tried',
    ),
    traceMiB: integer(
      16,
      1,
      4096,
      'SIP messages of the latest calls that are kept in memory for carillon ladder and /admin/v1/calls/…/messages, MiB',
    ),
    challengeOrder: choice(
      ['compatible', 'strongest'],
      'compatible',
      'digest challenges: MD5 first, for phones that read one only, or SHA-512-256 first (RFC 8760)',
    ),
  },
  telemetry: {
    tracesUrl: text(
      '',
      'OpenTelemetry collector that takes a trace of each call, OTLP over HTTP, e.g. http://127.0.0.1:4318; empty: none',
    ),
    headers: {
      ...list([], 'header fields of what is sent there, Name=value'),
      secret: true,
    },
  },
  drachtio: {
    servers: list(
      [],
      'with sip.backend drachtio: control ports of drachtio servers, host or host:port (9022)',
    ),
    secret: secret('what those servers ask for'),
    graceMs: integer(30_000, 0, 600_000, 'calls over a server that is away go on for so long'),
  },
  hep: {
    host: text(
      '',
      'Homer, or another HEP3 server: SIP messages and media reports go there; empty: nowhere',
    ),
    port: integer(9060, ...PORT, 'its UDP port'),
    captureId: integer(
      2001,
      0,
      4_294_967_295,
      'number of this service among those that report there',
    ),
    password: secret('key that the server asks for; empty: none'),
    hideCredentials: toggle(
      true,
      'messages go there without passwords, tokens and media keys; false: as they are',
    ),
    mediaReports: toggle(true, 'loss, jitter and MOS of running calls every 5 s, as RTCP reports'),
  },
  stir: {
    trustAnchorsFile: text(
      '',
      "authorities (PEM) whose certificates prove callers' numbers (RFC 8226), read again on SIGHUP; empty: no Identity is verified",
    ),
    policy: choice(
      ['off', 'verify', 'refuse', 'require'],
      'verify',
      'what becomes of calls from carriers: verify tells the outcome, refuse refuses wrong proofs (403, 436, 437, 438), require also calls without one (428); a carrier may have a policy of its own',
    ),
    freshnessS: integer(60, 5, 3600, 'a proof that is older, or further in the future, is stale'),
    keyFile: text(
      '',
      'P-256 key (PEM) that signs calls to carriers, read again on SIGHUP; empty: none is signed',
    ),
    certificateUrl: text('', 'where everybody finds the certificate of that key (https)'),
  },
  rtp: {
    host: text('127.0.0.1', 'address of the RTP sockets'),
    publicHost: text('', 'address written into SDP; empty: rtp.host'),
    portMin: integer(20_000, ...PORT, 'lowest RTP port'),
    icePort: integer(
      0,
      -1,
      65_535,
      'UDP and TCP port that all browsers send to; 0: the lowest RTP port; -1: each call has a port of its own, and TCP is not possible',
    ),
    portMax: integer(29_999, ...PORT, 'highest RTP port'),
    mediaTimeoutMs: integer(
      60_000,
      1000,
      3_600_000,
      'a call without RTP for so long ends (6020 Media Timeout)',
    ),
    srtp: choice(
      ['off', 'optional', 'required'],
      'optional',
      'SRTP with keys in SDP (RFC 4568): accepted when offered, and offered to phones that are registered over TLS; or never; or always. Carriers and trunks with `secure` require it in any case',
    ),
    codecs: list(
      ['OPUS', 'G722', 'PCMU', 'PCMA'],
      'codecs of phones, in the order in which they are offered: OPUS, G722, PCMU, PCMA, L16; who offers decides by its own order among these',
    ),
    carrierCodecs: list(['PCMU', 'PCMA'], 'the same for carriers and trunks'),
    mediaThreads: integer(
      0,
      0,
      64,
      'threads that carry audio, a call on one of them; 0: one less than this machine has cores, and at least one',
    ),
    keepAliveMs: integer(
      15_000,
      20,
      60_000,
      'a leg that neither hears nor says anything sends one packet at its beginning and each so long (RFC 6263); 20: silence without pause',
    ),
  },
  calls: {
    maxConcurrent: integer(2000, 1, 100_000, 'calls on this node; beyond: 503'),
    heartbeatMs: integer(
      2000,
      100,
      60_000,
      'open calls are marked alive this often; a crash bills up to the last mark',
    ),
    holdMusic: text(
      'default',
      'what a party hears that the other side of its bridge holds: default (music of our own), silence, or a WAV or MP3 file',
    ),
    drainMs: integer(30_000, 0, 3_600_000, 'on SIGTERM running calls may go on so long'),
    ringTimeoutMs: integer(
      120_000,
      1000,
      600_000,
      'an outbound leg rings no longer, unless the request says otherwise',
    ),
    referFrom: choice(
      ['endpoints', 'all', 'nobody'],
      'endpoints',
      'whose REFER transfers a call of a Dial: phones of the account, carriers and trunks too, or nobody; the account pays for whom it names',
    ),
    answerBeforeDial: toggle(
      false,
      'Dial answers the caller before it calls anybody; off: the caller hears ringing, early media or the refusal of the called party and is answered with it',
    ),
    endOnRevocation: toggle(
      true,
      'running calls end when their account, sub-account or endpoint loses its rights; off: they run out',
    ),
    waitForSlotMs: integer(
      2000,
      0,
      30_000,
      'a call waits so long for a slot at a carrier or on this node before it is refused (5030)',
    ),
    redirectsPerMinute: integer(30, 1, 1000, 'documents that one call may fetch within a minute'),
    queuePerAccount: integer(
      10_000,
      1,
      1_000_000,
      'destinations of bulk requests waiting to be dialled',
    ),
    logEntries: integer(500, 10, 10_000, 'timeline entries kept per call'),
    logRetentionMs: integer(
      DAY_MS,
      60_000,
      30 * DAY_MS,
      'timelines of ended calls are kept in memory so long',
    ),
  },
  campaigns: {
    reservePercent: integer(
      10,
      0,
      90,
      "of an account's calls at once and a second, kept for calls over REST and inbound ones",
    ),
    maxRunning: integer(20, 1, 1000, 'campaigns of an account that run at once; more are queued'),
    callsPerNumberPerDay: integer(
      5,
      1,
      1000,
      'calls to one number in a day, of all campaigns of an account',
    ),
    activeSeconds: integer(
      60,
      1,
      86_400,
      'a campaign is idle when it has dialled nobody for so long',
    ),
    stalledMinutes: integer(
      5,
      1,
      1440,
      'contacts are due, nothing is full, and nobody was dialled: health stalled',
    ),
    stalledPauseMinutes: integer(30, 1, 10_080, 'the same for so long: paused as stalled'),
    consecutiveFailures: integer(
      10,
      1,
      1000,
      'carrier and answer URL failures in a row that pause a campaign',
    ),
  },
  overload: {
    loopDelayMs: integer(
      100,
      10,
      10_000,
      'event loop, or the reading of known SIP peers, so late for most of a second: fewer new calls are taken, others get 503',
    ),
    storeQueue: integer(
      20_000,
      100,
      100_000,
      'units of work that wait for the store; more for most of a second: the same',
    ),
  },
  streams: {
    threads: integer(
      0,
      0,
      64,
      'threads of the sockets towards bots, a socket on one of them; 0: one less than this machine has cores, and at least one',
    ),
    queueMs: integer(60_000, 1000, 600_000, 'audio that one stream may queue; beyond: buffer_full'),
    accountMessageBytes: integer(
      32 * MIB,
      4 * MIB,
      1024 * MIB,
      "messages above 64 KiB of one account's bots that are received at a time; beyond: closed with 1009",
    ),
    allowInsecure: choice(
      ['auto', 'yes', 'no'],
      'auto',
      'ws:// and http:// towards customers; auto: while HTTP is bound to loopback',
    ),
    caFile: text(
      '',
      'additional certificate authorities (PEM) for wss:// and https:// of customers',
    ),
  },
  egress: {
    allow: list(
      [],
      'hosts, addresses or CIDR ranges inside private networks that callbacks, streams, audio fetches, SIP and RTP may reach',
    ),
  },
  webhooks: {
    userAgent: text(
      'Carillon/0.1 (vobiz plivo compatible)',
      'User-Agent of callbacks and stream upgrades',
    ),
    signatureHeaders: list(
      ['X-Vobiz-Signature', 'X-Plivo-Signature'],
      'prefixes of the signature headers',
    ),
    firstByteMs: integer(
      5000,
      100,
      60_000,
      'a document or audio file of which nothing comes for so long is given up',
    ),
    connectionsPerHost: integer(64, 1, 10_000, 'connections to one customer host'),
  },
  cluster: {
    node: text(
      '',
      'id of this node, unlike that of every other; empty: a name made at the first start and kept in the data folder',
    ),
    redis: text(
      '',
      'Redis that the nodes of one service share, redis://… or rediss://…; empty: this process is alone',
    ),
    answerMs: integer(
      1000,
      100,
      60_000,
      'a question to another node that has no answer for so long has failed',
    ),
    withoutRedisPercent: integer(
      0,
      0,
      100,
      'part of every limit of calls that this node admits while Redis is away; 0: no new calls',
    ),
  },
  store: {
    synchronous: choice(
      ['normal', 'full'],
      'normal',
      'SQLite synchronous: normal survives a crash of the process, full a power cut too',
    ),
    url: secret(
      'postgres://user:password@host/database?sslmode=verify-full, which nodes may share; empty: SQLite in the data folder',
    ),
    writers: integer(2, 1, 32, 'connections to PostgreSQL that write; more where it is far away'),
    spoolMegabytes: integer(
      256,
      1,
      65_536,
      'ends of calls that wait on the disk while PostgreSQL is away',
    ),
  },
  accounts: {
    currency: text('USD', 'currency of new accounts, ISO 4217'),
    country: text('US', 'country of new accounts, ISO 3166-1; completes national numbers'),
    concurrentCallsLimit: integer(200, 0, 1_000_000, 'concurrent calls of new accounts'),
    cpsLimit: integer(50, 0, 1_000_000, 'calls per second of new accounts'),
  },
  endpoints: {
    usernameSuffix: choice(
      ['always', 'when-taken'],
      'always',
      'numeric suffix of stored SIP usernames',
    ),
    callsPerMinute: integer(3000, 1, 100_000, 'calls that one endpoint may start in a minute'),
    messagesPerMinute: integer(
      300,
      1,
      100_000,
      'texts (MESSAGE) that one endpoint may send in a minute; beyond: 503 with Retry-After',
    ),
  },
  numbers: {
    releaseCooldownHours: integer(
      0,
      0,
      8760,
      'a released number can be taken back by its account so long; 0: it is free at once',
    ),
  },
  callerId: {
    policy: choice(
      ['owned', 'any'],
      'owned',
      'caller ids that an account may present on outbound calls',
    ),
  },
  dialing: {
    allowSpecial: list([], 'emergency and special numbers that may be dialled, as dialled'),
  },
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
    endpoint: text('', 'object storage, https://host; empty: there is none'),
    bucket: text('', 'name of the bucket; empty: the host of the endpoint names it'),
    region: text('us-east-1', 'region of the bucket'),
    accessKeyId: text('', 'access key'),
    secretAccessKey: secret('secret key'),
    prefix: text('', 'before every key, without slashes at its ends'),
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
    url: text(
      '',
      'base of an OpenAI-compatible server that speaks first, e.g. https://api.openai.com/v1; empty: none',
    ),
    apiKey: secret('bearer token of speech.url'),
    model: text('tts-1', 'model of speech.url'),
    voices: list(
      ['WOMAN=nova', 'MAN=onyx'],
      'voice of a document = voice of speech.url; others are sent as they are written, Polly.* by gender',
    ),
    timeLimitMs: integer(8000, 500, 60_000, 'longest wait for the first audio of speech.url'),
  },
  recognition: {
    engine: choice(
      ['auto', 'websocket', 'http', 'pocketsphinx', 'none'],
      'auto',
      'who understands speech of Gather, GetInput and recordings; auto: the first that is set up, in this order',
    ),
    httpUrl: text(
      '',
      'base of an OpenAI-compatible server (whisper), e.g. http://127.0.0.1:8000/v1; empty: none',
    ),
    httpModel: text('whisper-1', 'model of httpUrl'),
    webSocketUrl: text(
      '',
      "streaming server in vosk-server's protocol, e.g. ws://127.0.0.1:2700; empty: none",
    ),
    apiKey: secret('bearer token of either'),
    language: text('en-US', 'language of recordings that are transcribed'),
    timeLimitMs: integer(30_000, 500, 600_000, 'longest wait for words after speech has ended'),
    maxListening: integer(100, 1, 10_000, 'calls whose speech is listened to at the same time'),
  },
  alarms: {
    email: text(
      '',
      'who is told of alarms: addresses with commas between them; empty: the log alone',
    ),
    webhookUrl: text('', 'URL that alarms are posted to as JSON'),
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
    seller: text('', 'name and address on invoices, a line each; empty: platformName'),
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
    smtpUrl: secret(
      'smtp(s)://user:password@host:port; empty: mails are written to <dataDir>/outbox',
    ),
    from: text('carillon@localhost', 'sender of mails'),
  },
} as const;

type ValueOf<S> = S extends TextSetting
  ? S extends { readonly default: infer D extends string; readonly oneOf: readonly string[] }
    ? string extends D
      ? string
      : D
    : string
  : S extends IntegerSetting
    ? number
    : S extends SwitchSetting
      ? boolean
      : S extends ListSetting
        ? readonly string[]
        : S extends RowsSetting
          ? string | readonly unknown[]
          : { readonly [K in keyof S]: ValueOf<S[K]> };

export type Settings = { readonly [K in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[K]> };

export const isSetting = (node: object): node is Setting =>
  'kind' in node && 'default' in node && 'about' in node;

export interface SettingPlace {
  readonly path: readonly string[];
  readonly setting: Setting;
  readonly environment: string;
}

/** Every setting with its path and environment name, in the order of the schema. */
export function listSettings(): SettingPlace[] {
  const places: SettingPlace[] = [];
  const walk = (node: object, path: readonly string[]): void => {
    for (const [key, child] of Object.entries(node) as [string, object][]) {
      const at = [...path, key];
      if (isSetting(child))
        places.push({ path: at, setting: child, environment: environmentName(at) });
      else walk(child, at);
    }
  };
  walk(SETTINGS, []);
  return places;
}

/** `sip.publicHost` → CARILLON_SIP_PUBLIC_HOST. */
function environmentName(path: readonly string[]): string {
  const words = path.map((part) => part.replace(/([a-z0-9])([A-Z])/g, '$1_$2'));
  return `CARILLON_${words.join('_').toUpperCase()}`;
}
