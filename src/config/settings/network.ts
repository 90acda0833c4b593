/** What this node listens on and whom it trusts: HTTP, SIP, RTP, telemetry. */
import {
  ADDRESS,
  EDGE_PLACE,
  HEADER_FIELD,
  HEADER_NAME,
  HOST,
  HOST_PLACE,
  ORIGIN,
  PROXY_RANGE,
  PUBLIC_HOST,
  RANGE,
  url,
} from './forms.ts';
import { choice, integer, list, secret, shaped, text, toggle } from './kinds.ts';

const PORT = [1, 65_535] as const;
const PORT_OR_NONE = [0, 65_535] as const;

export const network = {
  http: {
    host: shaped(HOST, text('127.0.0.1', 'address of the REST listener')),
    port: integer(8080, 0, 65_535, 'port of the REST listener; 0 picks a free one'),
    tlsCertFile: text('', 'PEM certificate chain; with tlsKeyFile the listener speaks HTTPS'),
    tlsKeyFile: text('', 'PEM private key'),
    trustProxy: shaped(
      PROXY_RANGE,
      list([], 'addresses or CIDR ranges of reverse proxies whose X-Forwarded-For is believed'),
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
    host: shaped(HOST, text('127.0.0.1', 'address of the SIP listeners')),
    port: integer(5060, ...PORT, 'port of the SIP listeners, UDP and TCP'),
    publicHost: shaped(
      PUBLIC_HOST,
      text('', 'host written into Via, Contact and sip_uri; empty: sip.host'),
    ),
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
    wsOrigins: shaped(
      ORIGIN,
      list([], 'origins of web pages that may open a SIP WebSocket; empty: all'),
    ),
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
    edges: shaped(
      RANGE,
      list(
        [],
        'addresses and ranges of edge proxies of yours (deploy/kamailio): their X-Carillon-Source says who sends, and strangers are heard through them alone; empty: from anywhere',
      ),
    ),
    outboundEdges: shaped(
      EDGE_PLACE,
      list(
        [],
        'of sip.edges, where they hear their nodes, address or address:port (5070), the preferred one first: calls to carriers, trunks and other addresses leave by the first that lives, TLS apart; empty: from this node',
      ),
    ),
    passHeaders: shaped(
      HEADER_NAME,
      list(
        ['Diversion', 'History-Info', 'User-to-User', 'Session-ID', 'Identity'],
        'header fields of an inbound call that its Dial or trunk hands on, unless the carrier or trunk has a list of its own; X-* are all that begin so, and the signalling itself none of them. Identity goes on only while both numbers stay the same',
      ),
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
    tracesUrl: shaped(
      url('http', 'https'),
      text(
        '',
        'OpenTelemetry collector that takes a trace of each call, OTLP over HTTP, e.g. http://127.0.0.1:4318; empty: none',
      ),
    ),
    headers: shaped(HEADER_FIELD, {
      ...list([], 'header fields of what is sent there, Name=value'),
      secret: true,
    }),
  },
  drachtio: {
    servers: shaped(
      HOST_PLACE,
      list(
        [],
        'with sip.backend drachtio: control ports of drachtio servers, host or host:port (9022)',
      ),
    ),
    secret: secret('what those servers ask for'),
    graceMs: integer(30_000, 0, 600_000, 'calls over a server that is away go on for so long'),
  },
  hep: {
    host: shaped(
      HOST,
      text(
        '',
        'Homer, or another HEP3 server: SIP messages and media reports go there; empty: nowhere',
      ),
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
    certificateUrl: shaped(
      url('https'),
      text('', 'where everybody finds the certificate of that key (https)'),
    ),
  },
  rtp: {
    host: shaped(ADDRESS, text('127.0.0.1', 'address of the RTP sockets')),
    publicHost: shaped(PUBLIC_HOST, text('', 'address written into SDP; empty: rtp.host')),
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
    acceptOtherSources: toggle(
      false,
      'RTP of a call is accepted from the IP address in its SDP and from the one that its signalling comes from; true: from other addresses too, 3 seconds later, unless SDP and signalling name the same address. For carriers whose media gateways send from addresses that they do not announce; an attacker who finds the port of such a call may receive its audio',
    ),
    srtp: choice(
      ['off', 'optional', 'required'],
      'optional',
      'SRTP with keys in SDP (RFC 4568): accepted when offered, and offered to phones that are registered over TLS; or never; or always. Carriers and trunks with `secure` require it in any case',
    ),
    codecs: list(
      ['OPUS', 'G722', 'PCMU', 'PCMA'],
      'codecs of phones, in the order in which they are offered: OPUS, G722, PCMU, PCMA, L16; who offers decides by its own order among these; with CN our offers carry comfort noise too (RFC 3389), which whoever offers it gets in any case',
    ),
    carrierCodecs: list(['PCMU', 'PCMA'], 'the same for carriers and trunks'),
    mediaThreads: integer(
      0,
      0,
      64,
      'threads that carry audio, a call on one of them; 0: one less than this machine has cores, and at least one',
    ),
    ioUring: toggle(
      true,
      'media threads send and receive many packets by one system call (io_uring) where the kernel allows it, Linux 5.18 or later; false: each packet by calls of its own',
    ),
    keepAliveMs: integer(
      15_000,
      20,
      60_000,
      'a leg that neither hears nor says anything sends one packet at its beginning and each so long (RFC 6263); 20: silence without pause',
    ),
  },
} as const;
