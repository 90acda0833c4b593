/** Settings of calls, campaigns, streams, nodes, accounts and allowed destinations. */
import {
  COUNTRY,
  CURRENCY,
  DESTINATION,
  DIALLED,
  HEADER_NAME,
  NODE_ID,
  POSTGRES_URL,
  REDIS_URL,
} from './forms.ts';
import { choice, integer, list, secret, shaped, text, toggle } from './kinds.ts';

const DAY_MS = 86_400_000;
const MIB = 2 ** 20;

export const calling = {
  calls: {
    maxConcurrent: integer(
      2000,
      1,
      100_000,
      'maximum concurrent calls on this node; further calls are refused with 503',
    ),
    heartbeatMs: integer(
      2000,
      100,
      60_000,
      'interval of call heartbeats; after a crash, calls are billed up to the last heartbeat',
    ),
    holdMusic: text(
      'default',
      'music on hold: default (built-in music), silence, or the path of a WAV or MP3 file',
    ),
    drainMs: integer(30_000, 0, 3_600_000, 'maximum time for active calls to end after SIGTERM'),
    ringTimeoutMs: integer(
      120_000,
      1000,
      600_000,
      'maximum ringing time of an outbound leg, unless the request sets another limit',
    ),
    referFrom: choice(
      ['endpoints', 'all', 'nobody'],
      'endpoints',
      "source of REFER requests that may transfer a call of a Dial: the account's phones, all peers including carriers and trunks, or no peer; the account pays for the call to the transfer target",
    ),
    answerBeforeDial: toggle(
      false,
      'Dial answers the caller before it calls a destination; off: the caller hears ringing or early media and receives the response of the called party',
    ),
    endOnRevocation: toggle(
      true,
      'hang up active calls when their account, sub-account or endpoint is disabled; off: let them end normally',
    ),
    waitForSlotMs: integer(
      2000,
      0,
      30_000,
      'maximum wait of a call for a slot at a carrier or on this node before it is refused (5030)',
    ),
    redirectsPerMinute: integer(30, 1, 1000, 'documents that one call may fetch per minute'),
    queuePerAccount: integer(
      10_000,
      1,
      1_000_000,
      'maximum destinations of bulk requests that wait to be dialled',
    ),
    logEntries: integer(500, 10, 10_000, 'timeline entries kept per call'),
    logRetentionMs: integer(
      DAY_MS,
      60_000,
      30 * DAY_MS,
      'how long timelines of ended calls stay in memory',
    ),
  },
  campaigns: {
    reservePercent: integer(
      10,
      0,
      90,
      'share of the concurrent calls and calls per second of an account that is reserved for REST and inbound calls',
    ),
    maxRunning: integer(
      20,
      1,
      1000,
      'maximum running campaigns of an account; further campaigns are queued',
    ),
    callsPerNumberPerDay: integer(
      5,
      1,
      1000,
      'maximum calls to one number per day, over all campaigns of an account',
    ),
    activeSeconds: integer(
      60,
      1,
      86_400,
      'time without a dialled call after which a campaign is idle',
    ),
    stalledMinutes: integer(
      5,
      1,
      1440,
      'time without a dialled call, with contacts due and capacity free, after which health is stalled',
    ),
    stalledPauseMinutes: integer(
      30,
      1,
      10_080,
      'time in this state after which the campaign is paused as stalled',
    ),
    consecutiveFailures: integer(
      10,
      1,
      1000,
      'consecutive carrier or answer URL failures after which a campaign is paused',
    ),
  },
  overload: {
    loopDelayMs: integer(
      100,
      10,
      10_000,
      'delay of the event loop or of the SIP queue of known peers, for most of a second, from which new calls are limited; excess calls get 503',
    ),
    storeQueue: integer(
      20_000,
      100,
      100_000,
      'queued store operations, for most of a second, from which new calls are limited in the same way',
    ),
  },
  streams: {
    threads: integer(
      0,
      0,
      64,
      'threads for bot WebSockets; 0: number of cores minus one, at least one',
    ),
    queueMs: integer(
      60_000,
      1000,
      600_000,
      'maximum queued audio of one stream; beyond: buffer_full',
    ),
    accountMessageBytes: integer(
      32 * MIB,
      4 * MIB,
      1024 * MIB,
      'messages above 64 KiB that the bots of one account may send at the same time; beyond: closed with 1009',
    ),
    requireDisclosure: toggle(
      false,
      'refuse bidirectional streams of calls that have not heard a disclosure (`Stream` attribute `disclosure`)',
    ),
    allowInsecure: choice(
      ['auto', 'yes', 'no'],
      'auto',
      'allow ws:// and http:// URLs of customers; auto: only while HTTP is bound to loopback',
    ),
    caFile: text(
      '',
      'additional certificate authorities (PEM) for wss:// and https:// of customers',
    ),
  },
  agents: {
    accounts: list(
      [],
      'auth IDs of the accounts whose applications may be agents (`*`: all); empty: all while HTTP is bound to loopback, otherwise none. Their definitions can use the model keys of this machine, at the expense of the operator',
    ),
  },
  egress: {
    allow: shaped(
      DESTINATION,
      list(
        [],
        'hosts, addresses or CIDR ranges in private networks that callbacks, streams, audio fetches, agents of applications, SIP and RTP may reach',
      ),
    ),
  },
  webhooks: {
    userAgent: text(
      'Carillon/0.1 (vobiz plivo compatible)',
      'User-Agent of callbacks and stream upgrades',
    ),
    signatureHeaders: shaped(
      HEADER_NAME,
      list(['X-Vobiz-Signature', 'X-Plivo-Signature'], 'prefixes of the signature headers'),
    ),
    firstByteMs: integer(
      5000,
      100,
      60_000,
      'time without data after which the download of a document or audio file fails',
    ),
    connectionsPerHost: integer(64, 1, 10_000, 'maximum connections to one customer host'),
  },
  cluster: {
    node: shaped(
      NODE_ID,
      text(
        '',
        'unique ID of this node; empty: generated at the first start and stored in the data folder',
      ),
    ),
    redis: shaped(
      REDIS_URL,
      text(
        '',
        'URL of the Redis shared by all nodes, redis://… or rediss://… with TLS; with Sentinel redis+sentinel://host:26379,host2:26379/name; empty: single node',
      ),
    ),
    answerMs: integer(1000, 100, 60_000, 'timeout of requests to other nodes'),
    withoutRedisPercent: integer(
      0,
      0,
      100,
      'share of every call limit that this node admits while Redis is unavailable; 0: no new calls',
    ),
  },
  store: {
    synchronous: choice(
      ['normal', 'full'],
      'normal',
      'SQLite synchronous mode: normal survives a process crash, full also a power failure',
    ),
    url: shaped(
      POSTGRES_URL,
      secret(
        'postgres://user:password@host/database?sslmode=verify-full, database shared by all nodes; empty: SQLite in the data folder',
      ),
    ),
    writers: integer(2, 1, 32, 'write connections to PostgreSQL; increase on high-latency links'),
    spoolMegabytes: integer(
      256,
      1,
      65_536,
      'maximum call ends buffered on disk while PostgreSQL is unavailable',
    ),
  },
  accounts: {
    currency: shaped(CURRENCY, text('USD', 'currency of new accounts, ISO 4217')),
    country: shaped(
      COUNTRY,
      text('US', 'country of new accounts, ISO 3166-1; completes national numbers'),
    ),
    concurrentCallsLimit: integer(200, 0, 1_000_000, 'concurrent calls of new accounts'),
    cpsLimit: integer(50, 0, 1_000_000, 'calls per second of new accounts'),
  },
  endpoints: {
    usernameSuffix: choice(
      ['always', 'when-taken'],
      'always',
      'append a numeric suffix to SIP usernames',
    ),
    callsPerMinute: integer(
      3000,
      1,
      100_000,
      'maximum calls that one endpoint may start per minute',
    ),
    messagesPerMinute: integer(
      300,
      1,
      100_000,
      'maximum MESSAGE requests of one endpoint per minute; beyond: 503 with Retry-After',
    ),
  },
  numbers: {
    releaseCooldownHours: integer(
      0,
      0,
      8760,
      'time in which an account can reclaim a released number; 0: it is available immediately',
    ),
  },
  callerId: {
    policy: choice(
      ['owned', 'any'],
      'owned',
      'caller IDs that an account may present on outbound calls',
    ),
  },
  dialing: {
    allowSpecial: shaped(
      DIALLED,
      list([], 'emergency and special numbers that may be dialled, in dialled form'),
    ),
  },
} as const;
