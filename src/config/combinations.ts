/** Checks dependencies between settings. Returns one line per problem that names the settings. Reads no file. */
import { isIPv6 } from 'node:net';
import { CODEC_PREFERENCES, isCodecPreference } from '../domain/call/needs.ts';
import type { Settings } from './schema.ts';

export function combinationProblems(settings: Settings): readonly string[] {
  return [
    ...rtpPorts(settings),
    ...codecs(settings),
    ...listeners(settings),
    ...pairs(settings),
    ...needs(settings),
    ...limits(settings),
  ];
}

function rtpPorts({ rtp, sip }: Settings): string[] {
  const { portMin, portMax, icePort } = rtp;
  if (portMin >= portMax) return ['rtp.portMin must be below rtp.portMax'];
  const problems: string[] = [];
  if (portMin % 2 === 1)
    problems.push('rtp.portMin must be even: RTP uses an even port and RTCP the next one');
  const even = Math.floor(portMax / 2) - Math.ceil(portMin / 2) + 1;
  const shared = icePort === 0 ? portMin : icePort;
  const forIce = shared >= portMin && shared <= portMax ? 1 : 0;
  if (even - forIce < 1)
    problems.push(
      'rtp.portMin to rtp.portMax leaves no port for calls in addition to rtp.icePort: widen the range',
    );
  if (overlap(sip.host, rtp.host)) {
    for (const { name, port } of sipListeners(sip))
      if (port >= portMin && port <= portMax)
        problems.push(`${name} ${port} is within rtp.portMin ${portMin} to rtp.portMax ${portMax}`);
  }
  return problems;
}

function codecs({ rtp }: Settings): string[] {
  return (['codecs', 'carrierCodecs'] as const).flatMap((name) => {
    const unknown = rtp[name].find((codec) => !isCodecPreference(codec));
    if (unknown !== undefined)
      return [`rtp.${name}: ${unknown} is not one of ${CODEC_PREFERENCES.join(', ')}`];
    return rtp[name].every((codec) => codec === 'CN') ? [`rtp.${name} must name a codec`] : [];
  });
}

