/** Calls, campaigns, streams, nodes, accounts, and whom they may call. */
import {
  COUNTRY,
  CURRENCY,
  DESTINATION,
  DIALLED,
  HEADER_NAME,
  NODE_ID,
  POSTGRES_URL,
  url,
} from './forms.ts';
import { choice, integer, list, secret, shaped, text, toggle } from './kinds.ts';

const DAY_MS = 86_400_000;
const MIB = 2 ** 20;

export const calling = {
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
    allow: shaped(
      DESTINATION,
      list(
        [],
        'hosts, addresses or CIDR ranges inside private networks that callbacks, streams, audio fetches, SIP and RTP may reach',
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
      'a document or audio file of which nothing comes for so long is given up',
    ),
    connectionsPerHost: integer(64, 1, 10_000, 'connections to one customer host'),
  },
  cluster: {
    node: shaped(
      NODE_ID,
      text(
        '',
        'id of this node, unlike that of every other; empty: a name made at the first start and kept in the data folder',
      ),
    ),
    redis: shaped(
      url('redis', 'rediss'),
      text(
        '',
        'Redis that the nodes of one service share, redis://… or rediss://…; empty: this process is alone',
      ),
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
    url: shaped(
      POSTGRES_URL,
      secret(
        'postgres://user:password@host/database?sslmode=verify-full, which nodes may share; empty: SQLite in the data folder',
      ),
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
    allowSpecial: shaped(
      DIALLED,
      list([], 'emergency and special numbers that may be dialled, as dialled'),
    ),
  },
} as const;
