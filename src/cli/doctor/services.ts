/** Checks of certificates, mail and the answer URL of an application. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { unbracketed } from '../../base/host.ts';
import type { Settings } from '../../config/schema.ts';
import { parseAnswerXml } from '../../protocol/answer-xml/answer-xml.ts';
import { type Finding, good, problem, reasonOf, skipped, warning, within } from './finding.ts';

const DAY_MS = 86_400_000;
const RENEW_DAYS = 21;
const SLOW_ANSWER_MS = 2000;

/** Checks the certificates of HTTP and, if configured, of SIP over TLS and WSS. Skips self-signed ones of the service. */
export function checkCertificates(settings: Settings, nowMs: number): readonly Finding[] {
  const { http, sip, publicUrl } = settings;
  const httpHost = unbracketed(URL.parse(publicUrl)?.hostname ?? '');
  return [
    ...(http.tlsCertFile === ''
      ? [unencrypted(http.host)]
      : examined('http', { ...http, host: httpHost, hostSetting: 'publicUrl' }, nowMs)),
    ...(sip.tlsCertFile === ''
      ? []
      : examined('sip', { ...sip, host: sip.publicHost, hostSetting: 'sip.publicHost' }, nowMs)),
  ];
}

function unencrypted(host: string): Finding {
  const check = 'certificate';
  if (/^(127\.|::1$|localhost$)/.test(host))
    return skipped(check, 'HTTP without TLS, bound to loopback');
  return warning(
    check,
    'HTTP is open to the network without TLS',
    'Set http.tlsCertFile and http.tlsKeyFile, or bind HTTP to 127.0.0.1 behind a proxy that terminates TLS.',
  );
}

interface Files {
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
  /** Host name that clients use; empty if unknown. */
  readonly host: string;
  readonly hostSetting: string;
}

function examined(part: 'http' | 'sip', files: Files, nowMs: number): readonly Finding[] {
  const check = part === 'http' ? 'certificate' : 'sip certificate';
  try {
    const certificate = new X509Certificate(readFileSync(files.tlsCertFile));
    const key = createPrivateKey(readFileSync(files.tlsKeyFile));
    const advice = 'Set it to the private key of the certificate.';
    return [
      ...(certificate.checkPrivateKey(key)
        ? []
        : [problem(check, `${part}.tlsKeyFile is not the key of the certificate`, advice)]),
      ...named(check, certificate, files),
      dated(check, certificate, nowMs),
    ];
  } catch (error) {
    const advice = `${part}.tlsCertFile must be a PEM certificate chain and ${part}.tlsKeyFile its key, both readable by the service.`;
    return [problem(check, reasonOf(error), advice)];
  }
}

function named(
  check: string,
  certificate: X509Certificate,
  { host, hostSetting }: Files,
): readonly Finding[] {
  if (host === '') return [];
  const isItsName = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  if (isItsName !== undefined) return [];
  const advice = `Get a certificate whose subjectAltName contains ${host}; clients refuse this one.`;
  return [problem(check, `not valid for ${host} (${hostSetting})`, advice)];
}

function dated(check: string, certificate: X509Certificate, nowMs: number): Finding {
  const days = Math.floor((Date.parse(certificate.validTo) - nowMs) / DAY_MS);
  const found = `valid until ${certificate.validTo}`;
  if (Date.parse(certificate.validFrom) > nowMs)
    return problem(
      check,
      `not valid before ${certificate.validFrom}`,
      'Correct the clock, or wait.',
    );
  const takenOver = 'the service reloads the file automatically.';
  if (days < 0) return problem(check, `expired ${certificate.validTo}`, `Renew it; ${takenOver}`);
  if (days < RENEW_DAYS) return warning(check, found, `Renew it within ${days} days; ${takenOver}`);
  return good(check, found);
}