interface Listener {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** SIP listeners of this process. With the drachtio backend, the drachtio servers open the ports. */
function sipListeners({ backend, host, port, tlsPort, wsPort, wssPort }: Settings['sip']) {
  if (backend !== 'own') return [];
  return [
    { name: 'sip.port', host, port },
    { name: 'sip.tlsPort', host, port: tlsPort },
    { name: 'sip.wsPort', host, port: wsPort },
    { name: 'sip.wssPort', host, port: wssPort },
  ].filter((listener) => listener.port !== 0);
}

/** Reports TCP listeners that share a port of one address. */
function listeners({ http, sip, rtp }: Settings): string[] {
  const icePort = rtp.icePort === 0 ? rtp.portMin : rtp.icePort;
  const all: Listener[] = [
    ...(http.port === 0 ? [] : [{ name: 'http.port', host: http.host, port: http.port }]),
    ...sipListeners(sip),
  ];
  const isGiven = rtp.icePort > 0;
  const ice = { name: isGiven ? 'rtp.icePort' : 'rtp.portMin', host: rtp.host, port: icePort };
  // A SIP port within the RTP range is reported by the check of the RTP range.
  const isInRange = icePort >= rtp.portMin && icePort <= rtp.portMax;
  const problems = all.flatMap((one, at) =>
    all.slice(at + 1).flatMap((other) => clash(one, other)),
  );
  const withIce = all.filter(({ name }) => name === 'http.port' || !isInRange);
  return rtp.icePort < 0 ? problems : [...problems, ...withIce.flatMap((one) => clash(one, ice))];
}

function clash(one: Listener, other: Listener): string[] {
  if (one.port !== other.port || !overlap(one.host, other.host)) return [];
  return [`${one.name} and ${other.name} are both ${one.port}: each listener needs its own port`];
}

const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1']);
const isEverywhere = (host: string): boolean => /^(?:0\.0\.0\.0|[0:]+)$/.test(host);

const overlap = (one: string, other: string): boolean =>
  one === other ||
  isEverywhere(one) ||
  isEverywhere(other) ||
  ((one === 'localhost' || other === 'localhost') &&
    LOOPBACK_NAMES.has(one) &&
    LOOPBACK_NAMES.has(other));

/** Reports settings that are only useful in pairs. */
function pairs({ http, sip }: Settings): string[] {
  const problems: string[] = [];
  if ((http.tlsCertFile === '') !== (http.tlsKeyFile === ''))
    problems.push('http.tlsCertFile and http.tlsKeyFile belong together');
  if ((sip.tlsCertFile === '') !== (sip.tlsKeyFile === ''))
    problems.push('sip.tlsCertFile and sip.tlsKeyFile belong together');
  return problems;
}

/** A condition, whether its requirement is met, and the problem otherwise. */
type Need = readonly [isSet: boolean, isMet: boolean, problem: string];

/** Reports settings that need others. */
function needs(settings: Settings): string[] {
  return [
    ...sipNeeds(settings),
    ...clusterNeeds(settings),
    ...stirNeeds(settings),
    ...speechNeeds(settings),
    ...reportNeeds(settings),
    ...addressNeeds(settings),
    ...objectNeeds(settings),
  ]
    .filter(([isSet, isMet]) => isSet && !isMet)
    .map(([, , problem]) => problem);
}

function sipNeeds({ sip, drachtio }: Settings): readonly Need[] {
  const isDrachtio = sip.backend === 'drachtio';
  return [
    [
      sip.tlsClientCertificates !== 'no',
      sip.tlsCaFile !== '',
      'sip.tlsClientCertificates needs sip.tlsCaFile to verify clients',
    ],
    [
      isDrachtio,
      drachtio.servers.length > 0,
      'sip.backend drachtio needs drachtio.servers: hosts, as host or host:port',
    ],
    [isDrachtio, drachtio.secret !== '', 'sip.backend drachtio needs drachtio.secret'],
    [isDrachtio && sip.outboundEdges.length > 0, false, 'sip.outboundEdges needs sip.backend own'],
    [isDrachtio && sip.edges.length > 0, false, 'sip.edges needs sip.backend own'],
    [
      isDrachtio && sip.tlsClientCertificates !== 'no',
      false,
      'sip.tlsClientCertificates needs sip.backend own: drachtio servers terminate TLS',
    ],
    [
      isDrachtio && sip.tlsCertFile !== '',
      false,
      'sip.tlsCertFile needs sip.backend own: drachtio servers terminate TLS',
    ],
    [
      drachtio.servers.length > 0 || drachtio.secret !== '',
      isDrachtio,
      'drachtio.servers and drachtio.secret need sip.backend drachtio',
    ],
  ];
}

const clusterNeeds = ({ cluster, store }: Settings): readonly Need[] => [
  [cluster.redis !== '', store.url !== '', 'cluster.redis needs store.url: nodes share a store'],
  [
    cluster.withoutRedisPercent > 0,
    cluster.redis !== '',
    'cluster.withoutRedisPercent needs cluster.redis',
  ],
];

const stirNeeds = ({ stir }: Settings): readonly Need[] => [
  [stir.keyFile !== '', stir.certificateUrl !== '', 'stir.keyFile needs stir.certificateUrl'],
  [stir.certificateUrl !== '', stir.keyFile !== '', 'stir.certificateUrl needs stir.keyFile'],
  [
    stir.policy === 'refuse' || stir.policy === 'require',
    stir.trustAnchorsFile !== '',
    `stir.policy ${stir.policy} needs stir.trustAnchorsFile`,
  ],
];

const speechNeeds = ({ recognition, speech }: Settings): readonly Need[] => [
  [
    recognition.engine === 'http',
    recognition.httpUrl !== '',
    'recognition.engine http needs recognition.httpUrl',
  ],
  [
    recognition.engine === 'websocket',
    recognition.webSocketUrl !== '',
    'recognition.engine websocket needs recognition.webSocketUrl',
  ],
  [speech.apiKey !== '', speech.url !== '', 'speech.apiKey needs speech.url'],
  [
    recognition.apiKey !== '',
    recognition.httpUrl !== '' || recognition.webSocketUrl !== '',
    'recognition.apiKey needs recognition.httpUrl or recognition.webSocketUrl',
  ],
];

/** Needs of the traces, messages and alarms that the service sends to other systems. */
const reportNeeds = ({ telemetry, hep, alarms }: Settings): readonly Need[] => [
  [
    telemetry.headers.length > 0,
    telemetry.tracesUrl !== '',
    'telemetry.headers needs telemetry.tracesUrl',
  ],
  [hep.password !== '', hep.host !== '', 'hep.password needs hep.host'],
  [
    alarms.webhookSecret !== '',
    alarms.webhookUrl !== '',
    'alarms.webhookSecret needs alarms.webhookUrl',
  ],
];

function addressNeeds({ sip, rtp }: Settings): readonly Need[] {
  const isSip = sip.publicHost6 !== '';
  const isRtp = rtp.publicHost6 !== '';
  return [
    [
      isSip,
      sip.host === '::' || sip.backend === 'drachtio',
      'sip.publicHost6 needs sip.host ::, which uses IPv4 and IPv6',
    ],
    [
      isSip,
      sip.publicHost !== '' && !isIPv6(sip.publicHost),
      'sip.publicHost6 needs sip.publicHost, an IPv4 address or a host name',
    ],
    [isRtp, rtp.host === '::', 'rtp.publicHost6 needs rtp.host ::, which uses IPv4 and IPv6'],
    [
      isRtp,
      rtp.publicHost !== '' && !isIPv6(rtp.publicHost),
      'rtp.publicHost6 needs rtp.publicHost, an IPv4 address',
    ],
  ];
}

function objectNeeds({ s3, recordings, dataExport }: Settings): readonly Need[] {
  const hasEndpoint = s3.endpoint !== '';
  const hasKeys = s3.accessKeyId !== '' && s3.secretAccessKey !== '';
  const isUsed = recordings.storage === 's3' || dataExport.toS3;
  return [
    [isUsed, hasEndpoint, 's3.endpoint is needed by recordings.storage or dataExport.toS3'],
    [hasEndpoint, hasKeys, 's3.accessKeyId and s3.secretAccessKey are needed with s3.endpoint'],
    [
      s3.accessKeyId !== '' || s3.secretAccessKey !== '' || s3.bucket !== '',
      hasEndpoint,
      's3.endpoint is needed with s3.bucket, s3.accessKeyId and s3.secretAccessKey',
    ],
  ];
}

function limits({ sip, campaigns, store, cluster }: Settings): string[] {
  const problems: string[] = [];
  if (sip.registerExpiresMinS > sip.registerExpiresMaxS)
    problems.push('sip.registerExpiresMinS must not be above sip.registerExpiresMaxS');
  if (campaigns.stalledMinutes > campaigns.stalledPauseMinutes)
    problems.push('campaigns.stalledMinutes must not be above campaigns.stalledPauseMinutes');
  const mode = /[?&]sslmode=([^&]*)/.exec(store.url)?.[1];
  if (mode !== undefined && !SSL_MODES.includes(mode))
    problems.push(`store.url: sslmode must be one of ${SSL_MODES.join(', ')}`);
  const isOneServer = /^rediss?:/.test(cluster.redis);
  const database = isOneServer ? (URL.parse(cluster.redis)?.pathname ?? '') : '';
  if (!/^\/?\d{0,4}$/.test(database))
    problems.push('cluster.redis: the path must be a database number such as /0');
  return problems;
}

const SSL_MODES = [
  'disable',
  'allow',
  'prefer',
  'require',
  'verify-ca',
  'verify-full',
  'no-verify',
];