export async function checkStore({ store }: Settings): Promise<Finding> {
  const check = 'store';
  if (store.url === '') return skipped(check, 'SQLite in the data folder');
  const { inspectPostgres } = await import('../../edge/store/postgres/inspect.ts');
  try {
    const { version, hasChecksums } = inspectPostgres(store.url);
    const found = `PostgreSQL ${version} answers`;
    if (hasChecksums) return good(check, found);
    return warning(
      check,
      `${found}, without checksums of its pages: damage by the disk stays unnoticed`,
      'Stop the database and run: pg_checksums --enable --pgdata FOLDER',
    );
  } catch (error) {
    const advice = /libpq/.test(reasonOf(error))
      ? 'sudo apt-get install libpq5'
      : 'Start the database, or correct store.url; see docs/operate/postgres.md.';
    return problem(check, reasonOf(error), advice);
  }
}

/** Checks the library for `noiseSuppression`, `echoCancellation` and `gainControl` of streams. */
export async function checkAudioCleaning(
  problemOf = async (): Promise<string> =>
    (await import('../../edge/media/native.ts')).loadNative().cleaningProblem(),
): Promise<Finding> {
  const check = 'audio cleaning';
  try {
    const missing = await problemOf();
    if (missing === '') return good(check, 'available for streams');
    const what = 'noiseSuppression, echoCancellation and gainControl have no effect';
    return skipped(check, `${what}: ${missing}`, 'To use them: sudo apt-get install libspeexdsp1');
  } catch (error) {
    return skipped(check, `not checked: ${reasonOf(error)}`);
  }
}

export async function checkMail({ mail }: Settings): Promise<Finding> {
  if (mail.smtpUrl === '')
    return skipped(
      'mail',
      'no SMTP server: mail is written to the outbox folder',
      'To send mail, set mail.smtpUrl.',
    );
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: mail.smtpUrl,
    connectionTimeout: 5000,
    greetingTimeout: 5000,
  });
  try {
    await within(transport.verify());
    return good('mail', 'the SMTP server accepts the credentials');
  } catch (error) {
    // The text of the server could repeat credentials.
    const { code = 'failed' } = error as { readonly code?: string };
    const advice =
      code === 'EAUTH'
        ? 'User or password in mail.smtpUrl is wrong; escape special characters (%40 for @).'
        : 'Check host and port in mail.smtpUrl (465: smtps, 587: smtp), and that the firewall allows the connection.';
    return problem('mail', `the SMTP server is unusable: ${code}`, advice);
  } finally {
    transport.close();
  }
}

/** Requests the answer URL with form fields, as a call would. The request is unsigned because no account is known. */
export async function checkAnswerUrl(
  url: string | undefined,
  allowInsecureStreams: boolean,
): Promise<Finding> {
  const check = 'answer URL';
  if (url === undefined) return skipped(check, 'not checked: use --answer-url https://…');
  const startMs = performance.now();
  try {
    const reply = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams({
        CallUUID: 'doctor',
        Event: 'StartApp',
        Direction: 'inbound',
        From: '14155550100',
        To: '14155550101',
        CallStatus: 'in-progress',
      }),
      signal: AbortSignal.timeout(7000),
    });
    const text = await reply.text();
    const ms = Math.round(performance.now() - startMs);
    if (!reply.ok)
      return problem(
        check,
        `HTTP ${reply.status} after ${ms} ms`,
        'It must respond with 200 and XML to a POST with form fields. An application that verifies signatures refuses this unsigned request.',
      );
    const read = parseAnswerXml(text, { allowInsecureStreams });
    if (!read.ok) {
      const { line, column, message } = read.error;
      return problem(
        check,
        `line ${line}, column ${column}: ${message}`,
        'Correct the document; a call would end with this error.',
      );
    }
    const found = `${read.value.length} elements after ${ms} ms`;
    return ms > SLOW_ANSWER_MS
      ? warning(
          check,
          found,
          'The caller hears silence until the response arrives. Respond faster.',
        )
      : good(check, found);
  } catch (error) {
    const { cause } = error as { readonly cause?: unknown };
    return problem(
      check,
      `cannot be reached: ${reasonOf(cause ?? error)}`,
      'Check name, port, certificate and firewall from this machine, for example with curl.',
    );
  }
}
